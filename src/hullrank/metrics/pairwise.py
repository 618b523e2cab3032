"""How many pairs a ranking gets right: generalised WMW, swapped pairs, Kendall's tau-b."""

from collections.abc import Hashable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from hullrank.data import encode_labels
from hullrank.exceptions import HullrankError
from hullrank.metrics.pair_counts import Floats, Ints, PairCounts, count_edge_pairs, count_pairs, pairs_apart, sum_by
from hullrank.metrics.scored import Scored, check_scored, undefined
from hullrank.order import OrderGraph, resolve_order
from hullrank.problem.all_pairs import AllPairs


def wmw_score(
    y: Any,
    scores: ArrayLike,
    *,
    order: Any = "full",
    average: Literal["pairs", "edges", "sum"] = "pairs",
    ties: Literal["strict", "half"] = "strict",
    sample_weight: ArrayLike | None = None,
) -> float:
    """Generalised Wilcoxon-Mann-Whitney statistic: how many pairs along the edges of the order graph are ranked right.

    The share of an edge (lo, hi) is the share of its sample pairs with score(lo) < score(hi) (Fung, Rosales and
    Krishnapuram 2005, section 1.1). For two classes and ``ties="half"`` it is the area under the ROC curve; for the
    full graph ``1 - wmw_score`` is `swapped_pairs`.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels. Numbers are ordered by value, an ordered Categorical or Enum by its categories.
    scores : array-like of shape (n_samples,)
        Higher means ranked higher.
    order : {"full", "chain"}, OrderGraph, str, list of edges or levels, or networkx.DiGraph, default="full"
        Which pairs count; see `hullrank.order.resolve_order`. Labels of the graph without a sample are left out.
    average : {"pairs", "edges", "sum"}, default="pairs"
        Mean over all pairs, mean over the edges that have samples, or the paper's sum over edges.
    ties : {"strict", "half"}, default="strict"
        Whether a pair with equal scores counts as wrong or as half right.
    sample_weight : array-like of shape (n_samples,), default=None
        The weight of a pair is the product of its samples' weights.

    Returns
    -------
    score : float
        In [0, 1], or up to the number of edges for the sum; NaN with a warning if no pair can be compared.

    Examples
    --------
    >>> from hullrank.metrics import wmw_score
    >>> wmw_score([1, 1, 2, 3], [0.1, 0.4, 0.3, 0.9])
    0.8
    >>> wmw_score([1, 1, 2, 3], [0.1, 0.4, 0.3, 0.9], order="chain", average="edges")
    0.75
    """
    _check_option("average", average, ("pairs", "edges", "sum"))
    _check_option("ties", ties, ("strict", "half"))
    scored = check_scored(y, scores, sample_weight)
    codes, graph = _graph_codes(scored, order)
    weights = scored.weights
    if average != "pairs":  # with unit weight per class every edge has weight 1
        weights = weights / sum_by(codes, weights)[codes]
    counts = _along_edges(codes, scored.scores, weights, graph)
    right = float(counts.won[0] + (counts.tied[0] / 2 if ties == "half" else 0.0))
    if not counts.total[0]:
        return undefined("wmw_score", "no edge of the order graph has samples at both ends")
    return right if average == "sum" else min(right / float(counts.total[0]), 1.0)


