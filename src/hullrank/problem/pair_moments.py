"""Sums of a smooth charge over pairs of rows in different blocks, from moments of the scores by rank.

A charge phi that is analytic in a strip around the real line is, on the range of the scores, the polynomial through its
values at r Chebyshev nodes t_k, to rounding error for r of about ten times the range:

    phi(s_j - s_i) = sum_k l_k(s_j) phi(t_k - s_i),        l_k the Lagrange polynomials of the nodes

(Trefethen, Approximation Theory and Approximation Practice, chapters 5 and 8). So the sums of weight l_k(s) of the rows
of every rank say all that another block has to know of them. (Rows in memory have ``logistic_pairs``.)
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hullrank.problem.charges import Charge

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_PIECE = 4096  # rows that are worked on at a time
_STRIP = np.pi  # distance of the nearest singularity of the logistic charge from the real line
_DIGITS = 36.0  # natural logarithm of the accuracy asked for, 2e-16


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

    def basis(self, s: Floats) -> Floats:
        """The Lagrange polynomials at the scores, (scores, nodes), by the barycentric formula."""
        apart = s[:, None] - self.places
        at_node = apart == 0
        hit = at_node.any(axis=1)
        apart[at_node] = 1.0
        values: Floats = np.divide(self.weights, apart, out=apart)
        values /= values.sum(axis=1, keepdims=True)
        values[hit] = at_node[hit]
        return values


def moments(rank: Ints, scores: Floats, weights: Floats, nodes: Nodes) -> dict[int, Floats]:
    """By rank, the sums of weight times Lagrange polynomial."""
    found: dict[int, Floats] = {}
    for low in range(0, len(scores), _PIECE):
        part = slice(low, low + _PIECE)
        values = weights[part, None] * nodes.basis(scores[part])
        for each in np.unique(rank[part]):
            mine = values[rank[part] == each].sum(axis=0)
            found[int(each)] = found.get(int(each), 0.0) + mine
    return found


@dataclass(frozen=True)
class MomentTables:
    """The moments of all lower ranks and of all higher ranks, (ranks, nodes) each."""

    nodes: Nodes
    below: Floats
    above: Floats

    @classmethod
    def of(cls, nodes: Nodes, found: Mapping[int, Floats], n_ranks: int) -> "MomentTables":
        """The tables of all rows whose moments were found."""
        table = np.zeros((n_ranks, len(nodes.places)))
        for rank, values in found.items():
            table[rank] = values
        below = np.cumsum(table, axis=0) - table
        return cls(nodes, below, table.sum(axis=0) - table - below)

    def less(self, found: Mapping[int, Floats]) -> "MomentTables":
        """The tables without some of the rows."""
        own = MomentTables.of(self.nodes, found, len(self.below))
        return MomentTables(self.nodes, self.below - own.below, self.above - own.above)

    def charged(self, charge: Charge, rank: Ints, scores: Floats, weights: Floats) -> tuple[float, Floats]:
        """The charge of all pairs whose higher row is among those given, and its derivative by row."""
        value, coef = 0.0, np.empty(len(scores))
        for low in range(0, len(scores), _PIECE):
            part = slice(low, low + _PIECE)
            r, s, omega = rank[part], scores[part], weights[part]
            value += float(omega @ self._sums(charge.value, self.below[r], s, -1.0))
            up = self._sums(charge.derivative, self.below[r], s, -1.0)
            coef[part] = omega * (self._sums(charge.derivative, self.above[r], s, 1.0) - up)
        return value, coef

    def _sums(self, phi: Callable[[Floats], Floats], held: Floats, s: Floats, sign: float) -> Floats:
        """By row, the sum over the nodes of moments times phi(sign (s - node))."""
        return np.einsum("ik,ik->i", held, phi(sign * (s[:, None] - self.nodes.places)))
