"""Convex-hull ranking (Fung, Rosales and Krishnapuram 2005) on any acyclic order between classes."""

from itertools import pairwise
from math import isfinite
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from hullrank._sklearn import StrOptions
from hullrank.data import Samples
from hullrank.models._constraints import CLASS_CONSTRAINTS, PRICE, HardMargin
from hullrank.models._cuts import cheapest_cuts, metric_costs, weights_by_level
from hullrank.models._price import SlackPriceMixin
from hullrank.models.base import OrderedClassesMixin, RankerMixin
from hullrank.models.grouped import GroupedIntervalEstimator
from hullrank.models.intervals import are_crossed, warn_collapsed
from hullrank.order import OrderGraph
from hullrank.problem.charges import LOSSES
from hullrank.problem.interval_statement import IntervalStatement
from hullrank.problem.intervals import IntervalProblem, hull_problem
from hullrank.problem.kernel_space import KernelSpace
from hullrank.problem.statement import Solution

_SHARES = (0.05, 0.5, 0.95)  # quantiles of the scores of a class that are remembered
_MANY = 10_000  # samples from which scores are counted in steps for the thresholds
_STEPS = 4096
_FAR = 8.0  # standard deviations of the scores that the steps reach to either side
_MOST_GRADES = 100  # classes up to which thresholds are placed by the labels of the samples between them


