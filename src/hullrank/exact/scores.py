"""Linear scores that depend on the row alone, in about twice the working precision.

A matrix product may round equal rows differently, and sums of products lose the small differences that the exact
search found. Here products and sums keep their rounding errors (Dekker 1971; Ogita, Rump and Oishi 2005), so that the
scores order rows as exact arithmetic does unless they differ by about 1e-16 of their size.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_SPLITTER = 2.0**27 + 1.0
_BLOCK = 65_536


def linear_scores(X: Any, w: Floats) -> Floats:
    """X w, row by row."""
    if not sp.issparse(X):
        return _scores(X, w)
    blocks = [_scores(X[start : start + _BLOCK].toarray(), w) for start in range(0, X.shape[0], _BLOCK)]
    return np.concatenate(blocks) if blocks else np.empty(0)


def _scores(X: Floats, w: Floats) -> Floats:
    mantissas, exponents = np.frexp(w)
    total, rest = np.zeros(len(X)), np.zeros(len(X))
    with np.errstate(over="ignore", invalid="ignore"):
        for column, m, e in zip(X.T, mantissas, exponents, strict=True):
            if m == 0.0:
                continue
            x = np.ldexp(column, e)
            product = x * m
            error = _product_error(x, float(m), product)
            summed = total + product
            back = summed - total
            rest += error + ((total - (summed - back)) + (product - back))
            total = summed
        result = total + rest
    return result if np.isfinite(result).all() else np.asarray(X @ w)


def _product_error(x: Floats, m: float, product: Floats) -> Floats:
    """x m - product, exactly."""
    high = x * _SPLITTER
    high = high - (high - x)
    low = x - high
    top = m * _SPLITTER
    top = top - (top - m)
    bottom = m - top
    return ((high * top - product) + high * bottom + low * top) + low * bottom
