"""The largest pair accuracy that a fold can have, from what is known of a kernel's solution before it is found.

Let f be a function and f* the solution, with |f - f*| <= r in the kernel's space. The two differ by at most
r |x_i - x_j| (a distance in that space) in how far the scores of i and j are apart. So f* ranks every pair wrong that f
ranks wrong by more than that.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hullrank.metrics.pairwise import QueryAccuracy
from hullrank.problem.all_pairs import comparable

Floats = NDArray[np.float64]
MOST_PAIRS = 500_000  # pairs of the rows to rate up to which they are listed


class PairBounds:
    """The pairs of the rows that a fold leaves out; none where there are too many to list."""

    def __init__(self, y: Any, sample_weight: Any = None, qid: Any = None) -> None:
        codes, queries, weights, kept = QueryAccuracy(y, sample_weight, qid).rows
        rows, pairs = comparable(codes, queries, weights)
        self.hi, self.lo, self.weights = np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp), np.empty(0)
        if pairs is not None and pairs.n_pairs <= MOST_PAIRS:
            listed = pairs.listed()
            self.hi, self.lo, self.weights = kept[rows][listed.hi], kept[rows][listed.lo], listed.weights

    def distances(self, values: Floats) -> Floats:
        """How far the rows of every pair are apart in the space of a kernel with these values between the rows."""
        own = values.diagonal()
        return np.sqrt(np.maximum(own[self.hi] + own[self.lo] - 2 * values[self.hi, self.lo], 0.0))

    def accuracy(self, scores: Floats, reach: Floats) -> float:
        """The largest accuracy where every pair's scores may be wrong by its ``reach``."""
        return 1.0 - float(self.weights @ (scores[self.lo] - scores[self.hi] > reach))
