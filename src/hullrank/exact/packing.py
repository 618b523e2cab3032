"""A bound for many dimensions, where cells are too many: disjoint sets of pairs that no direction wins together.

If sum_k l_k D_k = 0 with all l_k > 0, no w has D_k.w > 0 for every k: at least one of these pairs is lost. Sets that
share no pair add up, so F(w) <= top - (number of sets); with weights, a set takes the least weight left of its pairs.
A minimal set has one pair more than dimensions. At a good direction v most pairs are won, so the sets are sought
around the lost ones, the worst first: -D_l as a positive combination of won pairs, by non-negative least squares over
a few random ones (Lawson and Hanson 1974), those of high score first, which few lost pairs can balance.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from hullrank.exact.arrangement import Arrangement
from hullrank.exact.clock import Clock

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

_PER_DIMENSION = 15
"""Won pairs per dimension that a set is sought among."""
_BANDS = ((0.5, 1.0), (0.0, 1.0), (0.0, 0.3))
"""Ranges of the won pairs, in the order of their scores, that are tried one after the other."""
_LEAST_LUCK, _FORGET = 0.25, 1 / 500
"""Share of the last lost pairs, about so many, around which sets must have been found for the search to go on."""
_CLEAR = 1e-12
"""By how much multipliers must exceed the rounding of their equations, relative to the largest and the condition."""


class Packing:
    """Sets found so far; ``losses`` is the weight of pairs that every direction loses at least."""

    def __init__(self, arrangement: Arrangement, v: Floats, rank: int, seed: int = 0) -> None:
        from scipy.linalg import qr

        sample = np.unique(np.linspace(0, len(arrangement.D) - 1, 5000).astype(np.intp))
        columns = qr(arrangement.D[sample], mode="r", pivoting=True)[1][:rank]  # the others depend on these
        self._D = np.ascontiguousarray(arrangement.D[:, columns])
        self._left = np.where(arrangement.D.any(axis=1), arrangement.weight, 0.0)
        self._rng = np.random.default_rng(seed)
        scores = arrangement.D @ v
        order = np.argsort(scores, kind="stable")
        lost = int((scores <= 0).sum())
        self._lost, self._won = order[:lost], order[lost:]
        self.losses = 0.0
        self.sets: list[Indices] = []

    def run(self, clock: Clock, seconds: float) -> None:
        """Pack around every lost pair once, for at most so many seconds, and while it still pays."""
        end, used, luck = clock.elapsed + seconds, 0, 1.0
        for pair in self._lost:
            if clock.expired or clock.elapsed > end or luck < _LEAST_LUCK:
                return
            luck *= 1 - _FORGET
            while self._left[pair] > 0 and len(self._won) > len(self._D.T):
                members = next(self._around(int(pair)), None)
                if members is None:
                    break
                self._take(members)
                luck += _FORGET
                used += len(members)
                if used > 0.2 * len(self._won):
                    self._won, used = self._won[self._left[self._won] > 0], 0

    def _take(self, members: Indices) -> None:
        amount = float(self._left[members].min())
        self._left[members] -= amount
        self.losses += amount
        self.sets.append(members)

    def _around(self, pair: int) -> Iterator[Indices]:
        """Sets that hold a lost pair, band after band."""
        from scipy.optimize import nnls

        n = _PER_DIMENSION * self._D.shape[1]
        for low, high in _BANDS:
            drawn = self._rng.integers(int(low * len(self._won)), max(int(high * len(self._won)), 1), n)
            chosen = np.unique(self._won[np.minimum(drawn, len(self._won) - 1)])
            chosen = chosen[self._left[chosen] > 0]
            if not len(chosen):
                continue
            try:
                multipliers, apart = nnls(self._D[chosen].T, -self._D[pair], maxiter=20 * n)
            except RuntimeError:  # no end within the iterations
                continue
            members = np.append(chosen[multipliers > 0], pair)
            if apart < 1e-6 and cannot_all_be_won(self._D[members]):
                yield members


def cannot_all_be_won(D: Floats) -> bool:
    """Whether 0 lies inside the simplex of these rows, by more than rounding: then no w has D.w > 0 in all of them.

    Columns that are 0 in all rows are left out; in the others there must be one row more than columns.
    """
    D = D[:, D.any(axis=0)]
    rows, columns = D.shape
    if rows != columns + 1:
        return False
    B = D[:-1].T
    condition = float(np.linalg.cond(B))
    if not condition < 1 / _CLEAR:
        return False
    multipliers = np.linalg.solve(B, -D[-1])
    return bool(multipliers.min() > _CLEAR * condition * max(1.0, np.abs(multipliers).max()))
