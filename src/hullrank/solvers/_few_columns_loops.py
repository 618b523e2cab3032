"""The Newton equations of few columns in compiled loops, for which a call of BLAS costs more than its work."""

from math import sqrt
from typing import Any

from hullrank._jit import njit, place
from hullrank.solvers._loops import ANY_ORDER, right_side, row_steps

Array = Any


@njit(error_model="numpy", fastmath=ANY_ORDER)
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
            row, length, first = place(slices[g, 0]), place(slices[g, 1]), place(slices[g, 2])
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


@njit(error_model="numpy", fastmath=ANY_ORDER, no_cpython_wrapper=True, no_cfunc_wrapper=True)
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


@njit(error_model="numpy", fastmath=ANY_ORDER)
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


@njit(error_model="numpy", fastmath=ANY_ORDER)
def residuals(
    columns: Array, N: Array, per_sample: Array, per_group: Array, gamma: Array, w: Array, theta: Array,
    linear_w: Array, linear_theta: Array, n_groups: int, rw: Array, rtheta: Array,
) -> Any:  # fmt: skip
    """rw = X' per_sample[1] - gamma - linear_w and rtheta = -N' per_group[1] - linear_theta.

    Returns linear_w.w + linear_theta.theta, and the sum of per_group[1] over the groups.
    """
    linear, sent = 0.0, 0.0
    for j in range(len(columns)):
        total = -gamma[j] - linear_w[j]
        for k in range(columns.shape[1]):
            total += columns[j, k] * per_sample[1, k]
        rw[j] = total
        linear += linear_w[j] * w[j]
    for t in range(N.shape[1]):
        total = -linear_theta[t]
        for g in range(len(N)):
            total -= N[g, t] * per_group[1, g]
        rtheta[t] = total
        linear += linear_theta[t] * theta[t]
    for g in range(n_groups):
        sent += per_group[1, g]
    return linear, sent


@njit(error_model="numpy")
def predict_and_correct(
    columns: Array, slices: Array, N: Array, sign: Array, pairs: Array, curvature: Array, base: Array, weighted: Array,
    M: Array, scale: Array, rw: Array, rtheta: Array, x: Array, ds: Array, shift: Array, per_sample: Array,
    cross: Array, per_group: Array, per_bundle: Array, complementarity: float, mu: float, table: Array, groups: Array,
    cost: Array, s: Array, point: Array, slack: Array, ratio: Array, bend: Array, rest: Array, rest_xi: Array,
    move: Array, dxi: Array,
) -> float:  # fmt: skip
    """Factor, and replace the predictor by its corrector, as the interior-point method does for many columns.

    Returns 1 / (longest step), or -1 where the matrix is not positive definite.
    """
    if not factor(
        columns, slices, per_sample, cross, N, sign, per_group[0], pairs, per_bundle, curvature, base, weighted, M,
        scale,
    ):  # fmt: skip
        return -1.0
    direction(columns, M, scale, N, rw, rtheta, per_sample, per_group, x, ds, shift)
    worst, first_order, second_order = row_steps(
        table, groups, shift, cost, s, ds, point, slack, ratio, bend, rest, rest_xi, move, dxi, False
    )
    step = min(1.0, 1 / worst)
    left = complementarity + step * first_order + step * step * second_order
    share = min(1.0, max(0.0, left) / complementarity) if complementarity > 0 else 0.0
    right_side(
        table, groups, cost, s, point, slack, ratio, bend, mu * share**4, 1.0, move, dxi, rest, rest_xi, per_sample,
        per_group,
    )  # fmt: skip
    direction(columns, M, scale, N, rw, rtheta, per_sample, per_group, x, ds, shift)
    worst, _, _ = row_steps(
        table, groups, shift, cost, s, ds, point, slack, ratio, bend, rest, rest_xi, move, dxi, False
    )
    return worst
