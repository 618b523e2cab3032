"""Semismooth Newton method for charges with a second derivative (squared hinge, logistic).

Each step minimises the quadratic model of the objective, under the order constraints, over all weights and thresholds.
The model of a squared hinge holds only the rows that pay, and is exact as long as the same rows pay, so that the method
ends in finitely many steps.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hullrank.problem.certificate import CertifiedPoint, Status
from hullrank.problem.intervals import IntervalProblem
from hullrank.problem.layout import RowLayout, bundle_table
from hullrank.problem.rows import ArrayRows
from hullrank.problem.statement import Point
from hullrank.solvers._linear_system import DENSE_LIMIT, SingularSystemError
from hullrank.solvers._quadratic_minimum import active_set_minimum
from hullrank.solvers._scaled import Best, ScaledProblem
from hullrank.solvers.interior_point import Iterate, Settled, interior_point

Floats = NDArray[np.float64]
SMALL_COPY = 4_000_000  # numbers up to which rows are copied in class order where every one of them counts in each step


@dataclass(frozen=True)
class RowModel:
    """The quadratic model of the charges at given scores and thresholds, sum 1/2 d v^2 + e v over the violations v.

    ``charge`` is their total, ``changed`` the number of slacks that changed sides since the last model, ``row_weight``
    and ``group_weight`` sum d by sample and by group, ``cross`` is d by row, and ``push`` sums sign * e by sample and e
    by group (None where all e are 0, as for a squared hinge).
    """

    charge: float
    changed: int
    row_weight: Floats
    group_weight: Floats
    cross: Floats
    push: tuple[Floats, Floats] | None = None


class RowModels:
    """Models of the charges of all rows; keeps its work arrays between calls."""

    def __init__(self, problem: IntervalProblem, layout: RowLayout) -> None:
        from hullrank.solvers import _newton_loops

        self.loops, self.problem, self.layout = _newton_loops, problem, layout
        self.multipliers, self.cross = np.zeros((2, layout.n_rows))
        self.per_sample, self.per_group = np.empty((2, layout.n_samples)), np.zeros((2, problem.n_groups))

    def at(self, s: Floats, theta: Floats) -> RowModel:
        """The model at scores and thresholds; ``multipliers`` are then those of all rows there."""
        problem, layout = self.problem, self.layout
        groups = np.stack([problem.sign, problem.offsets(theta)])
        total, changed = self.loops.model_rows(
            layout.table, groups, problem.charge.code, layout.cost, s, self.multipliers, self.cross, self.per_sample,
            self.per_group,
        )  # fmt: skip
        push = (self.per_sample[1].copy(), self.per_group[1].copy()) if problem.charge.smooth else None
        return RowModel(total, changed, self.per_sample[0], self.per_group[0].copy(), self.cross, push)


def newton(scaled: ScaledProblem, start: Iterate, tol: float, max_iter: int, best: Best | None = None) -> Iterate:
    """Minimise from ``start``; ends when ``best`` accepts, or without it when the objective moves by less than tol."""
    problem, rows = scaled.problem, scaled.rows
    models, nothing = RowModels(problem, scaled.layout), no_rows(scaled)
    w, theta, t = start.w, problem.raise_thresholds(start.theta), start.order_multipliers
    s = rows.scores(w)
    paying = models.at(s, theta)
    value = problem.penalty.of(w) + float(problem.linear @ theta) + paying.charge
    status, iteration = Status.MAX_ITER, start.iterations
    try:
        for iteration in range(start.iterations, start.iterations + max_iter):
            target = _model_minimum(scaled, paying, Iterate(w, theta, np.empty(0), t), nothing)
            if target.status is Status.INTERRUPTED:
                status = Status.INTERRUPTED
                break
            dw, dtheta, t = target.w - w, target.theta - theta, target.order_multipliers
            ds = rows.scores(dw)
            before, step = value, 1.0
            while True:
                paying = models.at(s + step * ds, theta + step * dtheta)
                value = (
                    problem.penalty.of(w + step * dw) + float(problem.linear @ (theta + step * dtheta)) + paying.charge
                )
                if value <= before * (1 + 1e-12) or step < 1e-6:
                    break
                step *= 0.5
            if scaled.verbose:
                print(
                    f"{iteration:4d}  objective {value:.10g}  step {step:.3g}  rows that changed sides {paying.changed}"
                )
            w, theta, s = w + step * dw, theta + step * dtheta, s + step * ds
            near = tol if paying.push is None else tol**0.5  # a smooth charge converges quadratically
            still = paying.changed <= 1e-3 * scaled.layout.n_slacks or before - value <= near * abs(value)
            if best is not None and still:
                point = Iterate(w, theta, models.multipliers.copy(), t, iteration)
                if best(point, s, paying.charge):
                    status = Status.CONVERGED
                    break
            if before - value <= (tol if best is None else 1e-15) * abs(value):
                status = Status.STALLED
                break
    except SingularSystemError:
        status = Status.STALLED
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
    return Iterate(w, theta, models.multipliers, t, iteration + 1, status)


def quadratic_terms(scaled: ScaledProblem, paying: RowModel) -> Settled:
    """The model of the rows as a quadratic in (w, theta), where v = offset + sign * (theta - s)."""
    problem, rows = scaled.problem, scaled.rows
    operator = rows.gram_operator(paying.row_weight.copy())
    group_rows = scaled.group_sums(paying.cross)
    linear_w = -(problem.sign * problem.offset) @ group_rows
    linear_theta = problem.flow(paying.group_weight * problem.offset)
    if paying.push is not None:
        linear_w, linear_theta = linear_w - rows.adjoint(paying.push[0]), linear_theta + problem.flow(paying.push[1])
    return Settled(
        linear_w=linear_w,
        linear_theta=linear_theta,
        H=rows.gram(operator.d) if rows.n_features <= DENSE_LIMIT else operator,
        group_rows=group_rows,
        group_weight=paying.group_weight,
    )


def _model_minimum(scaled: ScaledProblem, paying: RowModel, point: Iterate, nothing: RowLayout) -> Iterate:
    """The minimum of the quadratic model under the order constraints."""
    return quadratic_minimum(scaled.problem, quadratic_terms(scaled, paying), point, nothing)


def quadratic_minimum(problem: IntervalProblem, terms: Settled, point: Iterate, nothing: RowLayout) -> Iterate:
    """The minimum of the penalty and a quadratic in (w, theta) under the order constraints."""
    found = active_set_minimum(problem, terms, point)
    if found is not None:
        return found
    empty = ArrayRows(np.empty((0, len(point.w))))
    return interior_point(problem, empty, nothing, tol=1e-13, settled=terms, start=point, mu=1e-3, balance=1e-12)


def no_rows(scaled: ScaledProblem) -> RowLayout:
    """The layout of a problem on rows that are known by their sums alone."""
    none = np.zeros(len(scaled.problem.bundles), dtype=np.int64)
    return RowLayout(*bundle_table(scaled.problem, none, none), none[:0], np.empty(0), 0)


def solve_by_newton(
    scaled: ScaledProblem, tol: float, max_iter: int, start: Point | None = None
) -> tuple[Iterate, CertifiedPoint]:
    """From ``start``, or from a warm start on samples of growing size, certified on all rows."""
    from hullrank.solvers._block_starts import sample_sizes

    problem = scaled.problem
    sizes = [] if start is not None else sample_sizes(scaled.size, len(problem.linear))
    every_row = problem.charge.smooth and scaled.n_samples * scaled.rows.n_features <= SMALL_COPY
    whole = scaled.copied() if every_row or not sizes else scaled
    rng = np.random.default_rng(0)
    point = _nowhere(scaled) if start is None else scaled.scaled_point(start)
    best = Best(whole, tol)
    for size in sizes:
        point = newton(scaled.sampled(size, rng), point, 1e-4, max_iter)
        if point.status is Status.INTERRUPTED:
            models = RowModels(problem, whole.layout)
            models.at(whole.rows.scores(point.w), point.theta)
            return best.result(replace(point, multipliers=models.multipliers))
    return best.result(newton(whole, point, tol, max_iter, best))


def _nowhere(scaled: ScaledProblem) -> Iterate:
    """Weights of 0, with thresholds about 0 in their order."""
    problem = scaled.problem
    theta = problem.raise_thresholds(np.zeros(len(problem.linear)), room=0.0)
    return Iterate(np.zeros(scaled.rows.n_features), theta - theta.mean(), np.empty(0), np.ones(len(problem.up)))
