"""What rankers over pairs of samples share."""

import warnings
from dataclasses import replace
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hullrank._sklearn import StrOptions
from hullrank.data import check_queries, check_target, encode_labels
from hullrank.exceptions import HullrankError, WeakPriceWarning
from hullrank.models._constraints import KERNEL_CONSTRAINTS, PRICE, SIGN_CONSTRAINTS, SOLVER_CONSTRAINTS
from hullrank.models._kernel import KernelMixin, Ranks
from hullrank.models._price import PriceMixin
from hullrank.models.base import QueryRankerMixin, ScoreLineEstimator, warn_unless_converged
from hullrank.models.intervals import warn_collapsed
from hullrank.problem.certificate import Status
from hullrank.problem.charges import LOSSES, charge_named
from hullrank.problem.kernel_factor import NYSTROEM_RANK
from hullrank.problem.pair_sets import Pairs
from hullrank.problem.pair_statement import PairStatement
from hullrank.problem.statement import Point, Solution, certificate
from hullrank.solvers.base import Options
from hullrank.solvers.solve import solve

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

GRAM_ROWS = 20_000  # rows up to which a kernel matrix is factored whole; it then takes 3.2 GB


class PairRanker(PriceMixin, KernelMixin, QueryRankerMixin, ScoreLineEstimator):
    """What rankers over pairs share: the linear or kernel problem over some pairs, solved and stored."""

    _scaled_price: ClassVar[dict[str, float]] = {"hinge": 1000.0, "squared_hinge": 300.0, "logistic": 3000.0}
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "C": PRICE,
        "loss": [StrOptions(set(LOSSES))],
        "warm_start": ["boolean"],
        **{name: KERNEL_CONSTRAINTS[name] for name in ("approximation", "kernel", "gamma", "degree", "coef0")},
        **SIGN_CONSTRAINTS,
        **SOLVER_CONSTRAINTS,
    }

    def _check(self, X: Any, y: Any, qid: Any, *, alone: bool = False) -> tuple[Any, Ints, Ints]:
        """Rows, targets as codes (all 0 where rows stand ``alone``, without any), query codes."""
        fitted = hasattr(self, "n_iter_")
        X = self._check_features(X, reset=not fitted)
        has_target = y is not None or not alone
        codes = encode_labels(y, check_target(X, y)).codes if has_target else np.zeros(X.shape[0], np.int64)
        self._has_queries = qid is not None
        return X, codes, check_queries(qid, X.shape[0])

    def _statement(
        self, X: Any, weights: Floats, rows: Ints, pairs: Pairs, ranks: Ranks | None = None
    ) -> PairStatement:
        """The problem over the pairs among ``rows`` of X; all rows count for gamma."""
        if self._has_kernel and self.approximation is None and X.shape[0] > GRAM_ROWS:
            raise HullrankError(
                f"the exact kernel problem factors a matrix of {X.shape[0]} rows (at most {GRAM_ROWS}); set "
                f"approximation, for instance approximation={NYSTROEM_RANK}, to use that many samples as a basis"
            )
        signs = self._signs(X.shape[1])
        space = self._space(X, weights, rows, ranks)
        part = X if len(rows) == X.shape[0] else self._take(X, rows)
        return self._restate(PairStatement(part, pairs, 1.0, charge_named(self.loss), rows, space, signs))

    def _restate(self, statement: PairStatement) -> PairStatement:
        """The same data (and kernel) with the C and the loss that the estimator has now."""
        return statement.priced(self._price(lambda: statement.mean_square), charge_named(self.loss))

    def _learn(self, statement: PairStatement, began: float, start: Point | None = None) -> Point | None:
        """Solve, store, and grade what was stored; returns what a solve of a neighbouring problem may start from.

        With a kernel that is nothing: from the solution for another C the search takes longer than from zero.
        """
        solution = solve(statement, Options(self.tol, self.max_iter, self.verbose), start)
        self._store(statement, solution)
        self._grade(statement, solution, began)
        if statement.space is not None:
            return None
        end = solution.point if solution.start is None else solution.start
        if self.warm_start:
            self._warm = end
        return end

    def _store(self, statement: PairStatement, solution: Solution) -> None:
        """The fitted attributes but the certificate."""
        coef = solution.point.coef
        self._store_weights(statement, statement.X, coef, np.arange(len(coef)))
        if statement.space is not None:
            self.n_support_ = np.array([len(self.support_)])
        self.n_iter_, self.C_ = solution.iterations, statement.C

    def _grade(self, statement: PairStatement, solution: Solution, began: float) -> None:
        """The certificate of what was stored, and the warnings that it asks for."""
        grade = statement.grade(self.candidate(statement), solution.evidence)
        self.certificate_ = certificate(statement, grade, solution, self.tol, perf_counter() - began)
        warn_unless_converged(self.certificate_, self.tol)
        if self.certificate_.status is not Status.INTERRUPTED:  # weights of an interrupted fit say nothing about C
            self._warn_if_weak(statement)
        statement.pairs.forget()

    def _warm_start_for(self, statement: PairStatement) -> Point | None:
        """The weights of the last fit, if they were kept and there are as many columns as then.

        For the same price they may be the solution already, from which a step would only lead away.
        """
        start: Any = getattr(self, "_warm", None)
        if start is None or statement.space is not None or len(start.coef) != statement.X.shape[1]:
            return None
        return replace(start, curvature=None) if getattr(start, "C", None) == statement.C else start

    def _warn_if_weak(self, statement: PairStatement) -> None:
        """Say so where C is too small to rank: w = 0 is as good, or every pair lies inside the margin."""
        charge = statement.charge
        nothing = statement.C * float(charge.value(np.array([charge.margin]))[0])  # the objective of w = 0
        if self.certificate_.primal >= (1 - self.tol) * nothing:
            if statement.mean_square == 0:
                warn_collapsed("the samples of every pair have the same features")
                return
            if self._is_contradictory(statement):
                warn_collapsed("the pairs contradict each other, so that no weights are better than 0, whatever C is")
                return
            found = f"no weights are better than 0 within tol={self.tol:g}"
        elif not charge.smooth and self._all_inside(statement):
            found = "every pair lies inside the margin, so that only means of pairs count"
        else:
            return
        other = "standardise the features" if self.C == "scale" else "C='scale'"
        cure = f"C={self.C_:g} is too small for these data; use a larger one, or {other}"
        warnings.warn(f"{found}: {cure}", WeakPriceWarning, stacklevel=5)

    def _is_contradictory(self, statement: PairStatement) -> bool:
        """Whether the mean difference of the pairs is 0: a convex charge then is least where all scores are equal."""
        _, coef = statement.pairs.at(np.zeros(statement.rows.n_rows)).hinge()
        return float(np.linalg.norm(statement.problem.contrast(coef))) <= 1e-9 * statement.mean_square**0.5

    def _all_inside(self, statement: PairStatement) -> bool:
        at = statement.pairs.at(statement.scores(self.candidate(statement)))
        return at.violated(statement.charge.margin) > 1 - 1e-9
