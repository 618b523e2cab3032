"""Newton steps on the free multipliers, for where sequential steps crawl along small eigenvalues of the kernel.

A sequential step moves two rows, so it needs very many steps along a direction in which the kernel matrix is nearly
singular. A Newton step minimises the dual objective over all rows of the *face* at once: the rows whose multiplier
lies strictly inside its box, and those at a bound that want to leave it. With x the change of their signed multipliers
and t that of the order multipliers this is the quadratic programme of ``_box_qp``. The exact line search from the
present point to its solution is always feasible, and the dual objective never falls.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hullrank.problem.gram import Gram
from hullrank.solvers._box_qp import BoxQP, solve_box_qp
from hullrank.solvers._smo_settings import SmoSettings
from hullrank.solvers._smo_state import SmoState

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Face:
    """The rows that a Newton step moves, those with the least room in their box last, and their data per row."""

    rows: Ints
    sample: Ints
    value: Floats
    lower: Floats
    upper: Floats
    residual: Floats
    member: Floats  # (rows, thresholds and rho): what one unit of v sends into each of them


def find_face(state: SmoState) -> Face:
    """The face of the present point."""
    rows = _face_rows(state)
    room = np.minimum(state.v[rows] - state.lower[rows], state.upper[rows] - state.v[rows])
    rows = rows[np.argsort(-room, kind="stable")]
    sample = state.layout.row_sample[rows]
    member = np.zeros((len(rows), len(state.problem.linear)))
    member[np.arange(len(rows)), state.problem.threshold[state.layout.row_group[rows]]] = 1.0
    if state.problem.has_rho:
        member[:, -1] = state.row_sign[rows]
    residual = state.goal[rows] - state.scores[sample]
    return Face(rows, sample, state.v[rows], state.lower[rows], state.upper[rows], residual, member)


def _face_rows(state: SmoState) -> Ints:
    """The free rows, and the rows at a bound that would leave it for the thresholds of the free rows."""
    free, layout = state.free_rows, state.layout
    threshold = state.problem.threshold[layout.row_group]
    here = state.scores[layout.row_sample] - state.row_sign * state.rho
    residual = state.rising[free] - here[free]
    median = np.full(state.problem.n_thresholds, np.nan)  # residual of the free rows, which is -theta at the optimum
    for t in range(len(median)):
        inside = residual[threshold[free] == t]
        if len(inside):
            median[t] = np.partition(inside, len(inside) // 2)[len(inside) // 2]
    here += median[threshold]
    leaving = (state.rising > here) | (state.falling < here)
    leaving[free] = True
    return np.flatnonzero(leaving)


def newton_step(
    state: SmoState, gram: Gram, face: Face, ridge: float, least_length: float, settings: SmoSettings
) -> float:
    """Take one Newton step, damped by ``ridge`` on the diagonal; its length (0: none, or below ``least_length``)."""
    tight = np.flatnonzero(state.order > 0)
    G = np.zeros((len(tight), face.member.shape[1]))
    G[np.arange(len(tight)), state.edges[tight, 0]] += 1.0
    G[np.arange(len(tight)), state.edges[tight, 1]] -= 1.0
    missing = state.flow_residual()
    qp = BoxQP(
        _matrix(state, gram, face, ridge), face.residual, face.member, -missing, face.lower - face.value,
        face.upper - face.value, G, state.gap[tight], -state.order[tight],
    )  # fmt: skip
    solved = solve_box_qp(qp, settings.most_turns, settings.most_held * len(face.rows))
    restored = _restore_flow(qp, solved.x, solved.t, float(np.abs(state.v).sum())) if solved else None
    if solved is None or restored is None:
        return 0.0
    length = _line_search(state, gram, face, tight, *restored, least_length)
    if state.problem.has_rho:
        state.rho += length * (float(solved.theta[-1]) - state.rho)
    return length


def _matrix(state: SmoState, gram: Gram, face: Face, ridge: float) -> Floats:
    """Kernel, curvature of the charge (shared by two rows of one slack), and ridge."""
    n, charge = len(face.rows), state.charge_curvature[face.sample]
    M = np.empty((n, n))
    gram.square(face.sample, M)
    M[np.diag_indices(n)] += charge + ridge
    if state.layout.shares_slacks:
        i, j = _partners(state, face)
        M[i, j] -= charge[i]
    return M


def _partners(state: SmoState, face: Face) -> tuple[Ints, Ints]:
    """Places in the face of rows that share a slack, in both orders."""
    place = np.full(len(state.v), -1)
    place[face.rows] = np.arange(len(face.rows))
    partner = state.row_partner[face.rows]
    other = np.where(partner >= 0, place[partner], -1)
    return np.flatnonzero(other >= 0), other[other >= 0]


def _restore_flow(qp: BoxQP, x: Floats, t: Floats, size: float) -> tuple[Floats, Floats] | None:
    """Remove the rounding error in A'x - G't = b by moving entries within their room; None if that fails.

    ``size`` is the sum of all multipliers, against which the error is measured.
    """
    size = max(size, float(np.abs(x).sum()), 1e-300)
    for _ in range(6):
        off = qp.A.T @ x - qp.G.T @ t - qp.b
        worst = float(np.abs(off).max(initial=0.0))
        if worst <= 1e-13 * size:
            return x, t
        if not np.isfinite(worst):  # the solution of an overflowing model
            return None
        room, room_t = np.minimum(x - qp.lower, qp.upper - x), t - qp.floor
        system = (qp.A.T * room) @ qp.A + (qp.G.T * room_t) @ qp.G
        force = np.linalg.lstsq(system, off, rcond=1e-13)[0]
        x = np.clip(x - room * np.clip(qp.A @ force, -1, 1), qp.lower, qp.upper)
        t = t + room_t * np.clip(qp.G @ force, -1, 1)
    return None


def _line_search(
    state: SmoState, gram: Gram, face: Face, tight: Ints, x: Floats, t: Floats, least_length: float
) -> float:
    """Maximise the dual objective along the step, at most to its end, and go there."""
    change = np.bincount(face.sample, x, len(state.scores))
    scores = gram.times(change)
    curvature = float(change @ scores + _charge_times(state, face, x) @ x)
    slope = float(x @ face.residual + state.gap[tight] @ t)
    length = 1.0 if slope >= curvature else slope / curvature if slope > 0.0 else 0.0
    if length == 0.0 or length < least_length:
        return 0.0
    value = np.clip(face.value + length * x, face.lower, face.upper)
    tiny = 1e-12 * np.minimum(face.upper - face.lower, np.abs(face.value).max(initial=0.0))
    value = np.where(value - face.lower < tiny, face.lower, np.where(face.upper - value < tiny, face.upper, value))
    state.v[face.rows] = value
    state.scores += length * scores
    state.order[tight] = np.maximum(state.order[tight] + length * t, 0.0)
    state.refresh()
    return length


def _charge_times(state: SmoState, face: Face, x: Floats) -> Floats:
    """The curvature of the charge times a change of the rows."""
    charge = state.charge_curvature[face.sample]
    product = charge * x
    if state.layout.shares_slacks:
        i, j = _partners(state, face)
        product[i] -= charge[i] * x[j]
    return product
