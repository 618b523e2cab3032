"""The objective of a fitted model, recomputed from its attributes and the data alone.

Nothing of the solver is used: with s the scores and the interval [L_c, U_c] of a sample's class, a sample misses its
lower end by max(0, L_c - s) and its upper end by max(0, s - U_c), and the objectives of the papers are sums of these.
Pair models pay for 1 - (s_i - s_j) of every pair. The penalty of a kernel model is 1/2 v'Kv = 1/2 sum v_i s_i over its
support vectors i, also where their number was limited: the function that they span is one of the kernel's.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import compute_class_weight

from hullrank.data import check_queries, check_target, check_weights, encode_labels
from hullrank.exceptions import HullrankError
from hullrank.problem.intervals import nu_row_weight
from hullrank.reports.edge_thresholds import best_edge_thresholds, sorted_edges
from hullrank.reports.restated import restate_pairs

Floats = NDArray[np.float64]
_MOST_ROWS = 30_000  # to go through pair by pair; beyond, pairs are counted by sorting


def recomputed_objective(model: Any, X: Any, y: Any, sample_weight: Any = None, qid: Any = None) -> float:
    """Objective of ``model`` on training data that its input step has already prepared."""
    name = type(model).__name__
    scores = model.score_samples(X)
    rows = np.empty((len(scores), 0))
    weights, values = check_weights(sample_weight, rows), check_target(rows, y)
    if name in ("SwappedPairsRanker", "SampledPairsRanker"):
        return _penalty(model, scores) + model.C * _mean_pair(model, X, y, sample_weight, qid, scores)
    if name == "LinearRelaxationRanker":
        return _relaxation(model, scores, encode_labels(y, values).codes, weights, check_queries(qid, len(scores)))
    if name not in _OBJECTIVES:
        raise HullrankError(f"{name} minimises no objective that could be recomputed")
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
        return _by_edges(model, scores, codes, weights)
    low, high = _missed(model, scores, codes)
    slack = np.maximum(low, high) if model.intervals == "free" else low + high
    return _penalty(model, scores) + _price(model, weights @ _charge(model, slack), slack)


def _by_edges(model: Any, scores: Floats, codes: NDArray[np.intp], weights: Floats) -> float:
    """Every edge with the best threshold for these scores, which are therefore at least as good as the solver's."""
    edges = model.order_.codes
    thresholds = best_edge_thresholds(edges, scores, codes, weights, model.loss)
    charge, slacks = 0.0, []
    for (lo, hi), t in zip(sorted_edges(edges).tolist(), thresholds, strict=True):
        for own, slack in ((codes == hi, t + 0.5 - scores), (codes == lo, scores - t + 0.5)):
            slacks.append(np.maximum(slack[own], 0.0))
            charge += float(weights[own] @ _charge(model, slacks[-1]))
    return _penalty(model, scores) + _price(model, charge, np.concatenate(slacks))


def _fixed(model: Any, scores: Floats, codes: NDArray[np.intp], weights: Floats) -> float:
    if model.thresholds == "all":
        side = np.where(codes[:, None] > np.arange(len(model.thresholds_)), 1.0, -1.0)
        slack = np.maximum(1.0 - side * (scores[:, None] - model.thresholds_), 0.0)
        return _penalty(model, scores) + _price(model, weights @ _charge(model, slack).sum(axis=1), slack)
    low, high = _missed(model, scores, codes)
    return _penalty(model, scores) + _price(model, weights @ (_charge(model, low) + _charge(model, high)), low + high)


def _nu(model: Any, scores: Floats, codes: NDArray[np.intp], weights: Floats) -> float:
    low, high = _missed(model, scores, codes)
    n_rows = nu_row_weight(np.bincount(codes, weights))
    return _penalty(model, scores) - model.nu_ * model.margin_ + float(weights @ (low + high)) / n_rows


