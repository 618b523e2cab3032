"""Estimators that choose their own C, kernel width and loss by cross-validation."""

from numbers import Integral
from time import perf_counter
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import ParameterGrid
from sklearn.utils import indexable
from sklearn.utils.validation import check_is_fitted

from hullrank._sklearn import Interval
from hullrank.data import check_queries, check_rows, check_target, check_weights
from hullrank.exceptions import HullrankError
from hullrank.model_selection._grid import Rated, run_grid
from hullrank.model_selection._scoring import Scorer, deal, refuse_empty_folds
from hullrank.model_selection._search import BestEstimator
from hullrank.models.base import OrderedClassesMixin, fitting
from hullrank.models.hull import ConvexHullRanker
from hullrank.models.margins import FixedMarginClassifier
from hullrank.models.pairs import SwappedPairsRanker

Floats = NDArray[np.float64]
_AROUND = 0.01, 100.0  # the ends of the default grid of C, in units of C="scale"


class PathCV(BestEstimator):
    """What the cross-validated estimators share; subclasses name the estimator."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "Cs": [Interval(Integral, 1, None, closed="left"), "array-like"],
        "gammas": ["array-like", None],
        "losses": ["array-like", None],
        "estimator": [BaseEstimator, None],
        "cv": ["cv_object"],
        "scoring": [str, callable, None],
        "one_standard_error": ["boolean"],
        "complete": ["boolean"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        Cs: Any = 7,
        *,
        gammas: Any = None,
        losses: Any = None,
        estimator: Any = None,
        cv: Any = None,
        scoring: Any = None,
        one_standard_error: bool = False,
        complete: bool = False,
        verbose: int = 0,
    ) -> None:
        self.Cs = Cs
        self.gammas = gammas
        self.losses = losses
        self.estimator = estimator
        self.cv = cv
        self.scoring = scoring
        self.one_standard_error = one_standard_error
        self.complete = complete
        self.verbose = verbose

    def _search(self, X: Any, y: Any, groups: Any, metadata: dict[str, Any]) -> Self:
        """Rate the grid, choose, and fit the choice on all rows."""
        inner = self._checked_inner("use GridSearchCV for others")
        _, y = indexable(X, y)
        rows = check_rows(self, X, reset=True, sparse=inner.kernel != "precomputed")
        discrete = getattr(inner, "_discrete", False) and inner.classes is None
        values = check_target(rows, y, discrete=discrete)
        given = {name: each for name, each in metadata.items() if each is not None}
        if "sample_weight" in given:
            given["sample_weight"] = check_weights(given["sample_weight"], rows)
        if "qid" in given:
            given["qid"] = check_queries(given["qid"], rows.shape[0])
        points = self._points(inner, self._Cs(inner, X, y, given))
        scorer = Scorer(self.scoring, inner)
        folds = deal(self.cv, inner, values, given.get("qid") if groups is None else groups)
        refuse_empty_folds(folds, given.get("sample_weight"))
        codes = np.unique(values, return_inverse=True)[1]
        data = Rated(rows, _plain(y), given, inner.kernel == "precomputed", codes)
        complete = self.complete or self.one_standard_error
        table = run_grid(inner, points, data, folds, scorer, complete=complete, verbose=self.verbose)
        self.cv_results_, self.n_splits_ = table.results(), len(folds)
        self.n_folds_run_ = table.ran.sum(axis=1)
        self.best_index_ = table.simplest() if self.one_standard_error else table.best()
        self.best_params_ = points[self.best_index_]
        self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])
        began = perf_counter()
        self.best_estimator_ = clone(inner).set_params(**self.best_params_).fit(X, y, **given)
        self.refit_time_ = perf_counter() - began
        return self

    def _Cs(self, inner: Any, X: Any, y: Any, given: dict[str, Any]) -> list[Any]:
        """The values of C: those given, or so many around C="scale" on all rows."""
        if isinstance(self.Cs, Integral):
            scale = clone(inner).set_params(C="scale")._stated_price(X, y, **given)
            return (scale * np.geomspace(*_AROUND, int(self.Cs))).tolist()
        if any(isinstance(C, str) for C in self.Cs):
            raise HullrankError("Cs must be numbers, or one integer for so many around C='scale'")
        return list(self.Cs)

    def _points(self, inner: Any, Cs: list[Any]) -> list[dict[str, Any]]:
        """The grid, each value checked as the estimator itself would check it."""
        if self.gammas is not None and inner.kernel in ("linear", "precomputed"):
            raise HullrankError(f"kernel={inner.kernel!r} has no gamma; use gammas=None, or kernel='rbf'")
        tried = {"C": Cs, "gamma": self.gammas, "loss": self.losses}
        grid = {name: list(values) for name, values in tried.items() if values is not None}
        for name, values in grid.items():
            if not values:
                raise HullrankError(f"there is no value of {name} to try; name at least one")
            for value in values:
                clone(inner).set_params(**{name: value})._validate_params()
        return list(ParameterGrid(grid))

    def _rate(self, X: Any, y: Any, **metadata: Any) -> float:
        check_is_fitted(self)
        given = {name: each for name, each in metadata.items() if each is not None}
        return Scorer(self.scoring, self.best_estimator_)(self.best_estimator_, X, y, given)


def _plain(y: Any) -> Any:
    """An array of objects that are all of one type as an array of that type, which scikit-learn's metrics ask for."""
    if isinstance(y, np.ndarray) and y.dtype.kind == "O" and len({type(value) for value in y.tolist()}) == 1:
        return np.array(y.tolist())
    return y


