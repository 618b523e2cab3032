"""The linear relaxation of P_AUC(eps), with its pairs implicit.

With 0 <= z <= 1 the best z_p is min(1, 1 - eps + D_p.w), so the relaxation is the all-pairs hinge of margin eps:

    min sum_p g_p max(0, eps - D_p.w)   with  D_p.w >= eps - 1,  |w_j| <= 1.

A sample i gives one variable xi_i >= g_i sum_{k in V} g_k (eps - s_i + s_k) for every set V of samples it should
beat: the set violated at the current scores is found by sorting, so no pair is ever stored, and finitely many sets
give the optimum.
"""

import time
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hullrank.exact.grid import column_scale
from hullrank.exact.rows import Rows
from hullrank.problem.certificate import EPSILON, Status
from hullrank.problem.statement import Grade, Point, Solution
from hullrank.solvers.base import Options, Solver, register
from hullrank.solvers.linear_program import GrowingProgram, LinearProgram, ProgramStatus
from hullrank.solvers.solve import solve_stated

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
_DIGITS = 1e-9  # by which a constraint may be missed, relative
_PATIENCE = 50  # rounds in which the gap must fall by a hundredth, or rounding holds it up
_NOTHING = 1e-3  # of the weight of all pairs: a smaller optimum counts as 0


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
class Cuts:
    """Multipliers of cuts, which prove a lower bound.

    ``trials`` are the points (in scaled coordinates) at which cuts were made, ``multipliers`` (trials, samples) those
    of each sample's cut there. ``pairs`` are those whose constraint D.v >= lowest was needed, with their multipliers.
    """

    trials: Floats
    multipliers: Floats
    pairs: Indices
    pair_multipliers: Floats


@dataclass(frozen=True)
class RelaxationStatement:
    """The relaxation of the AUC of some samples, with margin epsilon."""

    rows: Rows
    epsilon: float
    family: ClassVar[str] = "relaxation"

    @cached_property
    def scale(self) -> Floats:
        """What every column is divided by."""
        return column_scale(self.rows.X)

    @cached_property
    def sets(self) -> _Sets:
        """The samples that compare, in scaled coordinates."""
        Z = (self.rows.X - np.median(self.rows.X, axis=0)) / self.scale
        return _Sets(Z, self.rows.weights, _groups(self.rows.codes, self.rows.query))

    @property
    def box(self) -> Floats:
        """The largest |v_j|, v = w * scale / epsilon."""
        return self.scale / self.epsilon

    @property
    def lowest(self) -> float:
        """The least difference of scores of a pair, in units of epsilon."""
        return 1.0 - 1.0 / self.epsilon

    @property
    def n_order_constraints(self) -> int:
        """Number of pairs."""
        return sum(len(high) * len(low) for high, low in self.sets.groups)

    @cached_property
    def pair_weight(self) -> float:
        """The weight of all pairs."""
        weights = self.rows.weights
        return sum(float(weights[high].sum() * weights[low].sum()) for high, low in self.sets.groups)

    def objective(self, point: Point) -> float:
        """The hinge sum of weights in units of epsilon, or infinity where they break a constraint."""
        if np.abs(point.coef).max(initial=0.0) > 1 + _DIGITS:
            return float("inf")
        v = point.coef * self.box
        scores = self.sets.Z @ v
        offset, slopes = self.sets.cuts(scores)
        return np.inf if self.broken(v, scores) else float(np.maximum(offset + slopes @ v, 0.0).sum())

    def broken(self, v: Floats, scores: Floats) -> list[tuple[int, int]]:
        """The worst pair of every query and grade, where it lies below the lowest difference."""
        worst = self.sets.worst_pairs(scores)
        return [pair for pair in worst if self.margin(v, pair) < self.lowest * (1 + _DIGITS)]

    def margin(self, v: Floats, pair: tuple[int, int]) -> float:
        """The difference of a pair's scores."""
        return float((self.sets.Z[pair[0]] - self.sets.Z[pair[1]]) @ v)

    def grade(self, point: Point, evidence: Cuts, scores: Floats | None = None) -> Grade:
        """Objective of the point, and the bound that the cuts prove.

        With multipliers y >= 0 of the cuts, at most 1 for a sample in all, and b >= 0 of pairs, the objective of any
        feasible v is at least sum y offset + sum b lowest - sum_j box_j |sum y slopes - sum b D|_j.
        """
        y = np.maximum(evidence.multipliers, 0.0)
        y = y / np.maximum(y.sum(axis=0), 1.0)
        gain, pull = 0.0, np.zeros(len(self.box))
        for trial, share in zip(evidence.trials, y, strict=True):
            if share.any():
                offset, slopes = self.sets.cuts(self.sets.Z @ trial)
                gain += float(share @ offset)
                pull += share @ slopes
        b = np.maximum(evidence.pair_multipliers, 0.0)
        high, low = evidence.pairs.reshape(-1, 2).T
        pull -= b @ (self.sets.Z[high] - self.sets.Z[low])
        lost = self.lowest * float(b.sum())
        held = float(self.box @ np.abs(pull))
        reach = float(np.abs(self.rows.X).max(axis=0, initial=0.0) @ np.abs(point.coef)) / self.epsilon  # of scores
        noise = 4 * EPSILON * gain + 2 * _DIGITS * (abs(lost) + held)
        digits = 2 * EPSILON * (1 + reach) * self.pair_weight  # of the scores that the weights predict
        dual = max(0.0, gain + lost - held - noise) - digits
        return Grade(self.objective(point), dual, noise + digits, floor=_NOTHING * self.pair_weight)


