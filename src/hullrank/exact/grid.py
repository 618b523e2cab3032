"""Rows as integers: every column read as offset + step * integer, so that directions and scores can be exact.

Floating-point numbers are integers times a power of two, so every column has such a reading without any rounding.
A coarser one is preferred where it is what the numbers stand for: decimals (0.1 is one tenth), and values that lie on
an evenly spaced grid to within their rounding (levels that were standardised). The offset plays no part in ranking.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import gcd, lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hullrank.exceptions import HullrankError

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

_SMALL = 2**40
"""Integers below this are kept as int64, and their differences can be multiplied by small factors."""
_DECIMALS = 9
_MOST_LEVELS = 2**20
_MOST_COLUMNS = 100
"""More columns than this are taken as plain floating-point numbers: no proof is tried for them."""
_ROUNDING = 4 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Grid:
    """Integers ``whole`` (n, d) with X = offset + whole * steps; int64 where they are small, else Python integers.

    ``read`` says whether some column was read as a grid to within the rounding of its numbers. ``values`` are the
    same rows as float64 numbers, X = offset + values * units, whose differences are right to a relative rounding in
    every column.
    """

    whole: NDArray[Any]
    steps: tuple[Fraction, ...]
    values: Floats
    units: Floats
    read: bool

    @property
    def small(self) -> bool:
        """Whether the integers are int64."""
        return self.whole.dtype != object

    @cached_property
    def spread(self) -> Floats:
        """A power of two near the size of every column of ``values``, so that dividing by it rounds nothing."""
        return np.asarray(2.0 ** np.rint(np.log2(robust_spread(self.values))))

    def vectors(self, above: Indices, below: Indices) -> NDArray[Any]:
        """Differences of rows as integers, exactly."""
        return np.asarray(self.whole[above] - self.whole[below])

    def order(self, w: Floats) -> Indices:
        """Place 0, 1, ... of every row by its score for weights w of the raw columns; equal scores, equal places."""
        exact = [Fraction(float(weight)) * step for weight, step in zip(w, self.steps, strict=True)]
        scale = lcm(*(value.denominator for value in exact))
        factors = [int(value * scale) for value in exact]
        shared = gcd(*factors) or 1
        factors = [factor // shared for factor in factors]
        largest = max((abs(factor) for factor in factors), default=0)
        reach = max(1, int(np.abs(self.whole).max(initial=0))) * largest * len(factors)
        kind = np.int64 if self.small and reach < 2**62 else object
        scores = self.whole.astype(kind) @ np.array(factors, dtype=kind)
        return np.unique(scores, return_inverse=True)[1].ravel()

    def with_axes(self) -> "Grid":
        """The same rows, the origin and the unit vectors of the columns behind them."""
        d = self.whole.shape[1]
        more = np.vstack([np.zeros((1, d), dtype=np.int64), np.eye(d, dtype=np.int64)])
        whole = np.vstack([self.whole, more.astype(self.whole.dtype)])
        longer = replace(self, whole=whole, values=np.vstack([self.values, more.astype(np.float64)]))
        vars(longer)["spread"] = self.spread
        return longer


def read_grid(X: Floats) -> Grid:
    """The rows of X as integers."""
    if X.shape[1] > _MOST_COLUMNS:
        return _read_floats(X)
    columns = [_read_column(X[:, j]) for j in range(X.shape[1])]
    large = np.array([whole.dtype == object for whole, _, _ in columns])
    # Differences of small integers are exact; those of other floats are rounded once, by the subtraction.
    units = np.where(large, np.ldexp(1.0, _exponents(X)), [float(step) for _, step, _ in columns])
    whole = np.column_stack([each.astype(object if large.any() else np.int64) for each, _, _ in columns])
    values = _scaled(X, np.where(large, units, np.inf))
    values[:, ~large] = whole[:, ~large].astype(np.float64)
    return Grid(whole, tuple(step for _, step, _ in columns), values, units, any(read for _, _, read in columns))


def robust_spread(values: Floats) -> Floats:
    """A size of every column that single outliers do not own: 1 for constant columns."""
    low, middle, high = np.quantile(values, [0.05, 0.5, 0.95], axis=0)
    sizes = np.std(np.clip(values, low, high), axis=0)
    for j in np.flatnonzero(~(sizes > 0)):  # nearly constant: the size of the few other entries
        away = np.abs(values[:, j] - middle[j])
        sizes[j] = np.median(away[away > 0]) if away.any() else 1.0
    return np.asarray(sizes)


def column_scale(X: Floats) -> Floats:
    """The spread of raw columns of any magnitude."""
    exponents = _exponents(X)
    return np.asarray(np.ldexp(robust_spread(np.ldexp(X, -exponents)), exponents))


def _read_floats(X: Floats) -> Grid:
    """All columns as integers times a power of two each, without looking for coarser readings."""
    whole, powers = as_integers(X)
    units = np.ldexp(1.0, _exponents(X))
    return Grid(whole, tuple(Fraction(2) ** int(power) for power in powers), _scaled(X, units), units, False)


def as_integers(values: Floats) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Python integers, and a power of two for each column to multiply them with: the values without rounding."""
    mantissa, exponent = np.frexp(values)
    lowest = np.asarray(exponent.min(axis=0), dtype=np.int64)
    digits = np.ldexp(mantissa, 53).astype(np.int64).astype(object)
    return digits << (exponent - lowest).astype(object), lowest - 53


