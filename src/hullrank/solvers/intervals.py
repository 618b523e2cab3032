"""The way from an interval problem and samples to a certified solution: scale, solve, scale back."""

from dataclasses import replace
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from hullrank.data import Samples
from hullrank.problem.certificate import Certificate, CertifiedPoint, Status
from hullrank.problem.intervals import Charge, IntervalProblem
from hullrank.solvers._linear_system import DENSE_LIMIT
from hullrank.solvers._rows import ScaledRows
from hullrank.solvers._scaled import Best, ScaledProblem, scale_problem
from hullrank.solvers.base import Solution, Solver
from hullrank.solvers.interior_point import Point, interior_point
from hullrank.solvers.newton import solve_by_newton
from hullrank.solvers.settling import sample_sizes, solve_by_settling
from hullrank.solvers.threshold_centres import centred_thresholds

Floats = NDArray[np.float64]


def solve_intervals(
    problem: IntervalProblem,
    samples: Samples,
    *,
    tol: float = 1e-6,
    max_iter: int = 200,
    verbose: int = 0,
    solver: str = "auto",
) -> Solution:
    """Solve to a relative duality gap of ``tol``, certified on all rows.

    ``solver`` is a name of ``SOLVERS`` or "auto": the first that supports the problem and the size.
    """
    began = perf_counter()
    scaled, back = scale_problem(problem, samples, verbose)
    if solver == "auto":
        chosen = next(each for each in SOLVERS.values() if each.supports(scaled) is None)
    else:
        chosen = SOLVERS[solver]
    view = scaled.rows
    if chosen is LAST_RESORT:  # works on a copy, which also has no rounding from the mean
        scaled = scaled.copied()
    point, certified = chosen.solve(scaled, tol, max_iter)
    if certified.relative_gap > tol and point.status is not Status.INTERRUPTED and chosen is not LAST_RESORT:
        chosen = LAST_RESORT
        point, certified = chosen.solve(scaled, tol, max_iter)
    status = point.status
    if problem.charge is Charge.HARD and status in (Status.STALLED, Status.MAX_ITER):
        soft = _soft_point_if_inseparable(scaled)
        if soft is not None:
            point, status = soft, Status.NOT_SEPARABLE
            certified = replace(certified, scale=1.0, thresholds=soft.theta)
    if problem.l1 and status is not Status.NOT_SEPARABLE:
        point, certified = _exact_zeros(scaled, point, certified, tol)
    if status is not Status.NOT_SEPARABLE:
        certified = _centre_thresholds(scaled, point, certified, tol)
    if certified.relative_gap <= tol:
        status = Status.CONVERGED
    f = view.scale
    nothing = problem.homogeneous and certified.primal == 0 and certified.relative_gap <= tol  # w = 0 is optimal
    scale = 0.0 if nothing else certified.scale
    w = point.w * scale * (f if problem.homogeneous else 1 / f)
    theta = certified.thresholds * scale * (f * f if problem.homogeneous else 1.0)
    if view.mean is not None:
        theta[: problem.n_thresholds] += view.mean @ w
    certificate = Certificate(
        primal=back * certified.primal,
        dual=back * certified.dual,
        status=status,
        iterations=point.iterations,
        seconds=perf_counter() - began,
        solver=chosen.name,
        n_order_constraints=samples.n_order_constraints,
        residuals=certified.residuals,
        floor=back * certified.floor,
    )
    alpha = certified.multipliers * scaled.layout.row_cost * (1.0 if problem.homogeneous else back)
    return Solution(w, theta, alpha, samples.X @ w, certificate)


def _solve_by_interior_point(scaled: ScaledProblem, tol: float, max_iter: int) -> tuple[Point, CertifiedPoint]:
    """On a copy of the rows in class order; more columns than rows are first rotated away."""
    problem, rows, layout = scaled.problem, scaled.rows, scaled.layout
    m = scaled.n_samples
    if rows.n_features > m and m <= DENSE_LIMIT and not problem.l1:
        return _solve_in_row_space(scaled, tol, max_iter)
    copied = scaled.copied()
    best = Best(copied, tol)
    last = interior_point(problem, copied.rows, layout, tol=tol, max_iter=max_iter, accept=best, verbose=scaled.verbose)
    return best.result(last)


