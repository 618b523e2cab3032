"""
Comparing with peers, honestly
==============================

Two numbers from one split prove nothing. Here five methods meet on six data sets, on the same folds, each
tuned on its training rows only; folds overlap, so the test is the corrected one; and the picture shows which
methods cannot be told apart.
"""

# %%
# Real data that come with scikit-learn, and made-up ones; targets are cut into grades of equal frequency.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hullrank import ConvexHullRankerCV, FixedMarginClassifierCV, PRank, SwappedPairsRankerCV
from hullrank.datasets import discretize, make_ordinal
from hullrank.experiments.statistics import corrected_t_test, holm
from hullrank.metrics import swapped_pairs
from hullrank.plots import CriticalDifferenceDisplay

diabetes, wine, cancer = (load(return_X_y=True) for load in (load_diabetes, load_wine, load_breast_cancer))
data = {
    "diabetes": (diabetes[0], discretize(diabetes[1], 4)),
    "wine, alcohol": (wine[0][:, 1:], discretize(wine[0][:, 0], 4)),
    "wine, colour": (np.delete(wine[0], 9, axis=1), discretize(wine[0][:, 9], 4)),
    "cancer, radius error": (cancer[0][:, :10], discretize(cancer[0][:, 10], 4)),
    "made up, easy": make_ordinal(300, 6, n_classes=4, noise=0.3, random_state=0),
    "made up, hard": make_ordinal(300, 6, n_classes=4, noise=1.5, random_state=1),
}
grid = [0.01, 0.1, 1.0, 10.0]
methods = {
    "hull ranking": ConvexHullRankerCV(grid, cv=3),
    "fixed margin": FixedMarginClassifierCV(grid, cv=3),
    "all pairs": SwappedPairsRankerCV([0.1, 1.0, 10.0, 100.0], cv=3),
    "PRank": PRank(average=True, random_state=0),
    "ridge on the grade": RidgeCV([0.01, 0.1, 1.0, 10.0, 100.0]),
}


# %%
def folds(X, y):
    """Pair accuracy of every method (column) on every fold (row)."""
    rows = []
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        models = [make_pipeline(StandardScaler(), model).fit(X[train], y[train]) for model in methods.values()]
        scores = [m.score_samples(X[test]) if hasattr(m, "score_samples") else m.predict(X[test]) for m in models]
        rows.append([1 - swapped_pairs(y[test], s) for s in scores])
    return np.array(rows)


results = {name: folds(X, y) for name, (X, y) in data.items()}
means = np.array([table.mean(axis=0) for table in results.values()])
print(f"{'':22}" + "".join(f"{name:>20}" for name in methods))
for name, row in zip(results, means, strict=True):
    print(f"{name:22}" + "".join(f"{value:20.3f}" for value in row))

# %%
# Hull ranking against the trivial rival, ridge regression on the grade's number: corrected resampled t-tests
# (Nadeau and Bengio 2003), adjusted for six tests (Holm).
p = holm([corrected_t_test(table[:, 0] - table[:, -1], ratio=1 / 4) for table in results.values()])
for name, value in zip(results, p, strict=True):
    print(f"{name:22} p = {value:.2f}")

# %%
# Average ranks (1 is best). A bar joins methods that six data sets cannot tell apart.
CriticalDifferenceDisplay.from_predictions(means, names=list(methods))
plt.show()
