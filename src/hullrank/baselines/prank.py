"""PRank: perceptron ranking with ordered thresholds (Crammer and Singer 2001)."""

from copy import deepcopy
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state, gen_batches

from hullrank._sklearn import Interval, StrOptions
from hullrank.baselines._perceptron import BLOCK, KernelState, LinearState, like
from hullrank.data import check_rows, check_target, encode_labels
from hullrank.exceptions import LabelError
from hullrank.models._constraints import KERNEL_CONSTRAINTS
from hullrank.models.base import OrdinalClassifierMixin, ScoreLineEstimator, fitting, fitting_on
from hullrank.problem.kernels import kernel_matrix, resolve_gamma, rows_of

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
_GATHER = 4096


class PRank(OrdinalClassifierMixin, ScoreLineEstimator):
    """Perceptron ranking: one score, ordered thresholds, one example at a time.

    With score s and thresholds b_0 <= ... <= b_{K-2}, an example of class c should have s > b_r for r < c and s < b_r
    otherwise. Every threshold on the wrong side moves by one towards the score, and w moves by x for each of them
    (Crammer and Singer 2001, figure 2). The thresholds stay ordered after every update (their lemma 1), and on data
    that can be separated with margin g the total rank error is at most (K - 1)(R^2 + 1) / g^2 (theorem 2).

    Parameters
    ----------
    epochs : int, default=5
        Passes over the data in ``fit``; a pass without a mistake ends it.
    shuffle : bool, default=True
        Whether every pass of ``fit`` visits the rows in a new random order.
    average : bool, default=False
        Whether to keep the mean of w and of the thresholds over all examples seen, instead of the last.
    kernel : {"linear", "rbf", "poly", "sigmoid", "laplacian"} or callable, default="linear"
        Anything but "linear" keeps support rows in place of w.
    gamma : float, "scale" or "auto", default="scale"
        Kernel coefficient. "scale" is 1 / (n_features * variance of X), of the first batch in ``partial_fit``.
    degree : int, default=3
        Degree of the kernel "poly".
    coef0 : float, default=0.0
        Constant of the kernels "poly" and "sigmoid".
    budget : int, default=None
        Most support rows to keep; the one with the shortest term |v_i| sqrt(k(x_i, x_i)) makes room. None: all.
    classes : list, default=None
        Labels from lowest to highest; None takes the order of the labels themselves.
    random_state : int, RandomState instance or None, default=None
        Seed of the shuffling.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels, lowest first.
    coef_ : ndarray of shape (n_features,)
        w; linear kernel only.
    thresholds_ : ndarray of shape (n_classes - 1,)
        b, ascending.
    support_vectors_, dual_coef_ : (n_support, n_features), (n_support,)
        Support rows and their coefficients; other kernels only.
    n_iter_ : int
        Passes made.
    n_mistakes_ : int
        Examples that changed the model, over all passes.
    t_ : int
        Examples seen.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X has string column names.

    Examples
    --------
    >>> from hullrank import PRank
    >>> from hullrank.datasets import make_ordinal
    >>> X, y = make_ordinal(500, 5, random_state=0)
    >>> model = PRank(random_state=0).fit(X, y)
    >>> bool((model.thresholds_[1:] >= model.thresholds_[:-1]).all())
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "epochs": [Interval(Integral, 1, None, closed="left")],
        "shuffle": ["boolean"],
        "average": ["boolean"],
        "kernel": [StrOptions({"linear", "rbf", "poly", "sigmoid", "laplacian"}), callable],
        "gamma": KERNEL_CONSTRAINTS["gamma"],
        "degree": [Interval(Integral, 1, None, closed="left")],
        "coef0": KERNEL_CONSTRAINTS["coef0"],
        "budget": [Interval(Integral, 1, None, closed="left"), None],
        "classes": ["array-like", None],
        "random_state": ["random_state"],
    }

    _state: LinearState | KernelState

    def __init__(
        self,
        epochs: int = 5,
        *,
        shuffle: bool = True,
        average: bool = False,
        kernel: Any = "linear",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        budget: int | None = None,
        classes: Any = None,
        random_state: Any = None,
    ) -> None:
        self.epochs = epochs
        self.shuffle = shuffle
        self.average = average
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.budget = budget
        self.classes = classes
        self.random_state = random_state

    @fitting
    def fit(self, X: Any, y: Any) -> Self:
        """Start afresh and pass over the data up to ``epochs`` times; Ctrl-C keeps the passes made so far.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        self : PRank
        """
        rng = check_random_state(self.random_state)
        X = check_rows(self, X, reset=True)
        labels = encode_labels(y, check_target(X, y, discrete=self.classes is None), self.classes)
        self._begin(X, labels.classes)
        m = X.shape[0]
        try:
            for _ in range(self.epochs):
                order = rng.permutation(m) if self.shuffle else None
                if self._pass(X, labels.codes, np.arange(-m, 0), order) == 0:
                    break
        except KeyboardInterrupt:
            if self._state.clock == 0:
                raise
        return self._conclude()

    @fitting_on
    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Visit the rows once, in the order given, from where the last call ended.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classes : array-like of shape (n_classes,), default=None
            All labels from lowest to highest; needed in the first call unless the parameter ``classes`` is set.

        Returns
        -------
        self : PRank
        """
        first = not hasattr(self, "t_")
        X = check_rows(self, X, reset=first)
        values = check_target(X, y, discrete=self.classes is None and classes is None)
        known = self._known_classes(classes, first)
        codes = _codes(values, known)
        if first:
            self._begin(X, known)
        self._state = deepcopy(self._state)  # rows are visited in place, and an error must not leave half of them
        self._pass(X, codes, self.t_ + np.arange(len(codes)))
        return self._conclude()

    def _known_classes(self, classes: Any, first: bool) -> NDArray[Any]:
        given = self.classes if classes is None else classes
        if first and given is None:
            raise LabelError("the first call of partial_fit needs classes=[...], all labels from lowest to highest")
        if first:
            return np.asarray(given)
        if classes is not None and not np.array_equal(classes, self.classes_):
            raise LabelError(f"classes={list(classes)} differ from those of the first call, {list(self.classes_)}")
        return self.classes_

    def _begin(self, X: Any, classes: NDArray[Any]) -> None:
        """An empty model: w = 0, b = 0."""
        if len(classes) < 2:
            raise LabelError(f"PRank needs at least two classes; y has only one class, {classes[0]!r}")
        self.classes_ = classes
        self.n_iter_ = self.n_mistakes_ = self.t_ = 0
        tracks = 2 if self.average else 1
        thresholds = np.zeros((2, len(classes) - 1))
        if self.kernel == "linear":
            self._state = LinearState(np.zeros((tracks, X.shape[1])), thresholds)
            return
        kernel = {"kernel": self.kernel, "degree": self.degree, "coef0": self.coef0}
        kernel["gamma"] = resolve_gamma(self.gamma, X)
        budget = np.inf if self.budget is None else self.budget
        self._state = KernelState(X[:0], np.zeros((tracks, 0)), thresholds, kernel, budget)

    def _pass(self, X: Any, codes: Ints, ids: Ints, order: Ints | None = None) -> int:
        """Visit all rows once, gathered in the given order a cacheful at a time; returns the number of mistakes."""
        if order is None:
            mistakes = self._state.visit(X, codes, ids)
        else:
            gathered = (order[block] for block in gen_batches(len(order), _GATHER))
            mistakes = sum(self._state.visit(rows_of(X, rows), codes[rows], ids[rows]) for rows in gathered)
        self.n_iter_ += 1
        self.n_mistakes_ += mistakes
        return int(mistakes)

    def _conclude(self) -> Self:
        """Publish the last state, or the mean over time: last - (sum of changes times clock) / examples."""
        state = self._state
        self.t_ = state.clock
        share = 1.0 / state.clock if self.average else 0.0
        coef = state.coef[0] - share * state.coef[-1]
        self.thresholds_ = state.thresholds[0] - share * state.thresholds[1]
        if isinstance(state, LinearState):
            self.coef_ = coef
        else:
            self.support_vectors_, self.dual_coef_ = state.rows, coef
        return self

    def _scores(self, X: Any) -> Floats:
        if isinstance(self._state, LinearState):
            return super()._scores(X)
        X = like(self.support_vectors_, X)
        values = np.empty(X.shape[0])
        for rows in gen_batches(X.shape[0], BLOCK):
            values[rows] = kernel_matrix(X[rows], self.support_vectors_, **self._state.kernel) @ self.dual_coef_
        return values


def _codes(values: NDArray[Any], classes: NDArray[Any]) -> Ints:
    """Place of every label in ``classes``; a batch need not hold them all."""
    place = {label: code for code, label in enumerate(classes.tolist())}
    unknown = [label for label in np.unique(values).tolist() if label not in place]
    if unknown:
        raise LabelError(f"y has labels that are not in classes: {unknown[:5]}; name them in the first call")
    return np.array([place[label] for label in values.tolist()], dtype=np.intp)
