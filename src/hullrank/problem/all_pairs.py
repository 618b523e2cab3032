"""All pairs of rows with different ranks in one query, without storing a pair: O(m log m) for any number of ranks."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hullrank.data import pieces
from hullrank.data.labels import unique_inverse
from hullrank.data.queries import ranks_within
from hullrank.problem.charges import Charge
from hullrank.problem.pair_sets import EPSILON, Floats, Ints, ListedPairs, PairsAt, Ramp, Smooth, row_products

if TYPE_CHECKING:
    from hullrank.problem.separated_pairs import SeparatedPairs

_BELOW = np.triu(np.ones((8, 8)), 1)


@dataclass(frozen=True)
class AllPairs:
    """Pairs given by every row's rank (dense within its query) and query; pair weight = product of row weights."""

    rank: Ints
    query: Ints
    weights: Floats

    @cached_property
    def starts(self) -> Ints:
        """(Q + 1,) first position of every query once the rows are grouped by query."""
        return np.concatenate([[0], np.cumsum(np.bincount(self.query))])

    @cached_property
    def sizes(self) -> Ints:
        """(Q,) number of rows of every query."""
        return np.diff(self.starts)

    @cached_property
    def n_ranks(self) -> Ints:
        """(Q,) number of distinct targets in every query."""
        counts = np.zeros(len(self.starts) - 1, dtype=np.int64)
        np.maximum.at(counts, self.query, self.rank + 1)
        return counts

    @cached_property
    def small_rank(self) -> NDArray[np.int32]:
        """The ranks in half the memory, for the loops."""
        return self.rank.astype(np.int32)

    @cached_property
    def tree(self) -> tuple[Ints, int]:
        """Where the levels of the loops' tree of counters begin, and the number of counters."""
        return _levels(int(self.n_ranks.max()))

    @cached_property
    def n_pairs(self) -> int:
        """Number of pairs."""
        return int(pairs_per_query(self.rank, self.query, self.n_ranks, np.ones(len(self.rank), np.int64)).sum())

    def at(self, scores: Floats) -> PairsAt:
        """The pairs at given scores; the last ones are kept, since a grade asks for those that a search ended with."""
        if not self._last or not np.array_equal(self._last[0].given, scores):
            self._last.clear()  # before the next ones are made: they take as much memory as the rest of a fit
            self._last.append(_SortedAt(self, scores))
        return self._last[0]

    @cached_property
    def _last(self) -> list["_SortedAt"]:
        return []

    def sample(self, size: int, seed: int) -> tuple[Ints, "AllPairs"] | None:
        """About ``size`` random rows: whole queries where these are small, else single rows."""
        if (size, seed) not in self._samples:
            self._samples[size, seed] = self._draw_rows(size, seed)
        return self._samples[size, seed]

    @cached_property
    def _samples(self) -> dict[tuple[int, int], tuple[Ints, "AllPairs"] | None]:
        """Samples that were drawn, by size and seed: every Newton step asks for the same one."""
        return {}

    def _draw_rows(self, size: int, seed: int) -> tuple[Ints, "AllPairs"] | None:
        m, n_queries = len(self.rank), len(self.starts) - 1
        if size >= m:
            return None
        rng = np.random.default_rng(seed)
        sizes = np.diff(self.starts)
        if 8 * sizes.max() <= size:
            drawn = np.zeros(n_queries, dtype=bool)
            shuffled = rng.permutation(n_queries)
            drawn[shuffled[: np.searchsorted(np.cumsum(sizes[shuffled]), size) + 1]] = True
            rows = np.flatnonzero(drawn[self.query])
        else:
            rows = np.sort(rng.choice(m, size, replace=False))
        kept, pairs = comparable(self.rank[rows], self.query[rows], self.weights[rows])
        return (rows[kept], pairs) if pairs is not None else None

    def mean_square(self, X: Any, mean: Floats) -> float:
        """The mean squared distance |x_i - x_j|^2 of the pairs' rows, each pair by its weight.

        All pairs of a group of rows sum to (sum a)(sum a |x|^2) - |sum a x|^2; a query's pairs are those of all its
        rows less those of equal rank.
        """
        first = np.cumsum(self.n_ranks) - self.n_ranks
        within = _group_square(X, mean, self.weights, first[self.query] + self.rank)
        return max(_group_square(X, mean, self.weights, self.query) - within, 0.0)

    def mean_gram(self, X: Floats) -> Floats:
        """The mean of (x_i - x_j)(x_i - x_j)' over the pairs: the matrix whose trace is ``mean_square``."""
        first = np.cumsum(self.n_ranks) - self.n_ranks
        of_query, of_rank = (_members(group, self.weights) for group in (self.query, first[self.query] + self.rank))
        partners = of_query.sum(axis=1)[self.query] - of_rank.sum(axis=1)[first[self.query] + self.rank]
        scaled, queries, ranks = X * np.sqrt(self.weights * partners)[:, None], of_query @ X, of_rank @ X
        return scaled.T @ scaled - queries.T @ queries + ranks.T @ ranks

    def listed(self) -> ListedPairs:
        """The same pairs, one by one."""
        order, first, _ = self.by_rank
        start = self.starts[self.query[order]]
        partners = first - start  # rows of lower rank stand before the own rank
        hi = np.repeat(np.arange(len(order)), partners)
        lo = np.arange(len(hi)) - np.repeat(np.cumsum(partners) - partners - start, partners)
        hi, lo = order[hi], order[lo]
        return ListedPairs(hi, lo, self.weights[hi] * self.weights[lo], len(order))

    def draw(self, per_row: int, random_state: np.random.RandomState) -> ListedPairs:
        """``per_row`` pairs of every row with random rows of other rank in its query, all of one weight."""
        order, first, size = self.by_rank
        query = self.query[order]
        others = np.diff(self.starts)[query] - size
        drawn = self.starts[query] + random_state.randint(0, others, size=(per_row, len(order)))
        drawn += size * (drawn >= first)
        one, other = order[np.tile(np.arange(len(order)), per_row)], order[drawn.ravel()]
        above = self.rank[one] > self.rank[other]
        weights = np.full(len(one), 1.0 / len(one))
        return ListedPairs(np.where(above, one, other), np.where(above, other, one), weights, len(order))

    @cached_property
    def by_rank(self) -> tuple[Ints, Ints, Ints]:
        """Rows sorted by (query, rank); for every place the first place of the same rank, and how many share it."""
        order = np.lexsort((self.rank, self.query))
        rank, query = self.rank[order], self.query[order]
        first = np.flatnonzero(np.r_[True, (rank[1:] != rank[:-1]) | (query[1:] != query[:-1])])
        size = np.diff(np.r_[first, len(order)])
        return order, np.repeat(first, size), np.repeat(size, size)


