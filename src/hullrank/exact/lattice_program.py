"""The linear program over directions: one variable each, additive cuts, and bounds checked in integers.

Pairs with the same direction u are won or lost together. With p_u in [0, 1] for [u.w > 0], linearity gives for every
relation u + r v = g t z (r, t = +-1, g > 0) the cut  0 <= lit(u) + lit(r v) - lit(t z) <= 1,  where lit(u) = p_u and
lit(-u) = 1 - p_u. Any multipliers y of the cuts give a bound: max c.p <= sum_r (y_r^+ upper_r + y_r^- lower_r) +
max over the box of (c - A'y).p. It is evaluated in integers, so that rounding in the solver costs tightness only.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hullrank.exact.integers import row_hashes
from hullrank.solvers.linear_program import Basis, GrowingProgram, LinearProgram, ProgramSolution, ProgramStatus

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_WINDOW = 4_000_000
"""Relations held in memory at a time."""
_BROKEN = 1e-6
_TIGHT = 1e-3
_BITS = 50


class Relations:
    """The additive relations between directions, listed in compiled code; only a window of them if they are many."""

    def __init__(self, U: Ints) -> None:
        hashes, factors = row_hashes(U)
        self._arrays = np.ascontiguousarray(U), hashes, _hash_table(hashes), factors
        self._starts = [0]
        self._at = 0
        self._list()

    @property
    def count(self) -> int:
        """Relations in the current window."""
        return len(self._triples)

    def broken(self, p: Floats, most: int) -> NDArray[np.int32]:
        """The most violated relations at p, as rows (i, j, k, r, t); empty if none is violated."""
        for _ in range(len(self._starts) + 1):
            found = self._broken_here(p, most)
            if len(found) or (len(self._starts) == 1 and self._next == len(self._arrays[0])):
                return found
            self._turn()
        return found

    def entanglement(self, x: Floats) -> Floats:
        """For every direction the sum of x over all relations that it is part of."""
        from hullrank.exact._lattice_loops import entangle

        out = np.zeros(len(x))
        entangle(self._triples, x, out)
        return out

    def _broken_here(self, p: Floats, most: int) -> NDArray[np.int32]:
        from hullrank.exact._lattice_loops import violations

        amount = np.empty(len(self._triples))
        count = violations(self._triples, p, amount)
        if count > most:
            return self._triples[np.argpartition(-amount, most)[:most]]
        return self._triples[np.flatnonzero(amount > _BROKEN)]

    def _turn(self) -> None:
        """Go on to the next window, after the last one to the first."""
        done = self._next == len(self._arrays[0])
        if not done and self._at + 1 == len(self._starts):
            self._starts.append(self._next)
        self._at = (self._at + 1) % len(self._starts)
        self._list()

    def _list(self) -> None:
        from hullrank.exact._lattice_loops import list_triples

        m = len(self._arrays[0])
        found = np.empty((max(_WINDOW, 2 * m) if m > 1500 else m * m, 5), dtype=np.int32)
        count, self._next = list_triples(*self._arrays, self._starts[self._at], found)
        self._triples = found[:count].copy()


def _hash_table(hashes: NDArray[np.uint64]) -> Ints:
    size = 1 << int(4 * len(hashes) + 4).bit_length()
    table = np.full(size, -1, dtype=np.int64)
    for number, value in enumerate(hashes.tolist()):
        at = value & (size - 1)
        while table[at] >= 0:
            at = (at + 1) & (size - 1)
        table[at] = number
    return table


@dataclass(frozen=True)
class Cuts:
    """Rows  lower <= A p <= upper  of integers, beside the solver's own copy; the entries of A are -1, 0 and 1."""

    A: Any
    lower: Ints
    upper: Ints

    def joined(self, other: "Cuts") -> "Cuts":
        """These rows and then those of another."""
        return Cuts(
            sp.vstack([self.A, other.A], format="csr"),
            np.concatenate([self.lower, other.lower]),
            np.concatenate([self.upper, other.upper]),
        )

    def take(self, rows: NDArray[np.intp]) -> "Cuts":
        """Some of the rows."""
        return Cuts(self.A[rows], self.lower[rows], self.upper[rows])

    def tight(self, p: Floats) -> NDArray[np.intp]:
        """The rows that p meets with equality, or nearly so."""
        activity = self.A @ p
        return np.flatnonzero(np.minimum(activity - self.lower, self.upper - activity) < _TIGHT)

    def bound(self, cost: Ints, y: Ints, low: Ints, high: Ints) -> int:
        """A bound of cost.p over all p in the box that satisfy the rows, from multipliers y; exact."""
        reduced = self.reduced(cost, y)
        box = np.where(reduced > 0, reduced * high, reduced * low)
        rows = np.where(y > 0, y * self.upper, y * self.lower)
        return int(box.sum()) + int(rows.sum())

    def reduced(self, cost: Ints, y: Ints) -> Ints:
        """cost - A'y, exact."""
        return np.asarray(cost - self.A.T @ y, dtype=np.int64)


