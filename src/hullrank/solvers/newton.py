"""Semismooth Newton method for charges with a second derivative (squared hinge, logistic).

Each step minimises the quadratic model of the objective, under the order constraints, over all weights and thresholds.
The model of a squared hinge holds only the rows that pay, and is exact as long as the same rows pay, so that the method
ends in finitely many steps.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hullrank.problem.certificate import CertifiedPoint, Status
from hullrank.problem.layout import RowLayout, bundle_table
from hullrank.problem.rows import ArrayRows
from hullrank.solvers._linear_system import DENSE_LIMIT, SingularSystemError
from hullrank.solvers._quadratic_minimum import quadratic_minimum
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


class SmoothRows:
    """Models of a charge that is smooth everywhere: every row pays, and no row has a kink to be sorted by."""

    def __init__(self, scaled: ScaledProblem) -> None:
        from hullrank.solvers import _newton_loops

        self.loops, self.scaled = _newton_loops, scaled
        layout = scaled.layout
        self.a, self.cross = np.empty((2, layout.n_rows))
        self.per_sample, self.per_group = np.empty((2, layout.n_samples)), np.zeros((2, scaled.problem.n_groups))

    def sort(self, s: Floats, theta: Floats) -> RowModel:
        """The model at scores and thresholds."""
        problem, layout = self.scaled.problem, self.scaled.layout
        groups = np.stack([problem.sign, problem.offsets(theta)])
        total = self.loops.model_rows(
            layout.table, groups, layout.cost, s, self.a, self.cross, self.per_sample, self.per_group
        )
        push = self.per_sample[1].copy(), self.per_group[1].copy()
        return RowModel(total, layout.n_rows, self.per_sample[0], self.per_group[0].copy(), self.cross, push)

    def multipliers(self, s: Floats, theta: Floats, kept: RowLayout, kept_multipliers: Floats) -> tuple[Floats, int]:
        """Multipliers of all rows: the derivative of the charge where the last model was asked for."""
        return self.a.copy(), 0


def row_models(scaled: ScaledProblem) -> "RowSorter | SmoothRows":
    """Where the models of a problem's rows come from."""
    return SmoothRows(scaled) if scaled.problem.charge.smooth else RowSorter(scaled)


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

    def sort(self, s: Floats, theta: Floats, width: float = 0.0) -> RowModel:
        """Rows within ``width`` of their kink are kept instead (none if 0)."""
        problem, layout = self.scaled.problem, self.scaled.layout
        self.groups = np.stack([problem.sign, problem.offsets(theta)])
        charge, changed = self.loops.settle(
            layout.table, self.groups, problem.charge.code, layout.cost, s, width, self.keep, self.state, self.cross,
            self.per_sample, self.per_group, self.kept,
        )  # fmt: skip
        return RowModel(charge, changed, self.per_sample[0], self.per_group[0].copy(), self.cross)

    def multipliers(self, s: Floats, theta: Floats, kept: RowLayout, kept_multipliers: Floats) -> tuple[Floats, int]:
        """Multipliers of all rows (those of kept ones given), and how many settled rows changed sides."""
        problem, layout = self.scaled.problem, self.scaled.layout
        groups = np.stack([problem.sign, problem.offsets(theta)])
        a = np.empty(layout.n_rows)
        wrong = self.loops.complete(
            layout.table, groups, problem.charge.code, s, self.state, kept.table, kept_multipliers, a, self.keep
        )
        return a, wrong


def newton(scaled: ScaledProblem, start: Iterate, tol: float, max_iter: int, best: Best | None = None) -> Iterate:
    """Minimise from ``start``; ends when ``best`` accepts, or without it when the objective moves by less than tol."""
    problem, rows = scaled.problem, scaled.rows
    sorter, nothing = row_models(scaled), _no_rows(scaled)
    w, theta, t = start.w, problem.raise_thresholds(start.theta), start.order_multipliers
    s = rows.scores(w)
    paying = sorter.sort(s, theta)
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
                paying = sorter.sort(s + step * ds, theta + step * dtheta)
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
                a, _ = sorter.multipliers(s, theta, nothing, np.empty(0))
                if best(Iterate(w, theta, a, t, iteration), s, paying.charge):
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
    return Iterate(w, theta, a, t, iteration + 1, status)


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
    problem, terms = scaled.problem, quadratic_terms(scaled, paying)
    found = quadratic_minimum(problem, terms, point)
    if found is not None:
        return found
    empty = ArrayRows(np.empty((0, scaled.rows.n_features)))
    return interior_point(problem, empty, nothing, tol=1e-13, settled=terms, start=point, mu=1e-3)


def _no_rows(scaled: ScaledProblem) -> RowLayout:
    none = np.zeros(len(scaled.problem.bundles), dtype=np.int64)
    return RowLayout(*bundle_table(scaled.problem, none, none), none[:0], np.empty(0), 0)


def solve_by_newton(scaled: ScaledProblem, tol: float, max_iter: int) -> tuple[Iterate, CertifiedPoint]:
    """From a warm start on samples of growing size, certified on all rows."""
    from hullrank.solvers.settling import sample_sizes

    problem = scaled.problem
    sizes = sample_sizes(scaled)
    every_row = problem.charge.smooth and scaled.n_samples * scaled.rows.n_features <= SMALL_COPY
    whole = scaled.copied() if every_row or not sizes else scaled
    rng = np.random.default_rng(0)
    theta = problem.raise_thresholds(np.zeros(len(problem.linear)), room=0.0)
    point = Iterate(np.zeros(scaled.rows.n_features), theta - theta.mean(), np.empty(0), np.ones(len(problem.up)))
    best = Best(whole, tol)
    for size in sizes:
        point = newton(scaled.sampled(size, rng), point, 1e-4, max_iter)
        if point.status is Status.INTERRUPTED:
            return best.result(with_all_multipliers(whole, point))
    return best.result(newton(whole, point, tol, max_iter, best))


def with_all_multipliers(scaled: ScaledProblem, point: Iterate) -> Iterate:
    """A point found on some of the rows, with the multipliers that the charge gives to all rows there."""
    sorter, s = row_models(scaled), scaled.rows.scores(point.w)
    sorter.sort(s, point.theta)
    a, _ = sorter.multipliers(s, point.theta, _no_rows(scaled), np.empty(0))
    return replace(point, multipliers=a)
