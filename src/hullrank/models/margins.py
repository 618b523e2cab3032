"""Ordinal classification with ordered thresholds and a fixed margin (Shashua and Levin 2002)."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hullrank._sklearn import StrOptions
from hullrank.data import Samples
from hullrank.models._constraints import CLASS_CONSTRAINTS, PRICE, HardMargin
from hullrank.models._price import SlackPriceMixin
from hullrank.models.base import OrdinalClassifierMixin
from hullrank.models.grouped import GroupedIntervalEstimator
from hullrank.models.intervals import has_collapsed
from hullrank.order import OrderGraph
from hullrank.problem.charges import LOSSES
from hullrank.problem.interval_statement import IntervalStatement
from hullrank.problem.intervals import IntervalProblem, fixed_margin_problem
from hullrank.problem.kernel_space import KernelSpace


class MarginClassifier(OrdinalClassifierMixin, GroupedIntervalEstimator):
    """An ordinal classifier whose thresholds lie between neighbouring classes."""

    def predict(self, X: Any, *, groups: Any = None) -> NDArray[Any]:
        """The class between whose thresholds every row of X lies.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        groups : array-like of shape (n_samples,), default=None
            Groups of the rows, of a model that was fitted with groups: classes are cut at the thresholds of the own
            group. Rows of other groups (also of those whose rows all had weight 0), and all rows without this, are cut
            at ``thresholds_``, the mean over the groups.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        return super().predict(X) if groups is None else self._predict_by_group(X, groups)

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> float:
        """Accuracy: the share of the rows whose class is predicted.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
        groups : array-like of shape (n_samples,), default=None
            Groups of the rows, as ``predict`` takes them.

        Returns
        -------
        score : float in [0, 1]
        """
        from sklearn.metrics import accuracy_score  # loads all metrics, which takes half a second

        return float(accuracy_score(y, self.predict(X, groups=groups), sample_weight=sample_weight))


