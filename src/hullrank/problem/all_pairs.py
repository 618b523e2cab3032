"""All pairs of rows with different ranks in one query, without storing a pair: O(m log m) for any number of ranks."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hullrank.data import pieces
from hullrank.data.labels import unique_inverse
from hullrank.data.queries import ranks_within
from hullrank.problem.layout import concatenated_ranges
from hullrank.problem.pair_sets import Floats, Ints, ListedPairs, PairsAt, row_products
from hullrank.problem.rows import ArrayRows

if TYPE_CHECKING:
    from hullrank.problem.bundled_pairs import Bundles
    from hullrank.problem.pairs_at_scores import AtScores

NARROW, SHORT = 40, 8000  # columns and rows up to which a matrix of products costs little beside a fit
FEW_MEMBERS = 1 << 15  # entries of a dense matrix of group members that take less time than a sparse one
MANY_RANKS = 300_000  # ranks of a query beyond which neighbouring ones are bundled
FEW_PARTNERS = 24  # pairs per row up to which pairs are visited one by one in compiled loops


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
        counts = np.zeros(len(self.sizes), dtype=np.int64)
        np.maximum.at(counts, self.query, self.rank + 1)
        return counts

    @cached_property
    def most_ranks(self) -> int:
        """The largest number of distinct targets in a query."""
        return int(self.n_ranks.max())

    @cached_property
    def small_rank(self) -> NDArray[np.int32]:
        """The ranks in half the memory, for the loops."""
        return self.rank.astype(np.int32)

    @cached_property
    def n_pairs(self) -> int:
        """Number of pairs."""
        alike = np.bincount(self._numbered_rank)  # rows of one query and rank
        return int(self.sizes @ self.sizes - alike @ alike) // 2

    def at(self, scores: Floats) -> PairsAt:
        """The pairs at given scores; the last ones are kept, since a grade asks for those that a search ended with."""
        if not self._last or not np.array_equal(self._last[0].given, scores):
            self.forget()  # before the next ones are made: they take as much memory as the rest of a fit
            self._last.append(self._kind(self, scores))
        return self._last[0]

    def forget(self) -> None:
        """Drop the pairs at the last scores. They and these pairs refer to each other, so that they would keep their
        memory until Python looks for such cycles."""
        self._last.clear()
        for drawn in self._samples.values():
            if drawn is not None:
                drawn[1].forget()

    def lost(self, scores: Floats) -> float | None:
        """The weight of the pairs whose lower row has the higher score; None where two scores are equal."""
        from hullrank.problem._pair_loops import partner_sums
        from hullrank.problem.pairs_at_scores import by_score

        order, ordered = by_score(scores, self.query, self.starts)
        if (ordered[1:] == ordered[:-1]).any():
            return None
        rank, weights = self.small_rank[order], self.weights[order]
        counters, lower = np.empty((self.most_ranks, 2)), np.empty((2, len(scores)))
        partner_sums(-1, ordered, 0.0, rank, self.starts, self.n_ranks, weights, weights, counters, lower)
        return float(weights @ lower[0])

    @cached_property
    def _kind(self) -> type["AtScores"]:
        """Which sums over the pairs are fastest."""
        from hullrank.problem.bundled_pairs import BundledAtScores
        from hullrank.problem.pairs_at_scores import FEW_RANKS, MANY_ROWS, AtScores, FewAtScores, GradedAtScores

        if self.n_pairs <= FEW_PARTNERS * len(self.rank):
            return FewAtScores
        if self.most_ranks > MANY_RANKS:
            return BundledAtScores
        graded = len(self.sizes) == 1 and self.most_ranks <= FEW_RANKS and len(self.rank) <= MANY_ROWS
        return GradedAtScores if graded else AtScores

    @cached_property
    def bundles(self) -> "Bundles":
        """Bundles of neighbouring ranks (see ``bundled_pairs``)."""
        from hullrank.problem.bundled_pairs import bundled

        return bundled(self, self._numbered_rank)

    @cached_property
    def _last(self) -> list["AtScores"]:
        return []

    @cached_property
    def shared_tables(self) -> list[Floats]:
        """Values by row, and the tables of their running sums (see ``GradedAtScores``); empty before the first ones."""
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
        m, n_queries = len(self.rank), len(self.sizes)
        if size >= m:
            return None
        rng = np.random.default_rng(seed)
        if 8 * self.sizes.max() <= size:
            shuffled = rng.permutation(n_queries)
            drawn = shuffled[: np.searchsorted(np.cumsum(self.sizes[shuffled]), size) + 1]
            rows = np.flatnonzero(np.isin(np.arange(n_queries), drawn)[self.query])
        else:
            rows = np.sort(rng.choice(m, size, replace=False))
        kept, pairs = comparable(self.rank[rows], self.query[rows], self.weights[rows])
        return (rows[kept], pairs) if pairs is not None else None

    def mean_square(self, X: Any, mean: Floats) -> float:
        """The mean squared distance |x_i - x_j|^2 of the pairs' rows, each pair by its weight.

        All pairs of a group of rows sum to (sum a)(sum a |x|^2) - |sum a x|^2; a query's pairs are those of all its
        rows less those of equal rank. Of a small matrix, ``mean_gram`` is asked for soon.
        """
        if not sp.issparse(X) and X.shape[1] <= NARROW and X.shape[0] <= SHORT:
            return max(float(np.trace(self.mean_gram(X, mean))), 0.0)
        within = _group_square(X, mean, self.weights, self._numbered_rank)
        return max(_group_square(X, mean, self.weights, self.query) - within, 0.0)

    def mean_gram(self, X: Floats, mean: Floats) -> Floats:
        """The mean of (x_i - x_j)(x_i - x_j)' over the pairs: the matrix whose trace is ``mean_square``.

        ``mean`` is that of the rows; differences do not care, rounding errors do. The last one is kept.
        """
        if not self._gram or self._gram[0][0] is not X:
            rank, weights = self._numbered_rank, self.weights
            by_query, by_rank = np.bincount(self.query, weights), np.bincount(rank, weights)
            found = ArrayRows(X, None, mean, spread=0.0).gram(weights * (by_query[self.query] - by_rank[rank]))
            in_rank = _members(rank, weights) @ X - np.outer(by_rank, mean)
            in_query = np.add.reduceat(in_rank, self._first_rank)
            self._gram[:] = [(X, found + in_rank.T @ in_rank - in_query.T @ in_query)]
        return self._gram[0][1]

    @cached_property
    def _gram(self) -> list[tuple[Floats, Floats]]:
        return []

    def mean_contrast(self) -> Floats:
        """By row, the weight of its pairs with higher rows less that of its pairs with lower rows.

        The pairs' mean of x_j - x_i (i above j) is the sum of these times the rows. A small query beside a large one
        loses digits.
        """
        to_rank = np.concatenate([[0.0], np.cumsum(np.bincount(self._numbered_rank, self.weights))])
        through = to_rank[:-1] + to_rank[1:]  # twice the weight up to the middle of a rank
        ends = to_rank[self._first_rank] + to_rank[self._first_rank + self.n_ranks]
        return self.weights * (np.repeat(ends, self.n_ranks) - through)[self._numbered_rank]

    def mean_pull(self, rows: ArrayRows) -> tuple[Floats, float]:
        """The mean of x_i - x_j (i above j) over the pairs, and the range of all rows' products with it; kept."""
        if not self._pull or self._pull[0][0] is not rows:
            pull = -rows.contrast(self.mean_contrast())
            self._pull[:] = [(rows, pull, float(np.ptp(rows.scores(pull))))]
        return self._pull[0][1:]

    @cached_property
    def _pull(self) -> list[tuple[ArrayRows, Floats, float]]:
        return []

    @cached_property
    def _numbered_rank(self) -> Ints:
        """The ranks, counted through all queries."""
        if len(self.n_ranks) == 1:
            return self.rank
        return self._first_rank[self.query] + self.rank

    @cached_property
    def _first_rank(self) -> Ints:
        """(Q,) the number of every query's lowest rank, counted through all queries."""
        return np.cumsum(self.n_ranks) - self.n_ranks

    def listed(self) -> ListedPairs:
        """The same pairs, one by one."""
        order, first, _ = self.by_rank
        start = self.starts[self.query[order]]
        partners = first - start  # rows of lower rank stand before the own rank
        hi, lo = np.repeat(order, partners), order[concatenated_ranges(start, partners)]
        return ListedPairs(hi, lo, self.weights[hi] * self.weights[lo], len(order))

    @cached_property
    def ranked_weights(self) -> Floats:
        """Weights of the rows sorted by (query, rank)."""
        return self.weights[self.by_rank[0]]

    def draw(self, per_row: int, random_state: np.random.RandomState) -> ListedPairs:
        """``per_row`` pairs of every row with random rows of other rank in its query, all of one weight."""
        order, first, size = self.by_rank
        query = self.query[order]
        others = self.sizes[query] - size
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
    """The matrix that adds up rows by their group, each by its weight; a small one is dense, which is made sooner."""
    n_groups = int(group.max()) + 1
    if n_groups * len(group) <= FEW_MEMBERS:
        return np.where(group == np.arange(n_groups)[:, None], weights, 0.0)
    return sp.csc_array((weights, group, np.arange(len(group) + 1)), shape=(n_groups, len(group)))


