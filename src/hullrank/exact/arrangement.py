"""Rank statistics of a linear score as a function of which hyperplanes the direction w lies above.

Every statistic here reads  F(w) = constant + sum_i m_i a(b_i + sum_{p owned by i} g_p [D_p.w > 0]):  an owner i is a
(distinct) positive sample, its pairs p are the samples it may beat, D_p = x_i - x_k, and a is the table of rank
weights. AUC has one owner and a(c) = c. Ties are errors; F is constant on the open cells of the arrangement {w: D_p.w
= 0}, and its maximum is attained in one of them.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hullrank.exact.grid import Grid
from hullrank.exact.integers import parallel_classes

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Mask = NDArray[np.bool_]

TOLERANCE = 1e-10
"""Cells of directions thinner than this are not split any further; what they may hold stays in the bound."""
_POSITIVE = 1e-11
_PRECISE = 2e-13
_UNIT = float(np.finfo(np.float64).eps) / 2


@dataclass(frozen=True)
class Arrangement:
    """F in arrays: unit rows D (P, d), their weights g and owners, and per owner the count b and the multiplicity m.

    ``gain`` is the table a(0), a(1), ...; None stands for a(c) = c with one owner (AUC). Pair p is the difference of
    the rows ``above[p]`` and ``below[p]`` of ``grid``, where it is known in integers. A row of zeros in D stands for a
    direction that rounding has blurred: it is never won for sure and never lost for sure.
    """

    D: Floats
    weight: Floats
    owner: Indices
    base: Floats
    multiplicity: Floats
    gain: Floats | None
    above: Indices
    below: Indices
    grid: Grid
    constant: float = 0.0

    @property
    def step(self) -> float:
        """What a better value exceeds the best one by, less a bit: sums of integers have steps of 1."""
        return 0.99 if self.integer else 1e-9 * max(abs(self.top), 1.0)

    @property
    def integer(self) -> bool:
        """Whether all values of F are integers."""
        parts = self.weight if self.gain is None else self.gain
        return bool((parts == np.floor(parts)).all())

    @property
    def top(self) -> float:
        """F if every pair could be won."""
        return self.value_of(np.ones(len(self.D), dtype=bool))

    def value_of(self, won: Mask) -> float:
        """F where exactly the pairs in ``won`` have D.w > 0."""
        if self.gain is None:
            return self.constant + float(self.base[0] + self.weight[won].sum())
        count = self.base + np.bincount(self.owner[won], self.weight[won], len(self.base))
        return self.constant + float(self.multiplicity @ self.gain[count.astype(np.intp)])

    def value(self, w: Floats) -> float:
        """F(w); pairs within rounding of a tie count as ties."""
        return self.value_of(self.D @ (w / np.linalg.norm(w)) > _POSITIVE)

    def transformed(self, T: Floats) -> "Arrangement":
        """F as a function of v where w = T v, rows of unit length again."""
        E = self.D @ T
        length = np.sqrt(np.einsum("pj,pj->p", E, E))
        # An entry of E is off by at most (d + 6) units times the sum of |D_j T_jk|, and |D| = 1.
        blur = (len(T) + 6) * _UNIT * float(np.linalg.norm(np.abs(T)))
        unclear = length * _PRECISE < blur
        length[unclear] = 1.0
        E /= length[:, None]
        E[unclear] = 0.0
        return replace(self, D=E)

    @property
    def vectors(self) -> NDArray[Any]:
        """The directions in integers, exactly, in the units of the grid."""
        return self.grid.vectors(self.above, self.below)

    def decided(self, won: Mask, open_pairs: Mask) -> "Arrangement":
        """F where the pairs in ``won`` are won, ``open_pairs`` are open, and the others are lost."""
        count = self.base + np.bincount(self.owner[won], self.weight[won], len(self.base))
        return replace(self.part(open_pairs), base=count)

    def part(self, pairs: Mask | Indices) -> "Arrangement":
        """F with these pairs alone; all others are lost."""
        names = ("D", "weight", "owner", "above", "below")
        return replace(self, **{name: getattr(self, name)[pairs] for name in names})

    def walk(self, won: Mask, events: Indices, sign: Floats) -> Floats:
        """F before and after each event, when the pairs ``events`` one by one are won (sign 1) or lost (sign -1)."""
        change = sign * self.weight[events]
        first = self.value_of(won)
        if self.gain is not None:
            change = self._gains(won, self.owner[events], change)
        return first + np.concatenate([[0.0], np.cumsum(change)])

    def _gains(self, won: Mask, owner: Indices, change: Floats) -> Floats:
        """m_i (a(after) - a(before)) of each event; within a tie the count may leave the table for a moment."""
        assert self.gain is not None
        start = self.base + np.bincount(self.owner[won], self.weight[won], len(self.base))
        grouped = np.argsort(owner, kind="stable")
        total = np.cumsum(change[grouped])
        owners = owner[grouped]
        head = np.concatenate([[True], owners[1:] != owners[:-1]]) if len(owners) else np.zeros(0, dtype=bool)
        offset = (total - change[grouped])[head][np.cumsum(head) - 1]
        after = start[owners] + total - offset
        last = len(self.gain) - 1
        table = self.gain[np.clip(after, 0, last).astype(np.intp)]
        before = self.gain[np.clip(after - change[grouped], 0, last).astype(np.intp)]
        gains = np.empty(len(owner))
        gains[grouped] = self.multiplicity[owners] * (table - before)
        return gains


def pair_arrangement(grid: Grid, above: Indices, below: Indices, weight: Floats) -> Arrangement:
    """AUC: parallel differences are added up, opposite ones cancel (one of the two is won off their common plane)."""
    D = unit_differences(grid, above, below)
    differ = D.any(axis=1)
    if not differ.all():
        D, above, below, weight = D[differ], above[differ], below[differ], weight[differ]
    first, group, sign = parallel_classes(grid, above, below, D)
    merged, constant = weight, 0.0
    if len(first) < len(D):
        up = np.bincount(group, weight * (sign > 0), len(first))
        down = np.bincount(group, weight * (sign < 0), len(first))
        keep = up != down
        chosen, swap, constant = first[keep], (up < down)[keep], float(np.minimum(up, down).sum())
        merged = np.abs(up - down)[keep]
        D = np.where(swap, -1.0, 1.0)[:, None] * D[chosen]
        above, below = np.where(swap, below[chosen], above[chosen]), np.where(swap, above[chosen], below[chosen])
    owner = np.zeros(len(D), dtype=np.intp)
    return Arrangement(D, merged, owner, np.zeros(1), np.ones(1), None, above, below, grid, constant)


def unit_differences(grid: Grid, above: Indices, below: Indices) -> Floats:
    """Differences of rows over the spread of the columns, of unit length; every entry right to a relative rounding.

    Equal rows give zeros.
    """
    values = grid.values / grid.spread
    D = values[above] - values[below]
    if np.abs(values).max(initial=0.0) > 1e100:  # squares of outliers would overflow
        D /= np.maximum(np.abs(D).max(axis=1, keepdims=True), 1e-300)
    length = np.sqrt(np.einsum("pj,pj->p", D, D))
    length[length == 0] = 1.0
    D /= length[:, None]
    return D


def rank_arrangement(
    grid: Grid, above: Indices, below: Indices, positive: Floats, counts: Floats, gain: Floats
) -> Arrangement:
    """sum over positives of a(samples strictly below): rows are distinct, with so many positives and samples each.

    The pairs are every row with positives (above) and every other row (below).
    """
    owners = np.flatnonzero(positive)
    return Arrangement(
        D=unit_differences(grid, above, below),
        weight=counts[below],
        owner=np.searchsorted(owners, above),
        base=np.zeros(len(owners)),
        multiplicity=positive[owners],
        gain=gain,
        above=above,
        below=below,
        grid=grid,
    )
