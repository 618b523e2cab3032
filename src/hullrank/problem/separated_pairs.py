"""Smooth charges over all pairs without a pair: the charge as a short sum of products.

A charge phi that is analytic in a strip around the real line is, on the range of the scores, the polynomial through its
values at r Chebyshev nodes t_k, to rounding error for r of about ten times the range:

    phi(s_j - s_i) = sum_k l_k(s_j) phi(t_k - s_i),        l_k the Lagrange polynomials of the nodes

(Trefethen, Approximation Theory and Approximation Practice, chapters 5 and 8). Hence the sum over the lower partners j
of sample i needs only the sums of weight_j l_k(s_j) over all lower ranks: a running sum over the groups of equal rank,
for any number of ranks and queries, in O(m r).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from hullrank.problem.all_pairs import AllPairs
from hullrank.problem.charges import Charge, Function
from hullrank.problem.pair_sets import EPSILON, Floats, Smooth

_STRIP = np.pi  # distance of the nearest singularity of the logistic charge from the real line
_DIGITS = 36.0  # natural logarithm of the accuracy asked for, 2e-16
_BLOCK = 1 << 20  # numbers held at a time


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

    def blocks(self, n_scores: int) -> list[slice]:
        """The nodes, as many at a time as memory allows for so many scores."""
        step = max(1, _BLOCK // max(n_scores, 1))
        return [slice(k, k + step) for k in range(0, len(self.places), step)]

    def basis(self, s: Floats) -> Callable[[slice], Floats]:
        """Some of the Lagrange polynomials at the scores, by the barycentric formula."""
        total, hit = np.zeros(len(s)), np.zeros(len(s), dtype=bool)
        for some in self.blocks(len(s)):
            apart = s[:, None] - self.places[some]
            at_node = apart == 0
            hit |= at_node.any(axis=1)
            apart[at_node] = 1.0
            total += np.divide(self.weights[some], apart, out=apart).sum(axis=1)
        total[hit] = 1.0

        def columns(some: slice) -> Floats:
            apart = s[:, None] - self.places[some]
            at_node = apart == 0
            apart[at_node] = 1.0
            values: Floats = np.divide(self.weights[some], apart, out=apart)
            values /= total[:, None]
            if hit.any():
                values[hit] = at_node[hit]
            return values

        return columns


class SeparatedPairs:
    """All pairs at given scores (centred within each query), for smooth charges."""

    def __init__(self, pairs: AllPairs, scores: Floats) -> None:
        self.order, first, size = pairs.by_rank
        self.groups = np.flatnonzero(first == np.arange(len(first)))  # the first places of the groups of equal rank
        self.sizes = size[self.groups]
        query = pairs.query[self.order[self.groups]]
        # for every group the first group of its query, and the first of the next query
        self.start = np.searchsorted(query, query)
        self.end = np.searchsorted(query, query, side="right")
        self.s, self.weights = scores[self.order], pairs.weights[self.order]
        self.nodes = Nodes.between(float(self.s.min()), float(self.s.max()))
        self._columns = self.nodes.basis(self.s)

    def smooth(self, charge: Charge) -> Smooth:
        """All pairs charged: the total, and the derivative by sample."""
        weights = self.weights[:, None]
        below, up = self._sums((charge.value, charge.derivative), weights)[:, :, 0]
        down = self._sums((charge.derivative,), weights, higher=True)[0, :, 0]
        coef = self.weights * (down - up)
        noise = 16 * EPSILON * len(self.nodes.places) * float(self.weights @ (up + down))
        return Smooth(float(self.weights @ below), self._unsorted(coef), noise)

    def laplacian(self, charge: Charge, v: Floats) -> Floats:
        """L v, see ``PairsAt.smooth_laplacian``."""
        v = v[self.order]
        values = np.stack([self.weights, self.weights * v], axis=1)
        bend = (charge.curvature,)
        sums = (self._sums(bend, values) + self._sums(bend, values, higher=True))[0]
        return self._unsorted(self.weights * (v * sums[:, 0] - sums[:, 1]))

    def gram(self, charge: Charge, X: Any) -> Floats:
        """X'LX is the symmetric part of X'(D X - 2 A G), G_i the weighted sum of the lower partners' rows."""
        rows = X[self.order].toarray() if sp.issparse(X) else X[self.order]
        rows = rows - rows.mean(axis=0)
        weights = self.weights[:, None]
        lower = self._sums((charge.curvature,), np.hstack([weights, weights * rows]))[0]
        degree = lower[:, :1] + self._sums((charge.curvature,), weights, higher=True)[0]
        product = rows.T @ (weights * (degree * rows - 2 * lower[:, 1:]))
        return (product + product.T) / 2

    def _sums(self, functions: Sequence[Function], values: Floats, higher: bool = False) -> Floats:
        """By function phi, sample and column of values: the sum over the sample's partners of value times phi(violation
        of the pair). The partners are the lower ones, or the ``higher`` ones.
        """
        out = np.zeros((len(functions), *values.shape))
        own = np.arange(len(self.groups))
        low, high = (own + 1, self.end) if higher else (self.start, own)
        for some in self._blocks:
            basis = self._basis(some)
            violation = self.nodes.places[some] - self.s[:, None]
            if higher:
                np.negative(violation, out=violation)
            charged = [phi(violation) for phi in functions]
            running = np.zeros((len(own) + 1, basis.shape[1]))
            for c, column in enumerate(values.T):
                np.cumsum(np.add.reduceat(basis * column[:, None], self.groups, axis=0), axis=0, out=running[1:])
                partners = np.repeat(running[high] - running[low], self.sizes, axis=0)
                for total, phi in zip(out, charged, strict=True):
                    total[:, c] += np.einsum("ij,ij->i", phi, partners)
        return out

    @cached_property
    def _blocks(self) -> list[slice]:
        return self.nodes.blocks(len(self.s))

    def _basis(self, some: slice) -> Floats:
        """Lagrange polynomials of some nodes at the scores; those of all are kept where memory allows."""
        return self._all_columns if len(self._blocks) == 1 else self._columns(some)

    @cached_property
    def _all_columns(self) -> Floats:
        return self._columns(slice(None))

    def _unsorted(self, values: Floats) -> Floats:
        out = np.empty_like(values)
        out[self.order] = values
        return out
