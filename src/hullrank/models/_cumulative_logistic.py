"""The cumulative logistic model of ordered classes in one score, fitted by maximum likelihood.

P(class <= k | s) = sigmoid(cuts[k] - slope * s). With z_k = cuts[k] - slope * s the likelihood of class k factors as
sigmoid(z_k) sigmoid(-z_{k-1}) (1 - exp(cuts[k-1] - cuts[k])): one logistic row for each cut beside the class, and a
concave term of the cuts alone. So the problem is convex, and the cuts stay ordered by themselves.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit

from hullrank.exceptions import HullrankError

Floats = NDArray[np.float64]
_FAR = 500.0  # log-odds between two cuts beyond which their distance has no effect that float64 could show
_MOST_STEPS = 200  # of Newton's method
_RIDGE = 1e-9  # on the slope, per unit of weight: keeps it finite when the scores separate the classes


@dataclass(frozen=True)
class _Likelihood:
    """Logistic rows (score, cut, side, weight) and the shares of the inner classes; x = (cuts, slope)."""

    s: Floats
    cut: NDArray[np.intp]
    side: Floats
    weight: Floats
    inner: Floats

    def loss(self, x: Floats) -> float:
        """Negative log-likelihood; infinite unless the cuts ascend."""
        steps = np.diff(x[:-1])
        if not (steps > 0).all():
            return np.inf
        z = self.side * (x[self.cut] - x[-1] * self.s)
        rows, cuts = self.weight @ np.logaddexp(0.0, -z), self.inner @ np.log(-np.expm1(-steps))
        return float(rows - cuts + 0.5 * _RIDGE * x[-1] ** 2)

    def derivatives(self, x: Floats) -> tuple[Floats, Floats]:
        """Gradient and Hessian."""
        q, s, cut = len(x) - 1, self.s, self.cut
        z = x[cut] - x[q] * s
        pull = -self.weight * self.side * expit(-self.side * z)
        curve = self.weight * expit(z) * expit(-z)
        growth = np.expm1(np.minimum(np.diff(x[:q]), _FAR))
        slope = self.inner / growth
        bend = slope + slope / growth
        gradient = np.append(np.bincount(cut, pull, q), _RIDGE * x[q] - s @ pull)
        gradient[1:q] -= slope
        gradient[: q - 1] += slope
        diagonal: Floats = np.bincount(cut, curve, q).astype(np.float64)
        diagonal[1:] += bend
        diagonal[:-1] += bend
        hessian = np.zeros((q + 1, q + 1))
        hessian[:q, :q] = np.diag(diagonal) - np.diag(bend, 1) - np.diag(bend, -1)
        hessian[:q, q] = hessian[q, :q] = -np.bincount(cut, curve * s, q)
        hessian[q, q] = s @ (curve * s) + _RIDGE
        return gradient, hessian


def fit_cumulative_logistic(scores: Floats, codes: NDArray[np.intp], weights: Floats) -> tuple[float, Floats]:
    """Slope >= 0 and ascending cuts of greatest likelihood, by Newton's method."""
    counts = np.bincount(codes, weights)
    if not counts.all():
        raise HullrankError("a class was in no test fold, so it has no score to calibrate on; use splits that cover it")
    total = counts.sum()
    below, above = codes < len(counts) - 1, codes > 0
    likelihood = _Likelihood(
        s=np.concatenate([scores[below], scores[above]]),
        cut=np.concatenate([codes[below], codes[above] - 1]),
        side=np.repeat([1.0, -1.0], [below.sum(), above.sum()]),
        weight=np.concatenate([weights[below], weights[above]]) / total,
        inner=counts[1:-1] / total,
    )
    cumulative = np.cumsum(counts)[:-1]
    x = np.append(np.log(cumulative / (total - cumulative)), 0.0)
    if likelihood.derivatives(x)[0][-1] >= 0:  # the scores run against the order: by convexity the best slope is 0
        return 0.0, x[:-1]
    x = _newton(likelihood, x)
    return float(x[-1]), x[:-1]


def _newton(likelihood: _Likelihood, x: Floats) -> Floats:
    """Newton's method with a line search, which also copes with the bad Hessians of scores that nearly separate."""
    value = likelihood.loss(x)
    for _ in range(_MOST_STEPS):
        gradient, hessian = likelihood.derivatives(x)
        step = np.linalg.solve(hessian, gradient)
        decrement = float(gradient @ step)
        length = 1.0
        while (new := likelihood.loss(x - length * step)) > value - 0.25 * length * decrement and length > 1e-10:
            length *= 0.5
        if new >= value:  # no progress left in floating point
            return x - step if decrement < 1e-12 and np.isfinite(likelihood.loss(x - step)) else x
        x, value = x - length * step, new
    return x


def class_probabilities(t: Floats, slope: float, cuts: Floats) -> Floats:
    """(n, K) probabilities of the classes at standardised scores t, without cancellation (see the module)."""
    z = cuts - slope * t[:, None]
    at_most = np.column_stack([expit(z), np.ones(len(t))])
    at_least = np.column_stack([np.ones(len(t)), expit(-z)])
    between = np.append(np.append(1.0, -np.expm1(-np.diff(cuts))), 1.0)
    probabilities = at_most * at_least * between
    return probabilities / probabilities.sum(axis=1, keepdims=True)


def log_class_probabilities(t: Floats, slope: float, cuts: Floats) -> Floats:
    """The logarithms of the same, finite also where the probabilities underflow to 0."""
    z = cuts - slope * t[:, None]
    at_most = np.column_stack([log_expit(z), np.zeros(len(t))])
    at_least = np.column_stack([np.zeros(len(t)), log_expit(-z)])
    between = np.append(np.append(0.0, np.log(-np.expm1(-np.diff(cuts)))), 0.0)
    return at_most + at_least + between
