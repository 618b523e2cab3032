"""How well the papers' rivals rank, beside published figures and scikit-learn.

    HULLRANK_DATA=folder python benchmarks/compare_rivals.py [gp] [abalone] [noisy] [chances] [boost] [prank]

gp       informative vectors (100 active) against GaussianProcessRegressor on the rank, five bins, 10-fold
abalone  the same on one fold of Abalone, where the full process takes minutes
noisy    the same with 2000 training rows of Abalone and of California housing, three splits
chances  how good the probabilities of the informative vectors are, on make_ordinal data
boost    RankBoost with whole features, ten and 100 splits, against published AUC (Bertsimas, Chang and Rudin, table 1),
         and less logistic regression on the same splits
prank    rank error of PRank over its first pass, and its distance to FixedMarginClassifier, on make_ordinal data
"""

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = "1"

import sys
import time
import warnings

import numpy as np
from scipy.stats import norm
from sklearn.compose import make_column_transformer
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from hullrank import FixedMarginClassifier, InformativeVectorClassifier, PRank, RankBoost
from hullrank.datasets import discretize, load_dataset, make_ordinal
from hullrank.metrics import wmw_score

PUBLISHED = {  # training rows, label of the positive class; training and test AUC in percent
    "svmguide1": (700, 1, (99.1929, 99.0520)),
    "fourclass": (431, 1, (83.0278, 82.8790)),
    "magic_gamma": (1000, "g", (84.0105, 83.5273)),
}
LOGISTIC = {  # the same of logistic regression
    "svmguide1": (99.2255, 99.0563),
    "fourclass": (82.9907, 82.8050),
    "magic_gamma": (84.0280, 83.5984),
}
VARIANTS = {  # of InformativeVectorClassifier, the default first
    "best of 5": {"n_active": 100},
    "best of all": {"n_active": 100, "n_candidates": None},
    "best of 5, expected": {"n_active": 100, "selection": "expected"},
    "best of all, expected": {"n_active": 100, "n_candidates": None, "selection": "expected"},
}
LARGE = VARIANTS | {"best of 5, 400 active": {"n_active": 400}}
SPLITS = 100
HINGE = {"loss": "hinge", "thresholds": "immediate"}
ROUNDS = (1_000, 10_000)  # the default, and far enough for the training loss to stand still; the paper names no number


def header(*names):
    print("| " + " | ".join(names) + " |\n|" + "---|" * len(names))


def full_process(n_features):
    kernel = ConstantKernel() * RBF(np.sqrt(n_features)) + WhiteKernel()
    return GaussianProcessRegressor(kernel, normalize_y=True, random_state=0)


def ten_folds(name):
    X, y = load_dataset(name, return_X_y=True)
    y = discretize(y, 5)
    for train, test in KFold(10, shuffle=True, random_state=0).split(X):
        scaler = StandardScaler().fit(X[train])
        yield scaler.transform(X[train]), y[train], scaler.transform(X[test]), y[test]


def compare_gp():
    gp_header(VARIANTS)
    for name in ("boston_housing", "machine_cpu", "autompg"):
        gp_row(name, [gp_figures(VARIANTS, *fold) for fold in ten_folds(name)])


def compare_abalone():
    gp_header(LARGE)
    X, y = standardised("abalone")
    train, test = next(KFold(10, shuffle=True, random_state=0).split(X))
    gp_row("abalone, one fold", [gp_figures(LARGE, X[train], y[train], X[test], y[test])])


def compare_noisy():
    gp_header(LARGE)
    for name in ("abalone", "cal_housing"):
        X, y = standardised(name)
        splits = ShuffleSplit(3, train_size=2000, random_state=0).split(X)
        gp_row(name, [gp_figures(LARGE, X[train], y[train], X[test], y[test]) for train, test in splits])


def standardised(name):
    data = load_dataset(name, as_frame=True)
    one_hot = make_column_transformer((OneHotEncoder(sparse_output=False), data.nominal), remainder="passthrough")
    return make_pipeline(one_hot, StandardScaler()).fit_transform(data.data), discretize(data.target, 5)


def gp_header(variants):
    header("data", *variants, "full process, 100 rows", "full process", "difference", "seconds", "seconds, full")


