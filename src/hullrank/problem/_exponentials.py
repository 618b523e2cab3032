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


def _series(degree: int, real: type) -> tuple[Any, ...]:
    """Coefficients of a polynomial for exp on |f| <= ln 2 / 2, highest power first.

    The truncated Chebyshev series needs one or two powers less than that of Taylor.
    """
    h = log(2) / 2
    taylor = [h**power / factorial(power) for power in range(degree + 5)]
    best = cheb2poly(poly2cheb(taylor)[: degree + 1])
    return tuple(real(best[power] / h**power) for power in range(degree, -1, -1))


def _exponentials(real: type, integer: type, degree: int) -> Any:
    """The compiled pass for one type of float; its constants are those of that type."""
    digits = np.finfo(real).nmant
    bias = 1 - np.finfo(real).minexp
    # Adding this number and subtracting it again rounds to an integer; the sum has that integer plus the bias in its
    # lowest bits.
    rounding = real(1.5 * 2.0**digits + bias)
    shift, zero, ln2, per_ln2 = integer(digits), real(0), real(log(2)), real(1 / log(2))
    least = real(-bias * log(2))  # exponents below give 0
    series = _series(degree, real)

    @njit(**UNCOUNTED, fastmath={"contract"}, no_cfunc_wrapper=True)
    def exponentials(block: Array, first: Array, last: Array) -> None:
        """exp(min(x, 0)) of every x in the lines first..last-1 of a matrix, in place; NaN stays."""
        for i in range(first, last):
            for k in range(block.shape[1]):
                x = block[i, k]
                x = zero if x > zero else x
                x = least if x < least else x
                shifted = real(x * per_ln2 + rounding)
                f = x - (shifted - rounding) * ln2
                y = series[0]
                for coefficient in series[1:]:
                    y = y * f + coefficient
                block[i, k] = y * integer(shifted.view(integer) << shift).view(real)

    return exponentials


exponentials32 = _exponentials(np.float32, np.int32, 6)
exponentials64 = _exponentials(np.float64, np.int64, 11)
