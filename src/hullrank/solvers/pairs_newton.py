"""Solve a pair problem to a certified gap: where Newton's method starts from, and what to do where it is slow.

Many rows: the same problem on a random eighth of them gives the start, recursively. A C that is large beside the
optimum makes every pair near the margin a stiff wall: the solution for a smaller C gives the start, recursively.
"""

from dataclasses import replace

import numpy as np

from hullrank.problem.certificate import Status
from hullrank.problem.charges import Charge
from hullrank.problem.pair_sets import Floats
from hullrank.problem.pair_statement import PairStatement, Window
from hullrank.problem.pairs import PairCharge, PairProblem, pair_bounds
from hullrank.problem.statement import Point, Solution
from hullrank.solvers.base import Options, Solver, able, register
from hullrank.solvers.pair_points import NARROWEST, WIDEST, PairPoint, PairStart
from hullrank.solvers.pairs_search import PAYING, PairSearch, all_paying

NAME = "pairs_newton"
ROUGH = 1e-4  # gap of a problem on fewer rows whose solution is a start
START_ROWS = 4000  # rows of the smallest problem whose solution starts the next larger one
STARTED = 0.01  # gap, in units of the tolerance, at which a start itself is the solution; else a step is taken from it
STARTED_STEPS = 10  # steps within which a start leads to the solution, or is given up: from 0 it takes some twenty
SOFTER = 30.0  # ratio of one C to the next smaller one
SHORT_STEPS = {"squared_hinge": 4, "hinge": 10, "logistic": 4}  # short steps in a row that tell that C is too large


def solve_pairs(statement: PairStatement, options: Options, *, start: Point | None = None) -> Solution:
    """Minimise until the relative gap is at most the tolerance, from ``start`` if that leads there; if it does not, the
    solution leaves no start either."""
    problem = statement.problem
    able(statement)
    weak = all_paying(problem) if start is not None and statement.space is None else None
    if weak is not None:
        flat = PairStart(weak, width=PAYING, C=problem.C, curvature=np.zeros((len(weak), len(weak))))
        return Solution(Point(weak), Window(PAYING), Status.CONVERGED, 0, NAME, start=flat)
    search, led = None, False
    try:
        search = _from_start(statement, start, options) if start is not None else None
        led = start is None or search is not None
        if search is None:
            search = _from_fewer_rows(problem, options.tol)
            search.watch = options.watch
            status = _run(search, options.tol, options.max_iter, options.verbose)
        else:
            status = Status.CONVERGED
    except KeyboardInterrupt:
        search = search or PairSearch(problem, np.zeros(problem.rows.n_features), WIDEST)
        status = Status.INTERRUPTED
    best, space = search.best, statement.space
    evidence = Window(best.width) if best.evidence is None else best.evidence
    point = Point(best.w if space is None else space.coefficients(best.w))
    if not isinstance(evidence, Window):
        point = _clear_of_margin(statement, point, evidence)
    elif evidence.coef is not None and space is not None:
        evidence = replace(evidence, coef=space.coefficients(evidence.coef))
    width = max(best.width, NARROWEST)
    after = PairStart(point.coef, width=width, C=problem.C, curvature=search.curvature) if led else None
    return Solution(point, evidence, status, search.iterations, NAME, start=after)


def _clear_of_margin(statement: PairStatement, point: Point, multipliers: Floats) -> Point:
    """The point, or the multiple whose pairs at the margin lie beyond it whatever the last digits of the scores are.

    Pairs exactly at the margin may pay for these digits, at a huge C more than the tolerance allows. Digits moved the
    solution's pairs inwards once, may move those of its multiple once more, and the grade allows for them once again.
    The multiple costs no more than a few times its excess over 1, as a share of the objective.
    """
    multiple = Point((1 + 4 * statement.digits(point, statement.scores(point))) * point.coef)

    def gap(one: Point) -> float:
        grade = statement.grade(one, multipliers)
        return abs(grade.primal - grade.dual)  # a bound above the objective is as wrong as it lies above

    return min(point, multiple, key=gap)


