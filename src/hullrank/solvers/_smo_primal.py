"""From multipliers to a good primal point: thresholds minimised exactly, weights stretched.

A residual violation eps costs the hinge C * eps on every free row; stretching the weights by 1 + eps removes it for
eps |w|^2. Without this the gap of a nearly separable problem needs eps of 1e-7.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hullrank._jit import INNER, UNCOUNTED, njit
from hullrank.problem.charges import Charge
from hullrank.problem.intervals import IntervalProblem
from hullrank.problem.layout import GROUP, LENGTH, PARTNER, SLACK, START, RowLayout

Array = Any
Floats = NDArray[np.float64]
_SUMS: dict[str, Any] = {**INNER, "fastmath": {"contract", "nsz", "reassoc"}}
_SHARES = (0.0, 0.06, 0.25, 0.5, 1.0)  # of the violation, by which the weights may be stretched
_PRECISION = 1e-10  # of a threshold, in violations
_FARTHEST = 1e30  # range in which a threshold is looked for
_FLAT = 1e-12  # of the prices: where the slope is less, the charge is flat


class Primal(NamedTuple):
    """A stretch of the weights, the thresholds for the stretched weights, and their objective."""

    stretch: float
    thresholds: Floats
    objective: float


def best_primal(
    problem: IntervalProblem, layout: RowLayout, s: Floats, square: float, theta: Floats, violation: float
) -> Primal:
    """The stretch and the thresholds with the least objective, given |w|^2 and a guess of the thresholds."""
    theta = theta.copy()
    hinge = problem.charge is Charge.HINGE
    separable = hinge and not problem.has_rho and not layout.shares_slacks
    rows = (
        layout.table, problem.threshold, problem.sign, problem.offset, layout.cost, problem.linear, s, hinge,
        problem.has_rho,
    )  # fmt: skip
    stretch, objective = _minimise(
        rows, problem.up, problem.low, problem.gap, separable, problem.homogeneous, square, violation,
        _FLAT * float(layout.cost.sum()), theta, theta.copy(),
    )  # fmt: skip
    return Primal(stretch, theta, objective)


@njit(**UNCOUNTED)
def _minimise(
    rows: Array, up: Array, low: Array, gap: Array, separable: Array, homogeneous: Array, square: Array,
    violation: Array, flat: Array, theta: Array, other: Array,
) -> Any:  # fmt: skip
    """The best stretch and objective; ``theta`` from a guess to the thresholds, ``other`` is room for as many."""
    _raise(up, low, gap, theta)
    for t in range(len(theta)):
        other[t] = _median(t, theta[t], 2.0 * violation, flat, rows) if separable else theta[t]
    rose = _raise(up, low, gap, other)
    best = 0.0
    objective = np.inf
    from_guess = False
    for turn in range(2 if rose else 1):
        thresholds = other if turn == 0 else theta
        for share in _SHARES:
            stretch = 1.0 + share * min(violation, 1.0)
            lost = _lost(stretch, thresholds, rows)
            if homogeneous:  # stretched by l the objective is l^2/2 |w|^2 + l * lost, and the best l is known
                stretch = -lost / square if square > 0.0 and lost < 0.0 else 0.0
                lost *= stretch
            value = 0.5 * stretch * stretch * square + lost
            if value < objective:
                best, objective, from_guess = stretch, value, turn > 0
            if homogeneous:
                break
    for t in range(len(theta)):
        theta[t] = best * (theta[t] if from_guess else other[t])
    return best, objective


@njit(**INNER)
def _raise(up: Array, low: Array, gap: Array, theta: Array) -> Any:
    """``IntervalProblem.raise_thresholds`` in place; whether any rose."""
    rose = False
    for k in range(len(up)):
        least = (theta[low[k]] if low[k] >= 0 else 0.0) + gap[k]
        if theta[up[k]] < least:
            theta[up[k]] = least
            rose = True
    return rose


@njit(**INNER)
def _lost(stretch: Array, theta: Array, rows: Array) -> Any:
    """The linear term and the charge, of stretched weights and thresholds."""
    table, threshold, sign, offset, cost, linear, s, hinge, has_rho = rows
    rho = theta[-1] if has_rho else 0.0
    total = 0.0
    for t in range(len(theta)):
        total += stretch * linear[t] * theta[t]
    for b in range(len(table)):
        lo, n, first, g = table[b, START], table[b, LENGTH], table[b, SLACK], table[b, GROUP]
        h = table[b, PARTNER] if table[b, PARTNER] >= 0 else g
        at_g = stretch * (sign[g] * theta[threshold[g]] + rho) + offset[g]
        at_h = stretch * (sign[h] * theta[threshold[h]] + rho) + offset[h]
        total += _charge(
            s[lo : lo + n], cost[first : first + n], at_g, stretch * sign[g], at_h, stretch * sign[h], hinge
        )
    return total


@njit(**_SUMS)
def _charge(s: Array, price: Array, at: Array, slope: Array, other_at: Array, other_slope: Array, hinge: Array) -> Any:
    """Of slacks that two rows share (or the same row twice), each missing at - slope * s."""
    total = 0.0
    for k in range(len(s)):
        x = at - slope * s[k]
        y = other_at - other_slope * s[k]
        x = x if x > y else y
        x = x if x > 0.0 else 0.0
        total += price[k] * (x if hinge else x * x)
    return total


@njit(**INNER)
def _median(t: Array, guess: Array, reach: Array, flat: Array, rows: Array) -> Any:
    """The middle of the thresholds where the charge of a threshold's rows is least, looked for near a guess first.

    The slope exceeds -flat first at their one end, +flat at the other. Without an end it is the guess.
    """
    start = guess
    middle = 0.0
    for level in (-flat, flat):
        width = max(reach, 1e-12 * abs(start), 1e-30)
        precision = _PRECISION * width
        lo, hi, slope = -np.inf, np.inf, 0.0
        x = start - width
        while hi - lo > precision and lo < x < hi:
            here = _slope(t, x, rows)
            if here > level:
                hi, slope = x, here
            else:
                lo = x
            if lo > -np.inf and hi < np.inf:
                x = 0.5 * (lo + hi)
            else:
                width *= 2.0
                x = hi - width if hi < np.inf else lo + width
                if width > _FARTHEST:
                    return guess
        if level < 0.0 and slope > flat:
            return hi
        middle += 0.5 * hi
        start = hi
    return middle


@njit(**INNER)
def _slope(t: Array, theta: Array, rows: Array) -> Any:
    """How fast the hinge of a threshold's rows grows with it, to the right."""
    table, threshold, sign, offset, cost, linear, s, _, _ = rows
    total = linear[t]
    for b in range(len(table)):
        g = table[b, GROUP]
        if threshold[g] == t:
            lo, n, first = table[b, START], table[b, LENGTH], table[b, SLACK]
            below = 0.0 if sign[g] > 0.0 else -1.0
            total += _step_sum(s[lo : lo + n], cost[first : first + n], theta + sign[g] * offset[g], below)
    return total


@njit(**_SUMS)
def _step_sum(s: Array, price: Array, at: Array, below: Array) -> Any:
    """Each price times ``below`` where s lies beyond a point, else times 1 + below."""
    total = 0.0
    for k in range(len(s)):
        total += price[k] * ((s[k] <= at) + below)
    return total
