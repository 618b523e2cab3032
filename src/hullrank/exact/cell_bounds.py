"""Bounds of cells in compiled loops: what they read, laid out once, and their working memory."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hullrank.exact.arrangement import Arrangement

Floats = NDArray[np.float64]

BINS = 64
"""Bins of the sweep of a cell."""
_FAN = 3
_BUDGET = 6e7
_OPEN = 8000


class Sweeper:
    """Bounds of swept cells."""

    def __init__(self, local: Arrangement) -> None:
        self._columns = np.ascontiguousarray(local.D.T)
        self._local = local
        self._gain = np.empty(0) if local.gain is None else local.gain
        self._bins = np.empty((len(local.base), BINS))
        self.spread = np.abs(local.D).mean(axis=0)

    def bound(self, cell: Floats, aim: float) -> float:
        """Bound of F on the cell, whose sweep shrinks to where ``aim`` can be reached."""
        from hullrank.exact._loops import sweep_cell

        a = self._local
        aim -= a.constant
        return a.constant + sweep_cell(
            self._columns, a.weight, a.owner, a.base, a.multiplicity, self._gain, cell, aim, self._bins
        )


class BoxSearch:
    """Depth-first search below boxes, for sums of pairs: single precision where sums of weights stay exact."""

    def __init__(self, local: Arrangement, slots: int) -> None:
        P, d = local.D.shape
        single = local.integer and local.weight.sum() < 2.0**23
        kind: Any = np.float32 if single else np.float64
        unit = float(np.finfo(kind).eps) / 2
        self._pad = max(6 * (d + 2) * np.sqrt(d) * unit, 1e-11)
        self._rounding = 5 * unit
        self.smallest = 50 * self._pad if single else 1e-6
        self._shift = local.constant + float(local.base[0])
        size = (P + 31) & ~31
        self._pairs = np.zeros((d + 1, size), dtype=kind)
        self._pairs[:d, :P], self._pairs[d, :P] = local.D.T, local.weight
        self._work = [self._workspace(kind, size, d) for _ in range(slots)]

    @staticmethod
    def _workspace(kind: Any, size: int, d: int) -> tuple[Any, ...]:
        from hullrank.exact._loops import MOST_DEPTH

        fan = min(_FAN, d - 1)
        return (
            np.empty((d + 1, 6 * size + 9000), dtype=kind),
            np.empty((3, size), dtype=kind),
            np.empty(size + 1, dtype=np.uint32),
            np.empty((MOST_DEPTH, 1 << fan, 2 * d + 1)),
            np.zeros((MOST_DEPTH, 3), dtype=np.int64),
            np.zeros(fan, dtype=np.int64),
            np.empty((_OPEN, 2 * d + 1)),
            np.empty(d + 1),
        )

    def expand(
        self, slot: int, box: Floats, value: float, step: float, most_cells: float, ample: bool
    ) -> tuple[int, Floats, float, Floats]:
        """Search below one box: cells looked at, boxes left open, and the best value with its direction."""
        from hullrank.exact._loops import search_boxes

        pool, work, index, stack, plan, axes, out, best = self._work[slot]
        size = self._pairs.shape[1]
        pool[:, :size] = self._pairs
        stack[0, 0] = box
        stack[0, 0, -1] -= self._shift
        plan[0] = 1, size, 0
        best[0] = value - self._shift
        budget = max(_BUDGET, 20.0 * size) if ample else 20.0 * size
        limits = np.array([step, self.smallest, budget, most_cells, self._rounding, self._pad])
        opened, cells = search_boxes(pool, work, index, stack, plan, limits, axes, out, best)
        boxes = out[:opened].copy()
        boxes[:, -1] += self._shift
        return cells, boxes, float(best[0]) + self._shift, best[1:].copy()
