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

    guess, theta = theta, problem.raise_thresholds(theta)
    if problem.charge is Charge.HINGE and not problem.has_rho and not layout.shares_slacks:  # each for itself
        least = _medians(problem, layout, s, guess, 2.0 * violation)
        raised = problem.raise_thresholds(least)
        if np.array_equal(least, raised) or lost(_ONE, raised) < lost(_ONE, theta):
            theta = raised
    if problem.homogeneous:  # the objective is l^2/2 |w|^2 + l * lost: the best stretch l is known
        stretch = max(0.0, -float(lost(_ONE, theta)[0])) / square if square > 0 else 0.0
        return stretch, stretch * theta
    if problem.charge is not Charge.HINGE:
        return 1.0, theta
    stretches = 1.0 + _SHARES * min(violation, 1.0)
    stretch = float(stretches[np.argmin(0.5 * stretches**2 * square + lost(stretches, theta))])
    return stretch, stretch * theta


def _medians(problem: IntervalProblem, layout: RowLayout, s: Floats, theta: Floats, reach: float = np.inf) -> Floats:
    """Per threshold, a weighted median of the points s - sign * offset where its rows begin to be charged.

    It is looked for within ``reach`` of theta, then anywhere.
    """
    group, cost, n = layout.row_group, layout.cost, problem.n_thresholds
    of = problem.threshold[group]
    where = s[layout.row_sample] - (problem.sign * problem.offset)[group]
    apart = where - theta[of]
    slope = problem.linear + np.bincount(of, cost * ((apart < -reach) + np.minimum(problem.sign, 0.0)[group]), n)
    near = np.flatnonzero(np.abs(apart) <= reach)
    near = near[np.lexsort((where[near], of[near]))]
    ends = np.searchsorted(of[near], np.arange(n + 1))
    total = np.append(0.0, np.cumsum(cost[near]))
    needed = total[ends[:-1]] - slope
    at = np.searchsorted(total[1:], needed)
    inside = (slope < 0) & (at < ends[1:] - 1)
    if not inside.all() and reach < np.inf:
        return _medians(problem, layout, s, theta)
    at, needed = at[inside], needed[inside]
    flat = total[at + 1] - needed <= 1e-12 * total[-1]
    theta = theta.copy()
    theta[inside] = np.where(flat, 0.5 * (where[near[at]] + where[near[at + 1]]), where[near[at]])
    return theta
