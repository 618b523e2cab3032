"""What sequential minimal optimisation works on: the rows of an interval problem and the kernel rows it has seen."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hullrank.exceptions import KernelError
from hullrank.problem.charges import Charge
from hullrank.problem.intervals import IntervalProblem
from hullrank.problem.kernels import Gram
from hullrank.problem.layout import RowLayout
from hullrank.solvers import _smo_loops as loops

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_BATCH_BYTES = 1 << 21
_LINE = 8  # numbers of a line of the processor's cache
_CALLS_PER_LOOK = 16  # rows are brought so many times before their eagerness is measured again
_FULL_BATCH = 4  # rows brought at a time once others must leave


class RowCache:
    """As many kernel rows as fit into ``memory``, few all at once, others in batches; the least wanted leave first.

    Rows that are exponentials are ``raw``, their exponents, until the loop wants them: many are never wanted.
    """

    def __init__(self, gram: Gram, memory: NDArray[Any]) -> None:
        m = len(gram)
        self.memory = memory
        self.blocks = gram.blocks(memory.dtype)
        row_bytes = m * memory.itemsize
        self.capacity = min(m, len(memory) // m)
        self.all_at_once = self.capacity == m and m * row_bytes <= 2 * _BATCH_BYTES
        self.batch = min(max(_BATCH_BYTES // row_bytes, 8), max(8, self.capacity // 8))
        self.values = memory[: self.capacity * m].reshape(self.capacity, m)
        self._scratch = np.empty((_FULL_BATCH, m), dtype=memory.dtype)
        self._forget()

    def clear(self) -> None:
        """Forget all rows, in memory that may hold anything."""
        self._forget()
        self.values[0] = 0.0  # the loop multiplies it by 0 before it has seen a row

    def _forget(self) -> None:
        self.slot = np.full(self._scratch.shape[1], -1, dtype=np.int64)
        self.owner = np.full(self.capacity, -1, dtype=np.int64)
        self.raw = np.zeros(self.capacity, dtype=np.bool_)
        self.filled = 0
        self._queue: Ints = np.zeros(0, dtype=np.int64)  # samples whose rows will be wanted next
        self._leaving: Ints = np.zeros(0, dtype=np.int64)  # slots of the least wanted rows
        self.take_back()

    def lend(self, size: int) -> Floats:
        """Room for so many numbers, the last of the memory that are not lent; rows there are forgotten.

        Fresh memory if it is too short. All is taken back when rows are brought again.
        """
        each = 8 // self.memory.itemsize
        first = (len(self.memory) // each - self._lent - size) * each
        kept = first // len(self.slot)
        if kept < 1:
            return np.empty(size)
        self._lent += size
        if kept < self.filled:
            self.slot[self.owner[kept : self.filled]] = -1
            self.filled = kept
            self._queue, self._leaving = self._queue[:0], self._leaving[:0]
        return self.memory[first : first + each * size].view(np.float64)

    def take_back(self) -> None:
        """Nothing is lent any more."""
        self._lent = 0

    def narrowed(self, gram: Gram, kept: Ints) -> "RowCache":
        """A cache for the samples ``kept`` (ascending) that takes over the memory, and their rows that are in it."""
        narrow = RowCache(gram, self.memory)
        held = np.flatnonzero(self.slot[kept] >= 0)
        held = held[np.argsort(self.slot[kept[held]])]
        slots = self.slot[kept[held]]
        loops.compact(self.memory, len(self.slot), slots, kept)
        narrow.owner[: len(held)], narrow.slot[held], narrow.filled = held, np.arange(len(held)), len(held)
        narrow.raw[: len(held)] = self.raw[slots]
        self._forget()
        return narrow

    def bring(self, needed: int, eagerness: Callable[[], Floats]) -> None:
        """Compute the row that is needed, and with it those that (as of a few calls ago) will be wanted next."""
        self.take_back()
        wanted = np.flatnonzero(self.slot < 0) if self.all_at_once else self._wanted(needed, eagerness)
        fresh = self.capacity - self.filled
        self._append(wanted[:fresh])
        self._replace(wanted[fresh:])

    def _wanted(self, needed: int, eagerness: Callable[[], Floats]) -> Ints:
        batch = self.batch if self.filled < self.capacity else _FULL_BATCH
        if not len(self._queue) or len(self._leaving) + self.capacity - self.filled < batch:
            self._look(min(_CALLS_PER_LOOK * batch, max(batch, self.capacity // 4)), eagerness())
        wanted, self._queue = self._queue[:batch], self._queue[batch:]
        wanted = wanted[self.slot[wanted] < 0]
        return wanted if needed in wanted else np.append(wanted[: batch - 1], needed)

    def _look(self, count: int, eagerness: Floats) -> None:
        """Queue the samples whose rows are wanted most, and the slots of those wanted least."""
        missing = np.flatnonzero(self.slot < 0)
        count = min(count, len(missing))
        self._queue = missing[np.argpartition(-eagerness[missing], count - 1)[:count]]
        short = min(count + _CALLS_PER_LOOK - (self.capacity - self.filled), self.filled)
        if short > 0:
            self._leaving = np.argpartition(eagerness[self.owner[: self.filled]], short - 1)[:short]

    def _append(self, samples: Ints) -> None:
        """Compute rows into slots that are empty."""
        first, self.filled = self.filled, self.filled + len(samples)
        everything = self.all_at_once and len(samples) == len(self.slot)
        self._fill(None if everything else samples, self.values[first : self.filled])
        self.raw[first : self.filled] = self.blocks.exponential
        self.owner[first : self.filled] = samples
        self.slot[samples] = np.arange(first, self.filled)

    def _replace(self, samples: Ints) -> None:
        """Compute rows in place of the least wanted."""
        slots, self._leaving = self._leaving[: len(samples)], self._leaving[len(samples) :]
        self.slot[self.owner[slots]] = -1
        for at in range(0, len(samples), _FULL_BATCH):
            batch = self._scratch[: len(samples) - at]
            self._fill(samples[at : at + _FULL_BATCH], batch)
            self.values[slots[at : at + _FULL_BATCH]] = batch
        self.owner[slots] = samples
        self.slot[samples] = slots
        self.raw[slots] = self.blocks.exponential

    def _fill(self, samples: Ints | None, out: NDArray[Any]) -> None:
        self.blocks.fill(samples, out, raw=self.blocks.exponential)


@dataclass
class SmoState:
    """Signed multipliers ``v`` per row, scores ``s``, order multipliers, and the tables the compiled loop reads."""

    problem: IntervalProblem
    layout: RowLayout
    cache: RowCache
    groups: Ints
    segments: Ints
    signs: Floats
    edges: Ints
    order: Floats
    per_sample: Floats
    curvature32: NDArray[np.float32]
    v: Floats
    s: Floats
    rounded: NDArray[np.float32]
    off: NDArray[np.float32]
    path_cost: Floats
    hop: Ints
    gains: NDArray[np.float32]
    ends: NDArray[np.float32]
    ends_of: Floats
    q: NDArray[np.float32]
    member: Ints
    along: Floats
    io: Floats

    @property
    def violation(self) -> float:
        """Largest violation of optimality at the last look."""
        return float(self.io[loops.VIOLATION])

    @property
    def steps(self) -> int:
        """Steps so far."""
        return int(self.io[loops.STEPS])

    def run(self, eps: float, steps: int) -> bool:
        """Step until the violation is below ``eps`` or so many steps are done; False when no step can be made."""
        self.io[loops.EPS] = eps
        self.io[loops.LIMIT] = self.io[loops.STEPS] + steps
        while True:
            ended = loops.smo(
                self.cache.values, self.cache.slot, self.cache.raw, self.groups, self.segments, self.signs, self.edges,
                self.order, self.path_cost, self.hop, self.per_sample, self.curvature32, self.v, self.s, self.rounded,
                self.off, self.gains, self.ends, self.ends_of, self.q, self.member, self.along, self.io,
            )  # fmt: skip
            if ended == loops.INDEFINITE:
                raise indefinite()
            if ended != loops.MISSING_ROW:
                return bool(ended != loops.STUCK)
            self.cache.bring(int(self.io[loops.MISSING]), self.eagerness)

    def refresh(self) -> None:
        """Bring the tables up to date after the multipliers changed outside the loop."""
        self.io[loops.MEMBERS] = 0.0
        loops.set_rows(self.groups, self.signs, self.per_sample, self.v, self.off)

    def levels(self) -> Floats:
        """-theta of every threshold: the middle of what the rows allow, through paths where the order binds."""
        middle = np.empty(len(self.ends_of))
        loops.middles(self.ends_of, self.path_cost, middle)
        return middle

    def thresholds(self) -> Floats:
        """Theta (and rho, which is not negative) read off the multipliers that are free."""
        theta = -self.levels()
        return np.append(theta, max(0.0, self.io[loops.RHO])) if self.problem.has_rho else theta

    def eagerness(self) -> Floats:
        """Per sample, by how much one of its rows violates optimality (negative: how far it is from doing so)."""
        eager = np.full(len(self.s), -np.inf)
        level = self.levels()
        for (t, lo, hi, base, _), sign in zip(self.groups.tolist(), self.signs[:, 0].tolist(), strict=True):
            here = self.s[lo:hi] + level[t] - sign * self.io[loops.RHO]
            up, down = self.off[:, base + lo : base + hi]
            np.maximum(eager[lo:hi], np.maximum(up - here, here - down), out=eager[lo:hi])
        return eager

    @cached_property
    def row_sign(self) -> Floats:
        """The sign of the group of each row."""
        return self.layout.spread(self.problem.sign)

    def totals(self) -> Floats:
        """The sum of alpha of every group."""
        sums = np.bincount(self.layout.row_group, self.row_sign * self.v, self.problem.n_groups)
        return sums.astype(np.float64, copy=False)

    def shares(self) -> Floats:
        """Multipliers divided by the cost of their row."""
        return self.row_sign * self.v / self.layout.row_cost

    @property
    def dual(self) -> float:
        """The dual objective."""
        alpha = self.row_sign * self.v
        gain = self.layout.spread(self.problem.offset) @ alpha + self.problem.gap @ self.order_multipliers
        if self.problem.charge is Charge.SQUARED_HINGE:
            sums = np.bincount(self.layout.row_slack, alpha, self.layout.n_slacks)
            gain -= 0.25 * float(sums @ (sums / self.layout.cost))
        return float(gain - 0.5 * self.beta @ self.s)

    def flow_residual(self) -> Floats:
        """linear + E'(sign alpha) - G't: what the multipliers owe the thresholds (and rho)."""
        return (
            self.problem.linear + self.problem.flow(self.totals()) - self.problem.order_adjoint(self.order_multipliers)
        )

    @property
    def order_multipliers(self) -> Floats:
        """One per order constraint of the problem; 0 for rho >= 0, which never binds unless the optimum is 0."""
        inner = self.order[1]
        if len(inner) == len(self.problem.up):
            return inner.copy()
        t = np.zeros(len(self.problem.up))
        t[self.problem.low >= 0] = inner
        return t

    @property
    def beta(self) -> Floats:
        """Kernel coefficients: the sum of a sample's signed multipliers."""
        return np.bincount(self.layout.row_sample, self.v, len(self.s)).astype(np.float64, copy=False)


