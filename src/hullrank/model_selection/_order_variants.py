"""The graphs that say the same about classes, or a little less: what a search with a given order chooses from."""

import warnings
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from hullrank._progress import listening, tell
from hullrank.exceptions import CollapsedRankingWarning, HullrankError, ScaleWarning, UndefinedMetricWarning
from hullrank.metrics import wmw_score
from hullrank.order import OrderGraph

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]


class Variant(NamedTuple):
    """A way to state an order: its name, the graph, and the parameter ``slack`` of `ConvexHullRanker`."""

    name: str
    graph: OrderGraph
    slack: str

    @property
    def n_thresholds(self) -> int:
        """How many thresholds the stated problem has: fewer is simpler."""
        if self.slack == "edge":
            return self.graph.n_edges
        return len({lo for lo, _ in self.graph.edges}) + len({hi for _, hi in self.graph.edges})


def variants(order: OrderGraph) -> list[Variant]:
    """Every way to state an order.

    With one slack per sample all graphs with the same closure are one problem, so there is only the chain (for partial
    orders: the reduction). With slack per edge: the same; edges that skip one class as well; the full graph (closure);
    and, for any two neighbours, the order that leaves these two incomparable ("merged").
    """
    chain, full = order.reduction(), order.closure()
    found = [Variant("chain, slack per sample", chain, "sample"), Variant("chain", chain, "edge")]
    over = [(lo, hi) for (lo, middle), (other, hi) in product(chain.edges, chain.edges) if middle == other]
    skipped = OrderGraph.from_edges([*chain.edges, *over], labels=chain.labels)
    if full.n_edges > skipped.n_edges > chain.n_edges:
        found.append(Variant("skipped", skipped, "edge"))
    if full.n_edges > chain.n_edges:
        found.append(Variant("full", full, "edge"))
    for lo, hi in chain.edges if chain.n_edges > 1 else []:
        kept = OrderGraph.from_edges([edge for edge in full.edges if edge != (lo, hi)], labels=full.labels)
        found.append(Variant(f"merged {lo}, {hi}", kept.reduction(), "edge"))
    return found


def rate_variants(
    estimator: Any,
    tried: list[Variant],
    order: OrderGraph,
    data: tuple[Any, NDArray[Any], Floats],
    folds: list[tuple[Rows, Rows]],
    verbose: int,
) -> Floats:
    """Pair accuracy of every variant (rows) in every fold (columns), counted over the given order for all of them."""
    X, y, weights = data
    pairwise, closure = estimator.kernel == "precomputed", order.closure()
    scores = np.empty((len(tried), len(folds)))
    for column, (train, test) in enumerate(folds):
        learned = X[np.ix_(train, train)] if pairwise else X[train]
        left_out = X[np.ix_(test, train)] if pairwise else X[test]
        _check_fold(y[train], order)
        seen = closure.restrict(np.unique(y[test]).tolist())
        for k, each in enumerate(tried):
            model = clone(estimator).set_params(order=each.graph, slack=each.slack, classes=None)
            with warnings.catch_warnings(), listening(_unheard):
                for category in (CollapsedRankingWarning, UndefinedMetricWarning, ScaleWarning):
                    warnings.simplefilter("ignore", category)  # the fit on all rows warns of scales
                model.fit(learned, y[train], sample_weight=weights[train])
                rated = model.score_samples(left_out)
                scores[k, column] = wmw_score(y[test], rated, order=seen, sample_weight=weights[test])
        left = 1 - (column + 1) / len(folds)
        tell(left, lambda left=left: f"{1 - left:.0%} of the folds are rated", verbose)  # type: ignore[misc]
    if np.isnan(scores).any(axis=0).all():
        raise HullrankError("no fold leaves out two rows that the order compares; use fewer folds, or more rows")
    return scores


def simplest(scores: Floats, sizes: NDArray[np.intp]) -> int:
    """Of the candidates within one standard error of the best, the first with the fewest thresholds.

    Folds without two rows to compare have no score, for any candidate.
    """
    scores = scores[:, np.isfinite(scores).all(axis=0)]
    means, n = scores.mean(axis=1), scores.shape[1]
    best = int(means.argmax())
    error = float(scores[best].std(ddof=1)) / n**0.5 if n > 1 else 0.0
    near = np.flatnonzero(means >= means[best] - error)
    return int(min(near, key=lambda k: (sizes[k], k)))


def _check_fold(y: NDArray[Any], order: OrderGraph) -> None:
    present = set(y.tolist())
    missing = [label for label in order.labels if label not in present]
    if missing:
        raise HullrankError(f"a fold has no row of class {missing[0]!r} to learn from; use fewer folds, or more rows")


def _unheard(gap: float) -> None:
    """The gap of one solve among many says nothing about how far the search is."""
