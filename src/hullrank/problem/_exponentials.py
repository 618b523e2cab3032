"""Exponentials of whole blocks, in one compiled pass: a kernel matrix is little else.

exp(x) = 2^n exp(f), n the integer next to x / ln 2, |f| <= ln 2 / 2: a polynomial in f, and n added to the bits of its
exponent. Written to be vectorised, it takes a third to a quarter of the time of NumPy's minimum and exponential.
"""

from math import factorial, log
from typing import Any

import numpy as np

from hullrank._jit import njit

Array = Any
_OPTIONS: dict[str, Any] = {"error_model": "numpy", "fastmath": {"contract"}, "no_cfunc_wrapper": True}

# highest power first
_SERIES32 = tuple(np.float32(1 / factorial(power)) for power in range(7, -1, -1))
_SERIES64 = tuple(1 / factorial(power) for power in range(13, -1, -1))
# what, added and taken away, rounds to an integer and leaves it in the lowest bits
_ROUND32, _ROUND64 = np.float32(1.5 * 2**23), 1.5 * 2.0**52
_PER_LN2, _PER_LN2_32 = 1 / log(2), np.float32(1 / log(2))
# ln 2 in two parts, of which an integer times the first is exact
_HIGH32, _LOW32 = np.float32(0.693359375), np.float32(log(2) - 0.693359375)
_HIGH64, _LOW64 = float.fromhex("0x1.62e42feep-1"), 1.908214929385171e-10
_LEAST32, _LEAST64 = np.float32(-87), -708.0  # below it the result is 0


@njit(**_OPTIONS)
def _polynomial(series: Array, f: Array) -> Any:
    total = series[0]
    for coefficient in series[1:]:
        total = total * f + coefficient
    return total


@njit(**_OPTIONS)
def exponentials32(block: Array) -> None:
    """exp(min(x, 0)) of every x of a float32 matrix, in place; NaN stays."""
    for i in range(block.shape[0]):
        for k in range(block.shape[1]):
            x = block[i, k] if not block[i, k] > np.float32(0) else np.float32(0)
            shifted = np.float32(x * _PER_LN2_32 + _ROUND32)
            n = shifted - _ROUND32
            y = np.float32(_polynomial(_SERIES32, (x - n * _HIGH32) - n * _LOW32))
            bits = np.int32(y.view(np.int32) + (shifted.view(np.int32) << np.int32(23)))
            raised = bits.view(np.float32) if not x < _LEAST32 else np.float32(0)
            block[i, k] = raised if x == x else x


@njit(**_OPTIONS)
def exponentials64(block: Array) -> None:
    """The same of a float64 matrix."""
    for i in range(block.shape[0]):
        for k in range(block.shape[1]):
            x = block[i, k] if not block[i, k] > 0.0 else 0.0
            shifted = np.float64(x * _PER_LN2 + _ROUND64)
            n = shifted - _ROUND64
            y = np.float64(_polynomial(_SERIES64, (x - n * _HIGH64) - n * _LOW64))
            bits = np.int64(y.view(np.int64) + (shifted.view(np.int64) << np.int64(52)))
            raised = bits.view(np.float64) if not x < _LEAST64 else 0.0
            block[i, k] = raised if x == x else x
