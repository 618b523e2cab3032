"""Every problem that has a certificate, stated from the papers alone, and its objective in extended precision.

Nothing here is shared with the library. A problem is a list of rows: row r compares the score of a sample with a
threshold, or with the score of another sample, and misses by at least -z_r where

    z_r = sign_r * (s[sample_r] - reference_r) - rho - offset_r          (rho only for the nu margin, else 0)

A slack is the largest miss of its rows (at least 0) and pays cost * charge; rows with slack number -1 must hold.
The objective is penalty(w) + linear.theta + sum of the charges, subject to theta[up] - theta[low] >= gap. The logistic
charge is log(1 + exp(-z)) of each row.
"""

from dataclasses import dataclass, field

import numpy as np

EPS = float(np.finfo(np.float64).eps)
Long = np.longdouble


@dataclass(frozen=True)
class Statement:
    """Rows over m samples and q thresholds; ``reference`` counts samples first, then thresholds, then the number 0.

    ``features`` are the m rows of X, or the kernel matrix with ``is_kernel``; ``doubt`` bounds how far kernel values in
    float64 may lie from them. ``penalty`` is l2, l1, ball (|w| <= 1) or box (|w_j| <= ``bound``).
    """

    features: np.ndarray
    sample: np.ndarray
    reference: np.ndarray
    sign: np.ndarray
    offset: np.ndarray
    slack: np.ndarray
    cost: np.ndarray
    charge: str
    n_thresholds: int = 0
    up: np.ndarray = field(default_factory=lambda: np.zeros(0, int))
    low: np.ndarray = field(default_factory=lambda: np.zeros(0, int))
    gap: np.ndarray = field(default_factory=lambda: np.zeros(0))
    linear: np.ndarray = field(default_factory=lambda: np.zeros(0))
    has_rho: bool = False
    penalty: str = "l2"
    bound: float = np.inf
    is_kernel: bool = False
    doubt: np.ndarray | float = 0.0

    @property
    def m(self):
        return len(self.features)

    @property
    def homogeneous(self):
        """Whether the objective is 0 at w = 0, as for the nu margin and the sum of margins."""
        return bool(len(self.linear)) and bool(np.any(self.linear != 0))


@dataclass(frozen=True)
class Value:
    """An objective in extended precision, what float64 may add to or take from it, and how far constraints are broken.

    ``excess`` is the largest violation beyond rounding, in units of the margin.
    """

    value: float
    error: float
    violation: float
    excess: float


def charge_of(name, z):
    """What a row (or a slack, whose z is minus the largest miss) pays."""
    miss = np.maximum(-z, 0)
    if name == "logistic":
        return miss + np.log1p(np.exp(-np.abs(z)))
    return miss * miss if name == "squared_hinge" else miss


def score_errors(st, w):
    """The scores of weights (or kernel coefficients) w, and how far scores in float64 may be from them."""
    w, F = np.asarray(w, Long), np.asarray(st.features, Long)
    error = EPS * (F.shape[1] + 3) * (np.abs(F) @ np.abs(w))
    return F @ w, error + (st.doubt @ np.abs(w) if np.ndim(st.doubt) else 0)


