"""Passes of the interior-point and Newton methods over the rows of an interval problem; arrays only.

Conventions: ``table`` as in ``RowLayout`` with the charge of every bundle as its last column; an order constraint
stands as a hard row of a sample whose score is 0. ``point`` = (a, z) per row and ``slack`` = (v, xi) per slack, with
multipliers divided by the row's cost: alpha = cost * a, so that weights are exactly repetitions. On the central path

    hinge  a z = mu, v xi = mu, v = 1 - sum a        squared  a z = mu, xi = sum a / 2        hard  a z = mu, xi = 0

where the sum runs over the rows of the slack. A row's margin is g = sign * s - o, its residual g + xi - z. Per slack,
with kappa = xi / v | 1/2 | 0, the matrix D = (diag(z / a) + kappa 11')^-1 maps margins to multipliers; ``ratio`` =
a / z per row and ``bend`` = (kappa, 1 / (1 + kappa sum of ratios)) per slack make it up.
"""

from typing import Any

from hullrank._jit import fmax, njit, place
from hullrank.problem.charges import HINGE, SQUARED_HINGE

Array = Any
ANY_ORDER = {"reassoc", "contract", "nsz"}  # of "fastmath": sums may be taken in any order, so that they run on vectors
SEVERAL = 8  # rows of a bundle from which a loop that runs on vectors takes less than half the time


