"""The way from an interval problem and samples to a certified solution: scale, solve, scale back."""

from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from hullrank.data import Samples
from hullrank.problem.certificate import Certificate, CertifiedPoint, Status, certify_intervals
from hullrank.problem.intervals import Charge, IntervalProblem
from hullrank.problem.layout import RowLayout, lay_out
from hullrank.solvers._rows import ScaledRows, scaled_rows
from hullrank.solvers.base import Solution, Solver
from hullrank.solvers.interior_point import DENSE_LIMIT, Point, interior_point

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ScaledProblem:
    """An interval problem on rows scaled to rms|x| = 1, so that tolerances mean the same for all data.

    With rows z = (x - mean) / f: w = w' / f and cost' = f^2 cost (f cost under L1); homogeneous problems keep their
    cost and have w = f w', theta = f^2 theta'. Thresholds absorb the mean.
    """

    problem: IntervalProblem
    rows: ScaledRows
    layout: RowLayout

    def certify(self, point: Point, scores: Floats | None = None) -> CertifiedPoint:
        """Grade a point of the scaled problem."""
        problem, rows, w = self.problem, self.rows, point.w
        if scores is None:
            scores = rows.scores(w)
        return certify_intervals(
            problem, self.layout, scores, _penalty(problem, w), self._dual_penalty, point.theta, point.multipliers,
            point.order_multipliers,
        )  # fmt: skip

    def _dual_penalty(self, coef: Floats) -> float:
        w = self.rows.adjoint(coef)
        return float(np.abs(w).max(initial=0.0)) if self.problem.l1 else float(0.5 * w @ w)


def _penalty(problem: IntervalProblem, w: Floats) -> float:
    return float(np.abs(w).sum()) if problem.l1 else float(0.5 * w @ w)


def scale_problem(problem: IntervalProblem, samples: Samples) -> tuple[ScaledProblem, float]:
    """The scaled problem, and what its objective must be multiplied by to be that of the stated one."""
    weights = samples.weights[samples.rows]
    rows = scaled_rows(samples.X, samples.rows, weights)
    f = rows.scale
    layout = lay_out(problem, samples.starts, weights)
    price = 1.0 if problem.homogeneous else (f if problem.l1 else f * f)
    back = f * f if problem.homogeneous else 1 / price
    return ScaledProblem(problem, rows, replace(layout, cost=layout.cost * price)), back


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
    scaled, back = scale_problem(problem, samples)
    chosen = _choose(scaled) if solver == "auto" else SOLVERS[solver]
    point, certified = chosen.solve(scaled, tol, max_iter)
    status = point.status
    if problem.charge is Charge.HARD and status is not Status.CONVERGED and _inseparable(scaled):
        status = Status.NOT_SEPARABLE
    if problem.l1:
        point, certified = _exact_zeros(scaled, point, certified, tol)
    if certified.relative_gap <= tol:
        status = Status.CONVERGED
    f = scaled.rows.scale
    w = point.w * certified.scale * (f if problem.homogeneous else 1 / f)
    theta = certified.thresholds * certified.scale * (f * f if problem.homogeneous else 1.0)
    if scaled.rows.mean is not None:
        theta[: problem.n_thresholds] += scaled.rows.mean @ w
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
    return Solution(w, theta, certified.multipliers * scaled.layout.row_cost, samples.X @ w, certificate)


class _Best:
    """Keeps the best certified point; as ``accept`` it ends a solve at the tolerance."""

    def __init__(self, scaled: ScaledProblem, tol: float) -> None:
        self.scaled, self.tol = scaled, tol
        self.point: Point | None = None
        self.certified: CertifiedPoint | None = None

    def __call__(self, point: Point, scores: Floats | None = None) -> bool:
        certified = self.scaled.certify(point, scores)
        if self.certified is None or certified.relative_gap < self.certified.relative_gap:
            self.point, self.certified = replace(point, w=point.w.copy()), certified
        return certified.relative_gap <= self.tol

    def result(self, last: Point) -> tuple[Point, CertifiedPoint]:
        """The best point, with the ending of the last one."""
        if last.status is not Status.CONVERGED or self.certified is None:
            self(last)
        assert self.point is not None
        assert self.certified is not None
        status = Status.CONVERGED if self.certified.relative_gap <= self.tol else last.status
        return replace(self.point, iterations=last.iterations, status=status), self.certified


def _solve_by_interior_point(scaled: ScaledProblem, tol: float, max_iter: int) -> tuple[Point, CertifiedPoint]:
    """On a copy of the rows in class order; more columns than rows are first rotated away."""
    problem, rows, layout = scaled.problem, scaled.rows, scaled.layout
    m = layout.n_samples
    if rows.n_features > m and m <= DENSE_LIMIT and not problem.l1:
        return _solve_in_row_space(scaled, tol, max_iter)
    copied = replace(scaled, rows=rows.take(np.arange(m)))
    best = _Best(copied, tol)
    last = interior_point(problem, copied.rows, layout, tol=tol, max_iter=max_iter, accept=best)
    return best.result(last)


def _solve_in_row_space(scaled: ScaledProblem, tol: float, max_iter: int) -> tuple[Point, CertifiedPoint]:
    """ZZ' = V S V': solve on the rows V sqrt(S), then w = Z'coef, graded on Z itself."""
    values, vectors = np.linalg.eigh(scaled.rows.outer())
    kept = values > 1e-15 * max(values[-1], 1e-300)
    reduced = replace(scaled, rows=ScaledRows(np.ascontiguousarray(vectors[:, kept] * np.sqrt(values[kept]))))
    point, certified = _solve_by_interior_point(reduced, tol, max_iter)
    point = replace(point, w=scaled.rows.adjoint(certified.coef), theta=certified.thresholds)
    return point, scaled.certify(replace(point, multipliers=certified.multipliers, order_multipliers=certified.order_multipliers))


def _inseparable(scaled: ScaledProblem) -> bool:
    """A hinge at a huge cost proves that any separator of a hard margin would have an absurd norm."""
    price = 1e10
    problem = replace(scaled.problem, charge=Charge.HINGE, cost=price)
    soft = ScaledProblem(problem, scaled.rows, replace(scaled.layout, cost=scaled.layout.cost * price))
    _, certified = _solve_by_interior_point(soft, 1e-6, 200)
    norm = np.linalg.norm(scaled.rows.adjoint(certified.coef))
    return bool(certified.dual > 1e6 * max(float(norm), 1.0))


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


def _choose(scaled: ScaledProblem) -> Solver:
    return next(solver for solver in SOLVERS.values() if solver.supports(scaled.problem) is None)


SOLVERS = {
    solver.name: solver
    for solver in (Solver("interior point", lambda problem: None, _solve_by_interior_point),)
}
