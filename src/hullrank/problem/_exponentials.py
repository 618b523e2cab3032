"""Exponentials of whole blocks in one compiled pass, as computing an rbf or laplacian kernel is little else.

exp(x) = 2^n exp(f) with n the integer next to x / ln 2 and |f| <= ln 2 / 2. exp(f) is a polynomial in f, and 2^n is
the float whose exponent bits hold n + bias (for n = -bias all bits are 0, which is the number 0). The relative error is
at most that of the last bit plus half of the error from rounding x, which exponents of kernels have anyway. The loops
are written to be vectorised: NumPy's minimum and exponential take five times (float32) or twice (float64) as long.
"""

from math import factorial, log
from typing import Any

import numpy as np
from numpy.polynomial.chebyshev import cheb2poly, poly2cheb

from hullrank._jit import UNCOUNTED, njit

Array = Any
_OPTIONS: dict[str, Any] = {**UNCOUNTED, "fastmath": {"contract"}, "no_cfunc_wrapper": True}
_BIAS32, _BIAS64 = 127, 1023
# Adding this number and subtracting it again rounds to an integer; the sum has that integer plus the bias in its lowest
# bits.
_ROUND32, _ROUND64 = np.float32(1.5 * 2**23 + _BIAS32), 1.5 * 2.0**52 + _BIAS64
_LN2, _LN2_32 = log(2), np.float32(log(2))
_PER_LN2, _PER_LN2_32 = 1 / log(2), np.float32(1 / log(2))
_LEAST32, _LEAST64 = np.float32(-_BIAS32 * log(2)), -_BIAS64 * log(2)  # exponents below give 0


def _series(degree: int, dtype: type) -> tuple[Any, ...]:
    """Coefficients of a polynomial for exp on |f| <= ln 2 / 2, highest power first.

    The truncated Chebyshev series needs one or two powers less than that of Taylor.
    """
    h = log(2) / 2
    taylor = [h**power / factorial(power) for power in range(degree + 5)]
    best = cheb2poly(poly2cheb(taylor)[: degree + 1])
    return tuple(dtype(best[power] / h**power) for power in range(degree, -1, -1))


_SERIES32, _SERIES64 = _series(6, np.float32), _series(11, np.float64)


@njit(**_OPTIONS)
def exponentials32(block: Array, first: Array, last: Array) -> None:
    """exp(min(x, 0)) of every x in the lines first..last-1 of a float32 matrix, in place; NaN stays."""
    for i in range(first, last):
        for k in range(block.shape[1]):
            x = block[i, k]
            x = np.float32(0) if x > np.float32(0) else x
            x = _LEAST32 if x < _LEAST32 else x
            shifted = np.float32(x * _PER_LN2_32 + _ROUND32)
            n = shifted - _ROUND32
            f = x - n * _LN2_32
            y = _SERIES32[0]
            for coefficient in _SERIES32[1:]:
                y = y * f + coefficient
            block[i, k] = y * np.int32(shifted.view(np.int32) << np.int32(23)).view(np.float32)


@njit(**_OPTIONS)
def exponentials64(block: Array, first: Array, last: Array) -> None:
    """exp(min(x, 0)) of every x in the lines first..last-1 of a float64 matrix, in place; NaN stays."""
    for i in range(first, last):
        for k in range(block.shape[1]):
            x = block[i, k]
            x = 0.0 if x > 0.0 else x
            x = _LEAST64 if x < _LEAST64 else x
            shifted = np.float64(x * _PER_LN2 + _ROUND64)
            n = shifted - _ROUND64
            f = x - n * _LN2
            y = _SERIES64[0]
            for coefficient in _SERIES64[1:]:
                y = y * f + coefficient
            block[i, k] = y * np.int64(shifted.view(np.int64) << np.int64(52)).view(np.float64)