def _sum_of_margins(model: Any, scores: Floats, codes: NDArray[np.intp], weights: Floats) -> float:
    """At |w| = 1 the value v; in the form with 1/2 |w|^2 the best multiple of that point has -v^2 / 2."""
    low, high = _missed(model, scores, codes)
    margins = model.intervals_[:-1, 1] - model.intervals_[1:, 0]
    value = margins.sum() + model.C_ * float(weights @ (low + high))
    return -0.5 * min(value, 0.0) ** 2 / (2 * _penalty(model, scores) or 1.0)


def _mean_pair(model: Any, X: Any, y: Any, sample_weight: Any, qid: Any, scores: Floats) -> float:
    """The (weighted) mean charge of the model's pairs: pair by pair where they are drawn, or few."""
    rows = np.empty((len(scores), 0))
    weights, query = check_weights(sample_weight, rows), check_queries(qid, len(scores))
    if hasattr(model, "pairs_per_sample"):
        drawn: Any = restate_pairs(model, X, y, None, qid)
        s, pairs = scores[drawn.rows], drawn.pairs
        return float(pairs.weights @ _charge(model, np.maximum(1 - (s[pairs.hi] - s[pairs.lo]), 0.0)))
    if len(scores) > _MOST_ROWS:
        whole = restate_pairs(model, X, y, sample_weight, qid)
        at = whole.pairs.at(scores[whole.rows])
        return at.ramp(-np.inf, 1.0).square if model.loss == "squared_hinge" else at.hinge()[0]
    values = encode_labels(y, check_target(rows, y)).codes
    sums = _pair_sums(lambda d: _charge(model, np.maximum(1 - d, 0.0)), scores, values, weights, query)
    losses, masses = sums[:, sums[1] > 0]
    return float((losses / masses).mean() if model.query_weight == "equal" else losses.sum() / masses.sum())


def _relaxation(model: Any, scores: Floats, codes: Any, weights: Floats, query: Any) -> float:
    """The sum of max(0, 1 - d / epsilon) over pairs; infinite where d < epsilon - 1 or |w_j| > 1."""
    lowest = (model.epsilon - 1) * (1 + 1e-6)
    if np.abs(model.coef_).max() > 1 + 1e-9:
        return float("inf")

    def charge(d: Floats) -> Floats:
        return np.where(d < lowest, np.inf, np.maximum(1 - d / model.epsilon, 0.0))

    return float(_pair_sums(charge, scores, codes, weights, query)[0].sum())


def _pair_sums(charge: Callable[[Floats], Floats], scores: Floats, y: Any, weights: Floats, query: Any) -> Floats:
    """(2, queries): the weighted charge of all pairs, and their weight."""
    sums = []
    for q in np.unique(query):
        rows = np.flatnonzero(query == q)
        loss = mass = 0.0
        for part in np.array_split(rows, 1 + len(rows) ** 2 // 4_000_000):
            above, below = np.nonzero(y[part][:, None] > y[rows])
            pair = weights[part[above]] * weights[rows[below]]
            loss += float(pair @ charge(scores[part[above]] - scores[rows[below]]))
            mass += float(pair.sum())
        sums.append((loss, mass))
    return np.array(sums).T


def _penalty(model: Any, scores: Floats) -> float:
    if hasattr(model, "coef_"):
        w = model.coef_
        return float(np.abs(w).sum()) if getattr(model, "penalty", "l2") == "l1" else 0.5 * float(w @ w)
    v = np.ravel(model.dual_coef_)
    if getattr(model, "norm", "rkhs") == "coefficient" or not len(v):
        return 0.5 * float(v @ v)
    own = scores[model.support_] if model.kernel == "precomputed" else model.score_samples(model.support_vectors_)
    return 0.5 * float(v @ own)


def _price(model: Any, charge: Any, slack: Floats) -> float:
    if np.isinf(model.C):
        return 0.0 if slack.max(initial=0.0) <= 1e-6 else float("inf")
    return float(model.C * charge)


_OBJECTIVES: dict[str, Any] = {
    "ConvexHullRanker": _hull,
    "FixedMarginClassifier": _fixed,
    "NuMarginClassifier": _nu,
    "SumOfMarginsClassifier": _sum_of_margins,
}
