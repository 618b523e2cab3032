"""One linear problem at rising prices of slack: rows are scaled once, and every solution starts the next.

Semismooth Newton steps from the solution at a neighbouring price are few: often one, where the same rows pay a squared
hinge. The quadratic model is then the objective itself, so that its gradient tells the gap. All other points are
accepted by their duality gap, as that of a solve from nothing.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from hullrank.problem.certificate import Status, least_repair
from hullrank.problem.charges import Charge
from hullrank.problem.interval_statement import IntervalStatement, Multipliers
from hullrank.problem.intervals import IntervalProblem, Penalty
from hullrank.problem.statement import Point, Solution
from hullrank.solvers._linear_system import SingularSystemError
from hullrank.solvers._paying_rows import PayingRows
from hullrank.solvers._quadratic_minimum import quadratic_minimum
from hullrank.solvers._scaled import Best, ScaledProblem, scale_problem
from hullrank.solvers.base import Options
from hullrank.solvers.interior_point import Iterate, Settled
from hullrank.solvers.intervals import NEWTON, takes_newton_steps
from hullrank.solvers.newton import newton

_SMALL_COPY = 4_000_000  # numbers up to which rows are copied in class order
_MOST_STEPS = 20  # after which the steps are left to Newton's method with duality gaps


def follows(statement: Any) -> bool:
    """Whether Newton steps from a neighbour solve the statement: smooth or squared charges, few dense columns."""
    stated = isinstance(statement, IntervalStatement) and statement.problem.penalty is Penalty.L2
    return stated and takes_newton_steps(statement)


class PricePath:
    """The solutions of one statement at several prices, found in turn."""

    def __init__(self, statement: IntervalStatement) -> None:
        scaled = scale_problem(statement)
        small = scaled.n_samples * scaled.rows.n_features <= _SMALL_COPY
        scaled = scaled.copied() if small else scaled
        unit = replace(scaled.layout, cost=scaled.layout.cost / statement.problem.cost)
        self.scaled = replace(scaled, layout=unit)
        self.point = scaled.origin()
        self.paying: PayingRows | None = None

    def solve(self, statement: IntervalStatement, options: Options) -> Solution | None:
        """The solution at the price of the given statement, of the same samples; None where its gap stays open."""
        if statement.problem.charge is Charge.SQUARED_HINGE:
            exact = self._exact(statement, options)
            if exact is not None:
                return exact
        scaled = self._at(statement)
        best = Best(scaled, options.tol)
        last = newton(scaled, self.point, options.tol, options.max_iter, best)
        point, certified = best.result(last)
        if last.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        if certified.relative_gap > options.tol:
            return None
        self.point = point
        stated, multipliers = scaled.stated_point(statement, point, certified, options.tol)
        return Solution(stated, multipliers, Status.CONVERGED, point.iterations, NEWTON)

    def _exact(self, statement: IntervalStatement, options: Options) -> Solution | None:
        """The solution with a squared hinge, where a step ends in which no row changed sides; else None."""
        problem, rows = statement.problem, self.scaled.rows
        paying = self.paying = self.paying or PayingRows(self.scaled)
        w, theta, t = self.point.w, problem.raise_thresholds(self.point.theta), self.point.order_multipliers
        s = rows.scores(w)
        value = 0.5 * float(w @ w) + problem.cost * paying.charge(s, theta)
        for step in range(1, min(options.max_iter, _MOST_STEPS) + 1):
            paying.follow()
            terms = paying.terms(problem)
            try:
                target = quadratic_minimum(problem, terms, Iterate(w, theta, np.empty(0), t))
            except SingularSystemError:
                return None
            if target.status is Status.INTERRUPTED:
                raise KeyboardInterrupt
            dw, dtheta, t = target.w - w, target.theta - theta, target.order_multipliers
            ds = rows.scores(dw)
            before, length = value, 1.0
            while True:
                there, moved = w + length * dw, theta + length * dtheta
                value = 0.5 * float(there @ there) + problem.cost * paying.charge(s + length * ds, moved)
                if value <= before * (1 + 1e-12):
                    break
                length *= 0.5
                if length < 1e-6:
                    return None
            w, theta, s = there, moved, s + length * ds
            self.point = Iterate(w, theta, np.empty(0), t)
            if paying.n_changed == 0:
                charge, reach = value - 0.5 * float(w @ w), float(np.ptp(s)) + float(np.ptp(theta)) + 2.0
                if _gap(problem, terms, self.point, charge, reach) <= options.tol * value:
                    return self._stated(paying, step)
                if before - value <= 1e-14 * value:
                    return None  # the last digits do not close the gap
        return None

    def _stated(self, paying: PayingRows, steps: int) -> Solution:
        """The present point in the units of the statement."""
        f, mean = self.scaled.factor, self.scaled.mean
        w, theta = self.point.w / f, self.point.theta.copy()
        if mean is not None:
            theta += mean @ w
        evidence = Multipliers(paying.multipliers.copy(), self.point.order_multipliers / (f * f))
        return Solution(Point(w, theta), evidence, Status.CONVERGED, steps, NEWTON)

    def _at(self, statement: IntervalStatement) -> ScaledProblem:
        """The scaled problem at another price; what does not depend on it is shared."""
        layout = replace(self.scaled.layout, cost=self.scaled.layout.cost * statement.problem.cost)
        scaled = replace(self.scaled, problem=statement.problem, layout=layout)
        vars(scaled)["group_sums"] = self.scaled.group_sums
        return scaled


def _gap(problem: IntervalProblem, terms: Settled, point: Iterate, charge: float, reach: float) -> float:
    """How far the objective may be above its minimum where the rows that pay are those of the model.

    The multipliers alpha of the rows there are complementary, but what they and those of the order constraints, t, send
    into the thresholds need not be 0. Factors 1 + tau of whole groups and of t repair it, as in ``certify_intervals``.
    They lower the dual by at most tau^2 times the charge, and change X'alpha, whose distance from w is the gradient, by
    at most tau sqrt(2 charge trace(H)) (Cauchy and Schwarz, with alpha = d v and H = sum of d x x'). What the repair
    leaves is worth its size times the ``reach`` of the thresholds.
    """
    w, theta, t = point.w, point.theta, point.order_multipliers
    pulled = terms.curved(problem, w, theta)[0] + terms.linear_w
    sums = terms.group_weight * problem.offsets(theta) - problem.sign * (terms.group_rows @ w)
    alpha = np.concatenate([sums, t])
    residual = problem.linear + problem.incidence.T @ alpha
    tau = np.clip(least_repair(problem, alpha, residual), -1.0, 1.0)
    left = residual + problem.incidence.T @ (alpha * tau)
    most = float(np.abs(tau).max())
    distance = float(np.linalg.norm(w + pulled)) + most * (2 * charge * float(terms.H.trace())) ** 0.5
    loose = float(t @ np.abs(problem.order_gaps(theta) - problem.gap))
    return 0.5 * distance**2 + most**2 * charge + (1 + most) * loose + reach * float(np.abs(left).sum())
