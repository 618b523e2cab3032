"""Class-based problems with a linear score: scale, solve, scale back."""

from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from hullrank.problem.certificate import EPSILON, CertifiedPoint, Status, total_charge
from hullrank.problem.charges import Charge
from hullrank.problem.interval_statement import IntervalStatement
from hullrank.problem.intervals import Penalty
from hullrank.problem.statement import Point, Solution
from hullrank.solvers import blocks
from hullrank.solvers._block_starts import sample_sizes
from hullrank.solvers._linear_system import DENSE_LIMIT
from hullrank.solvers._scaled import Best, ScaledProblem, scale_problem, without_small_weights
from hullrank.solvers.base import REGISTRY, Options, Solver, able, register
from hullrank.solvers.coordinate_descent import solve_by_coordinate_descent
from hullrank.solvers.interior_point import Iterate, interior_point
from hullrank.solvers.newton import solve_by_newton
from hullrank.solvers.threshold_centres import centred_thresholds

Floats = NDArray[np.float64]
FEW_ROWS = 500  # sparse rows up to which the matrix of their products is factored in no time
MANY_ROWS_A_CLASS = 20  # samples for every order constraint, below which classes are small
MOST_GROUP_SUMS = 50_000_000  # float64 numbers (400 MB) that the sums of all groups' rows may take
NEWTON = "semismooth Newton"
_INSEPARABLE_COST = 1e10  # price of a hinge at which an absurd norm proves that nothing separates the classes


def solve_intervals(
    statement: IntervalStatement, options: Options, *, start: Point | None = None, solver: str = "auto"
) -> Solution:
    """Solve a linear statement; ``solver`` is the name of one of the family "intervals", or "auto".

    "auto" begins at ``start``, if that is given, and otherwise with the first solver that takes the problem and its
    size; where it does not reach the tolerance, the last one that takes the problem is tried too.
    """
    problem = statement.problem
    solvers = able(statement)
    chosen = solvers[0] if solver == "auto" else REGISTRY[solver]
    started = start if start is not None and _may_start(statement, start) else None
    if started is not None and problem.charge.smooth:
        chosen = REGISTRY[NEWTON]
    elif started is not None:
        found = blocks.solve_from_start(statement.in_blocks(statement.size.n_samples), options, started)
        if found.status in (Status.CONVERGED, Status.INTERRUPTED):
            return found
    if chosen.name == blocks.NAME:
        found = blocks.solve_in_blocks(statement.in_blocks(_sizes(statement)[-1]), options)
        if found.status in (Status.CONVERGED, Status.INTERRUPTED) or solver != "auto":
            return found
        chosen = solvers[-1]
    scaled = scale_problem(statement, options.verbose)
    afresh = chosen is not solvers[-1]
    if chosen.name == NEWTON and started is not None:
        point, certified = solve_by_newton(scaled, options.tol, options.max_iter, started)
        afresh = True
    else:
        point, certified = _solve(chosen, scaled, options)
    if certified.relative_gap > options.tol and point.status is not Status.INTERRUPTED and afresh:
        chosen = solvers[-1]
        point, certified = _solve(chosen, scaled, options)
    if problem.charge is Charge.HARD and point.status in (Status.STALLED, Status.MAX_ITER):
        point, certified = _checked_separable(scaled, point, certified)
    if point.status is not Status.NOT_SEPARABLE:
        if problem.l1:
            point, certified = _exact_zeros(scaled, point, certified, options.tol)
        certified = _centre_thresholds(scaled, point, certified, options.tol)
    status = point.status
    if certified.relative_gap <= options.tol:
        status = Status.CONVERGED
    elif status is Status.CONVERGED:  # by the solver's own gap; on all rows it is still open
        status = Status.STALLED
    stated, multipliers = scaled.stated_point(statement, point, certified, options.tol)
    return Solution(stated, multipliers, status, point.iterations, chosen.name)


def _solve(solver: Solver, scaled: ScaledProblem, options: Options) -> tuple[Iterate, CertifiedPoint]:
    """Run a solver; more columns than rows are first rotated away, unless it goes through the entries of the rows."""
    wide = scaled.rows.n_features > scaled.n_samples and scaled.n_samples <= DENSE_LIMIT and not scaled.problem.l1
    if not wide or solver.sparse:
        return solver.solve(scaled, options.tol, options.max_iter)
    rows, lift = scaled.rows.in_row_space()
    point, certified = solver.solve(replace(scaled, rows=rows), options.tol, options.max_iter)
    point = replace(_repaired(point, certified), w=lift(point.w))
    return point, scaled.certify(point)