@dataclass(frozen=True)
class SavedProgram:
    """What a solve needs to go on from: the cuts that were tight at its end, and the basis there."""

    cuts: Cuts
    basis: Basis


class DirectionProgram:
    """max cost.p over the cuts found so far, with bounds that hold in exact arithmetic."""

    def __init__(self, cost: Floats, relations: Relations) -> None:
        m, none = len(cost), np.empty(0, dtype=np.int64)
        self.relations, self.cuts = relations, Cuts(sp.csr_array((0, m), dtype=np.int8), none, none)
        self._scale = 2.0 ** (_BITS - int(np.frexp(np.abs(cost).sum() + 1.0)[1]))
        self.cost = np.ceil(cost * self._scale).astype(np.int64)
        self._objective = -cost
        self._program = self._with(self.cuts)

    def _with(self, cuts: Cuts) -> GrowingProgram:
        box = np.zeros(len(self.cost)), np.ones(len(self.cost))
        rows = cuts.A.astype(np.float64), cuts.lower.astype(np.float64), cuts.upper.astype(np.float64)
        return GrowingProgram(LinearProgram(self._objective, *rows, *box))

    def saved(self, p: Floats) -> SavedProgram:
        """Where the last solve ended, at p: cuts that are slack there are left out, which keeps the basis small."""
        tight = self.cuts.tight(p)
        return SavedProgram(self.cuts.take(tight), self._program.basis(tight))

    def restore(self, saved: SavedProgram) -> None:
        """Begin the next solve there."""
        self.cuts, self._program = saved.cuts, self._with(saved.cuts)
        self._program.start_from(saved.basis)

    def solve(self, low: Ints, high: Ints, seconds: float) -> tuple[ProgramSolution, float]:
        """The solver's answer with p between low and high, and a bound of cost.p there; -inf if there is no p."""
        self._program.set_bounds(low.astype(np.float64), high.astype(np.float64))
        answer = self._program.solve(seconds)
        if answer.status is ProgramStatus.OPTIMAL:
            self.multipliers = self._rounded(-answer.row_duals, self._scale)
            return answer, self.cuts.bound(self.cost, self.multipliers, low, high) / self._scale
        if answer.status is ProgramStatus.INFEASIBLE:
            ray = self._program.infeasibility()
            for sign in (1.0, -1.0):
                if len(ray):
                    y = self._rounded(sign * ray / np.abs(ray).max(), 2.0**30)
                    if self.cuts.bound(np.zeros_like(self.cost), y, low, high) < 0:
                        return answer, -np.inf
        return answer, np.inf

    @staticmethod
    def _rounded(y: Floats, scale: float) -> Ints:
        return np.asarray(np.rint(y * scale), dtype=np.int64)

    def reduced(self) -> Floats:
        """What a unit of every variable adds to the bound, at the last multipliers."""
        return np.asarray(self.cuts.reduced(self.cost, self.multipliers) / self._scale)

    def separate(self, p: Floats, most: int) -> bool:
        """Add the most violated additive cuts at p; returns whether there were any."""
        found = self.relations.broken(p, most).astype(np.int64)
        if not len(found):
            return False
        r, t = found[:, 3], found[:, 4]
        shift = (t < 0).astype(np.int64) - (r < 0)
        data = np.stack([np.ones_like(r), r, -t], axis=1).ravel().astype(np.int8)
        A = sp.csr_array((data, found[:, :3].ravel(), np.arange(0, len(data) + 1, 3)), shape=(len(r), len(p)))
        self._add(Cuts(A, shift, shift + 1))
        return True

    def forbid(self, members: NDArray[np.intp], wanted: Ints) -> None:
        """Cut off that all these directions have the wanted signs (1 or -1) at once."""
        A = sp.csr_array((wanted.astype(np.int8), members, [0, len(members)]), shape=(1, len(self.cost)))
        most = len(members) - 1 - int((wanted < 0).sum())
        self._add(Cuts(A, np.array([-len(members)]), np.array([most])))

    def _add(self, more: Cuts) -> None:
        self.cuts = self.cuts.joined(more)
        self._program.add_rows(more.A.astype(np.float64), more.lower.astype(np.float64), more.upper.astype(np.float64))
