"""Newton's method on the multipliers that are free: where sequential steps crawl along small eigenvalues of the kernel.

With x the change of the signed multipliers of the free rows, E their thresholds (and, under nu, their signs for rho), G
the order constraints with a positive multiplier, whose change is tau, the step solves

    M x = r + E theta,   E'x - G'tau = 0 (rho: nu - sum alpha),   G theta = gap,      M = K + curvature + ridge.

Rows that would leave their box are pinned to it: many by another step on the others, few through the Schur complement.
The result is brought back to the flow on the thresholds, and an exact line search along the segment follows: always
feasible, the dual objective never falls.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack
from scipy.sparse import csr_array

from hullrank.solvers import _smo_loops as loops
from hullrank.solvers._smo_state import SmoState

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_PIN_ROUNDS = 4
_MOST_PINNED = 0.1  # of the rows through the Schur complement; more are cheaper by another factorisation
_MOST_FACES = 4
_COLUMNS = 32  # of the inverse at a time


class FreeFace:
    """The rows whose multiplier lies strictly inside its box, or those of them that are ``kept`` while others move."""

    def __init__(self, state: SmoState, kept: tuple[Ints, Ints, Ints] | None = None) -> None:
        self.state = state
        self.rows, self.group, self.sample = rows, group, sample = kept or free_rows(state)
        self.sign = state.signs[group, 0]
        self.value = state.v[rows]
        bound = state.per_sample[2, sample]
        self.lower = np.where(self.sign > 0, 0.0, -bound)
        self.upper = np.where(self.sign > 0, bound, 0.0)
        self.residual = row_levels(state, group, sample) - state.s[sample]
        self.owed = state.flow_residual()
        n = state.problem.n_thresholds + state.problem.has_rho
        self.member = np.zeros((len(rows), n))
        self.member[np.arange(len(rows)), state.groups[group, 0]] = 1.0
        if state.problem.has_rho:
            self.member[:, -1] = self.sign
        self.distinct, self.where = np.unique(sample, return_inverse=True)
        self.count = np.bincount(self.where)
        share = (1.0 / self.count[self.where], (self.where, np.arange(len(rows))))
        self._share = csr_array(share, shape=(len(self.distinct), len(rows)))
        paired = (state.groups[group, 4] > loops.NO_ROW // 2) & (self.count[self.where] > 1)
        curvature = state.per_sample[1, sample]
        self.curvature_of_mean = np.where(paired, 0.0, curvature)
        self.curvature_of_difference = np.where(paired, 2.0 * curvature, curvature)

    def without(self, out: NDArray[np.bool_], change: Floats, scores: Floats) -> "FreeFace":
        """The face of the other rows once those that are ``out`` have changed, and with them all scores."""
        state = self.state
        rest = FreeFace(state, (self.rows[~out], self.group[~out], self.sample[~out]))
        moved = np.zeros(len(state.v))
        moved[self.rows[out]] = change[out]
        partner = state.groups[rest.group, 4] + rest.sample
        coupled = np.where(partner >= 0, moved[np.maximum(partner, 0)], 0.0)
        rest.residual = self.residual[~out] - scores[rest.sample] + state.per_sample[1, rest.sample] * coupled
        rest.owed = self.owed + self.member[out].T @ change[out]
        return rest

    def average(self, R: Floats) -> Floats:
        """Mean over the rows of each distinct sample."""
        mean: Floats = self._share @ R
        return mean

    def solver(self, gram: Any, ridge: float, dtype: Any) -> Callable[[Floats], Floats] | None:
        """R -> M^-1 R, in the memory of ``gram``; rows of one sample share a kernel row, so each is factored once."""
        unit = max(float(np.mean(gram.diagonal())), 1e-300)
        M = gram.T  # the same matrix, in the order that LAPACK overwrites in place
        mean_curvature = np.zeros(len(self.distinct))
        mean_curvature[self.where] = self.curvature_of_mean
        M[np.diag_indices(len(M))] += ((mean_curvature + ridge) / self.count).astype(dtype)
        potrf, potrs = (lapack.spotrf, lapack.spotrs) if dtype == np.float32 else (lapack.dpotrf, lapack.dpotrs)
        factor, failed = potrf(M, lower=1, overwrite_a=1, clean=0)
        if failed:
            return None
        stiffness = np.maximum(self.curvature_of_difference + ridge, 1e-5 * unit)

        def inverse(R: Floats) -> Floats:
            mean = self.average(R)
            totals = potrs(factor, np.asarray(mean, dtype=dtype, order="F"), lower=1)[0].astype(np.float64)
            return (totals / self.count[:, None])[self.where] + (R - mean[self.where]) / stiffness[:, None]

        return inverse

    def outside(self, change: Floats) -> NDArray[np.bool_]:
        """Rows that the change would push out of their box."""
        target = self.value + change
        return (target < self.lower) | (target > self.upper)

    def clipped(self, change: Floats) -> Floats:
        """The change, cut at the box."""
        return np.clip(self.value + change, self.lower, self.upper) - self.value


def free_rows(state: SmoState) -> tuple[Ints, Ints, Ints]:
    """Row, group and sample of the rows strictly inside their box."""
    rows, groups, samples = [], [], []
    for g, (_, lo, hi, base, _) in enumerate(state.groups.tolist()):
        up, down = state.off[:, base + lo : base + hi]
        found = np.flatnonzero((up > -1e29) & (down < 1e29)) + lo
        rows.append(found + base)
        groups.append(np.full(len(found), g))
        samples.append(found)
    return np.concatenate(rows), np.concatenate(groups), np.concatenate(samples)


def row_levels(state: SmoState, group: Ints, sample: Ints) -> Floats:
    """Residual plus score of rows, in float64."""
    sign, offset = state.signs[group].T
    total = sign * state.v[state.groups[group, 3] + sample]
    partner = state.groups[group, 4] + sample
    paired = partner >= 0
    total[paired] -= sign[paired] * state.v[partner[paired]]
    return sign * (offset - state.per_sample[1, sample] * total)


def newton_step(
    face: FreeFace,
    kernel: Callable[[Ints], Any],
    ridge: float,
    dtype: Any,
    times: Callable[[FreeFace, Floats], Floats],
    least: float = 0.0,
) -> float:
    """One step on the face, in place; the length taken (0: none, or shorter than ``least``).

    ``kernel(samples)`` is a fresh matrix over them; ``times(face, x)`` the change of all scores for a change of rows.
    """
    state, whole = face.state, face
    total = np.zeros(len(whole.rows))
    kept = np.arange(len(whole.rows))
    for attempt in range(_MOST_FACES):
        inverse = face.solver(kernel(face.distinct), ridge, dtype)
        if inverse is None:
            return 0.0
        change, theta, tight, tau = _solve_face(face, inverse)
        out = face.outside(change)
        change = total[kept] = face.clipped(change)
        if np.count_nonzero(out) <= _MOST_PINNED * len(out) or out.all() or attempt == _MOST_FACES - 1:
            break
        pinned = np.where(out, change, 0.0)
        face, kept = face.without(out, change, times(face, pinned)), kept[~out]
    restored = _restore_flow(whole, total, tight, tau)
    if restored is None:
        return 0.0
    step = _search(whole, restored[0], tight, restored[1], times, least)
    if state.problem.has_rho:
        state.io[loops.RHO] += step * (theta[-1] - state.io[loops.RHO])
    return step


def _solve_face(face: FreeFace, inverse: Callable[[Floats], Floats]) -> tuple[Floats, Floats, Ints, Floats]:
    """Change of the rows, thresholds, the order constraints that stay tight, and the change of their multipliers."""
    order = face.state.order[1]
    tight = np.flatnonzero(order > 0)
    while True:
        change, theta, tau = _solve_pinned(face, inverse, tight)
        falling = order[tight] + tau < 0
        if not falling.any():
            return change, theta, tight, tau
        tight = tight[~falling]


def _constraints(face: FreeFace, tight: Ints) -> tuple[Floats, Floats]:
    """G over (theta, rho), and its gaps."""
    state, n = face.state, face.member.shape[1]
    G = np.zeros((len(tight), n))
    G[np.arange(len(tight)), state.edges[tight, 0]] += 1.0
    G[np.arange(len(tight)), state.edges[tight, 1]] -= 1.0
    return G, state.order[0, tight]


def _solve_pinned(face: FreeFace, inverse: Callable[[Floats], Floats], tight: Ints) -> tuple[Floats, Floats, Floats]:
    n, size = face.member.shape[1], len(face.rows)
    G, gap = _constraints(face, tight)
    Z = inverse(np.column_stack([face.residual, face.member]))
    pins, pinned_change, columns = np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros((size, 0))
    for attempt in range(_PIN_ROUNDS + 1):
        # x = Z0 + Z_E theta - columns force;  E'x - G'tau = -owed, G theta = gap, x[pins] = pinned_change
        k, p = len(tight), len(pins)
        A = np.zeros((n + k + p, n + k + p))
        A[:n, :n] = face.member.T @ Z[:, 1:]
        A[:n, n : n + k], A[n : n + k, :n] = -G.T, -G
        A[:n, n + k :], A[n + k :, :n] = -Z[pins, 1:].T, -Z[pins, 1:]
        A[n + k :, n + k :] = columns[pins]
        right = np.concatenate([-face.owed - face.member.T @ Z[:, 0], -gap, Z[pins, 0] - pinned_change])
        solution = _solve_small(A, right)
        change = Z[:, 0] + Z[:, 1:] @ solution[:n] - columns @ solution[n + k :]
        out = face.outside(change)
        out[pins] = False
        new = np.flatnonzero(out)
        if not len(new) or p + len(new) > _MOST_PINNED * size or attempt == _PIN_ROUNDS:
            return change, solution[:n], solution[n : n + k]
        parts = [new[at : at + _COLUMNS] for at in range(0, len(new), _COLUMNS)]
        columns = np.concatenate([columns, *(inverse(_unit_columns(size, part)) for part in parts)], axis=1)
        pins = np.concatenate([pins, new])
        pinned_change = np.concatenate([pinned_change, face.clipped(change)[new]])
    raise AssertionError("unreachable")


def _unit_columns(size: int, at: Ints) -> Floats:
    unit = np.zeros((size, len(at)))
    unit[at, np.arange(len(at))] = 1.0
    return unit


def _solve_small(A: Floats, right: Floats) -> Floats:
    """A symmetric system that may be singular (thresholds without free rows), scaled to a unit diagonal."""
    scale = 1.0 / np.sqrt(np.maximum(np.abs(np.diag(A)), 1e-12 * np.abs(A).max(initial=1e-300)))
    A = A * scale[:, None] * scale
    A[np.diag_indices(len(A))] += 1e-13
    try:
        solution: Floats = np.linalg.solve(A, scale * right)
    except np.linalg.LinAlgError:
        solution = np.linalg.lstsq(A, scale * right, rcond=1e-12)[0]
    return scale * solution


def _restore_flow(face: FreeFace, change: Floats, tight: Ints, tau: Floats) -> tuple[Floats, Floats] | None:
    """After the cut at the box: move rows within their room (and order multipliers) until the flow is right again."""
    G, _ = _constraints(face, tight)
    size = max(float(np.abs(face.value).sum()), float(np.abs(change).sum()), 1e-300)
    for _ in range(6):
        off = face.member.T @ change - G.T @ tau + face.owed
        if np.abs(off).max(initial=0.0) <= 1e-13 * size:
            return change, tau
        target = face.value + change
        room = np.minimum(target - face.lower, face.upper - target)
        free_tau = np.maximum(face.state.order[1, tight] + tau, 0.0)
        system = (face.member.T * room) @ face.member + (G.T * free_tau) @ G
        force = np.linalg.lstsq(system, off, rcond=1e-13)[0]
        change = face.clipped(change - room * np.clip(face.member @ force, -1, 1))
        tau = tau + free_tau * np.clip(G @ force, -1, 1)
    return None


def _search(
    face: FreeFace, change: Floats, tight: Ints, tau: Floats, times: Callable[[FreeFace, Floats], Floats], least: float
) -> float:
    state = face.state
    scores = times(face, change)
    bend = float(change @ (scores[face.sample] + _curvature_times(face, change)))
    slope = float(change @ face.residual + state.order[0, tight] @ tau)
    if slope <= 0.0:
        return 0.0
    step = min(1.0, slope / bend) if bend > 0 else 1.0
    if step < least:
        return 0.0
    value = np.clip(face.value + step * change, face.lower, face.upper)
    tiny = 1e-12 * np.minimum(face.upper - face.lower, np.abs(face.value).max(initial=0.0))
    value = np.where(value - face.lower < tiny, face.lower, np.where(face.upper - value < tiny, face.upper, value))
    state.v[face.rows] = value
    state.s += step * scores
    state.order[1, tight] = np.maximum(state.order[1, tight] + step * tau, 0.0)
    state.refresh()
    return step


def _curvature_times(face: FreeFace, change: Floats) -> Floats:
    mean = face.average(change[:, None])[face.where, 0]
    return face.curvature_of_mean * mean + face.curvature_of_difference * (change - mean)
