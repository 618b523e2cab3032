"""Mehrotra's predictor-corrector method for every interval problem.

Each iteration weighs the rows (D per slack, see ``_loops``), factors the Newton matrix with the thresholds eliminated
first, and takes a predictor, a corrector and, where the step is short, a centrality correction of Gondzio's. It stops
when the complementarity is small and the caller's certificate agrees.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hullrank.problem.certificate import Status
from hullrank.problem.intervals import Charge, IntervalProblem
from hullrank.problem.layout import RowLayout
from hullrank.solvers._linear_system import NewtonSystem, SingularSystemError
from hullrank.solvers._rows import ScaledRows

Floats = NDArray[np.float64]
DENSE_LIMIT = 3000  # more columns than this are left to conjugate gradients


@dataclass(frozen=True)
class Settled:
    """What rows outside the solve contribute: linear.(w, theta) + 1/2 quadratic form over (w, thresholds).

    The form is w'Hw - 2 theta'Bw + theta'T theta with B and T summed from the groups' rows and weights.
    """

    linear_w: Floats
    linear_theta: Floats
    H: Any = 0.0  # a matrix, or anything with @ and diagonal() where columns are many
    group_rows: Floats | float = 0.0
    group_weight: Floats | float = 0.0


@dataclass(frozen=True)
class Point:
    """A primal-dual point: weights, thresholds, multipliers over cost per row, multipliers of the order constraints."""

    w: Floats
    theta: Floats
    multipliers: Floats
    order_multipliers: Floats
    iterations: int = 0
    status: Status = Status.STALLED


Accept = Callable[[Point, Floats], bool]


def interior_point(
    problem: IntervalProblem,
    rows: ScaledRows,
    layout: RowLayout,
    *,
    tol: float,
    max_iter: int = 200,
    settled: Settled | None = None,
    start: Point | None = None,
    mu: float = 1.0,
    unit: float = 0.0,
    accept: Accept | None = None,
) -> Point:
    """Minimise over the rows (plus ``settled`` terms) to a relative complementarity of ``tol``.

    ``accept(point, scores)`` may veto the end; ``unit`` stands for |objective| where settled rows hide most of it.
    """
    state = _State(problem, rows, layout, settled, start, mu)
    status, step = Status.MAX_ITER, 0.0
    iteration = 0
    try:
        for iteration in range(max_iter + 1):
            state.weigh(step)
            if not np.isfinite(state.complementarity + state.objective):
                status = Status.STALLED
                break
            if state.close(tol, unit) and (accept is None or accept(state.point(iteration), state.s)):
                status = Status.CONVERGED
                break
            if iteration == max_iter or (iteration > 5 and step < 1e-10):
                status = Status.MAX_ITER if iteration == max_iter else Status.STALLED
                break
            state.factor()
            step = state.choose_step()
    except SingularSystemError:
        status = Status.STALLED
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
    return state.point(iteration, status)


class _State:
    """The current point, its residuals, and the direction being built."""

    def __init__(
        self, problem: IntervalProblem, rows: ScaledRows, layout: RowLayout, settled: Settled | None,
        start: Point | None, mu: float,
    ) -> None:  # fmt: skip
        from hullrank.solvers import _loops

        self.loops = _loops
        self.problem, self.rows, self.layout = problem, rows, layout
        self.system = NewtonSystem(problem)
        n, q, n_groups, R, S = rows.n_features, len(problem.linear), problem.n_groups, layout.n_rows, layout.n_slacks
        self.settled = settled or Settled(np.zeros(n), np.zeros(q))
        self.quadratic = not np.isscalar(self.settled.group_weight)
        if self.quadratic:
            self.settled_B = self.system.sum_by_threshold(self.settled.group_rows)  # type: ignore[arg-type]
            self.settled_T = self.system.sum_by_threshold(self.settled.group_weight)  # type: ignore[arg-type]
        self.linear_theta = problem.linear + self.settled.linear_theta
        self._start(start, mu, n, R, S)
        self.move, self.dxi = np.zeros((2, R)), np.zeros(S)
        self.rest, self.rest_xi, self.cross = np.empty(R), np.empty(S), np.empty(R)
        self.per_sample, self.per_group = np.empty((2, layout.n_samples)), np.empty((2, n_groups))
        self.per_bundle = np.zeros(len(layout.table))
        self.ds: Floats | float = 0.0
        self.noisy, self.dual_residual = False, np.inf
        self.iteration = -1

    def _start(self, start: Point | None, mu: float, n: int, R: int, S: int) -> None:
        """On the central path at mu, from the starting weights and thresholds."""
        problem, layout = self.problem, self.layout
        total = max(float(layout.cost.sum()), float(np.sum(self.settled.group_weight)), 1e-300)
        self.order_price = total / max(problem.n_groups, 1)  # weights of order constraints and |w_j| on the central path
        self.l1_price = total / max(n, 1)
        if start is None:
            self.w, self.theta = np.zeros(n), problem.raise_thresholds(np.zeros(len(problem.linear)), room=0.1)
            if (q := problem.n_thresholds) > 0:
                self.theta[:q] -= self.theta[:q].mean()
        else:
            self.w, self.theta = start.w.copy(), start.theta.copy()
        self.s = self.rows.scores(self.w)
        offsets = problem.offsets(self.theta)
        if start is None and problem.charge is not Charge.HARD:  # many classes: start at the size of the margins
            mu = max(mu, float(np.mean(np.abs(offsets))))
        self.multipliers, self.slack = np.empty((2, R)), np.empty((2, S))
        self.groups = np.stack([problem.sign, offsets])
        self.loops.central_point(
            layout.table, self.groups, int(problem.charge), mu, self.s, self.multipliers, self.slack
        )
        self.zt = np.maximum(problem.order_gaps(self.theta) - problem.gap, 0.1 * min(mu, 1.0))
        self.t = self.order_price * min(mu, 1.0) / self.zt
        if problem.l1:
            self.parts = np.stack([np.maximum(self.w, 0), np.maximum(-self.w, 0)]) + mu  # w = parts[0] - parts[1]
            self.caps = np.ones((2, n))  # 1 - gamma, 1 + gamma with gamma = X'(sign alpha)
            self.w = self.parts[0] - self.parts[1]
        paired = layout.table[layout.table[:, 3] >= 0]
        shared = sum(float(layout.cost[q0 : q0 + k].sum()) for q0, k in paired[:, [6, 1]].tolist())
        cost = float(layout.cost.sum())
        self.weight = (
            shared
            + cost * (2 if problem.charge is Charge.HINGE else 1)
            + self.order_price * len(self.t)
            + (2 * n * self.l1_price if problem.l1 else 0.0)
        )

    def point(self, iteration: int, status: Status = Status.CONVERGED) -> Point:
        """The current point as a record."""
        return Point(self.w, self.theta, self.multipliers[0], self.t, iteration, status)

    def weigh(self, step: float) -> None:
        """Take the step in the rows, weigh them, and compute the residuals of the optimality conditions."""
        problem, settled = self.problem, self.settled
        self.iteration += 1
        self.s = self.s + step * self.ds
        self.groups[1] = problem.offsets(self.theta)
        complementarity, lost, self.row_residual = self.loops.advance(
            self.layout.table, self.groups, int(problem.charge), self.layout.cost, self.s, self.multipliers, self.slack,
            step, self.move, self.dxi, self.per_sample, self.cross, self.per_group, self.per_bundle,
        )  # fmt: skip
        self.row_weight, self.group_weight, self.totals = (
            self.per_sample[0].copy(), self.per_group[0].copy(), self.per_group[1].copy(),
        )  # fmt: skip
        w, theta, q = self.w, self.theta, problem.n_thresholds
        gamma = (self.caps[1] - self.caps[0]) / 2 if problem.l1 else w
        self.rw = self.rows.adjoint(self.per_sample[1]) - gamma - settled.linear_w
        self.rtheta = problem.order_adjoint(self.t) - problem.flow(self.totals) - self.linear_theta
        penalty = np.abs(w).sum() if problem.l1 else 0.5 * w @ w
        self.objective = penalty + settled.linear_w @ w + self.linear_theta @ theta + lost
        if self.quadratic:
            Hw, Bw, T = settled.H @ w, self.settled_B @ w, self.settled_T
            self.rw += theta[:q] @ self.settled_B - Hw
            self.rtheta[:q] += Bw - T * theta[:q]
            self.objective += 0.5 * w @ Hw - theta[:q] @ Bw + 0.5 * T @ theta[:q] ** 2
        complementarity += self.t @ self.zt + (float((self.parts * self.caps).sum()) if problem.l1 else 0.0)
        self.complementarity = float(complementarity)
        self.mu = self.complementarity / self.weight if self.weight else 0.0
        self.order_residual = problem.order_gaps(theta) - problem.gap - self.zt
        residual = max(np.abs(self.rw).max(initial=0.0), np.abs(self.rtheta).max(initial=0.0))
        rounding = 1e-12 * self.totals.max(initial=0.0)
        if self.iteration > 2 and residual > 2 * (1 - step) * self.dual_residual + rounding:
            self.noisy = True  # rounding in D shows in the dual equation: refine every direction from now on
        self.dual_residual = residual

    def close(self, tol: float, unit: float) -> bool:
        """Whether complementarity and residuals are small enough to ask for a certificate."""
        floor = 0.5e-12 * float(self.totals.sum()) ** 2 if self.problem.homogeneous else 0.0
        target = tol * max(unit or abs(self.objective), floor)
        reach = 1 + np.abs(self.groups[1]).max(initial=0.0)
        force = self.layout.cost.sum() + np.abs(self.settled.linear_w).max(initial=0.0) + np.abs(self.linear_theta).max(initial=0.0)
        return bool(
            self.complementarity <= target
            and self.row_residual <= 1e-6 * reach
            and self.dual_residual <= 1e-6 * force
        )

    def factor(self) -> None:
        """Factor the Newton matrix at the current weights."""
        settled, rows, d = self.settled, self.rows, self.row_weight
        self.order_weight = self.t / self.zt
        n = rows.n_features
        self.curvature = 1 / (self.parts / self.caps).sum(axis=0) if self.problem.l1 else np.ones(n)
        group_rows = rows.group_sums(self.layout, self.cross) + settled.group_rows
        args = (group_rows, self.group_weight + settled.group_weight, self.per_bundle, self.order_weight)
        if n <= DENSE_LIMIT:
            H = rows.gram(d) + settled.H
            H[np.arange(n), np.arange(n)] += self.curvature
            self.system.factor(H, *args)
        else:
            operators = [rows.gram_operator(d)] + ([settled.H] if self.quadratic else [])
            curvature = self.curvature
            self.system.factor(
                lambda v: sum((op @ v for op in operators), curvature * v),
                *args,
                diagonal=sum((op.diagonal() for op in operators), curvature),
            )

    def choose_step(self) -> float:
        """Predictor, corrector, and what else a short step asks for; moves w, theta and t, and returns the length."""
        self._direction(0.0, second_order=False)
        step = min(1.0, 1 / self.worst)
        left = self.complementarity + step * self.first_order + step * step * self.second_order
        target = self.mu * (max(0.0, left) / self.complementarity) ** 3 if self.complementarity > 0 else 0.0
        step = self._direction(target, second_order=True)
        if step <= 0.9 and not self.problem.l1:
            step = self._direction(target, reach=min(1.0, 1.5 * step + 0.1))
        if step <= 0.1:
            step = self._direction(0.5 * self.mu)
        self.w = self.w + step * self.dw
        self.theta = self.theta + step * self.dtheta
        self.t = self.t + step * self.dt
        self.zt = self.zt + step * self.dzt
        if self.problem.l1:
            self.parts = self.parts + step * self.dparts
            self.caps = self.caps + step * np.stack([-self.dgamma, self.dgamma])
            self.w = self.parts[0] - self.parts[1]
        return step

    def _direction(self, target: float, second_order: bool = False, reach: float = 0.0) -> float:
        """Solve for the direction towards products of ``target``; returns the step that stays inside the cone."""
        problem, layout = self.problem, self.layout
        self.loops.right_side(
            layout.table, self.groups, int(problem.charge), layout.cost, self.s, self.multipliers, self.slack, target,
            float(second_order), reach, self.move, self.dxi, self.rest, self.rest_xi, self.per_sample, self.per_group,
        )  # fmt: skip
        self._order_right_side(target, second_order, reach)
        push = self._l1_right_side(target, second_order) if problem.l1 else 0.0
        self.dw, self.dtheta = self.system.solve(
            self.rw + self.rows.adjoint(self.per_sample[1]) + push,
            self.rtheta - problem.flow(self.per_group[1]) + problem.order_adjoint(self.order_push),
        )
        self.ds = self.rows.scores(self.dw)
        room = problem.order_gaps(self.dtheta)
        self.dzt = room + self.order_residual
        self.dt = self.order_push - self.order_weight * room
        if problem.l1:
            self.dgamma = self.curvature * self.dw - push
            self.dparts = (self.l1_rest + self.parts * np.stack([self.dgamma, -self.dgamma])) / self.caps
        self._measure(self.dtheta, self.ds, refine=False)
        if self.noisy and target > 0:
            self._refine()
        return min(1.0, 0.995 / self.worst)

    def _order_right_side(self, target: float, second_order: bool, reach: float) -> None:
        goal = target * self.order_price
        if reach:
            product = (self.t + reach * self.dt) * (self.zt + reach * self.dzt)
            self.order_rest = self.order_rest + np.maximum(np.clip(product, 0.1 * goal, 10 * goal) - product, -10 * goal) / self.t
        else:
            self.order_rest = (goal - (self.dt * self.dzt if second_order else 0.0)) / self.t
        self.order_push = self.order_weight * (self.order_rest - self.zt - self.order_residual)

    def _l1_right_side(self, target: float, second_order: bool) -> Floats:
        self.l1_rest = target * self.l1_price - self.parts * self.caps
        if second_order:
            self.l1_rest = self.l1_rest + self.dparts * np.stack([self.dgamma, -self.dgamma])
        forward, backward = self.l1_rest / self.caps
        return self.curvature * (forward - backward)

    def _measure(self, dtheta: Floats, ds: Any, refine: bool) -> None:
        """Row steps, the longest step inside all cones, and the complementarity along it."""
        worst, first, second = self.loops.row_steps(
            self.layout.table, self.groups, self.problem.shifts(dtheta), int(self.problem.charge), self.layout.cost,
            self.s, ds, self.multipliers, self.slack, self.rest, self.rest_xi, self.move, self.dxi, refine,
        )  # fmt: skip
        worst = max(worst, np.max(-self.dt / self.t, initial=0.0), np.max(-self.dzt / self.zt, initial=0.0))
        self.first_order = first + self.t @ self.dzt + self.zt @ self.dt
        self.second_order = second + self.dt @ self.dzt
        if self.problem.l1:
            dcaps = np.stack([-self.dgamma, self.dgamma])
            worst = max(worst, float((-self.dparts / self.parts).max()), float((-dcaps / self.caps).max()))
            self.first_order += float((self.dparts * self.caps + self.parts * dcaps).sum())
            self.second_order += float((self.dparts * dcaps).sum())
        self.worst = worst

    def _refine(self) -> None:
        """One step of iterative refinement: the dual equation otherwise holds to D * eps * |s| only."""
        problem, settled, q = self.problem, self.settled, self.problem.n_thresholds
        self.loops.spread(
            self.layout.table, self.groups, self.layout.cost, self.move[0], self.per_sample, self.per_group
        )
        gained = self.dgamma if problem.l1 else self.dw
        ew = self.rw - gained + self.rows.adjoint(self.per_sample[1])
        etheta = self.rtheta - problem.flow(self.per_group[1]) + problem.order_adjoint(self.dt)
        if self.quadratic:
            ew += self.dtheta[:q] @ self.settled_B - settled.H @ self.dw
            etheta[:q] += self.settled_B @ self.dw - self.settled_T * self.dtheta[:q]
        fw, ftheta = self.system.solve(ew, etheta)
        fs = self.rows.scores(fw)
        self.dw, self.dtheta, self.ds = self.dw + fw, self.dtheta + ftheta, self.ds + fs
        self.dt = self.dt - self.order_weight * problem.order_gaps(ftheta)
        self.dzt = problem.order_gaps(self.dtheta) + self.order_residual
        if problem.l1:
            gain = self.curvature * fw
            self.dgamma = self.dgamma + gain
            self.dparts = self.dparts + self.parts * np.stack([gain, -gain]) / self.caps
        self._measure(ftheta, fs, refine=True)
