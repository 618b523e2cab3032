"""Loops over bundles of neighbouring ranks: the pairs inside one are visited one by one, on vectors.

Symbols as in ``_pair_loops``; the rows are sorted by query and rank.
"""

import numpy as np
from numpy.typing import NDArray

from hullrank._jit import UNCOUNTED, njit, place

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Ranks = NDArray[np.int32]


@njit(**UNCOUNTED, no_cfunc_wrapper=True)
def sort_ranks(rank: Ints, place: Ints, rows: Ints) -> None:
    """``rows``: the rows by rank, those of one rank in their order; ``place`` is the first position of every rank."""
    for i in range(rank.shape[0]):
        r = rank[i]
        rows[place[r]] = i
        place[r] += 1


@njit(**UNCOUNTED, no_cfunc_wrapper=True, fastmath={"reassoc", "contract"})
def inner_sums(
    starts: Ints, scores: Floats, margin: float, rank: Ranks, weights: Floats, v: Floats, room: Floats, out: Floats
) -> None:
    """out[i] = sums of weights, and of weights times ``v``, over the higher and then over the lower violated partners
    of i in its bundle; ``starts`` are the first rows of the bundles, and ``room`` has two numbers for every row of one.
    """
    shifted, products = room[0], room[1]
    for b in range(starts.shape[0] - 1):
        first, n = starts[b], starts[b + 1] - starts[b]
        s, a = scores[first : first + n], weights[first : first + n]
        for i in range(n):
            shifted[i] = s[i] + margin
            products[i] = a[i] * v[first + i]
        begin, end = 0, 0  # of the rows whose rank is that of row i
        for i in range(n):
            if i == end:
                begin = i
                while end < n and rank[first + end] == rank[first + i]:
                    end += 1
            x, y, bound = 0.0, 0.0, shifted[i]
            for j in range(place(end), place(n)):
                violated = 1.0 if s[j] < bound else 0.0
                x += violated * a[j]
                y += violated * products[j]
            out[first + i, 0] = x
            out[first + i, 1] = y
            x, y, bound = 0.0, 0.0, s[i]
            for j in range(place(0), place(begin)):
                violated = 1.0 if bound < shifted[j] else 0.0
                x += violated * a[j]
                y += violated * products[j]
            out[first + i, 2] = x
            out[first + i, 3] = y


@njit(**UNCOUNTED, no_cfunc_wrapper=True)
def add_inner_sums(column: int, order: Ints, inner: Floats, out: Floats) -> None:
    """Add two columns of the sums inside bundles to those between them, whose rows stand in another order."""
    for p in range(order.shape[0]):
        i = order[p]
        out[0, p] += inner[i, column]
        out[1, p] += inner[i, column + 1]
