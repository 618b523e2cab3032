"""Whether pairs contradict each other: 0 inside the simplex of their differences, compiled."""

from typing import Any

import numpy as np

from hullrank._jit import njit

Array = Any

_CLEAR = 1e-12
"""By how much multipliers must exceed the rounding of their equations, relative to the largest and the condition."""


@njit(error_model="numpy")
def invert(B: Array) -> bool:
    """From [A, I] to [I, inverse of A] by Gauss and Jordan, in place; False if A is singular."""
    n = B.shape[0]
    for c in range(n):
        p = c
        for i in range(c + 1, n):
            if abs(B[i, c]) > abs(B[p, c]):
                p = i
        if not abs(B[p, c]) > 1e-14:
            return False
        for j in range(2 * n):
            B[c, j], B[p, j] = B[p, j], B[c, j]
        pivot = B[c, c]
        for j in range(2 * n):
            B[c, j] /= pivot
        for i in range(n):
            factor = B[i, c]
            if i != c and factor != 0.0:
                for j in range(2 * n):
                    B[i, j] -= factor * B[c, j]
    return True


@njit(error_model="numpy")
def cannot_all_be_won(D: Array) -> bool:
    """Whether 0 lies inside the simplex of these rows, by more than rounding: then no w has D.w > 0 in all of them.

    Columns that are 0 in all rows are left out; in the others there must be one row more than columns. The inverse of
    the matrix of all rows but the last is computed (Gauss and Jordan) and its error bounded by its product with it.
    """
    n = D.shape[0] - 1
    B = np.zeros((n, 2 * n))
    used = 0
    for j in range(D.shape[1]):
        filled = False
        for i in range(n + 1):
            filled = filled or D[i, j] != 0.0
        if filled and used == n:
            return False
        if filled:
            for i in range(n):
                B[used, i] = D[i, j]
            B[used, n + used] = 1.0
            used += 1
    if used < n or n == 0:
        return False
    return invert(B) and _clearly_positive(D, B)


@njit(error_model="numpy")
def _clearly_positive(D: Array, B: Array) -> bool:
    """Whether the multipliers of all rows but the last, from the inverse in the right half of B, exceed rounding."""
    n = D.shape[0] - 1
    columns = np.empty(n, np.int64)
    used = 0
    for j in range(D.shape[1]):
        for i in range(n + 1):
            if D[i, j] != 0.0:
                columns[used] = j
                used += 1
                break
    size = 0.0
    inverse = 0.0
    error = 0.0
    for i in range(n):
        across = 0.0
        back = 0.0
        for j in range(n):
            across += abs(D[j, columns[i]])
            back += abs(B[i, n + j])
            product = -1.0 if i == j else 0.0
            for m in range(n):
                product += B[i, n + m] * D[j, columns[m]]
            error = max(error, abs(product))
        size = max(size, across)
        inverse = max(inverse, back)
    if not error < 1e-3 / n or not size * inverse < 1e11:
        return False
    least = np.inf
    largest = 1.0
    for i in range(n):
        multiplier = 0.0
        for m in range(n):
            multiplier -= B[i, n + m] * D[n, columns[m]]
        least = min(least, multiplier)
        largest = max(largest, abs(multiplier))
    return least > _CLEAR * size * inverse * largest