class ConvexHullRanker(RankerMixin, SlackPriceMixin, GroupedIntervalEstimator):
    """Rank by separating the convex hulls of classes along any acyclic order graph.

    Class c is placed in an interval [L_c, U_c] of the score line, with L_hi - U_lo >= 1 along every edge (lo, hi); a
    sample pays for how far its score lies outside its class's interval. No pair of samples is ever formed.

    Parameters
    ----------
    order : {"chain", "full"}, OrderGraph, str, list of edges or levels, or networkx.DiGraph, default="chain"
        Which class lies above which; text such as ``"mild < moderate < severe"`` is read too.
    C : float or "scale", default="scale"
        Price of slack, summed over samples (the paper's nu). ``inf`` is the hard margin. "scale" is 1 (hinge 3,
        logistic 10) divided by the mean squared distance of the samples from their mean, in the kernel's space: it
        ranks X * 1000 as it ranks X, and on 21 data sets hardly any other price predicts better (docs/defaults.md).
        With ``penalty="l1"`` the root of the mean variance of a column takes the place of that distance.
    loss : {"squared_hinge", "hinge", "logistic"}, default="squared_hinge"
        How a slack is charged. "logistic" charges log(1 + exp(v)) for a sample that lies v outside its interval
        (negative inside), and needs no margin: L_hi >= U_lo along every edge.
    intervals : {"proper", "free"}, default="proper"
        ``proper`` keeps L_c <= U_c; ``free`` is the paper's problem, which can collapse on noisy data (with a warning).
    slack : {"sample", "edge"}, default="sample"
        One slack per sample, or a threshold and slacks of its own for every edge.
    penalty : {"l2", "l1"}, default="l2"
        1/2 |w|^2, or |w|_1, which gives exact zeros.
    norm : {"rkhs", "coefficient"}, default="rkhs"
        With a kernel, 1/2 v'Kv or (the paper's) 1/2 v'v over the coefficients v; the latter costs O(m^3).
    classes : sequence of labels, default=None
        The classes from lowest to highest, where y does not say it itself.
    class_weight : dict or "balanced", default=None
        Weights of the classes, multiplied with the sample weights.
    warm_start : bool, default=False
        Start from where the last fit ended (another C or gamma, the same samples). Fits that do not soon reach the
        optimum from there start afresh, and so do linear ones with ``intervals="free"``, with ``C=inf``, with the
        logistic loss of more columns than rows, and of more than 3000 columns.
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
        The classes in topological order, lowest first.
    C_ : float
        The price that was used.
    order_ : OrderGraph
    coef_ : ndarray of shape (n_features,)
        Only with the linear kernel.
    intervals_ : ndarray of shape (n_classes, 2)
        Where every class lies on the score line; infinite where nothing lies beyond.
    thresholds_ : ndarray of shape (n_classes - 1,)
        Where ``predict_class`` cuts the score line; only for total orders. They have the least mean rank error on the
        training samples, which predicts better than the nearest interval does; the middles between neighbouring
        intervals where classes are more than 100.
    groups_ : ndarray of shape (n_groups,)
        The groups; this and the next two only if ``fit`` was given groups. Then ``intervals_`` and ``thresholds_`` are
        means over the groups, by the weight of their rows.
    group_intervals_ : ndarray of shape (n_groups, n_classes, 2)
        Where every class lies within every group; NaN where a group has no row of it.
    group_thresholds_ : ndarray of shape (n_groups, n_classes - 1)
        The thresholds of every group; only for total orders.
    edge_thresholds_ : ndarray of shape (n_edges,)
        The threshold of every edge, sorted by its lower and then its upper class; only with ``slack="edge"``.
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
    G. Fung, R. Rosales, B. Krishnapuram: Learning rankings via convex hull separation. NIPS 2005.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from hullrank import ConvexHullRanker
    >>> X, y = load_wine(return_X_y=True)
    >>> ranker = ConvexHullRanker("0 < 2 < 1", C=0.01).fit(X, y)
    >>> round(ranker.score(X, y), 2)
    0.97
    """

    _discrete: ClassVar[bool] = False
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "order": "no_validation",  # type: ignore[dict-item]
        "C": [*PRICE, HardMargin()],
        "loss": [StrOptions(set(LOSSES))],
        "intervals": [StrOptions({"proper", "free"})],
        "slack": [StrOptions({"sample", "edge"})],
        "penalty": [StrOptions({"l2", "l1"})],
        "norm": [StrOptions({"rkhs", "coefficient"})],
        **CLASS_CONSTRAINTS,
    }

    def __init__(
        self,
        order: Any = "chain",
        *,
        C: float | str = "scale",
        loss: str = "squared_hinge",
        intervals: str = "proper",
        slack: str = "sample",
        penalty: str = "l2",
        norm: str = "rkhs",
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
        self.order = order
        self.C = C
        self.loss = loss
        self.intervals = intervals
        self.slack = slack
        self.penalty = penalty
        self.norm = norm
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
        """Proper intervals make the transitive reduction equivalent to the graph itself, and cheaper."""
        proper = self.intervals == "proper" and self.slack == "sample"
        return hull_problem(
            samples.n_classes,
            (order.reduction() if proper else order).codes,
            self._slack_price(samples, space),
            loss=self.loss,
            intervals=self.intervals,
            slack=self.slack,
            penalty=self.penalty,
        )

    def _store(self, statement: IntervalStatement, solution: Solution) -> None:
        super()._store(statement, solution)
        if self.slack == "edge":
            self.edge_thresholds_ = solution.point.thresholds

    def _store_label_rule(self, statement: IntervalStatement, solution: Solution) -> None:
        scores = solution.scores
        assert scores is not None  # ``_learn`` sees to it
        self._anchors = _anchors(self.intervals_, statement.class_samples, scores)
        if hasattr(self, "thresholds_") and statement.grouped is None and len(self.classes_) <= _MOST_GRADES:
            self.thresholds_ = _cheapest_thresholds(scores, statement.samples)

    def _stored_thresholds(self, statement: IntervalStatement) -> NDArray[np.float64]:
        problem = statement.problem
        if self.slack == "edge":
            return self.edge_thresholds_
        lower, upper = self._cell_ends(statement.grouped)[problem.group_class].T
        theta = np.empty(problem.n_thresholds)
        theta[problem.threshold] = np.where(problem.sign > 0, lower, upper)
        return theta

    def _warn_if_collapsed(self, statement: IntervalStatement, scores: NDArray[np.float64]) -> None:
        if self.intervals == "free" and self.slack == "sample" and are_crossed(self.intervals_):
            warn_collapsed("the interval of a class is crossed; use intervals='proper' or slack='edge'")
        else:
            super()._warn_if_collapsed(statement, scores)

    def predict_class(self, X: Any, *, groups: Any = None) -> NDArray[Any]:
        """The class between whose ``thresholds_`` each row of X lies.

        In a partial order, which has no thresholds, the class whose interval is nearest to the score; ties go to the
        nearer median. An infinite end is replaced by the 5% or 95% quantile of the class's training scores.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        groups : array-like of shape (n_samples,), default=None
            Groups of the rows, of a model that was fitted with groups: classes are cut at the thresholds of the own
            group. Rows of other groups, and all rows without this, are placed by the mean over the groups.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        if groups is not None:
            return self._predict_by_group(X, groups)
        scores = self.score_samples(X)
        if hasattr(self, "thresholds_"):
            return self.classes_[np.searchsorted(self.thresholds_, scores, side="left")]
        s = scores[:, None]
        lower, upper, median = self._anchors.T
        outside = np.maximum(np.maximum(lower - s, s - upper), 0.0)
        nearest = outside == outside.min(axis=1, keepdims=True)
        return self.classes_[np.argmin(np.where(nearest, np.abs(s - median), np.inf), axis=1)]


class ConvexHullClassifier(OrderedClassesMixin, ConvexHullRanker):
    """`ConvexHullRanker` as a classifier: ``predict`` gives classes and ``score`` is accuracy.

    It learns the same score line and has the same parameters and attributes. ``predict`` is ``predict_class``, so that
    it can stand last in a pipeline, be searched by `GridSearchCV` and be measured by any scorer of classifiers; on a
    chain or any other order graph.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from hullrank import ConvexHullClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), ConvexHullClassifier()).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.98
    """

    _discrete: ClassVar[bool] = True

    def predict(self, X: Any) -> NDArray[Any]:
        """The class between whose thresholds each row of X lies; see ``predict_class``.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        return self.predict_class(X)


