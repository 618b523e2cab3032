"""What is maximised, on the raw rows: which pairs compare, what they weigh, and the value of w in exact arithmetic."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from hullrank.data import distinct_rows
from hullrank.exact.arrangement import Arrangement, pair_arrangement, rank_arrangement
from hullrank.exact.grid import Grid, read_grid
from hullrank.exact.rows import Rows, comparable_weights, join_rows, whole_numbers
from hullrank.exact.rule import WeightRule
from hullrank.exact.scores import decimal_places
from hullrank.exceptions import HullrankError

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

_MOST_NUMBERS = 100_000_000
_MOST_SAMPLES = 10_000_000


@dataclass(frozen=True)
class Statement(ABC):
    """A rank statistic of distinct rows X; pair p asks that row ``above[p]`` scores above row ``below[p]``.

    ``rows`` are the samples behind X, and ``rule`` says which weights are allowed. Required signs are stated as pairs
    of the origin and the unit vectors, which earn a reward.
    """

    rows: Rows
    X: Floats
    above: Indices
    below: Indices
    rule: WeightRule
    family: ClassVar[str] = "exact"

    @cached_property
    def grid(self) -> Grid:
        """The distinct rows as integers."""
        return read_grid(self.X)

    @cached_property
    def scale(self) -> Floats:
        """The spread of the raw columns: weights of raw columns times this are directions of the arrangement."""
        return self.grid.units * self.grid.spread

    @cached_property
    def decimals(self) -> int | None:
        """Digits to which scores are rounded: those of the data, where weights are whole numbers."""
        return None if self.rule.largest is None else decimal_places(self.X)

    @property
    @abstractmethod
    def arrangement(self) -> Arrangement:
        """F over directions in units of the spread of the columns, plus ``reward`` for all signs that are kept."""

    @property
    @abstractmethod
    def reward(self) -> float:
        """What the arrangement adds for all required signs together: more than the statistic can be, for each."""

    @property
    @abstractmethod
    def total(self) -> Fraction:
        """What F is divided by to give the reported value."""

    def recount(self, w: Floats) -> Fraction:
        """F for weights w of the raw columns, without rounding."""
        return self.count(self.grid.order(w))

    @abstractmethod
    def count(self, place: Indices) -> Fraction:
        """F where the rows stand in these places, lowest first, tied rows in one place."""

    @abstractmethod
    def columns(self, chosen: Indices) -> "Statement":
        """The same statistic of some columns."""

    def _axes(self) -> tuple[Grid, Indices, Indices]:
        """The grid with the origin and the unit vectors behind its rows, and the pairs that ask for the signs."""
        signs, n = self.rule.signs_of(self.X.shape[1]), len(self.X)
        asked = np.flatnonzero(signs)
        above = np.where(signs[asked] > 0, n + 1 + asked, n)
        return self.grid.with_axes(), above, np.where(signs[asked] > 0, n, n + 1 + asked)


class PairStatement(Statement):
    """AUC: the weight of the comparable pairs ranked right, ties wrong; rows are distinct within grade and query."""

    @cached_property
    def pair_weights(self) -> Floats:
        """The weight of every pair."""
        return self.rows.weights[self.above] * self.rows.weights[self.below]

    @cached_property
    def arrangement(self) -> Arrangement:
        """The merged pair differences, and the rewarded signs."""
        if not self.rule.n_signs:
            return pair_arrangement(self.grid, self.above, self.below, self.pair_weights)
        grid, above, below = self._axes()
        weights = np.concatenate([self.pair_weights, np.full(len(above), self.reward / len(above))])
        return pair_arrangement(grid, np.concatenate([self.above, above]), np.concatenate([self.below, below]), weights)

    @property
    def reward(self) -> float:
        """More than all pairs together, for every required sign."""
        return self.rule.n_signs * (float(np.ceil(self.pair_weights.sum())) + 1.0)

    @cached_property
    def total(self) -> Fraction:
        """The weight of all comparable pairs."""
        return self._weight_of(np.ones(len(self.above), dtype=bool))

    def count(self, place: Indices) -> Fraction:
        """The weight of the pairs whose upper row stands above the lower."""
        return self._weight_of(place[self.above] > place[self.below])

    def _weight_of(self, pairs: NDArray[np.bool_]) -> Fraction:
        whole, unit = whole_numbers(self.rows.weights)
        return Fraction(int((whole[self.above[pairs]] * whole[self.below[pairs]]).sum())) * unit * unit

    def columns(self, chosen: Indices) -> "PairStatement":
        """The same pairs in some columns."""
        X = self.X[:, chosen]
        return replace(self, rows=replace(self.rows, X=X), X=X, rule=self.rule.columns(chosen))


@dataclass(frozen=True)
class RankStatement(Statement):
    """sum over positives of a(samples strictly below), a given by the table ``gain``.

    Rows are distinct; of the ``counts`` samples of each row, ``positive`` are positives.
    """

    positive: Floats
    counts: Floats
    gain: Floats

    @cached_property
    def arrangement(self) -> Arrangement:
        """One owner for each distinct positive row, and one for each required sign."""
        plain = rank_arrangement(self.grid, self.above, self.below, self.positive, self.counts, self.gain)
        if not self.rule.n_signs:
            return plain
        grid, above, below = self._axes()
        k, n, size = len(above), len(plain.base), len(self.gain)
        # An owner that starts at the end of the table earns half the reward, twice, when its sign is right.
        return replace(
            plain,
            D=np.vstack([plain.D, grid.values[above] - grid.values[below]]),
            weight=np.concatenate([plain.weight, np.ones(k)]),
            owner=np.concatenate([plain.owner, n + np.arange(k)]),
            base=np.concatenate([plain.base, np.full(k, float(size))]),
            multiplicity=np.concatenate([plain.multiplicity, np.full(k, 2.0)]),
            gain=np.concatenate([self.gain, [0.0, 0.5 * self.reward / k]]),
            above=np.concatenate([plain.above, above]),
            below=np.concatenate([plain.below, below]),
            grid=grid,
        )

    @property
    def reward(self) -> float:
        """More than all positives can earn, for every required sign."""
        return self.rule.n_signs * 2.0 * (float(np.ceil(self.positive.sum() * self.gain[-1])) + 1.0)

    @property
    def total(self) -> Fraction:
        """1: functionals are reported as they are."""
        return Fraction(1)

    def count(self, place: Indices) -> Fraction:
        """The sum of the exact weights that the positives earn."""
        counts = np.bincount(place, self.counts)
        under = (np.cumsum(counts) - counts)[place].astype(np.intp)
        earned = (int(m) * Fraction(float(self.gain[r])) for m, r in zip(self.positive, under, strict=True) if m)
        return sum(earned, Fraction(0))

    def columns(self, chosen: Indices) -> "RankStatement":
        """The same statistic of some columns; rows that agree in them are joined."""
        rows = replace(self.rows, X=self.rows.X[:, chosen])
        return _ranks(rows, self.gain, self.rule.columns(chosen))


def state_pairs(
    X: Floats, codes: Indices, weights: Floats, query: Indices, rule: WeightRule | None = None
) -> PairStatement:
    """All pairs of different grade in one query."""
    rows = join_rows(X, codes, comparable_weights(weights), query)
    _, sizes = np.unique(rows.query, return_counts=True)
    _, blocks = np.unique(np.stack([rows.query, rows.codes]), axis=1, return_counts=True)
    _check_size(int((sizes**2).sum() - (blocks**2).sum()) // 2, X.shape[1])
    pairs = [_pairs_of(np.flatnonzero(rows.query == q), rows.codes) for q in np.unique(rows.query)]
    above, below = np.concatenate([p[0] for p in pairs]), np.concatenate([p[1] for p in pairs])
    return PairStatement(rows, rows.X, above, below, rule or WeightRule())


def state_ranks(
    X: Floats, positive: Indices, weights: Floats, gain: Floats, rule: WeightRule | None = None
) -> RankStatement:
    """The statistic with table ``gain``; weights are counts of repeated samples."""
    if weights.sum() > _MOST_SAMPLES:
        raise HullrankError(
            f"sample_weight stands for {weights.sum():,.0f} samples, too many to rank one by one; scale it down"
        )
    samples = join_rows(X, positive, weights, np.zeros(len(X), dtype=np.intp))
    return _ranks(samples, gain, rule or WeightRule())


def _ranks(samples: Rows, gain: Floats, rule: WeightRule) -> RankStatement:
    first, group = distinct_rows(samples.X)
    X = samples.X[first]
    counts = np.bincount(group, samples.weights).astype(np.float64)
    positive = np.bincount(group, samples.weights * samples.codes).astype(np.float64)
    owners, others = np.flatnonzero(positive), np.arange(len(X))
    _check_size(len(owners) * len(X), X.shape[1])
    first_owner, other = np.nonzero(owners[:, None] != others)
    return RankStatement(samples, X, owners[first_owner], other, rule, positive, counts, gain)


def _pairs_of(rows: Indices, codes: Indices) -> tuple[Indices, Indices]:
    high, low = np.nonzero(codes[rows][:, None] > codes[rows][None, :])
    return rows[high], rows[low]


def _check_size(pairs: int, features: int) -> None:
    if pairs * features > _MOST_NUMBERS:
        raise HullrankError(
            f"{pairs:,} pairs of {features} features do not fit the exact search, which holds every pair; fit a "
            "sample of the rows, or use SwappedPairsRanker"
        )