def _repaired(point: Iterate, certified: CertifiedPoint) -> Iterate:
    """The point with the thresholds and multipliers that its certificate has made feasible."""
    return replace(
        point, theta=certified.thresholds, multipliers=certified.multipliers,
        order_multipliers=certified.order_multipliers,
    )  # fmt: skip


def _solve_by_interior_point(scaled: ScaledProblem, tol: float, max_iter: int) -> tuple[Iterate, CertifiedPoint]:
    """The interior-point method on a copy of the rows in class order, with the best certified point."""
    copied = scaled.copied()
    best = Best(copied, tol)
    solve = partial(
        interior_point, scaled.problem, copied.rows, scaled.layout, tol=tol, max_iter=max_iter, accept=best,
        verbose=scaled.verbose,
    )  # fmt: skip
    return best.result(copied.solve_along_direction(solve))


def _checked_separable(
    scaled: ScaledProblem, point: Iterate, certified: CertifiedPoint
) -> tuple[Iterate, CertifiedPoint]:
    """A hinge at a huge cost proves that any separator of a hard margin would have an absurd norm.

    The norm is that of weights of standardised columns, so that neither their units nor, for sparse rows, their means
    make a difference.
    """
    problem = replace(scaled.problem, charge=Charge.HINGE, cost=_INSEPARABLE_COST)
    soft = replace(scaled, problem=problem, layout=replace(scaled.layout, cost=scaled.layout.cost * _INSEPARABLE_COST))
    found, graded = _solve_by_interior_point(soft, 1e-6, 200)
    rows, even = scaled.rows, scaled.prices / scaled.prices.sum()
    squares = rows.gram_operator(even).diagonal()
    deviation = np.sqrt(np.maximum(squares - rows.adjoint(even) ** 2, EPSILON * squares) + 1e-300)
    if scaled.mean is not None:  # columns that are constant but for rounding cannot separate anything
        deviation[scaled.factor * deviation <= 8 * EPSILON * np.abs(scaled.mean)] = np.inf
    norm = float(np.linalg.norm(rows.adjoint(graded.coef) / deviation))
    if graded.dual <= 1e6 * max(norm, 1.0) or graded.relative_gap > 1e-3:
        return point, certified
    found = replace(found, status=Status.NOT_SEPARABLE)
    return found, replace(certified, scale=1.0, thresholds=found.theta)


def _exact_zeros(
    scaled: ScaledProblem, point: Iterate, certified: CertifiedPoint, tol: float
) -> tuple[Iterate, CertifiedPoint]:
    """Drop small weights, if the certificate stays as good."""
    w = without_small_weights(point.w, scaled.rows.adjoint(certified.coef))
    trial = replace(_repaired(point, certified), w=w)
    graded = scaled.certify(trial)
    return (trial, graded) if graded.relative_gap <= max(tol, certified.relative_gap) else (point, certified)


def _centre_thresholds(scaled: ScaledProblem, point: Iterate, certified: CertifiedPoint, tol: float) -> CertifiedPoint:
    """Thresholds that are not unique go to the middle of their optimal intervals, graded again."""
    if scaled.problem.homogeneous or (scaled.problem.charge is Charge.HINGE and _all_pinned(scaled, certified)):
        return certified
    s = scaled.rows.scores(point.w)
    theta = centred_thresholds(scaled.problem, scaled.layout, s, certified.thresholds)
    if theta is certified.thresholds or not np.isfinite(theta).all():  # rows that are not separated leave no interval
        return certified
    if scaled.problem.charge is Charge.HARD:
        moved = scaled.certify(replace(_repaired(point, certified), theta=theta), s)
    else:  # the lower bound does not depend on thresholds
        objective = scaled.problem.penalty.of(point.w) + float(scaled.problem.linear @ theta)
        primal = objective + total_charge(scaled.problem, scaled.layout, theta, s)
        moved = replace(certified, primal=primal, thresholds=theta)
    return moved if moved.relative_gap <= max(tol, certified.relative_gap) else certified


