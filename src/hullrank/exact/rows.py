"""Samples as the exact methods use them: equal ones joined, weights whose products are numbers."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hullrank.data import distinct_rows
from hullrank.exact.grid import as_integers
from hullrank.exceptions import HullrankError, NoComparablePairError

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

_EXTREME = 100
"""Power of two beyond which weights are rescaled."""


@dataclass(frozen=True)
class Rows:
    """Distinct samples that compare: rows, grades, weights and queries."""

    X: Floats
    codes: Indices
    weights: Floats
    query: Indices


def join_rows(X: Floats, codes: Indices, weights: Floats, query: Indices) -> Rows:
    """Equal rows of one grade and query joined, in sorted order; rows without weight left out."""
    keep = weights > 0
    X, codes, weights, query = X[keep], codes[keep], weights[keep], query[keep]
    keys = np.column_stack([query, codes, X])
    first, group = distinct_rows(keys)
    rows = Rows(X[first], codes[first], np.bincount(group, weights).astype(np.float64), query[first])
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


def comparable_weights(weights: Floats) -> Floats:
    """Weights whose products neither vanish nor overflow: extreme ones are divided by a power of two."""
    exponent = int(np.frexp(float(weights.max()))[1])
    return weights if abs(exponent) < _EXTREME else np.asarray(np.ldexp(weights, -exponent))


def whole_numbers(values: Floats) -> tuple[NDArray[Any], Fraction]:
    """Integers k and a power of two u with values = k u exactly; int64 where they are small."""
    if (values == np.rint(values)).all() and np.abs(values).max(initial=0.0) < 2**15:
        return values.astype(np.int64), Fraction(1)
    whole, power = as_integers(values)
    return whole, Fraction(2) ** int(power)
