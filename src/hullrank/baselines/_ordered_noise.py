"""The ordered-categories noise model: a score plus white noise of variance 1, cut at thresholds.

A score known as N(mu, zeta) has class c with probability Z_c = Phi(u_c) - Phi(u_{c-1}), u_r = (b_r - mu) / s,
s^2 = 1 + zeta, where b_{-1} = -inf and b_{K-1} = inf. Assumed-density filtering needs (Lawrence, Seeger and Herbrich
2002, section 2) g = d log Z / d mu and nu = g^2 - 2 d log Z / d zeta:

    g_c = -(phi(u_c) - phi(u_{c-1})) / (Z_c s),   nu_c = g_c^2 + (u_c phi(u_c) - u_{c-1} phi(u_{c-1})) / (Z_c s^2).

Seeing class c takes the variance from zeta to zeta (1 - nu_c zeta).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import log_ndtr, ndtr, ndtri

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
_LOG_ROOT_2PI = 0.5 * np.log(2 * np.pi)


class Evidence(NamedTuple):
    """log Z, g and nu of the classes seen, and phi(u) / (Z s) at both ends of their intervals."""

    log_z: Floats
    g: Floats
    nu: Floats
    ends: Floats


def evidence(mean: Floats, variance: Floats, codes: Ints, thresholds: Floats) -> Evidence:
    """What seeing the class of each sample says about its score; exact far out in the tails."""
    s = np.sqrt(1.0 + variance)
    cuts = np.concatenate([[-np.inf], thresholds, [np.inf]])
    u = (cuts[np.stack([codes, codes + 1])] - mean) / s
    low, high = np.where(u[0] > 0, -u[::-1], u)  # Phi(b) - Phi(a) = Phi(-a) - Phi(-b): stay in the lower tail
    log_high = log_ndtr(high)
    log_z = log_high + np.log(-np.expm1(np.minimum(log_ndtr(low) - log_high, -1e-300)))
    ends = np.exp(-0.5 * u**2 - _LOG_ROOT_2PI - log_z) / s
    g = ends[0] - ends[1]
    inner = np.where(np.isfinite(u), u, 0.0) * ends
    nu = np.clip(g**2 + (inner[1] - inner[0]) / s, 0.0, 1.0 / s**2)
    return Evidence(log_z, g, nu, ends)


def observed_gain(mean: Floats, variance: Floats, thresholds: Floats, codes: Ints) -> Floats:
    """Entropy that seeing the class of each sample removes: -1/2 log(1 - nu zeta)."""
    return -0.5 * np.log1p(-evidence(mean, variance, codes, thresholds).nu * variance)


def expected_gain(mean: Floats, variance: Floats, thresholds: Floats) -> Floats:
    """The same before the class is seen: the mean over classes under their present probabilities."""
    s = np.sqrt(1.0 + variance)
    u = (thresholds[:, None] - mean) / s
    density = np.exp(-0.5 * u**2 - _LOG_ROOT_2PI)
    z = np.maximum(_between(ndtr(u), 1.0), 1e-12)
    removed = (_between(density, 0.0) / z) ** 2 + _between(u * density, 0.0) / z
    most = variance / s**2
    return -0.5 * (z * np.log1p(-np.clip(removed * most, 0.0, most))).sum(axis=0)


def _between(at_thresholds: Floats, last: float) -> Floats:
    """Differences over the intervals of the classes of a function that is 0 at -inf and ``last`` at inf."""
    return np.diff(at_thresholds, axis=0, prepend=0.0, append=last)


def class_probabilities(mean: Floats, variance: Floats, thresholds: Floats) -> Floats:
    """(m, K) probabilities of the classes."""
    return _between(ndtr((thresholds[:, None] - mean) / np.sqrt(1.0 + variance)), 1.0).T


def prior_thresholds(codes: Ints, n_classes: int, variance: float) -> Floats:
    """Thresholds that give the classes their frequencies when every score is N(0, variance)."""
    below = np.cumsum(np.bincount(codes, minlength=n_classes))[:-1] / len(codes)
    return ndtri(below) * np.sqrt(1.0 + variance)


def fit_thresholds(mean: Floats, variance: Floats, codes: Ints, thresholds: Floats) -> Floats:
    """The thresholds with the largest likelihood sum log Z, the scores being known as they are."""

    def unpack(t: Floats) -> Floats:
        return np.cumsum(np.concatenate([t[:1], np.exp(t[1:])]))

    def loss(t: Floats) -> tuple[float, Floats]:
        seen = evidence(mean, variance, codes, unpack(t))
        n = len(t) + 2
        slope = np.bincount(codes + 1, seen.ends[1], n) - np.bincount(codes, seen.ends[0], n)
        from_above = np.cumsum(slope[-2:0:-1])[::-1]  # a gap moves all thresholds above it
        return -float(seen.log_z.sum()), -from_above * np.concatenate([[1.0], np.exp(t[1:])])

    start = np.concatenate([thresholds[:1], np.log(np.diff(thresholds))])
    return unpack(minimize(loss, start, jac=True, method="L-BFGS-B").x)
