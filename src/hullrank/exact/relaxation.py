"""The linear relaxation of P_AUC(eps), with its pairs implicit.

With 0 <= z <= 1 the best z_p is min(1, 1 - eps + D_p.w), so the relaxation is the all-pairs hinge of margin eps:

    min sum_p g_p max(0, eps - D_p.w)   with  D_p.w >= eps - 1,  |w_j| <= 1.

A sample i gives one variable xi_i >= g_i sum_{k in V} g_k (eps - s_i + s_k) for every set V of samples it should
beat: the set violated at the current scores is found by sorting, so no pair is ever stored, and finitely many sets
give the optimum.
"""

import time
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hullrank.exact.grid import column_scale
from hullrank.exact.rows import Rows
from hullrank.problem.certificate import Status
from hullrank.solvers.linear_program import GrowingProgram, LinearProgram, ProgramStatus

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True)
class Relaxation:
    """The best w, its hinge sum (in units of eps), the lower bound on it, the rounds it took, and how they ended."""

    w: Floats
    primal: float
    dual: float
    rounds: int
    status: Status
    pairs: int


@dataclass(frozen=True)
class _Sets:
    """Samples that compare: for each query and grade the samples of that grade and those below it in the query."""

    Z: Floats
    weights: Floats
    groups: list[tuple[Indices, Indices]]

    def cuts(self, scores: Floats) -> tuple[Floats, Floats]:
        """The cut loss_i >= offset_i + slopes_i.v of every sample's violated set at these scores: offsets, slopes."""
        n, d = self.Z.shape
        offset, slopes = np.zeros(n), np.zeros((n, d))
        for high, low in self.groups:
            order = low[np.argsort(scores[low])]
            first = np.searchsorted(scores[order], scores[high] - 1.0, side="right")
            mass = _from_end(self.weights[order])[first]
            moment = _from_end(self.weights[order, None] * self.Z[order])[first]
            offset[high] += self.weights[high] * mass
            slopes[high] += self.weights[high, None] * (moment - mass[:, None] * self.Z[high])
        return offset, slopes

    def worst_pairs(self, scores: Floats) -> list[tuple[int, int]]:
        """The most violated pair of every query and grade."""
        return [(int(high[np.argmin(scores[high])]), int(low[np.argmax(scores[low])])) for high, low in self.groups]


@dataclass(frozen=True)
class RelaxationStatement:
    """The relaxation of the AUC of some samples, with margin epsilon."""

    rows: Rows
    epsilon: float

    def value(self, w: Floats) -> float:
        """The hinge sum of weights w in units of epsilon, or infinity where w breaks a constraint."""
        scale = column_scale(self.rows.X)
        sets = _sets(self.rows, scale)
        return _Master(sets, scale / self.epsilon, 1.0 - 1.0 / self.epsilon).value(w * scale / self.epsilon)


def relax(
    samples: Rows,
    epsilon: float,
    *,
    start: Floats | None = None,
    tol: float = 1e-9,
    max_rounds: int = 500,
    seconds: float = float("inf"),
) -> Relaxation:
    """Solve the relaxation by cuts, in u = w / eps, so that the margin is 1; Ctrl-C keeps the best so far.

    ``start`` are weights w that the first cuts are made at.
    """
    weights, deadline = samples.weights, time.perf_counter() + seconds
    scale = column_scale(samples.X)
    rows = _sets(samples, scale)
    master = _Master(rows, scale / epsilon, 1.0 - 1.0 / epsilon)
    pairs = sum(float(weights[high].sum() * weights[low].sum()) for high, low in rows.groups)
    count = sum(len(high) * len(low) for high, low in rows.groups)
    if start is None:
        first = rows.Z.T @ (weights * (samples.codes - np.average(samples.codes, weights=weights)))
        first /= max(float(np.linalg.norm(first)), 1e-300)
    else:
        first = start * scale / epsilon
    best = trial = master.inside(first)
    primal, dual, status, rounds = np.inf, 0.0, Status.MAX_ITER, 0
    try:
        for rounds in range(1, max_rounds + 1):
            value = master.add(trial)
            if value < primal:
                primal, best = value, trial
            left = deadline - time.perf_counter()
            answer = master.solve(left) if left > 0 else None
            if answer is None:
                status = Status.TIME_LIMIT
                break
            centre, dual = answer
            if primal - dual <= tol * max(primal, 1e-3 * pairs):
                status = Status.CONVERGED
                break
            trial = centre if rounds % 2 == 0 else 0.5 * (centre + best)
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
    return Relaxation(best * epsilon / scale, primal, dual, rounds, status, count)


