"""Semismooth Newton method for squared charges: the Hessian holds only the rows that pay.

Each step minimises the quadratic model of the objective, under the order constraints, over all weights and
thresholds; the model is exact as long as the same rows pay, so that the method ends in finitely many steps.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hullrank.problem.certificate import CertifiedPoint, Status
from hullrank.problem.layout import RowLayout, bundle_table
from hullrank.solvers._linear_system import DENSE_LIMIT, SingularSystemError, newton_system
from hullrank.solvers._rows import ScaledRows
from hullrank.solvers._scaled import Best, ScaledProblem
from hullrank.solvers.interior_point import Point, Settled, interior_point

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PayingRows:
    """Which rows pay at given scores and thresholds, and what they add to the Hessian."""

    charge: float
    changed: int
    row_weight: Floats
    group_weight: Floats
    cross: Floats


class RowSorter:
    """Finds the paying rows; keeps its work arrays between calls."""

    def __init__(self, scaled: ScaledProblem) -> None:
        from hullrank.solvers import _settling_loops

        self.loops, self.scaled = _settling_loops, scaled
        layout = scaled.layout
        self.keep = np.zeros(layout.n_slacks, dtype=np.bool_)
        self.state = np.zeros(layout.n_slacks, dtype=np.int8)
        self.kept = np.zeros(len(layout.table), dtype=np.int64)
        self.cross = np.empty(layout.n_rows)
        self.per_sample = np.empty((2, layout.n_samples))
        self.per_group = np.empty((2, scaled.problem.n_groups))

    def sort(self, s: Floats, theta: Floats, width: float = 0.0) -> PayingRows:
        """Rows within ``width`` of their kink are kept instead (none if 0)."""
        problem, layout = self.scaled.problem, self.scaled.layout
        self.groups = np.stack([problem.sign, problem.offsets(theta)])
        charge, changed = self.loops.settle(
            layout.table, self.groups, int(problem.charge), layout.cost, s, width, self.keep, self.state, self.cross,
            self.per_sample, self.per_group, self.kept,
        )  # fmt: skip
        return PayingRows(charge, changed, self.per_sample[0], self.per_group[0].copy(), self.cross)

    def multipliers(self, s: Floats, theta: Floats, kept: RowLayout, kept_multipliers: Floats) -> tuple[Floats, int]:
        """Multipliers of all rows (those of kept ones given), and how many settled rows changed sides."""
        problem, layout = self.scaled.problem, self.scaled.layout
        groups = np.stack([problem.sign, problem.offsets(theta)])
        a = np.empty(layout.n_rows)
        wrong = self.loops.complete(
            layout.table, groups, int(problem.charge), s, self.state, kept.table, kept_multipliers, a, self.keep
        )
        return a, wrong


def newton(scaled: ScaledProblem, start: Point, tol: float, max_iter: int, best: Best | None = None) -> Point:
    """Minimise from ``start``; ends when ``best`` accepts, or without it when the objective moves by less than tol."""
    problem, rows = scaled.problem, scaled.rows
    sorter, nothing = RowSorter(scaled), _no_rows(scaled)
    w, theta, t = start.w, problem.raise_thresholds(start.theta), start.order_multipliers
    s = rows.scores(w)
    paying = sorter.sort(s, theta)
    value = scaled.penalty(w) + float(problem.linear @ theta) + paying.charge
    status, iteration = Status.MAX_ITER, start.iterations
    try:
        for iteration in range(start.iterations, start.iterations + max_iter):
            target = _model_minimum(scaled, paying, Point(w, theta, np.empty(0), t), nothing)
            if target.status is Status.INTERRUPTED:
                status = Status.INTERRUPTED
                break
            dw, dtheta, t = target.w - w, target.theta - theta, target.order_multipliers
            ds = rows.scores(dw)
            before, step = value, 1.0
            while True:
                paying = sorter.sort(s + step * ds, theta + step * dtheta)
                value = scaled.penalty(w + step * dw) + float(problem.linear @ (theta + step * dtheta)) + paying.charge
                if value <= before * (1 + 1e-12) or step < 1e-6:
                    break
                step *= 0.5
            if scaled.verbose:
                print(
                    f"{iteration:4d}  objective {value:.10g}  step {step:.3g}  rows that changed sides {paying.changed}"
                )
            w, theta, s = w + step * dw, theta + step * dtheta, s + step * ds
            still = paying.changed <= 1e-3 * len(sorter.state) or before - value <= tol * abs(value)
            if best is not None and still:
                a, _ = sorter.multipliers(s, theta, nothing, np.empty(0))
                if best(Point(w, theta, a, t, iteration), s):
                    status = Status.CONVERGED
                    break
            if before - value <= (tol if best is None else 1e-15) * abs(value):
                status = Status.STALLED
                break
    except SingularSystemError:
        status = Status.STALLED
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
    a, _ = sorter.multipliers(s, theta, nothing, np.empty(0))
    return Point(w, theta, a, t, iteration + 1, status)


def quadratic_terms(scaled: ScaledProblem, paying: PayingRows) -> Settled:
    """Paying rows of a squared charge as the quadratic cost * (o - sign s)^2 in (w, theta)."""
    problem, rows = scaled.problem, scaled.rows
    operator = rows.gram_operator(paying.row_weight.copy())
    group_rows = rows.group_sums(scaled.layout)(paying.cross)
    return Settled(
        linear_w=-(problem.sign * problem.offset) @ group_rows,
        linear_theta=problem.flow(paying.group_weight * problem.offset),
        H=rows.gram(operator.d) if rows.n_features <= DENSE_LIMIT else operator,
        group_rows=group_rows,
        group_weight=paying.group_weight,
    )


def _model_minimum(scaled: ScaledProblem, paying: PayingRows, point: Point, nothing: RowLayout) -> Point:
    """The minimum of the quadratic model under the order constraints."""
    problem, terms = scaled.problem, quadratic_terms(scaled, paying)
    n = scaled.rows.n_features
    if len(problem.up):
        empty = ScaledRows(np.empty((0, n)))
        return interior_point(problem, empty, nothing, tol=1e-13, settled=terms, start=point, mu=1e-3)
    system: Any = newton_system(problem, n)
    terms = replace(terms, group_weight=terms.group_weight + 1e-10 * np.max(terms.group_weight, initial=0.0))
    w, theta = point.w, point.theta
    B, T = problem.sum_by_threshold(terms.group_rows), problem.sum_by_threshold(terms.group_weight)
    rw = -(w + terms.H @ w - theta @ B + terms.linear_w)
    rtheta = -(T * theta - B @ w + terms.linear_theta)
    nobody = np.zeros(len(problem.bundles))
    if n <= DENSE_LIMIT:
        system.factor(terms.H + np.eye(n), terms.group_rows, terms.group_weight, nobody)
    else:
        diagonal = terms.H.diagonal() + 1.0
        system.factor(lambda v: terms.H @ v + v, terms.group_rows, terms.group_weight, nobody, diagonal)
    dw, dtheta = system.solve(rw, rtheta)
    return Point(w + dw, theta + dtheta, np.empty(0), np.zeros(0))


def _no_rows(scaled: ScaledProblem) -> RowLayout:
    none = np.zeros(len(scaled.problem.bundles), dtype=np.int64)
    return RowLayout(*bundle_table(scaled.problem, none, none), none[:0], np.empty(0), 0)


def solve_by_newton(scaled: ScaledProblem, tol: float, max_iter: int) -> tuple[Point, CertifiedPoint]:
    """From a warm start on samples of growing size, certified on all rows."""
    from hullrank.solvers.settling import sample_sizes

    problem = scaled.problem
    sizes = sample_sizes(scaled)
    whole = scaled if sizes else scaled.copied()
    rng = np.random.default_rng(0)
    theta = problem.raise_thresholds(np.zeros(len(problem.linear)), room=0.0)
    point = Point(np.zeros(scaled.rows.n_features), theta - theta.mean(), np.empty(0), np.ones(len(problem.up)))
    best = Best(whole, tol)
    for size in sizes:
        point = newton(scaled.sampled(size, rng), point, 1e-4, max_iter)
        if point.status is Status.INTERRUPTED:
            return best.result(with_all_multipliers(whole, point))
    return best.result(newton(whole, point, tol, max_iter, best))


def with_all_multipliers(scaled: ScaledProblem, point: Point) -> Point:
    """A point found on some of the rows, with the multipliers that the charge gives to all rows there."""
    sorter, s = RowSorter(scaled), scaled.rows.scores(point.w)
    sorter.sort(s, point.theta)
    a, _ = sorter.multipliers(s, point.theta, _no_rows(scaled), np.empty(0))
    return replace(point, multipliers=a)
