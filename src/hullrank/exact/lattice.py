"""Exact AUC where pair directions are few (binary features, counts, grades): linear programming over directions.

The program of ``lattice_program`` is integral or nearly so. Where it is not, a best-first search fixes the sign of
one direction after the other, each time one that adds up with many others whose sign is open too. An integral point is
realised by some w, or a few of its signs contradict each other (Farkas), which is cut off. Every bound is evaluated in
integers on integer data, so a proof here is a proof.
"""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import NDArray

from hullrank.exact.arrangement import Arrangement
from hullrank.exact.clock import Clock
from hullrank.exact.coordinates import spanning
from hullrank.exact.integers import null_vectors, primitive
from hullrank.exact.lattice_program import DirectionProgram, Ints, Relations, SavedProgram
from hullrank.exact.plane_search import PlaneSearch
from hullrank.solvers.linear_program import ProgramStatus, solve_lp

Floats = NDArray[np.float64]

GUARANTEE = (
    "the value is counted from the predicted scores; the bound holds for all weights, by a linear program over the "
    "directions of pairs whose dual was checked in integer arithmetic"
)
_MOST_DIRECTIONS = 6000
_LARGEST_ENTRY = 2**20
_CUTS = 2000
_FEW = 300
_DENSE, _SPARSE = 20, 3
"""Relations per direction from which the program beats branch and bound, with more and fewer than ``_FEW`` of them."""
_WHOLE = 1e-6
_TIE = 1e-9
"""Weight of a direction's own pairs beside the directions that it adds up with, when one is chosen to branch on."""


def reason_against(arrangement: Arrangement) -> str:
    """Why the directions of an arrangement are no case for the linear program; empty if they are."""
    if arrangement.gain is not None:
        return "method='lattice' maximises the AUC; other statistics take method='branch_and_bound'"
    if len(arrangement.D) > _MOST_DIRECTIONS:
        return (
            f"method='lattice' takes up to {_MOST_DIRECTIONS:,} directions of pairs, and there are "
            f"{len(arrangement.D):,}: features with few levels have few directions; use method='auto'"
        )
    if not arrangement.grid.small or int(np.abs(arrangement.vectors).max(initial=0)) > _LARGEST_ENTRY:
        return "method='lattice' takes features with few levels (integers, decimals, bins); use method='auto'"
    return ""


@dataclass(frozen=True)
class _Node:
    """Bounds of all signs (fixed ones are equal); the fractional point of the program with them, and where it ended.

    ``bound`` is that of this program, and ``reduced`` what a unit of every variable adds to it.
    """

    low: Ints
    high: Ints
    p: Floats
    bound: float
    reduced: Floats
    saved: SavedProgram

    def fix(self, wanted: float) -> None:
        """Fix the directions whose other sign would push the bound below the value that is wanted."""
        room = self.bound - wanted
        must_win, must_lose = (self.reduced > room) & (self.high == 1), (self.reduced < -room) & (self.low == 0)
        self.low[must_win] = 1
        self.high[must_lose] = 0

    def halves(self, relations: Relations, weight: Floats) -> Iterator[tuple[Ints, Ints]]:
        """Bounds with either sign of the fractional direction that adds up with most others (then: weighs most)."""
        open_signs = np.where(self.low == self.high, 0.0, np.minimum(self.p, 1 - self.p))
        if not open_signs.any():
            open_signs = np.minimum(self.p, 1 - self.p)
        j = int(np.argmax(open_signs * (relations.entanglement(open_signs) + _TIE * weight / weight.max())))
        for side in (0, 1):
            low, high = self.low.copy(), self.high.copy()
            low[j] = high[j] = side
            yield low, high