def _cheapest_thresholds(scores: NDArray[np.float64], samples: Samples) -> NDArray[np.float64]:
    """(K - 1,) thresholds of least mean rank error on the samples; one beyond all scores lies 1, the margin, off.

    Many samples are counted by class in steps of the score rather than sorted, which would take as long as the fit; the
    few scores that are far off share the last step of their side.
    """
    K = samples.n_classes
    costs = metric_costs("mean_rank_error", K)
    low, high = float(scores.min()), float(scores.max())
    if len(scores) > _MANY and high > low:
        middle, reach = float(scores.mean()), _FAR * float(scores.std())
        begin, end = max(low, middle - reach), min(high, middle + reach)
        step = (end - begin) / _STEPS
        place = np.clip((scores - begin) / step, 0, _STEPS - 1).astype(np.intp)
        table = np.bincount(place * K + samples.codes, samples.weights, _STEPS * K).reshape(_STEPS, K)
        held = np.flatnonzero(table.any(axis=1))
        levels, table = begin + (held + 0.5) * step, table[held]
    else:
        levels, table = weights_by_level(scores, samples.codes, samples.weights, K)
    return np.clip(cheapest_cuts(levels, table, costs), low - 1.0, high + 1.0)


def _anchors(intervals: NDArray[np.float64], samples: Samples, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """(K, 3): every class's interval with infinite ends closed by score quantiles, and its median score.

    Quantiles of large classes are those of every k-th sample.
    """
    anchors = np.empty((len(intervals), 3))
    for c, (start, stop) in enumerate(pairwise(samples.starts.tolist())):
        members = samples.rows[start : stop : 1 + (stop - start) // _MANY]
        low, middle, high = _quantiles(scores[members], samples.weights[members])
        lower, upper = intervals[c]
        anchors[c] = (lower if isfinite(lower) else low, upper if isfinite(upper) else high, middle)
    return anchors


def _quantiles(values: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The smallest values with at least 5, 50 and 95% of the weight at or below them."""
    order = np.argsort(values)
    reached = np.cumsum(weights[order])
    return values[order[np.searchsorted(reached, np.array(_SHARES) * reached[-1] * (1 - 1e-12))]]
