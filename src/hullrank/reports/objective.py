"""The objective of a fitted model, recomputed from its attributes and the data alone.

Nothing of the solver is used: with s the scores and the interval [L_c, U_c] of a sample's class, a sample misses its
lower end by max(0, L_c - s) and its upper end by max(0, s - U_c), and the objectives of the papers are sums of these.
Pair models pay for 1 - (s_i - s_j) of every pair. The penalty of a kernel model is 1/2 v'Kv = 1/2 sum v_i s_i over its
support vectors i.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import compute_class_weight

from hullrank.data import check_target, check_weights, encode_labels
from hullrank.exceptions import HullrankError

Floats = NDArray[np.float64]
_MOST_ROWS = 30_000


def recomputed_objective(model: Any, X: Any, y: Any, sample_weight: Any = None, qid: Any = None) -> float:
    """Objective of ``model`` on training data that its input step has already prepared."""
    name = type(model).__name__
    if name not in _OBJECTIVES or getattr(model, "approximation", None) is not None:
        raise HullrankError(
            f"the objective of this {name} cannot be recomputed from its attributes; those of {', '.join(_OBJECTIVES)} "
            "without an approximation can"
        )
    scores = model.score_samples(X)
    rows = np.empty((len(scores), 0))
    weights, values = check_weights(sample_weight, rows), check_target(rows, y)
    if not hasattr(model, "classes_"):
        return float(_swapped_pairs(model, scores, values, weights, np.zeros(len(scores)) if qid is None else qid))
    codes = encode_labels(y, values, model.classes_.tolist()).codes
    if getattr(model, "class_weight", None) is not None:
        per_class = compute_class_weight(model.class_weight, classes=model.classes_, y=values, sample_weight=weights)
        weights = weights * per_class[codes]
    return float(_OBJECTIVES[name](model, scores, codes, weights))


def _missed(model: Any, scores: Floats, codes: NDArray[np.intp]) -> tuple[Floats, Floats]:
    low, high = model.intervals_[codes].T
    return np.maximum(low - scores, 0.0), np.maximum(scores - high, 0.0)


def _charge(model: Any, slack: Floats) -> Floats:
    return slack**2 if model.loss == "squared_hinge" else slack


def _hull(model: Any, scores: Floats, codes: NDArray[np.intp], weights: Floats) -> float:
    if model.slack == "edge":
        raise HullrankError("slack='edge' keeps a threshold for every edge, which the model does not carry")
    low, high = _missed(model, scores, codes)
    slack = np.maximum(low, high) if model.intervals == "free" else low + high
    return _penalty(model, scores) + _price(model, weights @ _charge(model, slack), slack)


def _fixed(model: Any, scores: Floats, codes: NDArray[np.intp], weights: Floats) -> float:
    if model.thresholds == "all":
        side = np.where(codes[:, None] > np.arange(len(model.thresholds_)), 1.0, -1.0)
        slack = np.maximum(1.0 - side * (scores[:, None] - model.thresholds_), 0.0)
        return _penalty(model, scores) + _price(model, weights @ _charge(model, slack).sum(axis=1), slack)
    low, high = _missed(model, scores, codes)
    return _penalty(model, scores) + _price(model, weights @ (_charge(model, low) + _charge(model, high)), low + high)


def _nu(model: Any, scores: Floats, codes: NDArray[np.intp], weights: Floats) -> float:
    low, high = _missed(model, scores, codes)
    per_class = np.bincount(codes, weights)
    n_rows = 2 * per_class.sum() - per_class[0] - per_class[-1]
    return _penalty(model, scores) - model.nu_ * model.margin_ + float(weights @ (low + high)) / n_rows


def _sum_of_margins(model: Any, scores: Floats, codes: NDArray[np.intp], weights: Floats) -> float:
    """At |w| = 1 the value v; in the form with 1/2 |w|^2 the best multiple of that point has -v^2 / 2."""
    low, high = _missed(model, scores, codes)
    margins = model.intervals_[:-1, 1] - model.intervals_[1:, 0]
    value = margins.sum() + model.C_ * float(weights @ (low + high))
    return -0.5 * min(value, 0.0) ** 2


def _swapped_pairs(model: Any, scores: Floats, y: NDArray[Any], weights: Floats, qid: Any) -> float:
    """1/2 |w|^2 + C times the (weighted) mean charge of the pairs of every query, pair by pair."""
    if len(scores) > _MOST_ROWS:
        raise HullrankError(
            f"going through every pair of {len(scores):,} rows takes too long; the limit is {_MOST_ROWS:,}"
        )
    charged, total = 0.0, 0.0
    for query in np.unique(qid):
        rows = np.flatnonzero(np.asarray(qid) == query)
        loss = mass = 0.0
        for part in np.array_split(rows, 1 + len(rows) ** 2 // 4_000_000):
            pair = (y[part][:, None] > y[rows]) * np.outer(weights[part], weights[rows])
            loss += float(np.sum(pair * _charge(model, np.maximum(1 - (scores[part][:, None] - scores[rows]), 0.0))))
            mass += float(pair.sum())
        if mass and model.query_weight == "equal":
            loss, mass = loss / mass, 1.0
        charged, total = charged + loss, total + mass
    return _penalty(model, scores) + model.C * charged / total


def _penalty(model: Any, scores: Floats) -> float:
    if hasattr(model, "coef_"):
        w = model.coef_
        return float(np.abs(w).sum()) if getattr(model, "penalty", "l2") == "l1" else 0.5 * float(w @ w)
    v = np.ravel(model.dual_coef_)
    return 0.5 * float(v @ (v if getattr(model, "norm", "rkhs") == "coefficient" else scores[model.support_]))


def _price(model: Any, charge: Any, slack: Floats) -> float:
    if np.isinf(model.C):
        return 0.0 if slack.max(initial=0.0) <= 1e-6 else float("inf")
    return float(model.C * charge)


_OBJECTIVES: dict[str, Any] = {
    "ConvexHullRanker": _hull,
    "FixedMarginClassifier": _fixed,
    "NuMarginClassifier": _nu,
    "SumOfMarginsClassifier": _sum_of_margins,
    "SwappedPairsRanker": _swapped_pairs,
}
