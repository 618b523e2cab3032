"""Linear programs with few equations and many variables in a box, by Mehrotra's predictor-corrector method.

    minimise c'x   subject to   A x = 0,  0 <= x <= u        (u > 0 and finite)

Each iteration factors the (p, p) matrix A D A', D = 1 / (z / x + v / (u - x)), with z and v the multipliers of the two
bounds, so that the time is that of some twenty products with A (Wright: Primal-dual interior-point methods, 1997). The
products x z and (u - x) v aim at values proportional to given weights: with u for them, a variable with twice the bound
is two variables. No x in the box with A x = 0 has a lower c'x than the least (c - A'y)'x of the whole box.

The search is one compiled pass: with few variables, calls of NumPy cost more than their work.
"""

from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hullrank._jit import njit, place
from hullrank.solvers._loops import ANY_ORDER

Floats = NDArray[np.float64]
Array = Any
MOST_ITERATIONS = 60
TOL = 1e-8  # error of c'x that will do in any case, as a share of its size
FEASIBLE = 1e-9  # share of the sum of |A x| up to which A x counts as 0
INSIDE = 0.9995  # share of the way to the nearest bound that a step goes
DEPENDENT = 1e-13  # share of a diagonal entry up to which its pivot is rounding: the equation follows from others
LARGE = 1e100  # root of the pivot of such an equation, with which its multiplier stays where it is
PIECE = 1024  # variables at a time in products of all pairs of equations, which then stay in the cache
_VECTORS = 13  # vectors of the length of x in ``work``
_INNER: dict[str, Any] = {
    "error_model": "numpy", "fastmath": ANY_ORDER, "no_cpython_wrapper": True, "no_cfunc_wrapper": True
}  # fmt: skip


def multipliers_in_box(
    c: Floats, A: Floats, upper: Floats, weight: Floats, floor: float, *, base: float = 0.0, rough: float = 0.0
) -> Floats | None:
    """Multipliers y of the equations by which no x has a c'x below the least one by more than a tolerance.

    That is relative to the least c'x, or to ``floor`` where that is larger. ``rough`` is the error that will do, as a
    share of what the least c'x lies above ``base``, a value that it is known not to go below. None where rounding does
    not let the method come to its end.
    """
    p, n = A.shape
    y, image, dy = np.empty((3, p))
    ended = _search(c, A, upper, weight, floor, base, rough, np.empty((_VECTORS, n)), np.empty((p, p)), y, image, dy)
    return y if ended else None


@njit(**_INNER)
def _reduce(c: Array, A: Array, y: Array, reduced: Array) -> None:
    """c - A'y, what x costs beside the equations."""
    for k in range(len(c)):
        reduced[k] = c[k]
    for i in range(len(A)):
        for k in range(len(c)):
            reduced[k] -= y[i] * A[i, k]


@njit(**_INNER)
def _image(A: Array, x: Array, image: Array) -> float:
    """A x; returns what is left of it, as a share of the terms that add up to it."""
    missed = 0.0
    for i in range(len(A)):
        total, size = 0.0, 1e-300
        for k in range(len(x)):
            total += A[i, k] * x[k]
            size += abs(A[i, k]) * x[k]
        image[i] = total
        missed = max(missed, abs(total) / size)
    return missed


@njit(**_INNER)
def _factor(A: Array, d: Array, M: Array, weighed: Array) -> None:
    """The Cholesky factor of A D A' in the lower half of M; equations that follow from earlier ones are left out."""
    for i in range(len(M)):
        for j in range(i + 1):
            M[i, j] = 0.0
    for piece in range(0, len(d), PIECE):
        begin, length = place(piece), place(min(PIECE, len(d) - piece))
        for i in range(len(M)):
            for k in range(length):
                weighed[k] = d[begin + k] * A[i, begin + k]
            for j in range(i + 1):
                total = 0.0
                for k in range(length):
                    total += weighed[k] * A[j, begin + k]
                M[i, j] += total
    for i in range(len(M)):
        least = DEPENDENT * M[i, i]
        for j in range(i + 1):
            total = M[i, j]
            for k in range(j):
                total -= M[i, k] * M[j, k]
            if j < i:
                M[i, j] = total / M[j, j]
            else:
                M[i, i] = sqrt(total) if total > least else LARGE


