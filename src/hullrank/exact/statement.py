"""What is maximised, on the raw rows: which pairs compare, what they weigh, and the value of w in exact arithmetic."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hullrank.exact.arrangement import Arrangement, pair_arrangement, rank_arrangement
from hullrank.exceptions import HullrankError, NoComparablePairError

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

_MOST_NUMBERS = 200_000_000


@dataclass(frozen=True)
class Rows:
    """Distinct samples that compare: rows, grades, weights and queries."""

    X: Floats
    codes: Indices
    weights: Floats
    query: Indices


class Statement(Protocol):
    """A rank statistic of distinct rows X; pair p asks that row ``above[p]`` scores above row ``below[p]``."""

    @property
    def X(self) -> Floats:
        """The distinct rows."""
        ...

    @property
    def above(self) -> Indices:
        """Row that should score higher, per pair."""
        ...

    @property
    def below(self) -> Indices:
        """Row that should score lower, per pair."""
        ...

    @property
    def rows(self) -> Rows:
        """The samples behind X, for methods that start the search."""
        ...

    @property
    def arrangement(self) -> Arrangement:
        """F over directions in units of the standard deviations of the columns."""
        ...

    @property
    def total(self) -> Fraction:
        """What F is divided by to give the reported value."""
        ...

    def recount(self, w: Floats) -> Fraction:
        """F(w) on the raw rows, without rounding."""
        ...


@dataclass(frozen=True)
class PairStatement:
    """AUC: the weight of the comparable pairs ranked right, ties wrong; rows are distinct within grade and query."""

    rows: Rows
    above: Indices
    below: Indices

    @property
    def X(self) -> Floats:
        """The distinct rows."""
        return self.rows.X

    @property
    def weights(self) -> Floats:
        """Their weights."""
        return self.rows.weights

    @cached_property
    def arrangement(self) -> Arrangement:
        """The merged pair differences."""
        D = (self.X[self.above] - self.X[self.below]) / column_scale(self.X)
        return pair_arrangement(D, self.weights[self.above] * self.weights[self.below])

    @cached_property
    def total(self) -> Fraction:
        """The weight of all comparable pairs."""
        return self._weight_of(np.ones(len(self.above), dtype=bool))

    def recount(self, w: Floats) -> Fraction:
        """The weight of the pairs with w.x_above > w.x_below."""
        place = exact_order(self.X, w)
        return self._weight_of(place[self.above] > place[self.below])

    def _weight_of(self, pairs: NDArray[np.bool_]) -> Fraction:
        whole, unit = _integers(self.weights)
        return Fraction(int((whole[self.above[pairs]] * whole[self.below[pairs]]).sum())) * unit * unit


@dataclass(frozen=True)
class RankStatement:
    """sum over positives of a(samples strictly below); rows are distinct, with counts of positives and negatives."""

    rows: Rows
    X: Floats
    positive: Floats
    negative: Floats
    gain: Floats

    @cached_property
    def above(self) -> Indices:
        """The positive of every pair (positive, other row)."""
        owners = np.flatnonzero(self.positive)
        return np.repeat(owners, len(self.X))[self._other]

    @cached_property
    def below(self) -> Indices:
        """The other row of every pair (positive, other row)."""
        return np.tile(np.arange(len(self.X)), int((self.positive > 0).sum()))[self._other]

    @cached_property
    def _other(self) -> NDArray[np.bool_]:
        return (np.flatnonzero(self.positive)[:, None] != np.arange(len(self.X))).ravel()

    @cached_property
    def arrangement(self) -> Arrangement:
        """One owner for each distinct positive row."""
        return rank_arrangement(self.X / column_scale(self.X), self.positive, self.negative, self.gain)

    @property
    def total(self) -> Fraction:
        """1: functionals are reported as they are."""
        return Fraction(1)

    def recount(self, w: Floats) -> Fraction:
        """The sum of the exact weights that the positives earn."""
        place = exact_order(self.X, w)
        counts = np.bincount(place, self.positive + self.negative)
        under = np.concatenate([[0.0], np.cumsum(counts)])[place].astype(np.intp)
        earned = (int(m) * Fraction(float(self.gain[r])) for m, r in zip(self.positive, under, strict=True) if m)
        return sum(earned, Fraction(0))


def join_rows(X: Floats, codes: Indices, weights: Floats, query: Indices) -> Rows:
    """Equal rows of one grade and query joined, in sorted order; rows without weight left out."""
    keep = weights > 0
    X, codes, weights, query = X[keep], codes[keep], weights[keep], query[keep]
    keys = np.column_stack([query, codes, X])
    _, first, group = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    rows = Rows(X[first], codes[first], np.bincount(group.ravel(), weights).astype(np.float64), query[first])
    mixed = [q for q in np.unique(rows.query) if len(np.unique(rows.codes[rows.query == q])) > 1]
    if not mixed:
        raise NoComparablePairError(
            f"no two of the {len(weights)} samples (of one query) have different targets (y has one class), so there "
            "is nothing to rank; pass at least 2 samples that compare"
        )
    members = np.isin(rows.query, mixed)
    if all((rows.X[members & (rows.query == q)] == rows.X[rows.query == q][0]).all() for q in mixed):
        raise HullrankError("all rows of X that compare are equal, so every score ties them; pass others")
    return rows


def state_pairs(X: Floats, codes: Indices, weights: Floats, query: Indices) -> PairStatement:
    """All pairs of different grade in one query."""
    rows = join_rows(X, codes, weights, query)
    _, sizes = np.unique(rows.query, return_counts=True)
    _, blocks = np.unique(np.stack([rows.query, rows.codes]), axis=1, return_counts=True)
    _check_size(int((sizes**2).sum() - (blocks**2).sum()) // 2, X.shape[1])
    pairs = [_pairs_of(np.flatnonzero(rows.query == q), rows.codes) for q in np.unique(rows.query)]
    above, below = np.concatenate([p[0] for p in pairs]), np.concatenate([p[1] for p in pairs])
    return PairStatement(rows, above, below)


def state_ranks(X: Floats, positive: Indices, weights: Floats, gain: Floats) -> RankStatement:
    """The statistic with table ``gain``; weights are counts of repeated samples."""
    samples = join_rows(X, positive, weights, np.zeros(len(X), dtype=np.intp))
    rows, group = np.unique(samples.X, axis=0, return_inverse=True)
    counts = np.zeros((2, len(rows)))
    np.add.at(counts, (samples.codes, group.ravel()), samples.weights)
    _check_size(int((counts[1] > 0).sum()) * len(rows), X.shape[1])
    return RankStatement(samples, rows, counts[1], counts[0], gain)


def exact_order(X: Floats, w: Floats) -> Indices:
    """Place 0, 1, ... of every score X w computed in integers, equal scores in equal places."""
    scores = _integers(X)[0] @ _integers(w)[0]
    return np.unique(scores, return_inverse=True)[1].ravel()


def column_scale(X: Floats) -> Floats:
    """Standard deviations of the columns, 1 for constant ones."""
    deviation = X.std(axis=0)
    return np.where(deviation > 0, deviation, 1.0)


def _integers(values: Floats) -> tuple[NDArray[Any], Fraction]:
    """Integers k and a power of two u with values = k u exactly; int64 where they are small."""
    if (values == np.rint(values)).all() and np.abs(values).max(initial=0.0) < 2**15:
        return values.astype(np.int64), Fraction(1)
    mantissa, exponent = np.frexp(values)
    lowest = int(exponent[values != 0].min(initial=0))
    shift = np.where(values != 0, exponent - lowest, 0)
    whole = (mantissa * 2.0**53).astype(np.int64).astype(object) << shift.astype(object)
    return whole, Fraction(2) ** (lowest - 53)


def _pairs_of(rows: Indices, codes: Indices) -> tuple[Indices, Indices]:
    high, low = np.nonzero(codes[rows][:, None] > codes[rows][None, :])
    return rows[high], rows[low]


def _check_size(pairs: int, features: int) -> None:
    if pairs * features > _MOST_NUMBERS:
        raise HullrankError(
            f"{pairs:,} pairs of {features} features do not fit the exact search, which holds every pair; fit a "
            "sample of the rows, or use SwappedPairsRanker"
        )
