"""Newton steps that sharpen the conic solver's answer where the charge is smooth: squared hinge and logistic.

Interior points lose digits when prices span many orders of magnitude; from a point nearby, Newton's method on weights
and thresholds does not. Whatever it returns is only a candidate, which is judged like any other.
"""

from dataclasses import replace

import numpy as np
from scipy.linalg import null_space

MOST_NUMBERS = 1_000_000  # of the matrix that maps weights and thresholds to margins


def polished(st, F, answer):
    """The answer after Newton steps; None where they do not apply."""
    own_slacks = len(st.slack) == len(st.cost) and np.array_equal(st.slack, np.arange(len(st.slack)))
    size = len(st.slack) * (F.shape[1] + st.n_thresholds)
    smooth = st.charge in ("squared_hinge", "logistic") and st.penalty == "l2" and own_slacks
    if not smooth or st.has_rho or answer.is_ray or size > MOST_NUMBERS or not np.isfinite(answer.w).all():
        return None
    r = F.shape[1]
    A = _margins(st, F)
    basis, theta = _active_order(st, answer.theta, F @ answer.w)
    step = np.column_stack([A[:, :r], A[:, r:] @ basis])
    fixed = A[:, r:] @ theta - st.offset
    x = np.concatenate([answer.w, basis.T @ (answer.theta - theta)])
    x = _minimised(st, step, fixed, x, r)
    z = step @ x + fixed
    return replace(answer, w=x[:r], theta=theta + basis @ x[r:], multipliers=-_charge(st, z)[1])


def _margins(st, F):
    """The matrix of z + offset over (weights, thresholds)."""
    q, threshold = st.n_thresholds, st.reference >= st.m
    A = np.zeros((len(st.sample), F.shape[1] + q))
    A[:, : F.shape[1]] = F[st.sample] - np.where(threshold[:, None], 0.0, F[np.where(threshold, 0, st.reference)])
    A[np.flatnonzero(threshold), F.shape[1] + st.reference[threshold] - st.m] = -1.0
    return A * st.sign[:, None]


def _active_order(st, theta, scores):
    """Thresholds that meet the active order constraints exactly, and the directions that keep them."""
    q = len(theta)
    between = theta[st.up] - theta[st.low] - st.gap if len(st.up) else np.zeros(0)
    active = np.flatnonzero(between <= 1e-5 * max(1.0, float(np.ptp(scores))))
    G = np.zeros((len(active), q))
    G[np.arange(len(active)), st.up[active]] += 1.0
    G[np.arange(len(active)), st.low[active]] -= 1.0
    if not len(active):
        return np.eye(q), theta
    return null_space(G), theta + np.linalg.lstsq(G, st.gap[active] - G @ theta, rcond=None)[0]


def _charge(st, z):
    """Price, slope and curvature of every row."""
    cost = np.asarray(st.cost, float)
    if st.charge == "squared_hinge":
        miss = np.maximum(-z, 0.0)
        return cost @ miss**2, -2 * cost * miss, 2 * cost * (z < 0)
    share = np.exp(-np.logaddexp(0.0, z))
    return cost @ np.logaddexp(0.0, -z), -cost * share, cost * share * (1 - share)


def _minimised(st, A, fixed, x, r):
    """Newton's method with a backtracking line search on 1/2 |w|^2 + charges; w are the first r variables."""
    weight = np.zeros(len(x))
    weight[:r] = 1.0

    def objective(x):
        return 0.5 * float(weight @ x**2) + _charge(st, A @ x + fixed)[0]

    value = objective(x)
    for _ in range(100):
        _, slope, curvature = _charge(st, A @ x + fixed)
        gradient = weight * x + A.T @ slope
        H = (A.T * curvature) @ A + np.diag(weight)
        scale = 1 / np.sqrt(H.diagonal() + 1e-300)
        unit = H * np.outer(scale, scale) + 1e-14 * np.eye(len(x))
        if not (np.isfinite(unit).all() and np.isfinite(gradient).all()):
            break
        direction, length = -scale * np.linalg.solve(unit, scale * gradient), 1.0
        while length > 1e-9 and objective(x + length * direction) >= value:
            length /= 2
        if length <= 1e-9:
            break
        x = x + length * direction
        value, before = objective(x), value
        if before - value <= 1e-15 * abs(value):
            break
    return x
