"""Where scores leave a threshold room, it takes the middle of its optimal interval.

For given scores a hinge charge is a sum of convex, piecewise linear functions phi_j(theta_j), with a kink where a row
meets its threshold. Under a chain of order constraints theta_{j+1} - theta_j >= gap_j (or none) the optimal thresholds
form a lattice: its least element comes from pooling adjacent violators with the left ends of the optimal intervals, its
greatest from the right ends, and their mean is optimal too (Robertson and Waltman 1968, for medians).
"""

import numpy as np
from numpy.typing import NDArray

from hullrank.problem.charges import Charge
from hullrank.problem.intervals import IntervalProblem
from hullrank.problem.layout import GROUP, LENGTH, SLACK, START, RowLayout

Floats = NDArray[np.float64]
FLAT = 1e-12  # slopes of this share of the weight are 0


def centred_thresholds(
    problem: IntervalProblem, layout: RowLayout, scores: Floats, theta: Floats, slopes: Floats | None = None
) -> Floats:
    """Optimal thresholds for the scores, each in the middle of its interval; theta itself where that has no room.

    ``slopes`` by threshold are those of the charge of rows whose kinks are far away.
    """
    linked = _linked(problem)
    kinked = problem.charge in (Charge.HINGE, Charge.HARD)
    if linked is None or problem.shares_slacks or not kinked or problem.homogeneous:
        return theta
    shift = np.append(0.0, np.cumsum(problem.gap)) if linked else np.zeros(len(theta))
    kinks = _kinks(problem, layout, scores, shift, np.zeros(len(shift)) if slopes is None else slopes.copy())
    width = float(np.clip(1e-7 * layout.n_samples, 1e-6, 1e-3))  # intervals of this share of the margin are points
    blocks = _tied(theta - shift, linked, width)
    if all(_is_point(kinks, block, theta[block[0]] - shift[block[0]], width) for block in blocks):
        return theta
    ends = [_pool(kinks, side, linked) for side in (0, 1)]
    return (ends[0] + ends[1]) / 2 + shift


Kinks = list[tuple[Floats, Floats, float]]  # per threshold: places, weights, slope to the left of all


def _linked(problem: IntervalProblem) -> bool | None:
    """True if the order constraints are a chain over the thresholds, False if there are none, None otherwise."""
    if len(problem.up) == 0:
        return False
    q = np.arange(problem.n_thresholds)
    return True if np.array_equal(problem.low, q[:-1]) and np.array_equal(problem.up, q[1:]) else None


def _kinks(problem: IntervalProblem, layout: RowLayout, scores: Floats, shift: Floats, slopes: Floats) -> Kinks:
    """Above its kink s - offset a row of sign + adds its cost to the slope; one of - lowers it below s + offset."""
    places: list[list[Floats]] = [[] for _ in shift]
    weights: list[list[Floats]] = [[] for _ in shift]
    for start, length, group, slack in layout.table[:, [START, LENGTH, GROUP, SLACK]]:
        j, sign = problem.threshold[group], problem.sign[group]
        places[j].append(scores[start : start + length] - (sign * problem.offset[group] + shift[j]))
        weights[j].append(layout.cost[slack : slack + length])
        slopes[j] -= weights[j][-1].sum() if sign < 0 else 0.0
    return [(np.concatenate(p), np.concatenate(w), float(a)) for p, w, a in zip(places, weights, slopes, strict=True)]


def _tied(theta: Floats, linked: bool, width: float) -> list[NDArray[np.intp]]:
    """Runs of thresholds that stand together."""
    apart = np.diff(theta) > width if linked else np.ones(len(theta) - 1, dtype=bool)
    return np.split(np.arange(len(theta)), np.flatnonzero(apart) + 1)


def _is_point(kinks: Kinks, block: NDArray[np.intp], theta: float, width: float) -> bool:
    """Whether the slope of the block's charge clearly changes sign at theta."""
    below, above, total = 0.0, 0.0, 0.0
    for places, weights, slope in (kinks[j] for j in block):
        below += slope + float(weights[places < theta - width].sum())
        above += slope + float(weights[places < theta + width].sum())
        total += float(weights.sum()) + abs(slope)
    return below < -FLAT * total and above > FLAT * total


def _pool(kinks: Kinks, side: int, linked: bool) -> Floats:
    """Ends of optimal intervals, side 0 left and 1 right, adjacent violators of the order pooled."""
    blocks: list[tuple[int, Floats, Floats, float, float]] = []  # size, places, weights, slope, end
    for places, weights, slope in kinks:
        block = (1, places, weights, slope, _end(places, weights, slope, side))
        while linked and blocks and blocks[-1][4] > block[4]:
            before = blocks.pop()
            p, w = np.concatenate([before[1], block[1]]), np.concatenate([before[2], block[2]])
            a = before[3] + block[3]
            block = (before[0] + block[0], p, w, a, _end(p, w, a, side))
        blocks.append(block)
    return np.repeat([block[4] for block in blocks], [block[0] for block in blocks])


def _end(places: Floats, weights: Floats, slope: float, side: int) -> float:
    """Where the slope first reaches 0 (side 0) or leaves it (side 1)."""
    order = np.argsort(places, kind="stable")
    flat = FLAT * (float(weights.sum()) + abs(slope))
    slopes = np.append(slope, slope + np.cumsum(weights[order]))
    ends = np.concatenate([[-np.inf], places[order], [np.inf]])
    return float(ends[np.count_nonzero(slopes < -flat) if side == 0 else np.count_nonzero(slopes <= flat)])