def _scaled(X: Floats, units: Floats) -> Floats:
    values = X / units
    bad = ((np.abs(values) < 1e-290) & (X != 0) & (units < np.inf)).any(axis=0)
    if bad.any():
        j = int(np.argmax(bad))
        sizes = np.abs(X[X[:, j] != 0, j])
        raise HullrankError(
            f"column {j} of X holds numbers of sizes too different to compare, from {sizes.min():g} to "
            f"{sizes.max():g}; clip it, or take its logarithm"
        )
    return np.asarray(values)


def _exponents(X: Floats) -> NDArray[np.int64]:
    """The power of two above the largest entry of every column."""
    return np.asarray(np.frexp(np.abs(X).max(axis=0))[1], dtype=np.int64)


def _read_column(column: Floats) -> tuple[NDArray[Any], Fraction, bool]:
    """Integers, step, and whether the reading allowed for rounding."""
    levels, at = np.unique(column, return_inverse=True)
    if len(levels) == 1:
        return np.zeros(len(column), dtype=np.int64), Fraction(1), False
    whole, step = _dyadic(levels)
    if whole.dtype != object and int(whole.max()) < _MOST_LEVELS:
        return whole[at.ravel()], step, False
    if len(levels) == 2:
        return at.ravel().astype(np.int64), Fraction(float(levels[1])) - Fraction(float(levels[0])), False
    for read in (_decimal, _even):
        found = read(levels)
        if found is not None:
            return found[0][at.ravel()], found[1], True
    return whole[at.ravel()], step, False


def _dyadic(levels: Floats) -> tuple[NDArray[Any], Fraction]:
    """Sorted levels as integers times a power of two, without rounding: the lowest is 0, and the gcd is 1."""
    parts, power = as_integers(levels)
    parts = parts - parts[0]
    shared = gcd(*parts) or 1
    whole = parts // shared
    kind = np.int64 if whole[-1] < _SMALL else object
    return whole.astype(kind), Fraction(2) ** int(power) * shared


def _decimal(levels: Floats) -> tuple[NDArray[np.int64], Fraction] | None:
    """Levels that are decimals of a few digits, each the float64 nearest to its decimal."""
    for digits in range(1, _DECIMALS + 1):
        power = 10.0**digits
        if np.abs(levels).max() * power >= _SMALL:
            return None
        parts = np.rint(levels * power)
        if (parts / power == levels).all():
            whole = (parts - parts[0]).astype(np.int64)
            shared = int(np.gcd.reduce(whole)) or 1
            return whole // shared, Fraction(shared, 10**digits)
    return None


def _even(levels: Floats) -> tuple[NDArray[np.int64], Fraction] | None:
    """Levels on an evenly spaced grid, up to the rounding of its largest number."""
    noise = _ROUNDING * float(np.abs(levels).max())
    step = 0.0
    for gap in np.diff(levels):
        a, b = float(gap), step
        while b > 100 * noise:
            a, b = b, abs(a - b * round(a / b))
        step = a
        if step < 1e4 * noise or levels[-1] - levels[0] > _MOST_LEVELS * step:
            return None
    whole = np.rint((levels - levels[0]) / step)
    step = float((levels[-1] - levels[0]) / whole[-1])
    off = np.abs(levels - (levels[0] + whole * step)).max()
    if not off <= noise or (np.diff(whole) < 1).any():
        return None
    return whole.astype(np.int64), Fraction(step)
