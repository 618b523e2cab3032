"""A lower bound on the objective of a fitted model, by a solve that starts from the model's own solution.

The model only says where to start. The bound is the objective of a dual point found here and graded on all rows, so
that a wrong start costs time, never truth: where it leads nowhere, the problem is solved from scratch.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hullrank.data import Samples
from hullrank.models._kernel import NYSTROEM_RANK
from hullrank.problem.certificate import Certificate, Status, kernel_remainder, pair_bounds
from hullrank.problem.intervals import Charge, IntervalProblem
from hullrank.problem.kernel_factor import factor_kernel
from hullrank.problem.layout import lay_out
from hullrank.problem.pairs import PairProblem
from hullrank.reports.restated import IntervalStatement, PairStatement
from hullrank.solvers._linear_system import DENSE_LIMIT
from hullrank.solvers._scaled import Best, scale_problem
from hullrank.solvers.interior_point import Point
from hullrank.solvers.intervals import solve_intervals
from hullrank.solvers.pairs_newton import solve_pairs
from hullrank.solvers.pairs_search import WIDEST, PairSearch

Floats = NDArray[np.float64]
_CAUTION = 3.0  # rows are settled if they are this many times the error of the solution away from their kink
_KINK = 1e-3  # of the margin: rows nearer to their kink may have any multiplier


@dataclass(frozen=True)
class LowerBound:
    """The bound, what counts as zero beside it, the problem it is for, and whether the model's start led to it."""

    value: float
    floor: float = 0.0
    scope: str = "the stated problem"
    warm: bool = True


def bound_intervals(statement: IntervalStatement, objective: float) -> LowerBound:
    """For a class-based model with the given objective."""
    model, samples = statement.twin, statement.samples
    if not model._has_kernel:
        return _bound_linear(model, statement.problem, samples, statement.coef, statement.theta, objective)
    if model.approximation is None:
        return _bound_kernel(statement)
    factor = factor_kernel(statement.gram(), _rank(model))
    linear = Samples(factor.L, samples.codes, samples.weights, samples.n_classes)
    theta = statement.theta.copy()
    theta[: statement.problem.n_thresholds] -= statement.gram().times(statement.coef)[factor.centre]
    bound = _bound_linear(model, statement.problem, linear, factor.L.T @ statement.coef, theta, objective)
    return LowerBound(bound.value, bound.floor, f"the kernel approximated on {len(factor.pivots)} samples", bound.warm)


def _bound_linear(
    model: Any, problem: IntervalProblem, samples: Samples, w: Floats, theta: Floats, objective: float
) -> LowerBound:
    bound = _from_solution(problem, samples, w, theta, objective, model.tol, model.max_iter)
    if bound is not None:
        return bound
    return _cold(solve_intervals(problem, samples, tol=model.tol, max_iter=model.max_iter).certificate)


def _from_solution(
    problem: IntervalProblem, samples: Samples, w: Floats, theta: Floats, objective: float, tol: float, max_iter: int
) -> LowerBound | None:
    """Settle the rows by the solution, solve for the others and grade on all; None where that does not close the gap.

    A solution with relative gap tol has 1/2 |w - w*|^2 <= tol P, and rows have length 1 once scaled, so that scores
    are wrong by at most about sqrt(2 tol P); and with many rows by less than if the rows were only a sample of others.
    Rows further from their kink keep their side of it.
    """
    from hullrank.solvers.settling import settled_solve, settling_width

    if problem.charge is Charge.HARD or samples.X.shape[1] > DENSE_LIMIT or not w.any():
        return None
    scaled, back = scale_problem(problem, samples)
    f, theta = scaled.rows.scale, theta.copy()
    if scaled.rows.mean is not None:
        theta[: problem.n_thresholds] -= scaled.rows.mean @ w
    w, theta = (w / f, theta / (f * f)) if problem.homogeneous else (w * f, theta)
    start = Point(w, problem.raise_thresholds(theta), np.empty(0), np.ones(len(problem.up)))
    width = min(_CAUTION * float(np.sqrt(2 * tol * abs(objective) / back)), settling_width(scaled, start))
    best = Best(scaled, tol)
    with np.errstate(all="ignore"):  # a start far off may overflow; the point is then graded as useless
        settled_solve(scaled, start, width, tol, max_iter, best)
    if best.certified is None or best.certified.relative_gap > tol:
        return None
    return LowerBound(back * best.certified.dual, back * best.certified.floor)