class FixedMarginClassifier(SlackPriceMixin, MarginClassifier):
    """Ordinal classifier with ordered thresholds b_j and a fixed margin around each.

    Minimises 1/2 |w|^2 + C sum xi^2 (or xi), where a sample of class c pays xi for missing s >= b_j + 1 at every
    threshold j below its class, and s <= b_j - 1 at every other (Chu and Keerthi's implicit constraints), or only at
    the two thresholds of its class (Shashua and Levin, (2)-(5), with ordered thresholds). With two classes and the
    hinge it is scikit-learn's SVC.

    Parameters
    ----------
    C : float or "scale", default="scale"
        Price of slack, summed over samples. ``inf`` is the hard margin. "scale" is 1 (hinge 3, logistic 10) divided by
        the mean squared distance of the samples from their mean, in the kernel's space: it ranks X * 1000 as it ranks
        X, and on 21 data sets hardly any other price predicts better (docs/defaults.md).
    loss : {"squared_hinge", "hinge", "logistic"}, default="squared_hinge"
        How a slack is charged. The squared hinge has the lowest mean rank error on the same data sets. "logistic"
        charges log(1 + exp(-z)) for a score that lies z on the right side of a threshold, without a margin: with two
        classes logistic regression, with ``thresholds="all"`` and "immediate" the all-threshold and
        immediate-threshold models of Rennie and Srebro.
    thresholds : {"all", "immediate"}, default="all"
        Whether a sample pays at every threshold, or at those of its own class only. With all, large errors cost more,
        and the mean rank error is lower on the same data sets; "immediate" has the higher accuracy by one percent.
    classes : sequence of labels, default=None
        The classes from lowest to highest, where y does not say it itself.
    class_weight : dict or "balanced", default=None
        Weights of the classes, multiplied with the sample weights.
    warm_start : bool, default=False
        Start from where the last fit ended (another C or gamma, the same samples). Fits that do not soon reach the
        optimum from there start afresh, and so do linear ones with ``C=inf``, with the logistic loss of more columns
        than rows, and of more than 3000 columns.
    monotonic_cst : array-like of shape (n_features,) or dict, default=None
        1 for features whose weight must not be negative, -1 for those whose weight must not be positive, 0 for the
        others; a dict has names of features for keys. Linear scores only.
    kernel : {"linear", "rbf", "poly", "sigmoid", "laplacian", "precomputed"} or callable, default="linear"
        A positive semi-definite kernel; a callable takes two matrices and returns the kernel values of their rows.
    gamma : {"scale", "auto", "ard"} or float, default="scale"
        Coefficient of the rbf, poly, sigmoid and laplacian kernels; "scale" is 1 / (n_features * variance of X). "ard"
        learns one for every column of an rbf kernel from the ranks of y, for data of which few columns matter.
    degree : int, default=3
        Degree of the poly kernel.
    coef0 : float, default=0.0
        Constant of the poly and sigmoid kernels.
    cache_size : float, default=500
        Megabytes of kernel rows kept while solving.
    approximation : {None, "nystroem"} or int, default=None
        Number of samples that span an approximate kernel ("nystroem": 1000), for data too large for exact work; the
        certificate then says by how much the gap for the kernel itself is open.
    tol : float, default=1e-6
        Relative duality gap at which the solver stops.
    max_iter : int, default=200
        Most iterations of the solver.
    verbose : int, default=0
        Whether the solver reports its iterations.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, lowest first.
    C_ : float
        The price that was used.
    order_ : OrderGraph
    coef_ : ndarray of shape (n_features,)
        Only with the linear kernel.
    thresholds_ : ndarray of shape (n_classes - 1,)
    intervals_ : ndarray of shape (n_classes, 2)
        Where every class lies on the score line; infinite where nothing lies beyond.
    groups_ : ndarray of shape (n_groups,)
        The groups; this and the next two only if ``fit`` was given groups. Then ``thresholds_`` and ``intervals_`` are
        means over the groups, by the weight of their rows.
    group_thresholds_ : ndarray of shape (n_groups, n_classes - 1)
        The thresholds of every group; infinite beyond the classes that it has.
    group_intervals_ : ndarray of shape (n_groups, n_classes, 2)
        Where every class lies within every group; NaN where a group has no row of it.
    support_ : ndarray of shape (n_SV,)
        Numbers of the support vectors; this and the next three only with a kernel.
    support_vectors_ : ndarray of shape (n_SV, n_features)
        Empty if the kernel is precomputed.
    dual_coef_ : ndarray of shape (1, n_SV)
        Kernel coefficients of the support vectors.
    n_support_ : ndarray of shape (n_classes,)
        Number of support vectors of every class.
    gamma_ : float, or ndarray of shape (n_features,)
        The number (with "ard" the numbers) behind ``gamma``; with a kernel that is not precomputed.
    n_iter_ : int
    certificate_ : Certificate
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    References
    ----------
    A. Shashua, A. Levin: Ranking with large margin principle: two approaches. NIPS 2002.
    J. D. M. Rennie, N. Srebro: Loss functions for preference levels. IJCAI workshop, 2005.
    W. Chu, S. S. Keerthi: Support vector ordinal regression. Neural Computation 19, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from hullrank import FixedMarginClassifier
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]), ["low", "low", "mid", "mid", "high", "high"]
    >>> model = FixedMarginClassifier(C=10, classes=["low", "mid", "high"]).fit(X, y)
    >>> model.predict([[0.5], [2.5], [9.0]])
    array(['low', 'mid', 'high'], dtype='<U4')
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "C": [*PRICE, HardMargin()],
        "loss": [StrOptions(set(LOSSES))],
        "thresholds": [StrOptions({"immediate", "all"})],
        **CLASS_CONSTRAINTS,
    }

    def __init__(
        self,
        C: float | str = "scale",
        *,
        loss: str = "squared_hinge",
        thresholds: str = "all",
        classes: Any = None,
        class_weight: Any = None,
        warm_start: bool = False,
        monotonic_cst: Any = None,
        kernel: Any = "linear",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        cache_size: float = 500,
        approximation: int | str | None = None,
        tol: float = 1e-6,
        max_iter: int = 200,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.loss = loss
        self.thresholds = thresholds
        self.classes = classes
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.monotonic_cst = monotonic_cst
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.cache_size = cache_size
        self.approximation = approximation
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose

    def _problem(self, order: OrderGraph, samples: Samples, space: KernelSpace | None) -> IntervalProblem:
        C = self._slack_price(samples, space)
        return fixed_margin_problem(samples.n_classes, C, loss=self.loss, thresholds=self.thresholds)

    def _stored_thresholds(self, statement: IntervalStatement) -> NDArray[np.float64]:
        return self._cell_cuts(statement.grouped)

    def _has_collapsed(self, scores: NDArray[np.float64]) -> bool:
        """As all do; the logistic charge has no margin, but the same unit."""
        margin = [1.0, -1.0] if self.loss == "logistic" else [0.0, 0.0]
        return has_collapsed(self.intervals_ + margin, scores)
