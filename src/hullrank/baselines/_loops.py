"""Compiled passes of the perceptron ranker: arrays only, the state changed in place."""

import numpy as np
from numpy.typing import NDArray

from hullrank._jit import njit

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


@njit()
def move_thresholds(score: float, code: int, clock: float, thresholds: Floats) -> int:
    """Apply Crammer and Singer (2001, figure 2) to the thresholds, and return the step to take along x.

    With y_r = +1 if r < code and -1 otherwise: tau_r = y_r where (score - b_r) y_r <= 0, else 0; b_r -= tau_r, and the
    step is sum_r tau_r. ``thresholds[0]`` is b, ``thresholds[1]`` the same changes weighted by the clock.
    """
    step = 0
    for r in range(thresholds.shape[1]):
        side = 2 * (r < code) - 1
        tau = side * ((score - thresholds[0, r]) * side <= 0.0)
        step += tau
        thresholds[0, r] -= tau
        thresholds[1, r] -= tau * clock
    return step


@njit(fastmath=True)
def pass_dense(X: Floats, codes: Ints, clock: float, coef: Floats, thresholds: Floats) -> int:
    """Visit the rows of X in turn; returns how many were on the wrong side of some threshold.

    ``coef[0]`` is w, and ``coef[1]`` (if there) the sum of its changes, each times the clock at which it happened. No
    branch depends on the data: a mistaken guess of the processor would cost more than a step of zero.
    """
    mistakes = 0
    n = X.shape[1]
    for k in range(X.shape[0]):
        score = 0.0
        for j in range(n):
            score += X[k, j] * coef[0, j]
        step = move_thresholds(score, codes[k], clock + k, thresholds)
        mistakes += step != 0
        for j in range(n):
            coef[0, j] += step * X[k, j]
        if coef.shape[0] > 1:
            for j in range(n):
                coef[1, j] += step * (clock + k) * X[k, j]
    return mistakes


@njit(fastmath=True)
def pass_sparse(
    data: Floats, indices: Ints, indptr: Ints, codes: Ints, clock: float, coef: Floats, thresholds: Floats
) -> int:
    """The same over the rows of a CSR matrix."""
    mistakes = 0
    for k in range(codes.shape[0]):
        score = 0.0
        for e in range(indptr[k], indptr[k + 1]):
            score += data[e] * coef[0, indices[e]]
        step = move_thresholds(score, codes[k], clock + k, thresholds)
        if step != 0:
            mistakes += 1
            for e in range(indptr[k], indptr[k + 1]):
                coef[0, indices[e]] += step * data[e]
                if coef.shape[0] > 1:
                    coef[1, indices[e]] += step * (clock + k) * data[e]
    return mistakes


@njit()
def pair_potential(exponentials: Floats, block: Ints, potential: Floats) -> float:
    """The potential of every sample under the exponential pair loss, and the loss.

    Samples are sorted by query and grade. ``exponentials[0]`` is p_k = w_k exp(f_k), ``exponentials[1]`` is
    q_k = w_k exp(-f_k); ``block[0]`` numbers the queries, ``block[1]`` the grades. With sums over the same query,
    pi_k = q_k sum_{lower l} p_l - p_k sum_{higher h} q_h, and the loss is sum_k q_k sum_{lower l} p_l.
    """
    m = potential.shape[0]
    loss = 0.0
    for direction in (1, -1):
        others = 0.0
        same = 0.0
        side = (1 - direction) // 2
        for position in range(m):
            k = position if direction == 1 else m - 1 - position
            if position > 0:
                if block[0, k] != block[0, k - direction]:
                    others = 0.0
                    same = 0.0
                elif block[1, k] != block[1, k - direction]:
                    others += same
                    same = 0.0
            share = exponentials[1 - side, k] * others
            if side == 0:
                potential[k] = share
                loss += share
            else:
                potential[k] -= share
            same += exponentials[side, k]
    return loss


@njit()
def best_stump(potential: Floats, order: NDArray[np.int32], cut: NDArray[np.bool_], best: Floats) -> None:
    """Search all thresholds of all features for the largest |r| = |sum of the potential above the threshold|.

    ``order[j]`` sorts feature j; ``cut[j, p]`` says that the value at place p differs from the one before. ``best``
    receives r, the feature and the place of the first sample above the threshold. Of equals (up to rounding) the first
    wins, so that the choice does not hang on the order of the samples.
    """
    for j in range(order.shape[0]):
        above = 0.0
        for p in range(order.shape[1] - 1, 0, -1):
            above += potential[order[j, p]]
            if cut[j, p] and abs(above) > abs(best[0]) * (1.0 + 1e-10):
                best[0] = above
                best[1] = j
                best[2] = p
