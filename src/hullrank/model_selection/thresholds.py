"""Thresholds moved for a metric: the score line is kept, and cut anew where the metric is best."""

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from hullrank._sklearn import HasMethods, StrOptions
from hullrank.models._cross_scores import cross_validated_scores
from hullrank.models._cuts import best_cuts, metric_costs
from hullrank.models._wrapped import WrappingClassifier
from hullrank.models.base import fitting

METRICS = ("mean_rank_error", "accuracy", "within_one", "quadratic_kappa")


class TunedThresholdOrdinal(WrappingClassifier):
    """Ordinal classifier that cuts the score line of any estimator where a metric is best.

    Models fitted to the other folds score each fold; scores are standardised by mean and standard deviation of the
    model's training scores, put together, and cut by the thresholds that are best of all for the metric on them (found
    exactly, by dynamic programming over the sorted scores). The estimator itself is then used as fitted on all rows.

    Parameters
    ----------
    estimator : estimator
        Anything with ``fit`` and ``score_samples``; its classes must be totally ordered.
    metric : {"mean_rank_error", "accuracy", "within_one", "quadratic_kappa"} or array-like of shape \
            (n_classes, n_classes), default="mean_rank_error"
        What the thresholds are best for: least mean distance of predicted and true rank, most labels right, most
        labels at most one rank off, greatest Cohen's kappa with quadratic weights, or least total cost, where entry
        [i, j] is the cost of predicting class j for a sample of class i, classes from lowest to highest.
    cv : int, cross-validation splitter or iterable of splits, default=5
        How the scores are cross-validated. An integer is stratified by class, and lowered to the size of the smallest
        class; a class with a single sample needs explicit splits.

    Attributes
    ----------
    estimator_ : estimator
        The estimator, fitted on all rows.
    classes_ : ndarray of shape (n_classes,)
        The classes from lowest to highest.
    thresholds_ : ndarray of shape (n_classes - 1,)
        Where the score line is cut, ascending. Equal neighbours mean that the class between them is never predicted;
        infinite ones that nothing beyond is.
    best_score_ : float
        The metric at these thresholds on the cross-validated scores: a share, kappa, or minus the mean rank error or
        cost. It is a little too good, since the thresholds were chosen on the same scores.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    See Also
    --------
    sklearn.model_selection.TunedThresholdClassifierCV : The same for two classes.
    hullrank.OrdinalCalibrator : Probabilities, and the decision of least expected cost.

    Examples
    --------
    >>> import numpy as np
    >>> from hullrank import FixedMarginClassifier, TunedThresholdOrdinal
    >>> X = np.arange(30.0).reshape(-1, 1)
    >>> y = np.arange(30) // 10
    >>> model = TunedThresholdOrdinal(FixedMarginClassifier(), metric="within_one", cv=3).fit(X, y)
    >>> model.best_score_
    1.0
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "score_samples"])],
        "metric": [StrOptions(set(METRICS)), "array-like"],
        "cv": ["cv_object"],
    }

    def __init__(self, estimator: Any, *, metric: Any = "mean_rank_error", cv: Any = 5) -> None:
        self.estimator = estimator
        self.metric = metric
        self.cv = cv

    @fitting
    def fit(self, X: Any, y: Any, *, sample_weight: Any = None) -> Self:
        """Fit the estimator on all rows and on every fold, then choose the thresholds.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self : object
        """
        found = cross_validated_scores(self.estimator, X, y, sample_weight, self.cv)
        self.estimator_, self.classes_ = found.estimator, found.classes
        costs = metric_costs(self.metric, len(found.classes))
        relative = isinstance(self.metric, str) and self.metric == "quadratic_kappa"
        cuts, self.best_score_ = best_cuts(found.scores, found.codes, found.weights, costs, relative=relative)
        self.thresholds_ = found.mean + found.scale * cuts
        self._store_features()
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The class between whose thresholds every row of X lies.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        scores = self.score_samples(X)
        return self.classes_[np.searchsorted(self.thresholds_, scores, side="left")]
