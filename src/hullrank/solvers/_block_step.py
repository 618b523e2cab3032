"""From a pass over all rows to the next iterate of the search over blocks."""

from dataclasses import replace

import numpy as np

from hullrank.problem.block_statement import BlockEvidence, BlockStatement, no_rows
from hullrank.problem.block_survey import Survey, nothing_charged
from hullrank.problem.charges import Charge
from hullrank.problem.settled_dual import settled_dual
from hullrank.solvers._block_terms import Units, centred_beside, fetched, pull_of, settled_terms
from hullrank.solvers._quadratic_minimum import quadratic_minimum
from hullrank.solvers._scaled import without_small_weights
from hullrank.solvers.base import Options
from hullrank.solvers.interior_point import Iterate, interior_point


class Step:
    """From a pass to the next iterate and its evidence; counts iterations."""

    def __init__(self, statement: BlockStatement, units: Units, options: Options) -> None:
        self.units, self.options = units, options
        self.nothing = no_rows(statement.problem, statement.size.n_features)
        linear = statement.problem.charge is Charge.HINGE
        # Share of the tolerance that solving the fetched rows may use up; under L1 it is also for |X'alpha| beyond 1.
        self.share = 1e-6 if statement.problem.l1 else (0.3 if linear else 1e-4)
        self.balance = 1e-6 if linear else 1e-9
        self.iterations = 0

    def __call__(
        self, statement: BlockStatement, iterate: Iterate, found: Survey, tol: float, mu: float
    ) -> tuple[Iterate, BlockEvidence | None]:
        """Solve the fetched rows beside the sums of the others, or take a Newton step where none were fetched."""
        units, problem = self.units, self.units.problem
        hinge = problem.charge is Charge.HINGE
        exact = found.window.fetch and not problem.charge.smooth
        near = fetched(statement, found, units) if exact else self.nothing
        terms = settled_terms(units, found, iterate, near)
        layout = replace(near.layout, cost=near.layout.cost * units.price)
        if exact and near.layout.n_rows:
            point = interior_point(
                problem, near.rows, layout, tol=tol * self.share, max_iter=self.options.max_iter,
                settled=terms, start=iterate, mu=mu, unit=self._unit(iterate, found), balance=self.balance,
                verbose=self.options.verbose,
            )  # fmt: skip
        else:
            point = quadratic_minimum(problem, terms, iterate)
        self.iterations += max(point.iterations, 1)
        evidence = None
        if problem.l1:
            point = replace(point, w=without_small_weights(point.w, pull_of(problem, terms, near.rows, layout, point)))
        if exact and hinge:
            point = replace(point, theta=centred_beside(units, found, near, layout, point))
        if exact and (hinge or np.isinf(found.window.width)):  # settled rows have known multipliers, or there are none
            rest = settled_dual(statement.problem, found if hinge else nothing_charged(problem, len(point.w)))
            evidence = BlockEvidence(
                units.back * point.order_multipliers, found, rest, found.point, near, point.multipliers
            )
        return replace(point, iterations=self.iterations), evidence

    def _unit(self, iterate: Iterate, found: Survey) -> float:
        """The size of the objective; 0 (unknown) where a homogeneous problem has not come below 0 yet."""
        value = self.units.objective(iterate, found)
        return max(-value, 0.0) if self.units.problem.homogeneous else abs(value)
