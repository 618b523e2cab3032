"""Sums over pairs of rows in different blocks, from counts and sums of scores by rank and bin.

Bins are 1/N wide, so that the margin is N bins. Two rows whose bins differ by other than N are on a known side of the
margin, and then the number of partners and the sum of their scores give the charges of a row exactly. Pairs that are
exactly N bins apart are unknown: they are not charged, and their weight is known, so that what they may cost is too.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Tally:
    """Weights and weighted scores by bin, (2, bins), from the bin ``first`` on; tallies add up."""

    first: int
    values: Floats

    @classmethod
    def of(cls, bins: Ints, scores: Floats, weights: Floats) -> "Tally":
        """The tally of some rows."""
        first = int(bins.min())
        place, size = bins - first, int(bins.max()) - first + 1
        return cls(first, np.stack([np.bincount(place, weights, size), np.bincount(place, weights * scores, size)]))

    @property
    def end(self) -> int:
        """The bin after the last."""
        return self.first + self.values.shape[1]

    def over(self, first: int, end: int) -> Floats:
        """The values of the bins from ``first`` to ``end``, which hold all of them."""
        out = np.zeros((2, end - first))
        out[:, self.first - first : self.end - first] = self.values
        return out

    def __add__(self, other: "Tally") -> "Tally":
        first, end = min(self.first, other.first), max(self.end, other.end)
        return Tally(first, self.over(first, end) + other.over(first, end))


def tallies(rank: Ints, bins: Ints, scores: Floats, weights: Floats) -> dict[int, Tally]:
    """The tally of every rank that some rows have."""
    found = {}
    for each in np.unique(rank):
        mine = rank == each
        found[int(each)] = Tally.of(bins[mine], scores[mine], weights[mine])
    return found


class Partners(NamedTuple):
    """Sums over the pairs whose bins differ by at most some number, with z = margin - d.

    ``coef`` is omega z by row, added for the lower row of a pair and subtracted for the higher; ``weight`` and
    ``total`` sum omega and omega z over the pairs whose higher row is among those asked for. ``square`` is
    margin total + s.coef, which sums omega z^2 once all rows have been asked for: of some rows it means nothing.
    """

    coef: Floats
    weight: float
    total: float
    square: float

    def less(self, other: "Partners") -> "Partners":
        """The sums without those of some of the pairs."""
        coef, weight, total = self.coef - other.coef, self.weight - other.weight, self.total - other.total
        return Partners(coef, weight, total, self.square - other.square)


@dataclass(frozen=True)
class PartnerTables:
    """Running sums over the bins, of all lower and of all higher ranks: (2, ranks, bins) each, from bin ``first``."""

    first: int
    below: Floats
    above: Floats

    @classmethod
    def of(cls, found: Mapping[int, Tally], n_ranks: int) -> "PartnerTables":
        """The tables of all rows that were tallied."""
        first, end = min(tally.first for tally in found.values()), max(tally.end for tally in found.values())
        table = np.zeros((2, n_ranks, end - first))
        for rank, tally in found.items():
            table[:, rank] = tally.over(first, end)
        by_bin = np.cumsum(table, axis=2)
        below = np.cumsum(by_bin, axis=1) - by_bin
        return cls(first, below, by_bin.sum(axis=1, keepdims=True) - by_bin - below)

    def within(self, at: "Binned", reach: int, margin: float) -> Partners:
        """Sums over the pairs of the rows with tallied ones whose bins differ by at most ``reach``."""
        last = self.below.shape[2] - 1
        place, s = at.bins - self.first, at.scores
        lower = self._up_to(self.below, at.rank, np.full_like(place, last))
        lower = lower - self._up_to(self.below, at.rank, place - reach - 1)
        higher = self._up_to(self.above, at.rank, place + reach)
        charged = at.weights * (lower[0] * (margin - s) + lower[1])
        coef = at.weights * (higher[0] * (margin + s) - higher[1]) - charged
        total = float(charged.sum())
        return Partners(coef, float(at.weights @ lower[0]), total, margin * total + float(s @ coef))

    @staticmethod
    def _up_to(table: Floats, rank: Ints, place: Ints) -> Floats:
        """The running sums up to a place, 0 before the first."""
        held = table[:, rank, np.clip(place, 0, table.shape[2] - 1)]
        return np.where(place >= 0, held, 0.0)


class Binned(NamedTuple):
    """Rows with what tables need to know of them."""

    rank: Ints
    bins: Ints
    scores: Floats
    weights: Floats
