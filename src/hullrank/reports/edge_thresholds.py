"""The thresholds of ``slack="edge"``: with the scores given, every edge minimises a convex function of its own.

For the edge (lo, hi) and its threshold t, samples of hi pay for missing t + 1/2 and those of lo for exceeding t - 1/2:

    sum_hi weight * charge(t - (s - 1/2)) + sum_lo weight * charge((s + 1/2) - t)
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def sorted_edges(edges: Any) -> NDArray[np.int64]:
    """The edges in the order in which their thresholds are numbered: by lo, then by hi."""
    edges = np.asarray(edges, dtype=np.int64).reshape(-1, 2)
    return edges[np.lexsort((edges[:, 1], edges[:, 0]))]


def best_edge_thresholds(edges: Any, scores: Floats, codes: Any, weights: Floats, loss: str) -> Floats:
    """The best threshold of every edge (codes of lo and hi)."""
    find = _least_squares if loss == "squared_hinge" else _least_absolute
    thresholds = []
    for lo, hi in sorted_edges(edges).tolist():
        kinks = np.concatenate([scores[codes == hi] - 0.5, scores[codes == lo] + 0.5])
        upward = np.repeat([True, False], [np.count_nonzero(codes == hi), np.count_nonzero(codes == lo)])
        own = np.concatenate([weights[codes == hi], weights[codes == lo]])
        order = np.argsort(kinks, kind="stable")
        thresholds.append(find(kinks[order], upward[order], own[order]))
    return np.array(thresholds)


def _least_absolute(kinks: Floats, upward: NDArray[np.bool_], weights: Floats) -> float:
    """Where the slope, which grows by the weight at every kink, turns positive: the middle of the flat part."""
    slope = np.cumsum(weights) - weights[~upward].sum()
    noise = 1e-12 * weights.sum()
    first = int(np.argmax(slope >= -noise))
    last = int(np.argmax(slope > noise)) if slope[-1] > noise else first
    return float(kinks[first] + kinks[last]) / 2


def _least_squares(kinks: Floats, upward: NDArray[np.bool_], weights: Floats) -> float:
    """The root of the derivative, which is linear between kinks: hi below t and lo above t pay."""
    up, down = np.where(upward, weights, 0.0), np.where(upward, 0.0, weights)
    paying = np.cumsum(up) + down.sum() - np.cumsum(down)
    moment = np.cumsum(up * kinks) + (down * kinks).sum() - np.cumsum(down * kinks)
    rising = paying * kinks - moment > 0
    last = max(int(np.argmax(rising)) if rising.any() else len(kinks), 1) - 1
    return float(moment[last] / paying[last] if paying[last] > 0 else kinks[last])
