"""Pairs of rows in blocks, solved in few passes: a sample gives the start, then Newton steps on all rows.

The gradient is exact. The Hessian is exact where pairs lie within queries, and elsewhere that of the sample, mended by
how the gradient changed from one survey to the next.
"""

from itertools import pairwise

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

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
_SHORTEST, _LONGEST = 0.1, 0.7  # what is left of a step that went too far
# The window is narrowed where the gradient's part of the gap is at most so many times the window's part: later on, and
# after the first survey, whose step is a good one where the sample is large.
_PATIENCE = 10.0, 100.0
_NARROWEST = 0.125  # least ratio of a window's width to that of the window before
_REMEMBERED = 5  # surveys before the last one whose gradients mend the Hessian of the sample
_MOST_IN_VAIN = 10  # surveys in a row that may leave as much open as the best before them, or hardly less
_LESS = 0.9  # ratio of two gaps of which the second counts as less


def solve_block_pairs(statement: BlockPairStatement, options: Options, *, start: Point | None = None) -> Solution:
    """Minimise until the relative gap is at most the tolerance; Ctrl-C keeps the best weights so far."""
    able(statement)
    best: PairSurvey | None = None
    here: PairSurvey | None = None
    (w, stopped), width = _start(statement, start), _FIRST_WIDTH
    step = np.zeros_like(w)
    least, in_vain = np.inf, 0
    surveys: list[PairSurvey] = []
    status, iteration = Status.INTERRUPTED if stopped else Status.MAX_ITER, 0
    try:
        for iteration in range(1, 1 if stopped else options.max_iter + 1):
            found = statement.survey(w, width)
            surveys = [*surveys[-_REMEMBERED:], found]
            if best is None or found.gap / found.objective < best.gap / best.objective:
                best = found
            _report(best, iteration, statement.passes, options.verbose)
            if best.gap <= options.tol * best.objective:
                status = Status.CONVERGED
                break
            gap = best.gap / best.objective
            least, in_vain = (gap, 0) if gap < _LESS * least else (least, in_vain + 1)
            if in_vain == _MOST_IN_VAIN:
                status = Status.STALLED
                break
            if here is not None and found.smoothed > here.smoothed:
                step = _shorter(step, here, found)
                w = here.w + step
            else:
                if here is not None and width < here.width and _is_stuck(found, here):
                    status = Status.STALLED
                    break
                step = _newton_step(statement, surveys)
                w, width = found.w + step, _next_width(found, options.tol, _PATIENCE[here is None])
                here = found
            if float(np.linalg.norm(step)) <= 1e-14 * float(np.linalg.norm(w)) and width == found.width:
                status = Status.STALLED
                break
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


def _is_stuck(found: PairSurvey, before: PairSurvey) -> bool:
    """Whether other surveys would leave as much open, where a narrower window was asked for: the gradient is 0 beside
    what the window and unknown pairs leave open, and that has not become less, because bins cannot be narrower.
    """
    return found.gap - found.loose <= 0.01 * found.loose and found.loose > 0.95 * before.loose


def _shorter(step: Floats, here: PairSurvey, found: PairSurvey) -> Floats:
    """A step that went too far, cut to where the slope along it is 0 if that rises evenly from its start to its end."""
    fall, rise = -float(here.gradient @ step), float(found.gradient @ step)
    share = fall / (fall + rise) if fall > 0 and rise > 0 else 0.5
    return step * min(max(share, _SHORTEST), _LONGEST)


def _next_width(found: PairSurvey, tol: float, patience: float) -> float:
    """The window of the next survey: as narrow as the tolerance asks for, once the gradient is not all that is open."""
    wanted = 0.5 * tol * found.objective
    open_by_gradient = found.gap - found.loose
    if found.loose <= wanted or open_by_gradient > patience * found.loose:
        return found.width
    return found.width * max(_NARROWEST, 0.9 * (wanted / found.loose) ** 0.5)


def _newton_step(statement: BlockPairStatement, surveys: list[PairSurvey]) -> Floats:
    """From the last survey, by the Hessian of all pairs, or of those of the sample in the window of the survey."""
    found = surveys[-1]
    if found.H is None:
        return -cho_solve(cho_factor(_mended(_on_sample(statement, found.w, found.width)[1], surveys)), found.gradient)
    system = found.H + np.eye(len(found.w))
    if statement.charge is not Charge.HINGE:
        try:
            return _bent_step(statement, found, system)
        except LinAlgError:
            pass  # on the way the sample's Hessian loses more than there is of that of all pairs
    return -cho_solve(cho_factor(system), found.gradient)


def _on_sample(statement: BlockPairStatement, w: Floats, width: float) -> tuple[Floats, Floats]:
    """Gradient and Hessian of the objective over the sample."""
    problem = statement.sample.problem
    at = problem.pairs.at(statement.sample.scores(Point(w)))
    return w + problem.contrast(problem.charged(at, width).coef), problem.curvature(at, width) + np.eye(len(w))


def _bent_step(statement: BlockPairStatement, found: PairSurvey, system: Floats) -> Floats:
    """Newton's step and a second one from its end, where the gradient and the Hessian are those of all pairs at the
    survey and what they change by on the way, which the sample tells."""
    step = -cho_solve(cho_factor(system), found.gradient)
    here, H_here = _on_sample(statement, found.w, found.width)
    there, H_there = _on_sample(statement, found.w + step, found.width)
    gradient = found.gradient + (there - here) + (system - H_here) @ step
    return step - cho_solve(cho_factor(system + (H_there - H_here)), gradient)


def _mended(system: Floats, surveys: list[PairSurvey]) -> Floats:
    """The Hessian, changed by the BFGS formula such that it tells how the gradient moved between surveys of one window.

    The product of the change and the move is at least |move|^2, since the objective curves as 1/2 |w|^2 or more.
    """
    for one, other in pairwise(surveys):
        move, change = other.w - one.w, other.gradient - one.gradient
        if one.width == surveys[-1].width == other.width and 2 * float(change @ move) > float(move @ move) > 0:
            said = system @ move
            system = system - np.outer(said, said) / (said @ move) + np.outer(change, change) / (change @ move)
    return system


def _report(found: PairSurvey, iteration: int, passes: int, verbose: int) -> None:
    gap = found.gap / found.objective
    tell(gap, lambda: f"{iteration:4d}  {passes} passes  objective {found.objective:.9g}  gap {gap:.2g}", verbose)


register(
    Solver(
        "block_pairs", "pairs in blocks", solve_block_pairs, (Charge.HINGE, Charge.SQUARED_HINGE, Charge.LOGISTIC),
        shared_slacks=False,
    )
)  # fmt: skip
