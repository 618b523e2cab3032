"""What all estimators share: a place on the score line, all-or-nothing fitting, honest endings."""

import warnings
from collections.abc import Callable
from functools import cache, lru_cache, wraps
from inspect import signature
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from hullrank._sklearn import validate_parameter_constraints
from hullrank._threads import one_blas_thread
from hullrank.data import check_rows
from hullrank.data.checks import is_source
from hullrank.exceptions import ConvergenceWarning, HullrankError, QueryWarning
from hullrank.metrics import scoring_order, swapped_pairs, wmw_score
from hullrank.problem.certificate import Certificate, Status
from hullrank.problem.rows import linear_scores

Fit = TypeVar("Fit", bound=Callable[..., Any])


def fitting(fit: Fit) -> Fit:
    """Decorate ``fit``: it starts without the attributes of an earlier fit, and an error brings them back.

    Parameters are validated first. Only what a warm start needs outlives a new fit. BLAS runs on one thread meanwhile:
    the products of a fit are small, and threads that wait for each other, beside other work, cost up to twenty fits.
    """
    return _all_or_nothing(fit, afresh=True)


def fitting_on(partial_fit: Fit) -> Fit:
    """Decorate ``partial_fit``: it goes on from the fitted attributes, and an error leaves them as they were."""
    return _all_or_nothing(partial_fit, afresh=False)


def _all_or_nothing(fit: Fit, *, afresh: bool) -> Fit:
    parameters = signature(fit).parameters
    takes_queries, takes_blocks = "qid" in parameters, parameters["y"].default is None  # blocks have their own targets

    @wraps(fit)
    def all_or_nothing(self: Any, *args: Any, **kwargs: Any) -> Any:
        if "qid" in kwargs and not takes_queries:
            raise HullrankError(
                f"{type(self).__name__} places classes on one score line for all rows and takes no qid; to rank within "
                "queries use SwappedPairsRanker, SampledPairsRanker, ExactRanker or RankBoost"
            )
        if not takes_blocks and is_source(args[0] if args else kwargs.get("X")):
            raise HullrankError(
                f"{type(self).__name__} takes no blocks: it needs X and y in memory. Blocks are taken by fit of "
                "ConvexHullRanker, FixedMarginClassifier, NuMarginClassifier, SumOfMarginsClassifier and "
                "SwappedPairsRanker, with linear scores"
            )
        goes_on = not afresh and self.__sklearn_is_fitted__()
        if not (goes_on or get_config()["skip_parameter_validation"]):
            self._validate_params()
        before = dict(vars(self))
        if afresh:
            _forget(self)
        try:
            with one_blas_thread():
                return fit(self, *args, **kwargs)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return all_or_nothing  # type: ignore[return-value]


def _forget(estimator: Any) -> None:
    """Drop the fitted attributes, whose names end with an underscore, and ``_warm`` where no warm start is asked for.

    Other private names stay: every fit writes its own anew, and scikit-learn keeps routing and callbacks under some.
    """
    for name in list(vars(estimator)):
        fitted = name.endswith("_") and not name.startswith("_")
        if fitted or (name == "_warm" and not estimator.warm_start):
            delattr(estimator, name)


def hand_over_start(outer: Any, inner: Any) -> Any:
    """Let an unfitted inner estimator start from where that of the last fit ended, if ``outer.warm_start`` asks so."""
    if outer.warm_start:
        inner.set_params(warm_start=True)
        if hasattr(outer, "_warm"):
            inner._warm = outer._warm
    return inner


def keep_start(outer: Any, inner: Any) -> None:
    """Remember where the fit of the inner estimator ended, for the next one."""
    if outer.warm_start and hasattr(inner, "_warm"):
        outer._warm = inner._warm


_CURE = "standardise the features, lower C, or raise max_iter or tol"
_CURES = {
    Status.INTERRUPTED: "it was interrupted; the best answer so far is kept",
    Status.PRECISION: "standardise the features (is their mean far from 0 beside their spread?), lower C, or raise tol",
}


def warn_unless_converged(certificate: Certificate, tol: float, cure: str = _CURE) -> None:
    """A fit that did not reach ``tol`` says so, and names what to change."""
    if certificate.status in (Status.CONVERGED, Status.APPROXIMATED):
        return
    gap = f"at a relative gap of {certificate.relative_gap:.2g} (tol={tol:g})"
    reason = f" because {certificate.cause}" if certificate.cause else ""
    warnings.warn(
        f"{certificate.solver} ended with status '{certificate.status}' after {certificate.iterations} iterations "
        f"{gap}{reason}; {_CURES.get(certificate.status, cure)}",
        ConvergenceWarning,
        stacklevel=6,
    )


@lru_cache(maxsize=200, typed=True)
def _validate_plain(kind: Any, *values: Any) -> None:
    """Check the values of an estimator's parameters, which takes a seventh of a small fit."""
    names = kind._get_param_names()
    validate_parameter_constraints(kind._parameter_constraints, dict(zip(names, values, strict=True)), kind.__name__)