def _members(group: Ints, weights: Floats) -> Any:
    """The matrix that adds up rows by their group, each by its weight."""
    return sp.csr_array((weights, (group, np.arange(len(group)))))


def _group_square(X: Any, mean: Floats, weights: Floats, group: Ints) -> float:
    """Sum over all pairs of rows of one group of the product of their weights and their squared distance.

    Dense rows are gone through in pieces; groups of one row have no pairs.
    """
    totals = np.bincount(group, weights)
    if sp.issparse(X):
        sums = _members(group, weights) @ X
        return float((weights * totals[group]) @ row_products(X, X)) - float(row_products(sums, sums).sum())
    several = np.bincount(group) > 1
    rows, number = np.flatnonzero(several[group]), np.cumsum(several) - 1
    square, sums = 0.0, np.zeros((np.count_nonzero(several), X.shape[1]))
    for part in pieces(len(rows), X.shape[1]):
        some = rows[part]
        Y, a = X[some] - mean, weights[some]
        square += float((a * totals[group[some]]) @ row_products(Y, Y))
        there, place = np.unique(number[group[some]], return_inverse=True)
        sums[there] += _members(place, a) @ Y
    return square - float(row_products(sums, sums).sum())


def pairs_per_query(rank: Ints, query: Ints, n_ranks: Ints, weights: NDArray[np.generic]) -> NDArray[np.generic]:
    """Sum over the pairs of every query of the product of row weights; integer weights are summed exactly.

    Queries with the same number of ranks form a table whose rows are summed one by one: a running sum over all queries
    would lose the digits of small weights beside large ones.
    """
    first = np.cumsum(n_ranks) - n_ranks
    groups = np.zeros(int(n_ranks.sum()), dtype=weights.dtype)
    np.add.at(groups, first[query] + rank, weights)
    totals = np.empty(len(n_ranks), dtype=weights.dtype)
    for size in np.unique(n_ranks):
        chosen = np.flatnonzero(n_ranks == size)
        table = groups[first[chosen][:, None] + np.arange(size)]
        totals[chosen] = (table[:, 1:] * np.cumsum(table[:, :-1], axis=1)).sum(axis=1)
    return totals


