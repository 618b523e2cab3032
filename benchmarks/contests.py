"""The lines of the benchmark: what we fit, and against whom, in the same run.

A contest has our estimator, peers and possibly a floor (work that no solver can avoid, such as one product X'X). Its
figure is the peer's CPU time over ours: how many times faster we are.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.svm import SVC, LinearSVC

from harness import Action, california, curved_data, linear_data, real_data
from hullrank import (
    ConvexHullRanker,
    FixedMarginClassifier,
    NuMarginClassifier,
    SumOfMarginsClassifier,
    SwappedPairsRanker,
)
from hullrank.metrics import kendall_tau_b, swapped_pairs, wmw_score


@dataclass(frozen=True)
class Contest:
    """``ours`` against ``peers`` (name: action); ``floor`` names the peer that nobody can beat, if there is one."""

    group: str
    name: str
    ours: Action
    peers: dict[str, Action] = field(default_factory=dict)
    floor: str = ""
    model: Any = None


IMMEDIATE = {"C": 1.0, "thresholds": "immediate", "tol": 1e-6}
CLASS_BASED = {
    "FixedMarginClassifier, hinge": lambda: FixedMarginClassifier(loss="hinge", **IMMEDIATE),
    "FixedMarginClassifier, squared": lambda: FixedMarginClassifier(loss="squared_hinge", **IMMEDIATE),
    "FixedMarginClassifier, default (squared, all)": lambda: FixedMarginClassifier(tol=1e-6),
    "FixedMarginClassifier, logistic": lambda: FixedMarginClassifier(loss="logistic", **IMMEDIATE),
    "FixedMarginClassifier, logistic, all": lambda: FixedMarginClassifier(1.0, loss="logistic", tol=1e-6),
    "ConvexHullRanker, hinge": lambda: ConvexHullRanker(C=1.0, loss="hinge", tol=1e-6),
    "ConvexHullRanker, squared": lambda: ConvexHullRanker(C=1.0, loss="squared_hinge", tol=1e-6),
    "NuMarginClassifier": lambda: NuMarginClassifier(tol=1e-6),
    "SumOfMarginsClassifier": lambda: SumOfMarginsClassifier(tol=1e-6),
}
PAIRS = {
    f"SwappedPairsRanker, {loss}": lambda loss=loss: SwappedPairsRanker(loss=loss, tol=1e-6)
    for loss in ("hinge", "squared_hinge", "logistic")
}


def fits(group: str, models: dict[str, Callable[[], Any]], X, y, peers=None, floor="") -> Iterator[Contest]:
    """A contest of every model on the same data."""
    for name, make in models.items():
        model = make()
        yield Contest(group, name, lambda model=model: model.fit(X, y), peers or {}, floor, model)


def fitted(model: Any, X, y) -> Action:
    return lambda: model.fit(X, y)


def linear(quick: bool) -> Iterator[Contest]:
    from mord import LogisticAT, LogisticIT

    X, y, where = california()
    peers = {
        "mord LogisticAT": fitted(LogisticAT(), X, y),
        "mord LogisticIT": fitted(LogisticIT(), X, y),
        "LinearSVC": fitted(LinearSVC(), X, y),
    }
    yield from fits(f"{where}, 20,640 x 8, five grades", CLASS_BASED, X, y, peers)
    few = X[:400], y[:400]
    small = {"LinearSVC": fitted(LinearSVC(), *few)}
    yield from fits(f"the first 400 rows of {where}", CLASS_BASED | PAIRS, *few, small)
    if not quick:
        from skordinal.classifiers import SVOR

        some = X[:4000], y[:4000]
        slow = {"skordinal SVOR": fitted(SVOR(kernel="linear"), *some)}
        yield from fits(f"the first 4000 rows of {where}", CLASS_BASED, *some, slow)
    m = 100_000 if quick else 1_000_000
    X, y = linear_data(m)
    names = [name for name in CLASS_BASED if name.split(",")[0] in ("FixedMarginClassifier", "ConvexHullRanker")]
    product = {"one product X'X": lambda: X.T @ X}
    models = {name: CLASS_BASED[name] for name in names}
    yield from fits(f"synthetic, {m:,} x 20, five classes", models, X, y, product, floor="one product X'X")


def pairs(quick: bool) -> Iterator[Contest]:
    X, y, where = california()
    few = X[:4000], y[:4000]
    yield from fits(f"pairs, the first 4000 rows of {where}", PAIRS, *few, {"LinearSVC": fitted(LinearSVC(), *few)})
    yield from fits(f"pairs, {where}", PAIRS, X, y, {"np.argsort": lambda: np.argsort(X[:, 0])}, floor="np.argsort")


def kernels(quick: bool) -> Iterator[Contest]:
    data = {"synthetic, 2000 rows": curved_data(2000)}
    if not quick:
        data["synthetic, 4000 rows"] = curved_data(4000)
        data["synthetic, 8000 rows"] = curved_data(8000)
    for name, file in (("Stock", "stock.csv"), ("Abalone", "abalone.csv")):
        real = real_data(file)
        if real is not None and not (quick and len(real[1]) > 2000):
            data[f"{name}, {len(real[1])} rows"] = real
    for where, (X, y) in data.items():
        for C in (1.0, 10.0):
            model = FixedMarginClassifier(C, loss="hinge", kernel="rbf", tol=1e-4)
            peer = {"SVC": fitted(SVC(C=C), X, y)}
            yield Contest("kernels, RBF", f"{where}, C = {C:g}", fitted(model, X, y), peer, model=model)


def metrics(quick: bool) -> Iterator[Contest]:
    from scipy.stats import kendalltau

    m = 20_000 if quick else 200_000
    rng = np.random.default_rng(0)
    signal = rng.normal(size=m)
    scores, two = signal + rng.normal(size=m), (signal > 0).astype(int)
    five, group = np.digitize(signal, [-1, -0.3, 0.3, 1]), f"metrics, {m:,} scores"
    sort = {"np.argsort": lambda: np.argsort(scores)}
    auc = {"sklearn roc_auc_score": lambda: roc_auc_score(two, scores)}
    tau = {"scipy kendalltau": lambda: kendalltau(signal, scores)}
    yield Contest(group, "wmw_score, two ranks", lambda: wmw_score(two, scores), auc)
    yield Contest(group, "swapped_pairs, five ranks", lambda: swapped_pairs(five, scores), sort, "np.argsort")
    yield Contest(group, "kendall_tau_b", lambda: kendall_tau_b(signal, scores), tau)


SUITES = {"linear": linear, "pairs": pairs, "kernels": kernels, "metrics": metrics}
