"""Loops over samples sorted by score: sums over violated partners in O(m log m), for any number of ranks.

Conventions
-----------
Arrays are sorted by query, then by ascending score s; ``shifted`` is s + margin. The pair of i above j is violated when
s_i < shifted_j. Going up through a query (``way`` = 1) every sample meets its partners of higher rank, going down
(``way`` = -1) those of lower rank; each is inserted once into a binary indexed tree (Fenwick 1994) by its rank counted
from the end that partners come from. Counter c of the tree holds the sum over the last c & -c ranks before rank c, so
that an insertion, and the sum over all ranks below some rank, take at most log2 steps.
"""

import numpy as np
from numpy.typing import NDArray

from hullrank._jit import UNCOUNTED, njit

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Ranks = NDArray[np.int32]


@njit(**UNCOUNTED, no_cfunc_wrapper=True)
def sort_scores(
    scores: Floats, low: float, scale: float, query: Ints, place: Ints, words: Ints, counts: Ints, order: Ints,
    found: Floats,
) -> bool:  # fmt: skip
    """``order``: the rows by query, then by ascending score; ``found``: their scores. False if it would take too long.

    A word is a row's number (31 bits) below its score as an integer of 33 bits, (score - low) * scale. Three stable
    passes of 11 bits sort the words, from one row of ``words`` to the other, one more groups them by query (``place``
    is the first position of every query), and rows whose integers are equal are then put in order by insertion.
    ``counts`` has three rows of zeros, one for each pass.
    """
    m, several = scores.shape[0], place.shape[0] > 1
    for i in range(m):
        level = np.int64((scores[i] - low) * scale)
        words[0, i] = (level << 31) + i
        for digit in range(3):
            counts[digit, (level >> (11 * digit)) & 2047] += 1
    for digit in range(3):
        shift, total = 31 + 11 * digit, 0
        for z in range(2048):
            size = counts[digit, z]
            counts[digit, z] = total
            total += size
        for p in range(m):
            word = words[digit & 1, p]
            z = (word >> shift) & 2047
            words[1 - (digit & 1), counts[digit, z]] = word
            counts[digit, z] += 1
    for p in range(m):
        i = words[1, p] & 2147483647
        k = query[i] if several else 0
        order[place[k]] = i
        found[place[k]] = scores[i]
        place[k] += 1
    moves = 0
    for p in range(1, m):
        i = order[p]
        s = found[p]
        q = p
        while q > 0 and found[q - 1] > s and (not several or query[order[q - 1]] == query[i]):
            found[q] = found[q - 1]
            order[q] = order[q - 1]
            q -= 1
        found[q] = s
        order[q] = i
        moves += p - q
        if moves > 32 * m:
            return False
    return True


@njit(**UNCOUNTED, no_cfunc_wrapper=True)
def partner_sums(
    way: int, scores: Floats, margin: float, rank: Ranks, starts: Ints, n_ranks: Ints, weights: Floats, v: Floats,
    counters: Floats, out: Floats,
) -> None:  # fmt: skip
    """out[:, i] = sums of weights, and of weights times ``v``, over the violated partners of i.

    ``counters`` has room for two numbers of every rank of a query.
    """
    own = margin if way > 0 else 0.0
    other = 0.0 if way > 0 else margin
    for k in range(starts.shape[0] - 1):
        size = starts[k + 1] - starts[k]
        first = starts[k] if way > 0 else starts[k + 1] - 1
        last = n_ranks[k] - 1  # the rank at the far end is nobody's partner
        top = last if way > 0 else 0
        for t in range(1, last + 1):
            counters[t, 0] = 0.0
            counters[t, 1] = 0.0
        q = 0
        for p in range(size):
            i = first + way * p
            bound = way * (scores[i] + own)
            while q < size and way * (scores[first + way * q] + other) < bound:
                j = first + way * q
                x = weights[j]
                y = x * v[j]
                c = top - way * rank[j] + 1
                while c <= last:
                    counters[c, 0] += x
                    counters[c, 1] += y
                    c += c & -c
                q += 1
            x = 0.0
            y = 0.0
            c = top - way * rank[i]
            while c > 0:
                x += counters[c, 0]
                y += counters[c, 1]
                c &= c - 1
            out[0, i] = x
            out[1, i] = y


