"""Problems over pairs at the same prices and over much the same rows, as those of the folds of a data set.

Let w be the solution of one fold at the price C and w + d that of another. Both gradients vanish, so that to first
order (1 / C + H) d = r, where H is the second derivative of the charge divided by C, and r what the mean pull of the
pairs differs by between the folds. That hardly changes from one price to the next, so that d at the next price follows
from d at this one without a pass over the pairs.
"""

from dataclasses import dataclass, field, replace

import numpy as np
from scipy.linalg import lapack

from hullrank.problem.pair_sets import Floats
from hullrank.problem.statement import Point
from hullrank.solvers.pair_points import PairStart
from hullrank.solvers.pairs_search import regular_cholesky


@dataclass(frozen=True)
class PairPath:
    """The first solutions that were found, by their price."""

    solutions: dict[float, PairStart] = field(default_factory=dict)

    def keep(self, start: Point | None) -> None:
        """Note where a solve ended, unless another one at its price is known."""
        if isinstance(start, PairStart) and start.C is not None:
            self.solutions.setdefault(start.C, start)

    def start(self, C: float, before: Point | None) -> Point | None:
        """Where a solve at the price C may begin, given that of the same rows ``before`` it."""
        near = self.solutions.get(C)
        if near is None:
            return before
        last = self.solutions.get(before.C) if isinstance(before, PairStart) and before.C is not None else None
        if last is None or before is None:
            return near
        return replace(near, coef=near.coef + _moved(before.coef - last.coef, last, near))


def _moved(apart: Floats, last: PairStart, near: PairStart) -> Floats:
    """How far two solutions are apart at the price of ``near``, given how far at that of ``last``."""
    if last.C is None or near.C is None or last.curvature is None or near.curvature is None:
        return apart
    pull = near.C / last.C * (apart + last.C * (last.curvature @ apart))
    found: Floats = lapack.dpotrs(regular_cholesky(np.eye(len(apart)) + near.C * near.curvature), pull)[0]
    return found
