"""Prediction sets of neighbouring grades that hold the true one as often as promised (split conformal)."""

from math import ceil
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import ShuffleSplit
from sklearn.utils import get_tags, indexable
from sklearn.utils.validation import check_is_fitted

from hullrank._sklearn import HasMethods, Interval, num_samples, safe_indexing
from hullrank.data import check_target
from hullrank.data.checks import refuse_masked
from hullrank.models._cross_scores import rows_of
from hullrank.models._wrapped import WrappingClassifier
from hullrank.models.base import fitting
from hullrank.models.calibration import OrdinalCalibrator

Floats = NDArray[np.float64]


class OrdinalPredictionSets(WrappingClassifier):
    """Sets of neighbouring grades that contain the true grade with a guaranteed probability.

    Some rows, drawn at random, are kept from learning. On them one sees how far a set that grows from the most probable
    grade, always by its likelier neighbour, must grow to reach the true grade; new rows get sets that have grown as far
    as suffices for the share ``coverage`` of the kept rows. If new rows are drawn as the old ones were (exchangeable),
    a set contains the true grade with probability ``coverage`` at least, on average over rows and draws, however wrong
    the probabilities are; the better they are, the smaller the sets.

    Parameters
    ----------
    estimator : estimator
        Anything with ``fit`` and ``score_samples``; its classes must be totally ordered. An estimator that has no
        ``predict_proba`` is put into an `OrdinalCalibrator`.
    coverage : float, default=0.9
        Share of new rows whose set contains the true grade, at least; more than 0 and less than 1.
    calibration_size : float, default=0.25
        Share of the rows that is kept from learning. With fewer than coverage / (1 - coverage) such rows nothing can be
        promised but sets of all grades.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw.

    Attributes
    ----------
    estimator_ : estimator
        With ``predict_proba``, fitted on the rows that were not kept.
    classes_ : ndarray of shape (n_classes,)
        The classes from lowest to highest.
    growth_ : float
        The probability up to which sets grow; infinite if they must contain all grades.
    learned_ : ndarray of int
        The rows that were not kept.
    n_calibration_ : int
        Number of rows kept from learning.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    References
    ----------
    V. Vovk, A. Gammerman, G. Shafer: Algorithmic learning in a random world. Springer 2005.
    C. Lu, A. Angelopoulos, S. Pomerantz: Improving trustworthiness of AI disease severity rating in medical imaging
    with ordinal conformal prediction sets. MICCAI 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from hullrank import FixedMarginClassifier, OrdinalPredictionSets
    >>> X = np.arange(60.0).reshape(-1, 1)
    >>> y = np.arange(60) // 20
    >>> model = OrdinalPredictionSets(FixedMarginClassifier(), random_state=0).fit(X, y)
    >>> model.predict_interval([[1.0], [58.0]])
    array([[0, 0],
           [2, 2]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "score_samples"])],
        "coverage": [Interval(Real, 0, 1, closed="neither")],
        "calibration_size": [Interval(Real, 0, 1, closed="neither")],
        "random_state": ["random_state"],
    }

    def __init__(
        self, estimator: Any, *, coverage: float = 0.9, calibration_size: float = 0.25, random_state: Any = None
    ) -> None:
        self.estimator = estimator
        self.coverage = coverage
        self.calibration_size = calibration_size
        self.random_state = random_state

    @fitting
    def fit(self, X: Any, y: Any) -> Self:
        """Fit the estimator on some rows, and see on the others how far sets must grow.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        self : object
        """
        refuse_masked(X, "X")
        X, y = indexable(X, y)
        values = check_target(np.empty((num_samples(X), 0)), y)
        split = ShuffleSplit(1, test_size=self.calibration_size, random_state=self.random_state)
        learned, kept = next(split.split(values))
        inner = self.estimator if hasattr(self.estimator, "predict_proba") else OrdinalCalibrator(self.estimator)
        self.estimator_ = clone(inner).fit(rows_of(inner, X, learned, learned), safe_indexing(y, learned))
        self.classes_, self.learned_ = self.estimator_.classes_, learned
        needed = growth(self.predict_proba(safe_indexing(X, kept)))
        place = {label: k for k, label in enumerate(self.classes_.tolist())}
        true = zip(needed, values[kept].tolist(), strict=True)
        reached = [row[place[label]] if label in place else np.inf for row, label in true]
        self.growth_, self.n_calibration_ = _upper_quantile(reached, self.coverage), len(kept)
        self._store_features()
        if get_tags(self).input_tags.pairwise:
            self.n_features_in_ = num_samples(X)
        return self

    def predict_proba(self, X: Any) -> Floats:
        """The estimator's probability of every class for every row of X.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes); rows sum to 1
        """
        check_is_fitted(self)
        return self.estimator_.predict_proba(self._seen(X))

    def _seen(self, X: Any) -> Any:
        """X as the estimator takes it: of kernel values those against the rows that it learned from."""
        return safe_indexing(X, self.learned_, axis=1) if get_tags(self).input_tags.pairwise else X

    def predict(self, X: Any) -> NDArray[Any]:
        """The class from which the set of every row of X grows: the most probable one.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        probabilities = self.predict_proba(X)
        return self.classes_[probabilities.argmax(axis=1)]

    def predict_set(self, X: Any) -> NDArray[np.bool_]:
        """Which classes the set of every row of X contains; they are neighbours.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        contained : ndarray of bool of shape (n_samples, n_classes)
        """
        needed = growth(self.predict_proba(X))
        return needed <= self.growth_

    def predict_interval(self, X: Any) -> NDArray[Any]:
        """The lowest and the highest class in the set of every row of X.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        ends : ndarray of labels of shape (n_samples, 2)
        """
        contained = self.predict_set(X)
        last = contained.shape[1] - 1
        ends = np.column_stack([contained.argmax(axis=1), last - contained[:, ::-1].argmax(axis=1)])
        return self.classes_[ends]


def growth(probabilities: Floats) -> Floats:
    """(n, K) the probability that a set holds just before it takes in each class; 0 for the one it begins with.

    A set begins with the most probable class and takes in the likelier of its two neighbours (the lower of equals), so
    that it always consists of neighbouring classes.
    """
    n, n_classes = probabilities.shape
    rows = np.arange(n)
    padded = np.full((n, n_classes + 2), -1.0)  # no class lies beyond the ends
    padded[:, 1:-1] = probabilities
    low = probabilities.argmax(axis=1) + 1
    high = low.copy()
    held = padded[rows, low]
    needed = np.zeros((n, n_classes))
    for _ in range(n_classes - 1):
        down = padded[rows, low - 1] >= padded[rows, high + 1]
        low, high = low - down, high + ~down
        taken = np.where(down, low, high)
        needed[rows, taken - 1] = held
        held = held + padded[rows, taken]
    return needed


def _upper_quantile(values: list[float], share: float) -> float:
    """The value with rank ceil((n + 1) share) among n; infinite if that exceeds n."""
    rank = ceil((len(values) + 1) * share * (1 - 1e-12))
    return float(np.sort(values)[rank - 1]) if rank <= len(values) else float("inf")
