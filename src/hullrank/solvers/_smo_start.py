"""Where the kernel solver starts: a feasible point of the dual problem, or the solution of an earlier solve."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hullrank.data import Samples
from hullrank.problem.gram import Gram
from hullrank.problem.intervals import IntervalProblem
from hullrank.problem.layout import RowLayout, lay_out
from hullrank.solvers._linear_system import order_matrix
from hullrank.solvers._smo_state import SmoState, is_hinge
from hullrank.solvers.linear_program import solve_lp

Floats = NDArray[np.float64]
_KINK = 1e-3  # rows that are nearer to the kink of the hinge than this share of the mean distance count as at the kink


@dataclass(frozen=True)
class Start:
    """A warm start: multipliers divided by the cost of their row, order multipliers divided by C, and rho.

    Divided so, they change little with C.
    """

    shares: Floats
    order_shares: Floats
    rho: float


def feasible_start(problem: IntervalProblem, layout: RowLayout) -> Start:
    """All rows of group g at the same share z_g of their cost, with the largest z as small as possible.

    Problems with a linear term need it: their sums F of alpha per group and order multipliers t must satisfy
    linear + N'(F, t) = 0 with the incidence matrix N, which is a linear programme. Other problems start at 0.
    """
    cost = np.add.reduceat(layout.row_cost, layout.group_starts[:-1])
    n_groups, n_edges = problem.n_groups, len(problem.up)
    flow = sp.diags_array(np.append(cost, np.ones(n_edges))) @ sp.csr_array(problem.incidence)
    below = sp.hstack([-sp.eye_array(n_groups), sp.csr_array((n_groups, n_edges))])
    A = sp.block_array([[flow.T, None], [below, np.ones((n_groups, 1))]], format="csc")
    c = np.append(np.zeros(n_groups + n_edges), 1.0)
    lower = np.append(-problem.linear, np.zeros(n_groups))
    upper = np.append(-problem.linear, np.full(n_groups, np.inf))
    most = np.concatenate([np.ones(n_groups), np.full(n_edges, np.inf), [1.0]])
    answer = solve_lp(c, A, lower, upper, np.zeros(len(c)), most)
    shares = answer.x[:n_groups] if len(answer.x) else np.zeros(n_groups)
    order = answer.x[n_groups:-1] if len(answer.x) else np.zeros(n_edges)
    return Start(layout.spread(shares), order / problem.cost, 0.0)


def start_from_solution(problem: IntervalProblem, samples: Samples, coef: Floats, theta: Floats, gram: Gram) -> Start:
    """The multipliers that belong to kernel coefficients and thresholds.

    With the squared hinge the share alpha / cost of a row is 2 * slack. With the hinge it is 1 where the row has slack
    and 0 where it has room. Rows at the kink share equally in what the others leave of the kernel coefficient of their
    sample, which is the sum of sign * alpha over its rows.
    """
    scores = gram.times(coef)
    layout = lay_out(problem, samples.starts, samples.weights[samples.rows])
    group, sample = layout.row_group, layout.row_sample
    violation = problem.offsets(theta)[group] - problem.sign[group] * scores[samples.rows][sample]
    if not is_hinge(problem):
        shares = 2 * np.maximum(violation, 0.0)
    else:
        free = np.abs(violation) <= _KINK * max(float(np.abs(violation).mean()), 1e-300)
        shares = np.where(violation > 0, 1.0, 0.0) * ~free
        n = len(samples.codes)
        rest = coef[samples.rows] - np.bincount(sample, problem.sign[group] * shares * layout.row_cost, n)
        at_kink = np.maximum(np.bincount(sample, free, n), 1)
        part = problem.sign[group] * (rest / at_kink)[sample] / layout.row_cost
        shares = np.where(free, np.clip(part, 0.0, 1.0), shares)
    totals = np.add.reduceat(shares * layout.row_cost, layout.group_starts[:-1])
    G = order_matrix(problem).T
    t = np.linalg.lstsq(G, problem.linear + problem.flow(totals))[0] if G.size else np.zeros(G.shape[1])
    return Start(shares, np.maximum(t, 0.0) / problem.cost, float(theta[-1]) if problem.has_rho else 0.0)


def put_start(state: SmoState, start: Start, gram: Gram) -> None:
    """Set the multipliers of ``start`` and the scores that belong to them."""
    alpha = np.clip(start.shares, 0.0, None) * state.layout.row_cost
    state.v[:] = np.clip(state.row_sign * alpha, state.lower, state.upper)
    state.order[:] = state.problem.cost * start.order_shares[state.problem.low >= 0]
    state.rho = start.rho
    state.scores[:] = gram.times(state.beta)
    if not state.problem.homogeneous:
        _stretch(state)
    state.refresh()
    if (state.path_cost.diagonal() > 0.0).any():
        state.order[:] = _best_flow(state)
        state.refresh()


def _best_flow(state: SmoState) -> Floats:
    """The order multipliers that send the same flow into the thresholds as those of the state, at the largest gain.

    Those of another solver may flow round a cycle of thresholds at a gain, and steps take it for granted that no path
    gets better by going round. Zeros if the linear programme fails.
    """
    n, flow = len(state.order), state.problem.order_adjoint(state.order_multipliers)[: state.problem.n_thresholds]
    size = max(float(np.abs(flow).max()), 1e-300)
    G = sp.csc_array((np.repeat([1.0, -1.0], n), (state.edges.T.ravel(), np.tile(np.arange(n), 2))), (len(flow), n))
    answer = solve_lp(-state.gap, G, flow / size, flow / size, np.zeros(n), np.full(n, np.inf))
    return size * answer.x if len(answer.x) else np.zeros(n)


def _stretch(state: SmoState) -> None:
    """Multiply the multipliers by the number for which the dual objective is largest, within their boxes."""
    gain = state.gain
    curvature = 2.0 * (gain - state.dual)
    if gain <= 0.0 or curvature <= 0.0:
        return
    factor = gain / curvature
    if is_hinge(state.problem):
        factor = min(factor, 1.0 / max(float(state.shares().max()), 1e-300))
    state.v *= factor
    state.order *= factor
    state.scores *= factor
