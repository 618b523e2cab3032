"""Assumed-density filtering with a greedy choice of the samples to take in (Lawrence, Seeger and Herbrich 2002)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular
from sklearn.metrics.pairwise import euclidean_distances

from hullrank.baselines._ordered_noise import evidence, expected_gain, observed_gain

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


class Prior(NamedTuple):
    """k(x, x') = signal exp(-|x - x'|^2 / (2 length^2)) + bias; the white noise of variance 1 sits in the classes."""

    signal: float
    length: float
    bias: float

    @property
    def variance(self) -> float:
        """k(x, x)."""
        return self.signal + self.bias

    def covariance(self, squared_distances: Floats) -> Floats:
        """Kernel values at the given squared distances."""
        return self.signal * np.exp(squared_distances * (-0.5 / self.length**2)) + self.bias


class Selection(NamedTuple):
    """How the next sample is chosen: by expected or observed gain, among so many drawn at random (None: all)."""

    expected: bool
    n_candidates: int | None
    seed: int


@dataclass(frozen=True)
class Filtered:
    """Active samples with their Gaussian sites, and the posterior of every sample's score.

    A site is N(score | centre, 1 / precision). ``log_likelihood`` is log p(classes of the active samples), as the
    product of what each was worth when taken in, plus sum log p(class of sample | classes of the active samples).
    """

    active: Ints
    centre: Floats
    precision: Floats
    mean: Floats
    variance: Floats
    log_likelihood: float


def filter_greedily(
    column: Callable[[int], Floats], prior: Prior, codes: Ints, thresholds: Floats, n_active: int, selection: Selection
) -> Filtered:
    """Take in the candidate that removes most entropy, n_active times; Ctrl-C keeps those taken in so far.

    ``column(i)`` gives the squared distances of all samples to sample i. With a = cov(all scores, score_i):
    mean += g a, variance -= nu a^2, and a = k(., x_i) - M' M_i with rows sqrt(nu) a of M: O(m d) for the d-th sample.
    """
    m = len(codes)
    mean, variance = np.zeros(m), np.full(m, prior.variance)
    M = np.empty((n_active, m))
    taken: list[tuple[int, float, float, float]] = []
    free = np.ones(m, dtype=bool)
    rng = np.random.default_rng(selection.seed)
    try:
        for d in range(n_active):
            candidates = _candidates(free, selection.n_candidates, rng)
            i = _most_informative(mean, variance, codes, thresholds, candidates, selection.expected)
            own = slice(i, i + 1)
            log_z, g, nu = (float(v[0]) for v in evidence(mean[own], variance[own], codes[own], thresholds)[:3])
            nu = max(nu, 1e-12)
            a = prior.covariance(column(i)) - M[:d, i] @ M[:d]
            precision = nu / (1.0 - nu * variance[i])
            centre = mean[i] + g / nu
            M[d] = np.sqrt(nu) * a
            mean, variance = mean + g * a, np.maximum(variance - nu * a**2, 1e-12)
            free[i] = False
            taken.append((i, centre, precision, log_z))
    except KeyboardInterrupt:
        if not taken:
            raise
    active, centres, precisions, log_zs = (np.array(values) for values in zip(*taken, strict=True))
    rest = evidence(mean[free], variance[free], codes[free], thresholds).log_z
    return Filtered(active, centres, precisions, mean, variance, float(log_zs.sum() + rest.sum()))


def _candidates(free: NDArray[np.bool_], n_candidates: int | None, rng: np.random.Generator) -> Ints:
    """Places of the samples to choose from, in ascending order."""
    places = np.flatnonzero(free)
    if n_candidates is None or n_candidates >= len(places):
        return places
    return np.sort(rng.choice(places, n_candidates, replace=False))


def _most_informative(
    mean: Floats, variance: Floats, codes: Ints, thresholds: Floats, candidates: Ints, expected: bool
) -> int:
    """The candidate with the largest gain; the first of equals (up to rounding)."""
    seen = (mean[candidates], variance[candidates], thresholds)
    gain = expected_gain(*seen) if expected else observed_gain(*seen, codes[candidates])
    return int(candidates[np.argmax(gain >= gain.max() * (1 - 1e-9))])


@dataclass(frozen=True)
class Posterior:
    """The posterior of the score anywhere, from the active samples X and their sites.

    With B = I + S K S = L L', S = diag(sqrt(precision)): mean = k_I' w, w = S B^-1 S centre, and
    variance = k(x, x) - |L^-1 S k_I|^2.
    """

    prior: Prior
    X: Any
    weights: Floats
    root: Floats
    factor: Floats

    @classmethod
    def from_sites(cls, prior: Prior, X: Any, filtered: Filtered) -> Self:
        """Factor B once."""
        root = np.sqrt(filtered.precision)
        K = prior.covariance(euclidean_distances(X, squared=True))
        factor = cholesky(np.eye(len(K)) + root[:, None] * K * root, lower=True)
        half = solve_triangular(factor, root * filtered.centre, lower=True)
        return cls(prior, X, root * solve_triangular(factor, half, lower=True, trans="T"), root, factor)

    def at(self, X: Any) -> tuple[Floats, Floats]:
        """Mean and variance of the scores of the rows of X."""
        K = self.prior.covariance(euclidean_distances(self.X, X, squared=True))
        explained = solve_triangular(self.factor, self.root[:, None] * K, lower=True)
        return self.weights @ K, np.maximum(self.prior.variance - np.square(explained).sum(axis=0), 0.0)
