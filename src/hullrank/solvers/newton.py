"""Semismooth Newton method for charges with a second derivative (squared hinge, logistic).

Each step minimises the quadratic model of the objective, under the order constraints, over all weights and thresholds.
The model of a squared hinge holds only the rows that pay, and is exact as long as the same rows pay, so that the method
ends in finitely many steps.
"""

import numpy as np
from numpy.typing import NDArray

from hullrank.problem.certificate import CertifiedPoint, Status
from hullrank.problem.intervals import IntervalProblem
from hullrank.problem.layout import RowLayout
from hullrank.problem.statement import Point
from hullrank.solvers._linear_system import DENSE_LIMIT, SingularSystemError
from hullrank.solvers._quadratic_minimum import quadratic_minimum
from hullrank.solvers._scaled import Best, ScaledProblem, scaled_point
from hullrank.solvers.interior_point import Iterate, Settled

Floats = NDArray[np.float64]


class RowModel:
    """The quadratic model of the charges of all rows, sum 1/2 d v^2 + e v over the violations v.

    ``charge`` is their total, ``changed`` the number of slacks that changed sides since the last model, ``multipliers``
    are the derivatives of the charges, and ``cross`` is d, both by row. ``row_weight`` and ``group_weight`` sum d by
    sample and by group, ``row_push`` and ``group_push`` sum sign * e by sample and e by group (0 for a squared hinge).
    """

    def __init__(self, problem: IntervalProblem, layout: RowLayout) -> None:
        from hullrank.solvers import _newton_loops

        self.loops, self.problem, self.layout = _newton_loops, problem, layout
        self.charge, self.changed = 0.0, 0
        self.multipliers, self.cross = np.zeros((2, layout.n_rows))
        self.row_weight, self.row_push = self._per_sample = np.empty((2, layout.n_samples))
        self.group_weight, self.group_push = self._per_group = np.zeros((2, problem.n_groups))

    def move(self, s: Floats, theta: Floats) -> None:
        """Make it the model at the given scores and thresholds."""
        problem, layout = self.problem, self.layout
        groups = np.stack([problem.sign, problem.offsets(theta)])
        self.charge, self.changed = self.loops.model_rows(
            layout.table, groups, problem.charge.code, layout.cost, s, self.multipliers, self.cross, self._per_sample,
            self._per_group,
        )  # fmt: skip


def newton(scaled: ScaledProblem, start: Iterate, tol: float, max_iter: int, best: Best | None = None) -> Iterate:
    """Minimise from ``start``; ends when ``best`` accepts, or without it when the objective moves by less than tol."""
    problem, rows = scaled.problem, scaled.rows
    model = RowModel(problem, scaled.layout)
    w, theta, t = start.w, problem.raise_thresholds(start.theta), start.order_multipliers
    s = rows.scores(w)
    model.move(s, theta)
    value = problem.penalty.of(w) + float(problem.linear @ theta) + model.charge
    status, iteration = Status.MAX_ITER, 0
    try:
        for iteration in range(max_iter):
            target = quadratic_minimum(problem, quadratic_terms(scaled, model), Iterate(w, theta, np.empty(0), t))
            if target.status is Status.INTERRUPTED:
                status = Status.INTERRUPTED
                break
            dw, dtheta, t = target.w - w, target.theta - theta, target.order_multipliers
            ds = rows.scores(dw)
            before, step = value, 1.0
            while True:
                model.move(s + step * ds, theta + step * dtheta)
                value = (
                    problem.penalty.of(w + step * dw) + float(problem.linear @ (theta + step * dtheta)) + model.charge
                )
                if value <= before * (1 + 1e-12) or step < 1e-6:
                    break
                step *= 0.5
            if scaled.verbose:
                print(
                    f"{iteration:4d}  objective {value:.10g}  step {step:.3g}  rows that changed sides {model.changed}"
                )
            w, theta, s = w + step * dw, theta + step * dtheta, s + step * ds
            near = tol**0.5 if problem.charge.smooth else tol  # a smooth charge converges quadratically
            still = model.changed <= 1e-3 * scaled.layout.n_slacks or before - value <= near * abs(value)
            if best is not None and still:
                point = Iterate(w, theta, model.multipliers.copy(), t, iteration)
                if best(point, s, model.charge):
                    status = Status.CONVERGED
                    break
            if before - value <= (tol if best is None else 1e-15) * abs(value):
                status = Status.STALLED
                break
    except SingularSystemError:
        status = Status.STALLED
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
    return Iterate(w, theta, model.multipliers, t, iteration + 1, status)


def quadratic_terms(scaled: ScaledProblem, model: RowModel) -> Settled:
    """The model of the rows as a quadratic in (w, theta), where v = offset + sign * (theta - s)."""
    problem, rows = scaled.problem, scaled.rows
    group_rows, group_weight = scaled.group_sums(model.cross), model.group_weight.copy()
    linear_w = -(problem.sign * problem.offset) @ group_rows
    linear_theta = problem.flow(group_weight * problem.offset)
    if problem.charge.smooth:
        linear_w, linear_theta = linear_w - rows.adjoint(model.row_push), linear_theta + problem.flow(model.group_push)
    weight = model.row_weight.copy()
    H = rows.gram(weight) if rows.n_features <= DENSE_LIMIT else rows.gram_operator(weight)
    return Settled(linear_w, linear_theta, H, group_rows, group_weight)


def solve_by_newton(
    scaled: ScaledProblem, tol: float, max_iter: int, start: Point | None = None
) -> tuple[Iterate, CertifiedPoint]:
    """From ``start``, or from zero weights, on a copy of the rows in class order."""
    copied = scaled.copied()
    point = scaled.origin() if start is None else scaled_point(scaled.problem, start, scaled.factor, scaled.mean)
    best = Best(copied, tol)
    return best.result(newton(copied, point, tol, max_iter, best))
