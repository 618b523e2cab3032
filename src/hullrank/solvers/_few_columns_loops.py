"""The Newton equations of few columns in compiled loops, for which a call of BLAS costs more than its work."""

from math import sqrt
from typing import Any

from hullrank._jit import njit

Array = Any
_ANY_ORDER = {"reassoc", "contract", "nsz"}  # sums may be taken in any order, so that they run on vectors


@njit(error_model="numpy", fastmath=_ANY_ORDER)
def factor(
    columns: Array, slices: Array, per_sample: Array, cross: Array, N: Array, sign: Array, weight: Array, pairs: Array,
    pair_weight: Array, curvature: Array, base: Array, weighted: Array, M: Array, scale: Array,
) -> bool:  # fmt: skip
    """Cholesky factor of scale * M * scale with M = base + the matrix over (theta, rho, w), in the lower half of M.

    ``columns`` = X', slices[g] = (first row, number of rows, first sample) of group g, D per sample in per_sample[0]
    and by row in ``cross``, weight = (sums of D per group, D of the order constraints), pairs[i] = (bundle, threshold,
    threshold) of shared slacks with their cross terms ``pair_weight`` per bundle. ``weighted`` has room for a column.
    Returns whether M is positive definite.
    """
    n, q = len(columns), N.shape[1]
    for i in range(q + n):
        for j in range(q + n):
            M[i, j] = base[i, j]
    for g in range(len(N)):
        for t in range(q):
            if N[g, t] != 0.0:
                for u in range(t + 1):
                    M[t, u] += weight[g] * N[g, t] * N[g, u]
    for i in range(len(pairs)):
        t, u = max(pairs[i, 1], pairs[i, 2]), min(pairs[i, 1], pairs[i, 2])
        M[t, u] += pair_weight[pairs[i, 0]]
    for j in range(n):
        for g in range(len(slices)):
            row, length, first = slices[g, 0], slices[g, 1], slices[g, 2]
            total = 0.0
            for i in range(length):
                total += cross[row + i] * columns[j, first + i]
            for t in range(q):
                M[q + j, t] -= N[g, t] * sign[g] * total
        for k in range(columns.shape[1]):
            weighted[k] = per_sample[0, k] * columns[j, k]
        for h in range(j + 1):
            total = 0.0
            for k in range(columns.shape[1]):
                total += weighted[k] * columns[h, k]
            M[q + j, q + h] += total
        M[q + j, q + j] += curvature[j]
    return _cholesky(M, scale)


@njit(error_model="numpy", fastmath=_ANY_ORDER, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _cholesky(M: Array, scale: Array) -> bool:
    """Scale the lower half of M to a diagonal of 1 + 1e-15 and factor it in place."""
    for i in range(len(M)):
        M[i, i] += 1e-300
        if not M[i, i] > 0.0:
            return False
        scale[i] = 1.0 / sqrt(M[i, i])
    for i in range(len(M)):
        for j in range(i + 1):
            total = M[i, j] * scale[i] * scale[j] if j < i else 1.0 + 1e-15
            for k in range(j):
                total -= M[i, k] * M[j, k]
            if j < i:
                M[i, j] = total / M[j, j]
            elif total > 0.0:
                M[i, i] = sqrt(total)
            else:
                return False
    return True


@njit(error_model="numpy", fastmath=_ANY_ORDER)
def direction(
    columns: Array, M: Array, scale: Array, N: Array, rw: Array, rtheta: Array, per_sample: Array, per_group: Array,
    x: Array, ds: Array, shift: Array,
) -> None:  # fmt: skip
    """Solve for x = (dtheta, drho, dw) with the right sides rtheta - N' per_group[2] and rw + X' per_sample[2].

    Also fills ds = X dw and shift = N (dtheta, drho).
    """
    n, q = len(columns), N.shape[1]
    for t in range(q):
        total = rtheta[t]
        for g in range(len(N)):
            total -= N[g, t] * per_group[2, g]
        x[t] = total
    for j in range(n):
        total = rw[j]
        for k in range(columns.shape[1]):
            total += columns[j, k] * per_sample[2, k]
        x[q + j] = total
    for i in range(q + n):
        total = x[i] * scale[i]
        for k in range(i):
            total -= M[i, k] * x[k]
        x[i] = total / M[i, i]
    for i in range(q + n - 1, -1, -1):
        x[i] /= M[i, i]
        for k in range(i):
            x[k] -= M[i, k] * x[i]
        x[i] *= scale[i]
    for k in range(columns.shape[1]):
        ds[k] = 0.0
    for j in range(n):
        for k in range(columns.shape[1]):
            ds[k] += x[q + j] * columns[j, k]
    for g in range(len(N)):
        total = 0.0
        for t in range(q):
            total += N[g, t] * x[t]
        shift[g] = total