class ClassPathCV(PathCV):
    """What the cross-validated estimators of classes share: rows have weights and groups, but no queries."""

    @fitting
    def fit(self, X: Any, y: Any, *, sample_weight: Any = None, groups: Any = None) -> Self:
        """Rate the grid on the folds, and fit the best point on all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            Price of each sample's slack, and its weight in the score.
        groups : array-like of shape (n_samples,), default=None
            Rows of one group are never split between learning and rating.

        Returns
        -------
        self : object
        """
        return self._search(X, y, groups, {"sample_weight": sample_weight})


class FixedMarginClassifierCV(OrderedClassesMixin, ClassPathCV):
    """`FixedMarginClassifier` with C, gamma and loss chosen by cross-validation.

    The choice is that of GridSearchCV over the same grid and folds. Every solve starts from the solution of its
    neighbour on the grid, data are checked once for each fold and gamma, and kernel values are computed once for each
    gamma.

    Parameters
    ----------
    Cs : int or sequence of float, default=7
        The values of C to try; an integer is so many from a hundredth to a hundredfold of C="scale" on all rows, evenly
        spaced on a logarithmic scale.
    gammas : sequence of float or {"scale", "auto"}, default=None
        The values of gamma to try; None is that of the estimator. Only for kernels that have one.
    losses : sequence of {"hinge", "squared_hinge", "logistic"}, default=None
        The losses to try; None is that of the estimator.
    estimator : estimator of the class that is named in front of CV, default=None
        Whatever else is to be set: kernel, classes, order, tol and so on. None is one with its defaults.
    cv : int, cross-validation splitter or iterable of splits, default=None
        A number of folds (None: 5) keeps groups, or else queries, whole; otherwise folds are stratified by class (for
        rankers: if every value of y occurs at least so often), or else shuffled with a fixed seed.
    scoring : str or callable, default=None
        A name that scikit-learn or `hullrank.metrics.get_scorer` knows, or a function of a fitted estimator, X and y;
        greater is better. None is the estimator's own ``score``. Weights and queries are handed on where it takes them.
    one_standard_error : bool, default=False
        Take the smallest C whose mean score is within one standard error of the best, at the gamma and loss of the
        best: a simpler model that is as good as far as the folds can tell.
    complete : bool, default=False
        Rate every point in every fold. Otherwise, in a grid of several gammas, a point is dropped as soon as it cannot
        win any more: where the largest score that there can be (1 for shares, 0 for errors) in all folds to come would
        leave its mean below that of another point. The choice is the same. Nothing is dropped with
        ``one_standard_error``, or by a score that is not known to have a largest value, such as a function.
    verbose : int, default=0
        Whether to report how much of the grid is rated.

    Attributes
    ----------
    cv_results_ : dict of arrays
        As that of GridSearchCV: ``params``, ``mean_test_score``, ``split0_test_score`` and so on. A point that was
        dropped has NaN in the folds to come and as its mean, and the last rank.
    n_folds_run_ : ndarray of shape (n_points,)
        In how many folds each of them was rated.
    best_params_ : dict
    best_index_ : int
        Their place in ``cv_results_``.
    best_score_ : float
        Their mean score over the folds.
    best_estimator_ : estimator
        Fitted on all rows with these parameters; it has the certificate.
    n_splits_ : int
    refit_time_ : float
        Seconds of that last fit.
    classes_ : ndarray of shape (n_classes,)
        The classes, lowest first.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    See Also
    --------
    hullrank.plots.PathDisplay : The scores against C.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from hullrank import FixedMarginClassifierCV
    >>> from hullrank.datasets import discretize
    >>> X, y = load_diabetes(return_X_y=True)
    >>> search = FixedMarginClassifierCV([0.1, 1, 10, 100], cv=3).fit(X, discretize(y, 3))
    >>> sorted(search.best_params_)
    ['C']
    """

    _base = FixedMarginClassifier

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes, lowest first."""
        return self.best_estimator_.classes_

    def decision_function(self, X: Any) -> Floats:
        """That of the best estimator: distance to the threshold (two classes), else one value per class.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        values : ndarray of shape (n_samples,) for two classes, else (n_samples, n_classes)
        """
        check_is_fitted(self)
        return self.best_estimator_.decision_function(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The score by which the grid was rated: that of ``scoring``, or accuracy."""
        return self._rate(X, y, sample_weight=sample_weight)


