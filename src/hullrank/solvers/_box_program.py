"""Linear programs with few equations and many variables in a box, by Mehrotra's predictor-corrector method.

    minimise c'x   subject to   A x = 0,  0 <= x <= u        (u > 0 and finite)

Each iteration factors the (p, p) matrix A D A', D = 1 / (z / x + v / (u - x)), with z and v the multipliers of the two
bounds, so that the time is that of some twenty products with A (Wright: Primal-dual interior-point methods, 1997).
"""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

Floats = NDArray[np.float64]
MOST_ITERATIONS = 60
FEASIBLE = 1e-9  # of the sum of |A x|, which may be left of A x
INSIDE = 0.9995  # of the way to the nearest bound that a step goes


def least_in_box(
    c: Floats, A: Floats, upper: Floats, floor: float, tol: float = 1e-8
) -> tuple[float, Floats] | tuple[None, None]:
    """The least c'x to a tolerance relative to its size, or to ``floor`` where that is larger, and the multipliers y.

    None where rounding does not let the method come to its end.
    """
    point = _Point(c, A, upper)
    with np.errstate(all="ignore"):
        for _ in range(MOST_ITERATIONS):
            value = float(c @ point.x)
            if not np.isfinite(value):
                return None, None
            if point.is_feasible and value - point.bound <= tol * max(abs(value), floor):
                return value, point.y
            if not point.step():
                return None, None
    return None, None


class _Point:
    """A point inside the box with multipliers y of the equations, z and v of the lower and upper bounds."""

    def __init__(self, c: Floats, A: Floats, upper: Floats) -> None:
        self.c, self.A, self.upper = c, A, upper
        self.x = np.minimum(upper, np.median(upper)) / 2
        self.y, self.z, self.v = np.zeros(len(A)), np.ones(len(c)), np.ones(len(c))

    @property
    def is_feasible(self) -> bool:
        """Whether A x is 0 but for rounding."""
        return bool(np.all(np.abs(self.A @ self.x) <= FEASIBLE * (np.abs(self.A) @ self.x)))

    @property
    def bound(self) -> float:
        """No x in the box with A x = 0 has a lower c'x than the least (c - A'y)'x of the whole box."""
        return float(np.minimum(self.c - self.y @ self.A, 0.0) @ self.upper)

    def step(self) -> bool:
        """Predictor and corrector; False where the equations have no solution."""
        x, z, v, A = self.x, self.z, self.v, self.A
        self.room = self.upper - x
        self.missed, self.force = -(A @ x), self.c - self.y @ A - z + v
        self.d = 1 / (z / x + v / self.room)
        self.weighed = A * self.d
        self.factor, failed = lapack.dpotrf(self.weighed @ A.T)
        if failed:
            return False
        none = np.zeros(len(x))
        dx, _, dz, dv = self._direction(0.0, none, none, none)
        primal, dual = self._lengths(dx, dz, dv)
        now = float(x @ z + self.room @ v)
        left = float((x + primal * dx) @ (z + dual * dz) + (self.room - primal * dx) @ (v + dual * dv))
        dx, dy, dz, dv = self._direction(now / (2 * len(x)) * (left / now) ** 3, dx, dz, dv)
        primal, dual = self._lengths(dx, dz, dv)
        self.x, self.y = x + primal * dx, self.y + dual * dy
        self.z, self.v = z + dual * dz, v + dual * dv
        return True

    def _direction(self, target: float, dx: Floats, dz: Floats, dv: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """(dx, dy, dz, dv) towards products of ``target`` with both bounds, the last direction's products taken off."""
        low, high = (target - dx * dz) / self.x - self.z, (target + dx * dv) / self.room - self.v
        rest = self.force - low + high
        dy = lapack.dpotrs(self.factor, self.missed + self.weighed @ rest)[0]
        dx = self.d * (dy @ self.A - rest)
        return dx, dy, low - self.z / self.x * dx, high + self.v / self.room * dx

    def _lengths(self, dx: Floats, dz: Floats, dv: Floats) -> tuple[float, float]:
        """How far x and the multipliers may go and stay inside."""
        primal = max((-dx / self.x).max(), (dx / self.room).max(), INSIDE)
        dual = max((-dz / self.z).max(), (-dv / self.v).max(), INSIDE)
        return INSIDE / float(primal), INSIDE / float(dual)
