"""Exact facts about pair directions: which are parallel, whether they span the space, in which order they turn."""

from functools import cmp_to_key
from itertools import combinations
from math import gcd, lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hullrank.data import distinct_rows
from hullrank.exact.grid import Grid

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

_PRIME = 2**61 - 1
"""Integers of any size are hashed modulo this."""


def parallel_classes(grid: Grid, above: Indices, below: Indices, D: Floats) -> tuple[Indices, Indices, Floats]:
    """Pairs of rows whose differences are parallel, exactly: a member of each class, class of each pair, and its sign.

    D are the differences as floats of unit length, in any coordinates, none zero. The sign is 1 for pairs that point
    the same way as the member of their class, and -1 for opposite ones.
    """
    group = np.arange(len(D))
    near = _neighbours(D)
    if len(near):
        first, where = _equal_rows(primitive(grid.vectors(above[near], below[near]))[0])
        group[near] = near[first[where]]
    members, group = np.unique(group, return_inverse=True)
    sign = np.ones(len(D))
    sign[near] = np.sign(np.einsum("pj,pj->p", D[near], D[members[group.ravel()[near]]]))
    return members, group.ravel(), sign


def _neighbours(D: Floats) -> Indices:
    """Directions whose projection on a random axis is, up to sign and rounding, that of another: all parallel ones."""
    place = np.abs(D @ np.random.default_rng(0).normal(size=D.shape[1]))
    order = np.argsort(place)
    close = np.diff(place[order]) < 1e-12
    return order[np.concatenate([close, [False]]) | np.concatenate([[False], close])] if len(D) else order


def primitive(vectors: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Integer vectors over their greatest common divisors, the first entry that is not 0 made positive; former signs.

    They are equal for parallel vectors, and only for those.
    """
    sign = np.sign(vectors[np.arange(len(vectors)), np.argmax(vectors != 0, axis=1)])
    divisor = np.abs(np.gcd.reduce(vectors, axis=1))  # a single Python integer keeps its sign in the reduction
    return vectors // (divisor * sign)[:, None], sign


def _equal_rows(keys: NDArray[Any]) -> tuple[Indices, Indices]:
    """The first member of each group of equal rows, and the group of every row; equal hashes are compared in full."""
    _, first, group = np.unique(row_hashes(keys)[0], return_index=True, return_inverse=True)
    group = group.ravel()
    if (keys != keys[first[group]]).any():
        return distinct_rows(keys)
    return first, group


def row_hashes(rows: NDArray[Any]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """A hash of every row, and the odd factors that it is made with: the sum of entry times factor, modulo 2^64."""
    factors = np.asarray(np.random.default_rng(0).integers(1, 2**63, rows.shape[1], np.uint64)) | np.uint64(1)
    entries = rows % _PRIME if rows.dtype == object else rows
    return np.asarray((entries.astype(np.uint64) * factors).sum(axis=1), np.uint64), factors


def spans_at_most(vectors: NDArray[Any], independent: Indices) -> bool:
    """Whether all integer vectors lie in the span of a few of them, exactly."""
    null = null_vectors(vectors[independent].tolist(), vectors.shape[1])
    if len(null) < vectors.shape[1] - len(independent):
        return False
    largest = max((abs(x) for vector in null for x in vector), default=0)
    small = vectors.dtype != object and int(np.abs(vectors).max(initial=0)) * largest * vectors.shape[1] < 2**62
    kind = np.int64 if small else object
    return not any((vectors.astype(kind) @ np.array(vector, dtype=kind)).any() for vector in null)


def null_vectors(rows: list[list[int]], d: int) -> list[list[int]]:
    """Integer vectors that span the solutions z of rows z = 0 (fraction-free Gauss-Jordan elimination)."""
    rows = [list(row) for row in rows]
    pivots: list[int] = []
    for column in range(d):
        at = next((i for i in range(len(pivots), len(rows)) if rows[i][column]), None)
        if at is None:
            continue
        top = len(pivots)
        rows[top], rows[at] = rows[at], rows[top]
        pivot = rows[top]
        for i, row in enumerate(rows):
            if i != top and row[column]:
                a, b = pivot[column], row[column]
                rows[i] = _primitive([a * x - b * y for x, y in zip(row, pivot, strict=True)])
        pivots.append(column)
    found = []
    for free in (column for column in range(d) if column not in pivots):
        scale = lcm(*(rows[i][column] for i, column in enumerate(pivots)))
        vector = [0] * d
        vector[free] = scale
        for i, column in enumerate(pivots):
            vector[column] = -rows[i][free] * scale // rows[i][column]
        found.append(_primitive(vector))
    return found


def _primitive(vector: list[int]) -> list[int]:
    shared = gcd(*vector) or 1
    return [x // shared for x in vector]


def turning_order(vectors: NDArray[Any], unit: Floats, order: Indices, close: NDArray[np.bool_]) -> Indices:
    """Directions of a plane in the order of their angle, where ``order`` sorts them but for neighbours too ``close``.

    ``vectors`` are integers that span a plane and ``unit`` the same directions as floats in coordinates of it, all in
    one half plane; ``close[k]`` says that rounding may have swapped the directions number k and k + 1 of the order.
    """
    if not close.any():
        return order
    exact = vectors[:, _plane_columns(vectors)].astype(object)
    turn = _orientation(exact, unit, order)

    def compare(p: int, q: int) -> int:
        return -turn * _sign(exact[p][0] * exact[q][1] - exact[p][1] * exact[q][0])

    result = order.copy()
    edges = np.diff(close.astype(np.int8), prepend=0, append=0)  # 1 where a run begins, -1 behind it
    for start, last in zip(np.flatnonzero(edges == 1), np.flatnonzero(edges == -1), strict=True):
        run = slice(start, last + 1)
        result[run] = sorted(order[run].tolist(), key=cmp_to_key(compare))
    return result


def _sign(value: Any) -> int:
    return int(value > 0) - int(value < 0)


def _plane_columns(vectors: NDArray[Any]) -> list[int]:
    """Two columns in which the vectors still span a plane."""
    head = vectors[0].tolist()
    for a, b in combinations(range(len(head)), 2):
        if any(head[a] * y != head[b] * x for x, y in vectors[:, [a, b]].tolist()):
            return [a, b]
    raise ValueError("the vectors lie on a line")


def _orientation(exact: NDArray[Any], unit: Floats, order: Indices) -> int:
    """1 if the exact coordinates turn the same way as the floats, -1 otherwise."""
    first = order[0]
    cross = unit[first, 0] * unit[:, 1] - unit[first, 1] * unit[:, 0]
    widest = int(np.argmax(np.abs(cross)))
    whole = exact[first][0] * exact[widest][1] - exact[first][1] * exact[widest][0]
    return _sign(whole) * _sign(cross[widest])
