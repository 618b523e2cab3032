"""Sets of weighted pairs of rows, and what a pair problem needs to know of them at given scores.

``ListedPairs`` holds its pairs one by one; ``all_pairs.AllPairs`` never stores a pair. Symbols as in ``pairs``.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hullrank.data import pieces
from hullrank.problem.certificate import EPSILON
from hullrank.problem.charges import Charge

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Ramp(NamedTuple):
    """Sums over the pairs of a ramp r from ``low`` to ``high``.

    ``square`` sums omega ((high - d)_+^2 - (low - d)_+^2), and ``coef`` omega r by sample, added for the lower sample
    of a pair and subtracted for the higher: half the gradient of ``square``. Over the pairs with low <= d < high
    ``inside`` sums omega, and ``spread`` (at least) omega a (1 - a) with a = r / (high - low). ``noise`` estimates the
    sum of the rounding errors in ``coef``.
    """

    square: float
    coef: Floats
    inside: float
    spread: float
    noise: float


class Smooth(NamedTuple):
    """Sums over all pairs of a smooth charge phi of the violation -d.

    ``value`` sums omega phi, and ``coef`` omega phi' by sample, added for the lower sample of a pair and subtracted for
    the higher: the gradient of ``value`` in the scores. ``noise`` estimates the sum of the errors in ``coef``.
    """

    value: float
    coef: Floats
    noise: float


class PairsAt(Protocol):
    """The pairs at given scores; d < margin is always computed as s_i < s_j + margin."""

    def hinge(self, margin: float = 1.0) -> tuple[float, Floats]:
        """Sum of omega max(0, margin - d) and its subgradient in the scores that counts the pairs with d < margin."""

    def violated(self, margin: float) -> float:
        """Sum of omega over the pairs with d < margin."""

    def ramp(self, low: float, high: float) -> Ramp:
        """Sums over the ramp from ``low`` (may be -inf) to ``high``."""

    def laplacian(self, low: float, high: float, v: Floats) -> Floats:
        """L v with L = sum omega (e_i - e_j)(e_i - e_j)' over the pairs with low <= d < high."""

    def gram(self, low: float, high: float, X: Any) -> Floats:
        """X'LX as an array."""

    def smooth(self, charge: Charge) -> Smooth:
        """All pairs charged smoothly."""

    def smooth_laplacian(self, charge: Charge, v: Floats) -> Floats:
        """L v with L = sum omega phi''(-d) (e_i - e_j)(e_i - e_j)' over all pairs."""

    def smooth_gram(self, charge: Charge, X: Any) -> Floats:
        """X'LX for the same L, as an array."""


class Pairs(Protocol):
    """A set of pairs whose weights sum to 1."""

    @property
    def n_pairs(self) -> int:
        """Number of pairs."""

    def at(self, scores: Floats) -> PairsAt:
        """The pairs at given scores."""

    def forget(self) -> None:
        """Free what was kept of the last scores."""

    def sample(self, size: int, seed: int) -> tuple[Ints, Any] | None:
        """About ``size`` random rows and the set of pairs among them; None where all pairs had better be used."""

    def mean_square(self, X: Any, mean: Floats) -> float:
        """The mean squared distance |x_i - x_j|^2 of the pairs' rows, each pair by its weight.

        Rounding is least where ``mean`` is that of the rows; of sparse rows it must be 0.
        """


def row_products(X: Any, Y: Any) -> Floats:
    """The products x_i.y_i of the rows of two matrices, dense or sparse."""
    if sp.issparse(X):
        return np.asarray(X.multiply(Y).sum(axis=1), dtype=np.float64).ravel()
    return np.einsum("ij,ij->i", X, Y)