def swapped_pairs(
    y: Any,
    scores: ArrayLike,
    *,
    qid: ArrayLike | None = None,
    classes: Sequence[Hashable] | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Share of the pairs with different targets that the scores put in the wrong order; ties in score are wrong.

    Takes O(m log m) for any number of distinct targets.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Real-valued or ordinal targets.
    scores : array-like of shape (n_samples,)
        Higher means ranked higher.
    qid : array-like of shape (n_samples,), default=None
        Query ids in any order; only pairs within a query count, each pair alike.
    classes : sequence of labels, default=None
        The labels from lowest to highest, if they do not say it themselves.
    sample_weight : array-like of shape (n_samples,), default=None
        The weight of a pair is the product of its samples' weights.

    Returns
    -------
    fraction : float in [0, 1]
        NaN with a warning if no two samples (of one query) have different targets.

    Examples
    --------
    >>> from hullrank.metrics import swapped_pairs
    >>> swapped_pairs([1.5, 2.0, 3.5], [0.1, 0.7, 0.3])
    0.3333333333333333
    """
    scored = check_scored(y, scores, sample_weight, qid)
    return _swapped(count_pairs(scored.codes(classes), scored.scores, scored.weights, scored.queries))


def _swapped(counts: PairCounts) -> float:
    """The share of the pairs of all groups that are not won."""
    total = float(counts.total.sum())
    if not total:
        return undefined("swapped_pairs", "no two samples (of one query) have different targets")
    return (total - float(counts.won.sum())) / total


def kendall_tau_b(
    y: Any,
    scores: ArrayLike,
    *,
    qid: ArrayLike | None = None,
    classes: Sequence[Hashable] | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Kendall's rank correlation tau-b between targets and scores, (P - Q) / sqrt((P + Q + T_y) (P + Q + T_s)).

    P and Q count the pairs in the same and in opposite order, T_y those tied only in y, T_s those tied only in the
    scores. It is O(m log m), and equals ``scipy.stats.kendalltau`` when there are no weights and no queries.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Real-valued or ordinal targets.
    scores : array-like of shape (n_samples,)
    qid : array-like of shape (n_samples,), default=None
        Query ids; the mean over the queries in which neither targets nor scores are all equal.
    classes : sequence of labels, default=None
        The labels from lowest to highest, if they do not say it themselves.
    sample_weight : array-like of shape (n_samples,), default=None
        The weight of a pair is the product of its samples' weights.

    Returns
    -------
    tau : float in [-1, 1]
        NaN with a warning if it is undefined in every query.

    Examples
    --------
    >>> from hullrank.metrics import kendall_tau_b
    >>> kendall_tau_b([1, 2, 3, 4], [1, 3, 2, 4])
    0.6666666666666666
    """
    scored = check_scored(y, scores, sample_weight, qid)
    codes = scored.codes(classes)
    counts = count_pairs(codes, scored.scores, scored.weights, scored.queries)
    places = np.unique(scored.scores, return_inverse=True)[1]
    spread = np.sqrt(counts.total * pairs_apart(scored.queries, places, scored.weights))
    defined = spread > 0
    if not defined.any():
        return undefined("kendall_tau_b", "targets or scores are all equal (in every query)")
    tau = (counts.won - counts.lost)[defined] / spread[defined]
    return float(np.clip(tau, -1.0, 1.0).mean())


class PairAccuracy:
    """`wmw_score` of many score vectors for the same targets: what depends on the targets alone is checked once."""

    def __init__(self, y: Any, order: Any, sample_weight: ArrayLike | None = None) -> None:
        scored = check_scored(y, np.zeros(len(y)), sample_weight)
        self._kept = slice(None) if sample_weight is None else np.asarray(sample_weight) > 0
        self._codes, self._graph = _graph_codes(scored, order)
        self._weights = scored.weights

    def __call__(self, scores: Floats) -> float:
        """The share of the pairs that finite scores rank right, ties being wrong; NaN where there is no pair."""
        counts = _along_edges(self._codes, scores[self._kept], self._weights, self._graph)
        total = float(counts.total[0])
        return min(float(counts.won[0]) / total, 1.0) if total else float("nan")


class QueryAccuracy:
    """1 - `swapped_pairs` of many score vectors for the same targets: what depends on them alone is checked once."""

    def __init__(self, y: Any, sample_weight: ArrayLike | None = None, qid: ArrayLike | None = None) -> None:
        scored = check_scored(y, np.zeros(len(y)), sample_weight, qid)
        self._kept = np.arange(len(y)) if sample_weight is None else np.flatnonzero(np.asarray(sample_weight) > 0)
        self._codes, self._weights, self._queries = scored.codes(), scored.weights, scored.queries
        self._pairs = AllPairs(self._codes, self._queries, self._weights)
        self._is_counted = bool((self._weights == 1).all()) and self._pairs.n_pairs > 0  # sums are then exact

    @property
    def rows(self) -> tuple[Ints, Ints, Floats, Ints]:
        """Codes, queries and weights of the rows that count, and which rows these are."""
        return self._codes, self._queries, self._weights, self._kept

    def __call__(self, scores: Floats) -> float:
        """The share of the pairs (of one query) that the scores rank right; NaN with a warning where there is none."""
        scores = scores[self._kept]
        if self._is_counted:
            lost = self._pairs.lost(scores)
            if lost is not None:
                return 1.0 - lost / self._pairs.n_pairs
        return 1.0 - _swapped(count_pairs(self._codes, scores, self._weights, self._queries))


def _graph_codes(scored: Scored, order: Any) -> tuple[Ints, OrderGraph]:
    """Class codes, and the order graph whose labels they number."""
    if isinstance(order, str) and order in ("chain", "full"):
        labels = encode_labels(scored.y, scored.values)
        return labels.codes, resolve_order(order, labels.classes)
    graph = resolve_order(order, list(dict.fromkeys(scored.values.tolist())), allow_unused=True)
    return scored.codes(graph.labels), graph


def _along_edges(codes: Ints, scores: Floats, weights: Floats, graph: OrderGraph) -> PairCounts:
    if graph.is_full:
        return count_pairs(codes, scores, weights)
    return count_edge_pairs(codes, scores, weights, graph.codes)


def _check_option(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise HullrankError(f"{name}={value!r} is unknown; use one of {', '.join(map(repr, allowed))}")
