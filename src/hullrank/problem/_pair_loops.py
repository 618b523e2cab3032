"""Loops over samples sorted by score: sums over violated partners in O(m log m), for any number of ranks.

Conventions
-----------
All arrays are sorted by query, then ascending by key. Position j is a violated partner of p when both belong to one
query, ``inserted[j] < wanted[p]`` and ``rank[j] < rank[p]``. Both keys ascend within a query, so j is inserted once,
into a tree of counters of fan-out 8: level l holds, for the rank t >> 3l, the sum over the inserted ranks that share
its parent and lie below it. The sum over all lower ranks is then one entry per level.
"""

import numpy as np
from numpy.typing import NDArray

from hullrank._jit import njit

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@njit(error_model="numpy", no_cfunc_wrapper=True)
def group_by_query(order: Ints, query: Ints, place: Ints, grouped: Ints) -> None:
    """Stable regrouping of ``order`` by query; ``place`` starts as the first position of every query."""
    for p in range(order.shape[0]):
        i = order[p]
        k = query[i]
        grouped[place[k]] = i
        place[k] += 1


@njit(error_model="numpy", no_cfunc_wrapper=True)
def partner_sums(
    inserted: Floats,
    wanted: Floats,
    rank: Ints,
    starts: Ints,
    n_ranks: Ints,
    values: Floats,
    below: Floats,
    offsets: Ints,
    counters: Floats,
    out: Floats,
) -> None:
    """out[:, p] = sum of the two rows of ``values`` over the violated partners of p.

    ``below[c, z]`` is 1 where z > c (z, c < 8), ``offsets[l]`` the first counter of level l.
    """
    for k in range(starts.shape[0] - 1):
        a = starts[k]
        b = starts[k + 1]
        levels = 1
        while (n_ranks[k] - 1) >> (3 * levels) > 0:
            levels += 1
        for level in range(levels):
            for z in range((((n_ranks[k] - 1) >> (3 * level)) | 7) + 1):
                counters[0, offsets[level] + z] = 0.0
                counters[1, offsets[level] + z] = 0.0
        j = a
        for p in range(a, b):
            while j < b and inserted[j] < wanted[p]:
                t = rank[j]
                x = values[0, j]
                y = values[1, j]
                for level in range(levels):
                    c = t & 7
                    base = offsets[level] + t - c
                    for z in range(8):
                        counters[0, base + z] += x * below[c, z]
                        counters[1, base + z] += y * below[c, z]
                    t >>= 3
                j += 1
            t = rank[p]
            x = 0.0
            y = 0.0
            for level in range(levels):
                x += counters[0, offsets[level] + t]
                y += counters[1, offsets[level] + t]
                t >>= 3
            out[0, p] = x
            out[1, p] = y


@njit(error_model="numpy", no_cfunc_wrapper=True)
def partner_row_sums(
    inserted: Floats,
    wanted: Floats,
    rank: Ints,
    starts: Ints,
    n_ranks: Ints,
    rows: Floats,
    offsets: Ints,
    counters: Floats,
    out: Floats,
) -> None:
    """out[p] += sum of ``rows[j]`` over the violated partners of p: partner_sums for rows of any length."""
    for k in range(starts.shape[0] - 1):
        a = starts[k]
        b = starts[k + 1]
        levels = 1
        while (n_ranks[k] - 1) >> (3 * levels) > 0:
            levels += 1
        for level in range(levels):
            for z in range((((n_ranks[k] - 1) >> (3 * level)) | 7) + 1):
                for f in range(rows.shape[1]):
                    counters[offsets[level] + z, f] = 0.0
        j = a
        for p in range(a, b):
            while j < b and inserted[j] < wanted[p]:
                t = rank[j]
                for level in range(levels):
                    for z in range(1, 8 - (t & 7)):
                        for f in range(rows.shape[1]):
                            counters[offsets[level] + t + z, f] += rows[j, f]
                    t >>= 3
                j += 1
            t = rank[p]
            for level in range(levels):
                for f in range(rows.shape[1]):
                    out[p, f] += counters[offsets[level] + t, f]
                t >>= 3
