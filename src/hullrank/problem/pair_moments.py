"""Sums of a smooth charge over pairs of rows in different blocks, from moments of the scores by rank.

As in ``separated_pairs``, the charge of a pair is a short sum of products, l_k(s_j) phi(t_k - s_i) over Chebyshev nodes
t_k, so that the sums of weight l_k(s) of the rows of every rank say all that another block has to know of them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hullrank.problem.charges import Charge
from hullrank.problem.separated_pairs import Nodes

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_PIECE = 4096  # rows that are worked on at a time


def moments(rank: Ints, scores: Floats, weights: Floats, nodes: Nodes) -> dict[int, Floats]:
    """By rank, the sums of weight times Lagrange polynomial."""
    found: dict[int, Floats] = {}
    for low in range(0, len(scores), _PIECE):
        part = slice(low, low + _PIECE)
        values = weights[part, None] * nodes.basis(scores[part])(slice(None))
        for each in np.unique(rank[part]):
            mine = values[rank[part] == each].sum(axis=0)
            found[int(each)] = found.get(int(each), 0.0) + mine
    return found


class SmoothSums(NamedTuple):
    """The charge of all pairs whose higher row is among those asked for, and its derivative by row."""

    value: float
    coef: Floats


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
        """The same without some of the rows."""
        own = MomentTables.of(self.nodes, found, len(self.below))
        return MomentTables(self.nodes, self.below - own.below, self.above - own.above)

    def charged(self, charge: Charge, rank: Ints, scores: Floats, weights: Floats) -> SmoothSums:
        """Rows charged against all others of another rank."""
        value, coef = 0.0, np.empty(len(scores))
        for low in range(0, len(scores), _PIECE):
            part = slice(low, low + _PIECE)
            r, s, omega = rank[part], scores[part], weights[part]
            value += float(omega @ self._sums(charge.value, self.below[r], s, -1.0))
            up = self._sums(charge.derivative, self.below[r], s, -1.0)
            coef[part] = omega * (self._sums(charge.derivative, self.above[r], s, 1.0) - up)
        return SmoothSums(value, coef)

    def _sums(self, phi: Callable[[Floats], Floats], held: Floats, s: Floats, sign: float) -> Floats:
        """By row, the sum over the nodes of moments times phi(sign (s - node))."""
        return np.einsum("ik,ik->i", held, phi(sign * (s[:, None] - self.nodes.places)))
