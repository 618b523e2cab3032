"""The cache of kernel rows that sequential minimal optimisation reads, in float32 and bounded by ``cache_size``."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hullrank.problem.gram import Gram
from hullrank.solvers._smo_settings import SmoSettings

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_NOTHING = np.empty((0, 0))


class RowCache:
    """Kernel rows in ``values``; the row of sample k stands at ``slot[k]`` (-1: not in the cache).

    Rows are computed in batches, because a matrix product of several rows is faster than one row at a time: beside the
    row that is needed, those of the samples that violate optimality most. When the cache is full, the rows of the
    samples that violate optimality least are evicted. Rows of kernels that end in an exponential are stored as
    exponents (``pending``) until the loop reads them: many rows of a batch are never read. Where kernel values are
    ``known``, a pending row has nothing but its slot.
    """

    def __init__(self, gram: Gram, megabytes: float, settings: SmoSettings) -> None:
        m = len(gram)
        self.settings, self._most_bytes = settings, megabytes * 1e6
        self._size = m * int(min(m, max(64, megabytes * 1e6 // (4 * m))))  # float32 numbers
        self._memory = np.empty(self._size, dtype=np.float32)
        self.reset(gram)

    def reset(self, gram: Gram) -> None:
        """Forget all rows and serve the rows of ``gram`` from now on."""
        m = len(gram)
        self.known: Any = gram.values if gram.can_be_gathered else _NOTHING
        self.place = np.arange(m) if gram.samples is None else gram.samples.astype(np.int64, copy=False)
        self.blocks = None if gram.can_be_gathered else gram.blocks(np.float32)
        self.capacity = min(m, self._size // m)
        self.slot = np.full(m, -1, dtype=np.int64)
        self.owner = np.full(self.capacity, -1, dtype=np.int64)
        self.pending = np.zeros(self.capacity, dtype=np.bool_)
        self.filled = 0
        self._queue: Ints = np.zeros(0, dtype=np.int64)  # samples whose rows will be needed next
        self._evictable: Ints = np.zeros(0, dtype=np.int64)  # slots of the rows that are needed least
        self._reshape()

    def _reshape(self) -> None:
        m = len(self.slot)
        self.values = self._memory[: min(self.capacity, len(self._memory) // m) * m].reshape(-1, m)

    def make_room(self, n_bytes: int, gram: Gram) -> None:
        """Free the memory of the cache if ``n_bytes`` of other data beside it would exceed ``cache_size``.

        The memory is allocated again when the next row is loaded.
        """
        if n_bytes + 4 * self._size > self._most_bytes:
            self._memory = np.empty(0, dtype=np.float32)
            self.reset(gram)

    def restrict(self, gram: Gram, kept: Ints) -> None:
        """Serve only the samples ``kept`` (ascending), whose matrix is ``gram``, and keep their rows."""
        held = np.flatnonzero(self.slot[kept] >= 0)
        held = held[np.argsort(self.slot[kept[held]])]
        slots, pending = self.slot[kept[held]], self.pending[self.slot[kept[held]]]
        n, step = len(kept), max(1, self.settings.batch_bytes // (32 * len(self.slot)))
        for first in range(0, len(held), step):
            # Rows move towards the front of the memory, so no row is overwritten before it was copied.
            rows = self.values.take(slots[first : first + step], axis=0)
            place = self._memory[first * n : (first + len(rows)) * n].reshape(-1, n)
            rows.take(kept, axis=1, out=place, mode="clip")
        self.reset(gram)
        self.owner[: len(held)], self.pending[: len(held)] = held, pending
        self.slot[held], self.filled = np.arange(len(held)), len(held)

    def load(self, needed: int, violations: Callable[[], Floats]) -> None:
        """Compute the row of the sample ``needed``, and a batch of others that will be needed soon."""
        if len(self._memory) < self._size:
            self._memory = np.empty(self._size, dtype=np.float32)
            self._reshape()
        wanted = self._next_batch(needed, violations)
        fresh = self.capacity - self.filled
        if len(wanted) <= fresh:
            slots = np.arange(self.filled, self.filled + len(wanted))
            self.filled += len(wanted)
            self._fill(wanted, self.values[slots[0] : self.filled])
        else:
            slots = np.append(np.arange(self.filled, self.capacity), self._evictable[: len(wanted) - fresh])
            self._evictable, self.filled = self._evictable[len(wanted) - fresh :], self.capacity
            self.slot[self.owner[slots[fresh:]]] = -1
            rows = np.empty((len(wanted), len(self.slot)), dtype=np.float32)
            self._fill(wanted, rows)
            self.values[slots] = rows
        self.owner[slots], self.slot[wanted] = wanted, slots
        self.pending[slots] = self.blocks is None or self.blocks.exponential

    def _fill(self, wanted: Ints, rows: NDArray[np.float32]) -> None:
        if self.blocks is not None:
            self.blocks.fill(wanted, rows, only_exponents=self.blocks.exponential)

    def _next_batch(self, needed: int, violations: Callable[[], Floats]) -> Ints:
        m, use = len(self.slot), self.settings
        if self.capacity == m and 4 * m * m <= 2 * use.batch_bytes:
            return np.flatnonzero(self.slot < 0)
        batch = min(max(use.batch_bytes // (4 * m), 8), max(8, self.capacity // 8))
        batch = batch if self.filled < self.capacity else use.eviction_batch
        if not len(self._queue) or len(self._evictable) + self.capacity - self.filled < batch:
            self._plan(min(use.batches_per_plan * batch, max(batch, self.capacity // 4)), violations())
        wanted, self._queue = self._queue[:batch], self._queue[batch:]
        wanted = wanted[self.slot[wanted] < 0]
        return wanted if needed in wanted else np.append(wanted[: batch - 1], needed)

    def _plan(self, count: int, violations: Floats) -> None:
        """Queue the ``count`` missing samples that violate most, and the slots to evict for them."""
        missing = np.flatnonzero(self.slot < 0)
        count = min(count, len(missing))
        self._queue = missing[np.argpartition(-violations[missing], count - 1)[:count]]
        short = min(count + self.settings.batches_per_plan - (self.capacity - self.filled), self.filled)
        if short > 0:
            self._evictable = np.argpartition(violations[self.owner[: self.filled]], short - 1)[:short]
