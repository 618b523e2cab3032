"""From dual multipliers to a good primal point: thresholds minimised exactly, weights stretched a little.

A violation of optimality by eps costs the hinge about C * eps on every free row. Stretching the weights by 1 + eps
removes this for about eps * |w|^2. Without the stretch, the gap of a nearly separable problem closes only at
violations of about 1e-7.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hullrank.problem.intervals import IntervalProblem
from hullrank.problem.layout import RowLayout
from hullrank.solvers._smo_state import is_hinge

Floats = NDArray[np.float64]
_STRETCHES = np.array([0.0, 0.06, 0.25, 0.5, 1.0])  # tried amounts of stretching, in violations
_FLAT = 1e-12  # slopes below this share of the total cost count as zero


class Primal(NamedTuple):
    """A factor on the weights, the thresholds for the stretched weights, and their objective."""

    stretch: float
    thresholds: Floats
    objective: float


def best_primal(
    problem: IntervalProblem,
    layout: RowLayout,
    scores: Floats,
    square: float,
    guess: Floats,
    violation: float,
    enough: float = -np.inf,
) -> Primal:
    """The stretch and the thresholds with the least objective, given |w|^2 and a guess of the thresholds.

    The guess is hardly ever worse than the best thresholds, which take longer to find than it to rate; they are not
    looked for where the guess has an objective of at most ``enough``.
    """
    stretches = np.ones(1) if problem.homogeneous else 1.0 + _STRETCHES * min(violation, 1.0)
    guess = problem.raise_thresholds(guess)
    found = _best_stretch(problem, layout, scores, square, guess, stretches)
    if found.objective <= enough or not is_hinge(problem) or problem.has_rho or layout.shares_slacks:
        return found
    best = problem.raise_thresholds(_best_thresholds(problem, layout, scores, guess))
    other = _best_stretch(problem, layout, scores, square, best, stretches)
    return min(found, other, key=lambda primal: primal.objective)


def _best_stretch(
    problem: IntervalProblem, layout: RowLayout, scores: Floats, square: float, theta: Floats, stretches: Floats
) -> Primal:
    """The best of the stretches for given thresholds; of a homogeneous problem, the best of all."""
    sign, shift = layout.spread(problem.sign), layout.spread(problem.shifts(theta))
    missing = np.multiply.outer(stretches, shift - sign * scores[layout.row_sample])
    missing += layout.spread(problem.offset)
    if layout.shares_slacks:
        by_slack = np.argsort(layout.row_slack, kind="stable")
        first = np.searchsorted(layout.row_slack[by_slack], np.arange(layout.n_slacks))
        missing = np.maximum.reduceat(missing[:, by_slack], first, axis=1)
    slack = np.maximum(missing, 0.0, out=missing)
    lost = (slack if is_hinge(problem) else slack * slack) @ layout.cost + stretches * (problem.linear @ theta)
    if problem.homogeneous:  # stretched by l the objective is l^2/2 |w|^2 + l * lost, which has a known minimum
        stretches = np.where((square > 0.0) & (lost < 0.0), -lost / max(square, 1e-300), 0.0)
        lost = lost * stretches
    values = 0.5 * stretches**2 * square + lost
    at = int(np.argmin(values))
    return Primal(float(stretches[at]), stretches[at] * theta, float(values[at]))


def _best_thresholds(problem: IntervalProblem, layout: RowLayout, scores: Floats, guess: Floats) -> Floats:
    """Per threshold, the middle of the values where the hinge of its rows is least; the guess if they are unbounded.

    The hinge of a row has its kink at score - sign * offset. Beyond the kink its slope is larger by the cost of the
    row, so the minimum is a weighted quantile of the kinks.
    """
    threshold = layout.spread(problem.threshold)
    kinks = scores[layout.row_sample] - layout.spread(problem.sign * problem.offset)
    order = np.argsort(kinks)
    order = order[np.argsort(threshold[order].astype(np.int16), kind="stable")]  # by threshold, then by kink
    total = np.concatenate([[0.0], np.cumsum(layout.cost[order])])
    starts = np.searchsorted(threshold[order], np.arange(problem.n_thresholds + 1))
    group_cost = np.add.reduceat(layout.cost, layout.group_starts[:-1])
    pulling = np.bincount(problem.threshold, np.where(problem.sign < 0, group_cost, 0.0), problem.n_thresholds)
    flat = _FLAT * float(total[-1])
    theta = guess.copy()
    for t, (lo, hi) in enumerate(pairwise(starts.tolist())):
        first = problem.linear[t] - pulling[t]
        slopes = total[lo : hi + 1] - total[lo] + first  # before the first kink, between the kinks, after the last
        if slopes[0] <= -flat and slopes[-1] > flat:
            left, right = np.searchsorted(slopes, [-flat, flat], side="right")
            theta[t] = 0.5 * float(kinks[order[lo + left - 1]] + kinks[order[lo + right - 1]])
    return theta
