"""Sweeps of dual coordinate descent over sparse rows; arrays only (see ``RowLayout.table``).

a is a multiplier divided by the cost c of its slack, v = offset - sign * (s - theta) + rho the violation of its row.
"""

from math import exp, log, log1p
from typing import Any

from hullrank._jit import INNER, UNCOUNTED, njit
from hullrank.problem.charges import HINGE, SQUARED_HINGE

Array = Any


@njit(**INNER)
def _logistic_multiplier(v: float, stiffness: float, a: float) -> Any:
    """The root x of log(x / (1 - x)) + stiffness * (x - a) = v, by Newton's method in a bracket.

    The unknown is z = log(x / (1 - x)), in which the left side has slopes between 1 and 1 + stiffness / 4.
    """
    low, high = v - stiffness * (1.0 - a), v + stiffness * a
    z = min(max(v, low), high)
    x = a
    for _ in range(30):
        x = 1.0 / (1.0 + exp(-z))
        error = z + stiffness * (x - a) - v
        if error > 0.0:
            high = z
        else:
            low = z
        if abs(error) <= 1e-12 * (1.0 + abs(v)):
            break
        z -= error / (1.0 + stiffness * x * (1.0 - x))
        if not low <= z <= high:
            z = 0.5 * (low + high)
    return x


@njit(**INNER)
def _gap(charge: int, v: float, a: float) -> Any:
    """phi(v), and phi(v) + phi*(a) - a v >= 0, for the hinge, the squared hinge or else the logistic charge."""
    if charge == HINGE:
        value = max(v, 0.0)
        return value, value - a * v
    if charge == SQUARED_HINGE:
        value = max(v, 0.0) ** 2
        return value, value + 0.25 * a * a - a * v
    value = max(v, 0.0) + log1p(exp(-abs(v)))
    inner = a * log(a) + (1.0 - a) * log(1.0 - a) if 0.0 < a < 1.0 else 0.0
    return value, value + inner - a * v


@njit(**UNCOUNTED)
def sweep(
    values: Array, columns: Array, starts: Array, pick: Array, inverse: float, order: Array, classes: Array,
    bundles: Array, first: Array, table: Array, groups: Array, threshold: Array, rho: int, charge: int, cost: Array,
    squares: Array, sigma: Array, a: Array, u: Array, scale: float, soft: float, share: float, theta: Array,
    totals: Array,
) -> None:  # fmt: skip
    """Minimise the dual over the multipliers of one sample after another, in the given ``order``.

    Sample k is row pick[k] of the stored entries times ``inverse``; ``squares`` are the samples' |x|^2, and class c has
    the bundles bundles[first[c]:first[c + 1]]. groups = (sign, offset). With every multiplier move its parts of
    u = scale * sum sign alpha x, whose entries beyond ``soft`` are the weights, and of theta, which follows the flow by
    ``sigma``; ``rho`` is the place of the margin rho in theta, or -1. The curvature along a row counts the columns
    whose weight is not 0, and at least the ``share`` of all. Adds to totals = (charge, complementarity) what the rows
    paid when they were visited.
    """
    for visit in range(len(order)):
        k = order[visit]
        i, c = pick[k], classes[k]
        s, length = 0.0, 0.0
        for p in range(starts[i], starts[i + 1]):
            x, y = values[p], u[columns[p]]
            y -= min(max(y, -soft), soft)
            s += x * y
            length += x * x if y != 0.0 else 0.0
        s *= inverse
        length = scale * max(length * inverse * inverse, share * squares[k])
        moved = 0.0
        for at in range(first[c], first[c + 1]):
            b = bundles[at]
            g, r = table[b, 2], table[b, 4] + k - table[b, 0]
            t, sign, price, old = threshold[g], groups[0, g], cost[r], a[r]
            v = groups[1, g] - sign * (s - theta[t])
            curvature = length + sigma[t]
            if rho >= 0:
                v += theta[rho]
                curvature += sigma[rho]
            value, loose = _gap(charge, v, old)
            totals[0] += price * value
            totals[1] += price * loose
            if charge == HINGE:
                new = min(max(old + v / (price * curvature), 0.0), 1.0)
            elif charge == SQUARED_HINGE:
                new = max(old + (v - 0.5 * old) / (price * curvature + 0.5), 0.0)
            else:
                new = _logistic_multiplier(v, price * curvature, old)
            step = price * (new - old)
            if step != 0.0:
                a[r] = new
                moved += sign * step
                s += sign * step * length
                theta[t] -= sigma[t] * sign * step
                if rho >= 0:
                    theta[rho] -= sigma[rho] * step
        if moved != 0.0:
            moved *= scale * inverse
            for p in range(starts[i], starts[i + 1]):
                u[columns[p]] += moved * values[p]


@njit(**UNCOUNTED)
def order_sweep(up: Array, low: Array, gap: Array, sigma: Array, t: Array, theta: Array) -> None:
    """Minimise the dual over one multiplier t after another, there and back.

    They are those of the order constraints theta[up] - theta[low] >= gap.
    """
    count = len(up)
    for visit in range(2 * count):
        e = visit if visit < count else 2 * count - 1 - visit
        i, j = up[e], low[e]
        room, curvature = theta[i] - gap[e], sigma[i]
        if j >= 0:
            room -= theta[j]
            curvature += sigma[j]
        step = max(t[e] - room / curvature, 0.0) - t[e]
        t[e] += step
        theta[i] += sigma[i] * step
        if j >= 0:
            theta[j] -= sigma[j] * step