def indefinite() -> KernelError:
    """The error for kernels whose dual problem is not convex."""
    return KernelError(
        "the kernel matrix is not positive semi-definite, so the problem has no convex dual and no certificate; use "
        "another kernel or other gamma and coef0, set the negative eigenvalues of a precomputed matrix to zero, or "
        "rank by ConvexHullRanker(norm='coefficient')"
    )


def row_memory(n_samples: int, dtype: Any, megabytes: float) -> NDArray[Any]:
    """Room for all kernel rows, or for as many as fit into ``megabytes``."""
    row_bytes = n_samples * np.dtype(dtype).itemsize
    memory = np.empty(n_samples * int(min(n_samples, max(64, megabytes * 1e6 // row_bytes))), dtype=dtype)
    memory[:n_samples] = 0.0  # the loop multiplies the first row by 0 before it has seen one
    return memory


def _vectors(count: int, size: int) -> Floats:
    """Zeros, at least so many a vector; each begins a line of the processor's cache, so passes over it are faster."""
    width = -(-size // _LINE) * _LINE
    memory = np.zeros(count * width + _LINE)
    first = -memory.__array_interface__["data"][0] // 8 % _LINE
    return memory[first : first + count * width].reshape(count, width)


def make_state(problem: IntervalProblem, layout: RowLayout, diagonal: Floats, cache: RowCache) -> SmoState:
    """All multipliers at zero."""
    m, rows, n = layout.n_samples, layout.n_rows, problem.n_thresholds
    inner = np.flatnonzero(problem.low >= 0)
    edges, order = np.empty((len(inner), 2), dtype=np.int64), np.zeros((2, len(inner)))
    edges[:, 0], edges[:, 1], order[0] = problem.up[inner], problem.low[inner], problem.gap[inner]
    groups = _group_table(problem, layout)
    segments = _segment_table(groups, separate=problem.has_rho)
    per_sample = np.zeros((3, m))
    per_sample[0] = diagonal
    if problem.charge is Charge.HINGE:
        per_sample[2][layout.row_sample] = layout.row_cost
    else:
        per_sample[1, layout.row_sample], per_sample[2] = 0.5 / layout.row_cost, loops.FAR
    signs = np.empty((problem.n_groups, 2))
    signs[:, 0], signs[:, 1] = problem.sign, problem.offset
    vectors = _vectors(5, m)
    curvature32, rounded, gains, q = vectors[1:].view(np.float32)[:, :m]
    curvature32[:] = per_sample[0] + per_sample[1]
    state = SmoState(
        problem=problem,
        layout=layout,
        cache=cache,
        groups=groups,
        segments=segments,
        signs=signs,
        edges=edges,
        order=order,
        per_sample=per_sample,
        curvature32=curvature32,
        v=np.zeros(rows),
        s=vectors[0, :m],
        rounded=rounded,
        off=np.empty((2, rows), dtype=np.float32),
        path_cost=np.empty((n, n)),
        hop=np.empty((n, n), dtype=np.int64),
        gains=gains,
        ends=np.zeros((len(segments), 2), dtype=np.float32),
        ends_of=np.zeros((n, 3)),
        q=q,
        member=np.zeros(loops.MOST_MEMBERS, dtype=np.int64),
        along=np.zeros((3, loops.MOST_MEMBERS)),
        io=np.zeros(10),
    )
    if problem.has_rho:
        weight = 10.0 * float(per_sample[0].mean())
        state.io[loops.RHO_WEIGHT], state.io[loops.RHO_CURVATURE] = weight, 4.0 * weight
        state.io[loops.RHO] = -weight * problem.linear[-1]
    state.refresh()
    return state


def _group_table(problem: IntervalProblem, layout: RowLayout) -> Ints:
    """Threshold, first sample, last + 1, base of the rows, base of the partner's rows (see ``_smo_loops``)."""
    groups: list[Any] = [None] * problem.n_groups
    threshold = problem.threshold.tolist()
    for first, length, group, partner, row, partner_row, _ in layout.table.tolist():
        base, other = row - first, partner_row - first if partner >= 0 else loops.NO_ROW
        groups[group] = threshold[group], first, first + length, base, other
        if partner >= 0:
            groups[partner] = threshold[partner], first, first + length, other, base
    return np.array(groups, dtype=np.int64)


def _segment_table(groups: Ints, separate: bool) -> Ints:
    """Threshold, first sample, last + 1, base of the rows, first group of what can be scanned in one pass."""
    segments: list[list[int]] = []
    for g, (threshold, first, last, base, _) in enumerate(groups.tolist()):
        before = segments[-1] if segments and not separate else None
        if before and before[0] == threshold and before[2] == first and before[3] == base:
            before[2] = last
        else:
            segments.append([threshold, first, last, base, g])
    return np.array(segments, dtype=np.int64)
