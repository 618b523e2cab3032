"""A lower bound on the objective of a fitted model, by a solve that starts from the model's own solution.

The model only says where to start. The bound is the objective of a dual point found here and graded on all rows, so
that a wrong start costs time, never truth: where it leads nowhere, the problem is solved from scratch.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hullrank.data import Samples
from hullrank.problem.certificate import Certificate, Status, kernel_remainder, pair_bounds
from hullrank.problem.intervals import IntervalProblem
from hullrank.problem.kernel_factor import basis_size, factor_kernel
from hullrank.problem.pairs import PairProblem
from hullrank.reports.restated import IntervalStatement, PairStatement
from hullrank.solvers.intervals import solve_intervals
from hullrank.solvers.pairs_newton import solve_pairs
from hullrank.solvers.pairs_search import WIDEST, PairSearch

Floats = NDArray[np.float64]


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
    factor = factor_kernel(statement.gram(), basis_size(model.approximation))
    linear = Samples(factor.L, samples.codes, samples.weights, samples.n_classes)
    theta = statement.theta.copy()
    theta[: statement.problem.n_thresholds] -= statement.gram().times(statement.coef)[factor.centre]
    bound = _bound_linear(model, statement.problem, linear, factor.L.T @ statement.coef, theta, objective)
    return LowerBound(bound.value, bound.floor, f"the kernel approximated on {len(factor.pivots)} samples", bound.warm)


def _bound_linear(
    model: Any, problem: IntervalProblem, samples: Samples, w: Floats, theta: Floats, objective: float
) -> LowerBound:
    from hullrank.solvers.settling import solve_from_solution

    found = solve_from_solution(problem, samples, w, theta, objective, tol=model.tol, max_iter=model.max_iter)
    if found is not None:
        return LowerBound(*found)
    return _cold(solve_intervals(problem, samples, tol=model.tol, max_iter=model.max_iter).certificate)


def _bound_kernel(statement: IntervalStatement) -> LowerBound:
    """Sequential steps from the multipliers that the kernel coefficients tell."""
    from hullrank.solvers._smo_start import start_from_solution
    from hullrank.solvers.kernel_intervals import solve_kernel_intervals
    from hullrank.solvers.smo import smo_refuses

    model, problem, samples = statement.twin, statement.problem, statement.samples
    if model._coefficient_norm:
        return _cold(model._solve_with_kernel(problem, samples).certificate)
    gram = statement.gram()
    warm = smo_refuses(problem) is None and bool(statement.coef.any())
    solution = solve_kernel_intervals(
        problem, samples, gram, tol=model.tol, max_iter=model.max_iter, cache_size=model.cache_size,
        start=start_from_solution(problem, samples, statement.coef, statement.theta, gram) if warm else None,
    )  # fmt: skip
    bound = _cold(solution.certificate)
    return LowerBound(bound.value, bound.floor, bound.scope, warm)


def bound_pairs(statement: PairStatement) -> LowerBound:
    """For a model over pairs: Newton's method from its weights, in a window narrow enough for its tolerance."""
    model = statement.twin
    options = {"tol": model.tol, "max_iter": model.max_iter}
    factor = factor_kernel(statement.gram(), basis_size(model.approximation)) if model._has_kernel else None
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


def _cold(certificate: Certificate) -> LowerBound:
    return LowerBound(certificate.dual, certificate.floor, certificate.scope, warm=False)
