"""From a direction in the best cell to the one of largest margin in it, so that equal data give equal weights."""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hullrank.exact.statement import Statement, column_scale

Floats = NDArray[np.float64]


def settle(statement: Statement, w: Floats) -> tuple[Floats, Fraction]:
    """The largest-margin direction that wins every pair w wins, scaled to max |w_j| = 1, and its exact value.

    The margin is the smallest score difference of a won pair per unit of |w|, in standard deviations of the columns.
    From a w that is not optimal the step may win more pairs, and is repeated. If rounding makes it lose a pair, the
    direction before it is returned.
    """
    scale = column_scale(statement.X)
    D = (statement.X[statement.above] - statement.X[statement.below]) / scale
    length = np.linalg.norm(D, axis=1)
    D, length = D[length > 0], length[length > 0]
    w = _off_planes(D / length[:, None], w / np.linalg.norm(w))
    settled = _scaled(w / scale)
    value = statement.recount(settled)
    while True:
        widest = nearest_point(D[D @ w > 0])
        if widest is None:
            return settled, value
        candidate = _scaled(widest / scale)
        counted = statement.recount(candidate)
        if counted < value:
            return settled, value
        if counted == value:
            return candidate, counted
        w, settled, value = widest, candidate, counted


def nearest_point(D: Floats, max_iter: int = 1000) -> Floats | None:
    """The point of conv{D_p} nearest to 0 (Wolfe's method), which is the direction of largest min_p D_p.w / |w|.

    None if the hull comes too near to 0 to tell.
    """
    if not len(D):
        return None
    corral = [int(np.argmin((D * D).sum(axis=1)))]
    weights = np.ones(1)
    size = np.abs(D).max()
    for _ in range(max_iter):
        x = weights @ D[corral]
        products = D @ x
        entering = int(np.argmin(products))
        if products[entering] >= x @ x - 1e-13 * size * np.linalg.norm(x) or entering in corral:
            break
        corral, weights = _step(D, [*corral, entering], np.append(weights, 0.0))
    x = weights @ D[corral]
    return x if (D @ x).min() > 0 else None


def _step(D: Floats, corral: list[int], weights: Floats) -> tuple[list[int], Floats]:
    """Move to the affine minimiser of the corral, dropping the points that block the way."""
    while True:
        points = D[corral]
        k = len(corral)
        system = np.block([[points @ points.T, np.ones((k, 1))], [np.ones((1, k)), np.zeros((1, 1))]])
        target = np.linalg.lstsq(system, np.append(np.zeros(k), 1.0), rcond=None)[0][:k]
        if (target > 1e-14).all():
            return corral, target
        falling = target <= 1e-14
        stop = min(1.0, float((weights[falling] / np.maximum(weights[falling] - target[falling], 1e-300)).min()))
        weights = weights + stop * (target - weights)
        keep = weights > 1e-14
        if keep.all():
            keep[int(np.argmin(weights))] = False
        corral = [index for index, kept in zip(corral, keep, strict=True) if kept]
        weights = weights[keep] / weights[keep].sum()


def _off_planes(D: Floats, w: Floats) -> Floats:
    """Step off the planes of pairs whose opposite cancelled them: whichever side, one of the two is won."""
    tied = np.abs(D @ w) < 1e-11
    if not tied.any():
        return w
    rng = np.random.default_rng(0)
    best, won = w, (D @ w > 1e-11).sum()
    for size in 10.0 ** -np.repeat(np.arange(3, 11), 4):
        stepped = w + size * rng.normal(size=len(w))
        gained = (D @ stepped > 1e-11 * np.linalg.norm(stepped)).sum()
        if gained > won:
            best, won = stepped, gained
    return best


def _scaled(w: Floats) -> Floats:
    return w / np.abs(w).max()
