"""Do unlabelled rows help? Surfaces rendered from formulas, and tables, with one label in twenty.

For every draw of the labels gamma and C are chosen by four folds of the labelled rows without the graph; the
semi-supervised model keeps them and chooses the strength of the graph ("auto", 0 within half a standard error). Printed
is the mean accuracy of both on the rows without a label, the mean difference, and the p-value of a paired t-test.

    HULLRANK_DATA=/path/to/data python benchmarks/bench_semi_supervised.py [surfaces|tables|NAME] [draws]
"""

import sys
import warnings

import numpy as np
from scipy.stats import ttest_1samp
from sklearn.base import clone
from sklearn.datasets import make_swiss_roll
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.preprocessing import StandardScaler

from hullrank import FixedMarginClassifier, SemiSupervised
from hullrank.datasets import discretize, load_dataset

ROWS, SHARE = 800, 0.05
TABLES = ("stock", "machine_cpu", "boston_housing", "autompg", "abalone", "ord_SWD", "ord_LEV", "ord_winequality_red")


def swiss_roll(seed):
    """Four parts of a rolled-up sheet, by the angle of the roll."""
    X, angle = make_swiss_roll(ROWS, noise=0.3, random_state=seed)
    return X / X.std(axis=0), np.digitize(angle, np.quantile(angle, [0.25, 0.5, 0.75]))


def turning_images(seed):
    """Images of 12 x 12 pixels of a tapered bar that turns by half a circle; the grade is the quarter of the turn."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, np.pi, ROWS)[:, None, None]
    x, y = np.meshgrid(np.linspace(-1, 1, 12), np.linspace(-1, 1, 12))
    along, across = x * np.cos(angle) + y * np.sin(angle), x * np.sin(angle) - y * np.cos(angle)
    image = np.exp(-((across / 0.2) ** 2)) * (1 + 0.5 * along) + 0.15 * rng.normal(size=(ROWS, 12, 12))
    return image.reshape(ROWS, -1), np.digitize(angle.ravel(), np.pi * np.array([0.25, 0.5, 0.75]))


def spectra(seed):
    """Spectra of 120 channels of two lines that move and fade with a concentration, on a base line that drifts."""
    rng = np.random.default_rng(seed)
    share, channel = rng.uniform(0, 1, ROWS)[:, None], np.linspace(0, 1, 120)
    first = np.exp(-(((channel - 0.3 - 0.35 * share) / 0.03) ** 2))
    second = 0.6 * (1 - 0.5 * share) * np.exp(-(((channel - 0.9 + 0.25 * share) / 0.04) ** 2))
    noise = 0.08 * rng.normal(size=(ROWS, 120)) + 0.1 * rng.normal(size=(ROWS, 1))
    return first + second + noise, np.digitize(share.ravel(), [0.25, 0.5, 0.75])


def table(name):
    """A public table, at most 800 rows of it; numbers are cut to five grades of equal frequency."""

    def rows(seed):
        found = load_dataset(name)
        X, y = np.asarray(found.data), np.asarray(found.target)
        X = X[:, [j for j in range(X.shape[1]) if not isinstance(X[0, j], str)]].astype(float)
        y = y if name.startswith("ord_") else discretize(y, 5)
        kept = np.random.default_rng(seed).permutation(len(y))[:ROWS]
        return StandardScaler().fit_transform(X[kept]), y[kept]

    return rows


def labelled_rows(y, seed):
    """One row in twenty (at least 40), at least four of every class that has ten."""
    rng = np.random.default_rng(1000 + seed)
    classes, sizes = np.unique(y, return_counts=True)
    common = classes[sizes >= 10]
    while True:
        drawn = np.zeros(len(y), dtype=bool)
        drawn[rng.choice(len(y), max(40, int(SHARE * len(y))), replace=False)] = True
        drawn &= np.isin(y, common)
        if np.min([np.count_nonzero(y[drawn] == c) for c in common]) >= 2:
            return drawn


def draw(X, y, seed):
    """Accuracy without and with the graph on the rows without a label, and the strength that was chosen."""
    few = labelled_rows(y, seed)
    rest = ~few & np.isin(y, y[few])
    scale = 1 / (X.shape[1] * X.var())
    grid = {"C": [1.0, 10.0, 100.0], "gamma": [scale * f for f in (0.3, 1.0, 3.0, 10.0)]}
    inner = FixedMarginClassifier(kernel="rbf", loss="squared_hinge", thresholds="all")
    folds = StratifiedKFold(min(4, int(np.unique(y[few], return_counts=True)[1].min())), shuffle=True, random_state=0)
    tuned = clone(inner).set_params(**GridSearchCV(inner, grid, cv=folds).fit(X[few], y[few]).best_params_)
    alone = clone(tuned).fit(X[few], y[few]).score(X[rest], y[rest])
    model = SemiSupervised(tuned).fit(X[few], y[few], unlabeled=X[~few])
    return alone, model.score(X[rest], y[rest]), model.strength_


def main(kind="surfaces", draws=24):
    surfaces = {"swiss roll": swiss_roll, "turning images": turning_images, "spectra": spectra}
    sets = {"surfaces": surfaces, "tables": {name: table(name) for name in TABLES}}
    chosen = sets[kind] if kind in sets else {kind: surfaces.get(kind, table(kind))}
    print("| rows | supervised | with unlabelled rows | difference | p | graph used |\n|---|---|---|---|---|---|")
    for name, make in chosen.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = np.array([draw(*make(seed), seed) for seed in range(draws)])
        gain = found[:, 1] - found[:, 0]
        p = ttest_1samp(gain, 0).pvalue if gain.any() else 1.0
        error = gain.std(ddof=1) / draws**0.5
        used = np.count_nonzero(found[:, 2])
        means = f"{found[:, 0].mean():.3f} | {found[:, 1].mean():.3f} | {gain.mean():+.3f} +- {error:.3f}"
        print(f"| {name} | {means} | {p:.2g} | {used} of {draws} |", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:2], *map(int, sys.argv[2:3]))
