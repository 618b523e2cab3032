"""Interval problems on scaled rows, and the record of the best certified point."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hullrank.problem.block_statement import BlockStatement
from hullrank.problem.certificate import EPSILON, CertifiedPoint, Status, certify_intervals, total_charge
from hullrank.problem.charges import Charge
from hullrank.problem.interval_statement import IntervalStatement, Multipliers
from hullrank.problem.intervals import IntervalProblem, Penalty
from hullrank.problem.layout import RowLayout
from hullrank.problem.rows import GroupSums, Rows
from hullrank.problem.statement import Point
from hullrank.solvers.interior_point import Iterate

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ScaledProblem:
    """An interval problem on rows scaled to rms|x| = 1, so that tolerances mean the same for all data.

    With rows z = (x - mean) / f: w = w' / f and cost' = f^2 cost (f cost under L1); homogeneous problems keep their
    cost and have w = f w', theta = f^2 theta'. Thresholds absorb the mean. The unit ball |w| <= 1 gives way to
    1/2 |w|^2, which has the same direction at the optimum of a homogeneous problem. ``starts`` are the classes' first
    rows, and ``prices`` the rows' weights with the factor of the cost.
    """

    problem: IntervalProblem
    rows: Rows
    starts: NDArray[np.integer]
    prices: Floats
    layout: RowLayout
    factor: float = 1.0
    mean: Floats | None = None
    verbose: int = 0

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return len(self.prices)

    @cached_property
    def group_sums(self) -> GroupSums:
        """The map from values per row to sums of values times the row's sample, by group."""
        return self.rows.group_sums(self.layout)

    def certify(self, point: Iterate, scores: Floats | None = None, lost: float | None = None) -> CertifiedPoint:
        """Grade a point; ``lost`` is the total charge of its rows, if it is known."""
        penalty = self.problem.penalty
        return certify_intervals(
            self.problem,
            self.layout,
            self.rows.scores(point.w) if scores is None else scores,
            penalty.of(point.w),
            lambda coef: penalty.dual_of(self.rows.adjoint(coef)),
            point.theta,
            point.multipliers,
            point.order_multipliers,
            lost=lost,
        )

    def copied(self) -> "ScaledProblem":
        """The problem on a copy of the rows, in class order."""
        return replace(self, rows=self.rows.copied)

    def origin(self) -> Iterate:
        """Weights of 0, with thresholds about 0 in their order."""
        theta = self.problem.raise_thresholds(np.zeros(len(self.problem.linear)))
        multipliers = np.ones(len(self.problem.up))
        return Iterate(np.zeros(self.rows.n_features), theta - theta.mean(), np.empty(0), multipliers)

    def along_direction(self) -> tuple[Iterate | None, float]:
        """The best multiple of the problem's direction, and the complementarity to begin with there; or None, and 1.

        Along it the objective is l^2/2 |w|^2 + l (linear.theta + charge), which has a known minimum. Products of half
        the size of a usual margin are neither too close to the kinks nor too far from them.
        """
        problem, layout = self.problem, self.layout
        if problem.direction is None or len(problem.direction[0]) != self.rows.n_features:
            return None, 1.0
        point = scaled_point(problem, Point(*problem.direction), self.factor, self.mean)
        s = self.rows.scores(point.w)
        margins = layout.spread(problem.sign) * s[layout.row_sample] - layout.spread(problem.offsets(point.theta))
        square = float(point.w @ point.w)
        gain = float(layout.row_cost @ np.minimum(margins, 0.0)) - float(problem.linear @ point.theta)
        usual = float(layout.row_cost @ np.abs(margins)) / float(layout.cost.sum())
        if not min(gain, square, usual) > 0:
            return None, 1.0
        best = gain / square
        return replace(point, w=best * point.w, theta=best * point.theta), 0.5 * best * usual

    def solve_along_direction(self, solve: Callable[..., Iterate]) -> Iterate:
        """What ``solve`` finds from ``along_direction``; where it stalls, what it finds from its own start."""
        start, mu = self.along_direction()
        found = solve(start=start, mu=mu)
        return solve() if start is not None and found.status is Status.STALLED else found

    def stated_point(
        self, statement: IntervalStatement, point: Iterate, certified: CertifiedPoint, tol: float
    ) -> tuple[Point, Multipliers]:
        """A certified point in the units of the statement, and its multipliers."""
        stated = statement.problem
        f, homogeneous = self.factor, stated.homogeneous
        scale = certified.scale if np.isfinite(certified.scale) else 1.0
        if homogeneous:  # w = 0 only where it is proven that nothing is better
            scale = 0.0 if -certified.dual <= tol * certified.floor else 1.0
        w = point.w * scale * (f if homogeneous else 1 / f)
        theta = certified.thresholds * scale * (f * f if homogeneous else 1.0)
        if stated.penalty is Penalty.BALL and (norm := float(np.linalg.norm(w))) > 0:
            w, theta = w / norm, theta / norm
        if self.mean is not None:
            theta[: stated.n_thresholds] += self.mean @ w
        if stated.charge is Charge.HARD:
            w, theta = _feasible(statement, w, theta)
        back = 1 / scaled_price(stated, f)
        return Point(w, theta), Multipliers(certified.multipliers, back * certified.order_multipliers)


