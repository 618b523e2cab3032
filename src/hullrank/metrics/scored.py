"""What every metric starts from: targets, scores, weights and queries, checked and without rows of zero weight."""

import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d

from hullrank.data import check_queries, check_target, check_weights, encode_labels
from hullrank.exceptions import HullrankError, LabelError, UndefinedMetricWarning

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


@dataclass(frozen=True)
class Scored:
    """Targets as they were given (``y``) and as an array, with a score, a weight and a query number each."""

    y: Any
    values: NDArray[Any]
    scores: Floats
    weights: Floats
    queries: Ints

    def codes(self, classes: Sequence[Hashable] | None = None) -> Ints:
        """Places of the targets in the declared order, or in their own; unused labels are left out."""
        if classes is None:
            return encode_labels(self.y, self.values).codes
        present = set(self.values.tolist())
        return encode_labels(self.y, self.values, [c for c in classes if c in present] or list(classes)).codes

    def numbers(self) -> Floats:
        """The targets as numbers, for metrics that calculate with them."""
        try:
            return self.values.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise LabelError(f"this metric needs numeric grades in y ({error}); map the labels to numbers") from error


def check_scored(y: Any, scores: Any, sample_weight: Any = None, qid: Any = None) -> Scored:
    """Check the arguments of a metric against each other, and drop rows of zero weight."""
    points = check_scores(scores)
    values = check_target(points, y)
    weights = check_weights(sample_weight, points)
    queries = check_queries(qid, len(points))
    kept = weights > 0
    if kept.all():
        return Scored(y, values, points, weights, queries)
    queries = np.unique(queries[kept], return_inverse=True)[1]
    return Scored(y, values[kept], points[kept], weights[kept], queries)


def check_scores(scores: Any) -> Floats:
    """Scores as float64, one-dimensional and not empty; infinite ones are fine, NaN is not."""
    points = column_or_1d(scores).astype(np.float64)
    if not len(points):
        raise HullrankError("there are no samples; pass at least one score")
    if np.isnan(points).any():
        raise HullrankError(f"scores contain NaN at row {int(np.argmax(np.isnan(points)))}")
    return points


def undefined(metric: str, reason: str) -> float:
    """NaN, with a warning that says why the metric has no value."""
    warnings.warn(f"{metric} is undefined: {reason}", UndefinedMetricWarning, stacklevel=3)
    return float("nan")
