"""What the estimators share that rate candidates by cross-validation and fit the best of them."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from hullrank.exceptions import HullrankError


class BestEstimator(MetaEstimatorMixin, BaseEstimator):
    """An estimator whose scores and predictions are those of ``best_estimator_``; subclasses name its class."""

    _base: ClassVar[type[Any]]
    estimator: Any
    best_estimator_: Any

    @property
    def _inner(self) -> Any:
        return self._base() if self.estimator is None else self.estimator

    def _checked_inner(self, remark: str) -> Any:
        """The estimator, which must be of the right class; the ``remark`` ends the error."""
        inner = self._inner
        if not isinstance(inner, self._base):
            raise HullrankError(f"estimator must be a {self._base.__name__}, got {type(inner).__name__}; {remark}")
        return inner

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Place every row of X on the score line of the best estimator; higher means ranked higher.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        return self.best_estimator_.score_samples(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """What the best estimator predicts: labels, or scores.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        answer : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        return self.best_estimator_.predict(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._inner)
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.pairwise = inner.input_tags.pairwise
        tags.target_tags.required = True
        return tags
