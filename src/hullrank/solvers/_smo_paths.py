"""Order constraints between thresholds for sequential steps: what a step between two thresholds costs, and moves.

``edges`` are the thresholds up and low of every order constraint, ``order`` its gap and its multiplier, and
``hop[a, b]`` the first order constraint on the best path from a to b.
"""

from typing import Any

from hullrank._jit import INNER, njit

Array = Any


@njit(**INNER)
def bottleneck(edges: Array, order: Array, hop: Array, t1: Array, t2: Array, d: Array) -> Any:
    """The largest step up to d that keeps the order multipliers along the path from t1 to t2 non-negative."""
    a = t1
    while a != t2:
        e = hop[a, t2]
        forward = edges[e, 0] == a
        if not forward and order[1, e] < d:
            d = order[1, e]
        a = edges[e, 1] if forward else edges[e, 0]
    return d


@njit(**INNER)
def push(edges: Array, order: Array, hop: Array, t1: Array, t2: Array, d: Array) -> Any:
    """Move d along the path; 1 if some order multiplier became or stopped being zero."""
    a = t1
    changed = 0
    while a != t2:
        e = hop[a, t2]
        forward = edges[e, 0] == a
        before = order[1, e] > 0
        order[1, e] += d if forward else -d
        if order[1, e] < 1e-14 * d:
            order[1, e] = 0.0
        if before != (order[1, e] > 0):
            changed = 1
        a = edges[e, 1] if forward else edges[e, 0]
    return changed


@njit(**INNER)
def find_paths(edges: Array, order: Array, cost: Array, hop: Array) -> None:
    """Best path costs between thresholds (Floyd and Warshall): an order constraint up to low earns its gap, and the way
    back, open while its multiplier is positive, costs it. ``hop`` is the first order constraint of the path."""
    n = cost.shape[0]
    for a in range(n):
        for b in range(n):
            cost[a, b] = -1e30
            hop[a, b] = -1
        cost[a, a] = 0.0
    for e in range(edges.shape[0]):
        up = edges[e, 0]
        low = edges[e, 1]
        if order[0, e] > cost[up, low]:
            cost[up, low] = order[0, e]
            hop[up, low] = e
        if order[1, e] > 0 and -order[0, e] > cost[low, up]:
            cost[low, up] = -order[0, e]
            hop[low, up] = e
    for k in range(n):
        for a in range(n):
            if cost[a, k] > -1e29:
                for b in range(n):
                    if cost[k, b] > -1e29 and cost[a, k] + cost[k, b] > cost[a, b] + 1e-12:
                        cost[a, b] = cost[a, k] + cost[k, b]
                        hop[a, b] = hop[a, k]
