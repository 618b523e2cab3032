"""Loops over samples sorted by score: sums over violated partners in O(m log m), for any number of ranks.

Conventions
-----------
Arrays are sorted by query, then by ascending score s; ``shifted`` is s + margin. The pair of i above j is violated when
s_i < shifted_j. Going up through a query (``way`` = 1) every sample meets its partners of higher rank, going down
(``way`` = -1) those of lower rank; each is inserted once into a tree of counters of fan-out 8, by its rank t counted
from the end that partners come from. Level l of the tree holds, for the rank t >> 3l, the sum over the inserted ranks
that share its parent and lie below it, so the sum over all ranks below t is one entry per level.
"""

import numpy as np
from numpy.typing import NDArray

from hullrank._jit import njit

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Ranks = NDArray[np.int32]


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
    way: int,
    inserted: Floats,
    wanted: Floats,
    rank: Ranks,
    starts: Ints,
    n_ranks: Ints,
    values: Floats,
    below: Floats,
    offsets: Ints,
    counters: Floats,
    out: Floats,
) -> None:
    """out[:, i] = sum of the two rows of ``values`` over the violated partners of i.

    Going up, ``inserted`` is s and ``wanted`` shifted; going down the other way round. ``below[c, z]`` is 1 where z > c
    (z, c < 8), ``offsets[l]`` the first counter of level l.
    """
    for k in range(starts.shape[0] - 1):
        size = starts[k + 1] - starts[k]
        first = starts[k] if way > 0 else starts[k + 1] - 1
        top = n_ranks[k] - 1 if way > 0 else 0
        levels = 1
        while (n_ranks[k] - 1) >> (3 * levels) > 0:
            levels += 1
        for level in range(levels):
            for z in range((((n_ranks[k] - 1) >> (3 * level)) | 7) + 1):
                counters[0, offsets[level] + z] = 0.0
                counters[1, offsets[level] + z] = 0.0
        q = 0
        for p in range(size):
            i = first + way * p
            bound = way * wanted[i]
            while q < size and way * inserted[first + way * q] < bound:
                j = first + way * q
                t = top - way * rank[j]
                x = values[0, j]
                y = values[1, j]
                for level in range(levels):
                    c = t & 7
                    base = offsets[level] + t - c
                    for z in range(8):
                        counters[0, base + z] += x * below[c, z]
                        counters[1, base + z] += y * below[c, z]
                    t >>= 3
                q += 1
            t = top - way * rank[i]
            x = 0.0
            y = 0.0
            for level in range(levels):
                x += counters[0, offsets[level] + t]
                y += counters[1, offsets[level] + t]
                t >>= 3
            out[0, i] = x
            out[1, i] = y


@njit(error_model="numpy", no_cfunc_wrapper=True)
def lower_row_sums(
    scores: Floats,
    shifted: Floats,
    rank: Ranks,
    starts: Ints,
    n_ranks: Ints,
    weights: Floats,
    rows: Floats,
    offsets: Ints,
    counters: Floats,
    out: Floats,
) -> None:
    """out[i] += sum of weights[j] rows[j] over the violated partners j of i that have a lower rank."""
    for k in range(starts.shape[0] - 1):
        levels = 1
        while (n_ranks[k] - 1) >> (3 * levels) > 0:
            levels += 1
        for level in range(levels):
            for z in range((((n_ranks[k] - 1) >> (3 * level)) | 7) + 1):
                for f in range(rows.shape[1]):
                    counters[offsets[level] + z, f] = 0.0
        j = starts[k + 1] - 1
        for i in range(starts[k + 1] - 1, starts[k] - 1, -1):
            while j >= starts[k] and scores[i] < shifted[j]:
                t = np.int64(rank[j])
                for level in range(levels):
                    for z in range(1, 8 - (t & 7)):
                        for f in range(rows.shape[1]):
                            counters[offsets[level] + t + z, f] += weights[j] * rows[j, f]
                    t >>= 3
                j -= 1
            t = np.int64(rank[i])
            for level in range(levels):
                for f in range(rows.shape[1]):
                    out[i, f] += counters[offsets[level] + t, f]
                t >>= 3