def _all_pinned(scaled: ScaledProblem, certified: CertifiedPoint) -> bool:
    """Whether every threshold has its place at any optimum.

    A row with a multiplier strictly inside its box meets its threshold there, and two thresholds whose order constraint
    has a multiplier are as close as that allows.
    """
    problem, layout = scaled.problem, scaled.layout
    free = (certified.multipliers > 0.01) & (certified.multipliers < 0.99)
    pinned = np.zeros(len(problem.linear), dtype=bool)
    pinned[problem.threshold[layout.row_group[free]]] = True
    if not pinned.all():
        tied = (certified.order_multipliers > 0.01 * layout.cost.mean()) & (problem.low >= 0)
        ties = list(zip(problem.low[tied].tolist(), problem.up[tied].tolist(), strict=True))
        for one, other in [*ties, *((up, low) for low, up in reversed(ties))]:
            pinned[other] |= pinned[one]
    return bool(pinned.all())


def takes_newton_steps(statement: IntervalStatement) -> bool:
    """Whether the semismooth Newton method takes the statement, dense and of few columns."""
    few = statement.size.n_features <= DENSE_LIMIT and not statement.is_sparse
    return few and REGISTRY[NEWTON].refuses(statement) is None


def _newton_limits(statement: IntervalStatement) -> str | None:
    size = statement.size
    if statement.problem.charge is Charge.SQUARED_HINGE and size.n_samples <= DENSE_LIMIT:
        return "few rows are solved faster by the interior-point method"
    crowded = MANY_ROWS_A_CLASS * len(statement.problem.up) > size.n_samples
    if statement.problem.charge is Charge.SQUARED_HINGE and crowded:
        return "order constraints of many small classes bind, so that each step would be an interior-point solve"
    return _group_limits(statement)


def _group_limits(statement: IntervalStatement) -> str | None:
    """Normal equations need the sum of every group's rows, which are dense."""
    size, n_groups = statement.size, statement.problem.n_groups
    if not statement.is_sparse or size.n_features <= DENSE_LIMIT or size.n_samples <= DENSE_LIMIT:
        return None
    if n_groups * size.n_features > MOST_GROUP_SUMS:
        return (
            f"normal equations would hold dense sums of {n_groups} groups of rows in {size.n_features} columns; use "
            "fewer classes or columns, or a problem that coordinate descent takes (finite C, intervals='proper')"
        )
    if REGISTRY["dual coordinate descent"].refuses(statement) is None:
        return "conjugate gradients take long on so many sparse rows, which coordinate descent solves"
    return None


def _sizes(statement: IntervalStatement) -> list[int]:
    return sample_sizes(statement.size, len(statement.problem.linear))


def _may_start(statement: IntervalStatement, start: Point) -> bool:
    """Whether a start tells which rows can be settled or, of a smooth charge, where Newton's method may begin."""
    size, charge = statement.size, statement.problem.charge
    if size.n_features > DENSE_LIMIT or not start.coef.any():
        return False
    if charge.smooth:
        return size.n_features <= size.n_samples and REGISTRY[NEWTON].refuses(statement) is None
    return charge in (Charge.HINGE, Charge.SQUARED_HINGE)


def _block_limits(statement: IntervalStatement) -> str | None:
    if not _sizes(statement):
        return "settling rows needs many more rows than columns and classes"
    if statement.size.n_features > DENSE_LIMIT:
        return "settling rows needs columns few enough for normal equations"
    return None


def _sparse_limits(statement: IntervalStatement) -> str | None:
    size = statement.size
    if not statement.is_sparse:
        return "coordinate descent goes through the stored entries of sparse rows, and these are dense"
    if size.n_features <= DENSE_LIMIT or size.n_samples <= FEW_ROWS:
        return "few columns or rows are solved faster by normal equations"
    return None


_linear = partial(Solver, family="intervals")
register(
    _linear(
        "dual coordinate descent", charges=(Charge.HINGE, Charge.SQUARED_HINGE, Charge.LOGISTIC),
        solve=solve_by_coordinate_descent, penalties=tuple(Penalty), shared_slacks=False,
        sparse=True, limits=_sparse_limits,
    ),
    _linear(
        blocks.NAME, charges=(Charge.HINGE, Charge.SQUARED_HINGE, Charge.LOGISTIC), solve=blocks.solve_in_blocks,
        penalties=tuple(Penalty), limits=_block_limits,
    ),
    _linear(
        NEWTON, charges=(Charge.SQUARED_HINGE, Charge.LOGISTIC), solve=solve_by_newton,
        penalties=tuple(Penalty), shared_slacks=False, limits=_newton_limits,
    ),
    _linear(
        "interior point", charges=(Charge.HINGE, Charge.SQUARED_HINGE, Charge.HARD), solve=_solve_by_interior_point,
        penalties=tuple(Penalty), limits=_group_limits,
    ),
)  # fmt: skip