class ScoreLineEstimator(BaseEstimator):
    """An estimator that places samples on the score line; linear unless ``_scores`` is overridden."""

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Place every row of X on the score line; higher means ranked higher.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        return self._scores(check_rows(self, X, copied=not self._reads_pieces))

    @property
    def _reads_pieces(self) -> bool:
        """Whether scores come from some rows at a time, for which X may lie in memory as it likes."""
        return False

    def _scores(self, X: Any) -> NDArray[np.float64]:
        return linear_scores(X, self.coef_)

    def summary(self, X: Any = None, y: Any = None, **options: Any) -> Any:
        """What the model learned, as tables; with the training data, with bootstrap errors.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features), default=None
        y : array-like of shape (n_samples,), default=None
        **options : ``names``, ``n_resamples``, ``level``, ``random_state``, ``sample_weight``, ``qid``: see
            `hullrank.summarise`, which also takes pipelines

        Returns
        -------
        summary : Summary
        """
        from hullrank.models.summary import summarise

        return summarise(self, X, y, **options)

    def _validate_params(self) -> None:
        """Check the parameters as scikit-learn does, but plain values that were checked lately not once more."""
        values = [getattr(self, name) for name in self._get_param_names()]
        if all(value is None or isinstance(value, str | int | float) for value in values):
            kind: Any = type(self)
            _validate_plain(kind, *values)
        else:
            super()._validate_params()

    @classmethod
    @cache
    def _get_param_names(cls) -> list[str]:
        """The names of the parameters, read from the signature once: every fit asks for them."""
        return super()._get_param_names()

    def _get_params_html(self, *args: Any, **options: Any) -> Any:
        """What scikit-learn's diagrams show of a step: its parameters and, once fitted, the score line.

        A diagram of this estimator alone shows it at once, one of a pipeline when its step is opened.
        """
        from hullrank.plots.svg import score_line_svg

        shown = super()._get_params_html(*args, **options)
        inner = shown._repr_html_inner
        shown._repr_html_inner = lambda: inner() + score_line_svg(self)
        return shown

    def __sklearn_is_fitted__(self) -> bool:
        """Weights, or iterations of a fit, are enough: points on a path of C have no certificate."""
        return hasattr(self, "coef_") or hasattr(self, "n_iter_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        return tags


class RankerMixin:
    """A ranker predicts scores; its own score is pair accuracy."""

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Scores of the rows of X, the same as ``score_samples``."""
        return self.score_samples(X)  # type: ignore[attr-defined]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Pair accuracy: the share of the sample pairs that the order can compare which are ranked right.

        All pairs count that lie along a path of the order graph, so that models with different graphs for one order
        (chain or full) can be compared; `hullrank.metrics.wmw_score` counts along edges.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        score : float in [0, 1]; NaN with a warning when no pair can be compared
        """
        return wmw_score(y, self.predict(X), order=scoring_order(self, y), sample_weight=sample_weight)


class QueryRankerMixin(RankerMixin):
    """A ranker that compares samples within queries; ``fit`` notes by ``_has_queries`` whether it was given any."""

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, qid: Any = None) -> float:
        """Pair accuracy: the share of the pairs (of one query) with different targets that are ranked right.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            A pair weighs the product of its samples' weights.
        qid : array-like of shape (n_samples,), default=None
            Query ids; only pairs within a query count. A model that was fitted within queries and is scored without
            them warns that pairs are counted across queries, as scikit-learn's model selection does without routing.

        Returns
        -------
        score : float in [0, 1]; NaN with a warning when no pair can be compared
        """
        if qid is None and getattr(self, "_has_queries", False):
            warnings.warn(
                f"this {type(self).__name__} was fitted within queries and is scored across them; pass qid, or "
                "route it: sklearn.set_config(enable_metadata_routing=True) and set_score_request(qid=True)",
                QueryWarning,
                stacklevel=2,
            )
        return 1.0 - swapped_pairs(y, self.predict(X), qid=qid, sample_weight=sample_weight)


class OrderedClassesMixin(ClassifierMixin):
    """A classifier that places classes on one line, of which scikit-learn's checks must not expect high accuracy."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags


class OrdinalClassifierMixin(OrderedClassesMixin):
    """A classifier that cuts the score line at ``thresholds_``."""

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

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Distance to the threshold (two classes), else one value per class whose argmax is the prediction.

        With f the score and b_0 <= ... <= b_{K-2} the thresholds, g_k = k f - sum_{j<k} b_j.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        values : ndarray of shape (n_samples,) for two classes, else (n_samples, n_classes)
        """
        scores = self.score_samples(X)
        if len(self.classes_) == 2:
            return scores - self.thresholds_[0]
        grade = np.arange(len(self.classes_))
        return scores[:, None] * grade - np.concatenate([[0.0], np.cumsum(self.thresholds_)])