@njit(no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _apply_d(d1: float, d2: float, kappa: float, c: float, e1: float, e2: float) -> Any:
    """x, y = D (e1, e2) and x + y, free of cancellation, c = 1 / (1 + kappa (d1 + d2)); one row alone has d2 = 0."""
    x = c * d1 * (e1 + kappa * d2 * (e1 - e2))
    y = c * d2 * (e2 + kappa * d1 * (e2 - e1))
    return x, y, c * (d1 * e1 + d2 * e2)


@njit()
def advance(
    table: Array, groups: Array, cost: Array, s: Array, ds: Array, point: Array, slack: Array, step: float,
    move: Array, dxi: Array, ratio: Array, bend: Array, rest: Array, rest_xi: Array, per_sample: Array,
    cross: Array, per_group: Array, per_bundle: Array,
) -> Any:  # fmt: skip
    """Take the step, then weigh: fills what the Newton matrix, the residuals and the predictor need.

    groups = (sign, o); per_sample = (sum of D with signs, sum of sign * alpha, sum of sign * y); cross[r] = cost * (D's
    row sum); per_group = (sums of cost * D_rr, of alpha, of y); per_bundle = sums of the off-diagonal -cost * D_12. The
    right sides rest, rest_xi and y are those of ``right_side`` at mu = 0 without its second order.
    Returns complementarity, total charge, largest row residual.
    """
    for k in range(len(s)):
        s[k] += step * ds[k]
    per_sample[:] = 0.0
    per_group[:] = 0.0
    complementarity = 0.0
    total = 0.0
    worst = 0.0
    for b in range(len(table)):
        start, length, g, h = place(table[b, 0]), place(table[b, 1]), place(table[b, 2]), table[b, 3]
        row, partner, first, charge = place(table[b, 4]), place(table[b, 5]), place(table[b, 6]), table[b, 7]
        sign, o = groups[0, g], groups[1, g]
        sum_d, sum_a, sum_y, sum_d2, sum_a2, sum_y2, sum_cross = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for i in range(length):
            r, q, k, u = row + i, first + i, start + i, partner + i
            c = cost[q]
            a = point[0, r] + step * move[0, r]
            z = point[1, r] + step * move[1, r]
            point[0, r], point[1, r] = a, z
            xi = slack[1, q] + step * dxi[q]
            v = slack[0, q] - step * move[0, r]
            ratio[r] = d1 = a / z
            d2 = 0.0
            if h >= 0:
                point[0, u] += step * move[0, u]
                point[1, u] += step * move[1, u]
                v -= step * move[0, u]
                ratio[u] = d2 = point[0, u] / point[1, u]
            slack[0, q], slack[1, q] = v, xi
            kappa = xi / v if charge == HINGE else (0.5 if charge == SQUARED_HINGE else 0.0)
            det = 1.0 / (1.0 + kappa * (d1 + d2))
            bend[0, q], bend[1, q] = kappa, det
            det *= c
            off = kappa * d1 * d2 * det
            d11 = d1 * det + off
            part = xi if charge == SQUARED_HINGE else 0.0
            miss = o - sign * s[k]
            rest_xi[q] = -xi
            rest[r] = miss - part
            y = d1 * det * rest[r]
            sum_d += d11
            sum_a += c * a
            complementarity += c * a * z
            cross[r] = d11 + off
            weight, coef = d11, sign * c * a
            worst = max(worst, abs(xi - miss - z))
            if h >= 0:
                d22 = d2 * det + off
                a2, z2 = point[0, u], point[1, u]
                sum_d2 += d22
                sum_cross += off
                sum_a2 += c * a2
                complementarity += c * a2 * z2
                cross[u] = d22 + off
                weight += d22 + 2.0 * off
                coef += groups[0, h] * c * a2
                miss2 = groups[1, h] - groups[0, h] * s[k]
                rest[u] = miss2 - part
                worst = max(worst, abs(xi - miss2 - z2))
                y += off * (miss - miss2)
                y2 = d2 * det * rest[u] + off * (miss2 - miss)
                sum_y2 += y2
                per_sample[2, k] += groups[0, h] * y2
            sum_y += y
            per_sample[0, k] += weight
            per_sample[1, k] += coef
            per_sample[2, k] += sign * y
            if charge == HINGE:
                complementarity += c * v * xi
                total += c * xi
            elif charge == SQUARED_HINGE:
                total += c * xi * xi
        per_group[0, g] += sum_d
        per_group[1, g] += sum_a
        per_group[2, g] += sum_y
        per_bundle[b] = sum_cross
        if h >= 0:
            per_group[0, h] += sum_d2
            per_group[1, h] += sum_a2
            per_group[2, h] += sum_y2
    return complementarity, total, worst


@njit(error_model="numpy")
def right_side(
    table: Array, groups: Array, cost: Array, s: Array, point: Array, slack: Array, ratio: Array, bend: Array,
    mu: float, second_order: float, move: Array, dxi: Array, rest: Array, rest_xi: Array, per_sample: Array,
    per_group: Array,
) -> None:  # fmt: skip
    """Right sides of the corrector, a Newton step towards a z = mu, v xi = mu.

    rest_xi = (mu - so dv dxi) / v - xi and rest = -g - xi' + (mu - so da dz) / a, with so = 1 after a predictor. Fills
    per_sample[2] = sum of sign * y and per_group[2] = sums of y with y = cost * D rest.
    """
    per_sample[2] = 0.0
    per_group[2] = 0.0
    for b in range(len(table)):
        start, length, g, h = place(table[b, 0]), place(table[b, 1]), place(table[b, 2]), table[b, 3]
        row, partner, first, charge = place(table[b, 4]), place(table[b, 5]), place(table[b, 6]), table[b, 7]
        sum_y, sum_y2 = 0.0, 0.0
        for i in range(length):
            r, q, k, u = row + i, first + i, start + i, partner + i
            d2, e2, x = 0.0, 0.0, 0.0
            da = move[0, r] + (move[0, u] if h >= 0 else 0.0)
            if charge == HINGE:
                x = (mu + second_order * da * dxi[q]) / slack[0, q]
                rest_xi[q] = x - slack[1, q]
            elif charge == SQUARED_HINGE:
                x = slack[1, q]
            aim = (mu - second_order * move[0, r] * move[1, r]) / point[0, r]
            rest[r] = groups[1, g] - groups[0, g] * s[k] - x + aim
            if h >= 0:
                d2 = ratio[u]
                aim = (mu - second_order * move[0, u] * move[1, u]) / point[0, u]
                e2 = groups[1, h] - groups[0, h] * s[k] - x + aim
                rest[u] = e2
            y, y2, _ = _apply_d(ratio[r], d2, bend[0, q], bend[1, q], rest[r], e2)
            y *= cost[q]
            y2 *= cost[q]
            sum_y += y
            sum_y2 += y2
            per_sample[2, k] += groups[0, g] * y + (groups[0, h] * y2 if h >= 0 else 0.0)
        per_group[2, g] += sum_y
        if h >= 0:
            per_group[2, h] += sum_y2


@njit(error_model="numpy", fastmath=ANY_ORDER, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _own_slack_steps(
    start: int, length: int, row: int, first: int, hinge: bool, sign: float, o: float, back: float, cost: Array,
    s: Array, ds: Array, point: Array, slack: Array, ratio: Array, bend: Array, rest: Array, rest_xi: Array,
    move: Array, dxi: Array,
) -> Any:  # fmt: skip
    """``row_steps`` of rows with a slack each; sums may be taken in any order, so that they run on vectors."""
    worst, first_order, second_order, own = 1e-300, 0.0, 0.0, 1.0 if hinge else 0.0
    for i in range(length):
        r, q = row + i, first + i
        a, z, v, xi = point[0, r], point[1, r], slack[0, q], slack[1, q]
        dg = sign * ds[start + i] - back
        da = bend[1, q] * ratio[r] * (rest[r] - dg)
        dx = bend[0, q] * da + own * rest_xi[q]
        dz = (sign * s[start + i] - o) + dg + xi + dx - z
        move[0, r], move[1, r], dxi[q] = da, dz, dx
        first_order += cost[q] * (a * dz + z * da + own * (v * dx - xi * da))
        second_order += cost[q] * da * (dz - own * dx)
        worst = fmax(worst, fmax(-da / a, -dz / z))
        if hinge:
            worst = fmax(worst, fmax(da / v, -dx / xi))
    return worst, first_order, second_order


@njit(error_model="numpy")
def row_steps(
    table: Array, groups: Array, shift: Array, cost: Array, s: Array, ds: Array, point: Array, slack: Array,
    ratio: Array, bend: Array, rest: Array, rest_xi: Array, move: Array, dxi: Array, refine: bool,
) -> Any:  # fmt: skip
    """da = D (rest - dg), dxi = rest_xi + kappa sum da, dz = g + dg + xi + dxi - z, with dg = sign ds - shift.

    ``refine`` adds the step of a small (ds, shift). Steps of shared slacks lose digits in any other order than the one
    written here. Returns 1 / (longest step) and the coefficients of t and t^2 in the complementarity along the step.
    """
    worst = 1e-300
    first_order = 0.0
    second_order = 0.0
    for b in range(len(table)):
        start, length, g, h = place(table[b, 0]), place(table[b, 1]), place(table[b, 2]), table[b, 3]
        row, partner, first, charge = place(table[b, 4]), place(table[b, 5]), place(table[b, 6]), table[b, 7]
        if h < 0 and length >= SEVERAL and not refine:
            longest, dot, square = _own_slack_steps(
                start, length, row, first, charge == HINGE, groups[0, g], groups[1, g], shift[g], cost, s, ds, point,
                slack, ratio, bend, rest, rest_xi, move, dxi,
            )  # fmt: skip
            worst = max(worst, longest)
            first_order += dot
            second_order += square
            continue
        for i in range(length):
            r, q, k, u = row + i, first + i, start + i, partner + i
            c, v, xi = cost[q], slack[0, q], slack[1, q]
            dg = groups[0, g] * ds[k] - shift[g]
            e1 = -dg if refine else rest[r] - dg
            dg2, d2, e2 = 0.0, 0.0, 0.0
            if h >= 0:
                dg2 = groups[0, h] * ds[k] - shift[h]
                d2 = ratio[u]
                e2 = -dg2 if refine else rest[u] - dg2
            x, y, total = _apply_d(ratio[r], d2, bend[0, q], bend[1, q], e1, e2)
            dx = bend[0, q] * total
            if refine:
                move[0, r] += x
                move[1, r] += dg + dx
                dxi[q] += dx
            else:
                if charge == HINGE:
                    dx += rest_xi[q]
                move[0, r] = x
                move[1, r] = groups[0, g] * s[k] - groups[1, g] + dg + xi + dx - point[1, r]
                dxi[q] = dx
            da, dz = move[0, r], move[1, r]
            first_order += c * (point[0, r] * dz + point[1, r] * da)
            second_order += c * da * dz
            if -da > worst * point[0, r]:
                worst = -da / point[0, r]
            if -dz > worst * point[1, r]:
                worst = -dz / point[1, r]
            if h >= 0:
                if refine:
                    move[0, u] += y
                    move[1, u] += dg2 + dx
                else:
                    move[0, u] = y
                    move[1, u] = groups[0, h] * s[k] - groups[1, h] + dg2 + xi + dx - point[1, u]
                da2, dz = move[0, u], move[1, u]
                first_order += c * (point[0, u] * dz + point[1, u] * da2)
                second_order += c * da2 * dz
                if -da2 > worst * point[0, u]:
                    worst = -da2 / point[0, u]
                if -dz > worst * point[1, u]:
                    worst = -dz / point[1, u]
                da += da2
            if charge == HINGE:
                dx = dxi[q]
                first_order += c * (v * dx - xi * da)
                second_order -= c * da * dx
                if da > worst * v:
                    worst = da / v
                if -dx > worst * xi:
                    worst = -dx / xi
    return worst, first_order, second_order