@njit(**_INNER)
def _solve(A: Array, d: Array, M: Array, image: Array, rest: Array, dy: Array, dx: Array) -> None:
    """A D A' dy = A D rest - image, and dx = D (A'dy - rest)."""
    for k in range(len(d)):
        dx[k] = d[k] * rest[k]
    for i in range(len(A)):
        total = -image[i]
        for k in range(len(d)):
            total += A[i, k] * dx[k]
        for j in range(i):
            total -= M[i, j] * dy[j]
        dy[i] = total / M[i, i]
    for i in range(len(A) - 1, -1, -1):
        dy[i] /= M[i, i]
        for j in range(i):
            dy[j] -= M[i, j] * dy[i]
    for k in range(len(d)):
        dx[k] = -rest[k]
    for i in range(len(A)):
        for k in range(len(d)):
            dx[k] += dy[i] * A[i, k]
    for k in range(len(d)):
        dx[k] *= d[k]


@njit(**_INNER)
def _lengths(x: Array, z: Array, v: Array, room: Array, dx: Array, dz: Array, dv: Array) -> Any:
    """How far x and the multipliers may go and stay inside."""
    primal, dual = INSIDE, INSIDE
    for k in range(len(x)):
        primal = max(primal, max(-dx[k] / x[k], dx[k] / room[k]))
        dual = max(dual, max(-dz[k] / z[k], -dv[k] / v[k]))
    return INSIDE / primal, INSIDE / dual


@njit(error_model="numpy", fastmath=ANY_ORDER)
def _search(
    c: Array, A: Array, upper: Array, weight: Array, floor: float, base: float, rough: float, work: Array, M: Array,
    y: Array, image: Array, dy: Array,
) -> bool:  # fmt: skip
    """Iterate from the middle of the box; y ends as the multipliers of the equations.

    ``M`` has room for a matrix of the equations, image = A x, and ``work`` has the vectors of the point and of its
    direction. Returns whether the search came to its end. Whether a rough answer will do does not depend on the
    coordinates in which the equations are stated: every step leaves the same share of all of A x.
    """
    x, z, v, room, reduced, d = work[0], work[1], work[2], work[3], work[4], work[5]
    low, high, rest, dx, dz, dv, target = work[6], work[7], work[8], work[9], work[10], work[11], work[12]
    n, p = len(c), len(A)
    total, share = 0.0, 1.0
    for k in range(n):
        total += weight[k]
        x[k] = min(upper[k] / 2, 3 * weight[k])
        room[k] = upper[k] - x[k]
        z[k], v[k] = weight[k] / (2 * x[k]), weight[k] / (2 * room[k])
    for i in range(p):
        y[i] = 0.0
    for _ in range(MOST_ITERATIONS):
        _reduce(c, A, y, reduced)
        missed = _image(A, x, image)
        value, bound, now = 0.0, 0.0, 0.0
        for k in range(n):
            value += c[k] * x[k]
            bound += min(reduced[k], 0.0) * upper[k]
            now += x[k] * z[k] + room[k] * v[k]
        gap = value - bound
        for i in range(p):
            gap -= y[i] * image[i]
        if not abs(gap) < 1e300:
            return False
        close = missed <= FEASIBLE and gap <= TOL * max(abs(value), floor)
        if close or (share <= rough and gap <= rough * (bound - base)):
            return True
        for k in range(n):
            low[k] = z[k] / x[k]
            high[k] = v[k] / room[k]
            d[k] = 1 / (low[k] + high[k])
        _factor(A, d, M, rest)
        _solve(A, d, M, image, reduced, dy, dx)
        for k in range(n):
            dz[k] = -z[k] - low[k] * dx[k]
            dv[k] = -v[k] + high[k] * dx[k]
        primal, dual = _lengths(x, z, v, room, dx, dz, dv)
        left = 0.0
        for k in range(n):
            left += (x[k] + primal * dx[k]) * (z[k] + dual * dz[k])
            left += (room[k] - primal * dx[k]) * (v[k] + dual * dv[k])
        aim = now / (2 * total) * (left / now) ** 3
        for k in range(n):
            target[k] = (aim * weight[k] + dx[k] * dv[k]) / room[k] - v[k]
            dz[k] = (aim * weight[k] - dx[k] * dz[k]) / x[k] - z[k]
            rest[k] = reduced[k] - z[k] + v[k] - dz[k] + target[k]
        _solve(A, d, M, image, rest, dy, dx)
        for k in range(n):
            dz[k] -= low[k] * dx[k]
            dv[k] = target[k] + high[k] * dx[k]
        primal, dual = _lengths(x, z, v, room, dx, dz, dv)
        for k in range(n):
            x[k] += primal * dx[k]
            room[k] = upper[k] - x[k]
            z[k] += dual * dz[k]
            v[k] += dual * dv[k]
        share *= 1 - primal
        for i in range(p):
            y[i] += dual * dy[i]
    return False