@solve_stated.register
def relax(statement: RelaxationStatement, options: Options, start: Any = None, seconds: float = np.inf) -> Solution:
    """Solve the relaxation by cuts, in u = w / eps, so that the margin is 1; Ctrl-C keeps the best so far.

    The first cuts are made at the weights of ``start``, and none after so many seconds.
    """
    deadline = time.perf_counter() + seconds
    master = _Master(statement)
    first = _least_squares(statement.sets.Z, statement.rows) if start is None else start.coef * statement.box
    best = trial = master.inside(first)
    primal, status, rounds = np.inf, Status.MAX_ITER, 0
    least, since = np.inf, 0
    try:
        for rounds in range(1, options.max_iter + 1):
            value = master.add(trial)
            if value < primal:
                primal, best = value, trial
            left = deadline - time.perf_counter()
            answer = master.solve(left) if left > 0 else ProgramStatus.TIME_LIMIT
            if isinstance(answer, ProgramStatus):
                status = Status.TIME_LIMIT if answer is ProgramStatus.TIME_LIMIT else Status.STALLED
                break
            centre, dual = answer
            if primal - dual <= 0.5 * options.tol * max(primal, _NOTHING * statement.pair_weight):
                status = Status.CONVERGED
                break
            if primal - dual < 0.99 * least:
                least, since = primal - dual, rounds
            elif rounds - since >= _PATIENCE:
                status = Status.STALLED
                break
            trial = centre if rounds % 2 == 0 else 0.5 * (centre + best)
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
    return Solution(Point(best / statement.box), master.evidence(), status, rounds, "cutting planes")


class _Master:
    """The program over v and one loss per sample, and the cuts it has so far."""

    def __init__(self, statement: RelaxationStatement) -> None:
        self.statement, self.sets = statement, statement.sets
        n, d = self.sets.Z.shape
        self.trials: list[Floats] = []
        self.row_trial: list[int] = []  # of each row of the program; -1 for the constraint of a pair
        self.row_sample: list[int] = []  # the sample of a cut, or the number of the pair
        self.pairs: list[tuple[int, int]] = []
        self.row_duals = np.empty(0)
        box = statement.box
        self.program = GrowingProgram(
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
        lowest, box = self.statement.lowest, self.statement.box
        worst = min(self.statement.margin(v, pair) for pair in self.sets.worst_pairs(self.sets.Z @ v))
        shrink = min(1.0, lowest / worst if worst < lowest else 1.0)
        return v * min(shrink, float((box / np.maximum(np.abs(v), 1e-300)).min()))

    def add(self, v: Floats) -> float:
        """Cuts at v; returns the hinge sum there, or infinity if v breaks D.v >= lowest."""
        n = len(self.sets.Z)
        scores = self.sets.Z @ v
        offset, slopes = self.sets.cuts(scores)
        cut = np.flatnonzero(offset > 0)
        if len(cut):
            marks = sp.csr_array((np.ones(len(cut)), (np.arange(len(cut)), cut)), shape=(len(cut), n))
            self.program.add_rows(
                sp.hstack([sp.csr_array(-slopes[cut]), marks]), offset[cut], np.full(len(cut), np.inf)
            )
        self.row_trial += [len(self.trials)] * len(cut)
        self.row_sample += cut.tolist()
        self.trials.append(v)
        broken = self.statement.broken(v, scores)
        for high, low in broken:
            row = np.concatenate([self.sets.Z[high] - self.sets.Z[low], np.zeros(n)])[None, :]
            self.program.add_rows(row, np.array([self.statement.lowest]), np.array([np.inf]))
            self.row_trial.append(-1)
            self.row_sample.append(len(self.pairs))
            self.pairs.append((high, low))
        return np.inf if broken else float((offset + slopes @ v).sum())

    def solve(self, seconds: float) -> tuple[Floats, float] | ProgramStatus:
        """The best v against the cuts so far, and the lower bound it gives; or how HiGHS ended without them."""
        answer = self.program.solve(seconds)
        if answer.status is not ProgramStatus.OPTIMAL:
            return answer.status
        self.row_duals = answer.row_duals
        return answer.x[: self.sets.Z.shape[1]], answer.objective

    def evidence(self) -> Cuts:
        """The multipliers of the last solve."""
        known = len(self.row_duals)
        trial, sample = np.array(self.row_trial[:known], int), np.array(self.row_sample[:known], int)
        of_pair = trial < 0
        multipliers, pair_multipliers = np.zeros((len(self.trials), len(self.sets.Z))), np.zeros(len(self.pairs))
        np.add.at(multipliers, (trial[~of_pair], sample[~of_pair]), self.row_duals[~of_pair])
        np.add.at(pair_multipliers, sample[of_pair], self.row_duals[of_pair])
        return Cuts(np.array(self.trials), multipliers, np.array(self.pairs, int).reshape(-1, 2), pair_multipliers)


def _least_squares(Z: Floats, rows: Rows) -> Floats:
    """Weights whose scores come nearest to the codes; more columns than rows reach them, and no pair is then lost."""
    root = np.sqrt(rows.weights)
    with_constant = np.column_stack([Z, np.ones(len(Z))])
    found = np.linalg.lstsq(root[:, None] * with_constant, root * rows.codes)[0][:-1]
    return found * (1 + 1e-6)  # neighbouring codes are 1 apart, which is the margin: rounding may not miss it


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


register(Solver("cutting planes", "relaxation", relax))