def _solve_in_row_space(scaled: ScaledProblem, tol: float, max_iter: int) -> tuple[Point, CertifiedPoint]:
    """ZZ' = V S V': solve on the rows V sqrt(S), then w = Z'coef, graded on Z itself."""
    values, vectors = np.linalg.eigh(scaled.rows.outer())
    kept = values > 1e-15 * max(values[-1], 1e-300)
    reduced = replace(scaled, rows=ScaledRows(np.ascontiguousarray(vectors[:, kept] * np.sqrt(values[kept]))))
    point, certified = _solve_by_interior_point(reduced, tol, max_iter)
    point = replace(point, w=scaled.rows.adjoint(certified.coef), theta=certified.thresholds)
    return point, scaled.certify(
        replace(point, multipliers=certified.multipliers, order_multipliers=certified.order_multipliers)
    )


def _soft_point_if_inseparable(scaled: ScaledProblem) -> Point | None:
    """A hinge at a huge cost proves that any separator of a hard margin would have an absurd norm."""
    price = 1e10
    problem = replace(scaled.problem, charge=Charge.HINGE, cost=price)
    soft = replace(scaled, problem=problem, layout=replace(scaled.layout, cost=scaled.layout.cost * price))
    point, certified = _solve_by_interior_point(soft, 1e-6, 200)
    norm = np.linalg.norm(scaled.rows.adjoint(certified.coef))
    return point if certified.dual > 1e6 * max(float(norm), 1.0) else None


def _exact_zeros(
    scaled: ScaledProblem, point: Point, certified: CertifiedPoint, tol: float
) -> tuple[Point, CertifiedPoint]:
    """Drop weights that are small beside the room left in |X'alpha|_j <= 1, if the certificate stays as good."""
    pull = np.abs(scaled.rows.adjoint(certified.coef))
    kept = (np.abs(point.w) > 1e-3 * (1 - pull)) | (pull > 1 - 1e-6)
    trial = replace(
        point, w=np.where(kept, point.w, 0.0), theta=certified.thresholds, multipliers=certified.multipliers,
        order_multipliers=certified.order_multipliers,
    )  # fmt: skip
    graded = scaled.certify(trial)
    return (trial, graded) if graded.relative_gap <= max(tol, certified.relative_gap) else (point, certified)


def _centre_thresholds(scaled: ScaledProblem, point: Point, certified: CertifiedPoint, tol: float) -> CertifiedPoint:
    """Thresholds that are not unique go to the middle of their optimal intervals, graded again."""
    if scaled.problem.charge is Charge.HINGE and _all_pinned(scaled, certified):
        return certified
    s = scaled.rows.scores(point.w)
    theta = centred_thresholds(scaled.problem, scaled.layout, s, certified.thresholds)
    if theta is certified.thresholds:
        return certified
    trial = replace(
        point, theta=theta, multipliers=certified.multipliers, order_multipliers=certified.order_multipliers
    )
    graded = scaled.certify(trial, s)
    return graded if graded.relative_gap <= max(tol, certified.relative_gap) else certified


def _all_pinned(scaled: ScaledProblem, certified: CertifiedPoint) -> bool:
    """Whether every threshold has a row with a multiplier strictly inside its box, which meets it at any optimum."""
    free = (certified.multipliers > 0.01) & (certified.multipliers < 0.99)
    pinned = scaled.problem.threshold[scaled.layout.row_group[free]]
    return len(np.unique(pinned)) == scaled.problem.n_thresholds


def _newton_refuses(scaled: ScaledProblem) -> str | None:
    problem = scaled.problem
    if problem.charge is not Charge.SQUARED_HINGE:
        return "Newton's method needs a squared charge"
    if problem.l1:
        return "Newton's method needs the L2 penalty"
    if (problem.bundles[:, 1] >= 0).any():
        return "a slack shared by two rows is not smooth"
    if scaled.n_samples <= DENSE_LIMIT:
        return "few rows are solved faster by the interior-point method"
    return None


def _settling_refuses(scaled: ScaledProblem) -> str | None:
    if not sample_sizes(scaled):
        return "settling rows needs many more rows than columns and classes, and a finite C"
    if scaled.rows.n_features > DENSE_LIMIT:
        return "settling rows needs columns few enough for normal equations"
    return None


SOLVERS = {
    solver.name: solver
    for solver in (
        Solver("interior point on unsettled rows", _settling_refuses, solve_by_settling),
        Solver("semismooth Newton", _newton_refuses, solve_by_newton),
        Solver("interior point", lambda scaled: None, _solve_by_interior_point),
    )
}
LAST_RESORT = SOLVERS["interior point"]
