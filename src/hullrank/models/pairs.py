"""The ranker over all pairs of samples, without storing one."""

from dataclasses import replace
from time import perf_counter
from typing import Any, ClassVar, Self

from hullrank._sklearn import StrOptions
from hullrank.data import check_weights
from hullrank.data.checks import is_source
from hullrank.exceptions import HullrankError
from hullrank.models._pair_blocks import (
    Wanted,
    check_look,
    checked_block,
    first_look,
    merged_rows,
    pairs_among,
    sample_of,
    spread_of_pairs,
    state_in_blocks,
    why_stalled,
)
from hullrank.models._scales import warn_of_scales
from hullrank.models.base import fitting, warn_unless_converged
from hullrank.models.pair_ranker import PairRanker
from hullrank.problem.block_rows import BlockRows, ReadBlocks, refuse_beside_blocks
from hullrank.problem.certificate import Status
from hullrank.problem.charges import charge_named
from hullrank.problem.joined_pairs import check_pairs, joined_pairs, pair_accuracy
from hullrank.problem.pair_statement import PairStatement
from hullrank.problem.pairs import every_pair
from hullrank.problem.statement import Point, certificate
from hullrank.problem.top_pairs import ndcg_pairs
from hullrank.solvers.base import Options
from hullrank.solvers.solve import solve

_ROUNDS = 3  # in which pairs are weighted anew by NDCG; more change little


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
        Start from the weights of the last fit (another C, other rows; of "ndcg" the first round). Fits that do not
        soon get to the optimum from there start afresh, with the hinge often. With a kernel every fit starts from zero,
        which is faster.
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
        """Fit to rows in blocks: to all of them at once if a sample holds them, or holds them with equal rows merged;
        else by sums over the blocks."""
        if self._has_kernel or self.monotonic_cst is not None or self.pair_weight is not None:
            raise HullrankError(
                "rows in blocks are ranked by linear scores of any sign over pairs of one weight; leave out the other"
            )
        memory, names = getattr(source, "memory", None), getattr(source, "feature_names_in_", None)
        rows = blocks.map(checked_block)
        scaled = isinstance(self.C, str)
        found = rows.sum(first_look, Wanted(len(source), memory, scaled, self.query_weight == "equal"))
        check_look(found)
        X, y, weights, qid = sample_of(found)
        sample = self.state(X, y, sample_weight=weights, qid=qid)
        if names is not None:
            self.feature_names_in_ = names
        warn_of_scales(self, sample.X, sample.moments)
        if len(y) == found["rows"]:
            self._learn(sample, began)
            self.certificate_ = replace(self.certificate_, passes=blocks.passes)
            return self
        merged = merged_rows(rows, found, memory)
        if merged is not None:
            self._learn(self.state(merged.X, merged.y, sample_weight=merged.weights, qid=merged.qid), began)
            n_pairs = pairs_among(merged)
            self.certificate_ = replace(self.certificate_, passes=blocks.passes, n_order_constraints=n_pairs)
            return self
        square = spread_of_pairs(found, self.query_weight) if scaled else None
        self.C_ = self._price(lambda: sample.mean_square if square is None else square)
        statement = state_in_blocks(rows, found, self.C_, charge_named(self.loss), self.query_weight)
        solution = solve(statement, Options(self.tol, self.max_iter, self.verbose))
        self.coef_, self.n_iter_ = solution.point.coef, solution.iterations
        grade = statement.grade(Point(self.coef_), solution.evidence)
        graded = certificate(statement, grade, solution, self.tol, perf_counter() - began)
        cure: dict[str, str] = {}
        if graded.status is Status.STALLED:
            cause, advice = why_stalled(statement, solution.evidence)
            graded, cure = replace(graded, cause=cause), {"cure": advice}
        self.certificate_ = graded
        warn_unless_converged(self.certificate_, self.tol, **cure)
        if self.certificate_.status is not Status.INTERRUPTED:
            self._warn_if_weak(sample.priced(self.C_, statement.charge))
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
