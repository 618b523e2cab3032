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
def bundle_ranks(
    rank: Ints, starts: Ints, n_ranks: Ints, size: int, place: Ints, rows: Ints, ranked: Ranks, bundle: Ranks,
    firsts: Ints,
) -> int:  # fmt: skip
    """``rows``: the rows by query and rank, those of one rank in their order; ``ranked`` and ``bundle``: their ranks
    and bundles in that order; ``firsts``: the first row of every bundle, and the row after the last.

    Ranks are counted through all queries, and those whose first rows are in the same ``size`` rows of their query are
    one bundle, so that a row has fewer lower partners in it, whatever the number of rows of the same rank. ``place``
    starts with a 0 for every rank, and one more. Returns the number of bundles.
    """
    m = rank.shape[0]
    for i in range(m):
        place[rank[i] + 1] += 1
    for r in range(place.shape[0] - 1):
        place[r + 1] += place[r]
    for i in range(m):
        rows[place[rank[i]]] = i
        place[rank[i]] += 1  # in the end, that after the last row of the rank
    found, r, p = 0, 0, 0
    for k in range(n_ranks.shape[0]):
        before = -1
        for _ in range(n_ranks[k]):
            b = (p - starts[k]) // size
            if b != before:
                firsts[found] = p
                found += 1
                before = b
            for q in range(p, place[r]):
                ranked[q] = r
                bundle[q] = b
            p = place[r]
            r += 1
    firsts[found] = m
    return found


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