def comparable(
    targets: NDArray[np.generic], query: Ints, weights: Floats, *, equal_queries: bool = False
) -> tuple[Ints, AllPairs | None]:
    """Rows that belong to a pair's query, and all pairs among them with weights that sum to 1 (None: there is none).

    With ``equal_queries`` the pairs of every query have the same total weight.
    """
    rows = np.flatnonzero(weights > 0)
    while len(rows):
        codes = unique_inverse(query[rows])[1]
        pairs = AllPairs(ranks_within(targets[rows], codes), codes, weights[rows])
        has_pair = pairs.n_ranks > 1
        if has_pair.all():
            totals = pairs_per_query(pairs.rank, codes, pairs.n_ranks, pairs.weights)
            scale = np.sqrt(totals[codes] * len(totals) if equal_queries else totals.sum())
            return rows, AllPairs(pairs.rank, codes, pairs.weights / scale)
        rows = rows[has_pair[codes]]
    return rows, None


class _SortedAt:
    def __init__(self, pairs: AllPairs, scores: Floats):
        self.pairs, self.given = pairs, scores
        self.order, self.scores = _sorted(scores, pairs)
        self.range = float(scores.max() - scores.min())
        self.rank = pairs.small_rank[self.order]
        self.weights = pairs.weights[self.order]
        self.sums: dict[float, _Sums] = {}  # by margin, the last two: see ``_squared``
        sizes = pairs.sizes
        means = np.add.reduceat(self.scores, pairs.starts[:-1]) / sizes
        # differences do not care about a shift, rounding errors do
        self.centred = self.scores - (np.repeat(means, sizes) if len(sizes) > 1 else means)

    def hinge(self, margin: float = 1.0) -> tuple[float, Floats]:
        lower, higher = self._partner_sums(margin, self.centred)
        slack = lower[1] + lower[0] * (margin - self.centred)
        return float(self.weights @ slack), self._unsorted(self.weights * (higher[0] - lower[0]))

    def ramp(self, low: float, high: float) -> Ramp:
        upper, coef, _ = self._squared(high)
        reach = 1 + float(np.abs(self.centred).max())
        noise = (4 + len(coef) ** 0.5 / 4) * EPSILON * reach * upper.weight
        if low == -np.inf:
            return Ramp(upper.square, self._unsorted(coef), upper.weight, 0.0, noise)
        lower, less, _ = self._squared(low)
        inside, spread = _window(lower, upper, high - low, reach)
        return Ramp(upper.square - lower.square, self._unsorted(coef - less), inside, spread, noise)

    def _squared(self, margin: float) -> "_Sums":
        """Sums over the pairs with z = margin - d > 0.

        By sample h_i = sum_{higher j} omega z - sum_{lower j} omega z, and sum omega z^2 = margin sum omega z + s.h.
        """
        if margin not in self.sums:
            if len(self.sums) == 2:
                self.sums.clear()
            lower, higher = self._partner_sums(margin, self.centred)
            partners = lower[0] + higher[0]
            below = self.weights * (lower[1] + lower[0] * (margin - self.centred))
            weight, total = float(self.weights @ lower[0]), float(below.sum())
            del lower
            coef = self.weights * (higher[0] * (margin + self.centred) - higher[1]) - below
            moments = _Moments(weight, total, margin * total + float(self.centred @ coef))
            self.sums[margin] = _Sums(moments, coef, partners)
        return self.sums[margin]

    def laplacian(self, low: float, high: float, v: Floats) -> Floats:
        v = v[self.order]
        product = self._laplacian(high, v)
        if low > -np.inf:
            product -= self._laplacian(low, v)
        return self._unsorted(product)

    def _laplacian(self, margin: float, v: Floats) -> Floats:
        lower, higher = self._partner_sums(margin, v)
        lower += higher
        return self.weights * (v * lower[0] - lower[1])

    def smooth(self, charge: Charge) -> Smooth:
        return self._separated.smooth(charge)

    def smooth_laplacian(self, charge: Charge, v: Floats) -> Floats:
        return self._separated.laplacian(charge, v)

    def smooth_gram(self, charge: Charge, X: Any) -> Floats:
        return self._separated.gram(charge, X)

    @cached_property
    def _separated(self) -> "SeparatedPairs":
        from hullrank.problem.separated_pairs import SeparatedPairs

        return SeparatedPairs(self.pairs, self._unsorted(self.centred))

    def gram(self, low: float, high: float, X: Any) -> Floats:
        """X'LX is the symmetric part of X'(D X - 2 A G), G_i the weighted sum of the lower partners' rows.

        Differences do not care about the mean of the rows, rounding errors do: it is taken out of both factors.
        """
        rows = X.toarray() if sp.issparse(X) else X
        ones = np.ones(len(rows))
        mean = ones @ rows / len(rows)
        found = np.zeros((rows.shape[1], rows.shape[1]))
        for margin, sign in ((high, 1.0), (low, -1.0)) if low > -np.inf else ((high, 1.0),):
            if margin > self.range:
                found += sign * self.pairs.mean_gram(rows - mean)
            elif margin > -self.range:
                curved = self._curved(margin, rows, mean)
                found += sign * (rows.T @ curved - np.outer(mean, ones @ curved))
        return (found + found.T) / 2

    def _curved(self, margin: float, rows: Floats, mean: Floats) -> Floats:
        """D X - 2 A G of the pairs with d < margin, X being ``rows`` less their mean."""
        from hullrank.problem._pair_loops import curve_rows

        partners = self._squared(margin).partners
        offsets, size = self.pairs.tree
        counters, curved = np.empty((size, rows.shape[1])), np.empty(rows.shape)
        ordered = self.scores, self.scores + margin, self.rank, self.pairs.starts, self.pairs.n_ranks, self.weights
        curve_rows(*ordered, partners, self.order, rows, mean, offsets, counters, curved)
        return curved

    def _partner_sums(self, margin: float, v: Floats) -> tuple[Floats, Floats]:
        """Sums of a and a v over the lower partners of every sample, and over its higher partners, with d < margin."""
        from hullrank.problem._pair_loops import partner_sums

        values = np.empty((2, len(v)))
        values[0] = self.weights
        np.multiply(self.weights, v, out=values[1])
        lower, higher = np.empty_like(values), np.empty_like(values)
        offsets, size = self.pairs.tree
        counters = np.empty((2, size))
        shifted = self.scores + margin
        sorted_pairs = self.rank, self.pairs.starts, self.pairs.n_ranks, values, _BELOW, offsets, counters
        partner_sums(1, self.scores, shifted, *sorted_pairs, higher)
        partner_sums(-1, shifted, self.scores, *sorted_pairs, lower)
        return lower, higher

    def _unsorted(self, values: Floats) -> Floats:
        out = np.empty_like(values)
        out[self.order] = values
        return out


