"""Rankers over pairs of samples: all pairs without storing one, or a few random pairs of every sample."""

import warnings
from dataclasses import replace
from numbers import Integral
from time import perf_counter
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from hullrank._sklearn import Interval, StrOptions
from hullrank.data import check_queries, check_target, check_weights, encode_labels
from hullrank.exceptions import HullrankError, WeakPriceWarning
from hullrank.models._constraints import KERNEL_CONSTRAINTS, PRICE, SIGN_CONSTRAINTS, SOLVER_CONSTRAINTS
from hullrank.models._kernel import KernelMixin, Ranks
from hullrank.models._pair_blocks import (
    check_look,
    checked_block,
    first_look,
    sample_of,
    state_in_blocks,
)
from hullrank.models._price import PriceMixin
from hullrank.models._scales import warn_of_scales
from hullrank.models.base import QueryRankerMixin, ScoreLineEstimator, fitting, warn_unless_converged
from hullrank.models.intervals import warn_collapsed
from hullrank.problem.block_rows import BlockRows, ReadBlocks, is_source, refuse_beside_blocks
from hullrank.problem.certificate import Status
from hullrank.problem.charges import LOSSES, charge_named
from hullrank.problem.joined_pairs import check_pairs, joined_pairs, pair_accuracy
from hullrank.problem.kernel_factor import NYSTROEM_RANK
from hullrank.problem.pair_sets import Pairs
from hullrank.problem.pair_statement import PairStatement
from hullrank.problem.pairs import every_pair, random_pairs
from hullrank.problem.statement import Point, Solution, certificate
from hullrank.problem.top_pairs import ndcg_pairs
from hullrank.solvers.base import Options
from hullrank.solvers.solve import solve

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_ROUNDS = 3  # in which pairs are weighted anew by NDCG; more change little
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

    def candidate(self, statement: PairStatement) -> Point:
        """The fitted attributes as a point of the stated problem.

        Parameters
        ----------
        statement : PairStatement
            What ``state`` returned for the training data.

        Returns
        -------
        point : Point
        """
        check_is_fitted(self, "n_iter_")
        return Point(self._stored_coef(statement))

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
        solution = self._solve(statement, start)
        self._store(statement, solution)
        self._grade(statement, solution, began)
        if statement.space is not None:
            return None
        if self.warm_start:
            self._warm = solution.point
        return solution.point if solution.start is None else solution.start

    def _solve(self, statement: PairStatement, start: Point | None = None) -> Solution:
        return solve(statement, Options(self.tol, self.max_iter, self.verbose), start)

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
        if self.certificate_.status is not Status.INTERRUPTED:  # whose weights say nothing about C
            self._warn_if_weak(statement)

    def _warm_start_for(self, statement: PairStatement) -> Point | None:
        """The weights of the last fit, if ``warm_start`` asks for them and there are as many columns as then."""
        start: Point | None = getattr(self, "_warm", None) if self.warm_start and statement.space is None else None
        return start if start is not None and len(start.coef) == statement.X.shape[1] else None

    def _warn_if_weak(self, statement: PairStatement) -> None:
        """Say so where C is too small to rank: w = 0 is as good, or every pair lies inside the margin."""
        charge = statement.charge
        nothing = statement.C * float(charge.value(np.array([charge.margin]))[0])  # the objective of w = 0
        if self.certificate_.primal >= (1 - self.tol) * nothing:
            if statement.mean_square == 0:
                warn_collapsed("the samples of every pair have the same features")
                return
            found = f"no weights are better than 0 within tol={self.tol:g}"
        elif not charge.smooth and self._all_inside(statement):
            found = "every pair lies inside the margin, so that only means of pairs count"
        else:
            return
        other = "standardise the features" if self.C == "scale" else "C='scale'"
        cure = f"C={self.C_:g} is too small for these data; use a larger one, or {other}"
        warnings.warn(f"{found}: {cure}", WeakPriceWarning, stacklevel=5)

    def _all_inside(self, statement: PairStatement) -> bool:
        at = statement.pairs.at(statement.scores(self.candidate(statement)))
        return at.ramp(-np.inf, statement.charge.margin).inside > 1 - 1e-9


