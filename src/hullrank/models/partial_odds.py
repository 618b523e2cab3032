"""Thresholds that depend on a few features, where one direction is not enough for all of them."""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import block_diag
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils.validation import check_is_fitted

from hullrank._sklearn import Interval, StrOptions
from hullrank.data import Labels, check_rows, check_target, check_weights, encode_labels
from hullrank.exceptions import HullrankError, LabelError
from hullrank.metrics.brant import proportional_odds_test
from hullrank.models.base import OrderedClassesMixin, fitting, hand_over_start, keep_start
from hullrank.models.margins import FixedMarginClassifier
from hullrank.problem.interval_statement import IntervalStatement
from hullrank.problem.rows import linear_scores
from hullrank.problem.statement import Point

Floats = NDArray[np.float64]


class PartialOddsClassifier(OrderedClassesMixin, MetaEstimatorMixin, BaseEstimator):
    """Ordinal classifier in which a few features may count differently at every threshold (partial proportional odds).

    One direction w for all thresholds says that a feature that tells the lowest classes apart tells the highest apart
    just so. Here the question "above class j?" has the score w.x + v_j.x_S - b_j, where S are the features for which a
    test (Brant 1990) says that one direction is not enough. All questions are one problem,

        1/2 |w|^2 + 1/2 sum_j |v_j|^2 + C sum over samples and thresholds of charge(1 -+ score),

    stated as that of `FixedMarginClassifier` with one group of rows for every threshold, and certified as such. Without
    such features it is `FixedMarginClassifier(thresholds="all")`.

    Parameters
    ----------
    estimator : FixedMarginClassifier, default=None
        C, loss, classes, class_weight, tol and so on; linear. None is one with its defaults.
    features : "auto" or array-like of int or str, default="auto"
        Numbers or names of the features that may count differently; "auto" tests all columns.
    level : float, default=0.05
        Probability of freeing any feature that need not be (Holm's correction over the columns).
    warm_start : bool, default=False
        Start from where the last fit ended (another C, the same samples and free features).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (n_features,)
        w.
    departures_ : ndarray of shape (n_classes - 1, n_free)
        v_j for the features ``features_``.
    features_ : ndarray of shape (n_free,)
    p_values_ : ndarray of shape (n_features,)
        Of Brant's test, for every column, with the covariance that the residuals of the rows give. A weight is a
        repetition; class weights do not enter. Where classes can be separated the test hardly ever rejects: give
        ``features`` yourself.
    thresholds_ : ndarray of shape (n_classes - 1,)
        b_j.
    certificate_ : Certificate
    estimator_ : FixedMarginClassifier
        Fitted to the rows of all questions.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    References
    ----------
    R. Brant: Assessing proportionality in the proportional odds model. Biometrics 46, 1990.
    B. Peterson, F. E. Harrell: Partial proportional odds models. Applied Statistics 39, 1990.

    Examples
    --------
    >>> import numpy as np
    >>> from hullrank import PartialOddsClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(600, 3))
    >>> low, high = X @ [1, 1, 0] + rng.logistic(size=600) > 0, X @ [1, -1, 0] + rng.logistic(size=600) > 0
    >>> model = PartialOddsClassifier().fit(X, low.astype(int) + (low & high))  # the second feature turns round
    >>> bool(1 in model.features_), bool(2 in model.features_)
    (True, False)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [BaseEstimator, None],
        "features": [StrOptions({"auto"}), "array-like"],
        "level": [Interval(Real, 0, 1, closed="neither")],
        "warm_start": ["boolean"],
    }

    def __init__(
        self, estimator: Any = None, *, features: Any = "auto", level: float = 0.05, warm_start: bool = False
    ) -> None:
        self.estimator = estimator
        self.features = features
        self.level = level
        self.warm_start = warm_start

    @fitting
    def fit(self, X: Any, y: Any, *, sample_weight: Any = None) -> Self:
        """Test which features need more than one direction, and learn all thresholds as one problem.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            Price of each sample's slack; a weight is a repetition, also for the test.

        Returns
        -------
        self : object
        """
        rows, labels, prices = self._checked(X, y, sample_weight)
        self.p_values_ = proportional_odds_test(rows, labels.codes, check_weights(sample_weight, rows))
        self.features_ = self._freed(rows.shape[1])
        model = clone(self._inner).set_params(classes=None, thresholds="immediate", class_weight=None)
        expanded, above, given = self._questions(rows, labels, prices)
        self.estimator_ = hand_over_start(self, model).fit(expanded, above, **given)
        keep_start(self, self.estimator_)
        self.classes_, self.certificate_ = labels.classes, self.estimator_.certificate_
        self.thresholds_ = self.estimator_.group_thresholds_[:, 0]
        self.coef_, departures = np.split(self.estimator_.coef_, [rows.shape[1]])
        self.departures_ = departures.reshape(len(self.thresholds_), len(self.features_))
        return self

    def state(self, X: Any, y: Any, *, sample_weight: Any = None) -> IntervalStatement:
        """The problem that ``fit`` solved on these data: every row once for every threshold.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        statement : IntervalStatement
        """
        check_is_fitted(self)
        expanded, above, given = self._questions(*self._checked(X, y, sample_weight))
        return self.estimator_.state(expanded, above, **given)

    def candidate(self, statement: IntervalStatement) -> Point:
        """The fitted attributes as a point of the stated problem.

        Parameters
        ----------
        statement : IntervalStatement
            What ``state`` returned for the training data.

        Returns
        -------
        point : Point
        """
        coef = np.concatenate([self.coef_, self.departures_.ravel()])
        return Point(coef, self.estimator_.candidate(statement).thresholds)

    @property
    def _inner(self) -> FixedMarginClassifier:
        inner = FixedMarginClassifier() if self.estimator is None else self.estimator
        if not isinstance(inner, FixedMarginClassifier) or inner.kernel != "linear" or inner.monotonic_cst is not None:
            raise HullrankError("estimator must be a linear FixedMarginClassifier without signs of features")
        return inner

    def _checked(self, X: Any, y: Any, sample_weight: Any) -> tuple[Floats, Labels, Floats]:
        """Rows, labels (of rows without weight: any), and the weights of rows times those of their classes."""
        inner, fitted = self._inner, hasattr(self, "estimator_")
        rows = check_rows(self, X, reset=not fitted)
        values = check_target(rows, y, discrete=inner.classes is None).copy()
        weights = check_weights(sample_weight, rows)
        values[weights == 0] = values[np.argmax(weights > 0)]
        labels = encode_labels(y, values, self.classes_.tolist() if fitted else inner.classes)
        if len(labels.classes) < 2:
            raise LabelError(f"y has only one class, {labels.classes.tolist()[0]!r}; ranking needs two")
        totals = np.asarray(np.bincount(labels.codes, weights, len(labels.classes)), dtype=np.float64)
        factors = inner._class_weights(labels, totals)
        return rows.toarray() if sp.issparse(rows) else rows, labels, weights * factors[labels.codes]

    def _freed(self, n: int) -> NDArray[np.intp]:
        """Features given, or those that Holm's procedure rejects."""
        if not isinstance(self.features, str):
            place: dict[Any, int] = {name: k for k, name in enumerate(getattr(self, "feature_names_in_", ()))}
            given = [place.get(feature, feature) for feature in self.features]
            if not all(isinstance(k, Integral) and 0 <= int(k) < n for k in given):
                known = f" or names among {', '.join(map(repr, list(place)[:5]))}" if place else ""
                raise HullrankError(f"features are numbers of columns from 0 to {n - 1}{known}, got {given}")
            return np.unique(np.array(given, dtype=np.intp))
        by_size = np.argsort(self.p_values_, kind="stable")
        limits = self.level / np.arange(n, 0, -1)
        rejected = np.logical_and.accumulate(self.p_values_[by_size] <= limits)
        return np.sort(by_size[rejected])

    def _questions(
        self, X: Floats, labels: Labels, prices: Floats
    ) -> tuple[Floats, NDArray[np.intp], dict[str, NDArray[Any]]]:
        """Every sample once for every threshold: its features, those that are free in columns of the threshold."""
        n = len(labels.classes) - 1
        free = [X[:, self.features_]] * n
        expanded = np.hstack([np.tile(X, (n, 1)), block_diag(*free)])
        threshold = np.repeat(np.arange(n), len(X))
        above = (np.tile(labels.codes, n) > threshold).astype(np.intp)
        return expanded, above, {"groups": threshold, "sample_weight": np.tile(prices, n)}

    def threshold_scores(self, X: Any) -> Floats:
        """The score of every question "above class j?"; positive says yes.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples, n_classes - 1)
        """
        check_is_fitted(self)
        rows = check_rows(self, X)
        weights = np.repeat(self.coef_[:, None], len(self.thresholds_), axis=1)
        weights[self.features_] += self.departures_.T
        return linear_scores(rows, weights) - self.thresholds_

    def stated_scores(self, X: Any) -> Floats:
        """The scores w.x + v_j.x_S of the rows of the stated problem: all rows of X for one threshold after the other.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples * (n_classes - 1),)
        """
        return (self.threshold_scores(X) + self.thresholds_).T.ravel()

    def score_samples(self, X: Any) -> Floats:
        """The mean score over the thresholds; higher means ranked higher.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples,)
        """
        return self.threshold_scores(X).mean(axis=1)

    def decision_function(self, X: Any) -> Floats:
        """The score (two classes), else one value per class: the sum of the scores of the thresholds below it.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        values : ndarray of shape (n_samples,) for two classes, else (n_samples, n_classes)
        """
        scores = self.threshold_scores(X)
        if scores.shape[1] == 1:
            return scores[:, 0]
        return np.column_stack([np.zeros(len(scores)), np.cumsum(scores, axis=1)])

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of the largest ``decision_function``: above as many thresholds as the row is, where they agree.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        values = self.decision_function(X)
        return self.classes_[(values > 0).astype(np.intp) if values.ndim == 1 else values.argmax(axis=1)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags
