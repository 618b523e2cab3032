"""How the time of the papers' rivals grows with the number of rows, one thread, as ratios.

    python benchmarks/bench_rivals.py [--quick]

A pass of PRank is compared with X @ w, a round of RankBoost with X.T @ v, and the informative vector machine (100
active samples, hyperparameters fixed) with scikit-learn's GaussianProcessRegressor where that is bearable. Each number
is the median over repeats of the ratio of times taken one after the other.
"""

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = "1"

import argparse

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.utils import gen_batches

from harness import Action, timed
from hullrank import InformativeVectorClassifier, PRank, RankBoost
from hullrank.baselines._loops import pass_dense
from hullrank.datasets import make_ordinal

FEATURES = 20
REPEATS = 5


def seconds(work: Action) -> float:
    return timed(work).wall


def ratio(work: Action, unit: Action) -> tuple[float, float]:
    """Seconds of ``work``, and its median ratio to ``unit``."""
    pairs = [(seconds(work), seconds(unit)) for _ in range(REPEATS)]
    return float(np.median([a for a, _ in pairs])), float(np.median([a / b for a, b in pairs]))


def row(method: str, m: int, taken: float, against: float, unit: str) -> None:
    print(f"| {method} | {m:,} | {taken:.4f} | {against:.2f} | {unit} |", flush=True)


def bench_prank(m: int) -> None:
    X, y = make_ordinal(m, FEATURES, noise=0.5, random_state=0)
    w = np.ones(FEATURES)
    order = np.random.default_rng(0).permutation(m)
    model = PRank(1)
    model._begin(X, np.arange(5))

    def compiled() -> None:
        pass_dense(X, y, 0.0, np.zeros((1, FEATURES)), np.zeros((2, 4)))

    def shuffled() -> None:
        model._pass(X, y, order, order)

    def fetched() -> None:
        for rows in gen_batches(m, 1000):
            X.take(order[rows], axis=0)

    row("PRank, compiled pass", m, *ratio(compiled, lambda: X @ w), "X @ w")
    row("PRank, shuffled pass", m, *ratio(shuffled, lambda: X @ w), "X @ w")
    row("rows fetched in that order", m, *ratio(fetched, lambda: X @ w), "X @ w")


def bench_rankboost(m: int, kind: str) -> None:
    X, y = make_ordinal(m, FEATURES, noise=0.5, random_state=0)
    v = np.ones(m)
    few, many = (RankBoost(rounds, weak_rankers=kind, tol=0.0) for rounds in (2, 12))

    def ten_rounds() -> float:
        return seconds(lambda: many.fit(X, y)) - seconds(lambda: few.fit(X, y))

    each = float(np.median([ten_rounds() for _ in range(REPEATS)])) / 10
    unit = float(np.median([seconds(lambda: X.T @ v) for _ in range(REPEATS)]))
    row(f"RankBoost, round of {kind}", m, each, each / unit, "X.T @ v")


def bench_informative_vectors(m: int, largest_full: int) -> None:
    X, y = make_ordinal(m, 8, noise=0.3, random_state=0)
    model = InformativeVectorClassifier(100, tune=False, length_scale=3.0)
    taken = seconds(lambda: model.fit(X, y))
    if m > largest_full:
        row("informative vectors, fixed kernel", m, taken, 1e6 * taken / m, "microseconds a row")
        return
    full = GaussianProcessRegressor(ConstantKernel() * RBF(3.0) + WhiteKernel(), optimizer=None)
    row("informative vectors, fixed kernel", m, taken, taken / seconds(lambda: full.fit(X, y)), "full process, fixed")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="up to 10,000 rows")
    quick = parser.parse_args().quick
    sizes = [1_000, 10_000] if quick else [1_000, 10_000, 100_000, 1_000_000]
    print("| method | rows | seconds | ratio | to |\n|---|---|---|---|---|")
    PRank(1).fit(*make_ordinal(50, FEATURES, random_state=0))
    RankBoost(1, weak_rankers="thresholds").fit(*make_ordinal(50, FEATURES, random_state=0))
    for m in sizes:
        bench_prank(m)
    for kind in ("features", "thresholds"):
        for m in sizes:
            bench_rankboost(m, kind)
    for m in (1_000, 4_000, 10_000, 100_000)[: 1 if quick else None]:
        bench_informative_vectors(m, largest_full=4_000)


if __name__ == "__main__":
    main()
