"""Newton's method on the multipliers that are free: where sequential steps crawl along small eigenvalues of the kernel.

With x the change of the signed multipliers of the free rows, E their thresholds (and, under nu, their signs for rho), G
the order constraints with a positive multiplier, whose change is tau, the step solves

    M x = r + E theta - (forces),   E'x - G'tau = 0 (rho: nu - sum alpha),   G theta = gap,   M = K + curvature + ridge

within the boxes of the rows: a row that would leave its box is held at its bound by a force, and let go when the force
turns out to pull it there, until neither happens (a primal-dual active set). One factor of M serves all of these turns:
what a held row needs of it is cheap if the row stands late in it, so the rows that are next to a bound stand last. The
result is brought back to the flow on the thresholds, and an exact line search along the segment follows: always
feasible, the dual objective never falls.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from hullrank.solvers import _smo_loops as loops
from hullrank.solvers._smo_state import SmoState

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_TURNS = 12  # of holding rows and letting them go
_MOST_HELD = 0.35  # of the rows: with more it is too early for a Newton step
_FEW_HELD = 1000  # rows are never too many
_BLOCK = 128  # rows solved for at a time


class FreeFace:
    """The rows whose multiplier lies strictly inside its box, and those that would leave its bound."""

    def __init__(self, state: SmoState) -> None:
        self.state = state
        self.rows = rows = face_rows(state)
        self.group, self.sample = group, sample = state.layout.row_group[rows], state.layout.row_sample[rows]
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
        distinct, where = np.unique(sample, return_inverse=True)
        room = np.zeros(len(distinct))
        np.maximum.at(room, where, np.minimum(self.value - self.lower, self.upper - self.value))
        last = np.argsort(-room)
        self.distinct, self.where = distinct[last], np.argsort(last)[where]
        self.count = np.bincount(self.where)
        self._by_sample, self._first = np.argsort(self.where, kind="stable"), np.cumsum(self.count) - self.count
        paired = (state.groups[group, 4] > loops.NO_ROW // 2) & (self.count[self.where] > 1)
        curvature = state.per_sample[1, sample]
        self.curvature_of_mean = np.where(paired, 0.0, curvature)
        self.curvature_of_difference = np.where(paired, 2.0 * curvature, curvature)

    def average(self, R: Floats) -> Floats:
        """Mean over the rows of each distinct sample."""
        sums: Floats = np.add.reduceat(R[self._by_sample], self._first, axis=0)
        return sums / self.count[:, None]

    def clipped(self, change: Floats) -> Floats:
        """The change, cut at the box."""
        return np.clip(self.value + change, self.lower, self.upper) - self.value


def free_rows(state: SmoState) -> Ints:
    """The rows strictly inside their box."""
    return np.flatnonzero((state.off[0] > -1e29) & (state.off[1] < 1e29))


def face_rows(state: SmoState) -> Ints:
    """The same, with the rows at a bound that would leave it for the thresholds of those inside."""
    rows = free_rows(state)
    group = state.layout.row_group
    threshold = state.problem.threshold[group]
    here = state.s[state.layout.row_sample] - (state.problem.sign * state.io[loops.RHO])[group]
    residual = state.off[0, rows] - here[rows]
    level = np.full(state.problem.n_thresholds, np.nan)
    for t in range(len(level)):
        inside = residual[threshold[rows] == t]
        if len(inside):
            level[t] = np.partition(inside, len(inside) // 2)[len(inside) // 2]
    here += level[threshold]
    wanting = (state.off[0] > here) | (state.off[1] < here)
    wanting[rows] = True
    return np.flatnonzero(wanting)


def row_levels(state: SmoState, group: Ints, sample: Ints) -> Floats:
    """Residual plus score of rows, in float64."""
    sign, offset = state.signs[group].T
    total = sign * state.v[state.groups[group, 3] + sample]
    partner = state.groups[group, 4] + sample
    paired = partner >= 0
    total[paired] -= sign[paired] * state.v[partner[paired]]
    return sign * (offset - state.per_sample[1, sample] * total)


class Factor:
    """M of a face as L L', in the memory of ``gram``: the kernel matrix of its distinct samples.

    Rows of one sample share a kernel row: M^-1 R is that of their means, plus how far each is from it by its stiffness.
    """

    def __init__(self, face: FreeFace, gram: Floats, ridge: float, lend: Callable[[int], Floats] = np.empty) -> None:
        self.face, self.lend = face, lend
        unit = max(float(np.mean(gram.diagonal())), 1e-300)
        M = gram.T  # the same matrix, in the order that LAPACK overwrites in place
        mean_curvature = np.zeros(len(face.distinct))
        mean_curvature[face.where] = face.curvature_of_mean
        M[np.diag_indices(len(M))] += (mean_curvature + ridge) / face.count
        self._L, failed = lapack.dpotrf(M, lower=1, overwrite_a=1, clean=0)
        self.failed = bool(failed)
        self.stiffness = np.maximum(face.curvature_of_difference + ridge, 1e-5 * unit)

    def forward(self, R: Floats) -> Floats:
        """L^-1 of the means of R."""
        y: Floats = lapack.dtrtrs(self._L, np.asfortranarray(self.face.average(R)), lower=1)[0]
        return y

    def forward_units(self, rows: Ints) -> tuple[int, Floats]:
        """L^-1 of the means of unit vectors in the order of the factor: the first line that is not 0, and all below."""
        face, L = self.face, self._L
        at = face.where[rows]
        top = int(at[0])
        Y = self.lend((len(L) - top) * len(rows)).reshape(-1, len(rows))
        Y[:] = 0.0
        Y[at - top, np.arange(len(rows))] = 1.0 / face.count[at]
        for start in range(top, len(L), _BLOCK):
            lines, block = slice(start, start + _BLOCK), slice(start - top, start - top + _BLOCK)
            active = int(np.searchsorted(at, start + _BLOCK))
            Y[block, :active] -= L[lines, top:start] @ Y[: start - top, :active]
            Y[block, :active] = lapack.dtrtrs(L[lines, lines], Y[block, :active], lower=1)[0]
        return top, Y

    def backward(self, y: Floats) -> Floats:
        """What the rows get from y = L^-1 of their means."""
        share: Floats = (lapack.dtrtrs(self._L, y, lower=1, trans=1)[0] / self.face.count)[self.face.where]
        return share

    def apart(self, R: Floats) -> Floats:
        """What the rows get from their distance to the mean of their sample."""
        return (R - self.face.average(R)[self.face.where]) / self.stiffness[:, None]

    def apart_units(self, rows: Ints, others: Ints) -> Floats:
        """The same for unit vectors of ``others``, at ``rows``."""
        where = self.face.where
        same = where[rows][:, None] == where[others]
        return ((rows[:, None] == others) - same / self.face.count[where[others]]) / self.stiffness[others]


def newton_step(
    face: FreeFace,
    gram: Floats,
    ridge: float,
    times: Callable[[FreeFace, Floats], Floats],
    lend: Callable[[int], Floats] = np.empty,
    least: float = 0.0,
) -> float:
    """One step on the face, in place; the length taken (0: none, or shorter than ``least``).

    ``gram`` is the kernel matrix of its distinct samples, whose memory the step uses; ``times(face, x)`` the change of
    all scores for a change of rows; ``lend(size)`` gives room for so many numbers.
    """
    state = face.state
    factor = Factor(face, gram, ridge, lend)
    solved = None if factor.failed else _solve_face(face, factor)
    if solved is None:
        return 0.0
    change, theta, tight, tau = solved
    restored = _restore_flow(face, face.clipped(change), tight, tau)
    step = _search(face, restored[0], tight, restored[1], times, least) if restored else 0.0
    if state.problem.has_rho:
        state.io[loops.RHO] += step * (theta[-1] - state.io[loops.RHO])
    return step


def _solve_face(face: FreeFace, factor: Factor) -> tuple[Floats, Floats, Ints, Floats] | None:
    """Change of the rows, thresholds, the order constraints that stay tight, and the change of their multipliers."""
    order = face.state.order[1]
    tight = np.flatnonzero(order > 0)
    while True:
        solved = _solve_box(face, factor, tight)
        if solved is None:
            return None
        change, theta, tau = solved
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


class Sources:
    """What M^-1 is applied to: residuals, thresholds, and unit vectors of rows that were held at some turn.

    They come in parts; ``_parts`` has for each its first source, the first line of L^-1 times it that is not 0, and the
    lines from there; ``_products`` has those of its sources, with M^-1 between them, with all sources up to its last.
    """

    def __init__(self, face: FreeFace, factor: Factor) -> None:
        self.face, self.factor = face, factor
        self.given = np.column_stack([face.residual, face.member])
        self.rows: Ints = np.zeros(0, dtype=np.int64)
        self._apart = factor.apart(self.given)
        Y = factor.forward(self.given)
        self._parts = [(0, 0, Y)]
        self._products = [Y.T @ Y + self.given.T @ self._apart]

    def __len__(self) -> int:
        return self.given.shape[1] + len(self.rows)

    def add(self, rows: Ints) -> None:
        """Unit vectors of more rows."""
        rows = rows[np.argsort(self.face.where[rows])]
        for start in range(0, len(rows), _BLOCK):
            self._add(rows[start : start + _BLOCK])

    def _add(self, rows: Ints) -> None:
        top, Y = self.factor.forward_units(rows)
        known = len(self)
        self._parts.append((known, top, Y))
        self.rows = np.concatenate([self.rows, rows])
        products = self.factor.lend(len(rows) * len(self)).reshape(len(rows), -1)
        for first, above, other in self._parts:
            np.matmul(
                Y[max(above - top, 0) :].T, other[max(top - above, 0) :],
                out=products[:, first : first + other.shape[1]],
            )  # fmt: skip
        n = self.given.shape[1]
        products[:, :n] += self._apart[rows]
        products[:, n:] += self.factor.apart_units(self.rows, rows).T
        self._products.append(products)

    def products(self, use: Ints, at: Ints, out: Floats) -> None:
        """Those of the sources ``use`` (ascending) with each other into the lines and columns ``at`` of ``out``."""
        for (first, _, _), products in zip(self._parts, self._products, strict=True):
            lo, hi = np.searchsorted(use, [first, products.shape[1]])
            block = products[np.ix_(use[lo:hi] - first, use[:hi])]
            out[np.ix_(at[lo:hi], at[:hi])] = block
            out[np.ix_(at[:hi], at[lo:hi])] = block.T

    def with_residuals(self) -> Floats:
        """Products of all sources with the residuals."""
        return np.concatenate([products[:, 0] for products in self._products])

    def solve(self, weights: Floats) -> Floats:
        """M^-1 of the weighted sum of the sources."""
        n = self.given.shape[1]
        total = self.given @ weights[:n]
        total[self.rows] += weights[n:]
        y = np.zeros(len(self.face.distinct))
        for first, top, Y in self._parts:
            y[top:] += Y @ weights[first : first + Y.shape[1]]
        return self.factor.backward(y) + self.factor.apart(total[:, None])[:, 0]


def _solve_box(face: FreeFace, factor: Factor, tight: Ints) -> tuple[Floats, Floats, Floats] | None:
    """Change of the rows within their boxes, thresholds, change of the tight multipliers; None: too many were held."""
    n, k = face.member.shape[1], len(tight)
    G, gap = _constraints(face, tight)
    sources = Sources(face, factor)
    side = np.zeros(len(face.rows), dtype=np.int64)  # 1: held at the upper bound, -1: at the lower
    known = np.zeros(len(face.rows), dtype=bool)  # whether it ever was
    for _ in range(_TURNS):
        # x = M^-1 (r + E theta - forces);  E'x - G'tau = -owed, G theta = gap, x[held] = what is left to the bound
        held = np.flatnonzero(side[sources.rows])
        rows = sources.rows[held]
        left = np.where(side[rows] > 0, face.upper[rows], face.lower[rows]) - face.value[rows]
        use = np.concatenate([np.arange(1, n + 1), n + 1 + held])
        reached = sources.with_residuals()[use]
        right = np.concatenate([-face.owed - reached[:n], -gap, reached[n:] - left])
        theta, tau, force = np.split(_solve_small(partial(_system, sources, use, G), right), [n, n + k])
        weights = np.zeros(len(sources))
        weights[0], weights[1 : n + 1], weights[n + 1 + held] = 1.0, theta, -force
        change = sources.solve(weights)
        change[rows] = left
        above, below = face.value + change > face.upper, face.value + change < face.lower
        pulled = rows[force * side[rows] < 0]
        if not (len(pulled) or above.any() or below.any()):
            break
        side[pulled] = 0
        side[above], side[below] = 1, -1
        new = np.flatnonzero((side != 0) & ~known)
        if len(sources.rows) + len(new) > max(_MOST_HELD * len(side), _FEW_HELD):
            return None
        if len(new):
            known[new] = True
            sources.add(new)
    return change, theta, tau


def _system(sources: Sources, use: Ints, G: Floats) -> Floats:
    """What thresholds, tight multipliers and forces solve, given products of the sources ``use``."""
    k, n = G.shape
    size = k + len(use)
    A = np.zeros((size, size), order="F")
    sources.products(use, np.concatenate([np.arange(n), np.arange(n + k, size)]), A)
    A[:n, n + k :] *= -1.0
    A[n + k :, :n] *= -1.0
    A[:n, n : n + k], A[n : n + k, :n] = -G.T, -G
    return A


def _solve_small(system: Callable[[], Floats], right: Floats) -> Floats:
    """A symmetric system that may be singular (thresholds without free rows), in its own memory."""
    A, scale = _scaled(system())
    _, _, x, singular = lapack.dgesv(A, scale * right, overwrite_a=1)
    if singular:
        A, scale = _scaled(system())
        x = np.linalg.lstsq(A, scale * right, rcond=1e-12)[0]
    return np.multiply(scale, x, dtype=np.float64)


def _scaled(A: Floats) -> tuple[Floats, Floats]:
    """The matrix scaled in place to a unit diagonal, a little more than that, and the scale."""
    largest = max(float(A.max(initial=1e-300)), -float(A.min(initial=0.0)))
    scale = 1.0 / np.sqrt(np.maximum(np.abs(np.diag(A)), 1e-12 * largest))
    A *= scale[:, None]
    A *= scale
    A[np.diag_indices(len(A))] += 1e-13
    return A, scale


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
