"""The best direction of a plane, exactly: sweep the angle and count what changes at every hyperplane met."""

import numpy as np
from numpy.typing import NDArray

from hullrank.exact.arrangement import Arrangement

Floats = NDArray[np.float64]

_FLAT = 1e-13
_THIN = 1e-11


def sweep_plane(arrangement: Arrangement, A: Floats, B: Floats) -> tuple[float, float, float]:
    """Maximum of F over w = cos a + sin b for A = D a, B = D b; returns (value, cos, sin).

    Pair p changes sides at tan = -A_p / B_p. Sorted, these are the ends of the open arcs; F on each follows by prefix
    sums, O(P log P) in all. Of the best arcs the widest is taken, at its middle. Arcs thinner than rounding are ties
    and are passed over.
    """
    flat = np.abs(B) <= _FLAT
    moving = np.flatnonzero(~flat)
    t = -A[moving] / B[moving]
    order = np.argsort(t)
    t, events = t[order], moving[order]
    ends = np.concatenate([[-np.inf], t, [np.inf]])
    with np.errstate(invalid="ignore"):
        size = np.abs(ends)
        thin = np.diff(ends) <= _THIN * (1.0 + np.minimum(size[1:], size[:-1]))
    rising = np.where(B[events] > 0, 1.0, -1.0)
    best = (-np.inf, 1.0, 0.0)
    for side in (1.0, -1.0):
        won = np.where(flat, side * A > _FLAT, side * B < 0)
        values = arrangement.walk(won, events, side * rising)
        values[thin] = -np.inf
        top = values.max()
        arcs = np.flatnonzero(values >= top - 1e-9 * max(1.0, abs(top)))
        angles = np.arctan(np.stack([ends[arcs], ends[arcs + 1]]))
        widest = int(np.argmax(angles[1] - angles[0]))
        if values[arcs[widest]] > best[0]:
            middle = angles[:, widest].mean()
            best = (float(values[arcs[widest]]), side * float(np.cos(middle)), side * float(np.sin(middle)))
    return best


def maximise_flat(arrangement: Arrangement) -> tuple[float, Floats]:
    """Maximum of F exactly, and a direction that attains it, for an arrangement in one or two dimensions."""
    if arrangement.D.shape[1] == 1:
        values = [arrangement.value(np.array([sign])) for sign in (1.0, -1.0)]
        return max(values), np.array([1.0 if values[0] >= values[1] else -1.0])
    value, cosine, sine = sweep_plane(arrangement, arrangement.D[:, 0], arrangement.D[:, 1])
    return value, np.array([cosine, sine])