@njit(**UNCOUNTED, no_cfunc_wrapper=True)
def grade_tables(rank: Ranks, weights: Floats, v: Floats, above: Floats, below: Floats) -> None:
    """Running sums of one query of few ranks, four borders between ranks in each block of a table.

    above[b, p, z] sums the weights of the first p samples whose rank is above r = 4 b + z, below[b, p, z] those of the
    others whose rank is at most r; in [b, p, z + 4] the same of weights times ``v``. So a line of memory holds them.
    """
    m = rank.shape[0]
    for b in range(above.shape[0]):
        first = 4 * b
        for z in range(8):
            above[b, 0, z] = 0.0
            below[b, m, z] = 0.0
        for p in range(m):
            x = weights[p]
            y = x * v[p]
            r = rank[p] - first
            for z in range(4):
                above[b, p + 1, z] = above[b, p, z] + (x if r > z else 0.0)
            for z in range(4):
                above[b, p + 1, z + 4] = above[b, p, z + 4] + (y if r > z else 0.0)
        for p in range(m - 1, -1, -1):
            x = weights[p]
            y = x * v[p]
            r = rank[p] - first
            for z in range(4):
                below[b, p, z] = below[b, p + 1, z] + (x if r <= z else 0.0)
            for z in range(4):
                below[b, p, z + 4] = below[b, p + 1, z + 4] + (y if r <= z else 0.0)


@njit(**UNCOUNTED, no_cfunc_wrapper=True)
def graded_sums(
    scores: Floats, margin: float, rank: Ranks, above: Floats, below: Floats, place: Ints, higher: Floats, lower: Floats
) -> None:
    """The sums of ``partner_sums`` in both directions, from the tables of ``grade_tables``.

    place[0, i] is the number of samples with s < s_i + margin, place[1, i] the number with s + margin <= s_i. Scores
    and shifted scores are merged without a branch, which no processor could foretell. The highest rank has no border
    above it, and the lowest none below.
    """
    m = scores.shape[0]
    i = 0
    q = 0
    while q < m and i < m:
        place[0, i] = q
        place[1, q] = i
        step = 1 if scores[q] < scores[i] + margin else 0
        q += step
        i += 1 - step
    for p in range(i, m):
        place[0, p] = m
    for p in range(q, m):
        place[1, p] = m
    last = 4 * above.shape[0]
    for p in range(m):
        r = rank[p]
        t = min(r, last - 1)
        higher[0, p] = above[t >> 2, place[0, p], t & 3] if r < last else 0.0
        higher[1, p] = above[t >> 2, place[0, p], (t & 3) + 4] if r < last else 0.0
        t = max(r - 1, 0)
        lower[0, p] = below[t >> 2, place[1, p], t & 3] if r > 0 else 0.0
        lower[1, p] = below[t >> 2, place[1, p], (t & 3) + 4] if r > 0 else 0.0


@njit(**UNCOUNTED, no_cfunc_wrapper=True, fastmath={"reassoc", "contract"})
def sum_slacks(margin: float, weights: Floats, v: Floats, higher: Floats, lower: Floats, totals: Floats) -> None:
    """From the sums of ``partner_sums`` over scores v to sums over the violated pairs, omega their weights.

    totals: of omega, of omega z and of v_i h_i; lower[0, i]: the weight of all partners of i; lower[1, i]:
    h_i = sum_{higher j} omega z - sum_{lower j} omega z, with z = margin - d.
    """
    weight = 0.0
    total = 0.0
    product = 0.0
    for i in range(weights.shape[0]):
        a = weights[i]
        below = a * (lower[1, i] + lower[0, i] * (margin - v[i]))
        h = a * (higher[0, i] * (margin + v[i]) - higher[1, i]) - below
        weight += a * lower[0, i]
        total += below
        product += v[i] * h
        lower[0, i] += higher[0, i]
        lower[1, i] = h
    totals[0] = weight
    totals[1] = total
    totals[2] = product


@njit(**UNCOUNTED, no_cfunc_wrapper=True)
def violated_squares(
    scores: Floats, margin: float, rank: Ranks, starts: Ints, n_ranks: Ints, weights: Floats, counters: Floats
) -> float:
    """The sum over all violated pairs of weights[i] * weights[j] * (margin - s_i + s_j)^2, from positive terms only.

    Counters hold a weight, the mean score and the weighted squared distances from it (Welford 1962; Chan, Golub and
    LeVeque 1983, whose products keep their digits where weights differ by many orders).
    """
    found = 0.0
    for k in range(starts.shape[0] - 1):
        last = n_ranks[k] - 1
        for t in range(1, last + 1):
            for z in range(3):
                counters[t, z] = 0.0
        j = starts[k + 1] - 1
        for i in range(starts[k + 1] - 1, starts[k] - 1, -1):
            while j >= starts[k] and scores[i] - scores[j] < margin:
                c = np.int64(rank[j]) + 1
                while c <= last:
                    apart = scores[j] - counters[c, 1]
                    total = counters[c, 0] + weights[j]
                    share = weights[j] / total
                    counters[c, 2] += counters[c, 0] * share * apart * apart
                    counters[c, 1] += apart * share
                    counters[c, 0] = total
                    c += c & -c
                j -= 1
            c = np.int64(rank[i])
            while c > 0:
                apart = margin - (scores[i] - counters[c, 1])
                found += weights[i] * (counters[c, 0] * apart * apart + counters[c, 2])
                c &= c - 1
    return found


