"""A proof over blocks that a homogeneous problem (nu, sum of margins) has nothing better than 0: no ranking at all.

At 0 every row is at its kink, and multipliers that balance each other, X'(sign alpha) = 0, prove that 0 is optimal.
They are those of the problem with its kinks smoothed over a tiny width W: its solution is W u, where u hardly depends
on W, so that X'(sign alpha) = w = W u is as small as is asked for. A few Newton steps find it, each a pass over the
rows, and most of them on the drawn samples. Where there is a ranking, w does not shrink with W.
"""

import numpy as np

from hullrank.problem.block_charges import Window
from hullrank.problem.block_statement import BlockEvidence, BlockStatement
from hullrank.problem.block_survey import Survey
from hullrank.problem.settled_dual import SettledDual
from hullrank.solvers._block_step import Step
from hullrank.solvers._block_terms import Units
from hullrank.solvers._linear_system import SingularSystemError
from hullrank.solvers.interior_point import Iterate

TINY = 1e-15  # W over the sum of all costs
BALANCED = 1e-13  # |X'(sign alpha)| over the sum of alpha, in units of the length of a row, that is as good as 0
STEPS_DRAWN, STEPS = 12, 6  # most Newton steps on the drawn samples, and on all rows
FALLING = 0.5  # how far the imbalance of all rows must fall with every step, or there is a ranking


def evidence_for_zero(
    statement: BlockStatement, drawn: BlockStatement, units: Units, step: Step
) -> BlockEvidence | None:
    """Multipliers of all rows that balance each other, or None where a few steps find none.

    Where those of the drawn samples do, all rows begin at their solution. Inside of half the window multipliers are
    between a quarter and three quarters of the cost, so that they have room for a quarter: one more pass sums it up.
    """
    width = TINY * statement.problem.cost * float(statement.samples.weights.sum())
    n, problem = statement.size.n_features, units.problem
    origin = Iterate(np.zeros(n), np.zeros(len(problem.linear)), np.empty(0), np.ones(len(problem.up)))
    start = _balanced(drawn, origin, width, units, step, STEPS_DRAWN, np.inf)
    end = _balanced(statement, origin if start is None else start[0], width, units, step, STEPS, FALLING)
    if end is None:
        return None
    now, found = end
    inner = _smoothed(statement, now, width / 2, units)
    share = 0.25 * 2 * inner.window.width  # of the cost, where the curvature of a smoothed kink is cost / (2 width)
    settled = SettledDual(found.totals, found.pull, share * inner.weight, share * inner.weight_rows)
    return BlockEvidence(units.back * now.order_multipliers, found, settled, found.point)


def _balanced(
    part: BlockStatement, now: Iterate, width: float, units: Units, step: Step, most: int, falling: float
) -> tuple[Iterate, Survey] | None:
    """Newton steps to where multipliers balance each other, and the pass there; None where they do not come to it."""
    last = np.inf
    for _ in range(most + 1):
        found = _smoothed(part, now, width, units)
        imbalance = float(np.linalg.norm(found.pull)) / (units.f * float(found.totals.sum()))
        if imbalance <= BALANCED:
            return now, found
        if not imbalance <= falling * last:
            return None
        last = imbalance
        try:
            now, _ = step(part, now, found, BALANCED, 1.0)
        except SingularSystemError:
            return None
    return None


def _smoothed(part: BlockStatement, now: Iterate, width: float, units: Units) -> Survey:
    return part.survey(units.stated(now), Window(width * units.ratio(now), fetch=False, model=True))
