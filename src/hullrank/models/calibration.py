"""Class probabilities from the score line: a cumulative logistic on cross-validated scores."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import check_cv
from sklearn.utils import get_tags, indexable
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from hullrank._pipelines import unwrap
from hullrank._sklearn import HasMethods, StrOptions, num_samples, safe_indexing
from hullrank.data import check_target, check_weights, encode_labels
from hullrank.exceptions import HullrankError, LabelError
from hullrank.models._cumulative_logistic import (
    class_probabilities,
    fit_cumulative_logistic,
    log_class_probabilities,
)
from hullrank.models.base import fitting

Floats = NDArray[np.float64]


class OrdinalCalibrator(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Probabilities of ordered classes for any estimator with ``score_samples``.

    With t the score of a sample, standardised by the mean and standard deviation of the scores on the training rows,
    the model is the cumulative logistic with proportional odds (McCullagh 1980)

        P(y <= k | x) = sigmoid(cuts_[k] - slope_ * t(x)),      slope_ >= 0,  cuts_[0] < cuts_[1] < ...

    fitted by maximum likelihood on scores that models fitted to the other folds gave to each fold; the estimator
    itself is then used as fitted on all rows. The cumulative probabilities fall as the score rises, so a sample that is
    ranked higher is never more likely to be of a low class.

    Parameters
    ----------
    estimator : estimator
        Anything with ``fit`` and ``score_samples``; its classes must be totally ordered.

    cv : int, cross-validation splitter, iterable of splits or "prefit", default=5
        How the scores are cross-validated. An integer is stratified by class, and lowered to the size of the smallest
        class; a class with a single sample needs explicit splits. "prefit" takes the estimator as it was fitted
        before: ``fit`` then only learns slope and cuts, on rows that the estimator has not seen.

    Attributes
    ----------
    estimator_ : estimator
        The estimator, fitted on all rows; with ``cv="prefit"`` the one that was given.

    classes_ : ndarray of shape (n_classes,)
        The classes from lowest to highest.

    slope_ : float
        How fast the log-odds move with the standardised score; 0 when the scores do not follow the order at all.

    cuts_ : ndarray of shape (n_classes - 1,)
        Log-odds of lying at or below each class at the mean score.

    score_mean_, score_scale_ : float
        Mean and standard deviation of the estimator's scores on the rows given to ``fit``.

    n_features_in_ : int
        Number of features seen by the estimator.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X has them.

    Examples
    --------
    >>> from hullrank import FixedMarginClassifier, OrdinalCalibrator
    >>> import numpy as np
    >>> X = np.arange(30.0).reshape(-1, 1)
    >>> y = np.arange(30) // 10
    >>> model = OrdinalCalibrator(FixedMarginClassifier(), cv=3).fit(X, y)
    >>> model.predict_proba(X).shape
    (30, 3)
    """

    _parameter_constraints: dict[str, Any] = {  # noqa: RUF012
        "estimator": [HasMethods(["fit", "score_samples"])],
        "cv": ["cv_object", StrOptions({"prefit"})],
    }

    def __init__(self, estimator: Any, *, cv: Any = 5) -> None:
        self.estimator = estimator
        self.cv = cv

    @fitting
    def fit(self, X: Any, y: Any, *, sample_weight: Any = None) -> "OrdinalCalibrator":
        """Fit the estimator on all rows and on every fold (unless it is prefit), then the cumulative logistic.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self : OrdinalCalibrator
        """
        X, y = indexable(X, y)
        rows = np.empty((num_samples(X), 0))  # only the estimator looks into X
        weights = check_weights(sample_weight, rows)
        given = None if sample_weight is None else weights
        self.estimator_ = _fit_part(self.estimator, X, y, given) if self.cv != "prefit" else _fitted(self.estimator)
        values = check_target(rows, y)
        used = np.flatnonzero(weights)
        declared = _total_order(self.estimator_)
        labels = encode_labels(safe_indexing(y, used), values[used], declared)
        if len(labels.classes) < 2:
            raise LabelError(f"only one class has samples: {labels.classes.tolist()}; probabilities need two or more")
        self.classes_ = labels.classes
        codes = np.full(len(weights), -1)
        codes[used] = labels.codes
        self.score_mean_, self.score_scale_ = _location(self.estimator_, X, weights, used)
        scores, tested = self._held_out_scores(X, y, given, weights, codes)
        self.slope_, self.cuts_ = fit_cumulative_logistic(scores[tested], codes[tested], weights[tested])
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    def _held_out_scores(
        self, X: Any, y: Any, given: Any, weights: Floats, codes: NDArray[np.intp]
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """Standardised scores by models that have not seen the row, and which rows have one."""
        used = np.flatnonzero(weights)
        scores, tested = np.empty(len(weights)), np.zeros(len(weights), dtype=bool)
        if self.cv == "prefit":
            scores[used] = self._standardised(safe_indexing(X, used))
            return scores, weights > 0
        for train, test in _splits(self.cv, X, codes, used, self.classes_):
            model = _fit_part(self.estimator, X, y, given, train)
            mean, scale = _location(model, X, weights, train)
            scores[test] = (model.score_samples(safe_indexing(X, test)) - mean) / scale
            tested[test] = True
        return scores, tested & (weights > 0)

    def _standardised(self, X: Any) -> Floats:
        return (self.score_samples(X) - self.score_mean_) / self.score_scale_

    def score_samples(self, X: Any) -> Floats:
        """Place every row of X on the score line of the estimator; higher means ranked higher.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples,)
        """
        check_is_fitted(self, "estimator_")
        return self.estimator_.score_samples(X)

    def predict_proba(self, X: Any) -> Floats:
        """Probability of every class for every row of X.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes); rows sum to 1
        """
        check_is_fitted(self)
        return class_probabilities(self._standardised(X), self.slope_, self.cuts_)

    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithm of the probability of every class for every row of X; finite where the probability underflows.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        logarithms : ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        return log_class_probabilities(self._standardised(X), self.slope_, self.cuts_)

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of every row of X.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]

    def _html_repr(self) -> str:
        """What notebooks show: scikit-learn's diagram and, once fitted, the score line of the estimator."""
        from hullrank.plots.svg import score_line_svg

        return super()._html_repr() + (score_line_svg(unwrap(self).model) if hasattr(self, "estimator_") else "")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.pairwise = inner.input_tags.pairwise
        tags.classifier_tags.poor_score = True
        return tags


