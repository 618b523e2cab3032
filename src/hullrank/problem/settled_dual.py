"""The part of a dual point that is known only by sums over rows, and how far it can be moved."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hullrank.problem.block_survey import Survey
from hullrank.problem.charges import Charge
from hullrank.problem.intervals import IntervalProblem

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SettledDual:
    """Multipliers alpha of many rows by their sums, and a direction in which a repair may move them.

    Group g moves by tau_g times the room of its rows: alpha + tau * room stays feasible for |tau| < 1. The conjugates
    then sum to conjugate + tau * slope + tau^2 * bend; for a logistic charge that is an upper bound, once bend is
    divided by (1 - |tau|)^2: its conjugate has the second derivative 1 / (a (1 - a)), and with room a (1 - a) this
    product falls by no more than that factor along the way.
    ``pull`` is the sum of sign * alpha * x over all rows, ``room_rows`` sums room * x by group.
    """

    totals: Floats
    pull: Floats
    room: Floats
    room_rows: Any = 0.0
    conjugate: Any = 0.0
    slope: Any = 0.0
    bend: Any = 0.0
    exact: bool = True

    def total(self, tau: Floats) -> Floats:
        """Sums of alpha by group, moved."""
        return self.totals + tau * self.room

    def moved_pull(self, problem: IntervalProblem, tau: Floats) -> Floats:
        """Sum of sign * alpha * x, moved."""
        return self.pull + (problem.sign * tau) @ self.room_rows if np.any(self.room) else self.pull

    def moved_conjugate(self, tau: Floats) -> float:
        """An upper bound of the sum of the conjugates, moved; infinite where tau leads out of their domain."""
        if not np.any(self.room):
            return float(np.sum(self.conjugate))
        if np.any(np.abs(tau) >= 1.0):
            return float("inf")
        steeper = 1.0 if self.exact else 1 / (1 - np.abs(tau)) ** 2
        return float(np.sum(self.conjugate) + np.sum(tau * self.slope + tau * tau * steeper * self.bend))


def settled_dual(problem: IntervalProblem, survey: Survey) -> SettledDual:
    """The multipliers that the charges have at the surveyed point.

    For a hinge these are 0 or the cost, without room, of the rows away from their kink only; for the others all rows'.
    """
    if problem.charge is Charge.HINGE:
        return SettledDual(survey.totals, survey.pull, np.zeros(problem.n_groups))
    if problem.charge is Charge.SQUARED_HINGE:  # alpha = 2 cost v moves as a whole, its conjugate is cost v^2
        squares = survey.paid / 2
        return SettledDual(survey.totals, survey.pull, survey.totals, survey.pull_rows, squares, 2 * squares, squares)
    return SettledDual(
        survey.totals, survey.pull, survey.weight, survey.weight_rows,
        float(survey.paid.sum()) - survey.charge, survey.slope,
        survey.weight / 2, exact=False,
    )  # fmt: skip
