"""Cross-validated estimators against a cold GridSearchCV: one thread, equal data, grid and folds.

    python benchmarks/bench_selection.py [--quick] [--linear] [--precomputed]

Times are CPU seconds of this process, the least of three turns; "apart" is the largest difference of a mean
score, "rated" the share of fits that were made before the others could not win any more, and "same" whether both choose
the same point. Kernel grids have 5 values of C and 4 of gamma; linear paths have 20 values of C on 20,000 rows. Between
them, fits with a precomputed kernel against the same with rbf; `--precomputed` is these alone.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import argparse
import itertools
import time
import warnings

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.model_selection import GridSearchCV, StratifiedKFold

import hullrank
from harness import curved_data
from hullrank.problem.kernels import kernel_matrix

warnings.filterwarnings("ignore")
FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)
NEW = itertools.count(1)
NAMES = ("FixedMarginClassifier", "ConvexHullRanker", "SwappedPairsRanker")


def seconds(search: BaseEstimator, X, y):
    began = time.process_time()
    search.fit(X, y)
    return time.process_time() - began


def compare(name, X, y, grid, turns=1, **settings):
    single = getattr(hullrank, name)(**settings)
    cold = GridSearchCV(single, grid, cv=FOLDS)
    warm = getattr(hullrank, f"{name}CV")(grid["C"], gammas=grid.get("gamma"), estimator=single, cv=FOLDS)
    slow, fast = np.min([(seconds(cold, X, y), seconds(warm, X, y)) for _ in range(turns)], axis=0)
    apart = np.nanmax(np.abs(cold.cv_results_["mean_test_score"] - warm.cv_results_["mean_test_score"]))
    rated = warm.n_folds_run_.mean() / warm.n_splits_
    kernel = settings.get("kernel", "linear")
    same = cold.best_params_ == warm.best_params_
    print(
        f"{name:22s} {kernel:7s} {len(y):6d} rows {slow:8.2f} s cold {fast:8.2f} s warm {slow / fast:6.2f} x "
        f"apart {apart:.1e} rated {rated:.0%} {'same' if same else 'OTHER'}",
        flush=True,
    )


def precomputed(name, m):
    """Least CPU seconds of fits with a precomputed kernel over those with rbf: one fit, and five values of C.

    A matrix is tested when it is first seen, so each turn has one of its own, which differs beyond the ninth digit.
    """
    X, y = curved_data(m)
    K = kernel_matrix(X, None, "rbf", gamma=0.1)
    named = getattr(hullrank, name)(kernel="rbf", gamma=0.1)
    given = getattr(hullrank, name)(kernel="precomputed")
    turns = []
    for _ in range(10):
        other = K * (1 + 1e-10 * next(NEW))
        turns.append((seconds(named, X, y), seconds(given, other, y), seconds(given, other, y)))
    rbf, first, again = np.min(turns, axis=0)
    prices = {"C": [0.1, 1, 10, 100, 1000]}
    ratios = []
    for search in (lambda model: GridSearchCV(model, prices, cv=FOLDS), lambda model: cross_validated(model, prices)):
        times = [
            (seconds(search(named), X, y), seconds(search(given), K * (1 + 1e-10 * next(NEW)), y)) for _ in range(4)
        ]
        ratios.append(np.divide(*np.min(times, axis=0)[::-1]))
    print(
        f"{name:22s} precomputed / rbf, {m:4d} rows: first fit {first / rbf:.2f}, again {again / rbf:.2f}, "
        f"GridSearchCV {ratios[0]:.2f}, {name}CV {ratios[1]:.2f}",
        flush=True,
    )


def cross_validated(model, grid):
    return getattr(hullrank, f"{type(model).__name__}CV")(grid["C"], estimator=model, cv=FOLDS)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="200 and 500 rows with a kernel, 5000 rows linear")
    parser.add_argument("--linear", action="store_true", help="only the linear paths")
    parser.add_argument("--precomputed", action="store_true", help="only precomputed kernels")
    args = parser.parse_args()
    quick = args.quick
    if args.precomputed:
        all_precomputed()
        return
    if not args.linear:
        kernels(quick)
    for name in NAMES:
        getattr(hullrank, f"{name}CV")([1.0, 2.0]).fit(*curved_data(4000))  # compile before the clock starts
        compare(name, *curved_data(5000 if quick else 20_000), {"C": np.geomspace(1e-3, 1e3, 20).tolist()}, turns=3)


def kernels(quick):
    """Grids of C and gamma, and fits with a precomputed kernel."""
    grid = {"C": [0.1, 1, 10, 100, 1000], "gamma": [0.01, 0.03, 0.1, 0.3]}
    for name in NAMES:
        getattr(hullrank, name)(kernel="rbf").fit(*curved_data(100))  # compile before the clock starts
        for m in (200, 500) if quick else (200, 500, 1000):
            compare(name, *curved_data(m), grid, turns=3, kernel="rbf")
    all_precomputed()


def all_precomputed():
    for name in NAMES:
        for m in (200, 500, 1000):
            precomputed(name, m)


if __name__ == "__main__":
    main()
