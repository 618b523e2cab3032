"""What a pair problem needs to know of all pairs at given scores, without storing a pair."""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hullrank._threads import in_threads
from hullrank.problem.all_pairs import AllPairs
from hullrank.problem.certificate import EPSILON
from hullrank.problem.charges import Charge
from hullrank.problem.logistic_pairs import LogisticPairs
from hullrank.problem.pair_sets import Floats, Ints, Ramp, Smooth

FEW_RANKS = 8  # most ranks for which running sums by rank (``grade_tables``) are faster than a tree
Arranged = tuple[Ints, Floats, Floats]  # rows' numbers, and in that order their scores and weights
FEW_ROWS = 1000  # most rows whose scores NumPy sorts faster than a compiled loop
ROWS_FOR_THREADS = 20_000  # most rows for which each of the two directions takes less time than starting a thread
MANY_ROWS = 100_000  # beyond so many rows sums by sample, most of the memory, are freed before others are computed


class AtScores:
    """All pairs at given scores, in arrays sorted by query and score (see ``_pair_loops``)."""

    def __init__(self, pairs: AllPairs, scores: Floats):
        self.pairs, self.given = pairs, scores
        self.place, self.scores, self.weights = self._arranged(scores)
        self.partners: dict[float, Floats] = {}  # by margin, the weight of each sample's violated partners
        self.sums: dict[float, tuple[_Moments, Floats]] = {}  # by margin, see ``_squared``
        self.weight: dict[float, float] = {}  # by margin, that of all violated pairs
        sizes = pairs.sizes
        middle = self.scores[pairs.starts[:-1] + sizes // 2]
        # Sums of smaller numbers lose fewer digits, differences stay as they are, and to subtract one of the scores
        # from the others is mostly exact.
        self.centred = self.scores - (np.repeat(middle, sizes) if len(sizes) > 1 else middle)

    @cached_property
    def range(self) -> float:
        """The largest distance of two scores."""
        return float(self.given.max() - self.given.min())

    @cached_property
    def reach(self) -> float:
        """About the largest number in a sum over scores."""
        return 1 + max(float(self.centred.max()), -float(self.centred.min()))

    def _arranged(self, scores: Floats) -> Arranged:
        order, found = by_score(scores, self.pairs.query, self.pairs.starts)
        return order, found, self.pairs.weights[order]

    @cached_property
    def order(self) -> Ints:
        """The numbers of the sorted rows."""
        return self.place

    @cached_property
    def rank(self) -> NDArray[np.int32]:
        """The ranks of the sorted rows."""
        return self.pairs.small_rank[self.order]

    def hinge(self, margin: float = 1.0) -> tuple[float, Floats]:
        """Sum of omega max(0, margin - d), and its subgradient in the scores."""
        if len(self.scores) > MANY_ROWS:
            self.sums.clear()
            self.partners.clear()
        higher, lower = self._partner_sums(margin, self.centred)
        slope = self._unsorted(self.weights * (higher[0] - lower[0]))
        self.weight[margin], total, _ = self._sum_slacks(margin, higher, lower)
        return total, slope

    def violated(self, margin: float) -> float:
        """Sum of omega over the pairs with d < margin."""
        return self.weight[margin] if margin in self.weight else self._squared(margin)[0].weight

    def ramp(self, low: float, high: float) -> Ramp:
        """Sums over the ramp from ``low`` to ``high``."""
        for margin in set(self.sums) - {low, high}:  # those of an earlier window, as they take much memory
            del self.sums[margin], self.partners[margin]
        upper, coef = self._squared(high)
        reach = self.reach
        noise = (4 + len(coef) ** 0.5 / 4) * EPSILON * reach * upper.weight
        if low == -np.inf:
            return Ramp(upper.square, self._unsorted(coef), upper.weight, 0.0, noise)
        lower, less = self._squared(low)
        inside, spread = _window(lower, upper, high - low, reach)
        return Ramp(upper.square - lower.square, self._unsorted(coef - less), inside, spread, noise)

    def _squared(self, margin: float) -> tuple["_Moments", Floats]:
        """Sums of omega, omega z and omega z^2 over the pairs with z = margin - d > 0, and of omega z by sample.

        The last is h_i = sum_{higher j} omega z - sum_{lower j} omega z, and sum omega z^2 = margin sum omega z + s.h.
        """
        if margin not in self.sums:
            higher, lower = self._partner_sums(margin, self.centred)
            weight, total, product = self._sum_slacks(margin, higher, lower)
            self.partners[margin], coef = lower
            square = margin * total + product
            if square < 1e-6 * self.reach**2 * weight:
                square = self._sum_of_squares(margin)
            self.sums[margin] = _Moments(weight, total, square), coef
        return self.sums[margin]

    def _sum_slacks(self, margin: float, higher: Floats, lower: Floats) -> tuple[float, float, float]:
        """The totals of ``sum_slacks``; partners' weights and slacks by sample take the place of ``lower``."""
        from hullrank.problem._pair_loops import sum_slacks

        totals = np.empty(3)
        sum_slacks(margin, self.weights, self.centred, higher, lower, totals)
        weight, total, product = totals.tolist()
        return weight, total, product

    def _sum_of_squares(self, margin: float) -> float:
        """Sum of omega z^2 over the pairs with z = margin - d > 0, where all z are so small that the difference of two
        sums would have lost its digits."""
        from hullrank.problem._pair_loops import violated_squares

        pairs, counters = self.pairs, np.empty((self.pairs.most_ranks, 3))
        ordered = self.rank, pairs.starts, pairs.n_ranks, self.weights
        return violated_squares(self.centred, margin, *ordered, counters)

    def laplacian(self, low: float, high: float, v: Floats) -> Floats:
        """L v over the pairs with low <= d < high."""
        v = v[self.order]
        product = self._laplacian(high, v)
        if low > -np.inf:
            product -= self._laplacian(low, v)
        return self._unsorted(product)

    def _laplacian(self, margin: float, v: Floats) -> Floats:
        higher, lower = self._partner_sums(margin, v)
        lower += higher
        return self.weights * (v * lower[0] - lower[1])

    def laplacian_among(self, low: float, high: float) -> tuple[Ints, Floats]:
        """The rows of the pairs with low <= d < high, and L among them."""
        from hullrank.problem._pair_loops import window_laplacian

        m = len(self.scores)
        place, out = np.full(m, -1), np.zeros(m * m)
        ordered = self.rank, self.pairs.starts, self.weights
        k = window_laplacian(self.scores, self.scores + high, self.scores + low, *ordered, place, out)
        rows = np.empty(k, dtype=np.int64)
        rows[place[place >= 0]] = self.order[place >= 0]
        return rows, out[: k * k].reshape(k, k)

    def smooth(self, charge: Charge) -> Smooth:
        """All pairs charged smoothly; a grade asks once more at the scores that a search ended with."""
        return self._smooth

    @cached_property
    def _smooth(self) -> Smooth:
        higher, lower = self._partner_sums(0.0, self.centred)
        return self._logistic.smooth(self.centred, lower, higher)

    def smooth_laplacian(self, charge: Charge, v: Floats) -> Floats:
        """L v with the curvature of a smooth charge."""
        return self._logistic.laplacian(v)

    def smooth_gram(self, charge: Charge, X: Any) -> Floats:
        """X'LX for the same L."""
        return self._logistic.gram(X)

    @cached_property
    def _logistic(self) -> LogisticPairs:
        """Sums of the logistic charge, the only smooth one that ``PairProblem`` takes."""
        return LogisticPairs(self.pairs, self.order, self.rank, self.scores, self.weights)

    def gram(self, low: float, high: float, X: Any) -> Floats:
        """X'LX is the symmetric part of X'(D X - 2 A G), G_i the weighted sum of the lower partners' rows.

        Differences do not care about the mean of the rows, rounding errors do.
        """
        rows = X.toarray() if sp.issparse(X) else X
        mean = np.ones(len(rows)) @ rows / len(rows)
        if high > self.range and low <= -self.range:
            return self.pairs.mean_gram(rows, mean).copy()
        rows = rows[self.order]
        rows -= mean
        found = rows.T @ self._curved(low, high, rows)
        return (found + found.T) / 2

    def _curved(self, low: float, high: float, rows: Floats) -> Floats:
        """D X - 2 A G of the pairs with low <= d < high, for sorted rows."""
        from hullrank.problem._pair_loops import curve_rows

        ordered = self.rank, self.pairs.starts, self.pairs.n_ranks, self.weights, self._partners(low, high)
        counters, curved = np.empty((self.pairs.most_ranks, rows.shape[1])), np.empty(rows.shape)
        curve_rows(self.scores, self.scores + high, self.scores + low, *ordered, rows, counters, curved)
        return curved

    def _partners(self, low: float, high: float) -> Floats:
        """The weight of every sample's partners with low <= d < high."""
        for margin in (low, high):
            if margin not in self.partners and margin > -np.inf:
                self._squared(margin)
        return self.partners[high] - self.partners[low] if low > -np.inf else self.partners[high]

    def _partner_sums(self, margin: float, v: Floats) -> tuple[Floats, Floats]:
        """Sums of a and a v over the higher partners of every sample, and over its lower partners, with d < margin."""
        from hullrank.problem._pair_loops import partner_sums

        pairs = self.rank, self.pairs.starts, self.pairs.n_ranks, self.weights, v

        def sums(way: int) -> Floats:
            found, counters = np.empty((2, len(v))), np.empty((self.pairs.most_ranks, 2))
            partner_sums(way, self.scores, margin, *pairs, counters, found)
            return found

        higher, lower = (in_threads if len(v) > ROWS_FOR_THREADS else map)(sums, (1, -1))
        return higher, lower

    def _unsorted(self, values: Floats) -> Floats:
        out = np.empty_like(values)
        out[self.order] = values
        return out


class GradedAtScores(AtScores):
    """All pairs of one query of few ranks at given scores: running sums by rank are looked up where margins end."""

    def _partner_sums(self, margin: float, v: Floats) -> tuple[Floats, Floats]:
        from hullrank.problem._pair_loops import graded_sums

        m = len(v)
        higher, lower, place = np.empty((2, m)), np.empty((2, m)), np.empty((2, m), dtype=np.int64)
        graded_sums(self.scores, margin, self.rank, *self._running_sums(v), place, higher, lower)
        return higher, lower

    def _running_sums(self, v: Floats) -> tuple[Floats, Floats]:
        """Tables of running sums; all scores share their memory, since fresh memory takes longer than the sums."""
        from hullrank.problem._pair_loops import grade_tables

        shared = self.pairs.shared_tables
        if not shared or shared[0] is not v:
            size = (self.pairs.most_ranks + 2) // 4, len(v) + 1, 8
            above, below = shared[1:] or (np.empty(size), np.empty(size))
            shared.clear()
            grade_tables(self.rank, self.weights, v, above, below)
            shared += [v, above, below]
        return shared[1], shared[2]


class FewAtScores(AtScores):
    """All pairs of mostly small queries at given scores: visited one by one, in arrays sorted by query and rank."""

    def _arranged(self, scores: Floats) -> Arranged:
        order = self.pairs.by_rank[0]
        return order, scores[order], self.pairs.ranked_weights

    @cached_property
    def _lower(self) -> tuple[Ints, Ints]:
        """For every row the place of its first lower partner, and the place after the last."""
        return np.repeat(self.pairs.starts[:-1], self.pairs.sizes), self.pairs.by_rank[1]

    @cached_property
    def _smooth(self) -> Smooth:
        return self._by_score._smooth

    @cached_property
    def _logistic(self) -> LogisticPairs:
        return self._by_score._logistic

    def laplacian_among(self, low: float, high: float) -> tuple[Ints, Floats]:
        """The rows of the pairs with low <= d < high, and L among them."""
        return self._by_score.laplacian_among(low, high)

    @cached_property
    def _by_score(self) -> AtScores:
        """The same pairs sorted by score, which exponentials of distances need."""
        return AtScores(self.pairs, self.given)

    def _sum_of_squares(self, margin: float) -> float:
        return self._by_score._sum_of_squares(margin)

    def _curved(self, low: float, high: float, rows: Floats) -> Floats:
        from hullrank.problem._pair_loops import visit_rows

        curved = np.empty(rows.shape)
        shifted = self.scores, self.scores + high, self.scores + low
        visit_rows(*self._lower, *shifted, self.weights, self._partners(low, high), rows, curved)
        return curved

    def _partner_sums(self, margin: float, v: Floats) -> tuple[Floats, Floats]:
        from hullrank.problem._pair_loops import visit_pairs

        higher, lower = np.zeros((2, len(v))), np.empty((2, len(v)))
        visit_pairs(*self._lower, self.scores, margin, self.weights, v, higher, lower)
        return higher, lower


class _Moments(NamedTuple):
    weight: float
    total: float
    square: float


def _window(lower: _Moments, upper: _Moments, width: float, reach: float) -> tuple[float, float]:
    """Sums of omega and of omega a (1 - a), a = z / width, over the pairs with 0 < z <= width, z = high - d.

    The second is a difference of sums of scores up to ``reach``: their rounding errors are added, so that it stays an
    upper bound.
    """
    inside = max(upper.weight - lower.weight, 0.0)
    first = upper.total - lower.total - width * lower.weight
    second = upper.square - lower.square - 2 * width * lower.total - width**2 * lower.weight
    steps = reach / width
    rounding = 1e-14 * upper.weight * steps * steps
    return inside, min(max(first / width - second / width**2, 0.0) + rounding, inside / 4)


def by_score(scores: Floats, query: Ints, starts: Ints, words: Ints | None = None) -> tuple[Ints, Floats]:
    """The rows by query, then by ascending score: their numbers, and their scores in that order.

    ``starts`` are the first positions of the queries, and the number of rows; ``words`` is room for two numbers of
    every row.
    """
    low, high = float(scores.min()), float(scores.max())
    m, steps = len(scores), 2.0**33 - 1
    if m > FEW_ROWS and 1e-290 < high - low < np.inf:
        from hullrank.problem._pair_loops import sort_scores

        order, found = np.empty(m, dtype=np.int64), np.empty(m)
        words = np.empty((2, m), dtype=np.int64) if words is None else words
        counts = np.zeros((3, 2048), dtype=np.int64)
        if sort_scores(scores, low, steps / (high - low), query, starts[:-1].copy(), words, counts, order, found):
            return order, found
    order = np.lexsort((scores, query))
    return order, scores[order]