class _Master:
    """The program over v = u * scale and one loss per sample, and the cuts it has so far."""

    def __init__(self, rows: _Sets, box: Floats, lowest: float) -> None:
        n, d = rows.Z.shape
        self._rows, self._box, self._lowest = rows, box, lowest
        self._program = GrowingProgram(
            LinearProgram(
                np.concatenate([np.zeros(d), np.ones(n)]),
                np.zeros((0, d + n)),
                np.empty(0),
                np.empty(0),
                np.concatenate([-box, np.zeros(n)]),
                np.concatenate([box, np.full(n, np.inf)]),
            )
        )

    def inside(self, v: Floats) -> Floats:
        """v scaled down until it is feasible."""
        worst = min(self._margin(v, pair) for pair in self._rows.worst_pairs(self._rows.Z @ v))
        shrink = min(1.0, self._lowest / worst if worst < self._lowest else 1.0)
        return v * min(shrink, float((self._box / np.maximum(np.abs(v), 1e-300)).min()))

    def value(self, v: Floats) -> float:
        """The hinge sum at v, or infinity if v breaks D.v >= lowest."""
        scores = self._rows.Z @ v
        offset, slopes = self._rows.cuts(scores)
        return np.inf if self._broken(v, scores) else float((offset + slopes @ v).sum())

    def _broken(self, v: Floats, scores: Floats) -> list[tuple[int, int]]:
        worst = self._rows.worst_pairs(scores)
        return [pair for pair in worst if self._margin(v, pair) < self._lowest * (1 + 1e-9)]

    def add(self, v: Floats) -> float:
        """Cuts at v; returns the hinge sum there, or infinity if v breaks D.v >= lowest."""
        n = len(self._rows.Z)
        scores = self._rows.Z @ v
        offset, slopes = self._rows.cuts(scores)
        loss = offset + slopes @ v
        cut = np.flatnonzero(offset > 0)
        if len(cut):
            marks = sp.csr_array((np.ones(len(cut)), (np.arange(len(cut)), cut)), shape=(len(cut), n))
            self._program.add_rows(
                sp.hstack([sp.csr_array(-slopes[cut]), marks]), offset[cut], np.full(len(cut), np.inf)
            )
        broken = self._broken(v, scores)
        for high, low in broken:
            row = np.concatenate([self._rows.Z[high] - self._rows.Z[low], np.zeros(n)])[None, :]
            self._program.add_rows(row, np.array([self._lowest]), np.array([np.inf]))
        return np.inf if broken else float(loss.sum())

    def solve(self, seconds: float) -> tuple[Floats, float] | None:
        """The best v against the cuts so far, and the lower bound it gives; None if time ran out."""
        answer = self._program.solve(seconds)
        if answer.status is ProgramStatus.TIME_LIMIT:
            return None
        if answer.status is not ProgramStatus.OPTIMAL:
            raise RuntimeError(f"HiGHS ended with status '{answer.status}' on a feasible and bounded program")
        return answer.x[: self._rows.Z.shape[1]], answer.objective

    def _margin(self, v: Floats, pair: tuple[int, int]) -> float:
        return float((self._rows.Z[pair[0]] - self._rows.Z[pair[1]]) @ v)


def _sets(samples: Rows, scale: Floats) -> _Sets:
    Z = (samples.X - np.median(samples.X, axis=0)) / scale
    return _Sets(Z, samples.weights, _groups(samples.codes, samples.query))


def _groups(codes: Indices, query: Indices) -> list[tuple[Indices, Indices]]:
    groups = []
    for q in np.unique(query):
        members = np.flatnonzero(query == q)
        for code in np.unique(codes[members])[1:]:
            groups.append((members[codes[members] == code], members[codes[members] < code]))
    return groups


def _from_end(values: Floats) -> Floats:
    """Sums from every position to the end, and 0 past it."""
    sums = np.cumsum(values[::-1], axis=0)[::-1]
    return np.concatenate([sums, np.zeros_like(values[:1])])