def _fit_part(estimator: Any, X: Any, y: Any, weights: Any, rows: NDArray[np.intp] | None = None) -> Any:
    if weights is not None and not has_fit_parameter(estimator, "sample_weight"):
        raise HullrankError(f"{type(estimator).__name__}.fit takes no sample_weight; fit the calibrator without it")
    if rows is not None:
        X, y = safe_indexing(X, rows), safe_indexing(y, rows)
        weights = None if weights is None else weights[rows]
    return clone(estimator).fit(X, y) if weights is None else clone(estimator).fit(X, y, sample_weight=weights)


def _fitted(estimator: Any) -> Any:
    """The estimator itself, which must have been fitted."""
    try:
        check_is_fitted(estimator)
    except NotFittedError as error:
        raise HullrankError(
            f'cv="prefit" takes a fitted estimator, and this {type(estimator).__name__} is not; fit it on other rows '
            "first, or choose another cv"
        ) from error
    return estimator


def _total_order(estimator: Any) -> Any:
    """The estimator's classes, lowest first, or None if it has none; they must be in one line."""
    order = getattr(estimator, "order_", None)
    if order is not None and not order.is_total:
        raise HullrankError(
            "probabilities of being at or below a class need a total order, and the estimator's order graph is "
            "partial; use order='chain' or order='full'"
        )
    classes = getattr(estimator, "classes_", None)
    return None if classes is None else classes.tolist()


def _splits(cv: Any, X: Any, codes: NDArray[np.intp], used: NDArray[np.intp], classes: NDArray[Any]) -> Any:
    """Train and test rows; rows without weight never take part."""
    if not isinstance(cv, int):
        weighted = codes >= 0
        for train, test in check_cv(cv, codes, classifier=True).split(X, codes):
            train, test = np.arange(len(codes))[train], np.arange(len(codes))[test]
            yield train[weighted[train]], test[weighted[test]]
        return
    smallest = int(np.bincount(codes[used]).min())
    if smallest < 2:
        alone = classes.tolist()[np.bincount(codes[used]).argmin()]
        raise HullrankError(
            f"class {alone!r} has one sample, so no fold can both learn and test it; add a sample, drop the class, or "
            "pass cv as explicit splits"
        )
    for train, test in check_cv(min(cv, smallest), codes[used], classifier=True).split(used, codes[used]):
        yield used[train], used[test]


def _location(model: Any, X: Any, weights: Floats, rows: NDArray[np.intp]) -> tuple[float, float]:
    """Mean and standard deviation of the scores on the training rows."""
    scores, w = model.score_samples(safe_indexing(X, rows)), weights[rows]
    mean = np.average(scores, weights=w)
    return float(mean), float(np.sqrt(np.average((scores - mean) ** 2, weights=w))) or 1.0