def group_sums(X: Any, weights: Floats, group: Ints, n_groups: int) -> Floats:
    """(n_groups, columns): the sum of the rows of every group, each by its weight."""
    found = np.zeros((n_groups, X.shape[1]))
    sums = _members(group, weights) @ X
    found[: sums.shape[0]] = sums.toarray() if sp.issparse(sums) else sums
    return found


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
        Y, a, here = X[some] - mean, weights[some], group[some]
        square += float((a * totals[here]) @ row_products(Y, Y))
        order = np.argsort(here, kind="stable")
        first = np.flatnonzero(np.diff(here[order], prepend=-1))
        sums[number[here[order[first]]]] += np.add.reduceat((a[:, None] * Y)[order], first)
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
    query = unique_inverse(query[rows])[1]
    pairs = AllPairs(ranks_within(targets[rows], query), query, weights[rows])
    has_pair = pairs.n_ranks > 1
    if not has_pair.all():
        kept = np.flatnonzero(has_pair[query])
        rows = rows[kept]
        pairs = AllPairs(pairs.rank[kept], unique_inverse(query[kept])[1], pairs.weights[kept])
    if not len(rows):
        return rows, None
    totals = pairs_per_query(pairs.rank, pairs.query, pairs.n_ranks, pairs.weights)
    scale = np.sqrt(totals[pairs.query] * len(totals) if equal_queries else totals.sum())
    found = AllPairs(pairs.rank, pairs.query, pairs.weights / scale)
    vars(found)["n_ranks"] = pairs.n_ranks
    return rows, found
