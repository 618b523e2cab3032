"""From sums over blocks, in the units of the data, to the terms that an iteration in scaled units adds to its rows."""

from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hullrank.problem.block_statement import BlockStatement, NearRows, no_rows
from hullrank.problem.block_survey import Survey
from hullrank.problem.certificate import paying_violations
from hullrank.problem.charges import Charge
from hullrank.problem.intervals import IntervalProblem, Penalty
from hullrank.problem.layout import RowLayout, bundle_table
from hullrank.problem.rows import ArrayRows
from hullrank.problem.statement import Point
from hullrank.solvers._scaled import scaled_price, without_ball
from hullrank.solvers.interior_point import Iterate, Settled
from hullrank.solvers.threshold_centres import centred_thresholds

Floats = NDArray[np.float64]


class Units:
    """Scaled and stated units of a statement: see ``ScaledProblem`` for what is scaled, and how.

    ``problem`` is the one to be solved, ``f`` the length of a row, ``price`` the factor of all costs, and ``back`` that
    of the multipliers of the order constraints on their way back.
    """

    def __init__(self, statement: BlockStatement) -> None:
        problem = statement.problem
        self.mean, self.f = statement.mean, statement.spread or 1.0
        self.ball = problem.penalty is Penalty.BALL
        self.problem, self.price = without_ball(problem), scaled_price(problem, self.f)
        self.back = 1 / self.price

    def ratio(self, iterate: Iterate) -> float:
        """A stated score over a scaled one; in the unit ball weights have norm 1, unless thresholds dwarf them."""
        if not self.problem.homogeneous:
            return 1.0
        norm = max(float(np.linalg.norm(iterate.w)), 1e-6 * float(np.ptp(iterate.theta))) if self.ball else 0.0
        return self.f / norm if norm > 0 else self.f**2

    def stated(self, iterate: Iterate) -> Point:
        """The point in stated units.

        Thresholds lose their last bits, so that they stay what they are when a margin is added and taken away again.
        """
        ratio = self.ratio(iterate)
        coef, theta = iterate.w * (ratio / self.f), self.problem.raise_thresholds(iterate.theta) * ratio
        if self.mean is not None:
            theta[: self.problem.n_thresholds] += self.mean @ coef
        size = float(np.abs(theta).max(initial=0.0)) + (0.0 if self.problem.homogeneous else 1.0)
        if 0.0 < size < np.inf:
            last = 2.0 ** (np.floor(np.log2(size)) - 49)
            theta = np.round(theta / last) * last
        return Point(coef, theta)

    def objective(self, iterate: Iterate, survey: Survey) -> float:
        """The objective of a surveyed iterate in scaled units."""
        problem = self.problem
        charge = survey.charge * self.price / self.ratio(iterate)
        return problem.penalty.of(iterate.w) + float(problem.linear @ iterate.theta) + charge


def fetched(statement: BlockStatement, survey: Survey, units: Units) -> NearRows:
    """The rows near their kink of all blocks, bundle by bundle, in scaled units; the survey hands them over."""
    problem = statement.problem
    if not survey.near:
        return replace(no_rows(problem, statement.size.n_features), unit=units.f)
    bundle = np.concatenate([near.bundle for near in survey.near])
    cost = np.concatenate([near.cost for near in survey.near])
    number = np.concatenate([near.number for near in survey.near])
    order = np.argsort(bundle, kind="stable")
    parts = [near.X for near in survey.near]
    survey.near.clear()
    if sp.issparse(parts[0]):
        rows = ArrayRows(sp.vstack(parts, format="csr")[order] / units.f)
    else:
        X = np.empty((len(order), parts[0].shape[1]), order="F")  # by column, so that weighing rows runs along memory
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        ends = np.cumsum([len(part) for part in parts])
        for end in ends:  # parts are let go one by one, so that rows are not held twice
            part = parts.pop(0)
            X[place[end - len(part) : end]] = part
        if units.mean is not None:
            X -= units.mean
        X /= units.f
        rows = ArrayRows(X)
    length = np.bincount(bundle, minlength=len(problem.bundles))
    table, first_rows = bundle_table(problem, np.cumsum(length) - length, length)
    layout = RowLayout(table, first_rows, np.arange(len(order)), cost[order], len(order))
    return NearRows(rows, layout, number[order], units.f)


def settled_terms(units: Units, survey: Survey, iterate: Iterate, near: NearRows) -> Settled:
    """What all rows but the fetched ones contribute: linear, or the quadratic model with their gradient."""
    problem, w, theta = units.problem, iterate.w, iterate.theta
    pull, totals = survey.pull * (units.price / units.f), survey.totals * units.price
    if problem.charge is Charge.HINGE and survey.window.fetch:
        return Settled(-pull, problem.flow(totals))
    if survey.window.fetch and near.layout.n_rows:
        alpha, sign = _squared_multipliers(units, iterate, near), problem.sign[near.layout.row_group]
        by_sample = np.bincount(near.layout.row_sample, sign * alpha, near.layout.n_samples).astype(np.float64)
        pull = pull - near.rows.adjoint(by_sample)
        totals = totals - np.bincount(near.layout.row_group, alpha, problem.n_groups)
    factor = units.price * units.ratio(iterate)
    H, T = survey.H * (factor / units.f**2), survey.weight * factor
    R = survey.weight_rows * (factor / units.f)
    terms = Settled(-pull, problem.flow(totals), H, R, T)
    gw, gtheta = terms.curved(problem, w, theta)
    return replace(terms, linear_w=terms.linear_w - gw, linear_theta=terms.linear_theta - gtheta)


def _squared_multipliers(units: Units, iterate: Iterate, near: NearRows) -> Floats:
    """Multipliers 2 cost v of fetched rows at the iterate; of two rows that share a slack, that of the larger v."""
    violation = paying_violations(units.problem, near.layout, iterate.theta, near.rows.scores(iterate.w))
    return 2 * units.price * near.layout.row_cost * np.maximum(violation, 0.0)


def pull_of(problem: IntervalProblem, terms: Settled, rows: ArrayRows, layout: RowLayout, point: Iterate) -> Floats:
    """X'(sign alpha) of all rows, the fetched and the settled ones."""
    pull = -np.asarray(terms.linear_w)
    if not np.isscalar(terms.H):
        pull = pull - terms.curved(problem, point.w, point.theta)[0]
    if layout.n_rows:
        alpha = problem.sign[layout.row_group] * layout.row_cost * point.multipliers
        pull = pull + rows.adjoint(np.bincount(layout.row_sample, alpha, layout.n_samples).astype(np.float64))
    return pull


def centred_beside(units: Units, survey: Survey, near: NearRows, layout: RowLayout, point: Iterate) -> Floats:
    """Thresholds of a hinge that are not unique in the middle of their optimal intervals.

    The kinks of fetched rows are known, and all others lie further away than the window, so that their slopes do not
    change; an interval that reaches beyond the window stays as it is.
    """
    problem = units.problem
    free = (point.multipliers > 0.01) & (point.multipliers < 0.99)
    if len(np.unique(problem.threshold[layout.row_group[free]])) == problem.n_thresholds:
        return point.theta  # every threshold is met by a row whose multiplier is inside its box
    slopes = problem.flow(survey.totals * units.price)[: problem.n_thresholds]
    theta = centred_thresholds(problem, layout, near.rows.scores(point.w), point.theta, slopes)
    reach = 0.5 * survey.window.width / units.ratio(point)
    return theta if np.all(np.abs(theta - point.theta) <= reach) else point.theta