class SwappedPairsRanker(PairRanker):
    """Rank by the SVM that minimises swapped pairs, over all pairs of samples without storing one.

    Minimises 1/2 |w|^2 + C * mean over pairs of charge(1 - (s_i - s_j)), where i has a higher target than j in the same
    query, s are the scores and charge(z) is max(0, z) or its square. A pair's weight in the mean is the product of its
    samples' weights. An evaluation takes O(m log m) for any number of distinct targets, and every fit ends with a
    rigorous gap. Preferences between single rows (``fit(X, pairs=[(winner, loser), ...])``) are learned alone, or in
    one problem with the targets.

    Parameters
    ----------
    C : float or "scale", default="scale"
        Price of the mean pair, so that it means the same for every number of samples. "scale" is 1000 (squared hinge
        300, logistic 3000) divided by the mean squared distance of the samples of a pair, in the kernel's space: it
        ranks X * 1000 as it ranks X, and on 21 data sets hardly any other price swaps fewer pairs (docs/defaults.md).
        `hullrank.problem.pairs` has the functions that convert the C of the paper, of svm_rank and of liblinear.
    loss : {"hinge", "squared_hinge", "logistic"}, default="hinge"
        How a pair within the margin is charged; "logistic" charges log(1 + exp(-(s_i - s_j))), without a margin.
    query_weight : {"pairs", "equal"}, default="pairs"
        Whether every pair counts alike, or every query.
    monotonic_cst : array-like of shape (n_features,) or dict, default=None
        1 for features whose weight must not be negative, -1 for those whose weight must not be positive, 0 for the
        others; a dict has names of features for keys. Linear scores only.
    pair_weight : {None, "ndcg"}, default=None
        "ndcg" weighs every pair by what its swap would cost in NDCG at the scores of the round before (LambdaRank's
        weights), so that the top of a list counts most; four rounds, each a convex problem with its certificate, the
        first with equal queries. For grades, best with queries.
    warm_start : bool, default=False
        Start from the weights of the last fit (another C, other rows). With a kernel every fit starts from zero, which
        is faster.
    approximation : int or "nystroem", default=None
        Number of samples (pivots of the kernel matrix) that span the solution; "nystroem" is 1000. The certificate then
        holds for the approximated kernel. None is exact, with a kernel for up to 20,000 samples.
    kernel : {"linear", "rbf", "poly", "sigmoid", "laplacian", "precomputed"} or callable, default="linear"
        A positive semidefinite kernel; a callable takes two matrices and returns the kernel values of their rows.
    gamma : {"scale", "auto", "ard"} or float, default="scale"
        Coefficient of the rbf, poly, sigmoid and laplacian kernels, as in scikit-learn. "ard" learns one for every
        column of an rbf kernel from the ranks of y, for data of which few columns matter.
    degree : int, default=3
        Degree of the poly kernel.
    coef0 : float, default=0.0
        Constant of the poly and sigmoid kernels.
    tol : float, default=1e-6
        Relative gap at which the solver stops.
    max_iter : int, default=200
        Most Newton steps.
    verbose : int, default=0
        Whether the solver reports its steps.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights of the linear score.
    C_ : float
        The price that was used.
    support_, support_vectors_, dual_coef_, n_support_
        The samples that span a kernel solution: their numbers, rows, coefficients (as one row) and how many they are.
    weighting_scores_ : ndarray of shape (n_samples,)
        Scores at which the pairs were weighted; only with ``pair_weight="ndcg"``.
    gamma_ : float, or ndarray of shape (n_features,)
        The number (with "ard" the numbers) behind ``gamma``; kernels only.
    n_iter_ : int
    certificate_ : Certificate
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    See Also
    --------
    SampledPairsRanker : The same over a few random pairs of every sample.
    hullrank.metrics.swapped_pairs : The share of pairs ranked wrong.
    hullrank.metrics.rank_within : Places inside queries.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from hullrank import SwappedPairsRanker
    >>> X, y = load_diabetes(return_X_y=True)
    >>> ranker = SwappedPairsRanker(C=1000).fit(X, y)
    >>> round(ranker.score(X, y), 2)
    0.75
    >>> ranker.certificate_.relative_gap <= 1e-6
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **PairRanker._parameter_constraints,
        "query_weight": [StrOptions({"pairs", "equal"})],
        "pair_weight": [StrOptions({"ndcg"}), None],
    }

    def __init__(
        self,
        C: float | str = "scale",
        *,
        loss: str = "hinge",
        query_weight: str = "pairs",
        pair_weight: str | None = None,
        monotonic_cst: Any = None,
        warm_start: bool = False,
        approximation: int | str | None = None,
        kernel: Any = "linear",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        tol: float = 1e-6,
        max_iter: int = 200,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.loss = loss
        self.query_weight = query_weight
        self.pair_weight = pair_weight
        self.monotonic_cst = monotonic_cst
        self.warm_start = warm_start
        self.approximation = approximation
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose

    @fitting
    def fit(self, X: Any, y: Any = None, *, sample_weight: Any = None, qid: Any = None, pairs: Any = None) -> Self:
        """Learn scores that order the samples (of every query) as y does; Ctrl-C keeps the best answer so far.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features), or Blocks
            For a precomputed kernel, the kernel values between all samples. `hullrank.io.Blocks` have targets, weights
            and queries of their own; a query must lie in one block, and without queries many different targets ask for
            blocks that are ranges of the target.
        y : array-like of shape (n_samples,), default=None
            Targets, graded or real-valued; only their order matters. None where ``pairs`` are all that is known, or
            beside blocks.
        sample_weight : array-like of shape (n_samples,), default=None
            A weight is a repetition.
        qid : array-like of shape (n_samples,), default=None
            Query ids in any order and of any type; only pairs within a query count. None is one query.
        pairs : array-like of shape (n_pairs, 2) or (n_pairs, 3), default=None
            Preferences between rows of X, whatever their targets and queries: (winner, loser) by their numbers from 0,
            or (winner, loser, weight); a pair without a weight counts as much as one that targets make. With
            ``query_weight="equal"`` all of them together count as one query.

        Returns
        -------
        self : object
        """
        began = perf_counter()
        if is_source(X):
            refuse_beside_blocks(y=y, sample_weight=sample_weight, qid=qid)
            if pairs is not None:
                raise HullrankError("pairs name rows by their numbers, which blocks do not have; pass X as one array")
            return self._fit_blocks(ReadBlocks(X), X, began)
        given = {"sample_weight": sample_weight, "qid": qid, "pairs": pairs}
        statement = self.state(X, y, **given)
        warn_of_scales(self, statement.X, statement.moments)
        start = self._learn(statement, began, self._warm_start_for(statement))
        for _ in range(_ROUNDS if self.pair_weight == "ndcg" else 0):
            self.weighting_scores_ = self.score_samples(X)
            start = self._learn(self.state(X, y, **given), began, start)
        return self

    def _fit_blocks(self, blocks: BlockRows, source: Any, began: float) -> Self:
        """Fit to rows in blocks: to all of them at once if a sample holds them, else by sums over the blocks."""
        if self._has_kernel or self.monotonic_cst is not None or self.pair_weight is not None:
            raise HullrankError(
                "rows in blocks are ranked by linear scores of any sign over pairs of one weight; leave out the other"
            )
        memory, names = getattr(source, "memory", None), getattr(source, "feature_names_in_", None)
        rows = blocks.map(checked_block)
        found = rows.sum(first_look, len(source), memory)
        check_look(found)
        X, y, weights, qid = sample_of(found)
        sample = self.state(X, y, sample_weight=weights, qid=qid)
        if names is not None:
            self.feature_names_in_ = names
        if len(y) == found["rows"]:
            self._learn(sample, began)
            self.certificate_ = replace(self.certificate_, passes=blocks.passes)
            return self
        self.C_ = self._price(lambda: sample.mean_square)
        statement = state_in_blocks(rows, found, self.C_, charge_named(self.loss), self.query_weight)
        solution = solve(statement, Options(self.tol, self.max_iter, self.verbose))
        self.coef_, self.n_iter_ = solution.point.coef, solution.iterations
        grade = statement.grade(Point(self.coef_), solution.evidence)
        self.certificate_ = certificate(statement, grade, solution, self.tol, perf_counter() - began)
        warn_unless_converged(self.certificate_, self.tol)
        return self

    def state(
        self, X: Any, y: Any = None, *, sample_weight: Any = None, qid: Any = None, pairs: Any = None
    ) -> PairStatement:
        """The problem that ``fit`` solves on these data, without solving it; a fitted model has its own gamma.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), default=None
        sample_weight : array-like of shape (n_samples,), default=None
        qid : array-like of shape (n_samples,), default=None
        pairs : array-like of shape (n_pairs, 2) or (n_pairs, 3), default=None

        Returns
        -------
        statement : PairStatement
        """
        X, codes, query = self._check(X, y, qid, alone=pairs is not None)
        weights = check_weights(sample_weight, X)
        smooth = charge_named(self.loss).smooth
        if self.pair_weight == "ndcg":
            if pairs is not None:
                raise HullrankError("pair_weight='ndcg' weighs the pairs that grades make; leave out pairs")
            if hasattr(self, "weighting_scores_"):
                top = ndcg_pairs(codes, query, weights, self.weighting_scores_)
                return self._statement(X, weights, *top, (codes, query))
        if pairs is None:
            weighing = "equal" if self.pair_weight == "ndcg" else self.query_weight
            made = every_pair(codes, query, weights, weighing, smooth=smooth)
            return self._statement(X, weights, *made, (codes, query))
        given = check_pairs(pairs, X.shape[0])
        joined = joined_pairs(codes, query, weights, given, self.query_weight, smooth=smooth)
        return self._statement(X, weights, *joined, None if y is None else (codes, query))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None, *, qid: Any = None, pairs: Any = None) -> float:
        """Pair accuracy: the share of the pairs with different targets (of one query), or of given pairs, ranked right.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), default=None
        sample_weight : array-like of shape (n_samples,), default=None
            A pair weighs the product of its samples' weights.
        qid : array-like of shape (n_samples,), default=None
            Query ids; only pairs within a query count.
        pairs : array-like of shape (n_pairs, 2) or (n_pairs, 3), default=None
            Preferences (winner, loser) or (winner, loser, weight) to count instead of those of y.

        Returns
        -------
        score : float in [0, 1]; NaN with a warning when no pair can be compared
        """
        if pairs is None:
            return super().score(X, y, sample_weight, qid=qid)
        if y is not None:
            raise HullrankError("score counts the pairs of y, or those given; pass y=None beside pairs")
        scores = self.predict(X)
        return pair_accuracy(scores, *check_pairs(pairs, len(scores)), sample_weight)


class SampledPairsRanker(PairRanker):
    """Rank by the SVM over a few random pairs of every sample (Herbrich, Graepel and Obermayer 2000).

    Minimises 1/2 |w|^2 + C * mean over the drawn pairs of charge(1 - (s_i - s_j)). Every sample draws its
    ``pairs_per_sample`` partners of other target (with replacement) from its query. There are no sample weights: a
    random draw cannot treat a weight as a repetition.

    Parameters
    ----------
    pairs_per_sample : int, default=5
        Pairs to draw for every sample.
    C : float or "scale", default="scale"
        Price of the mean pair, as for `SwappedPairsRanker`.
    loss : {"hinge", "squared_hinge", "logistic"}, default="hinge"
        How a pair within the margin is charged; "logistic" charges log(1 + exp(-(s_i - s_j))), without a margin.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw.
    monotonic_cst, warm_start, approximation, kernel, gamma, degree, coef0, tol, max_iter, verbose
        As for `SwappedPairsRanker`.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights of the linear score.
    C_ : float
        The price that was used.
    support_, support_vectors_, dual_coef_, n_support_, gamma_
        As for `SwappedPairsRanker`; kernels only.
    n_iter_ : int
    seed_ : int
        What the draw was seeded with, so that the same pairs can be drawn again.
    certificate_ : Certificate
        For the drawn pairs.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    See Also
    --------
    SwappedPairsRanker : The same over all pairs, in about the same time.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from hullrank import SampledPairsRanker
    >>> X, y = load_diabetes(return_X_y=True)
    >>> ranker = SampledPairsRanker(C=1000, random_state=0).fit(X, y)
    >>> ranker.certificate_.n_order_constraints
    2210
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **PairRanker._parameter_constraints,
        "pairs_per_sample": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        pairs_per_sample: int = 5,
        *,
        C: float | str = "scale",
        loss: str = "hinge",
        random_state: Any = None,
        monotonic_cst: Any = None,
        warm_start: bool = False,
        approximation: int | str | None = None,
        kernel: Any = "linear",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        tol: float = 1e-6,
        max_iter: int = 200,
        verbose: int = 0,
    ) -> None:
        self.pairs_per_sample = pairs_per_sample
        self.C = C
        self.loss = loss
        self.random_state = random_state
        self.monotonic_cst = monotonic_cst
        self.warm_start = warm_start
        self.approximation = approximation
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose

    @fitting
    def fit(self, X: Any, y: Any, *, qid: Any = None) -> Self:
        """Draw pairs and learn scores that order them; Ctrl-C keeps the best answer so far.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Targets, graded or real-valued; only their order matters.
        qid : array-like of shape (n_samples,), default=None
            Query ids in any order and of any type; only pairs within a query are drawn. None is one query.

        Returns
        -------
        self : object
        """
        began = perf_counter()
        fixed = isinstance(self.random_state, Integral)
        self.seed_ = int(self.random_state if fixed else check_random_state(self.random_state).randint(2**31 - 1))
        statement = self.state(X, y, qid=qid)
        warn_of_scales(self, statement.X, statement.moments)
        self._learn(statement, began, self._warm_start_for(statement))
        return self

    def state(self, X: Any, y: Any, *, qid: Any = None) -> PairStatement:
        """The problem over the pairs that ``seed_`` draws (or, before a fit, ``random_state``), without solving it.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        qid : array-like of shape (n_samples,), default=None

        Returns
        -------
        statement : PairStatement
        """
        X, codes, query = self._check(X, y, qid)
        draw = check_random_state(getattr(self, "seed_", self.random_state))
        rows, pairs = random_pairs(codes, query, self.pairs_per_sample, draw)
        return self._statement(X, np.ones(X.shape[0]), rows, pairs)
