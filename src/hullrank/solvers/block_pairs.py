"""Pairs of rows in blocks, solved in few passes: a sample gives the start, then Newton steps on all rows.

The gradient is exact. The Hessian is exact where pairs lie within queries, and elsewhere that of the sample.
"""

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from hullrank._progress import tell
from hullrank.problem.block_pairs import BlockPairStatement, PairSurvey
from hullrank.problem.certificate import Status
from hullrank.problem.charges import Charge
from hullrank.problem.pair_sets import Floats
from hullrank.problem.statement import Point, Solution
from hullrank.solvers.base import Options, Solver, able, register
from hullrank.solvers.pairs_newton import solve_pairs

_FIRST_WIDTH = 0.03  # width of the first window over which the hinge is smoothed, in margins
_SAMPLE_TOL = 1e-4  # relative gap to which the sample is solved
_NARROWEST = 0.125  # least ratio of a window's width to that of the window before


def solve_block_pairs(statement: BlockPairStatement, options: Options, *, start: Point | None = None) -> Solution:
    """Minimise until the relative gap is at most the tolerance; Ctrl-C keeps the best weights so far."""
    able(statement.family, statement)
    best: PairSurvey | None = None
    (w, stopped), width = _start(statement, start), _FIRST_WIDTH
    step = np.zeros_like(w)
    status, iteration = Status.INTERRUPTED if stopped else Status.MAX_ITER, 0
    try:
        for iteration in range(1, 1 if stopped else options.max_iter + 1):
            found = statement.survey(w, width)
            if best is None or found.gap / found.objective < best.gap / best.objective:
                best = found
            elif found.objective > best.objective * (1 + 1e-12) and float(np.linalg.norm(step)) > 0:
                step = step / 4
                w = best.w + step
                if float(np.linalg.norm(step)) <= 1e-14 * float(np.linalg.norm(w)):
                    status = Status.STALLED
                    break
                continue
            _report(found, iteration, statement.passes, options.verbose)
            if found.gap <= options.tol * found.objective:
                status = Status.CONVERGED
                break
            step = _newton_step(statement, found)
            w = found.w + step
            if found.loose > 0.5 * options.tol * found.objective:
                wanted = 0.9 * (0.5 * options.tol * found.objective / found.loose) ** 0.5
                width = found.width * max(_NARROWEST, min(1.0, wanted))
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
    if best is None:
        best = statement.survey(w, width)
    return Solution(Point(best.w), best, status, iteration, "block_pairs")


def _start(statement: BlockPairStatement, start: Point | None) -> tuple[Floats, bool]:
    """Weights to begin with, and whether Ctrl-C came while they were found: what is left then is their grade."""
    if start is not None:
        return start.coef, False
    found = solve_pairs(statement.sample, Options(tol=_SAMPLE_TOL))
    return found.point.coef, found.status is Status.INTERRUPTED


def _newton_step(statement: BlockPairStatement, found: PairSurvey) -> Floats:
    """From the Hessian of all pairs, or of those of the sample, in the window of the survey."""
    H = found.H
    if H is None:
        problem = statement.sample.problem
        at = problem.pairs.at(statement.sample.scores(Point(found.w)))
        H = problem.curvature(at, found.width)
    system = H + np.eye(len(found.w))
    return -cho_solve(cho_factor(system), found.gradient)


def _report(found: PairSurvey, iteration: int, passes: int, verbose: int) -> None:
    gap = found.gap / found.objective
    tell(gap, lambda: f"{iteration:4d}  {passes} passes  objective {found.objective:.9g}  gap {gap:.2g}", verbose)


register(
    Solver(
        "block_pairs", "pairs in blocks", solve_block_pairs, (Charge.HINGE, Charge.SQUARED_HINGE, Charge.LOGISTIC),
        shared_slacks=False,
    )
)  # fmt: skip