def evaluate(st, w, theta, scores=None):
    """The objective of weights (or kernel coefficients) w and thresholds on the data as given, or at given scores."""
    w, theta = np.asarray(w, Long), np.asarray(theta, Long)
    size = np.abs(w)
    exact, error = score_errors(st, w)
    exact = exact if scores is None else np.asarray(scores, Long)
    rho = theta[-1] if st.has_rho else Long(0)
    places = np.concatenate([exact, theta, [Long(0)]])
    doubts = np.concatenate([error, 2 * EPS * np.abs(theta), [Long(0)]])
    z = st.sign * (places[st.sample] - places[st.reference]) - rho - st.offset
    dz = doubts[st.sample] + doubts[st.reference] + 2 * EPS * (np.abs(st.offset) + abs(rho) + np.abs(z))
    hard = st.slack < 0
    margin = np.maximum(np.abs(st.offset), 1.0 if not st.homogeneous else 0.0)
    broken = [np.maximum(-z[hard], 0)]
    excess = [broken[0] - dz[hard] - 1e-9 * margin[hard]]
    if len(st.up):
        between = st.gap - (places[st.m + st.up] - places[st.m + st.low])
        broken.append(np.maximum(between, 0))
        room = doubts[st.m + st.up] + doubts[st.m + st.low] + 4 * EPS * (np.max(np.abs(st.offset)) + abs(rho))
        excess.append(between - room - 1e-9 * np.maximum(st.gap, 0))
    least, doubt = np.full(len(st.cost), Long(np.inf)), np.zeros(len(st.cost), Long)
    np.minimum.at(least, st.slack[~hard], z[~hard])
    np.maximum.at(doubt, st.slack[~hard], dz[~hard])
    paid = st.cost * charge_of(st.charge, least) if len(st.cost) else np.zeros(1, Long)
    most = st.cost * charge_of(st.charge, least - doubt) if len(st.cost) else paid
    penalty, penalty_error, over = _penalty(st, w, exact, size)
    excess.append(np.atleast_1d(over))
    drive = st.linear * theta if len(st.linear) else np.zeros(1, Long)
    total = penalty + drive.sum() + paid.sum()
    wrong = (most - paid).sum() + penalty_error + 8 * EPS * (np.abs(drive).sum() + paid.sum() + penalty)
    return Value(
        float(total), float(wrong), float(np.max(np.concatenate(broken), initial=0.0)),
        float(np.max(np.concatenate(excess), initial=0.0)),
    )  # fmt: skip


def _penalty(st, w, scores, size):
    """The penalty of w, its rounding error, and by how much a bound on w is broken beyond rounding."""
    if st.penalty == "box":
        return Long(0), Long(0), float(np.max(size / st.bound, initial=0.0)) - 1 - 1e-9
    if st.penalty == "l1":
        return size.sum(), EPS * len(w) * size.sum(), 0.0
    square, error = w @ w, EPS * (len(w) + 2) * (w @ w)
    if st.is_kernel:
        square = w @ scores
        error = size @ ((EPS * (len(w) + 2) * np.abs(st.features) + st.doubt) @ size)
    if st.penalty == "ball":
        return Long(0), Long(0), float(np.sqrt(max(square - 2 * error, 0))) - 1 - 1e-9
    return square / 2, error / 2, 0.0


def kernel_values(X, kernel, *, gamma=1.0, degree=3, coef0=0.0, centred=True):
    """The kernel between the rows of X in extended precision, and how far float64 values may be from it.

    ``centred`` rows lose no digits of |x - y|^2 = |x|^2 + |y|^2 - 2 x.y to a shift; sparse rows cannot be centred.
    """
    X = np.asarray(X, Long)
    if kernel == "precomputed":
        return X, 0.0 * np.asarray(X, np.float64)
    if kernel in ("rbf", "laplacian"):
        power = 2 if kernel == "rbf" else 1
        distance = sum((np.abs(np.subtract.outer(x, x)) ** power for x in X.T), np.zeros((len(X), len(X)), Long))
        K = np.exp(-gamma * distance)
        length = distance.max() if centred else (X**2).sum(axis=1).max()
        far = 2 * length if kernel == "rbf" else 0.0
        doubt = EPS**2 + K * EPS * (4 + (X.shape[1] + 8) * gamma * (distance + far))
        return K, np.asarray(doubt, np.float64)
    product = X @ X.T
    doubt = EPS * (X.shape[1] + 2) * (np.abs(X) @ np.abs(X).T)
    if kernel == "linear":
        return product, np.asarray(doubt, np.float64)
    base = gamma * product + coef0
    slope = degree * np.abs(base) ** max(degree - 1, 0)
    doubt = slope * (gamma * doubt + 2 * EPS * np.abs(base)) + (degree + 2) * EPS * np.abs(base) ** degree
    return base**degree, np.asarray(doubt, np.float64)


def resolved_gamma(gamma, X, weights):
    """ "scale" is 1 / (n * variance of all entries, rows counted by weight); "auto" is 1 / n."""
    if gamma == "auto":
        return 1.0 / X.shape[1]
    if gamma != "scale":
        return float(gamma)
    if np.ptp(X) == 0:
        return 1.0
    share = np.asarray(weights, Long)[:, None] / (np.sum(weights, dtype=Long) * X.shape[1])
    X = np.asarray(X, Long)
    variance = (share * (X - (share * X).sum()) ** 2).sum()
    return float(1 / (X.shape[1] * variance))
