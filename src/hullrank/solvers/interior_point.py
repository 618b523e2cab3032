"""Mehrotra's predictor-corrector method for every interval problem.

Each iteration weighs the rows (D per slack, see ``_loops``), factors the Newton matrix with the thresholds eliminated
first, and takes a predictor and a corrector, or, where their step is short, a step towards the central path. It stops
when the complementarity is small and the caller's certificate agrees.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hullrank._progress import tell
from hullrank.problem.certificate import Status
from hullrank.problem.charges import Charge
from hullrank.problem.intervals import IntervalProblem
from hullrank.problem.layout import GROUP, ROW, SLACK, START, RowLayout
from hullrank.problem.rows import Rows
from hullrank.solvers._central_path import central_point, hard_rows
from hullrank.solvers._linear_system import SingularSystemError
from hullrank.solvers._newton_equations import FewColumns, newton_equations

Floats = NDArray[np.float64]
# The complementarity at which nu and sum-of-margins problems start, in units of rms|x| = 1: a linear term of about 1
# drives their solution, which is small beside that of fixed margins of 1.
DRIVEN_START = 0.01
REFINEMENTS = 2  # steps of iterative refinement of a direction, once rounding shows; one leaves twice as many stalls
PATIENCE = 10  # iterations at a thousandth of the tolerance after which rounding alone is what keeps a gap open


@dataclass(frozen=True)
class Settled:
    """What rows outside the solve contribute: linear.(w, theta) + 1/2 quadratic form over (w, theta), rho included.

    The form is w'Hw + sum_g (T_g o_g^2 - 2 sign_g o_g R_g.w) with o = E theta (see ``IntervalProblem.shifts``), and R
    and T the groups' sums of rows and weights.
    """

    linear_w: Floats
    linear_theta: Floats
    H: Any = 0.0  # a matrix, or anything with @ and diagonal() where columns are many
    group_rows: Any = 0.0
    group_weight: Any = 0.0

    def curved(self, problem: IntervalProblem, w: Floats, theta: Floats) -> tuple[Floats, Floats]:
        """The gradient of half the quadratic form in w and in theta; the form itself is their product with both."""
        o, R = problem.shifts(theta), self.group_rows
        return self.H @ w - (problem.sign * o) @ R, problem.flow(self.group_weight * o - problem.sign * (R @ w))


@dataclass(frozen=True)
class Iterate:
    """A primal-dual point: weights, thresholds, multipliers over cost per row, multipliers of the order constraints."""

    w: Floats
    theta: Floats
    multipliers: Floats
    order_multipliers: Floats
    iterations: int = 0
    status: Status = Status.STALLED


def interior_point(
    problem: IntervalProblem,
    rows: Rows,
    layout: RowLayout,
    *,
    tol: float,
    max_iter: int = 200,
    settled: Settled | None = None,
    start: Iterate | None = None,
    mu: float = 1.0,
    unit: float = 0.0,
    balance: float = 1e-6,
    accept: Callable[[Iterate, Floats], bool] | None = None,
    verbose: int = 0,
) -> Iterate:
    """Minimise over the rows (plus ``settled`` terms) to a relative complementarity of ``tol``.

    ``accept(point, scores)`` may veto the end; ``unit`` stands for |objective| where settled rows hide most of it, and
    ``balance`` is the part of all forces on (w, theta) that may be left over.
    """
    state = _State(problem, rows, layout, settled, start, mu)
    safe = state.w, state.theta
    status, step = Status.MAX_ITER, 0.0
    iteration = beyond = 0
    try:
        for iteration in range(max_iter + 1):
            state.weigh(step)
            if not math.isfinite(state.complementarity + state.objective):
                raise ZeroDivisionError
            safe = state.w, state.theta
            tell(state.relative_gap, state.report, verbose)
            if state.close(tol, unit, balance) and (
                accept is None or accept(state.point(iteration), state.s[: state.m])
            ):
                status = Status.CONVERGED
                break
            beyond += state.is_small(1e-3 * tol, unit)
            if iteration == max_iter or (iteration > 5 and step < 1e-10) or beyond > PATIENCE:
                status = Status.MAX_ITER if iteration == max_iter else Status.STALLED
                break
            step = state.choose_step()
    except SingularSystemError:
        status = Status.STALLED
    except ZeroDivisionError:  # a compiled pass divided by a multiplier or slack that had vanished
        nothing = np.zeros(layout.n_rows), np.zeros(len(problem.up))
        return Iterate(*safe, *nothing, iteration, Status.STALLED)
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
    return state.point(iteration, status)


class _State:
    """The current point, its residuals, and the direction being built.

    Order constraints stand among the rows: groups, rows and slacks of the problem come first, then one of each per
    order constraint, with a hard charge and a score of 0.
    """

    def __init__(
        self, problem: IntervalProblem, rows: Rows, layout: RowLayout, settled: Settled | None,
        start: Iterate | None, mu: float,
    ) -> None:  # fmt: skip
        from hullrank.solvers import _loops

        self.loops, self.problem, self.rows, self.layout = _loops, problem, rows, layout
        self.N: Any = problem.incidence
        self.m, n, E = layout.n_samples, rows.n_features, len(problem.up)
        self.settled = settled or Settled(np.zeros(n), np.zeros(len(problem.linear)))
        self.equations = newton_equations(problem, rows, layout, self.settled)
        self.quadratic = not np.isscalar(self.settled.group_weight)
        self.linear_theta = problem.linear + self.settled.linear_theta
        self.total = max(float(layout.cost.sum()), float(np.sum(self.settled.group_weight)), 1e-300)
        self.table, self.cost, self.price = _with_order_rows(problem, layout, self.total)
        R, S = layout.n_rows + E, layout.n_slacks + E
        self.multipliers, self.slack = np.empty((2, R)), np.empty((2, S))
        self.move, self.dxi = np.zeros((2, R)), np.zeros(S)
        self.ratio, self.bend = np.empty(R), np.empty((2, S))
        self.rest, self.rest_xi, self.cross = np.empty(R), np.empty(S), np.empty(R)
        self.per_sample, self.per_group = np.zeros((3, self.m + E)), np.empty((3, problem.n_groups + E))
        self.per_bundle = np.zeros(len(self.table))
        self.s, self.ds = np.zeros(self.m + E), np.zeros(self.m + E)
        self.groups = np.ones((2, problem.n_groups + E))
        self.groups[0, : problem.n_groups] = problem.sign
        self.offset = np.concatenate([problem.offset, problem.gap])
        self.curvature = np.ones(n)
        self._row_arrays = (
            self.table, self.groups, self.cost, self.s, self.multipliers, self.slack, self.ratio, self.bend,
            self.rest, self.rest_xi, self.move, self.dxi,
        )  # fmt: skip
        self.noisy, self.dual_residual, self.iteration = False, np.inf, -1
        self._start(start, mu)

    def _start(self, start: Iterate | None, mu: float) -> None:
        """On the central path at mu, from the starting weights and thresholds.

        Thresholds that must keep a distance start at twice of it, strictly inside their order constraints: with
        thousands of classes, constraints that start violated leave no room for more than tiny steps.
        """
        problem, n, R = self.problem, self.rows.n_features, self.layout.n_rows
        inside = start is None and problem.charge is not Charge.HARD and bool(problem.gap.any())
        if start is None:
            mu = min(mu, DRIVEN_START) if problem.homogeneous else mu
            room = float(problem.gap.max()) if inside else min(0.1, mu)
            self.w, self.theta = np.zeros(n), problem.raise_thresholds(np.zeros(len(problem.linear)), room=room)
            if (q := problem.n_thresholds) > 0:
                self.theta[:q] -= self.theta[:q].sum() / q
        else:
            self.w, self.theta = start.w.copy(), start.theta.copy()
        self.s[: self.m] = self.rows.scores(self.w)
        np.add(self.offset, self.N @ self.theta, out=self.groups[1])
        if start is None and problem.charge is not Charge.HARD:  # many classes: start at the size of the margins
            sizes = np.abs(self.groups[1, : problem.n_groups])
            sizes = sizes**2 if inside and problem.charge is Charge.SQUARED_HINGE else sizes
            mu = max(mu, float(sizes.sum()) / max(problem.n_groups, 1))
        group = self.layout.row_group
        margins = problem.sign[group] * self.s[self.layout.row_sample] - self.groups[1, group]
        self.multipliers[:, :R], self.slack[:, : self.layout.n_slacks] = central_point(
            problem.charge, self.layout, margins, mu
        )
        gaps = -self.groups[1, problem.n_groups :]
        self.multipliers[:, R:] = (mu / gaps, gaps) if inside else hard_rows(gaps, mu)
        self.slack[0, self.layout.n_slacks :], self.slack[1, self.layout.n_slacks :] = 1.0, 0.0
        if start is not None and start.iterations:
            a = np.maximum(start.order_multipliers / self.price, self.multipliers[0, R:])
            self.multipliers[0, R:], self.multipliers[1, R:] = a, mu / a
        self.weight = float(self.layout.row_cost.sum()) + self.price * len(problem.up)
        if problem.charge is Charge.HINGE:
            self.weight += float(self.layout.cost.sum())
        if problem.l1:
            self.l1_price = self.total / max(n, 1)  # weight of |w_j| on the central path
            self.weight += 2 * n * self.l1_price
            room = mu * min(1.0, self.l1_price)
            self.parts = np.stack([np.maximum(self.w, 0), np.maximum(-self.w, 0)]) + room  # w = parts[0] - parts[1]
            self.caps = np.ones((2, n))  # 1 - gamma, 1 + gamma with gamma = X'(sign alpha)
            self.w = self.parts[0] - self.parts[1]

    def point(self, iteration: int, status: Status = Status.CONVERGED) -> Iterate:
        """The current point as a record."""
        R = self.layout.n_rows
        a = self.multipliers[0]
        return Iterate(self.w, self.theta, a[:R], self.price * a[R:], iteration, status)

    def weigh(self, step: float) -> None:
        """Take the step in the rows, weigh them, and compute the residuals of the optimality conditions."""
        problem, settled = self.problem, self.settled
        self.iteration += 1
        if problem.l1:  # w is the difference of two positive parts, from which accumulated scores would drift away
            self.s[: self.m], self.ds[: self.m] = self.rows.scores(self.w), 0.0
        np.add(self.offset, self.N @ self.theta, out=self.groups[1])
        complementarity, lost, self.row_residual = self.loops.advance(
            self.table, self.groups, self.cost, self.s, self.ds, self.multipliers, self.slack, step, self.move,
            self.dxi, self.ratio, self.bend, self.rest, self.rest_xi, self.per_sample, self.cross, self.per_group,
            self.per_bundle,
        )  # fmt: skip
        w, theta = self.w, self.theta
        gamma = (self.caps[1] - self.caps[0]) / 2 if problem.l1 else w
        self.rw, self.rtheta, linear, self.sent = self.equations.residuals(
            self.per_sample, self.per_group, gamma, w, theta, self.linear_theta
        )
        self.objective = float(np.abs(w).sum() if problem.l1 else 0.5 * w @ w) + linear + lost
        if self.quadratic:
            gw, gtheta = settled.curved(problem, w, theta)
            self.rw -= gw
            self.rtheta -= gtheta
            self.objective += 0.5 * float(w @ gw + theta @ gtheta)
        if problem.l1:
            complementarity += float((self.parts * self.caps).sum())
        self.complementarity = complementarity
        self.mu = self.complementarity / self.weight if self.weight else 0.0
        residual = math.sqrt(self.rw @ self.rw + self.rtheta @ self.rtheta)
        if self.iteration > 2 and residual > 2 * (1 - step) * self.dual_residual + 1e-12 * self.sent:
            self.noisy = True  # rounding in D shows in the dual equation: refine every direction from now on
        self.dual_residual = residual

    @property
    def relative_gap(self) -> float:
        """Complementarity beside the objective."""
        return self.complementarity / abs(self.objective) if self.objective else math.inf

    def report(self) -> str:
        """A line on the iteration."""
        return f"{self.iteration:4d}  objective {self.objective:.10g}  complementarity {self.complementarity:.2e}"

    def is_small(self, tol: float, unit: float) -> bool:
        """Whether the complementarity is small beside the objective."""
        floor = 0.5e-12 * self.sent**2 if self.problem.homogeneous else 0.0
        return self.complementarity <= tol * max(unit or abs(self.objective), floor)

    def close(self, tol: float, unit: float, balance: float) -> bool:
        """Whether complementarity and residuals are small enough to ask for a certificate."""
        if not self.is_small(tol, unit):
            return False
        force = self.total + _largest(self.settled.linear_w) + _largest(self.linear_theta) + self.problem.l1
        return self.row_residual <= 1e-6 * (1 + _largest(self.groups[1])) and self.dual_residual <= balance * force

    def choose_step(self) -> float:
        """Predictor and corrector, or a centring step where they are short; moves w and theta, returns the length."""
        if isinstance(self.equations, FewColumns) and not (self.problem.l1 or self.noisy):
            self.dw, self.dtheta, self.worst = self.equations.predict_and_correct(
                self.rw, self.rtheta, self.ds, self.curvature, self._row_arrays, self.per_sample, self.cross,
                self.per_group, self.per_bundle, self.complementarity, self.mu,
            )  # fmt: skip
            step = min(1.0, 0.9995 / self.worst)
        else:
            step = self._predict_and_correct()
        if step <= 0.1:
            step = self._correct(0.5 * self.mu)
        self.w = self.w + step * self.dw
        self.theta = self.theta + step * self.dtheta
        if self.problem.l1:
            self.parts = self.parts + step * self.dparts
            self.caps = self.caps + step * np.stack([-self.dgamma, self.dgamma])
            self.w = self.parts[0] - self.parts[1]
        return step

    def _predict_and_correct(self) -> float:
        """Factor the Newton matrix, and replace the predictor by its corrector; returns the step inside the cone."""
        if self.problem.l1:
            self.curvature = 1 / (self.parts / self.caps).sum(axis=0)
        self.equations.factor(self.per_sample, self.cross, self.per_group[0], self.per_bundle, self.curvature)
        self._direction()
        step = min(1.0, 1 / self.worst)
        left = self.complementarity + step * self.first_order + step * step * self.second_order
        share = min(1.0, max(0.0, left) / self.complementarity) if self.complementarity > 0 else 0.0
        return self._correct(self.mu * share**4, second_order=True)

    def _correct(self, target: float, second_order: bool = False) -> float:
        """Replace the direction by one towards products of ``target``; returns the step that stays inside the cone."""
        self.loops.right_side(
            self.table, self.groups, self.cost, self.s, self.multipliers, self.slack, self.ratio, self.bend, target,
            float(second_order), self.move, self.dxi, self.rest, self.rest_xi, self.per_sample, self.per_group,
        )  # fmt: skip
        self._direction(target, second_order)
        for _ in range(REFINEMENTS if self.noisy else 0):
            self._refine()
        return min(1.0, 0.9995 / self.worst)

    def _direction(self, target: float = 0.0, second_order: bool = False) -> None:
        """Solve for the direction whose right sides stand in the rows, and measure it."""
        push = self._l1_right_side(target, second_order) if self.problem.l1 else None
        rw = self.rw if push is None else self.rw + push
        self.dw, self.dtheta, shift = self.equations.direction(
            rw, self.rtheta, self.per_sample, self.per_group, self.ds
        )
        if push is not None:
            self.dgamma = self.curvature * self.dw - push
            self.dparts = (self.l1_rest + self.parts * np.stack([self.dgamma, -self.dgamma])) / self.caps
        self._measure(shift, self.ds, refine=False)

    def _l1_right_side(self, target: float, second_order: bool) -> Floats:
        self.l1_rest = target * self.l1_price - self.parts * self.caps
        if second_order:
            self.l1_rest = self.l1_rest + self.dparts * np.stack([self.dgamma, -self.dgamma])
        forward, backward = self.l1_rest / self.caps
        return self.curvature * (forward - backward)

    def _measure(self, shift: Floats, ds: Floats, refine: bool) -> None:
        """Row steps, the longest step inside all cones, and the complementarity along it."""
        self.worst, self.first_order, self.second_order = self.loops.row_steps(
            self.table, self.groups, shift, self.cost, self.s, ds, self.multipliers, self.slack, self.ratio,
            self.bend, self.rest, self.rest_xi, self.move, self.dxi, refine,
        )  # fmt: skip
        if self.problem.l1:
            dcaps = np.stack([-self.dgamma, self.dgamma])
            self.worst = max(self.worst, float((-self.dparts / self.parts).max()), float((-dcaps / self.caps).max()))
            self.first_order += float((self.dparts * self.caps + self.parts * dcaps).sum())
            self.second_order += float((self.dparts * dcaps).sum())

    def _refine(self) -> None:
        """One step of iterative refinement: the dual equation otherwise holds to D * eps * |s| only."""
        layout = self.layout
        moved = layout.row_cost * self.move[0, : layout.n_rows]
        signed = np.bincount(layout.row_sample, self.problem.sign[layout.row_group] * moved, self.m)
        totals = np.append(
            np.bincount(layout.row_group, moved, self.problem.n_groups), self.price * self.move[0, layout.n_rows :]
        )
        ew = self.rw - (self.dgamma if self.problem.l1 else self.dw) + self.rows.adjoint(signed.astype(np.float64))
        etheta = self.rtheta - self.N.T @ totals
        if self.quadratic:
            gw, gtheta = self.settled.curved(self.problem, self.dw, self.dtheta)
            ew -= gw
            etheta -= gtheta
        fw, ftheta = self.equations.solve(ew, etheta)
        fs = np.append(self.rows.scores(fw), np.zeros(len(self.problem.up)))
        self.dw, self.dtheta, self.ds = self.dw + fw, self.dtheta + ftheta, self.ds + fs
        if self.problem.l1:
            gain = self.curvature * fw
            self.dgamma = self.dgamma + gain
            self.dparts = self.dparts + self.parts * np.stack([gain, -gain]) / self.caps
        self._measure(self.N @ ftheta, fs, refine=True)


def _with_order_rows(
    problem: IntervalProblem, layout: RowLayout, total: float
) -> tuple[NDArray[np.int64], Floats, float]:
    """The table with charges and a hard row per order constraint, all costs, and the price of the latter."""
    E, B = len(problem.up), len(layout.table)
    price = total / max(problem.n_groups, 1)
    table = np.empty((B + E, 8), dtype=np.int64)
    table[:B, :7], table[:B, 7] = layout.table, problem.charge.code
    table[B:] = [layout.n_samples, 1, problem.n_groups, -1, layout.n_rows, -1, layout.n_slacks, Charge.HARD.code]
    table[B:, [START, GROUP, ROW, SLACK]] += np.arange(E)[:, None]
    cost = np.full(layout.n_slacks + E, price)
    cost[: layout.n_slacks] = layout.cost
    return table, cost, price


def _largest(values: Floats) -> float:
    return float(np.abs(values).max()) if len(values) else 0.0
