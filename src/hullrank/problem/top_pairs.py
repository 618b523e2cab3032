"""Pairs weighted by what their swap would cost in NDCG (Burges, Ragno and Le 2006), at given scores.

With the documents of a query ranked by scores, swapping i and j changes the query's NDCG by
|gain_i - gain_j| |discount_i - discount_j| / ideal DCG, gain = 2^grade - 1, discount = 1 / log2(1 + rank). Pairs at the
top of a list weigh most. The weights are constants of a problem, which therefore stays convex.
"""

import numpy as np
from numpy.typing import NDArray

from hullrank.exceptions import HullrankError, NoComparablePairError
from hullrank.problem.all_pairs import comparable
from hullrank.problem.pair_sets import Floats, Ints, ListedPairs

MOST_GRADES = 12
MOST_PAIRS = 5_000_000


def ndcg_pairs(grades: NDArray[np.integer], query: Ints, weights: Floats, scores: Floats) -> tuple[Ints, ListedPairs]:
    """Rows that take part in a pair, and all pairs of their queries with weights that sum to 1.

    ``grades`` are 0, 1, 2, ...; a pair's weight is also multiplied by those of its rows.
    """
    if int(grades.max()) >= MOST_GRADES:
        raise HullrankError(
            f"pair_weight='ndcg' is for grades, and y has {int(grades.max()) + 1} different values; join them to at "
            f"most {MOST_GRADES} grades, or leave pair_weight out"
        )
    rows, pairs = comparable(grades, query, weights)
    if pairs is None:
        raise NoComparablePairError("no two samples of a query have different grades, so there is nothing to rank")
    if pairs.n_pairs > MOST_PAIRS:
        raise HullrankError(
            f"pair_weight='ndcg' lists its pairs, and there are {pairs.n_pairs:,} (at most {MOST_PAIRS:,}); pass qid, "
            "or leave pair_weight out"
        )
    listed = pairs.listed()
    gain, discount, ideal = _per_row(grades[rows], pairs.query, scores[rows])
    hi, lo = listed.hi, listed.lo
    cost = (gain[hi] - gain[lo]) * np.abs(discount[hi] - discount[lo]) / ideal[hi]
    omega = listed.weights * cost if cost.any() else listed.weights  # where all scores are equal no swap costs anything
    return rows, ListedPairs(hi, lo, omega / omega.sum(), listed.n_rows)


def _per_row(grades: NDArray[np.integer], query: Ints, scores: Floats) -> tuple[Floats, Floats, Floats]:
    """The gain and the discount of every row, and the ideal DCG of its query; rows of equal scores share a discount."""
    gain = np.exp2(grades.astype(np.float64)) - 1
    starts = np.concatenate([[0], np.cumsum(np.bincount(query))])
    by_score = np.lexsort((-scores, query))
    place = np.arange(len(query)) - starts[query[by_score]]
    tied = np.concatenate([[0], np.cumsum((np.diff(scores[by_score]) != 0) | (np.diff(query[by_score]) != 0))])
    shared = np.bincount(tied, 1 / np.log2(2.0 + place)) / np.bincount(tied)
    discount = np.empty(len(query))
    discount[by_score] = shared[tied]
    by_gain = np.lexsort((-gain, query))
    ideal: Floats = np.bincount(query[by_gain], gain[by_gain] / np.log2(2.0 + place)).astype(np.float64)
    return gain, discount, ideal[query]
