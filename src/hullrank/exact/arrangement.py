"""Rank statistics of a linear score as a function of which hyperplanes the direction w lies above.

Every statistic here reads  F(w) = constant + sum_i m_i a(b_i + sum_{p owned by i} g_p [D_p.w > 0]):  an owner i is a
(distinct) positive sample, its pairs p are the samples it may beat, D_p = x_i - x_k, and a is the table of rank
weights. AUC has one owner and a(c) = c. Ties are errors; F is constant on the open cells of the arrangement {w: D_p.w
= 0}, and its maximum is attained in one of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

TOLERANCE = 1e-10
"""Unit pair directions that agree to this are taken as equal, and cells thinner than this are not looked for."""
_POSITIVE = 1e-11


@dataclass(frozen=True)
class Arrangement:
    """F in arrays: unit rows D (P, d), their weights g and owners, and per owner the count b and the multiplicity m.

    ``gain`` is the table a(0), a(1), ...; None stands for a(c) = c with one owner (AUC).
    """

    D: Floats
    weight: Floats
    owner: NDArray[np.intp]
    base: Floats
    multiplicity: Floats
    gain: Floats | None
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
        return replace(self, D=E / np.linalg.norm(E, axis=1)[:, None])

    def decided(self, won: Mask, open_pairs: Mask) -> "Arrangement":
        """F where the pairs in ``won`` are won, ``open_pairs`` are open, and the others are lost."""
        count = self.base + np.bincount(self.owner[won], self.weight[won], len(self.base))
        return replace(
            self, D=self.D[open_pairs], weight=self.weight[open_pairs], owner=self.owner[open_pairs], base=count
        )

    def walk(self, won: Mask, events: NDArray[np.intp], sign: Floats) -> Floats:
        """F before and after each event, when the pairs ``events`` one by one are won (sign 1) or lost (sign -1)."""
        change = sign * self.weight[events]
        first = self.value_of(won)
        if self.gain is not None:
            change = self._gains(won, self.owner[events], change)
        return first + np.concatenate([[0.0], np.cumsum(change)])

    def _gains(self, won: Mask, owner: NDArray[np.intp], change: Floats) -> Floats:
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


def pair_arrangement(D: Floats, weight: Floats) -> Arrangement:
    """AUC: parallel differences are added up, opposite ones cancel (one of the two is won off their common plane)."""
    length = np.linalg.norm(D, axis=1)
    U, weight = D[length > 0] / length[length > 0, None], weight[length > 0]
    lead = U[np.arange(len(U)), np.argmax(np.abs(U) > 1e-9, axis=1)]
    sign = np.where(lead < 0, -1.0, 1.0)
    first, group = _equal_rows(np.round(U * sign[:, None], 10) + 0.0)
    up = np.bincount(group, weight * (sign > 0), len(first))
    down = np.bincount(group, weight * (sign < 0), len(first))
    keep = up != down
    unit = (U[first] * (sign[first] * np.where(up > down, 1.0, -1.0))[:, None])[keep]
    return Arrangement(
        unit,
        np.abs(up - down)[keep],
        np.zeros(int(keep.sum()), dtype=np.intp),
        np.zeros(1),
        np.ones(1),
        None,
        float(np.minimum(up, down).sum()),
    )


def _equal_rows(keys: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """A representative of every distinct row, and the group of each row."""
    order = np.lexsort(keys.T)
    ordered = keys[order]
    new = np.concatenate([[True], (ordered[1:] != ordered[:-1]).any(axis=1)])
    group = np.empty(len(keys), dtype=np.intp)
    group[order] = np.cumsum(new) - 1
    return order[new], group


def rank_arrangement(X: Floats, positive: Floats, negative: Floats, gain: Floats) -> Arrangement:
    """sum over positives of a(samples strictly below): rows are distinct, with so many positives and negatives each."""
    owners = np.flatnonzero(positive)
    i, k = (index.ravel() for index in np.meshgrid(owners, np.arange(len(X)), indexing="ij"))
    other = i != k
    D = X[i[other]] - X[k[other]]
    return Arrangement(
        D / np.linalg.norm(D, axis=1)[:, None],
        (positive + negative)[k[other]],
        np.repeat(np.arange(len(owners)), len(X) - 1),
        np.zeros(len(owners)),
        positive[owners],
        gain,
    )


def best_of(arrangement: Arrangement, candidates: Sequence[Floats]) -> tuple[float, Floats | None]:
    """The best of some directions, and its value (-inf and None if there are none)."""
    best, chosen = -np.inf, None
    for w in candidates:
        if np.isfinite(w).all() and w.any():
            value = arrangement.value(w)
            if value > best:
                best, chosen = value, w
    return best, chosen
