"""What rankers over single pairs share: checked dense rows, scores without lost digits, pair accuracy as the score."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from hullrank._sklearn import num_samples
from hullrank.data import check_queries, check_rows, check_target, check_weights, encode_labels
from hullrank.exact.rows import comparable_weights
from hullrank.exact.scores import linear_scores
from hullrank.exceptions import HullrankError
from hullrank.models.base import QueryRankerMixin, ScoreLineEstimator
from hullrank.problem.statement import Point

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


class PairChargeRanker(QueryRankerMixin, ScoreLineEstimator):
    """What both rankers share: checked dense rows, scores without lost digits, and pair accuracy as the score."""

    warm_start: bool

    def candidate(self, statement: Any) -> Point:
        """The fitted weights as a point of a stated problem.

        Parameters
        ----------
        statement : object
            What ``state`` returned for the data in question.

        Returns
        -------
        point : Point
        """
        check_is_fitted(self, "coef_")
        w = np.asarray(self.coef_, dtype=np.float64)
        if len(w) != statement.rows.X.shape[1]:
            raise HullrankError(
                f"the model has {len(w)} weights, and the stated problem {statement.rows.X.shape[1]} features; state "
                "it from the data that the model was fitted to"
            )
        return Point(w)

    def _warm_start_for(self, n_features: int) -> Floats | None:
        """The weights of the last fit, if they were kept and there are as many columns as then."""
        start: Floats | None = getattr(self, "_warm", None)
        return start if start is not None and len(start) == n_features else None

    def _scores(self, X: Any) -> Floats:
        return linear_scores(X, self.coef_, getattr(self, "_decimals", None))

    def _check(self, X: Any, y: Any, sample_weight: Any, qid: Any) -> tuple[Floats, Indices, Floats, Indices]:
        self._has_queries = qid is not None
        X = check_rows(self, X, reset=not hasattr(self, "certificate_"))
        X = X.toarray() if sp.issparse(X) else X
        codes = encode_labels(y, check_target(X, y)).codes
        return X, codes, check_weights(sample_weight, X), check_queries(qid, X.shape[0])

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, qid: Any = None) -> float:
        """Pair accuracy: the share of the pairs (of one query) with different targets that are ranked right.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            A pair weighs the product of its samples' weights.
        qid : array-like of shape (n_samples,), default=None
            Query ids; only pairs within a query count.

        Returns
        -------
        score : float in [0, 1]; NaN with a warning when no pair can be compared
        """
        if sample_weight is not None:  # products of tiny weights would vanish
            sample_weight = comparable_weights(check_weights(sample_weight, np.empty((num_samples(y), 0))))
        return super().score(X, y, sample_weight, qid=qid)
