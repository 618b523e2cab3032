"""From multipliers to a good primal point: thresholds minimised exactly, weights stretched.

A residual violation eps costs the hinge C * eps on every free row; stretching the weights by 1 + eps removes it for
eps |w|^2. Without this the gap of a nearly separable problem needs eps of 1e-7.
"""

import numpy as np
from numpy.typing import NDArray

from hullrank.problem.certificate import charge_of
from hullrank.problem.intervals import Charge, IntervalProblem
from hullrank.problem.layout import RowLayout

Floats = NDArray[np.float64]
_ONE = np.ones(1)
_SHARES = np.array([0.0, 0.06, 0.25, 0.5, 1.0])  # of the violation, by which the weights may be stretched


def best_primal(
    problem: IntervalProblem, layout: RowLayout, s: Floats, square: float, theta: Floats, violation: float
) -> tuple[float, Floats]:
    """The stretch of the weights and the thresholds with the least objective, given |w|^2 and a guess of theta."""
    group = layout.row_group
    signed, offset = problem.sign[group] * s[layout.row_sample], problem.offset[group]

    def lost(stretches: Floats, theta: Floats) -> Floats:
        missing = np.multiply.outer(stretches, problem.shifts(theta)[group] - signed)
        missing += offset
        return np.add(stretches * float(problem.linear @ theta), charge_of(problem, layout, missing), dtype=np.float64)

    feasible = [problem.raise_thresholds(each) for each in _candidates(problem, layout, s, theta)]
    theta = min(feasible, key=lambda each: float(lost(_ONE, each)[0])) if len(feasible) > 1 else feasible[0]
    if problem.homogeneous:  # the objective is l^2/2 |w|^2 + l * lost: the best stretch l is known
        stretch = max(0.0, -float(lost(_ONE, theta)[0])) / square if square > 0 else 0.0
        return stretch, stretch * theta
    if problem.charge is not Charge.HINGE:
        return 1.0, theta
    stretches = 1.0 + _SHARES * min(violation, 1.0)
    stretch = float(stretches[np.argmin(0.5 * stretches**2 * square + lost(stretches, theta))])
    return stretch, stretch * theta


def _candidates(problem: IntervalProblem, layout: RowLayout, s: Floats, theta: Floats) -> list[Floats]:
    """The guess, and where thresholds are separable (hinge, no shared slack, no rho) each one's exact minimiser."""
    separable = problem.charge is Charge.HINGE and not problem.has_rho and not layout.shares_slacks
    return [theta, _medians(problem, layout, s, theta)] if separable else [theta]


def _medians(problem: IntervalProblem, layout: RowLayout, s: Floats, theta: Floats) -> Floats:
    """Per threshold, a weighted median of the points s - sign * offset where its rows begin to be charged."""
    theta = theta.copy()
    for t in range(problem.n_thresholds):
        points, costs, slope = [], [], float(problem.linear[t])
        for start, length, g, _, _, _, slack in layout.table[problem.threshold[layout.table[:, 2]] == t].tolist():
            points.append(s[start : start + length] - problem.sign[g] * problem.offset[g])
            costs.append(layout.cost[slack : slack + length])
            slope -= float(costs[-1].sum()) if problem.sign[g] < 0 else 0.0
        if not points:
            continue
        where, cost = np.concatenate(points), np.concatenate(costs)
        order = np.argsort(where)
        slopes = slope + np.cumsum(cost[order])
        at = int(np.searchsorted(slopes, 0.0))
        if at < len(order) - 1 and slope < 0:
            flat = slopes[at] <= 1e-12 * cost.sum()
            theta[t] = 0.5 * (where[order[at]] + where[order[at + 1]]) if flat else where[order[at]]
    return theta
