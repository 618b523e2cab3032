"""Linear programs with few equations and many variables in a box, by Mehrotra's predictor-corrector method.

    minimise c'x   subject to   A x = 0,  0 <= x <= u        (u > 0 and finite)

Each iteration factors the (p, p) matrix A D A', D = 1 / (z / x + v / (u - x)), with z and v the multipliers of the two
bounds, so that the time is that of some twenty products with A (Wright: Primal-dual interior-point methods, 1997). The
products x z and (u - x) v aim at values proportional to given weights: with u for them, a variable with twice the bound
is two variables.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

Floats = NDArray[np.float64]
MOST_ITERATIONS = 60
FEASIBLE = 1e-9  # of the sum of |A x|, which may be left of A x,
ROUGHLY_FEASIBLE = 1e-4  # and where a rough answer will do
INSIDE = 0.9995  # of the way to the nearest bound that a step goes


class Least(NamedTuple):
    """The least c'x, and multipliers y of the equations by which no x in the box has a much lower one."""

    value: float
    y: Floats


def least_in_box(
    c: Floats, A: Floats, upper: Floats, weight: Floats, floor: float, *, tol: float = 1e-8, base: float = 0.0,
    rough: float = 0.0,
) -> Least | None:  # fmt: skip
    """The least c'x to a tolerance relative to its size, or to ``floor`` where that is larger.

    ``rough`` is the error that will do, as a share of what it lies above ``base``, a value that it is known not to go
    below. None where rounding does not let the method come to its end.
    """
    point = _Point(c, A, upper, weight)
    with np.errstate(all="ignore"):
        for _ in range(MOST_ITERATIONS):
            value, bound, missed = float(c @ point.x), point.bound, point.missed
            if not np.isfinite(value):
                return None
            gap = value - float(point.y @ point.image) - bound
            close = missed <= FEASIBLE and gap <= tol * max(abs(value), floor)
            if close or (missed <= ROUGHLY_FEASIBLE and gap <= rough * (bound - base)):
                return Least(value, point.y)
            if not point.step():
                return None
    return None


class _Point:
    """A point inside the box with multipliers y of the equations, z and v of the lower and upper bounds."""

    def __init__(self, c: Floats, A: Floats, upper: Floats, weight: Floats) -> None:
        self.c, self.A, self.upper, self.weight = c, A, upper, weight
        self.sizes, self.total = np.abs(A), float(weight.sum())
        self.x = np.minimum(upper / 2, 3 * weight)
        self.y, self.z, self.v = np.zeros(len(A)), weight / (2 * self.x), weight / (2 * (upper - self.x))
        self._measure()

    def _measure(self) -> None:
        """A x, and c - A'y, what x costs beside the equations."""
        self.image, self.reduced = self.A @ self.x, self.c - self.y @ self.A

    @property
    def missed(self) -> float:
        """What is left of A x, as a share of the terms that add up to it."""
        return float((np.abs(self.image) / np.maximum(self.sizes @ self.x, 1e-300)).max(initial=0.0))

    @property
    def bound(self) -> float:
        """No x in the box with A x = 0 has a lower c'x than the least (c - A'y)'x of the whole box."""
        return float(np.minimum(self.reduced, 0.0) @ self.upper)

    def step(self) -> bool:
        """Predictor and corrector; False where the equations have no solution."""
        x, z, v, A = self.x, self.z, self.v, self.A
        self.room = self.upper - x
        self.force, self.low, self.high = self.reduced - z + v, z / x, v / self.room
        self.d = 1 / (self.low + self.high)
        self.weighed = A * self.d
        self.factor, failed = lapack.dpotrf(self.weighed @ A.T)
        if failed:
            return False
        dx, _, dz, dv = self._direction(-z, -v)
        primal, dual = self._lengths(dx, dz, dv)
        now = float(x @ z + self.room @ v)
        left = float((x + primal * dx) @ (z + dual * dz) + (self.room - primal * dx) @ (v + dual * dv))
        target = now / (2 * self.total) * (left / now) ** 3 * self.weight
        dx, dy, dz, dv = self._direction((target - dx * dz) / x - z, (target + dx * dv) / self.room - v)
        primal, dual = self._lengths(dx, dz, dv)
        self.x, self.y = x + primal * dx, self.y + dual * dy
        self.z, self.v = z + dual * dz, v + dual * dv
        self._measure()
        return True

    def _direction(self, dz: Floats, dv: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """(dx, dy, dz, dv), given the dz and dv that would bring the products to their aim where x stays."""
        rest = self.force - dz + dv
        dy = lapack.dpotrs(self.factor, self.weighed @ rest - self.image)[0]
        dx = self.d * (dy @ self.A - rest)
        return dx, dy, dz - self.low * dx, dv + self.high * dx

    def _lengths(self, dx: Floats, dz: Floats, dv: Floats) -> tuple[float, float]:
        """How far x and the multipliers may go and stay inside."""
        primal = max(-(dx / self.x).min(), (dx / self.room).max(), INSIDE)
        dual = max(-(dz / self.z).min(), -(dv / self.v).min(), INSIDE)
        return INSIDE / float(primal), INSIDE / float(dual)
