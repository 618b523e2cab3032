"""Spatial branch and bound over directions: the best rank statistic of a linear score, with a proof.

Directions are covered by cells, the cell of the largest bound is cut first, and a cell whose bound does not exceed
the best value is dropped. Large cells are swept (their bound is a profile along one coordinate), small ones are boxes
with centre cuts (``_loops``). Where the undecided pairs of a small cell do not span the space they have a common
zero, and the cell is decided by the arrangement they form in their span (one dimension less, or more); two dimensions
are swept exactly.
"""

import heapq
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import NDArray

from hullrank.exact.arrangement import TOLERANCE, Arrangement
from hullrank.exact.cell_bounds import BINS, BoxSearch, Sweeper
from hullrank.exact.cells import box_around, facet_boxes, halves, split_swept, swept_cells
from hullrank.exact.clock import Clock
from hullrank.exact.coordinates import centred_coordinates, spanning
from hullrank.exact.plane_search import PlaneSearch
from hullrank.exact.plane_sweep import maximise_flat

Floats = NDArray[np.float64]

SWEEP_FROM = 7
"""Dimension from which pair sums are swept first: below it boxes alone prove sooner."""
_PAD = 1e-12
"""Bounds of the rounding of D.c and of the half-widths of pairs on a box."""
_BATCH = 2
"""Boxes that are searched at a time, each by a thread of its own where there are as many cores."""
_SWEPT_RADIUS = 0.12
"""Radius below which the box around a swept cell takes its place."""
_LOOK_RADIUS = 0.05
"""Radius below which swept cells of statistics that have no box search are decided by their undecided pairs."""
_ROUND = 64
"""Cells that are taken from the heap between two looks at the bound."""
_SLICE = 5
"""Planes that are swept meanwhile in high dimensions, but only one where there are many pairs."""
_QUICK = 500_000
"""Pairs of all planes of a slice."""


@dataclass(frozen=True)
class Outcome:
    """The best value found, the proven bound, and the direction, or None if nothing above ``known`` was found."""

    value: float
    bound: float
    w: Floats | None


def maximise(arrangement: Arrangement, clock: Clock, *, known: float = -np.inf, seed: int = 0) -> Outcome:
    """Maximum of F over all directions; values up to ``known`` need not be found."""
    if not len(arrangement.D):
        value = arrangement.top
        return Outcome(value, value, np.ones(arrangement.D.shape[1]) if value > known else None)
    basis = spanning(arrangement)
    if basis.shape[1] <= 2:
        flat = arrangement.transformed(basis)
        bound, v = maximise_flat(flat)
        clock.cells += 1
        return Outcome(flat.value(v), max(bound, known), basis @ v if bound > known else None)
    search = BranchAndBound(arrangement, basis, clock, known=known, seed=seed, nested=True)
    search.run()
    return Outcome(search.value, search.bound, search.w)


