"""RankBoost: boosting on pairs without storing one (Freund, Iyer, Schapire and Singer 2003)."""

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from hullrank._sklearn import Interval, StrOptions
from hullrank.baselines._weak_rankers import FeatureRankers, PairPotential, StumpRankers, WeakRankers, weak_values
from hullrank.data import check_queries, check_rows, check_target, check_weights, encode_labels
from hullrank.exceptions import NoComparablePairError
from hullrank.metrics import swapped_pairs
from hullrank.models.base import QueryRankerMixin, ScoreLineEstimator, fitting

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
_PERFECT = 1e-30  # a mean pair loss at which nothing is left to learn
_SMOOTHING = 1e-8  # keeps the weight of a weak ranker that makes no mistake finite


class RankBoost(QueryRankerMixin, ScoreLineEstimator):
    """Boosting of weak rankers on the exponential pair loss.

    Minimises the mean of exp(f(x_0) - f(x_1)) over the pairs (of one query) in which x_1 has the higher target. Every
    round gives each pair a weight D in proportion to its loss, takes the weak ranker h with values in [0, 1] and the
    largest |r|, r = sum D (h(x_1) - h(x_0)), and adds alpha h with alpha = 1/2 log((1 + r) / (1 - r)); the loss falls
    at least by the factor sqrt(1 - r^2) (Freund et al. 2003, section 3.2, third method). A round costs O(m n) for any
    number of grades and queries.

    Parameters
    ----------
    n_rounds : int, default=1000
        Most rounds.
    weak_rankers : {"features", "thresholds"}, default="features"
        "features": the features themselves, scaled to [0, 1], which gives a linear score. "thresholds": 1 above a
        threshold and 0 below, for all features and thresholds, which gives a sum of step functions; dense X only.
    tol : float, default=1e-6
        Stop when no weak ranker has |r| above this.
    early_stopping : bool, default=False
        Whether to hold out some samples (whole queries if there are any), stop when their pair accuracy no longer
        rises, and keep the rounds up to the best.
    validation_fraction : float, default=0.1
        Share of the samples (queries) to hold out.
    n_iter_no_change : int, default=50
        Rounds without a rise before stopping.
    random_state : int, RandomState instance or None, default=None
        Seed of the hold-out.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights of the linear score; ``weak_rankers="features"`` only.
    features_, thresholds_, alphas_ : ndarrays of shape (n_iter_,)
        The weak rankers in the order they were chosen (thresholds are NaN for whole features), and their weights.
        An alpha belongs to a weak ranker with values in [0, 1].
    feature_importances_ : ndarray of shape (n_features,)
        Share of every feature in the sum of |alpha|.
    scales_ : ndarray of shape (n_features,)
        Range of every feature on the training rows (infinite if constant); ones for "thresholds".
    losses_ : ndarray of shape (n_iter_ + 1,)
        Mean pair loss before the first and after every round.
    validation_scores_ : ndarray
        Pair accuracy of the held-out samples after every round tried; ``early_stopping=True`` only.
    n_iter_ : int
        Rounds kept.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X has string column names.

    Examples
    --------
    >>> from hullrank import RankBoost
    >>> from hullrank.datasets import make_ordinal
    >>> X, y = make_ordinal(200, 4, random_state=0)
    >>> model = RankBoost(weak_rankers="thresholds", n_rounds=50).fit(X, y)
    >>> bool((model.losses_[1:] < model.losses_[:-1]).all())
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_rounds": [Interval(Integral, 1, None, closed="left")],
        "weak_rankers": [StrOptions({"features", "thresholds"})],
        "tol": [Interval(Real, 0.0, None, closed="left")],
        "early_stopping": ["boolean"],
        "validation_fraction": [Interval(Real, 0.0, 1.0, closed="neither")],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_rounds: int = 1000,
        *,
        weak_rankers: str = "features",
        tol: float = 1e-6,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 50,
        random_state: Any = None,
    ) -> None:
        self.n_rounds = n_rounds
        self.weak_rankers = weak_rankers
        self.tol = tol
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.random_state = random_state

    @fitting
    def fit(self, X: Any, y: Any, *, sample_weight: Any = None, qid: Any = None) -> Self:
        """Boost until no weak ranker helps; Ctrl-C keeps the rounds made so far.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Targets; only their order matters.
        sample_weight : array-like of shape (n_samples,), default=None
            A pair weighs the product of its samples' weights.
        qid : array-like of shape (n_samples,), default=None
            Query ids in any order; only pairs within a query count.

        Returns
        -------
        self : RankBoost
        """
        X = check_rows(self, X, reset=True, sparse=self.weak_rankers == "features")
        codes = encode_labels(y, check_target(X, y)).codes
        weights, queries = check_weights(sample_weight, X), check_queries(qid, X.shape[0])
        self._has_queries = qid is not None
        used = np.flatnonzero(weights)
        held_out = used[:0]
        if self.early_stopping:
            used, held_out = self._split(used, None if qid is None else queries[used])
        potential = PairPotential(codes[used], weights[used], queries[used])
        if potential.total == 0:
            raise NoComparablePairError(
                f"nothing to rank: no two samples (of one query) have different targets, n_samples={len(used)}"
            )
        weak: WeakRankers = FeatureRankers(X[used]) if self.weak_rankers == "features" else StumpRankers(X[used])
        monitor = None
        if self.early_stopping:
            monitor = _HeldOut(X[held_out], codes[held_out], weights[held_out], queries[held_out], weak.scales)
        rounds = self._boost(weak, potential, np.zeros(len(used)), monitor)
        return self._conclude(rounds, weak.scales, monitor)

    def _split(self, used: Ints, queries: Ints | None) -> tuple[Ints, Ints]:
        """Rows to train on and rows to hold out: whole queries if there are any."""
        from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit  # long to load, and only used here

        splitter = ShuffleSplit if queries is None else GroupShuffleSplit
        split = splitter(1, test_size=self.validation_fraction, random_state=self.random_state)
        train, test = next(split.split(used, groups=queries))
        return used[train], used[test]

    def _boost(
        self, weak: WeakRankers, potential: PairPotential, scores: Floats, monitor: "_HeldOut | None"
    ) -> list["_Round"]:
        pi, loss = potential.at(scores)
        rounds = [_Round(0, np.nan, 0.0, loss)]
        try:
            while len(rounds) <= self.n_rounds and loss > _PERFECT:
                choice = weak.best(pi)
                if abs(choice.r) <= self.tol:
                    break
                alpha = 0.5 * np.log((1 + choice.r + _SMOOTHING) / (1 - choice.r + _SMOOTHING))
                scores += alpha * weak.values(choice)
                pi, loss = potential.at(scores)
                rounds.append(_Round(choice.feature, choice.threshold, alpha, loss))
                if monitor is not None and monitor.rounds_since_best(rounds[-1]) >= self.n_iter_no_change:
                    break
        except KeyboardInterrupt:
            if len(rounds) == 1:
                raise
        return rounds

    def _conclude(self, rounds: list["_Round"], scales: Floats, monitor: "_HeldOut | None") -> Self:
        if monitor is not None and monitor.accuracies:
            rounds = rounds[: 2 + int(np.argmax(monitor.accuracies))]
            self.validation_scores_ = np.array(monitor.accuracies)
        self.losses_ = np.array([r.loss for r in rounds])
        self.features_ = np.array([r.feature for r in rounds[1:]], dtype=np.intp)
        self.thresholds_ = np.array([r.threshold for r in rounds[1:]], dtype=np.float64)
        self.alphas_ = np.array([r.alpha for r in rounds[1:]], dtype=np.float64)
        self.scales_ = scales
        self.n_iter_ = len(rounds) - 1
        if self.weak_rankers == "features":
            self.coef_ = np.bincount(self.features_, self.alphas_, minlength=len(scales)) / scales
        return self

    @property
    def feature_importances_(self) -> Floats:
        """Share of every feature in the sum of |alpha|; zeros if nothing was learnt."""
        check_is_fitted(self)
        total = np.bincount(self.features_, np.abs(self.alphas_), minlength=self.n_features_in_)
        return total / max(total.sum(), np.finfo(np.float64).tiny)

    def _scores(self, X: Any) -> Floats:
        return super()._scores(X) if hasattr(self, "coef_") else self._step_scores(X)

    def _step_scores(self, X: Floats) -> Floats:
        """Sum of stumps, feature by feature: sorted thresholds and the running sum of their weights."""
        scores = np.zeros(X.shape[0])
        for j in np.unique(self.features_):
            own = np.flatnonzero(self.features_ == j)
            own = own[np.argsort(self.thresholds_[own], kind="stable")]
            steps = np.concatenate([[0.0], np.cumsum(self.alphas_[own])])
            scores += steps[np.searchsorted(self.thresholds_[own], X[:, j], side="left")]
        return scores

    def staged_score_samples(self, X: Any) -> Iterator[Floats]:
        """Scores of the rows of X after each round.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Yields
        ------
        scores : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        X = _by_columns(check_rows(self, X, sparse=self.weak_rankers == "features"))
        scores = np.zeros(X.shape[0])
        for feature, threshold, alpha in zip(self.features_, self.thresholds_, self.alphas_, strict=True):
            scores += alpha * weak_values(X, feature, threshold, self.scales_)
            yield scores.copy()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.weak_rankers == "features"
        return tags


class _Round(NamedTuple):
    """The weak ranker that a round added, with its weight, and the mean pair loss after it."""

    feature: int
    threshold: float
    alpha: float
    loss: float


class _HeldOut:
    """Pair accuracy of held-out samples, round by round."""

    def __init__(self, X: Any, codes: Ints, weights: Floats, queries: Ints, scales: Floats) -> None:
        self._X, self._scales = _by_columns(X), scales
        self._codes, self._weights, self._queries = codes, weights, queries
        self._scores = np.zeros(len(codes))
        self.accuracies: list[float] = []
        if not PairPotential(codes, weights, queries).total:
            raise NoComparablePairError("the held-out samples have nothing to rank; raise validation_fraction")

    def rounds_since_best(self, last: _Round) -> int:
        """Take note of one more round."""
        self._scores += last.alpha * weak_values(self._X, last.feature, last.threshold, self._scales)
        swapped = swapped_pairs(self._codes, self._scores, qid=self._queries, sample_weight=self._weights)
        self.accuracies.append(1 - swapped)
        return len(self.accuracies) - 1 - int(np.argmax(self.accuracies))


def _by_columns(X: Any) -> Any:
    return sp.csc_array(X) if sp.issparse(X) else X