def gp_figures(variants, X, y, X_test, y_test):
    """Pair accuracies of the variants and of the full process on 100 random rows and on all; then the seconds of the
    first variant and of the full process."""
    scores, times = [], []
    for options in variants.values():
        start = time.process_time()
        model = InformativeVectorClassifier(**options, random_state=0).fit(X, y)
        times.append(time.process_time() - start)
        scores.append(wmw_score(y_test, model.score_samples(X_test)))
    few = np.random.default_rng(0).permutation(len(y))[:100]
    for rows in few, slice(None):
        start = time.process_time()
        full = full_process(X.shape[1]).fit(X[rows], y[rows])
        times.append(time.process_time() - start)
        scores.append(wmw_score(y_test, full.predict(X_test)))
    return [*scores, times[0], times[-1]]


def gp_row(name, figures):
    *scores, seconds, seconds_full = np.mean(figures, axis=0)
    columns = [f"{score:.4f}" for score in scores]
    columns += [f"{scores[0] - scores[-1]:+.4f}", f"{seconds:.2f}", f"{seconds_full:.2f}"]
    print(f"| {name} | " + " | ".join(columns) + " |", flush=True)


def compare_chances():
    print("Probabilities of 60 informative vectors on make_ordinal (400 training rows, 2 features, 4 classes, 5 runs)")
    header("noise", "variant", "accuracy", "mean chance of the class predicted", "log loss", "log loss, true chances")
    for noise in (0.1, 0.5, 1.0):
        for name, options in VARIANTS.items():
            figures = np.mean([chance_figures(noise, options | {"n_active": 60}, seed) for seed in range(5)], axis=0)
            print(f"| {noise} | {name} | " + " | ".join(f"{figure:.3f}" for figure in figures) + " |", flush=True)


def chance_figures(noise, options, seed):
    X, y, coef = make_ordinal(10_400, 2, noise=noise, n_classes=4, return_coef=True, random_state=seed)
    train, test = slice(0, 400), slice(400, None)
    chances = InformativeVectorClassifier(**options, random_state=0).fit(X[train], y[train]).predict_proba(X[test])
    cuts = np.sqrt(1 + noise**2) * norm.ppf([0, 0.25, 0.5, 0.75, 1])
    true = np.diff(norm.cdf((cuts - (X[test] @ coef)[:, None]) / noise), axis=1)
    accuracy = np.mean(chances.argmax(axis=1) == y[test])
    return accuracy, chances.max(axis=1).mean(), log_loss(y[test], chances), log_loss(y[test], true)


def compare_boost():
    print("AUC (%) of RankBoost with whole features over random splits of the published sizes")
    header(
        "data, rounds",
        "part",
        "published",
        "first ten splits",
        "z, own error",
        "z, two means of ten",
        f"{SPLITS} splits",
        "z",
    )
    results = {name: split_aucs(name) for name in PUBLISHED}
    for name, aucs in results.items():
        for rounds, values in zip(ROUNDS, aucs, strict=False):
            for part, ours, printed in zip(("train", "test"), values.T, PUBLISHED[name][-1], strict=True):
                print(f"| {name}, {rounds} | {part} | {printed:.3f} | {boost_figures(ours, printed)} |", flush=True)
    print("\nThe same less the AUC of logistic regression (no penalty) on the same split")
    header("data, rounds", "part", "published", f"{SPLITS} splits", "z")
    for name, aucs in results.items():
        for rounds, values in zip(ROUNDS, aucs - aucs[-1], strict=False):
            for k, part in enumerate(("train", "test")):
                printed = PUBLISHED[name][-1][k] - LOGISTIC[name][k]
                figures = boost_figures(values[:, k], printed).split("|")[3:]
                print(f"| {name}, {rounds} | {part} | {printed:+.3f} |" + "|".join(figures) + " |")


def split_aucs(name):
    """(1 + rounds, splits, 2) array: AUC on the training and test rows of every random split, after each of ``ROUNDS``
    and of logistic regression."""
    n_train, positive, _ = PUBLISHED[name]
    X, y = load_dataset(name, return_X_y=True)
    y = (y == positive).astype(int)
    return np.stack([one_split(X, y, n_train, seed) for seed in range(SPLITS)], axis=1)