@dataclass(frozen=True)
class ListedPairs:
    """Pairs listed one by one: row ``hi`` above row ``lo``."""

    hi: Ints
    lo: Ints
    weights: Floats
    n_rows: int

    @property
    def n_pairs(self) -> int:
        """Number of pairs."""
        return len(self.hi)

    def at(self, scores: Floats) -> PairsAt:
        """The pairs at given scores."""
        return _ListedAt(self, scores)

    def forget(self) -> None:
        """Nothing is kept."""

    def sample(self, size: int, seed: int) -> None:
        """Listed pairs are few enough to be used all."""

    def mean_square(self, X: Any, mean: Floats) -> float:
        """The mean squared distance |x_i - x_j|^2 of the pairs' rows, each pair by its weight."""
        square = 0.0
        for part in pieces(self.n_pairs, X.shape[1]):
            apart = X[self.hi[part]] - X[self.lo[part]]
            square += float(self.weights[part] @ row_products(apart, apart))
        return square

    def by_sample(self, values: Floats) -> Floats:
        """Sum values of pairs by sample: added for the lower sample, subtracted for the higher."""
        return np.subtract(np.bincount(self.lo, values, self.n_rows), np.bincount(self.hi, values, self.n_rows))


class _ListedAt:
    def __init__(self, pairs: ListedPairs, scores: Floats):
        self.pairs = pairs
        self.hi, self.lo = scores[pairs.hi], scores[pairs.lo]
        self.differences = self.hi - self.lo

    def hinge(self, margin: float = 1.0) -> tuple[float, Floats]:
        charged = np.where(self._within(-np.inf, margin), self.pairs.weights, 0.0)
        return float(charged @ (margin - self.differences)), self.pairs.by_sample(charged)

    def violated(self, margin: float) -> float:
        return float(self.pairs.weights @ self._within(-np.inf, margin))

    def ramp(self, low: float, high: float) -> Ramp:
        above = np.maximum(high - self.differences, 0.0)
        below = np.maximum(low - self.differences, 0.0)
        r = self.pairs.weights * np.minimum(above, high - low)
        inside = float(self.pairs.weights @ self._within(low, high))
        spread = float(r @ (1 - np.minimum(above / (high - low), 1.0))) / (high - low)
        noise = EPSILON * inside * float(np.abs(self.lo).max(initial=1.0))
        return Ramp(float(r @ (above + below)), self.pairs.by_sample(r), inside, spread, noise)

    def laplacian(self, low: float, high: float, v: Floats) -> Floats:
        inside = np.where(self._within(low, high), self.pairs.weights, 0.0)
        return -self.pairs.by_sample(inside * (v[self.pairs.hi] - v[self.pairs.lo]))

    def smooth(self, charge: Charge) -> Smooth:
        weights, v = self.pairs.weights, -self.differences
        coef = self.pairs.by_sample(weights * charge.derivative(v))
        return Smooth(float(weights @ charge.value(v)), coef, EPSILON * float(np.abs(self.lo).max(initial=1.0)))

    def smooth_laplacian(self, charge: Charge, v: Floats) -> Floats:
        weights = self.pairs.weights * charge.curvature(-self.differences)
        return -self.pairs.by_sample(weights * (v[self.pairs.hi] - v[self.pairs.lo]))

    def smooth_gram(self, charge: Charge, X: Any) -> Floats:
        return self._gram(np.arange(len(self.hi)), self.pairs.weights * charge.curvature(-self.differences), X)

    def gram(self, low: float, high: float, X: Any) -> Floats:
        inside = np.flatnonzero(self._within(low, high))
        return self._gram(inside, self.pairs.weights[inside], X)

    def _gram(self, inside: Ints, weights: Floats, X: Any) -> Floats:
        m = self.pairs.n_rows
        violated = sp.csr_array((weights, (self.pairs.hi[inside], self.pairs.lo[inside])), shape=(m, m))
        degree = (violated.sum(axis=0) + violated.sum(axis=1))[:, None]
        if sp.issparse(X):
            product = (X.T @ (X.multiply(degree) - 2 * (violated @ X))).toarray()
        else:
            X = X - X.mean(axis=0)  # a shift leaves differences as they are, and makes rounding errors smaller
            product = X.T @ (degree * X - 2 * (violated @ X))
        return (product + product.T) / 2

    def _within(self, low: float, high: float) -> NDArray[np.bool_]:
        inside = self.hi < self.lo + high
        return inside & (self.hi >= self.lo + low) if low > -np.inf else inside
