"""Points of the search over pairs: weights with what is known of the pairs there, and where a search may begin."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from hullrank.problem.pair_sets import Floats
from hullrank.problem.pairs import PairCharge
from hullrank.problem.statement import Point

WIDEST = 4.0  # window at w = 0, where every pair lies at z = 1
NARROWEST = 1e-9  # window in which a solve from known weights begins


@dataclass(frozen=True)
class PairStart(Point):
    """Where a solve for a neighbouring price may begin: at the weights and in the window where that for C ended.

    ``curvature`` is the second derivative of the charge in the weights about there, divided by C.
    """

    width: float = WIDEST
    C: float | None = None
    curvature: Floats | None = None


@dataclass(frozen=True)
class PairPoint:
    """Weights with their scores, the charge of the pairs (smoothed over ``width``) and its gradient.

    ``evidence`` is what proves the gap, where it is not the window of ``width`` at ``w`` (see ``pair_statement``).
    Points that are only kept have no scores and no pairs at them, which are most of the memory.
    """

    w: Floats
    scores: Any
    charge: PairCharge
    gradient: Floats
    width: float
    evidence: Any = None

    @cached_property
    def distance(self) -> float:
        """The gradient's part of the gap."""
        return 0.5 * float(self.gradient @ self.gradient)

    @cached_property
    def gap(self) -> float:
        """Upper bound on P(w) minus the optimum."""
        length = (2 * self.distance) ** 0.5 + self.charge.noise
        return 0.5 * length * length + self.charge.complementarity

    @cached_property
    def value(self) -> float:
        """The smoothed objective."""
        return 0.5 * float(self.w @ self.w) + self.charge.value

    def ball(self, tol: float) -> tuple[Floats, float]:
        """Centre and radius of a ball that holds the solution w*, and all weights whose relative gap is at most tol.

        The gap is at least 1/2 |w - w*|^2 + 1/2 |u - w*|^2, where u = w - gradient are the weights of the multipliers,
        and the middle c of w and u has |c - w*|^2 = 1/2 |w - w*|^2 + 1/2 |u - w*|^2 - 1/4 |w - u|^2.
        """
        radius = (self.gap - self.distance / 2) ** 0.5 + self.charge.noise
        return self.w - self.gradient / 2, radius + (2 * tol * self.value) ** 0.5

    @property
    def objective(self) -> float:
        """At most P(w): smoothing adds at most twice the complementarity (see ``PairProblem.charge``)."""
        return self.value - 2 * self.charge.complementarity

    def width_for(self, tol: float) -> float:
        """A window narrow enough for the tolerance where pairs lie dense: what it adds falls with its square."""
        loose = self.charge.complementarity
        ratio = (0.3 * tol * max(self.objective, 0.0) / loose) ** 0.5 if loose > 0 else 1.0
        return max(self.width * min(ratio, 1.0), NARROWEST)

    def kept(self) -> "PairPoint":
        """The point without its scores and pairs, which take most of its memory."""
        return replace(self, scores=None, charge=self.charge._replace(at=None))
