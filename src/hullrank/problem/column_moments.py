"""Mean and spread of the rows of X and of their columns, for scales and for the precision of products with them."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hullrank.data import pieces
from hullrank.problem.certificate import EPSILON

Floats = NDArray[np.float64]

ENOUGH = 500_000  # entries of X that are enough to measure the columns by
_ENOUGH_LEFT = 0.01  # share of a sum that a difference must be to lose no more than two digits


class ColumnMoments(NamedTuple):
    """Of every column of dense rows, the mean and the standard deviation."""

    mean: Floats
    deviation: Floats


def column_moments(X: Any, weights: Floats | None = None) -> ColumnMoments:
    """Those of weighted rows or, without weights, of enough of the rows; in pieces that stay in cache."""
    if weights is None:
        X = X[:: max(1, X.shape[0] * X.shape[1] // ENOUGH)]
        weights = np.ones(len(X))
    total = weights.sum()
    mean = weights @ X / total
    squares = np.zeros(X.shape[1])
    for part in pieces(*X.shape):
        apart = X[part] - mean
        np.multiply(apart, apart, out=apart)
        squares += weights[part] @ apart
    return ColumnMoments(mean, np.sqrt(squares / total))


def mean_square(X: Any, weights: Floats) -> float:
    """Mean squared distance of the rows of X from their mean, each by its weight; 0 where that is but rounding.

    It is the mean square less that of the mean or, where this difference loses digits, measured from the mean.
    """
    shares = weights / weights.sum()
    with np.errstate(over="ignore", invalid="ignore"):
        if sp.issparse(X):
            mean = np.asarray(shares @ X).ravel()
            squares = np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
            total = float(shares @ squares)
            return beyond_rounding(total - float(mean @ mean), total)
        parts = list(pieces(*X.shape))
        mean, squares = np.zeros((2, X.shape[1]))
        for part in parts:
            Y = X[part]
            mean += shares[part] @ Y
            squares += shares[part] @ (Y * Y)
        total = float(squares.sum())
        square = total - float(mean @ mean)
        if square > _ENOUGH_LEFT * total:
            return square
        square = 0.0
        for part in parts:
            apart = X[part] - mean
            square += float(shares[part] @ np.einsum("ij,ij->i", apart, apart))
        return beyond_rounding(square, EPSILON * float(mean @ mean))


def beyond_rounding(value: float, size: float) -> float:
    """A value that is left of terms of the given size, or 0 where it is not larger than what rounding leaves."""
    return 0.0 if value <= 64 * EPSILON * size else value
