"""What the class-based estimators share: checked samples in, a certified place for every class out."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import compute_class_weight

from hullrank.data import (
    Labels,
    Samples,
    check_rows,
    check_target,
    check_weight_sizes,
    check_weights,
    distinct_labels,
    encode_labels,
)
from hullrank.exceptions import CollapsedRankingWarning, HullrankError, LabelError, NotSeparableError
from hullrank.models._kernel import KernelMixin
from hullrank.models.base import ScoreLineEstimator, warn_unless_converged
from hullrank.order import OrderGraph, resolve_order
from hullrank.problem.certificate import Status
from hullrank.problem.intervals import IntervalProblem
from hullrank.solvers.base import Solution
from hullrank.solvers.intervals import solve_intervals

Floats = NDArray[np.float64]
EQUAL_SCORES = "all scores are equal; use a larger C, or features that say something about y"


class IntervalEstimator(KernelMixin, ScoreLineEstimator):
    """An estimator whose ``fit`` states an `IntervalProblem` over the classes and solves it."""

    def _check_samples(
        self, X: Any, y: Any, sample_weight: Any, order: Any = "chain", *, discrete: bool = False
    ) -> tuple[Labels, OrderGraph, Samples]:
        """Rows of positive weight with their class, classes in topological order; class weights multiply weights."""
        X = self._check_gram(check_rows(self, X, reset=True, sparse=self.kernel != "precomputed"))
        values = check_target(X, y, discrete=discrete and self.classes is None)
        weights = check_weights(sample_weight, X)
        self._rows = kept = np.flatnonzero(weights)
        if len(kept) < len(weights):
            X, values, weights = self._take(X, kept), values[kept], weights[kept]
        labels, graph = _place_labels(y, values, self.classes, order)
        if len(labels.classes) < 2:
            raise LabelError(
                f"y has only one class, {labels.classes.tolist()[0]!r}, among the samples of positive weight; ranking "
                "needs two"
            )
        class_weight = getattr(self, "class_weight", None)
        if class_weight is not None:
            per_class = compute_class_weight(class_weight, classes=labels.classes, y=values, sample_weight=weights)
            if not (np.isfinite(per_class) & (per_class > 0)).all():
                odd = int(np.argmin(np.isfinite(per_class) & (per_class > 0)))
                raise HullrankError(
                    f"class_weight gives class {labels.classes.tolist()[odd]!r} the weight {per_class[odd]:g}; class "
                    "weights must be positive and finite"
                )
            weights = weights * per_class[labels.codes]
            check_weight_sizes(weights, "sample_weight times class_weight", kept)
        return labels, graph, Samples(X, labels.codes, weights, len(labels.classes))

    def _solve(self, problem: IntervalProblem, order: OrderGraph, samples: Samples) -> Solution:
        """Solve the problem; a hard margin on inseparable data is an error that names a violated pair."""
        if self._has_kernel:
            solution = self._solve_with_kernel(problem, samples)
        else:
            solution = solve_intervals(problem, samples, tol=self.tol, max_iter=self.max_iter, verbose=self.verbose)
        if solution.certificate.status is Status.NOT_SEPARABLE:
            raise NotSeparableError(_violated_pair(order, samples, self._rows, solution.scores))
        warn_unless_converged(
            solution.certificate, self.tol, "standardise the features, lower C, or raise max_iter or tol"
        )
        return solution

    def _store(
        self, labels: Labels, order: OrderGraph, problem: IntervalProblem, samples: Samples, solution: Solution
    ) -> None:
        """The fitted attributes that all class-based estimators have."""
        self.classes_ = labels.classes
        self.order_ = order
        self._store_weights(samples, solution.coef)
        self.intervals_ = class_intervals(problem, solution.thresholds, len(labels.classes))
        if order.is_total:
            self.thresholds_ = (self.intervals_[:-1, 1] + self.intervals_[1:, 0]) / 2
        self.n_iter_ = solution.certificate.iterations
        self.certificate_ = solution.certificate


def _place_labels(y: Any, values: NDArray[Any], classes: Any, order: Any) -> tuple[Labels, OrderGraph]:
    """Codes in topological order of the graph, which names the labels itself unless it is a chain or full."""
    if isinstance(order, str) and order in ("chain", "full"):
        labels = encode_labels(y, values, classes)
        return labels, resolve_order(order, labels.classes)
    graph = resolve_order(order, distinct_labels(values))
    if graph.n_edges == 0:
        raise LabelError(f"the order {graph} has no edges, so that no class lies above another; declare at least one")
    if classes is not None:
        _check_agreement(graph, list(classes))
    return encode_labels(y, values, graph.labels), graph


def _check_agreement(graph: OrderGraph, classes: list[Any]) -> None:
    """Classes beside an order graph must be its labels, in an order that the graph allows."""
    graph.check_classes(classes)
    for lo, hi in graph.reduction().edges:
        if classes.index(lo) > classes.index(hi):
            raise LabelError(f"classes={classes} puts {hi!r} below {lo!r}, but the order says {lo!r} < {hi!r}")


def class_intervals(problem: IntervalProblem, theta: Floats, n_classes: int) -> Floats:
    """(K, 2): where every class must lie, [max over its lower rows, min over its upper rows]."""
    offsets = problem.offsets(theta)
    ends = np.full((n_classes, 2), (-np.inf, np.inf))
    lower = problem.sign > 0
    np.maximum.at(ends[:, 0], problem.group_class[lower], offsets[lower])
    np.minimum.at(ends[:, 1], problem.group_class[~lower], -offsets[~lower])
    return ends


def has_collapsed(intervals: Floats, scores: Floats) -> bool:
    """Whether scores range over less than 1e-6 of the distance between neighbouring classes."""
    return float(np.ptp(scores)) <= 1e-6 * _margin(intervals)


def are_crossed(intervals: Floats) -> bool:
    """Whether some inner class has its lower end above its upper end."""
    lower, upper = intervals.T
    inner = np.isfinite(lower) & np.isfinite(upper)
    return bool(np.any(lower[inner] - upper[inner] > 1e-6 * _margin(intervals)))


def _margin(intervals: Floats) -> float:
    """The distance between neighbouring classes: from the lowest upper to the highest lower end, per step."""
    lower, upper = intervals.T
    return float(lower[np.isfinite(lower)].max() - upper[np.isfinite(upper)].min()) / max(len(intervals) - 1, 1)


def warn_collapsed(cure: str) -> None:
    """The optimum of the stated problem ranks nothing; say what to change."""
    warnings.warn(f"the ranking has collapsed: {cure}", CollapsedRankingWarning, stacklevel=5)


def _violated_pair(order: OrderGraph, samples: Samples, rows: NDArray[np.intp], scores: Floats) -> str:
    """The two samples along an edge that overlap most in the best soft direction, by their numbers in X."""
    members = np.split(samples.rows, samples.starts[1:-1])
    top = np.array([each[np.argmax(scores[each])] for each in members])
    bottom = np.array([each[np.argmin(scores[each])] for each in members])
    below, above = order.reduction().codes.T
    worst = np.argmax(scores[top[below]] - scores[bottom[above]])
    lo, hi = below[worst], above[worst]
    return (
        f"C=inf asks for a hard margin, but the data cannot be separated: for instance row {rows[top[lo]]} "
        f"(class {order.labels[lo]!r}) cannot be placed below row {rows[bottom[hi]]} (class {order.labels[hi]!r}) "
        "together with all others; use a finite C"
    )
