"""The variables of sequential minimal optimisation (SMO): multipliers and scores of an interval problem."""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hullrank.exceptions import KernelError
from hullrank.problem.charges import Charge
from hullrank.problem.intervals import IntervalProblem
from hullrank.problem.layout import RowLayout
from hullrank.solvers import _smo_loops as loops
from hullrank.solvers._smo_cache import RowCache

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_NEVER = 1e30  # a target that any violation meets


class SmoState:
    """Signed multipliers ``v`` per row, scores per sample, order multipliers, and the arrays of the compiled loop.

    ``_smo_loops`` describes the arrays. All multipliers start at zero. ``refresh`` must precede the first step.
    """

    def __init__(self, problem: IntervalProblem, layout: RowLayout, diagonal: Floats, cache: RowCache) -> None:
        self.problem, self.layout, self.cache = problem, layout, cache
        m, n = layout.n_samples, problem.n_thresholds
        inner = np.flatnonzero(problem.low >= 0)
        self.edges = np.column_stack([problem.up[inner], problem.low[inner]])
        self.gap, self.order = problem.gap[inner], np.zeros(len(inner))
        self.segments = _segments(problem, layout)
        sample, sign = layout.row_sample, self.row_sign
        self.diagonal, self.scores, self.charge_curvature = diagonal, np.zeros(m), np.zeros(m)
        bound = layout.row_cost if is_hinge(problem) else np.full(layout.n_rows, loops.FAR)
        if not is_hinge(problem):
            self.charge_curvature[sample] = 0.5 / layout.row_cost
        self.v = np.zeros(layout.n_rows)
        far_end = sign * bound
        self.lower, self.upper = np.minimum(far_end, 0.0), np.maximum(far_end, 0.0)
        self.offset = sign * layout.spread(problem.offset)
        self.rising, self.falling = np.empty((2, layout.n_rows), dtype=np.float32)
        self.curvature = (diagonal + self.charge_curvature).astype(np.float32)
        self.rounded, self.along, self._gain, self._zero = np.zeros((4, m), dtype=np.float32)
        self.least, self.most = np.zeros((2, n))
        self._peak, self._worst = np.zeros(n, dtype=np.float32), np.zeros(n, dtype=np.int64)
        self._members, self._direction = np.zeros(loops.MOST_MEMBERS, np.int64), np.zeros(loops.MOST_MEMBERS)
        self.counts, self.numbers = np.zeros(4, dtype=np.int64), np.zeros(5)
        self.path_cost, self.hop = np.empty((n, n)), np.empty((n, n), dtype=np.int64)
        if problem.has_rho:
            weight = 10.0 * float(self.diagonal.mean())
            self.numbers[loops.WEIGHT], self.rho = weight, -weight * problem.linear[-1]

    @property
    def violation(self) -> float:
        """Largest violation of optimality when it was last measured."""
        return float(self.numbers[loops.VIOLATION])

    @property
    def steps(self) -> int:
        """Number of steps taken so far."""
        return int(self.counts[loops.STEPS])

    @property
    def rho(self) -> float:
        """The margin of nu problems, estimated by the method of multipliers for sum alpha = nu."""
        return float(self.numbers[loops.RHO])

    @rho.setter
    def rho(self, value: float) -> None:
        self.numbers[loops.RHO] = value

    def run(self, target: float, steps: int) -> bool:
        """Take steps until the violation is below ``target`` or ``steps`` are done; False when no step is possible."""
        self.numbers[loops.TARGET] = target
        self.counts[loops.LIMIT] = self.counts[loops.STEPS] + steps
        while True:
            ended = loops.smo(
                self.cache.values, self.cache.slot, self.cache.pending, self.cache.known, self.cache.place,
                *self.segments, self.edges, self.gap, self.order, self.path_cost, self.hop, self.v, self.lower,
                self.upper, self.offset, self.row_partner, self.rising, self.falling, self.diagonal,
                self.charge_curvature, self.scores, self.curvature, self.rounded, self.along, self._gain, self._zero,
                self.least, self.most, self._peak, self._worst, self._members, self._direction, self.counts,
                self.numbers,
            )  # fmt: skip
            if ended == loops.MISSING_ROW:
                self.cache.load(int(self.counts[loops.MISSING]), self.violations)
            elif ended == loops.INDEFINITE:
                raise indefinite()
            else:
                return bool(ended != loops.STUCK)

    def measure(self) -> None:
        """Measure the violation without a step."""
        self.run(_NEVER, 0)

    def refresh(self) -> None:
        """Bring the arrays of the loop up to date after multipliers or scores were changed outside of it."""
        goal = self.goal
        self.rising[:] = np.where(self.v < self.upper, goal, -loops.FAR)
        self.falling[:] = np.where(self.v > self.lower, goal, loops.FAR)
        loops.find_paths(self.edges, self.gap, self.order, self.path_cost, self.hop)
        self.put_scores(self.scores)

    def put_scores(self, scores: Floats) -> None:
        """Take over scores of the present multipliers; goals and paths, which depend on these alone, stay."""
        self.scores[:] = self.rounded[:] = scores
        self.numbers[loops.CURVATURE] = 0.0

    @cached_property
    def row_sign(self) -> Floats:
        """The sign of each row."""
        return self.layout.spread(self.problem.sign)

    @cached_property
    def _ranges(self) -> list[tuple[int, ...]]:
        """The segments as lines of signed integers."""
        return list(zip(*(column.astype(np.int64).tolist() for column in self.segments), strict=True))

    @cached_property
    def row_partner(self) -> Ints:
        """The row that shares its slack with each row, or -1."""
        partner = np.full(self.layout.n_rows, -1, dtype=np.int64)
        for _, length, _, other, row, other_row, _ in self.layout.table.tolist():
            if other >= 0:
                partner[row : row + length] = np.arange(other_row, other_row + length)
                partner[other_row : other_row + length] = np.arange(row, row + length)
        return partner

    @property
    def goal(self) -> Floats:
        """Residual plus score of each row, in float64."""
        if is_hinge(self.problem):
            return self.offset
        total = self.v
        if self.layout.shares_slacks:
            total = self.v - np.where(self.row_partner >= 0, self.v[self.row_partner], 0.0)
        return np.subtract(self.offset, self.charge_curvature[self.layout.row_sample] * total, dtype=np.float64)

    @property
    def free_rows(self) -> Ints:
        """The rows whose multiplier lies strictly inside its box."""
        return np.flatnonzero((self.v > self.lower) & (self.v < self.upper))

    def thresholds(self) -> Floats:
        """Theta, the middle of what the rows allow at each threshold, and rho, which is not negative."""
        # -theta[t] is bounded by the rows of every threshold a that a path connects with t.
        at_least = (self.least[:, None] + self.path_cost).max(axis=0)
        at_most = (self.most - self.path_cost).min(axis=1)
        at_least = np.where(at_least > -0.1 * loops.FAR, at_least, np.where(at_most < 0.1 * loops.FAR, at_most, 0.0))
        theta = -0.5 * (at_least + np.where(at_most < 0.1 * loops.FAR, at_most, at_least))
        return np.append(theta, max(0.0, self.rho)) if self.problem.has_rho else theta

    def violations(self) -> Floats:
        """Per sample, by how much its worst row violates optimality (negative: how far it is from doing so)."""
        worst = np.full(len(self.scores), -np.inf)
        theta = self.thresholds()
        for t, lo, hi, base, sign in self._ranges:
            here = self.scores[lo:hi] - theta[t] - sign * self.rho
            rising, falling = self.rising[base + lo : base + hi], self.falling[base + lo : base + hi]
            np.maximum(worst[lo:hi], np.maximum(rising - here, here - falling), out=worst[lo:hi])
        return worst

    def group_sums(self) -> Floats:
        """The sum of alpha of every group."""
        sums = np.bincount(self.layout.row_group, self.row_sign * self.v, self.problem.n_groups)
        return sums.astype(np.float64, copy=False)

    def shares(self) -> Floats:
        """Multipliers divided by the cost of their row."""
        return self.row_sign * self.v / self.layout.row_cost

    @property
    def gain(self) -> float:
        """The linear part of the dual objective, offset.alpha + gap.t."""
        return float(self.offset @ self.v + self.gap @ self.order)

    @property
    def dual(self) -> float:
        """The dual objective."""
        gain = self.gain
        if not is_hinge(self.problem):
            sums = np.bincount(self.layout.row_slack, self.row_sign * self.v, self.layout.n_slacks)
            gain -= 0.25 * float(sums @ (sums / self.layout.cost))
        return gain - 0.5 * float(self.beta @ self.scores)

    def flow_residual(self) -> Floats:
        """linear + E'(sign alpha) - G't: by how much the multipliers miss the flow on each threshold (and rho)."""
        flow = self.problem.flow(self.group_sums())
        return self.problem.linear + flow - self.problem.order_adjoint(self.order_multipliers)

    @property
    def order_multipliers(self) -> Floats:
        """One per order constraint of the problem; 0 for rho >= 0, which binds only if the optimum is 0."""
        t = np.zeros(len(self.problem.up))
        t[self.problem.low >= 0] = self.order
        return t

    @property
    def beta(self) -> Floats:
        """Kernel coefficients: the sum of the signed multipliers of each sample."""
        return np.bincount(self.layout.row_sample, self.v, len(self.scores)).astype(np.float64, copy=False)


