"""What classifiers share that wrap an estimator with ``score_samples`` and place labels on its score line."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from hullrank.models.base import OrderedClassesMixin


class WrappingClassifier(MetaEstimatorMixin, OrderedClassesMixin, BaseEstimator):
    """A classifier whose scores are those of ``estimator_``, the fitted estimator inside."""

    estimator: Any
    estimator_: Any

    def _store_features(self) -> None:
        """Take over number and names of the features from the fitted estimator."""
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Place every row of X on the score line of the estimator; higher means ranked higher.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        return self.estimator_.score_samples(self._seen(X))

    def _seen(self, X: Any) -> Any:
        """X as ``estimator_`` takes it."""
        return X

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.pairwise = inner.input_tags.pairwise
        return tags
