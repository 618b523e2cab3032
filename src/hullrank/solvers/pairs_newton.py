"""Solve a pair problem to a certified gap: where Newton's method starts from, and what to do where it is slow.

Many rows: the same problem on a random eighth of them gives the start, recursively. A C that is large beside the
optimum makes every pair near the margin a stiff wall: the solution for a smaller C gives the start, recursively.
"""

import time
from dataclasses import replace

import numpy as np

from hullrank.problem.certificate import Certificate, Status, pair_bounds
from hullrank.problem.pair_sets import Floats
from hullrank.problem.pairs import PairCharge, PairProblem
from hullrank.solvers.base import Solution
from hullrank.solvers.pairs_search import WIDEST, PairPoint, PairSearch

START_ROWS = 4000  # rows of the smallest problem whose solution starts the next larger one
SOFTER = 30.0  # ratio of one C to the next smaller one
SHORT_STEPS = {"squared_hinge": 4, "hinge": 10}  # in a row: then C is stiff


def solve_pairs(problem: PairProblem, *, tol: float = 1e-4, max_iter: int = 200, verbose: int = 0) -> Solution:
    """Minimise the pair problem until the relative gap is at most ``tol``.

    ``multipliers`` of the solution holds v with w(alpha) = X'v: by sample, the sum of its pairs' multipliers.
    """
    started = time.perf_counter()
    search = None
    try:
        search = PairSearch(problem, *_from_fewer_rows(problem, tol))
        status = _run(search, tol, max_iter, verbose)
    except KeyboardInterrupt:
        search = search or PairSearch(problem, np.zeros(problem.X.shape[1]), WIDEST)
        status = Status.INTERRUPTED
    best = search.best
    primal, dual = pair_bounds(problem, best.w, best.charge)
    certificate = Certificate(
        primal=primal,
        dual=dual,
        status=status,
        iterations=search.iterations,
        seconds=time.perf_counter() - started,
        solver="pairs_newton",
        n_order_constraints=problem.pairs.n_pairs,
        residuals={"gradient": float(np.linalg.norm(best.gradient))},
    )
    return Solution(best.w, np.empty(0), -best.charge.coef, best.scores, certificate)


def _from_fewer_rows(problem: PairProblem, tol: float) -> tuple[Floats, float]:
    """Weights and window of the same problem on a random eighth of the rows."""
    m, n = problem.X.shape
    size = max(START_ROWS, 10 * n, m // 8)
    drawn = problem.pairs.sample(size, seed=1) if m > 2 * size else None
    if drawn is None:
        return np.zeros(n), WIDEST
    rows, pairs = drawn
    part = PairProblem(problem.X[rows], pairs, problem.C, problem.loss)
    search = PairSearch(part, *_from_fewer_rows(part, tol))
    search.run(max(tol, 1e-3), max_iter=50)
    return search.best.w, search.best.width


def _run(search: PairSearch, tol: float, max_iter: int, verbose: int) -> Status:
    """Newton's method; where it is stiff, once more from the solution for a smaller C."""
    problem = search.problem
    status = search.run(tol, max_iter, verbose, short_steps=SHORT_STEPS[problem.loss])
    if status is not Status.STALLED:
        return status
    softer = PairSearch(replace(problem, C=problem.C / SOFTER), np.zeros_like(search.point.w), WIDEST)
    _run(softer, tol if problem.loss == "hinge" else 1e-2, max_iter, verbose)
    search.restart(softer.best.w, WIDEST)
    if problem.loss == "hinge":
        search.offer(_hardened(search, softer))
    return search.run(tol, search.iterations + max_iter, verbose, short_steps=10 * SHORT_STEPS[problem.loss])


def _hardened(search: PairSearch, softer: PairSearch) -> PairPoint:
    """The hinge solution for a smaller C, scaled so that the pairs of its window reach the margin.

    Its multipliers are feasible for a larger C, so its lower bound holds there; no pair lies beyond the window on
    separable data, where the scaled weights pay nothing for a larger C.
    """
    soft, problem = softer.best, search.problem
    _, dual = pair_bounds(softer.problem, soft.w, soft.charge)
    scale = 1 / (1 - min(soft.width, 1.0) / 2)
    point = search.at(scale * soft.w, soft.width)
    charged = problem.exact_charge(point.charge)
    gradient = point.w + problem.X.T @ soft.charge.coef
    loose = 0.5 * float(point.w @ point.w) + charged - dual - 0.5 * float(gradient @ gradient)
    charge = PairCharge(charged, soft.charge.coef, loose, soft.charge.noise, point.charge.at)
    return replace(point, charge=charge, gradient=gradient)
