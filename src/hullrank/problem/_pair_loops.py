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
def sort_scores(
    words: Ints, other: Ints, counts: Ints, query: Ints, place: Ints, scores: Floats, order: Ints, found: Floats
) -> bool:
    """``order``: the rows by query, then by ascending score; ``found``: their scores. False if it would take too long.

    A word is a row's number (31 bits) below its score as an integer of 33 bits. Three stable passes of 11 bits sort the
    words, one more groups them by query (``place`` is the first position of every query), and rows whose integers are
    equal are then put in order by insertion.
    """
    m = words.shape[0]
    for digit in range(3):
        shift = 31 + 11 * digit
        for z in range(2048):
            counts[z] = 0
        for p in range(m):
            counts[(words[p] >> shift) & 2047] += 1
        total = 0
        for z in range(2048):
            size = counts[z]
            counts[z] = total
            total += size
        for p in range(m):
            z = (words[p] >> shift) & 2047
            other[counts[z]] = words[p]
            counts[z] += 1
        words, other = other, words
    for p in range(m):
        i = words[p] & 2147483647
        k = query[i]
        order[place[k]] = i
        found[place[k]] = scores[i]
        place[k] += 1
    moves = 0
    for p in range(1, m):
        i = order[p]
        s = found[p]
        q = p
        while q > 0 and found[q - 1] > s and query[order[q - 1]] == query[i]:
            found[q] = found[q - 1]
            order[q] = order[q - 1]
            q -= 1
        found[q] = s
        order[q] = i
        moves += p - q
        if moves > 32 * m:
            return False
    return True


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
def curve_rows(
    scores: Floats,
    shifted: Floats,
    rank: Ranks,
    starts: Ints,
    n_ranks: Ints,
    weights: Floats,
    partners: Floats,
    order: Ints,
    rows: Floats,
    mean: Floats,
    offsets: Ints,
    counters: Floats,
    out: Floats,
) -> None:
    """out[r] = weights[i] * (partners[i] * x[r] - 2 * the sum of weights[j] x[order[j]] over the violated partners j of
    i that have a lower rank), with r = order[i] and x = rows - mean."""
    for k in range(starts.shape[0] - 1):
        levels = 1
        while (n_ranks[k] - 1) >> (3 * levels) > 0:
            levels += 1
        for level in range(levels):
            for z in range(((n_ranks[k] - 1) >> (3 * level)) + 1):
                for f in range(rows.shape[1]):
                    counters[offsets[level] + z, f] = 0.0
        q = starts[k + 1] - 1
        for p in range(starts[k + 1] - 1, starts[k] - 1, -1):
            while q >= starts[k] and scores[p] < shifted[q]:
                j = order[q]
                a = weights[q]
                t = np.int64(rank[q])
                last = n_ranks[k] - 1
                for level in range(levels):
                    for z in range(t + 1, min(t | 7, last) + 1):
                        for f in range(rows.shape[1]):
                            counters[offsets[level] + z, f] += a * (rows[j, f] - mean[f])
                    t >>= 3
                    last >>= 3
                q -= 1
            i = order[p]
            a = weights[p]
            for f in range(rows.shape[1]):
                out[i, f] = a * partners[p] * (rows[i, f] - mean[f])
            t = np.int64(rank[p])
            for level in range(levels):
                for f in range(rows.shape[1]):
                    out[i, f] -= 2.0 * a * counters[offsets[level] + t, f]
                t >>= 3
