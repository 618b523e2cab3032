"""One linear problem at rising prices of slack: rows are scaled once, and every solution starts the next.

Semismooth Newton steps from the solution at a neighbouring price are few: often one, where the same rows pay. Each
point is accepted by its own duality gap, as that of a solve from nothing.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from hullrank.problem.certificate import Status
from hullrank.problem.interval_statement import IntervalStatement
from hullrank.problem.intervals import Penalty
from hullrank.problem.statement import Solution
from hullrank.solvers._scaled import Best, ScaledProblem, scale_problem
from hullrank.solvers.base import Options
from hullrank.solvers.interior_point import Iterate
from hullrank.solvers.intervals import NEWTON, takes_newton_steps
from hullrank.solvers.newton import SMALL_COPY, newton


def follows(statement: Any) -> bool:
    """Whether Newton steps from a neighbour solve the statement: smooth or squared charges, few dense columns."""
    stated = isinstance(statement, IntervalStatement) and statement.problem.penalty is Penalty.L2
    return stated and takes_newton_steps(statement)


class PricePath:
    """The solutions of one statement at several prices, found in turn."""

    def __init__(self, statement: IntervalStatement) -> None:
        scaled = scale_problem(statement)
        small = scaled.n_samples * scaled.rows.n_features <= SMALL_COPY
        self.scaled = scaled.copied() if small else scaled
        self.per_unit = self.scaled.layout.cost / statement.problem.cost
        self.point: Iterate | None = None

    def solve(self, statement: IntervalStatement, options: Options) -> Solution | None:
        """The solution at the price of the given statement, of the same samples; None where its gap stays open."""
        scaled = self._at(statement)
        best = Best(scaled, options.tol)
        last = newton(scaled, self.point or _nothing(scaled), options.tol, options.max_iter, best)
        point, certified = best.result(last)
        if last.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        if certified.relative_gap > options.tol:
            return None
        self.point = replace(point, iterations=0)
        stated, multipliers = scaled.stated_point(statement, point, certified, options.tol)
        return Solution(stated, multipliers, Status.CONVERGED, point.iterations, NEWTON)

    def _at(self, statement: IntervalStatement) -> ScaledProblem:
        """The scaled problem at another price; what does not depend on it is shared."""
        layout = replace(self.scaled.layout, cost=self.per_unit * statement.problem.cost)
        scaled = replace(self.scaled, problem=statement.problem, layout=layout)
        vars(scaled)["group_sums"] = self.scaled.group_sums
        return scaled


def _nothing(scaled: ScaledProblem) -> Iterate:
    """w = 0, and thresholds as far apart as they must be."""
    theta = scaled.problem.raise_thresholds(np.zeros(len(scaled.problem.linear)))
    weights = np.zeros(scaled.rows.n_features)
    return Iterate(weights, theta - theta.mean(), np.empty(0), np.ones(len(scaled.problem.up)))
