"""How well the papers' rivals rank, beside published figures and scikit-learn.

    HULLRANK_DATA=folder python benchmarks/compare_rivals.py [gp] [abalone] [boost] [prank]

gp       informative vectors (100 active) against GaussianProcessRegressor on the rank, five bins, 10-fold
abalone  the same on one fold of Abalone, where the full process takes minutes
boost    RankBoost with whole features, ten splits, against the published AUC (Bertsimas, Chang and Rudin, table 1)
prank    rank error of PRank over its first pass, and its distance to FixedMarginClassifier, on make_ordinal data
"""

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = "1"

import sys
import time
import warnings

import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from hullrank import FixedMarginClassifier, InformativeVectorClassifier, PRank, RankBoost
from hullrank.datasets import discretize, load_dataset, make_ordinal
from hullrank.metrics import wmw_score

PUBLISHED = {  # training rows, label of the positive class, training and test AUC in percent
    "svmguide1": (700, 1, 99.1929, 99.0520),
    "fourclass": (431, 1, 83.0278, 82.8790),
    "magic_gamma": (1000, "g", 84.0105, 83.5273),
}


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
    header("data", "informative vectors", "full process", "difference", "seconds", "seconds, full")
    for name in ("boston_housing", "machine_cpu", "autompg"):
        results = []
        for X, y, X_test, y_test in ten_folds(name):
            sparse, full = InformativeVectorClassifier(100, random_state=0), full_process(X.shape[1])
            start = time.process_time()
            sparse.fit(X, y)
            middle = time.process_time()
            full.fit(X, y)
            times = middle - start, time.process_time() - middle
            scores = wmw_score(y_test, sparse.score_samples(X_test)), wmw_score(y_test, full.predict(X_test))
            results.append((*scores, *times))
        a, b, s, t = np.mean(results, axis=0)
        print(f"| {name} | {a:.4f} | {b:.4f} | {a - b:+.4f} | {s:.2f} | {t:.2f} |", flush=True)


def compare_abalone():
    header("data", "informative vectors", "full process", "difference", "seconds", "seconds, full")
    data = load_dataset("abalone", as_frame=True)
    y = discretize(data.target, 5)
    one_hot = make_column_transformer((OneHotEncoder(), data.nominal), remainder="passthrough")
    X = make_pipeline(one_hot, StandardScaler()).fit_transform(data.data)
    train, test = next(KFold(10, shuffle=True, random_state=0).split(X))
    sparse, full = InformativeVectorClassifier(100, random_state=0), full_process(X.shape[1])
    start = time.process_time()
    sparse.fit(X[train], y[train])
    middle = time.process_time()
    full.fit(X[train], y[train])
    end = time.process_time()
    a, b = wmw_score(y[test], sparse.score_samples(X[test])), wmw_score(y[test], full.predict(X[test]))
    print(f"| abalone, one fold | {a:.4f} | {b:.4f} | {a - b:+.4f} | {middle - start:.2f} | {end - middle:.2f} |")


def compare_boost():
    header("data", "train", "published", "test", "published", "(ours - published) / standard error")
    for name, (n_train, positive, *published) in PUBLISHED.items():
        X, y = load_dataset(name, return_X_y=True)
        y = (y == positive).astype(int)
        results = []
        for seed in range(10):
            rows = np.random.default_rng(seed).permutation(len(y))
            train, test = rows[:n_train], rows[n_train:]
            model = RankBoost().fit(X[train], y[train])
            results.append([100 * model.score(X[part], y[part]) for part in (train, test)])
        mean, error = np.mean(results, axis=0), np.std(results, axis=0, ddof=1) / np.sqrt(10)
        z = (mean - published) / error
        print(
            f"| {name} | {mean[0]:.3f} ± {error[0]:.3f} | {published[0]} | {mean[1]:.3f} ± {error[1]:.3f} "
            f"| {published[1]} | {z[0]:+.2f}, {z[1]:+.2f} |",
            flush=True,
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
            models = PRank(random_state=0), PRank(average=True, random_state=0), FixedMarginClassifier()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                fitted = [model.fit(X[train], y[train]) for model in models]
            unit = [model.coef_ / np.linalg.norm(model.coef_) for model in fitted]
            errors = [np.abs(model.predict(X[test]) - y[test]).mean() for model in fitted]
            results.append([*errors, unit[0] @ unit[2], unit[1] @ unit[2]])
        print(f"| {noise} | " + " | ".join(f"{value:.3f}" for value in np.mean(results, axis=0)) + " |", flush=True)


if __name__ == "__main__":
    parts = {"gp": compare_gp, "abalone": compare_abalone, "boost": compare_boost, "prank": compare_prank}
    for part in sys.argv[1:] or parts:
        parts[part]()
        print()