@njit(**UNCOUNTED, no_cfunc_wrapper=True)
def curve_rows(
    scores: Floats, upper: Floats, lower: Floats, rank: Ranks, starts: Ints, n_ranks: Ints, weights: Floats,
    partners: Floats, rows: Floats, counters: Floats, out: Floats,
) -> None:  # fmt: skip
    """out[i] = weights[i] * (partners[i] * rows[i] - 2 * the sum of weights[j] * rows[j] over the partners j of i of
    lower rank with lower[j] <= scores[i] < upper[j])."""
    for k in range(starts.shape[0] - 1):
        last = n_ranks[k] - 1
        for t in range(1, last + 1):
            for f in range(rows.shape[1]):
                counters[t, f] = 0.0
        entering = starts[k + 1] - 1
        leaving = entering
        for i in range(starts[k + 1] - 1, starts[k] - 1, -1):
            while True:
                if entering >= starts[k] and scores[i] < upper[entering]:
                    j = entering
                    a = weights[j]
                    entering -= 1
                elif leaving >= starts[k] and scores[i] < lower[leaving]:
                    j = leaving
                    a = -weights[j]
                    leaving -= 1
                else:
                    break
                c = np.int64(rank[j]) + 1
                while c <= last:
                    for f in range(rows.shape[1]):
                        counters[c, f] += a * rows[j, f]
                    c += c & -c
            for f in range(rows.shape[1]):
                out[i, f] = weights[i] * partners[i] * rows[i, f]
            c = np.int64(rank[i])
            while c > 0:
                for f in range(rows.shape[1]):
                    out[i, f] -= 2.0 * weights[i] * counters[c, f]
                c &= c - 1


@njit(**UNCOUNTED, no_cfunc_wrapper=True)
def window_laplacian(
    scores: Floats, upper: Floats, lower: Floats, rank: Ranks, starts: Ints, weights: Floats, place: Ints, out: Floats
) -> int:
    """The number k of rows in the pairs of i above j with lower[j] <= scores[i] < upper[j].

    place[i] becomes the number of row i among them; it starts as -1. The first k * k entries of ``out``, which start as
    0, become the matrix L of ``Pairs.laplacian`` among these rows.
    """
    k = 0
    for filling in range(2):
        for query in range(starts.shape[0] - 1):
            first = starts[query]
            for j in range(starts[query], starts[query + 1]):
                while first < starts[query + 1] and scores[first] < lower[j]:
                    first += 1
                i = first
                while i < starts[query + 1] and scores[i] < upper[j]:
                    if rank[i] > rank[j] and filling:
                        a = weights[i] * weights[j]
                        out[place[i] * k + place[j]] -= a
                        out[place[j] * k + place[i]] -= a
                        out[place[i] * k + place[i]] += a
                        out[place[j] * k + place[j]] += a
                    elif rank[i] > rank[j]:
                        for row in (i, j):
                            if place[row] < 0:
                                place[row] = k
                                k += 1
                    i += 1
    return k


@njit(**UNCOUNTED, no_cfunc_wrapper=True)
def visit_pairs(
    first: Ints, end: Ints, scores: Floats, margin: float, weights: Floats, v: Floats, higher: Floats, lower: Floats
) -> None:
    """The sums of ``partner_sums`` in both directions, pair by pair: the lower partners of i are first[i]..end[i]-1.

    ``higher`` starts as zeros.
    """
    for i in range(scores.shape[0]):
        s = scores[i]
        a = weights[i]
        b = a * v[i]
        x = 0.0
        y = 0.0
        for j in range(first[i], end[i]):
            violated = 1.0 if s < scores[j] + margin else 0.0
            x += violated * weights[j]
            y += violated * weights[j] * v[j]
            higher[0, j] += violated * a
            higher[1, j] += violated * b
        lower[0, i] = x
        lower[1, i] = y


@njit(**UNCOUNTED, no_cfunc_wrapper=True)
def visit_rows(
    first: Ints, end: Ints, scores: Floats, upper: Floats, lower: Floats, weights: Floats, partners: Floats,
    rows: Floats, out: Floats,
) -> None:  # fmt: skip
    """The rows of ``curve_rows``, pair by pair."""
    for i in range(scores.shape[0]):
        for f in range(rows.shape[1]):
            out[i, f] = weights[i] * partners[i] * rows[i, f]
        for j in range(first[i], end[i]):
            if scores[i] < upper[j] and scores[i] >= lower[j]:
                a = 2.0 * weights[i] * weights[j]
                for f in range(rows.shape[1]):
                    out[i, f] -= a * rows[j, f]
