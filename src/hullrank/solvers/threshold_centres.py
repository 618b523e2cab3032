"""Where scores leave a threshold room, it takes the middle of its optimal interval.

For given scores a hinge charge is a sum of convex, piecewise linear functions phi_j(theta_j), with a kink where a row
meets its threshold. Under a chain of order constraints theta_{j+1} - theta_j >= gap_j (or none) the optimal thresholds
form a lattice: its least and its greatest element come from a dynamic program (see ``_ends``), and their mean is
optimal too.
"""

from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hullrank.problem.charges import Charge
from hullrank.problem.intervals import IntervalProblem
from hullrank.problem.layout import RowLayout

Floats = NDArray[np.float64]
FLAT = 1e-12  # slopes up to this share of the weight of all rows count as 0


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
    if _are_points(kinks, theta - shift, linked, width):
        return theta
    least, greatest = _ends(kinks, linked)
    return (least + greatest) / 2 + shift


class Kinks(NamedTuple):
    """Rows by threshold: their places and weights, (q + 1,) the first of each threshold, slopes left of all places."""

    places: Floats
    weights: Floats
    starts: NDArray[np.intp]
    slopes: Floats


def _linked(problem: IntervalProblem) -> bool | None:
    """True if the order constraints are a chain over the thresholds, False if there are none, None otherwise."""
    if len(problem.up) == 0:
        return False
    q = np.arange(problem.n_thresholds)
    return True if np.array_equal(problem.low, q[:-1]) and np.array_equal(problem.up, q[1:]) else None


def _kinks(problem: IntervalProblem, layout: RowLayout, scores: Floats, shift: Floats, slopes: Floats) -> Kinks:
    """Above its kink s - offset a row of sign + adds its cost to the slope; one of - lowers it below s + offset."""
    group = layout.row_group
    j, down = problem.threshold[group], problem.sign[group] < 0
    places = scores[layout.row_sample] - (problem.sign * problem.offset + shift[problem.threshold])[group]
    slopes -= np.bincount(j[down], layout.row_cost[down], len(slopes))
    order = np.argsort(j, kind="stable")
    starts = np.searchsorted(j[order], np.arange(len(slopes) + 1))
    return Kinks(places[order], layout.row_cost[order], starts, slopes)


def _are_points(kinks: Kinks, theta: Floats, linked: bool, width: float) -> bool:
    """Whether the slope of the charge clearly changes sign at every threshold, of those that stand together in sum."""
    apart = np.diff(theta) > width if linked else np.ones(len(theta) - 1, dtype=bool)
    block = np.append(0, np.cumsum(apart))
    own = np.repeat(block, np.diff(kinks.starts))
    place = theta[np.searchsorted(block, np.arange(block[-1] + 1))][own]
    slope, total = np.bincount(block, kinks.slopes), np.bincount(block, np.abs(kinks.slopes))
    total += np.bincount(own, kinks.weights, len(total))
    below, above = (
        slope + np.bincount(own, np.where(kinks.places < place + side, kinks.weights, 0.0), len(slope))
        for side in (-width, width)
    )
    return bool(np.all((below < -FLAT * total) & (above > FLAT * total)))


def _ends(kinks: Kinks, linked: bool) -> tuple[Floats, Floats]:
    """The least and the greatest optimal thresholds.

    F_j(t) = phi_j(t) + min over t' <= t of F_{j-1}(t') is the best charge of thresholds up to j with theta_j = t. It is
    kept as a heap of its kinks, from which those of rising slope are taken away for the minimum; theta_j is then the
    end of the minimisers of F_j, or theta_{j+1} where that is less (without links: the end).
    """
    q, starts = len(kinks.slopes), kinks.starts.tolist()
    places, weights = kinks.places.tolist(), kinks.weights.tolist()
    ends = np.empty((2, q))
    heap: list[tuple[float, float]] = []  # minus the place, and the rise of the slope there
    right = size = 0.0  # slope to the right of all kinks, and the weight of all rows so far
    for j, slope in enumerate(kinks.slopes.tolist()):
        if not linked:
            heap, right, size = [], 0.0, 0.0
        for r in range(starts[j], starts[j + 1]):
            heappush(heap, (-places[r], weights[r]))
            right, size = right + weights[r], size + weights[r]
        right, size = right + slope, size + abs(slope)
        greatest = np.inf
        while heap and right > FLAT * size:
            place, rise = heappop(heap)
            greatest, right = -place, right - rise
        if right > FLAT * size:  # no row holds the threshold from below
            greatest, right = -np.inf, 0.0
        level = right >= -FLAT * size
        least = (-heap[0][0] if heap else -np.inf) if level else greatest
        if not level and np.isfinite(greatest):  # the part of the rise that only ends the descent stays
            heappush(heap, (-greatest, -right))
            right = 0.0
        ends[:, j] = least, greatest
    if linked:
        ends = np.minimum.accumulate(ends[:, ::-1], axis=1)[:, ::-1]
    return ends[0], ends[1]