def _feasible(statement: IntervalStatement, w: Floats, theta: Floats) -> tuple[Floats, Floats]:
    """The multiple of a hard-margin point whose scores, as they are computed from X, miss no margin."""
    problem, layout = statement.problem, statement.layout
    for _ in range(5):
        scores = statement.scores(Point(w))[statement.samples.rows]
        theta = _meeting_rows(problem, layout, problem.raise_thresholds(theta), scores)
        short = float(np.max(problem.gap - problem.order_gaps(theta), initial=0.0))
        lost = max(total_charge(problem, layout, theta, scores), short)
        if lost <= 8 * EPSILON * (1 + np.abs(scores).max(initial=0.0)) or lost >= 0.5:
            break
        scale = (1 + 4 * EPSILON) / (1 - 2 * lost)
        w, theta = w * scale, theta * scale
    return w, theta


def _meeting_rows(problem: IntervalProblem, layout: RowLayout, theta: Floats, scores: Floats) -> Floats:
    """Thresholds moved to where they meet the rows that keep no distance from them, as the ends of intervals do."""
    ends = np.flatnonzero(problem.offset == 0)
    if not len(ends):
        return theta
    group = layout.row_group
    miss = np.zeros(len(problem.sign))
    apart = problem.sign[group] * (scores[layout.row_sample] - theta[problem.threshold[group]])
    np.maximum.at(miss, group, -apart)
    moved = theta.copy()
    moved[problem.threshold[ends]] -= problem.sign[ends] * miss[ends]
    return moved


def scaled_point(problem: IntervalProblem, point: Point, f: float, mean: Floats | None) -> Iterate:
    """A stated point in scaled units, without multipliers of the rows."""
    w, theta = point.coef, point.thresholds.copy()
    if mean is not None:
        theta[: problem.n_thresholds] -= mean @ w
    w, theta = (w / f, theta / (f * f)) if problem.homogeneous else (w * f, theta)
    return Iterate(w, problem.raise_thresholds(theta), np.empty(0), np.ones(len(problem.up)))


def scaled_price(problem: IntervalProblem, f: float) -> float:
    """The factor of all costs on the way to rows that were divided by f."""
    return 1.0 if problem.homogeneous else (f if problem.l1 else f * f)


def without_ball(problem: IntervalProblem) -> IntervalProblem:
    """The problem with 1/2 |w|^2 in place of |w| <= 1: the optimum of a homogeneous problem has the same direction."""
    return problem.with_terms(penalty=Penalty.L2) if problem.penalty is Penalty.BALL else problem


def without_small_weights(w: Floats, pull: Floats) -> Floats:
    """Weights under L1 with exact zeros where they are small beside the room left in |pull_j| <= 1, pull = X'alpha."""
    room = 1 - np.abs(pull)
    return np.where((np.abs(w) > 1e-3 * room) | (room < 1e-6), w, 0.0)


def scale_problem(statement: IntervalStatement | BlockStatement, verbose: int = 0) -> ScaledProblem:
    """The problem of a linear statement in scaled units."""
    problem, view, layout = statement.problem, statement.view, statement.layout
    rows = view.take(np.arange(view.n_rows)) if view.is_far_off else view
    f = view.scale
    price = scaled_price(problem, f)
    prices = statement.samples.weights[statement.samples.rows] * price
    scaled = replace(layout, cost=layout.cost * price) if price != 1.0 else layout
    return ScaledProblem(
        without_ball(problem), rows, statement.samples.starts, prices, scaled, f, view.taken_out, verbose
    )


class Best:
    """Keeps the best certified point; called with a point it tells whether that one ends the solve."""

    def __init__(self, scaled: ScaledProblem, tol: float) -> None:
        self.scaled, self.tol = scaled, tol
        self.point: Iterate | None = None
        self.certified: CertifiedPoint | None = None

    def __call__(self, point: Iterate, scores: Floats | None = None, lost: float | None = None) -> bool:
        certified = self.scaled.certify(point, scores, lost)
        if self.certified is None or certified.relative_gap < self.certified.relative_gap:
            self.point, self.certified = replace(point, w=point.w.copy()), certified
        return certified.relative_gap <= self.tol

    def result(self, last: Iterate) -> tuple[Iterate, CertifiedPoint]:
        """The best point, with the ending of the last one."""
        if last.status is not Status.CONVERGED or self.certified is None:
            self(last)
        assert self.point is not None
        assert self.certified is not None
        return replace(self.point, iterations=last.iterations, status=last.status), self.certified
