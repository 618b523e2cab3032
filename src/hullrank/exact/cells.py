"""Cells of directions, as rows: boxes [c, r, bound] on the unit cube, and swept cells [c, r, s0, s1]."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def facet_boxes(d: int, bound: float) -> Iterator[Floats]:
    """The 2 d facets of the cube |w|_inf = 1."""
    for j in range(d):
        for side in (1.0, -1.0):
            box = np.concatenate([np.zeros(d), np.ones(d), [bound]])
            box[j], box[d + j] = side, 0.0
            yield box


def swept_cells(d: int) -> Iterator[Floats]:
    """All directions (t, u): u on a facet of the cube in d - 1 dimensions, t = s / (1 - |s|) in one of three ranges."""
    for j in range(1, d):
        for side in (1.0, -1.0):
            for low, high in ((-0.5, 0.5), (0.5, 1.0), (-1.0, -0.5)):
                cell = np.concatenate([np.zeros(d), np.ones(d), [low, high]])
                cell[j], cell[d + j], cell[d] = side, 0.0, 0.0
                yield cell


def box_around(cell: Floats, bound: float) -> Floats:
    """The smallest box on the unit cube that holds a swept cell."""
    d = (len(cell) - 2) // 2
    low, high = cell[:d] - cell[d : 2 * d], cell[:d] + cell[d : 2 * d]
    low[0], high[0] = cell[2 * d :]
    if max(-low[0], high[0]) <= 0.5:
        low[0], high[0] = low[0] / (1 - abs(low[0])), high[0] / (1 - abs(high[0]))
    else:  # |t| >= 1: scale by 1 / |t| to the facet of coordinate 0
        side = np.sign(low[0] + high[0])
        inverse = 1.0 / np.abs([low[0], high[0]]) - 1.0
        corners = np.stack([low * inverse[0], low * inverse[1], high * inverse[0], high * inverse[1]])
        low, high = corners.min(axis=0), corners.max(axis=0)
        low[0] = high[0] = side
    return np.concatenate([(low + high) / 2, (high - low) / 2, [bound]])


def halves(box: Floats, j: int) -> Iterator[Floats]:
    """A box (or the box part of a swept cell) cut in two along coordinate j."""
    d = (len(box) - 1) // 2
    for side in (-0.5, 0.5):
        half = box.copy()
        half[j] += side * box[d + j]
        half[d + j] *= 0.5
        yield half


def split_swept(cell: Floats, spread: Floats, n_bins: int) -> Iterator[Floats]:
    """A swept cell cut in two: along the box coordinate that widens pairs most, or along the sweep if that is long."""
    d = len(spread)
    low, high = cell[2 * d :]
    nearest = 0.0 if low * high <= 0 else min(abs(low), abs(high))
    if cell[d + 1 : 2 * d].max() * (1.0 - nearest) < 0.25 * (high - low) / n_bins:
        middle = 0.5 * (low + high)
        for ends in ((low, middle), (middle, high)):
            half = cell.copy()
            half[2 * d :] = ends
            yield half
    else:
        yield from halves(cell, 1 + int(np.argmax(spread[1:] * cell[d + 1 : 2 * d])))
