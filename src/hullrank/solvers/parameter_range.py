"""For which nu or C a homogeneous interval problem (nu margin, sum of margins) has a ranking as its optimum.

Its dual needs multipliers 0 <= alpha <= cost that carry the flow linear + N'(F, t) = 0 (F the groups' sums). The drive

    kappa = max { k : k linear + N'(F, t) = 0, 0 <= alpha_r <= weight_r, t >= 0 }

is the largest linear term that unit costs can carry; beyond it the primal is unbounded. With X'(sign alpha) = 0 added
(or, for a weight of required sign, with no pull to the allowed side) it is the largest one at which w = 0 is optimal.
Both are linear programs. Their duals ask for a *direction* (w, theta) with linear.theta = -1 whose hinges cost least,
w = 0 in the first, so that the cost of any direction is an upper bound. Over very many classes the second one is solved
by a few interval problems instead (``_falling_drives``).
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hullrank.data import Samples
from hullrank.exceptions import HullrankError
from hullrank.problem.certificate import total_charge
from hullrank.problem.column_moments import beyond_rounding
from hullrank.problem.intervals import IntervalProblem
from hullrank.problem.layout import RowLayout, lay_out
from hullrank.problem.measured_rows import sorted_rows
from hullrank.problem.rows import Rows, linear_scores
from hullrank.problem.signs import Signs
from hullrank.problem.statement import Point
from hullrank.solvers.interior_point import interior_point
from hullrank.solvers.linear_program import solve_lp

Floats = NDArray[np.float64]
MANY_MORE = 20  # rows for every equation, from which the interior-point method is faster than HiGHS
SHARE = 0.01  # weight of the drive and of the flows in that method, as a share of that of all rows
MOST_ROWS = 2500  # larger data are thinned out class by class before the linear program over rows
MANY_CLASSES = 5000  # rows of thinned data, one for every class, from which the linear program takes too long
MOST_CLASSES = 30_000  # such rows that the linear program still takes in some twenty seconds, for required signs
MOST_DRIVES = 20  # interval problems that are solved instead of it where no signs are required
NARROW = 1e-6  # share of the largest drive below which a range is empty
DIGITS = 1e-9  # fall of the drive, as a share of the largest one, that counts as none


class Collapse(NamedTuple):
    """The drive up to which w = 0 is optimal, and the direction in which a ranking begins there (None: not known)."""

    drive: float
    direction: Point | None


def unbounded_drive(problem: IntervalProblem, samples: Samples) -> float:
    """The drive beyond which the primal is unbounded.

    A threshold below 0 costs the weight of the rows that must lie below it, one above 0 that of the others. Thresholds
    of a chain rise, so that some first ones are negative and all others positive. The margin rho = 1 of the nu problem
    drives every chain, whose thresholds are then best at -1 or 1, where rows pay 2 or nothing. The sum of margins is 1
    if all thresholds up to some a_j are -1 and the others 0, or all from some b_j on are 1.
    """
    weight = samples.class_weight[problem.group_class]
    n = problem.n_thresholds
    below = np.bincount(problem.threshold, np.where(problem.sign < 0, weight, 0.0), n)
    above = np.bincount(problem.threshold, np.where(problem.sign > 0, weight, 0.0), n)
    first = np.ones(n, dtype=bool)  # whether a threshold is the first one of its chain
    first[problem.up[problem.low >= 0]] = False
    ends = np.flatnonzero(first)[1:]
    costs = [
        (np.append(0.0, np.cumsum(negative)), np.append(np.cumsum(positive[::-1])[::-1], 0.0))
        for negative, positive in zip(np.split(below, ends), np.split(above, ends), strict=True)
    ]
    if problem.has_rho:
        return float(sum(2 * (lower + upper).min() for lower, upper in costs))
    return float(min(min(lower[1::2].min(), upper[1::2].min()) for lower, upper in costs))


def collapse_drive(
    problem: IntervalProblem, samples: Samples, signs: Signs | None = None, *, high: float = np.inf, rough: float = 0.0
) -> Collapse:
    """The drive up to which w = 0 is optimal, and the direction whose cost it is.

    Where rows are very many, the direction is that of some of them; its cost over all rows is more than the drive by
    about the number of columns and thresholds as a share of twice these rows. ``rough`` is the share of what lies
    between the drive and ``high``, the drive beyond which the primal is unbounded, by which it may be more.
    """
    some = _thin(samples)
    view = sorted_rows(some)
    layout, rows = lay_out(problem, some.starts, some.weights[some.rows]), view.copied
    q, n = len(problem.linear), problem.n_thresholds
    if rows.n_rows > MANY_CLASSES and signs is None:
        highest = unbounded_drive(problem, some)
        w, theta = _falling_drives(problem, layout, rows, highest, rough)
        if not w.any():
            return Collapse(highest, None)
    elif rows.n_rows > MOST_CLASSES:
        raise HullrankError(
            f"where a ranking with required signs begins is found for at most {MOST_CLASSES} classes, and these are "
            f"{samples.n_classes}; join classes, leave out monotonic_cst, or use FixedMarginClassifier"
        )
    else:
        y = _multipliers(problem, layout, rows, signs, high, rough)
        w, theta = -y[q:], problem.raise_thresholds(y[:q])
    size = -float(problem.linear @ theta)
    if not size > 0:
        return Collapse(0.0, None)
    w, theta = w / size, theta / size
    coef, thresholds = w / view.scale, theta.copy()
    if view.taken_out is not None:
        thresholds[:n] += view.taken_out @ coef
    if some is samples:
        drive = total_charge(problem, layout, theta, rows.scores(w))
    else:
        drive = _cost(problem, samples, Point(coef, thresholds))
    return Collapse(beyond_rounding(drive, float(samples.weights.sum())), Point(coef, thresholds))


def _cost(problem: IntervalProblem, samples: Samples, point: Point) -> float:
    """The hinges of a direction over all rows, group by group: laying out very many of them takes longer."""
    scores = linear_scores(samples.X, point.coef)[samples.rows]
    weights, starts, total = samples.weights[samples.rows], samples.starts.tolist(), 0.0
    offsets = problem.offsets(point.thresholds).tolist()
    for c, sign, offset in zip(problem.group_class.tolist(), problem.sign.tolist(), offsets, strict=True):
        part = slice(starts[c], starts[c + 1])
        total += float(weights[part] @ np.maximum(offset - sign * scores[part], 0.0))
    return total


def _falling_drives(
    problem: IntervalProblem, layout: RowLayout, rows: Rows, high: float, rough: float
) -> tuple[Floats, Floats]:
    """A direction (w, theta) of nearly the least cost, by problems whose drive falls towards that cost; w = 0 if none.

    At the optimum of a drive, drive * size - cost is |w|^2, and over all directions of |w| = 1 the largest drive * size
    - cost is convex in the drive. The cost of the best direction at one drive is the step of Newton's method for its
    root (Dinkelbach 1967), so that drives fall towards it and never below. Each step is an interior-point solve, whose
    time is linear in the number of classes.
    """
    w, theta, drive = np.zeros(rows.n_features), np.zeros(len(problem.linear)), high * (1 - NARROW)
    for _ in range(MOST_DRIVES):
        driven = problem.with_terms(linear=drive * problem.linear)
        point = interior_point(driven, rows, layout, tol=1e-3)
        thresholds = problem.raise_thresholds(point.theta)
        size = -float(problem.linear @ thresholds)
        cost = total_charge(problem, layout, thresholds, rows.scores(point.w))
        if not cost < drive * size:
            break
        w, theta, before, drive = point.w, thresholds, drive, cost / size
        if before - drive <= max(rough * (high - drive), DIGITS * high):
            break
    return w, theta


def _multipliers(
    problem: IntervalProblem, layout: RowLayout, rows: Rows, signs: Signs | None, high: float, rough: float
) -> Floats:
    """Multipliers (theta, -w) of the equations of the linear program that the module states, over rows.

    HiGHS has absolute tolerances, so the unit of the program is the largest weight, rounded to a power of two. Where
    there are many more rows than equations, an interior-point method takes a fraction of its time.
    """
    n_order, group, q = len(problem.up), layout.row_group, len(problem.linear)
    lines = problem.incidence[np.append(group, problem.n_groups + np.arange(n_order))]
    signed, n = problem.sign[group], rows.n_features
    unit = 2.0 ** np.round(np.log2(layout.cost.max()))
    limits, total = layout.row_cost / unit, float(layout.cost.sum() / unit)
    n_variables = 1 + len(limits) + n_order  # the drive, the rows' multipliers, those of the order constraints
    c = np.zeros(n_variables)
    c[0] = -1.0
    if signs is None and n_variables > MANY_MORE * (q + n) and not (rows.is_sparse or sp.issparse(lines)):
        from hullrank.solvers._box_program import multipliers_in_box

        A = np.zeros((q + n, n_variables))
        A[:q, 0], A[:q, 1:] = problem.linear, lines.T
        A[q:, 1 : 1 + len(limits)] = rows.signed(layout.row_sample, signed).T
        most = min(high / unit, total)  # the drive and a flow between thresholds are less than twice this
        upper = np.concatenate([[2 * most], limits, np.full(n_order, 2 * total)])
        weight = np.concatenate([[SHARE * total], limits, np.full(n_order, SHARE * total)])
        y = multipliers_in_box(c, A, upper, weight, 1e-3 * total, base=-high / unit, rough=rough)
        if y is not None:
            return y
    X = sp.csr_array(rows.signed(layout.row_sample, signed))
    below = sp.hstack([sp.csr_array(lines), sp.vstack([X, sp.csr_array((n_order, n))])])
    table = sp.vstack([np.append(problem.linear, np.zeros(n))[None, :], below], format="csr")
    low, high_end = np.zeros((2, q + n))
    if signs is not None:
        low[q:][signs.values > 0] = -np.inf
        high_end[q:][signs.values < 0] = np.inf
    upper = np.concatenate([[np.inf], limits, np.full(n_order, np.inf)])
    answer = solve_lp(c, table.T, low, high_end, np.zeros(n_variables), upper, presolve=False)
    return answer.row_duals if len(answer.row_duals) else np.zeros(q + n)


def _thin(samples: Samples) -> Samples:
    """At most about ``MOST_ROWS`` rows, evenly from every class, with the weight of their class."""
    m = len(samples.codes)
    if m <= MOST_ROWS:
        return samples
    step = -(-m // MOST_ROWS)
    members = [samples.rows[a:b:step] for a, b in zip(samples.starts[:-1], samples.starts[1:], strict=True)]
    kept = np.concatenate(members)
    codes, weights = samples.codes[kept], samples.weights[kept]
    weights = weights * (samples.class_weight / np.bincount(codes, weights, samples.n_classes))[codes]
    return Samples(samples.X[kept], codes, weights, samples.n_classes)
