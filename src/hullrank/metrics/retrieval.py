"""Metrics of lists returned for queries: NDCG, precision at k, mean average precision, mean reciprocal rank.

Conventions
-----------
Documents of a query are ranked by score, highest first. All metrics are means over queries; without ``qid`` there is
one query. The weight of a query is the mean weight of its documents. A query without a relevant document scores
``no_relevant`` (0, as in scikit-learn and LETOR; NaN leaves it out of the mean); so a query of one document scores 1
if the document is relevant, and ``no_relevant`` otherwise (precision at k: 1/k).
"""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hullrank.exceptions import HullrankError
from hullrank.metrics.pair_counts import sum_by
from hullrank.metrics.ranked import Ranked
from hullrank.metrics.scored import Scored, check_scored, undefined

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def ndcg_score(
    y: ArrayLike,
    scores: ArrayLike,
    *,
    k: int | None = None,
    gain: Literal["linear", "exponential"] = "linear",
    qid: ArrayLike | None = None,
    no_relevant: float = 0.0,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Normalised discounted cumulative gain at k, DCG / ideal DCG with DCG = sum_{j <= k} gain_j / log2(j + 1).

    Documents with equal scores share the mean of their discounts, as in ``sklearn.metrics.ndcg_score``, with which the
    linear gain agrees; the exponential gain is that of LETOR.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Grades, at least 0.
    scores : array-like of shape (n_samples,)
        Higher means ranked higher.
    k : int, default=None
        Only the k first documents count; None counts all.
    gain : {"linear", "exponential"}, default="linear"
        The gain of grade y is y, or 2^y - 1.
    qid : array-like of shape (n_samples,), default=None
        Query ids, in any order.
    no_relevant : float, default=0.0
        Value of queries without a document of positive grade; NaN leaves them out.
    sample_weight : array-like of shape (n_samples,), default=None
        The weight of a query is the mean weight of its documents.

    Returns
    -------
    score : float in [0, 1]

    Examples
    --------
    >>> from hullrank.metrics import ndcg_score
    >>> round(ndcg_score([2, 0, 1, 0, 1], [0.9, 0.5, 0.1, 0.2, 0.8], qid=[1, 1, 1, 2, 2], k=2), 4)
    0.8801
    """
    scored = check_scored(y, scores, sample_weight, qid)
    gains = _gains(scored.numbers(), gain)
    places = _check_k(k)
    ideal = _discounted(scored, gains, gains, places)
    reached = _discounted(scored, gains, scored.scores, places)
    relevant = ideal > 0
    values = np.divide(reached, ideal, out=np.zeros_like(ideal), where=relevant)
    return _query_mean("ndcg_score", scored, values, relevant, no_relevant)


def precision_at_k(
    y: ArrayLike,
    scores: ArrayLike,
    k: int = 10,
    *,
    relevant_above: float = 0.0,
    qid: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Share of relevant documents among the k first; a query with fewer documents is filled up with irrelevant ones.

    Documents with equal scores share their places evenly.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Grades.
    scores : array-like of shape (n_samples,)
        Higher means ranked higher.
    k : int, default=10
    relevant_above : float, default=0.0
        A document is relevant when its grade is above this.
    qid : array-like of shape (n_samples,), default=None
        Query ids, in any order.
    sample_weight : array-like of shape (n_samples,), default=None
        The weight of a query is the mean weight of its documents.

    Returns
    -------
    precision : float in [0, 1]

    Examples
    --------
    >>> from hullrank.metrics import precision_at_k
    >>> precision_at_k([1, 0, 2, 0], [0.9, 0.8, 0.7, 0.1], k=2)
    0.5
    """
    scored = check_scored(y, scores, sample_weight, qid)
    places = _check_k(k)
    ranked = Ranked.of(scored.queries, scored.scores)
    hits = (scored.numbers() > relevant_above)[ranked.order] * ranked.share_ties(ranked.place < places)
    values = sum_by(ranked.query, hits) / places
    return _query_mean("precision_at_k", scored, values, np.ones(len(values), dtype=bool), 0.0)


def mean_average_precision(
    y: ArrayLike,
    scores: ArrayLike,
    *,
    relevant_above: float = 0.0,
    qid: ArrayLike | None = None,
    no_relevant: float = 0.0,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Mean over queries of the average precision: the mean over relevant documents of the precision down to them.

    Documents with equal scores enter together, as in ``sklearn.metrics.average_precision_score``, with which a single
    query agrees.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Grades.
    scores : array-like of shape (n_samples,)
        Higher means ranked higher.
    relevant_above : float, default=0.0
        A document is relevant when its grade is above this.
    qid : array-like of shape (n_samples,), default=None
        Query ids, in any order.
    no_relevant : float, default=0.0
        Value of queries without a relevant document; NaN leaves them out.
    sample_weight : array-like of shape (n_samples,), default=None
        The weight of a query is the mean weight of its documents.

    Returns
    -------
    score : float in [0, 1]

    Examples
    --------
    >>> from hullrank.metrics import mean_average_precision
    >>> round(mean_average_precision([1, 0, 1], [0.9, 0.8, 0.7]), 4)
    0.8333
    """
    scored = check_scored(y, scores, sample_weight, qid)
    ranked = Ranked.of(scored.queries, scored.scores)
    relevant = (scored.numbers() > relevant_above)[ranked.order]
    precision = ranked.relevant_down_to(relevant) / (ranked.last_place + 1)
    found = sum_by(ranked.query, relevant.astype(np.float64))
    values = sum_by(ranked.query, np.where(relevant, precision, 0.0)) / np.maximum(found, 1.0)
    return _query_mean("mean_average_precision", scored, values, found > 0, no_relevant)


def mean_reciprocal_rank(
    y: ArrayLike,
    scores: ArrayLike,
    *,
    relevant_above: float = 0.0,
    qid: ArrayLike | None = None,
    no_relevant: float = 0.0,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Mean over queries of 1 / (place of the first relevant document); ties with irrelevant ones count against it.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Grades.
    scores : array-like of shape (n_samples,)
        Higher means ranked higher.
    relevant_above : float, default=0.0
        A document is relevant when its grade is above this.
    qid : array-like of shape (n_samples,), default=None
        Query ids, in any order.
    no_relevant : float, default=0.0
        Value of queries without a relevant document; NaN leaves them out.
    sample_weight : array-like of shape (n_samples,), default=None
        The weight of a query is the mean weight of its documents.

    Returns
    -------
    score : float in [0, 1]

    Examples
    --------
    >>> from hullrank.metrics import mean_reciprocal_rank
    >>> mean_reciprocal_rank([0, 1, 1, 0], [0.9, 0.8, 0.7, 0.1], qid=["a", "a", "b", "b"])
    0.75
    """
    scored = check_scored(y, scores, sample_weight, qid)
    ranked = Ranked.of(scored.queries, scored.scores)
    relevant = (scored.numbers() > relevant_above)[ranked.order]
    irrelevant = ranked.last_place + 1 - ranked.relevant_down_to(relevant)  # those above a document or tied with it
    values = np.zeros(ranked.query[-1] + 1)
    np.maximum.at(values, ranked.query[relevant], 1.0 / (irrelevant[relevant] + 1.0))
    return _query_mean("mean_reciprocal_rank", scored, values, values > 0, no_relevant)


def _discounted(scored: Scored, gains: Floats, by: Floats, k: float) -> Floats:
    """DCG at k of every query, its documents ranked by ``by``."""
    ranked = Ranked.of(scored.queries, by)
    discount = np.where(ranked.place < k, 1.0 / np.log2(ranked.place + 2.0), 0.0)
    return sum_by(ranked.query, gains[ranked.order] * ranked.share_ties(discount))


def _gains(grades: Floats, gain: str) -> Floats:
    if gain not in ("linear", "exponential"):
        raise HullrankError(f"gain={gain!r} is unknown; use 'linear' or 'exponential'")
    if (grades < 0).any():
        raise HullrankError(f"ndcg_score needs grades of at least 0, but y contains {grades.min():g}; shift them")
    if gain == "exponential" and grades.max() > 1000:
        raise HullrankError(f"2^{grades.max():g} - 1 is too large a gain; use gain='linear' or smaller grades")
    return np.exp2(grades) - 1.0 if gain == "exponential" else grades


def _check_k(k: int | None) -> float:
    if k is None:
        return np.inf
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise HullrankError(f"k={k!r} is no number of places; pass a positive integer")
    return int(k)


def _query_mean(metric: str, scored: Scored, values: Floats, relevant: Bools, no_relevant: float) -> float:
    values = np.where(relevant, values, no_relevant)
    weights = sum_by(scored.queries, scored.weights) / np.bincount(scored.queries)
    counted = ~np.isnan(values)
    if not counted.any():
        return undefined(metric, "no query has a relevant document")
    return float(np.average(values[counted], weights=weights[counted]))