def _from_start(statement: PairStatement, start: Point, options: Options) -> PairSearch | None:
    """A search that soon converged from known weights, in a window narrow enough for the tolerance; else None."""
    w = start.coef if statement.space is None else statement.space.weights(start.coef)
    if not np.isfinite(w @ w):
        return None
    search = PairSearch.after(statement.problem, start if isinstance(start, PairStart) else PairStart(w), w)
    fresh = search.iterations == 0
    if search.point.gap > (STARTED if fresh else 1.0) * options.tol * search.point.objective:
        search.narrow(options.tol)
        if fresh and options.max_iter > 0:
            search.advance(options.tol)
    status = search.run(options.tol, min(options.max_iter, STARTED_STEPS), options.verbose)
    return search if status is Status.CONVERGED and np.isfinite(search.best.gap) else None


def _from_fewer_rows(problem: PairProblem, tol: float) -> PairSearch:
    """A search that begins where the same problem on a random eighth of the rows ended."""
    m, n = problem.rows.n_rows, problem.rows.n_features
    size = max(START_ROWS, 10 * n, m // 8)
    drawn = problem.pairs.sample(size, seed=1) if m > 2 * size else None
    if drawn is None:
        return PairSearch.first(problem)
    rows, pairs = drawn
    part = problem.among(rows, pairs)
    rough = max(tol, ROUGH)
    search = _from_fewer_rows(part, rough)
    search.run(rough, max_iter=50)
    best = search.best
    pairs.forget()
    del search, part, rows, pairs, drawn  # before all rows are summed, which takes as much memory again
    return PairSearch(problem, best.w, best.width_for(tol))


def _run(search: PairSearch, tol: float, max_iter: int, verbose: int) -> Status:
    """Newton's method; where it is stiff, once more from the solution for a smaller C."""
    problem = search.problem
    status = search.run(tol, max_iter, verbose, short_steps=SHORT_STEPS[problem.charge.name])
    if status is not Status.STALLED:
        return status
    softer = PairSearch.first(replace(problem, C=problem.C / SOFTER))
    _run(softer, tol if problem.charge is Charge.HINGE else 1e-2, max_iter, verbose)
    search.restart(softer.best.w, WIDEST)
    if problem.charge is Charge.HINGE:
        search.offer(_hardened(search, softer))
    return search.run(tol, search.iterations + max_iter, verbose, short_steps=10 * SHORT_STEPS[problem.charge.name])


def _hardened(search: PairSearch, softer: PairSearch) -> PairPoint:
    """The hinge solution for a smaller C, scaled so that the pairs of its window reach the margin.

    Its multipliers are feasible for a larger C, so its lower bound holds there; no pair lies beyond the window on
    separable data, where the scaled weights pay nothing for a larger C.
    """
    soft, problem = softer.best, search.problem
    here = softer.problem.pairs.at(softer.problem.rows.scores(soft.w))
    _, dual = pair_bounds(softer.problem, soft.w, soft.charge._replace(at=here))
    scale = 1 / (1 - min(soft.width, 1.0) / 2)
    point = search.at(scale * soft.w, soft.width)
    charged = problem.exact_charge(point.charge)
    gradient = point.w + problem.contrast(soft.charge.coef)
    loose = 0.5 * float(point.w @ point.w) + charged - dual - 0.5 * float(gradient @ gradient)
    charge = PairCharge(charged, soft.charge.coef, loose, soft.charge.noise, point.charge.at)
    evidence = soft.evidence if soft.evidence is not None else Window(soft.width, soft.w, softer.problem.C)
    return replace(point, charge=charge, gradient=gradient, evidence=evidence)


register(Solver(NAME, "pairs", solve_pairs, (Charge.HINGE, Charge.SQUARED_HINGE, Charge.LOGISTIC), shared_slacks=False))
