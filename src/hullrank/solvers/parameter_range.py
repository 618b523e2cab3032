"""For which nu or C a homogeneous interval problem (nu margin, sum of margins) has a ranking as its optimum.

Its dual needs multipliers 0 <= alpha <= cost that carry the flow linear + N'(F, t) = 0 (F the groups' sums). The drive

    kappa = max { k : k linear + N'(F, t) = 0, 0 <= alpha_r <= weight_r, t >= 0 }

is the largest linear term that unit costs can carry; beyond it the primal is unbounded. With X'(sign alpha) = 0 added
(or, for a weight of required sign, with no pull to the allowed side) it is the largest one at which w = 0 is optimal.
Both are linear programs.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hullrank.data import Samples
from hullrank.problem.intervals import IntervalProblem
from hullrank.problem.layout import lay_out
from hullrank.problem.rows import centred_rows
from hullrank.problem.signs import Signs
from hullrank.solvers._box_program import least_in_box
from hullrank.solvers.linear_program import solve_lp

Floats = NDArray[np.float64]
MANY_MORE = 20  # rows for every equation, from which the interior-point method is faster than HiGHS
MOST_ROWS = 5000  # larger data are thinned out class by class before the linear program over rows


def unbounded_drive(problem: IntervalProblem, samples: Samples) -> float:
    """The drive beyond which the primal is unbounded (a linear program over the groups)."""
    per_class = np.bincount(samples.codes, samples.weights, samples.n_classes)
    limits = np.concatenate([per_class[problem.group_class], np.full(len(problem.up), np.inf)])
    return _largest_drive(problem, problem.incidence, limits)[0]


def collapse_drive(problem: IntervalProblem, samples: Samples, signs: Signs | None = None) -> float:
    """The drive up to which w = 0 is optimal (a linear program over rows).

    Where rows are very many, the program has some of them, and the drive is one beyond which a point of negative
    objective on all rows proves that w = 0 is not optimal: the drive asked for or a little more.
    """
    whole, samples = samples, _thin(samples)
    order = samples.rows
    weights = samples.weights[order]
    layout = lay_out(problem, samples.starts, weights)
    view = centred_rows(samples.X, order, weights)
    rows = view.take(np.arange(len(order)))
    n_order, group = len(problem.up), layout.row_group
    lines = problem.incidence[np.append(group, problem.n_groups + np.arange(n_order))]
    balance = _signed(rows.X, layout.row_sample, problem.sign[group], n_order)
    limits = np.concatenate([weights[layout.row_sample], np.full(n_order, np.inf)])
    drive, multipliers = _largest_drive(problem, lines, limits, balance, signs)
    if samples is whole:
        return drive
    q = len(problem.linear)
    w, theta = -multipliers[q:] * (rows.scale / view.scale), problem.raise_thresholds(multipliers[:q])
    return max(drive, _drive_of(problem, whole, w, theta, view.mean))


def _drive_of(problem: IntervalProblem, samples: Samples, w: Floats, theta: Floats, mean: Floats | None) -> float:
    """The drive beyond which the objective of a point is negative: its charge over what its thresholds earn."""
    order, starts = samples.rows, samples.starts
    s = np.asarray(samples.X @ w).ravel()[order] - (0.0 if mean is None else float(mean @ w))
    weights, charge = samples.weights[order], 0.0
    for c, sign, offset in zip(problem.group_class, problem.sign, problem.offsets(theta), strict=True):
        own = slice(starts[c], starts[c + 1])
        charge += float(weights[own] @ np.maximum(offset - sign * s[own], 0.0))
    earned = -float(problem.linear @ theta)
    return charge / earned if earned > 0 else np.inf


def _signed(X: Any, samples: NDArray[np.integer], sign: Floats, n_order: int) -> Any:
    """The samples of all rows times the sign of the row, then a line of zeros for every order constraint."""
    if sp.issparse(X):
        return sp.vstack([X[samples].multiply(sign[:, None]), sp.csr_array((n_order, X.shape[1]))], format="csr")
    signed = np.zeros((len(samples) + n_order, X.shape[1]))
    np.multiply(X[samples], sign[:, None], out=signed[: len(samples)])
    return signed


def _largest_drive(
    problem: IntervalProblem, lines: Any, limits: Floats, balance: Any = None, signs: Signs | None = None
) -> tuple[float, Floats]:
    """Maximise k subject to k linear + lines'x = 0, balance'x = 0 (signs: sign * balance'x <= 0), 0 <= x <= limits.

    Gives the multipliers of the equations too: thresholds, and weights of the other sign, that charge and earn alike.
    HiGHS has absolute tolerances, so the unit of the program is the largest finite limit, rounded to a power of two.
    Where there are many more rows than equations, an interior-point method takes a fraction of its time.
    """
    unit = 2.0 ** np.round(np.log2(limits.max(initial=0.0, where=np.isfinite(limits))))
    parts = [lines] if balance is None else [lines, balance]
    dense = not any(sp.issparse(part) for part in parts)
    table = np.hstack(parts) if dense else sp.hstack(parts, format="csr")  # a line per variable but k
    n = table.shape[1] - len(problem.linear)
    drive = np.append(problem.linear, np.zeros(n))[None, :]
    table = np.vstack([drive, table]) if dense else sp.vstack([drive, table])
    c = np.zeros(table.shape[0])
    c[0] = -1.0
    upper = np.append(np.inf, limits / unit)
    if dense and signs is None and len(c) > MANY_MORE * table.shape[1]:
        total = float(upper.sum(where=np.isfinite(upper)))  # ten times that no variable reaches
        least, multipliers = least_in_box(c, np.ascontiguousarray(table.T), np.minimum(upper, 10 * total), 1e-3 * total)
        if least is not None and multipliers is not None:
            return max(0.0, -unit * least), multipliers
    table = sp.csr_array(table)
    low, high = np.zeros((2, table.shape[1]))
    if signs is not None:
        low[-n:][signs.values > 0] = -np.inf
        high[-n:][signs.values < 0] = np.inf
    answer = solve_lp(c, table.T, low, high, np.zeros(len(c)), upper, presolve=False)
    if not len(answer.x):
        return 0.0, np.zeros(table.shape[1])
    return max(0.0, float(unit * answer.x[0])), answer.row_duals


def _thin(samples: Samples) -> Samples:
    """At most about ``MOST_ROWS`` rows, evenly from every class, with the weight of their class."""
    m = len(samples.codes)
    if m <= MOST_ROWS:
        return samples
    step = -(-m // MOST_ROWS)
    members = [samples.rows[a:b:step] for a, b in zip(samples.starts[:-1], samples.starts[1:], strict=True)]
    kept = np.concatenate(members)
    codes, weights = samples.codes[kept], samples.weights[kept]
    total = np.bincount(samples.codes, samples.weights, samples.n_classes)
    weights = weights * (total / np.bincount(codes, weights, samples.n_classes))[codes]
    return Samples(samples.X[kept], codes, weights, samples.n_classes)
