"""Which pair of a window of the pool to take next, compiled.

A pool holds pairs as columns in single precision; what is chosen is checked in double precision later. Columns are
looked at in blocks, so that the numbers of a block stay in the fastest cache.
"""

from typing import Any

import numpy as np

from hullrank._jit import fmax, njit

Array = Any

BLOCK = 1024
"""Columns that are looked at together."""
_LEAST_RATIO = 1e-3
"""Ratio below which a pair can take no member's place: its multiplier would be too large."""


@njit(fastmath=True, error_model="numpy")
def _inner_products(pool: Array, at: int, n: int, w: Array, out: Array) -> None:
    """Inner products of n columns of the pool with w; three rows at a time, to write less."""
    a, x = pool[0, at : at + n], w[0]
    for q in range(n):
        out[q] = a[q] * x
    d = w.size
    for j in range(1, d - 2, 3):
        a, b, c = pool[j, at : at + n], pool[j + 1, at : at + n], pool[j + 2, at : at + n]
        x, y, z = w[j], w[j + 1], w[j + 2]
        for q in range(n):
            out[q] += a[q] * x + b[q] * y + c[q] * z
    for j in range(d - (d - 1) % 3, d):
        a, x = pool[j, at : at + n], w[j]
        for q in range(n):
            out[q] += a[q] * x


@njit(fastmath=True, error_model="numpy")
def _largest_product(n: int, slopes: Array, favour: Array) -> Any:
    best = slopes[0] - slopes[0]
    for q in range(n):
        slopes[q] *= favour[q]
        best = fmax(best, slopes[q])
    return best


@njit(fastmath=True, error_model="numpy")
def _largest_difference(n: int, saved: Array, price: Array) -> Any:
    best = saved[0] - saved[0]
    for q in range(n):
        saved[q] -= price[q]
        best = fmax(best, saved[q])
    return best


@njit(error_model="numpy")
def _find(values: Array, n: int, value: Any) -> int:
    for q in range(n):
        if values[q] == value:
            return q
    return -1


@njit(error_model="numpy")
def most_promising(pool: Array, at: int, n: int, residual: Array, favour: Array, blocks: Array) -> int:
    """The column of a window whose slope (inner product with the residual) times favour is largest; -1 if none > 0."""
    best = residual[0] - residual[0]
    column = -1
    for first in range(at, at + n, BLOCK):
        size = min(BLOCK, at + n - first)
        _inner_products(pool, first, size, residual, blocks[0])
        promise = _largest_product(size, blocks[0], favour[first : first + size])
        if promise > best:
            best = promise
            column = first + _find(blocks[0], size, promise)
    return column


@njit(fastmath=True, error_model="numpy")
def _leave(n: int, ratio: Array, largest: Array, saved: Array, price: Any) -> None:
    """Where a member's ratio is the largest so far it is the one to leave, and its price is saved."""
    for q in range(n):
        leaves = ratio[q] > largest[q]
        largest[q] = ratio[q] if leaves else largest[q]
        saved[q] = price if leaves else saved[q]


@njit(error_model="numpy")
def most_saving(pool: Array, at: int, n: int, ratios: Array, places: Array, price: Array, blocks: Array) -> int:
    """The column of a window that is cheapest against the member whose place it takes; -1 if none is cheaper.

    The ratio of member i is the inner product of a column with ``ratios[i]``, and the member of the largest one leaves.
    """
    best = ratios[0, 0] - ratios[0, 0]
    column = -1
    for first in range(at, at + n, BLOCK):
        size = min(BLOCK, at + n - first)
        for q in range(size):
            blocks[1, q] = _LEAST_RATIO
            blocks[2, q] = -np.float32(1e9)
        for i in range(ratios.shape[0]):
            _inner_products(pool, first, size, ratios[i], blocks[0])
            _leave(size, blocks[0], blocks[1], blocks[2], price[places[i]])
        saving = _largest_difference(size, blocks[2], price[first : first + size])
        if saving > best:
            best = saving
            column = first + _find(blocks[2], size, saving)
    return column
