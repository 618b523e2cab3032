"""Conjugate gradients with a preconditioner (Hestenes and Stiefel 1952)."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def conjugate_gradients(
    product: Callable[[Floats], Floats],
    r: Floats,
    inverse: Callable[[Floats], Floats],
    *,
    tol: float = 1e-10,
    max_iter: int = 1000,
) -> Floats:
    """Solve product(x) = r for a positive definite product, from x = 0.

    ``inverse`` multiplies by the inverse of the preconditioner. The end is reached when the residual has fallen to
    ``tol`` times its first length, both measured by the preconditioner, or when rounding leaves no curvature.
    """
    x = np.zeros_like(r)
    residual = r.copy()
    z = inverse(residual)
    p, rz = z, float(residual @ z)
    target = tol * tol * rz
    for _ in range(min(max_iter, 10 * len(r))):
        if rz <= target or rz <= 0:
            break
        Ap = product(p)
        curvature = float(p @ Ap)
        if curvature <= 0:
            break
        step = rz / curvature
        x += step * p
        residual -= step * Ap
        z = inverse(residual)
        rz, before = float(residual @ z), rz
        p = z + (rz / before) * p
    return x