class _Moments(NamedTuple):
    """Sums of omega, omega z and omega z^2 over the pairs inside a margin."""

    weight: float
    total: float
    square: float


class _Sums(NamedTuple):
    """The same with sums of omega z by sample, and the weight of each sample's partners inside the margin."""

    moments: _Moments
    coef: Floats
    partners: Floats


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


def _sorted(scores: Floats, pairs: AllPairs) -> tuple[Ints, Floats]:
    """The rows by query, then by ascending score, and their scores in that order."""
    from hullrank.problem._pair_loops import sort_scores

    low, high = float(scores.min()), float(scores.max())
    m, steps = len(scores), np.exp2(33) - 1
    if 0 < high - low < np.inf:
        words = (((scores - low) * (steps / (high - low))).astype(np.int64) << 31) + np.arange(m)
        order, found = np.empty(m, dtype=np.int64), np.empty(m)
        other, counts = np.empty_like(words), np.empty(2048, dtype=np.int64)
        if sort_scores(words, other, counts, pairs.query, pairs.starts[:-1].copy(), scores, order, found):
            return order, found
    order = np.lexsort((scores, pairs.query))
    return order, scores[order]


def _levels(n_ranks: int) -> tuple[Ints, int]:
    """First counter of every level of the tree over ``n_ranks`` ranks, and the number of counters."""
    sizes = []
    last = n_ranks - 1
    while True:
        sizes.append((last | 7) + 1)
        if last < 8:
            return np.cumsum([0, *sizes[:-1]]), sum(sizes)
        last >>= 3
