"""The ranker over a few random pairs of every sample."""

from numbers import Integral
from time import perf_counter
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state

from hullrank._sklearn import Interval
from hullrank.models._scales import warn_of_scales
from hullrank.models.base import fitting
from hullrank.models.pair_ranker import PairRanker
from hullrank.problem.pair_statement import PairStatement
from hullrank.problem.pairs import random_pairs


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
        As for `SwappedPairsRanker`. A warm start helps the same pairs, those of the same ``random_state``.

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
