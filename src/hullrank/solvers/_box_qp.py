"""Dense convex quadratic programmes in boxes, with a few linear constraints: the problem of a Newton step.

    min  1/2 x'Mx - r'x - g't    s.t.  A'x - G't = b,  lower <= x <= upper,  t >= floor

x has n entries (up to thousands), t and the multipliers theta of the constraints have few. The primal-dual active-set
method (Hintermüller, Ito and Kunisch 2003) holds some entries of x at a bound and solves the linear system

    M x = r + A theta - force,   A'x - G't = b,   G theta = g,     force = 0 where x is free, x given where it is held,

then holds the entries that left their box, releases those whose force has the wrong sign, and repeats until nothing
changes, which is the optimum. One Cholesky factor M = L L' serves all these systems: held entries enter through the
columns L^-1 e_i of a Schur complement (Gill, Murray, Saunders and Wright 1990). The column of entry i is zero above
line i, so it is cheap if entries that are likely to be held stand last.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_BLOCK = 128  # columns, and lines, of the inverse that one triangular solve computes


@dataclass(frozen=True)
class BoxQP:
    """The data of the programme; ``M`` (n, n) is symmetric positive definite, and solving overwrites it."""

    M: Floats
    r: Floats
    A: Floats  # (n, constraints)
    b: Floats
    lower: Floats
    upper: Floats
    G: Floats  # (len(t), constraints)
    g: Floats
    floor: Floats


@dataclass(frozen=True)
class BoxSolution:
    """The optimal x and t, the multipliers of the constraints, and the number of linear systems solved."""

    x: Floats
    t: Floats
    theta: Floats
    turns: int


def solve_box_qp(qp: BoxQP, most_turns: int = 50, most_held: float = np.inf) -> BoxSolution | None:
    """The optimum; None if M is not positive definite, or if the turns or the held entries were too many."""
    # The transpose of the symmetric M has the memory order that LAPACK factors in place.
    L, failed = lapack.dpotrf(qp.M.T, lower=1, overwrite_a=1, clean=0)
    if failed:
        return None
    columns = _Columns(L, np.column_stack([qp.r, qp.A]))
    side = np.zeros(len(qp.r), dtype=np.int64)  # 1: x is held at its upper bound, -1: at its lower bound
    known = np.zeros(len(qp.r), dtype=bool)  # whether an entry has its column
    at_floor = np.zeros(len(qp.g), dtype=bool)
    for turn in range(1, most_turns + 1):
        held = np.flatnonzero(side[columns.entries])
        x, t, theta, force = _solve_held(qp, columns, side, held, at_floor)
        entries = columns.entries[held]
        released = entries[force * side[entries] < 0]
        above, below = x > qp.upper, x < qp.lower
        falling, rising = ~at_floor & (t < qp.floor), at_floor & (qp.G @ theta < qp.g)
        if not (len(released) or above.any() or below.any() or falling.any() or rising.any()):
            return BoxSolution(x, t, theta, turn)
        side[released] = 0
        side[above], side[below] = 1, -1
        at_floor ^= falling | rising
        new = np.flatnonzero((side != 0) & ~known)
        if len(columns.entries) + len(new) > most_held:
            return None
        known[new] = True
        columns.add(new)
    return None


class _Columns:
    """L^-1 times r, A and the unit vectors of ``entries``, and the scalar products of all these columns.

    ``_parts`` holds the columns in blocks: the first line that is not zero, and the lines from there on.
    """

    def __init__(self, L: Floats, given: Floats) -> None:
        self._L, self.n_given = L, given.shape[1]
        Y: Floats = lapack.dtrtrs(L, np.asfortranarray(given), lower=1)[0]
        self._parts = [(0, Y)]
        self.products: Floats = Y.T @ Y
        self.entries: Ints = np.zeros(0, dtype=np.int64)

    def add(self, entries: Ints) -> None:
        """Add the columns of unit vectors, in ascending order of their entries."""
        for start in range(0, len(entries), _BLOCK):
            some = entries[start : start + _BLOCK]
            top, Y = self._unit_columns(some)
            cross = np.vstack(
                [other[max(top - first, 0) :].T @ Y[max(first - top, 0) :] for first, other in self._parts]
            )
            self.products = np.block([[self.products, cross], [cross.T, Y.T @ Y]])
            self._parts.append((top, Y))
            self.entries = np.concatenate([self.entries, some])

    def _unit_columns(self, entries: Ints) -> tuple[int, Floats]:
        """L^-1 of unit vectors by forward substitution, from the first line that is not zero."""
        L, top = self._L, int(entries[0])
        Y = np.zeros((len(L) - top, len(entries)))
        Y[entries - top, np.arange(len(entries))] = 1.0
        for start in range(top, len(L), _BLOCK):
            lines, block = slice(start, start + _BLOCK), slice(start - top, start - top + _BLOCK)
            begun = int(np.searchsorted(entries, start + _BLOCK))  # later columns are still zero in these lines
            Y[block, :begun] -= L[lines, top:start] @ Y[: start - top, :begun]
            Y[block, :begun] = lapack.dtrtrs(L[lines, lines], Y[block, :begun], lower=1)[0]
        return top, Y

    def solve(self, weights: Floats) -> Floats:
        """M^-1 of the weighted sum of r, the columns of A, and the unit vectors."""
        y, at = np.zeros(len(self._L)), 0
        for top, Y in self._parts:
            y[top:] += Y @ weights[at : at + Y.shape[1]]
            at += Y.shape[1]
        x: Floats = lapack.dtrtrs(self._L, y, lower=1, trans=1)[0]
        return x


def _solve_held(
    qp: BoxQP, columns: _Columns, side: Ints, held: Ints, at_floor: NDArray[np.bool_]
) -> tuple[Floats, Floats, Floats, Floats]:
    """x, t, theta and the forces on the entries ``held`` (places in ``columns.entries``), given the active set."""
    q, k = qp.A.shape[1], int(np.count_nonzero(~at_floor))
    entries = columns.entries[held]
    bound = np.where(side[entries] > 0, qp.upper[entries], qp.lower[entries])
    G = qp.G[~at_floor]
    use = np.concatenate([np.arange(1, q + 1), columns.n_given + held])
    size = k + len(use)
    at = np.concatenate([np.arange(q), np.arange(q + k, size)])
    system = np.zeros((size, size), order="F")
    system[np.ix_(at, at)] = columns.products[np.ix_(use, use)]
    system[:q, q + k :] *= -1.0
    system[q + k :, :q] *= -1.0
    system[:q, q : q + k], system[q : q + k, :q] = -G.T, -G
    from_r = columns.products[use, 0]
    balance = qp.b + qp.G[at_floor].T @ qp.floor[at_floor]
    right = np.concatenate([balance - from_r[:q], -qp.g[~at_floor], from_r[q:] - bound])
    theta, free_t, force = np.split(solve_symmetric(system, right), [q, q + k])
    weights = np.zeros(len(columns.products))
    weights[0], weights[1 : q + 1], weights[columns.n_given + held] = 1.0, theta, -force
    x, t = columns.solve(weights), qp.floor.copy()
    x[entries], t[~at_floor] = bound, free_t
    return x, t, theta, force


def solve_symmetric(A: Floats, right: Floats) -> Floats:
    """Solve a symmetric system, in the sense of least squares if it is singular; A is scaled in place.

    The system is singular where a threshold has no free row, or where tight order constraints form a cycle.
    """
    largest = max(float(np.abs(A).max(initial=0.0)), 1e-300)
    scale = 1.0 / np.sqrt(np.maximum(np.abs(np.diag(A)), 1e-12 * largest))
    A *= scale[:, None]
    A *= scale
    A[np.diag_indices(len(A))] += 1e-13
    _, _, x, singular = lapack.dgesv(A, scale * right)
    if singular:
        x = np.linalg.lstsq(A, scale * right, rcond=1e-12)[0]
    return np.multiply(scale, x, dtype=np.float64)
