"""The best direction of a plane: sweep the angle and count what changes at every hyperplane met."""

import numpy as np
from numpy.typing import NDArray

from hullrank.exact.arrangement import Arrangement
from hullrank.exact.integers import parallel_classes, turning_order

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

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
    """Maximum of F over a line or a plane that holds all pair directions, exactly, and a direction that attains it.

    Cells too thin for floating point count as well: their order is decided in integers. The direction in such a cell
    is rounded, and may miss it; a recount tells.
    """
    blurred = np.asarray(~arrangement.D.any(axis=1))
    clear = arrangement.decided(blurred, ~blurred)
    if clear.D.shape[1] == 1 or not len(clear.D):
        ways = [np.full(arrangement.D.shape[1], sign) for sign in (1.0, -1.0)]
        both = [clear.value(way) for way in ways]
        return max(both), ways[int(np.argmax(both))]
    turns = _Turns(clear)
    best, chosen = -np.inf, np.empty(0)
    for side in (1.0, -1.0):
        values = turns.values(side)
        arcs = np.flatnonzero(values >= values.max() - 1e-9 * max(1.0, abs(values.max())))
        widest = arcs[int(np.argmax(turns.width[arcs]))]
        if values[widest] > best:
            best, chosen = float(values[widest]), side * turns.direction(widest)
    return best, chosen


class _Turns:
    """The pairs of a plane in the order in which a turning direction meets their lines, parallel ones together.

    With normals s_p (cos a_p, sin a_p), 0 <= a_p < pi measured from the end of the widest gap, the direction at angle
    b + pi / 2 wins p if s_p > 0 and b < a_p or if s_p < 0 and b > a_p. Arc k lies before the k-th line.
    """

    def __init__(self, arrangement: Arrangement) -> None:
        self._arrangement = arrangement
        first, group, sign = self._classes()
        D = arrangement.D[first]
        angle = np.mod(np.arctan2(D[:, 1], D[:, 0]), np.pi)
        order = np.argsort(angle, kind="stable")
        gaps = np.diff(angle[order], append=angle[order[0]] + np.pi)
        self._zero = float(angle[order[(int(np.argmax(gaps)) + 1) % len(order)]])
        angle = np.mod(angle - self._zero, np.pi)
        cosine, sine = np.cos(self._zero), np.sin(self._zero)
        turned = D @ np.array([[cosine, -sine], [sine, cosine]])
        upward = np.where(turned[:, 0] * np.cos(angle) + turned[:, 1] * np.sin(angle) > 0, 1.0, -1.0)
        order = np.argsort(angle, kind="stable")
        close = np.diff(angle[order]) <= _THIN
        if close.any():
            vectors = arrangement.part(first).vectors * upward.astype(np.int64)[:, None]
            order = turning_order(vectors, turned * upward[:, None], order, close)
        self._angles = angle[order]
        self.width = np.diff(self._angles, prepend=self._angles[-1] - np.pi)
        place = np.empty(len(first), dtype=np.intp)
        place[order] = np.arange(len(first))
        self._sign = sign * upward[group]
        self._events = np.argsort(place[group], kind="stable")
        self._starts = np.concatenate([[0], np.cumsum(np.bincount(place[group]))[:-1]])

    def _classes(self) -> tuple[Indices, Indices, Floats]:
        arrangement = self._arrangement
        if arrangement.gain is None:  # parallel pairs are merged already
            every = np.arange(len(arrangement.D))
            return every, every, np.ones(len(every))
        return parallel_classes(arrangement.grid, arrangement.above, arrangement.below, arrangement.D)

    def values(self, side: float) -> Floats:
        """F on every arc; side -1 stands for the opposite directions."""
        walked = self._arrangement.walk(side * self._sign > 0, self._events, -side * self._sign[self._events])
        return walked[self._starts]

    def direction(self, arc: int) -> Floats:
        """The middle of an arc."""
        angle = self._angles[arc] - 0.5 * self.width[arc] + 0.5 * np.pi + self._zero
        return np.array([np.cos(angle), np.sin(angle)])
