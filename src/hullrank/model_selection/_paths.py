"""Fits of one model at rising values of C, each from the one before it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hullrank.problem.certificate import Status
from hullrank.problem.charges import Charge
from hullrank.problem.interval_statement import IntervalStatement
from hullrank.problem.pair_statement import PairStatement
from hullrank.problem.statement import Solution
from hullrank.solvers import kernel_path, price_path
from hullrank.solvers.base import Options
from hullrank.solvers.pair_path import PairPath
from hullrank.solvers.solve import solve

FEW_ROWS = 500  # rows up to which the kinks of the hinge lie so far apart that solutions are no starts
Watch = Callable[[NDArray[np.float64], float], None]


class Path:
    """A model, the statement of its training rows, and where the last fit ended; ``beside`` is what other folds found.

    Class-based linear models with a smooth or squared charge take Newton steps on rows that are scaled once. They,
    models over pairs, and class-based models with a kernel are not graded: each has the gap that its solver measured,
    and only the best point of a grid is fitted, and certified, as a whole.
    """

    def __init__(self, model: Any, statement: Any, *, needs_labels: bool, beside: PairPath) -> None:
        self.model, self.statement, self.needs_labels, self.beside = model, statement, needs_labels, beside
        self._start: Any = None
        self._leads = True
        self._last: Solution | None = None
        self._newton: price_path.PricePath | None = None
        self._kernel_newton: kernel_path.KernelPath | None = None

    def learn(self, began: float, watch: Watch | None = None) -> None:
        """Fit the model with the parameters that it has now; ``watch`` may end a fit over pairs (see `Options`)."""
        statement = self.statement = self.model._restate(self.statement)
        if self._learn_by_newton(statement):
            return
        if isinstance(statement, PairStatement):
            self._start = self._learn_pairs(statement, began, watch)
        elif isinstance(statement, IntervalStatement) and statement.space is not None:
            self._start = self._learn_with_kernel(statement, began)
        else:
            self._start = self.model._learn(statement, began, self._start)

    def _learn_pairs(self, statement: PairStatement, began: float, watch: Watch | None) -> Any:
        """With a kernel, and with the hinge over few rows, the search takes longer from the solution for another C than
        from zero; once a start led nowhere, those for larger C do not either."""
        few = statement.charge is Charge.HINGE and statement.X.shape[0] <= FEW_ROWS
        start = self.beside.start(statement.C, self._start) if self._leads and not few else None
        solution = solve(statement, replace(self._options, watch=watch), start)
        self._leads = self._leads and (start is None or solution.start is not None)
        self.model._store(statement, solution)
        if solution.status is not Status.CONVERGED:
            self.model._grade(statement, solution, began)  # which says so
        if statement.space is not None:
            return None
        self.beside.keep(solution.start)
        return solution.start

    def _learn_with_kernel(self, statement: IntervalStatement, began: float) -> Any:
        solution = self._kernel_steps(statement)
        if solution is None:
            solution = self.model._solve(statement, self._start)
        self._last = solution
        self._store(statement, solution)
        if solution.status is not Status.CONVERGED:
            self.model._grade(statement, solution, began)  # which says so
        return solution.point if solution.start is None else solution.start

    def _kernel_steps(self, statement: IntervalStatement) -> Solution | None:
        """Newton steps from the last solution, where there is one and they are worth it."""
        if self._last is None or not kernel_path.follows(statement):
            return None
        if self._kernel_newton is None:
            self._kernel_newton = kernel_path.KernelPath(statement)
        return self._kernel_newton.solve(statement, self._options, self._last.point)

    @property
    def _options(self) -> Options:
        return Options(self.model.tol, self.model.max_iter, self.model.verbose)

    def _learn_by_newton(self, statement: Any) -> bool:
        if not price_path.follows(statement):
            return False
        if self._newton is None:
            self._newton = price_path.PricePath(statement)
        solution = self._newton.solve(statement, self._options)
        if solution is None:
            return False
        self._store(statement, solution)
        return True

    def _store(self, statement: Any, solution: Solution) -> None:
        self.model._store(statement, solution)
        if not self.needs_labels:
            return
        if solution.scores is None:
            solution = replace(solution, scores=statement.scores(solution.point))
        self.model._store_label_rule(statement, solution)