class LatticeSearch:
    """One search; ``value``, ``w`` and ``bound`` are right at any moment, so that it can be interrupted and go on."""

    def __init__(self, arrangement: Arrangement, clock: Clock, *, start: Floats, seed: int = 0) -> None:
        self.clock, self.step = clock, arrangement.step
        self.bound, self.w = arrangement.top, start
        self._arrangement = arrangement
        self._U, self._sign = primitive(arrangement.vectors)
        cost = arrangement.weight * self._sign
        self._offset = arrangement.value_of(np.zeros(len(cost), dtype=bool)) - float(cost[self._sign < 0].sum())
        self.relations = Relations(self._U)
        self._program = DirectionProgram(cost, self.relations)
        self._heap: list[tuple[float, int, _Node | None]] = [(-np.inf, 0, None)]  # None is the root
        self._ticket, self._stuck = count(1), -np.inf
        self._planes = PlaneSearch(arrangement, spanning(arrangement), np.random.default_rng(seed), start)
        self.value = arrangement.value(start)
        self._polish(40 * len(self._planes.best))

    @property
    def promising(self) -> bool:
        """Whether directions add up so often that the program is likely to be tight."""
        m = len(self._U)
        return self.relations.count >= (_DENSE if m > _FEW else _SPARSE) * m

    @property
    def hopeless(self) -> bool:
        """Whether so few directions add up that the program can hardly be tighter than no bound at all."""
        return self.relations.count < len(self._U)

    def offer(self, w: Floats) -> None:
        """A direction found elsewhere."""
        value = self._arrangement.value(w)
        if value > self.value:
            self.value, self.w = value, w

    def run(self) -> None:
        """Search until proven or a limit is met; may be called again to go on."""
        room = max(self.step, self.clock.allowed_gap)
        while self._heap and not self.clock.expired and self.bound >= self.value + room:
            self._branch(*heapq.heappop(self._heap))
            top = max(self._stuck, self.value, -self._heap[0][0] if self._heap else -np.inf)
            self.bound = min(self.bound, top)
            self.clock.record(self.value, self.bound)

    def _branch(self, negative: float, ticket: int, node: _Node | None) -> None:
        """Bound the two halves of a node (or the root itself), and keep those that may beat the best."""
        if -negative < self.value + self.step:
            return
        parts: list[tuple[Ints, Ints]]
        if node is None:
            parts = [(np.zeros(len(self._U), dtype=np.int8), np.ones(len(self._U), dtype=np.int8))]
        else:
            node.fix(self.value + self.step)
            parts = list(node.halves(self.relations, self._arrangement.weight))
        found = []
        for low, high in parts:
            if node is not None:
                self._program.restore(node.saved)
            bound, half = self._relax(low, high, -negative, root=node is None)
            if half is None and self.clock.expired:  # unfinished: the whole node again, later
                heapq.heappush(self._heap, (negative, ticket, node))
                return
            self.clock.cells += 1
            if bound < self.value + self.step:
                continue
            if half is None:
                self._stuck = max(self._stuck, bound)
                continue
            found.append((-bound, next(self._ticket), half))
        for each in found:
            heapq.heappush(self._heap, each)

    def _relax(self, low: Ints, high: Ints, bound: float, *, root: bool) -> tuple[float, _Node | None]:
        """The bound with the signs between low and high, and the node to branch on: None if there is none, or time is
        over."""
        while not self.clock.expired:
            answer, proven = self._program.solve(low, high, self.clock.remaining)
            if answer.status is ProgramStatus.TIME_LIMIT:
                continue
            bound = min(bound, self._offset + proven)
            if bound < self.value + self.step or answer.status is not ProgramStatus.OPTIMAL:
                return bound, None
            p = answer.x
            if root:
                self.bound = min(self.bound, bound)
                self.clock.record(self.value, self.bound)
            if self._program.separate(p, _CUTS):
                continue
            self._round(p, root)
            if bound < self.value + self.step:
                return bound, None
            if np.minimum(p, 1 - p).max() > _WHOLE:
                ended = self._program.reduced(), self._program.saved(p)
                return bound, _Node(low, high, p, self._offset + proven, *ended)
            if not self._realise(p):
                return bound, None
        return bound, None

    def _round(self, p: Floats, root: bool) -> None:
        """Try the direction that agrees with the fractional signs on average; polishing it must not cost the most."""
        agreement = self._arrangement.weight * self._sign * (2 * p - 1)
        v = self._arrangement.D.T @ agreement
        if v.any():
            self._planes.begin(v)
            self._polish(10 * len(v) if root else min(10 * len(v), 1 + len(p) // 100))

    def _polish(self, planes: int) -> None:
        self._planes.run_within(planes, self.clock)
        self.offer(self._planes.w)

    def _realise(self, p: Floats) -> bool:
        """Find w with all signs of a whole p, or cut p off; returns whether either worked."""
        wanted = np.where(p > 0.5, 1, -1)
        S = wanted[:, None] * self._U
        m, d = S.shape
        free = np.full(d, np.inf)
        answer = solve_lp(np.zeros(d), S.astype(np.float64), np.ones(m), np.full(m, np.inf), -free, free)
        if answer.status is ProgramStatus.OPTIMAL:
            before = self.value
            self.offer(answer.x * self._arrangement.grid.spread)
            return self.value > before
        right = np.append(np.zeros(d), 1.0)
        rows = np.vstack([S.T.astype(np.float64), np.ones(m)])
        answer = solve_lp(np.ones(m), rows, right, right, np.zeros(m), np.full(m, np.inf))
        if answer.status is not ProgramStatus.OPTIMAL:
            return False
        members = np.flatnonzero(answer.x > 1e-9)
        null = null_vectors(S[members].T.tolist(), len(members))
        if len(null) != 1 or not (all(x > 0 for x in null[0]) or all(x < 0 for x in null[0])):
            return False
        self._program.forbid(members, wanted[members].astype(np.int64))
        return True