def one_split(X, y, n_train, seed):
    rows = np.random.default_rng(seed).permutation(len(y))
    train, test = rows[:n_train], rows[n_train:]
    model = RankBoost(max(ROUNDS)).fit(X[train], y[train])
    coefs = [
        np.bincount(model.features_[:rounds], model.alphas_[:rounds], minlength=X.shape[1]) / model.scales_
        for rounds in ROUNDS
    ]
    scaler = StandardScaler().fit(X[train])
    logistic = LogisticRegression(C=np.inf, max_iter=1000).fit(scaler.transform(X[train]), y[train])
    coefs.append(logistic.coef_[0] / scaler.scale_)
    return [[100 * wmw_score(y[part], X[part] @ coef) for part in (train, test)] for coef in coefs]


def boost_figures(values, published):
    """Columns of the tables, each z being ours less published in standard errors.

    The published figure is a mean over ten splits that are not known, so it has a standard error too: z of the first
    ten splits is given in their own standard error (the published mean taken as exact) and in that of a difference of
    two means of ten, s sqrt(2 / 10); z of all n splits is in that of their difference, s sqrt(1 / 10 + 1 / n).
    """
    ten, n, s = values[:10], len(values), values.std(ddof=1)
    own = ten.std(ddof=1) / np.sqrt(10)
    off = ten.mean() - published
    z = (values.mean() - published) / (s * np.sqrt(1 / 10 + 1 / n))
    return (
        f"{ten.mean():.3f} ± {own:.3f} | {off / own:+.2f} | {off / (s * np.sqrt(2 / 10)):+.2f} "
        f"| {values.mean():.3f} ± {s / np.sqrt(n):.3f} | {z:+.2f}"
    )


def compare_prank():
    print("Mean rank error of the next examples after t examples (saddle, second-order kernel; 20 runs)")
    after = [0, 50, 200, 1000, 3000, 6000]
    errors = np.zeros((20, len(after)))
    for seed in range(20):
        X, y = make_ordinal(6500, 2, surface="saddle", noise=0.125, random_state=seed)
        model = PRank(kernel="poly", degree=2, gamma=1.0, coef0=1.0)
        model.partial_fit(X[:1], y[:1], classes=range(5))
        for place, t in enumerate(after):
            rows = slice(int(model.t_), max(t, 1))
            if rows.stop > rows.start:
                model.partial_fit(X[rows], y[rows])
            ahead = slice(max(t, 1), max(t, 1) + 500)
            errors[seed, place] = np.abs(model.predict(X[ahead]) - y[ahead]).mean()
    header(*(f"t = {t}" for t in after))
    print("| " + " | ".join(f"{e:.3f}" for e in errors.mean(axis=0)) + " |")
    print(
        "\nMean rank error (linear, 1000 training rows, 20 features, 10 runs), cosine of w to FixedMarginClassifier's"
    )
    header("noise", "PRank", "PRank averaged", "FixedMarginClassifier", "cosine", "cosine averaged")
    for noise in (0.0, 0.1, 0.3, 1.0):
        results = []
        for seed in range(10):
            X, y = make_ordinal(3000, 20, noise=noise, random_state=seed)
            train, test = slice(0, 1000), slice(1000, None)
            models = PRank(random_state=0), PRank(average=True, random_state=0), FixedMarginClassifier(1.0, **HINGE)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                fitted = [model.fit(X[train], y[train]) for model in models]
            unit = [model.coef_ / np.linalg.norm(model.coef_) for model in fitted]
            errors = [np.abs(model.predict(X[test]) - y[test]).mean() for model in fitted]
            results.append([*errors, unit[0] @ unit[2], unit[1] @ unit[2]])
        print(f"| {noise} | " + " | ".join(f"{value:.3f}" for value in np.mean(results, axis=0)) + " |", flush=True)


if __name__ == "__main__":
    parts = {
        "gp": compare_gp,
        "abalone": compare_abalone,
        "noisy": compare_noisy,
        "chances": compare_chances,
        "boost": compare_boost,
        "prank": compare_prank,
    }
    for part in sys.argv[1:] or parts:
        parts[part]()
        print()
