"""The informative vector machine for ordered classes: a sparse Gaussian process (Lawrence, Seeger, Herbrich 2002)."""

import warnings
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.base import ClassifierMixin
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Kernel, WhiteKernel
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils import check_random_state, gen_batches
from sklearn.utils.validation import check_is_fitted

from hullrank._sklearn import Interval, StrOptions
from hullrank.baselines._assumed_density import Filtered, Posterior, Prior, Selection, filter_greedily
from hullrank.baselines._ordered_noise import class_probabilities, fit_thresholds, prior_thresholds
from hullrank.data import Labels, check_rows, check_target, encode_labels
from hullrank.exceptions import ConvergenceWarning, LabelError
from hullrank.models._constraints import positive
from hullrank.models.base import ScoreLineEstimator, fitting

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
_TUNING_ROWS = 2000  # hyperparameters are chosen on at most so many samples,
_TUNING_ACTIVE = 100  # at most so many of them active
_BATCH = 4096
_FIRST_STEPS = (0.5, -0.5, -2.0)  # of the search, in the logarithms of signal, length and bias
_RANGE = (1e-3, 1e4)  # of variances; length scales move within this range of their start


class InformativeVectorClassifier(ClassifierMixin, ScoreLineEstimator):
    """Sparse Gaussian process for ordered classes, built from the most informative samples.

    The score has the prior GP(0, signal RBF(length) + bias); with white noise of variance 1 added (the scale of the
    score is free), it falls between the thresholds of its class. Samples are taken in one by one, each time the one of
    some candidates that removes most entropy from the posterior, by matching the moments of the score (assumed-density
    filtering; Lawrence, Seeger and Herbrich 2002, sections 2 and 3): O(m d^2) for d of m samples. Signal, length and
    bias maximise the likelihood of the active samples times that of every other sample given those; in the end the
    thresholds maximise the likelihood of all samples given the posterior.

    Parameters
    ----------
    n_active : int, default=100
        Most samples to take in.
    selection : {"observed", "expected"}, default="observed"
        Entropy removed by the class a sample has (the paper's rule), or on average over the classes it may have. The
        former prefers samples in unlikely classes, which makes the probabilities under-confident on noisy data.
    n_candidates : int, default=5
        How many samples, drawn at random, a step chooses from; None is all, the paper's full greedy choice. That
        prefers outliers and wrong labels, which remove most entropy; the best of few cannot take them in more than so
        many times as often as chance would.
    signal_variance, bias_variance : float, default=10.0, 1.0
        Variances of the kernel, in units of the white noise; where the search starts if ``tune=True``.
    length_scale : float, default=None
        Length of the RBF kernel, or where the search starts. None is the median distance between samples.
    tune : bool, default=True
        Whether to search for the hyperparameters, on at most 2000 samples, at most 100 of them active.
    max_iter : int, default=200
        Most evaluations of the likelihood in that search.
    classes : list, default=None
        Labels from lowest to highest; None takes the order of the labels themselves.
    random_state : int, RandomState instance or None, default=None
        Seed of the candidates, and of the choice of those 2000 samples.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels, lowest first.
    thresholds_ : ndarray of shape (n_classes - 1,)
        Where the score line is cut.
    active_ : ndarray of shape (n_taken,)
        Rows taken in, in that order; at most ``n_active``.
    active_vectors_ : (n_taken, n_features)
        Those rows of X.
    dual_coef_ : ndarray of shape (n_taken,)
        The mean score is ``k(x, active_vectors_) @ dual_coef_``.
    signal_variance_, length_scale_, bias_variance_ : float
        The hyperparameters found.
    kernel_ : sklearn.gaussian_process.kernels.Kernel
        The kernel they make, with its white noise.
    log_marginal_likelihood_value_ : float
        The quantity maximised, on the samples used for the search (on all of them if ``tune=False``).
    n_iter_ : int
        Evaluations of the likelihood.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X has string column names.

    Examples
    --------
    >>> from hullrank import InformativeVectorClassifier
    >>> from hullrank.datasets import make_ordinal
    >>> X, y = make_ordinal(300, 2, surface="saddle", n_classes=3, random_state=0)
    >>> model = InformativeVectorClassifier(40, random_state=0).fit(X[:200], y[:200])
    >>> model.predict_proba(X[200:]).shape
    (100, 3)
    >>> model.score(X[200:], y[200:]) > 0.8
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_active": [Interval(Integral, 1, None, closed="left")],
        "selection": [StrOptions({"expected", "observed"})],
        "n_candidates": [Interval(Integral, 1, None, closed="left"), None],
        "signal_variance": [positive()],
        "length_scale": [positive(), None],
        "bias_variance": [positive()],
        "tune": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "classes": ["array-like", None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_active: int = 100,
        *,
        selection: str = "observed",
        n_candidates: int | None = 5,
        signal_variance: float = 10.0,
        length_scale: float | None = None,
        bias_variance: float = 1.0,
        tune: bool = True,
        max_iter: int = 200,
        classes: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_active = n_active
        self.selection = selection
        self.n_candidates = n_candidates
        self.signal_variance = signal_variance
        self.length_scale = length_scale
        self.bias_variance = bias_variance
        self.tune = tune
        self.max_iter = max_iter
        self.classes = classes
        self.random_state = random_state

    @fitting
    def fit(self, X: Any, y: Any) -> Self:
        """Find the hyperparameters, take in the active samples, place the thresholds.

        Ctrl-C goes on with the best hyperparameters found so far; once more, with the samples taken in so far.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        self : InformativeVectorClassifier
        """
        X = check_rows(self, X, reset=True)
        labels = encode_labels(y, check_target(X, y, discrete=self.classes is None), self.classes)
        if len(labels.classes) < 2:
            raise LabelError(f"ordered classes must be two or more; y has only one class, {labels.classes[0]!r}")
        order = _from_the_centre(X)
        X, labels = X[order], Labels(labels.classes, labels.codes[order])
        rng = check_random_state(self.random_state)
        selection = Selection(self.selection == "expected", self.n_candidates, int(rng.randint(np.iinfo(np.int32).max)))
        prior = self._search(X, labels, selection, rng)
        filtered = self._filter(X, labels, np.arange(X.shape[0]), selection, prior)
        thresholds = prior_thresholds(labels.codes, len(labels.classes), prior.variance)
        self.thresholds_ = fit_thresholds(filtered.mean, filtered.variance, labels.codes, thresholds)
        if not self.tune:
            self.n_iter_, self.log_marginal_likelihood_value_ = 1, filtered.log_likelihood
        self.classes_, self.active_ = labels.classes, order[filtered.active]
        self.signal_variance_, self.length_scale_, self.bias_variance_ = prior
        posterior = Posterior.from_sites(prior, X[filtered.active], filtered)
        self.active_vectors_, self.dual_coef_ = posterior.X, posterior.weights
        self._root, self._factor = posterior.root, posterior.factor
        return self

    def _search(self, X: Any, labels: Labels, selection: Selection, rng: np.random.RandomState) -> Prior:
        """The hyperparameters of the largest likelihood, by Nelder and Mead's simplex in their logarithms."""
        rows = np.arange(X.shape[0])
        if len(rows) > _TUNING_ROWS:
            rows = np.sort(rng.permutation(rows)[:_TUNING_ROWS])
        distances = euclidean_distances(X[rows], squared=True)
        start = Prior(self.signal_variance, self.length_scale or _median_distance(distances), self.bias_variance)
        if not self.tune:
            return start
        tried: list[tuple[float, Prior]] = []

        def loss(t: Floats) -> float:
            prior = Prior(*np.exp(t).tolist())
            value = -self._filter(X, labels, rows, selection, prior, distances).log_likelihood
            tried.append((value, prior))
            return value

        scales = np.array([1.0, start.length, 1.0])
        limits = np.log(np.outer(scales, _RANGE))
        x0 = np.clip(np.log(start), *limits.T)
        simplex = np.vstack([x0, x0 + np.diag(_FIRST_STEPS)])
        options = {"maxfev": self.max_iter, "xatol": 0.05, "fatol": 0.1, "initial_simplex": simplex}
        try:
            found = minimize(loss, x0, method="Nelder-Mead", bounds=limits, options=options)
            if not found.success:
                warnings.warn(
                    f"the search for hyperparameters ended after max_iter={self.max_iter} evaluations; raise max_iter",
                    ConvergenceWarning,
                    stacklevel=4,
                )
        except KeyboardInterrupt:
            if not tried:
                raise
        self.n_iter_ = len(tried)
        value, best = min(tried)
        self.log_marginal_likelihood_value_ = -value
        return best

    def _filter(
        self, X: Any, labels: Labels, rows: Ints, selection: Selection, prior: Prior, distances: Floats | None = None
    ) -> Filtered:
        thresholds = prior_thresholds(labels.codes, len(labels.classes), prior.variance)

        def column(i: int) -> Floats:
            return euclidean_distances(X, X[[i]], squared=True).ravel() if distances is None else distances[i]

        most = self.n_active if distances is None else min(self.n_active, _TUNING_ACTIVE)
        n_active = min(most, len(rows))
        return filter_greedily(column, prior, labels.codes[rows], thresholds, n_active, selection)

    def score_samples(self, X: Any, *, return_variance: bool = False) -> Any:
        """Posterior mean of the score of every row of X, and its variance if asked for.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        return_variance : bool, default=False

        Returns
        -------
        mean : ndarray of shape (n_samples,)
        variance : ndarray of shape (n_samples,)
            Of the score without white noise; only with ``return_variance=True``.
        """
        check_is_fitted(self)
        X = check_rows(self, X)
        prior = Prior(self.signal_variance_, self.length_scale_, self.bias_variance_)
        posterior = Posterior(prior, self.active_vectors_, self.dual_coef_, self._root, self._factor)
        parts = [posterior.at(X[rows]) for rows in gen_batches(X.shape[0], _BATCH)]
        mean, variance = (np.concatenate(part) for part in zip(*parts, strict=True))
        return (mean, variance) if return_variance else mean

    @property
    def kernel_(self) -> Kernel:
        """The kernel found, with its white noise, as scikit-learn writes it."""
        check_is_fitted(self)
        signal, bias = ConstantKernel(self.signal_variance_), ConstantKernel(self.bias_variance_)
        return signal * RBF(self.length_scale_) + bias + WhiteKernel(1.0)

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        mean, variance = self.score_samples(X, return_variance=True)
        return class_probabilities(mean, variance, self.thresholds_)

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of every row of X.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        places = self.predict_proba(X).argmax(axis=1)
        return self.classes_[places]


def _from_the_centre(X: Any) -> Ints:
    """Rows by their distance to the mean row: of samples that tell equally much, the most central goes first."""
    centre = np.asarray(X.mean(axis=0)).reshape(1, -1)
    return np.argsort(euclidean_distances(X, centre).ravel().round(10), kind="stable")


def _median_distance(squared: Floats) -> float:
    """The median distance between different samples; 1 if there are none."""
    distances = squared[squared > 0]
    return float(np.sqrt(np.median(distances))) if len(distances) else 1.0