def is_hinge(problem: IntervalProblem) -> bool:
    """Whether slacks are charged by the hinge; the only other charge that SMO accepts is the squared hinge."""
    return problem.charge is Charge.HINGE


def indefinite() -> KernelError:
    """The error for kernels whose dual problem is not convex."""
    return KernelError(
        "the kernel matrix is not positive semi-definite, so the problem has no convex dual and no certificate; use "
        "another kernel or other gamma and coef0, set the negative eigenvalues of a precomputed matrix to zero, or "
        "rank by ConvexHullRanker(norm='coefficient')"
    )


def _segments(problem: IntervalProblem, layout: RowLayout) -> tuple[Ints, Any, Any, Any, Floats]:
    """The columns threshold, first, last, base and sign of the segments (see ``_smo_loops``).

    Groups of one threshold whose samples and rows follow each other are one segment, unless rho tells signs apart.
    Samples and rows are unsigned: arithmetic on base, which may be negative, is modulo 2^64.
    """
    segments: list[list[int]] = []
    columns = (problem.threshold, layout.group_samples, layout.group_starts[:-1], layout.group_starts[1:], problem.sign)
    for t, lo, row, end, sign in zip(*(column.tolist() for column in columns), strict=True):
        before = segments[-1] if segments and not problem.has_rho else None
        if before and before[0] == t and before[2] == lo and before[3] == row - lo:
            before[2] = lo + end - row
        else:
            segments.append([t, lo, lo + end - row, row - lo, int(sign)])
    table = np.array(segments, dtype=np.int64).T
    first, last, base = table[1:4].astype(np.uint64)
    return table[0].copy(), first, last, base, table[4].astype(np.float64)
