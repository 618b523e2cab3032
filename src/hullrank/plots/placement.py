"""What a picture of the score line shows, computed once; drawing is somebody else's work."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from hullrank._pipelines import unwrap
from hullrank.data import check_target, check_weights, encode_labels
from hullrank.exceptions import HullrankError, UndefinedMetricWarning
from hullrank.metrics import scoring_order, swapped_pairs, wmw_score
from hullrank.order import OrderGraph

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Placement:
    """Samples on the score line with their classes, and what the model says about where classes lie.

    ``bounds`` (K, 2) is where every class should lie: between its thresholds; in partial orders between the midpoints
    of its interval and those of its neighbours in the graph; else in its interval, else anywhere.
    ``violation`` is how far a sample lies outside of that: negative below it, positive above it, 0 within.
    """

    scores: Floats
    codes: NDArray[np.intp]
    classes: NDArray[Any]
    weights: Floats
    thresholds: Floats | None
    intervals: Floats | None
    bounds: Floats
    violation: Floats
    order: OrderGraph | None = None

    @property
    def violators(self) -> NDArray[np.intp]:
        """Samples outside of their bounds, worst first."""
        size = np.abs(self.violation)
        worst = np.argsort(-size, kind="stable")
        return worst[: int(np.count_nonzero(size))]

    def pair_accuracy(self, qid: Any = None) -> float:
        """The share of comparable pairs (of one query) that are ranked right, ties being errors; NaN without a pair."""
        with warnings.catch_warnings(action="ignore", category=UndefinedMetricWarning):
            if self.order is None or self.order.is_total or qid is not None:
                return 1 - swapped_pairs(self.codes, self.scores, qid=qid, sample_weight=self.weights)
            labels = self.classes[self.codes]
            order = self.order.closure().restrict(np.unique(labels).tolist())
            return float(wmw_score(labels, self.scores, order=order, sample_weight=self.weights))


def place(
    y: Any,
    scores: Any,
    *,
    classes: Any = None,
    thresholds: Any = None,
    intervals: Any = None,
    order: OrderGraph | None = None,
    sample_weight: Any = None,
    own: Any = None,
) -> Placement:
    """Check what is to be shown, and find the samples outside of their bounds.

    ``own`` are thresholds (n_samples, n_classes - 1) for every sample, where these differ between groups.
    """
    scores = np.asarray(scores, dtype=np.float64)
    if scores.ndim != 1:
        raise HullrankError(
            f"scores must be a vector, one number for every sample, and have shape {scores.shape}; "
            "use model.score_samples(X)"
        )
    if not np.isfinite(scores).all():
        raise HullrankError("scores must be finite, and there are infinite or missing ones")
    rows = np.empty((len(scores), 0))
    values = check_target(rows, y)
    labels = _encode(y, values, classes)
    n_classes = len(labels.classes)
    thresholds = _shaped(thresholds, (n_classes - 1,), "thresholds")
    intervals = _shaped(intervals, (n_classes, 2), "intervals")
    bounds = np.tile([-np.inf, np.inf], (n_classes, 1))
    if thresholds is not None:
        bounds[1:, 0] = bounds[:-1, 1] = thresholds
    elif intervals is not None:
        bounds = intervals if order is None else _between(intervals, order.codes_edges(labels.classes.tolist()))
    low, high = bounds[labels.codes].T
    if own is not None:
        ends = np.pad(own, ((0, 0), (1, 1)), constant_values=((0, 0), (-np.inf, np.inf)))
        rows_of = np.arange(len(scores))
        low, high = ends[rows_of, labels.codes], ends[rows_of, labels.codes + 1]
    violation = np.maximum(scores - high, 0.0) - np.maximum(low - scores, 0.0)
    weights = check_weights(sample_weight, rows)
    return Placement(scores, labels.codes, labels.classes, weights, thresholds, intervals, bounds, violation, order)


def place_by(estimator: Any, X: Any, y: Any, *, sample_weight: Any = None, groups: Any = None) -> Placement:
    """The placement that a fitted estimator (or a pipeline that ends in one) gives to X.

    A ranker fitted to real-valued targets knows no place for new values, which are shown as numbers order them.
    """
    model = unwrap(estimator).model
    own = None if groups is None else model.thresholds_for(groups)
    known = bounds_of(model)
    if known.get("order") is not None and not is_classifier(model) and scoring_order(model, y) == "full":
        known = {}
    return place(y, estimator.score_samples(X), sample_weight=sample_weight, own=own, **known)


def bounds_of(model: Any) -> dict[str, Any]:
    """Classes, thresholds between them, their intervals and their order, as far as a fitted model has them."""
    classes = getattr(model, "classes_", None)
    if classes is None:
        return {}
    return {name: getattr(model, f"{name}_", None) for name in ("classes", "thresholds", "intervals", "order")}


def _between(intervals: Floats, edges: NDArray[np.intp]) -> Floats:
    """(K, 2) nearest midpoints between the interval of a class and those below and above it; infinite without any."""
    bounds = np.tile([-np.inf, np.inf], (len(intervals), 1))
    low, high = edges.T
    middle = (intervals[low, 1] + intervals[high, 0]) / 2
    np.maximum.at(bounds[:, 0], high, middle)
    np.minimum.at(bounds[:, 1], low, middle)
    return bounds


def _encode(y: Any, values: NDArray[Any], classes: Any) -> Any:
    if classes is None:
        return encode_labels(y, values)
    known = set(values.tolist())
    declared = np.asarray(classes).tolist()
    present = encode_labels(y, values, [label for label in declared if label in known])
    place_of = {label: code for code, label in enumerate(declared)}
    codes = np.array([place_of[label] for label in present.classes.tolist()], dtype=np.intp)[present.codes]
    return type(present)(np.asarray(classes), codes)


def _shaped(values: Any, shape: tuple[int, ...], name: str) -> Floats | None:
    if values is None:
        return None
    array = np.asarray(values, dtype=np.float64)
    if array.shape != shape:
        raise HullrankError(f"{name} has shape {array.shape}, and these classes need {shape}")
    return array