def _bound_kernel(statement: IntervalStatement) -> LowerBound:
    """Sequential steps from the multipliers that the kernel coefficients tell."""
    from hullrank.solvers.kernel_intervals import solve_kernel_intervals
    from hullrank.solvers.smo import smo_refuses

    model, problem, samples = statement.twin, statement.problem, statement.samples
    if model._coefficient_norm:
        return _cold(model._solve_with_kernel(problem, samples).certificate)
    gram = statement.gram()
    warm = smo_refuses(problem) is None and bool(statement.coef.any())
    solution = solve_kernel_intervals(
        problem, samples, gram, tol=model.tol, max_iter=model.max_iter, cache_size=model.cache_size,
        start=_multipliers(statement, gram.times(statement.coef)) if warm else None,
    )  # fmt: skip
    bound = _cold(solution.certificate)
    return LowerBound(bound.value, bound.floor, bound.scope, warm)


def _multipliers(statement: IntervalStatement, scores: Floats) -> Any:
    """Shares alpha / cost of the rows: 2 * slack (squared charge); 1 beyond the kink, 0 before it, and at the kink
    what is left of the sample's kernel coefficient, sum of sign * alpha (hinge)."""
    from hullrank.solvers._smo_start import Start

    problem, samples = statement.problem, statement.samples
    layout = lay_out(problem, samples.starts, samples.weights[samples.rows])
    group, sample = layout.row_group, layout.row_sample
    violation = problem.offsets(statement.theta)[group] - problem.sign[group] * scores[samples.rows][sample]
    if problem.charge is Charge.SQUARED_HINGE:
        shares = 2 * np.maximum(violation, 0.0)
    else:
        unit = max(float(np.abs(violation).mean()), 1e-300)
        free = np.abs(violation) <= _KINK * unit
        shares = np.where(violation > 0, 1.0, 0.0) * ~free
        n = len(samples.codes)
        rest = statement.coef[samples.rows] - np.bincount(sample, problem.sign[group] * shares * layout.row_cost, n)
        at_kink = np.maximum(np.bincount(sample, free, n), 1)
        part = problem.sign[group] * (rest / at_kink)[sample] / layout.row_cost
        shares = np.where(free, np.clip(part, 0.0, 1.0), shares)
    totals = np.add.reduceat(shares * layout.row_cost, layout.group_starts[:-1])
    G = np.zeros((len(problem.linear), len(problem.up)))
    for k in range(len(problem.up)):
        G[:, k] = problem.order_adjoint(np.eye(len(problem.up))[k])
    t = np.linalg.lstsq(G, problem.linear + problem.flow(totals))[0] if G.size else np.zeros(G.shape[1])
    rho = float(statement.theta[-1]) if problem.has_rho else 0.0
    return Start(shares, np.maximum(t, 0.0) / problem.cost, rho)


def bound_pairs(statement: PairStatement) -> LowerBound:
    """For a model over pairs: Newton's method from its weights, in a window narrow enough for its tolerance."""
    model = statement.twin
    options = {"tol": model.tol, "max_iter": model.max_iter}
    factor = factor_kernel(statement.gram(), _rank(model)) if model._has_kernel else None
    X = statement.X[statement.rows] if factor is None else factor.L
    w = statement.coef if factor is None else factor.L.T @ statement.coef
    problem = PairProblem(X, statement.pairs, float(model.C), model.loss)
    search = PairSearch(problem, w, WIDEST)
    while search.point.width > 1e-9 and search.point.charge.complementarity > 0.3 * model.tol * search.point.objective:
        search.restart(w, search.point.width / 4)
    warm = search.run(**options) is Status.CONVERGED
    if warm:
        multipliers, bound = -search.best.charge.coef, pair_bounds(problem, search.best.w, search.best.charge)[1]
    else:
        solution = solve_pairs(problem, **options)
        multipliers, bound = solution.multipliers, solution.certificate.dual
    if factor is None:
        return LowerBound(bound, warm=warm)
    if model.approximation is not None and len(factor.pivots) < len(factor.L):
        return LowerBound(bound, scope=f"the kernel approximated on {len(factor.pivots)} samples", warm=warm)
    return LowerBound(bound - kernel_remainder(multipliers, factor.residual), warm=warm)


def _rank(model: Any) -> int | None:
    return NYSTROEM_RANK if isinstance(model.approximation, str) else model.approximation


def _cold(certificate: Certificate) -> LowerBound:
    return LowerBound(certificate.dual, certificate.floor, certificate.scope, warm=False)
