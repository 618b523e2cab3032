"""Many rows: solve on a sample, settle the rows that are clearly on one side of their kink, solve the rest exactly.

Most rows end with a multiplier of 0 or C. A sample tells which: rows whose violation is clear by more than the error
of the sampled solution are settled (hinge: a linear term), the kept ones solved by the interior-point method, and the
answer verified on all rows; missettled rows are kept in the next round. The certificate is always on all rows.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hullrank.problem.certificate import CertifiedPoint, Status, total_charge
from hullrank.problem.charges import Charge
from hullrank.problem.interval_statement import IntervalStatement
from hullrank.problem.layout import SLACK, START, RowLayout, bundle_table
from hullrank.problem.statement import Point
from hullrank.solvers._linear_system import DENSE_LIMIT
from hullrank.solvers._scaled import Best, ScaledProblem
from hullrank.solvers.base import Options
from hullrank.solvers.interior_point import Iterate, Settled, interior_point
from hullrank.solvers.newton import RowSorter, quadratic_terms, with_all_multipliers

Floats = NDArray[np.float64]
SMALLEST_SAMPLE = 2500
GROWTH = 8
CAUTION = 1.5  # widths are this many standard errors of the sampled scores
SOLUTION_CAUTION = 3.0  # and of a finished solution this many times the error that its gap allows
MOST_ROUNDS = 8
MOST_STEPS = 50  # of a round: more mean that rows were settled wrongly


def sample_sizes(statement: IntervalStatement | ScaledProblem) -> list[int]:
    """Sizes of the samples to solve first, ascending; none where all rows are few or every row is its own case."""
    m, n_features, n_classes = statement.size
    smallest = max(SMALLEST_SAMPLE, 20 * (n_features + len(statement.problem.linear)), 20 * n_classes)
    sizes: list[int] = []
    while (size := (sizes[0] if sizes else m) // GROWTH) >= smallest // 2:
        sizes.insert(0, max(size, smallest))
    return sizes


def solve_by_settling(scaled: ScaledProblem, tol: float, max_iter: int) -> tuple[Iterate, CertifiedPoint]:
    """Solve on samples of growing size, then on all rows; an interrupt ends it at the last point."""
    rng = np.random.default_rng(0)
    first, *others = sample_sizes(scaled)
    level = scaled.sampled(first, rng)
    point = interior_point(scaled.problem, level.rows, level.layout, tol=1e-3, max_iter=max_iter, verbose=level.verbose)
    best = Best(scaled, tol)
    try:
        for size in [*others, 0]:
            if point.status is Status.INTERRUPTED:
                break
            width = _settling_width(level, point)
            level = scaled.sampled(size, rng) if size else scaled
            point = _settled_solve(level, point, width, 1e-4 if size else tol, max_iter, None if size else best)
    except KeyboardInterrupt:
        point = replace(point, status=Status.INTERRUPTED)
    whole = len(point.multipliers) == scaled.layout.n_rows and point.status is not Status.INTERRUPTED
    return best.result(point if whole else with_all_multipliers(scaled, point))


def solve_from_start(
    scaled: ScaledProblem, start: Point, options: Options
) -> tuple[Iterate | None, CertifiedPoint | None]:
    """Settle the rows by a known solution, solve for the others and grade on all; None where that leads nowhere.

    A solution with relative gap tol has 1/2 |w - w*|^2 <= tol P, and rows have length 1 once scaled, so that scores
    are wrong by at most about sqrt(2 tol P); and with many rows by less than if the rows were only a sample of others.
    Rows further from their kink keep their side of it.
    """
    problem, tol = scaled.problem, options.tol
    kinked = problem.charge in (Charge.HINGE, Charge.SQUARED_HINGE)
    if not kinked or scaled.rows.n_features > DENSE_LIMIT or not start.coef.any():
        return None, None
    first = scaled.scaled_point(start)
    best = Best(scaled, tol)
    with np.errstate(all="ignore"):  # a start far off may overflow; the point is then graded as useless
        objective = problem.penalty.of(first.w) + float(problem.linear @ first.theta)
        objective += total_charge(problem, scaled.layout, first.theta, scaled.rows.scores(first.w))
        width = SOLUTION_CAUTION * float(np.sqrt(2 * tol * abs(objective)))
        _settled_solve(scaled, first, min(width, _settling_width(scaled, first)), tol, options.max_iter, best)
    return best.point, best.certified


def _settling_width(level: ScaledProblem, point: Iterate) -> float:
    """How far from its kink a row must be to be settled: the error of a sampled solution; all rows at a collapse."""
    spread = float(np.std(level.rows.scores(point.w)))
    freedom = level.rows.n_features + len(point.theta)
    return CAUTION * np.sqrt(freedom / level.n_samples) * spread if spread > 1e-3 else np.inf


def _settled_solve(
    level: ScaledProblem, point: Iterate, width: float, tol: float, max_iter: int, best: Best | None
) -> Iterate:
    """Rounds of settling, solving and verifying until ``best`` accepts (one round without it).

    Gives up where most rows must be kept, or two rounds fail: all rows from a cold start cost less then.
    """
    problem, rows = level.problem, level.rows
    sorter = RowSorter(level)
    s = rows.scores(point.w)
    mu = min(width, 1.0)
    failures, steps = 0, max_iter if np.isinf(width) else min(max_iter, MOST_STEPS)
    for turn in range(MOST_ROUNDS):
        paying = sorter.sort(s, point.theta, width)
        value = problem.penalty.of(point.w) + float(problem.linear @ point.theta) + paying.charge
        if problem.charge is Charge.HINGE:
            terms = Settled(-rows.adjoint(sorter.per_sample[1]), problem.flow(paying.group_weight))
        else:
            terms = quadratic_terms(level, paying)
        layout, positions = _kept_rows(level, sorter)
        if best is not None and np.isfinite(width) and (2 * len(positions) > len(sorter.keep) or failures == 2):
            return replace(point, status=Status.STALLED)
        before = point.iterations
        point = interior_point(
            problem, rows.take(positions), layout, tol=0.3 * tol, max_iter=steps, settled=terms,
            start=point, mu=mu, unit=abs(value), verbose=level.verbose,
        )  # fmt: skip
        point = replace(point, iterations=before + point.iterations)
        if best is None or point.status is Status.INTERRUPTED:
            break
        failures += point.status is not Status.CONVERGED
        s = rows.scores(point.w)
        if turn == 0:  # this point is far better than the sample's: fewer rows need to be kept from now on
            sorter.keep[:] = False
        a, _ = sorter.multipliers(s, point.theta, layout, point.multipliers)
        point = replace(point, multipliers=a)
        if best(point, s):
            return replace(point, status=Status.CONVERGED)
        width *= 0.5
    return point


def _kept_rows(level: ScaledProblem, sorter: RowSorter) -> tuple[RowLayout, NDArray[np.int64]]:
    """The layout of the kept slacks, and the samples they belong to, bundle by bundle."""
    problem, layout = level.problem, level.layout
    slacks = np.flatnonzero(sorter.keep)
    kept = sorter.kept
    table, first_rows = bundle_table(problem, np.cumsum(kept) - kept, kept)
    home = np.repeat(layout.table[:, START] - layout.table[:, SLACK], kept)
    part = RowLayout(table, first_rows, np.arange(len(slacks)), layout.cost[slacks], len(slacks))
    return part, slacks + home
