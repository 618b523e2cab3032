"""Class-based problems with a kernel: by kernel values where that works, else by coordinates of the kernel's space."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hullrank.problem.certificate import EPSILON, Status, charge_and_rise, relative_gap, total_charge
from hullrank.problem.charges import Charge
from hullrank.problem.interval_statement import IntervalStatement, Multipliers
from hullrank.problem.intervals import Penalty
from hullrank.problem.kernel_space import KernelSpace
from hullrank.problem.statement import Point, Solution
from hullrank.solvers._scaled import without_ball
from hullrank.solvers._smo_state import indefinite
from hullrank.solvers.base import Options, Solver, able, register
from hullrank.solvers.intervals import solve_intervals
from hullrank.solvers.smo import MOST_THRESHOLDS, solve_by_smo

Floats = NDArray[np.float64]
_LAST_RESORT = 2000  # samples up to which the factored problem is tried where sequential steps end without success
_FLOAT32_LIMIT = 1e-9  # gaps below which choosing rows by float32 residuals is too coarse
_FAIR_CHANCE = 50  # iterations below which the user has asked for an early end


def solve_kernel_intervals(statement: IntervalStatement, options: Options, *, start: Any = None) -> Solution:
    """Solve by the first solver of the family "kernel intervals" that takes the statement.

    ``start`` is a `Point`, or the ``start`` of an earlier solution.
    """
    space = statement.space
    assert space is not None
    if not (space.coefficient_norm or space.is_definite):
        raise indefinite()
    solvers = able(statement)
    last, few = solvers[-1], len(space.gram) <= _LAST_RESORT
    chosen = last if few and options.tol < _FLOAT32_LIMIT else solvers[0]
    solution: Solution = chosen.solve(statement, options, start)
    hopeless = solution.status in (Status.STALLED, Status.MAX_ITER) and chosen is not last
    if hopeless and few and options.max_iter >= _FAIR_CHANCE:
        other = last.solve(statement, options, None)
        return min(solution, other, key=lambda each: _open_gap(statement, each))
    return solution


def _open_gap(statement: IntervalStatement, solution: Solution) -> float:
    grade = statement.grade(solution.point, solution.evidence, solution.scores)
    gap = grade.primal - grade.dual
    return gap if np.isfinite(gap) else float("inf")


def _solve_by_smo(statement: IntervalStatement, options: Options, start: Any) -> Solution:
    from hullrank.solvers._smo_start import start_from_solution

    samples, space = statement.samples, statement.space
    assert space is not None
    order, problem = samples.rows, without_ball(statement.problem)
    if isinstance(start, Point):
        start = start_from_solution(problem, samples, start.coef, start.thresholds, space.gram)
    result = solve_by_smo(
        problem, statement.layout, space.in_order(order),
        tol=options.tol, max_iter=options.max_iter, cache_size=options.cache_size, start=start, verbose=options.verbose,
    )  # fmt: skip
    coef, scores = np.empty(len(order)), np.empty(len(order))
    coef[order], scores[order] = result.coef, result.scores
    theta, end = result.thresholds, result.end
    scale = 1.0
    if problem.homogeneous and -result.dual <= options.tol * result.floor:
        scale = 0.0  # it is proven that nothing is better than the zero function
    if statement.problem.penalty is Penalty.BALL and scale > 0:
        scale = 1 / max(float(coef @ scores), 1e-300) ** 0.5
    coef, scores, theta = scale * coef, scale * scores, scale * theta
    if np.ptp(scores) <= 64 * EPSILON * space.reach(coef):  # nothing but rounding tells the samples apart
        theta = theta.copy()
        theta[: problem.n_thresholds] -= scores.mean()
        coef, scores = np.zeros_like(coef), np.zeros_like(scores)
    theta = statement.problem.raise_thresholds(theta)  # a stretch below 1 narrows intervals, too
    multipliers = Multipliers(end.shares, problem.cost * end.order_shares)
    name = "SMO with Newton steps"
    solution = Solution(Point(coef, theta), multipliers, result.status, result.rounds, name, scores, end)
    if result.status is Status.CONVERGED and not _holds(statement, solution, options.tol, result):
        return replace(solution, status=Status.STALLED)
    return solution


def _holds(statement: IntervalStatement, solution: Solution, tol: float, result: Any) -> bool:
    """Whether a gap that sequential steps closed is also closed for what they return, the rounding of scores included.

    It is not where large coefficients of equal samples cancel, beside rows of a large weight at their kink. Scores that
    are wrong by d add at most d sum c to sum c v, and at most 2 d (sum c sum c v^2)^(1/2) + d^2 sum c to sum c v^2; the
    rows themselves are looked at only where that is too much. The zero function, which may have taken the place of
    another one, is graded.
    """
    problem, layout, point, scores = statement.problem, statement.layout, solution.point, solution.scores
    assert scores is not None
    if not point.coef.any():
        grade = statement.grade(point, solution.evidence, scores)
        return relative_gap(grade.primal, grade.dual, grade.floor) <= tol
    size = max(abs(result.dual), result.floor)
    size = (2 * size) ** 0.5 if problem.penalty is Penalty.BALL else size
    digits, total = statement.digits(point, scores), float(layout.cost.sum())
    hinge = problem.charge is Charge.HINGE
    rise = digits * total if hinge else 2 * digits * (total * size) ** 0.5 + digits**2 * total
    if rise > tol * size:
        rise = charge_and_rise(problem, layout, point.thresholds, scores[statement.samples.rows], digits)[1]
    return rise <= tol * size


def _solve_by_coordinates(statement: IntervalStatement, options: Options, start: Any) -> Solution:
    """The linear problem over coordinates of the kernel's space.

    Its objective is that of the kernel problem for the same function. Thresholds move with the score of the sample that
    is the origin of the coordinates.
    """
    samples, space = statement.samples, statement.space
    assert space is not None
    linear = replace(statement, samples=replace(samples, X=space.coordinates), space=None)
    first = _on_coordinates(statement, space, start) if isinstance(start, Point) else None
    solution = solve_intervals(linear, options, start=first)
    w, theta = solution.point.coef, solution.point.thresholds.copy()
    coef = space.coefficients(w)
    scores = space.scores(coef)
    if not space.coefficient_norm:
        theta[: statement.problem.n_thresholds] += scores[space.factor.centre]
        if statement.problem.penalty is Penalty.BALL and (square := float(coef @ scores)) > 0:
            coef, scores, theta = coef / square**0.5, scores / square**0.5, theta / square**0.5
    if statement.problem.charge is Charge.HARD:
        coef, theta, scores = _feasible(statement, coef, theta, scores)
    evidence = linear.by_row(solution.evidence)
    return Solution(Point(coef, theta), evidence, solution.status, solution.iterations, solution.solver, scores)


def _feasible(
    statement: IntervalStatement, coef: Floats, theta: Floats, scores: Floats
) -> tuple[Floats, Floats, Floats]:
    """The multiple of a hard-margin point that misses no margin by kernel values."""
    lost = total_charge(statement.problem, statement.layout, theta, scores[statement.samples.rows])
    assert statement.space is not None
    lost += 4 * EPSILON * statement.space.reach(coef)  # what rounding may do to scores that are predicted later
    scale = 1 / (1 - 2 * lost) if lost < 0.5 else 1.0
    return scale * coef, scale * theta, scale * scores


def _on_coordinates(statement: IntervalStatement, space: KernelSpace, start: Point) -> Point:
    theta = start.thresholds.copy()
    if not space.coefficient_norm:
        theta[: statement.problem.n_thresholds] -= space.scores(start.coef, np.array([space.factor.centre]))[0]
    return Point(space.weights(start.coef), theta)


def _smo_limits(statement: IntervalStatement) -> str | None:
    assert statement.space is not None
    if statement.space.has_coordinates:
        return "sequential steps need the whole kernel matrix and the norm of its space"
    if statement.problem.charge is Charge.HINGE and statement.problem.shares_slacks:
        return "a shared hinge slack ties two multipliers of one sample in a box that steps over two rows cannot leave"
    if statement.problem.n_thresholds > MOST_THRESHOLDS:
        return f"sequential steps take at most {MOST_THRESHOLDS} thresholds"
    return None


register(
    Solver(
        "SMO with Newton steps", "kernel intervals", _solve_by_smo, (Charge.HINGE, Charge.SQUARED_HINGE),
        penalties=(Penalty.L2, Penalty.BALL), limits=_smo_limits,
    ),
    Solver(
        "coordinates of the kernel's space", "kernel intervals", _solve_by_coordinates,
        (Charge.HINGE, Charge.SQUARED_HINGE, Charge.HARD, Charge.LOGISTIC),
        penalties=(Penalty.L2, Penalty.BALL),
    ),
)  # fmt: skip