class BranchAndBound:
    """One search; ``value``, ``w`` and ``bound`` are right at any moment, so that it can be interrupted.

    ``w`` is None as long as no direction is better than ``known``.
    """

    w: Floats | None

    def __init__(
        self,
        arrangement: Arrangement,
        basis: Floats,
        clock: Clock,
        *,
        start: Floats | None = None,
        known: float = -np.inf,
        seed: int = 0,
        nested: bool = False,
    ) -> None:
        self.clock = clock
        self.nested = nested
        self.step = arrangement.step
        self.bound = arrangement.top
        self.value, self.w = known, None
        self._arrangement, self._rng = arrangement, np.random.default_rng(seed)
        self.planes = PlaneSearch(arrangement, basis, self._rng, start)
        self._sweep_planes(15 if nested else 40 * basis.shape[1])
        self._hard = basis.shape[1] >= SWEEP_FROM
        self._heap: list[tuple[float, int, bool, Floats]] = []
        self._ticket = count()
        self._stuck = -np.inf
        self._covered = False
        self._slice = max(1, min(_SLICE, _QUICK // max(1, len(arrangement.D))))

    def run(self) -> None:
        """Search until proven or a limit is met; may be called again to go on."""
        if self.clock.expired:
            return
        if not self._covered:
            self._lay_out()
            self._cover()
        workers = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        with ThreadPoolExecutor(1 if self.nested else min(workers, _BATCH)) as pool:
            while self._heap:
                self._update_bound()
                if self.bound < self.value + max(self.step, self.clock.allowed_gap) or self.clock.expired:
                    return
                self._round(pool)
        self._update_bound()

    def learn(self, w: Floats, bound: float) -> None:
        """A direction (in the coordinates of the arrangement) and a bound that were found elsewhere."""
        self.bound = min(self.bound, bound)
        value = self._arrangement.value(w)
        if value > self.value:
            self.value, self.w = value, w

    def _update_bound(self) -> None:
        top = max(self._stuck, self.value, -self._heap[0][0] if self._heap else -np.inf)
        self.bound = min(self.bound, top)
        if not self.nested:
            self.clock.record(self.value, self.bound)

    def _sweep_planes(self, most: int) -> None:
        """So many planes, or as many as the clock allows."""
        self.planes.run_within(most, self.clock)
        if self.planes.value > self.value:
            self.value, self.w = self.planes.value, self.planes.w

    def _offer(self, v: Floats, value: float) -> None:
        """A direction in box coordinates, believed after its value is computed again in double precision."""
        value = min(value, self.local.value(v))
        if value > self.value:
            self.value, self.w = value, self._from_boxes @ v

    def _feed_back(self) -> None:
        """Polish a new best direction by planes through it; in high dimensions keep looking for one anyway."""
        if not self.nested and self.w is not None and self.value > self.planes.value:
            self.planes.begin(self.w)
            self._sweep_planes(10 * len(self.planes.best))

    def _push(self, cell: Floats, bound: float, *, swept: bool = False) -> None:
        if bound >= self.value + self.step:
            heapq.heappush(self._heap, (-bound, next(self._ticket), swept, cell))

    def _lay_out(self) -> None:
        """Coordinates around the best direction so far, and what the bounds of cells read."""
        self._covered = True
        planes = self.planes
        self._from_boxes = planes.back @ centred_coordinates(planes.white, planes.best, self._rng)
        self.local = self._arrangement.transformed(self._from_boxes)
        self._boxes = BoxSearch(self.local, _BATCH) if self.local.gain is None else None
        self._sweeper = Sweeper(self.local)

    def _cover(self) -> None:
        d = self.local.D.shape[1]
        if self._boxes is not None and d < SWEEP_FROM:
            for box in facet_boxes(d, self.bound):
                self._push(box, self.bound)
            return
        for cell in swept_cells(d):
            bound = self.bound if self.clock.expired else self._sweeper.bound(cell, self.value + self.step)
            self._push(cell, bound, swept=True)

    def _round(self, pool: ThreadPoolExecutor) -> None:
        """Look at a few cells, and in high dimensions, where proofs are far, at a few planes meanwhile."""
        slice_ = pool.submit(self.planes.run, self._slice) if self._hard and not self.nested else None
        batch: list[Floats] = []
        for _ in range(_ROUND):
            if not self._heap or len(batch) == _BATCH or self.clock.expired:
                break
            negative, _, swept, cell = heapq.heappop(self._heap)
            if -negative < self.value + self.step:
                continue
            if swept:
                self._split_swept(cell, -negative)
            elif self._boxes is not None and self._radius(cell) >= self._boxes.smallest:
                batch.append(cell)
            else:
                self._resolve(cell)
        self._expand(batch, pool)
        if slice_ is not None:
            slice_.result()
            self.clock.cells += self._slice
            self._sweep_planes(0)
        self._feed_back()

    def _expand(self, batch: list[Floats], pool: ThreadPoolExecutor) -> None:
        boxes = self._boxes
        if boxes is None or not batch:
            return
        ample = next(self._ticket) > 200
        share = max(1.0, self.clock.left / _BATCH)

        def expand(slot: int, box: Floats) -> tuple[int, Floats, float, Floats]:
            return boxes.expand(slot, box, self.value, self.step, share, ample)

        for box, (cells, opened, value, v) in zip(batch, list(pool.map(expand, count(), batch)), strict=True):
            self.clock.cells += cells
            if value > self.value:
                self._offer(v, value)
            for child in opened:
                self._push(child, min(float(box[-1]), float(child[-1])))

    def _radius(self, box: Floats) -> float:
        d = self.local.D.shape[1]
        return float(box[d : 2 * d].max())

    def _split_swept(self, cell: Floats, bound: float) -> None:
        box = box_around(cell, bound)
        radius = self._radius(box)
        if self._boxes is not None and radius < _SWEPT_RADIUS:
            self._push(box, bound)
            return
        if radius < _LOOK_RADIUS and self._resolve(box, split=False):
            return
        if radius < 1e-8:
            self._stuck = max(self._stuck, bound)
            return
        for half in split_swept(cell, self._sweeper.spread, BINS):
            tight = min(bound, self._sweeper.bound(half, self.value + self.step))
            self.clock.cells += 1
            self._push(half, tight, swept=True)

    def _resolve(self, box: Floats, *, split: bool = True) -> bool:
        """Decide a small box by its undecided pairs, or else cut it. Returns whether it is done with."""
        d = self.local.D.shape[1]
        c, r, bound = box[:d], box[d : 2 * d], float(box[-1])
        m, h = self.local.D @ c, np.abs(self.local.D) @ r
        won = m - h > _PAD
        rest = self.local.decided(won, (m + h > -_PAD) & ~won)
        self.clock.cells += 1
        bound = min(bound, rest.top)
        if bound >= self.value + self.step and not len(rest.D):
            self._offer(c, bound)
        elif bound >= self.value + self.step:
            basis = spanning(rest)
            if basis.shape[1] < d:
                outcome = maximise(rest, self.clock, known=self.value)
                if outcome.w is not None:
                    self._approach(c, basis, outcome.w, outcome.value)
                bound = min(bound, outcome.bound)
        if bound < self.value + self.step:
            return True
        if split:
            self._cut(np.append(box[:-1], bound))
        return False

    def _approach(self, c: Floats, basis: Floats, w: Floats, value: float) -> None:
        """Step from the common zero of the pairs in this span nearest to c along the direction w that decides them."""
        zero = c - basis @ (basis.T @ c)
        for size in 10.0 ** -np.arange(2, 9):
            self._offer(zero + size * w / np.linalg.norm(w), value)

    def _cut(self, box: Floats) -> None:
        d = self.local.D.shape[1]
        if self._radius(box) < TOLERANCE:
            self._stuck = max(self._stuck, float(box[-1]))
        else:
            for half in halves(box, int(np.argmax(box[d : 2 * d]))):
                self._push(half, float(box[-1]))