class ConvexHullRankerCV(ClassPathCV):
    """`ConvexHullRanker` with C, gamma and loss chosen by cross-validation.

    Parameters and attributes are those of `FixedMarginClassifierCV`; folds are rated by pair accuracy unless
    ``scoring`` says otherwise.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from hullrank import ConvexHullRanker, ConvexHullRankerCV
    >>> X, y = load_wine(return_X_y=True)
    >>> search = ConvexHullRankerCV([1e-4, 1e-2, 1], estimator=ConvexHullRanker("0 < 2 < 1"), cv=3).fit(X, y)
    >>> search.best_score_ > 0.9
    True
    """

    _base = ConvexHullRanker

    def predict_class(self, X: Any) -> NDArray[Any]:
        """The class whose interval is nearest to the score of each row of X, by the best estimator.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        return self.best_estimator_.predict_class(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The score by which the grid was rated: that of ``scoring``, or pair accuracy."""
        return self._rate(X, y, sample_weight=sample_weight)


class SwappedPairsRankerCV(PathCV):
    """`SwappedPairsRanker` with C, gamma and loss chosen by cross-validation.

    Parameters and attributes are those of `FixedMarginClassifierCV`; folds are rated by pair accuracy (within queries)
    unless ``scoring`` says otherwise. C prices the mean pair, so that its values are larger than elsewhere.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from hullrank import SwappedPairsRankerCV
    >>> X, y = load_diabetes(return_X_y=True)
    >>> SwappedPairsRankerCV([1, 1000], cv=3).fit(X, y).best_params_
    {'C': 1000}
    """

    _base = SwappedPairsRanker

    @fitting
    def fit(self, X: Any, y: Any, *, sample_weight: Any = None, qid: Any = None, groups: Any = None) -> Self:
        """Rate the grid on the folds, and fit the best point on all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            A weight is a repetition, in learning and in rating.
        qid : array-like of shape (n_samples,), default=None
            Query ids; only pairs within a query count, and without ``groups`` no fold splits a query.
        groups : array-like of shape (n_samples,), default=None
            Rows of one group are never split between learning and rating.

        Returns
        -------
        self : object
        """
        return self._search(X, y, groups, {"sample_weight": sample_weight, "qid": qid})

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, qid: Any = None) -> float:
        """The score by which the grid was rated: that of ``scoring``, or pair accuracy (within queries)."""
        return self._rate(X, y, sample_weight=sample_weight, qid=qid)
