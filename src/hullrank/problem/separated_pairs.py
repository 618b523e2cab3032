"""Smooth charges over all pairs without a pair: the charge as a short sum of products.

A charge phi that is analytic in a strip around the real line is, on the range of the scores, the polynomial through its
values at r Chebyshev nodes t_k, to rounding error for r of about ten times the range:

    phi(s_j - s_i) = sum_k l_k(s_j) phi(t_k - s_i),        l_k the Lagrange polynomials of the nodes

(Trefethen, Approximation Theory and Approximation Practice, chapters 5 and 8). Hence the sum over the lower partners j
of sample i needs only the sums of weight_j l_k(s_j) over all lower ranks: a running sum over samples sorted by rank,
for any number of ranks and queries, in O(m r).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from hullrank.problem.all_pairs import AllPairs
from hullrank.problem.charges import Charge
from hullrank.problem.pair_sets import EPSILON, Floats, Smooth

_STRIP = np.pi  # distance of the nearest singularity of the logistic charge from the real line
_DIGITS = 36.0  # natural logarithm of the accuracy asked for, 2e-16
_BLOCK = 1 << 22  # numbers held at a time


@dataclass(frozen=True)
class Nodes:
    """Chebyshev nodes of an interval, and their weights in the barycentric formula."""

    places: Floats
    weights: Floats

    @classmethod
    def between(cls, low: float, high: float) -> "Nodes":
        """As many as the logistic charge needs for full accuracy where scores lie between two numbers."""
        half = max((high - low) / 2, 1e-3)
        y = _STRIP / half
        r = int(np.ceil(_DIGITS / np.log(y + np.sqrt(1 + y * y)))) + 4
        places = (low + high) / 2 + half * np.cos(np.pi * np.arange(r) / (r - 1))
        weights = np.where(np.arange(r) % 2, -1.0, 1.0)
        weights[[0, -1]] *= 0.5
        return cls(places, weights)

    def basis(self, s: Floats) -> Callable[[slice], Floats]:
        """Some of the Lagrange polynomials at the scores, by the barycentric formula."""
        total, hit = np.zeros(len(s)), np.zeros(len(s), dtype=bool)
        for node, weight in zip(self.places, self.weights, strict=True):
            apart = s - node
            at_node = apart == 0
            hit |= at_node
            total += weight / np.where(at_node, 1.0, apart)
        total = np.where(hit, 1.0, total)

        def columns(some: slice) -> Floats:
            apart = s[:, None] - self.places[some]
            at_node = apart == 0
            apart[at_node] = 1.0
            values: Floats = self.weights[some] / apart / total[:, None]
            if hit.any():
                values[hit] = at_node[hit]
            return values

        return columns


class SeparatedPairs:
    """All pairs at given scores (centred within each query), for smooth charges."""

    def __init__(self, pairs: AllPairs, scores: Floats) -> None:
        self.order, self.first, size = pairs.by_rank
        self.start = pairs.starts[pairs.query[self.order]]
        self.end, self.above = pairs.starts[pairs.query[self.order] + 1], self.first + size
        self.s, self.weights = scores[self.order], pairs.weights[self.order]
        self.nodes = Nodes.between(float(self.s.min()), float(self.s.max()))
        self.basis = self.nodes.basis(self.s)

    def smooth(self, charge: Charge) -> Smooth:
        """All pairs charged: the total, and the derivative by sample."""
        below = self._sums(charge.value, self.weights)
        up = self._sums(charge.derivative, self.weights)
        down = self._sums(charge.derivative, self.weights, higher=True)
        coef = self.weights * (down - up)
        noise = 16 * EPSILON * len(self.nodes.places) * float(self.weights @ (up + down))
        return Smooth(float(self.weights @ below), self._unsorted(coef), noise)

    def laplacian(self, charge: Charge, v: Floats) -> Floats:
        """L v, see ``PairsAt.smooth_laplacian``."""
        return self._unsorted(self._laplacian(charge, v[self.order][:, None])[:, 0])

    def gram(self, charge: Charge, X: Any) -> Floats:
        """X'LX."""
        rows = X[self.order].toarray() if sp.issparse(X) else X[self.order]
        rows = rows - rows.mean(axis=0)
        product = rows.T @ self._laplacian(charge, rows)
        return (product + product.T) / 2

    def _laplacian(self, charge: Charge, V: Floats) -> Floats:
        values = np.column_stack([self.weights, self.weights[:, None] * V])
        sums = np.zeros_like(values)
        for column in range(values.shape[1]):
            for higher in (False, True):
                sums[:, column] += self._sums(charge.curvature, values[:, column], higher)
        return self.weights[:, None] * (V * sums[:, :1] - sums[:, 1:])

    def _sums(self, phi: Callable[[Floats], Floats], values: Floats, higher: bool = False) -> Floats:
        """By sample, the sum over its partners of values times phi(violation of the pair); the lower ones, or the
        higher ones."""
        out = np.zeros(len(self.s))
        running = np.zeros(len(self.s) + 1)
        step = max(1, _BLOCK // len(self.s))
        low, high = (self.above, self.end) if higher else (self.start, self.first)
        for k in range(0, len(self.nodes.places), step):
            basis = self.basis(slice(k, k + step))
            for column, node in zip(basis.T, self.nodes.places[k : k + step], strict=True):
                np.cumsum(values * column, out=running[1:])
                violation = self.s - node if higher else node - self.s
                out += (running[high] - running[low]) * phi(violation)
        return out

    def _unsorted(self, values: Floats) -> Floats:
        out = np.empty_like(values)
        out[self.order] = values
        return out
