"""Linear programs with few equations and many variables in a box, by Mehrotra's predictor-corrector method.

    minimise c'x   subject to   A x = 0,  0 <= x <= u        (u > 0 and finite)

Each iteration factors the (p, p) matrix A D A', D = 1 / (z / x + v / (u - x)), with z and v the multipliers of the two
bounds, so that the time is that of some twenty products with A (Wright: Primal-dual interior-point methods, 1997). The
products x z and (u - x) v aim at values proportional to given weights: with u for them, a variable with twice the bound
is two variables. No x in the box with A x = 0 has a lower c'x than the least (c - A'y)'x of the whole box.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
MOST_ITERATIONS = 60
FEASIBLE = 1e-9  # share of the sum of |A x| up to which A x counts as 0


def multipliers_in_box(
    c: Floats, A: Floats, upper: Floats, weight: Floats, floor: float, *, tol: float = 1e-8, base: float = 0.0,
    rough: float = 0.0,
) -> Floats | None:  # fmt: skip
    """Multipliers y of the equations by which no x has a c'x below the least one by more than a tolerance.

    That is relative to the least c'x, or to ``floor`` where that is larger. ``rough`` is the error that will do, as a
    share of what the least c'x lies above ``base``, a value that it is known not to go below. None where rounding does
    not let the method come to its end.
    """
    from hullrank.solvers import _box_loops

    p, n = A.shape
    y, image, dy = np.empty((3, p))
    found = _box_loops.search(
        c, A, upper, weight, MOST_ITERATIONS, tol, floor, FEASIBLE, base, rough,
        np.empty((_box_loops.ROOM, n)), np.empty((p, p)), y, image, dy,
    )  # fmt: skip
    return y if found >= 0 else None
