"""Loops over samples sorted by score: sums over partners of exponentials of the distance, for any number of ranks.

Symbols as in ``_pair_loops``. The sums are over x, x^2, x^3, ..., x = exp(-|s_i - s_j|). Going one way through a query,
x is exp(u_j) / exp(u_i) with the distance u from the end where the way begins, so that sums of powers of exp(u_j), in a
binary indexed tree over the ranks, serve all i that follow. So that nothing overflows, u is counted anew from every
multiple of ``STRETCH``: ``grow`` is exp of what is left of u, and ``stretch`` the number of the multiple, which every
counter of the tree has too.
"""

import math

import numpy as np
from numpy.typing import NDArray

from hullrank._jit import UNCOUNTED, njit

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Ranks = NDArray[np.int32]
STRETCH = 25.0


@njit(**UNCOUNTED, no_cfunc_wrapper=True, fastmath={"reassoc", "contract"})
def decaying_sums(
    scores: Floats, rank: Ranks, starts: Ints, n_ranks: Ints, values: Floats, grow: Floats, stretch: Ints,
    coefs: Floats, sizes: Ints, skipped: int, powers: Floats, counters: Floats, counted: Ints, out: Floats,
) -> None:  # fmt: skip
    """out[b, f, i, c] += sum of values[j, c] * sum_k coefs[d, b, f, k] x^(skipped + 1 + k) over the partners j of i.

    The partners have lower rank (b = 0) or higher rank (b = 1), and scores that come before that of i on the way up
    (d = 0) or down (d = 1); partners of equal score count where d and b are equal. sizes[b] are the numbers of f and
    of c that are asked for. ``powers``, ``counters`` and ``counted`` are room for the numbers of a power, and of all
    powers, columns and ranks of a query.
    """
    n_powers = coefs.shape[3]
    for z in range(4 * (starts.shape[0] - 1)):
        query, d, b = z // 4, z // 2 % 2, z % 2
        way, n_sums, n_values = 1 - 2 * d, sizes[b, 0], sizes[b, 1]
        size = starts[query + 1] - starts[query]
        first = starts[query] if way > 0 else starts[query + 1] - 1
        last = n_ranks[query] - 1
        for t in range(1, last + 1):
            counted[t] = 0
            for v in range(n_values):
                for k in range(n_powers):
                    counters[t, v, k] = 0.0
        q = 0
        for p in range(size):
            i = first + way * p
            while q < size:
                j = first + way * q
                if not (way * scores[j] < way * scores[i] or (d == b and scores[j] == scores[i])):
                    break
                _raise(grow[d, j], skipped, powers)
                c = (last - rank[j] if b else np.int64(rank[j])) + 1
                while c <= last:
                    if counted[c] < stretch[d, j]:
                        _decay(counters, counted, c, stretch[d, j], skipped)
                    for v in range(n_values):
                        for k in range(n_powers):
                            counters[c, v, k] += values[j, v] * powers[k]
                    c += c & -c
                q += 1
            _raise(1.0 / grow[d, i], skipped, powers)
            c = last - rank[i] if b else np.int64(rank[i])
            while c > 0:
                if counted[c] < stretch[d, i]:
                    _decay(counters, counted, c, stretch[d, i], skipped)
                for f in range(n_sums):
                    for v in range(n_values):
                        total = 0.0
                        for k in range(n_powers):
                            total += coefs[d, b, f, k] * powers[k] * counters[c, v, k]
                        out[b, f, i, v] += total
                c &= c - 1


@njit(**UNCOUNTED, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _raise(x: float, skipped: int, powers: Floats) -> None:
    """powers[k] = x^(skipped + 1 + k)."""
    power = x**skipped
    for k in range(powers.shape[0]):
        power *= x
        powers[k] = power


@njit(**UNCOUNTED, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _decay(counters: Floats, counted: Ints, c: np.integer, stretch: int, skipped: int) -> None:
    """Counter c as seen from a later stretch."""
    factor = math.exp(STRETCH * (counted[c] - stretch))
    power = factor**skipped
    for k in range(counters.shape[2]):
        power *= factor
        for v in range(counters.shape[1]):
            counters[c, v, k] *= power
    counted[c] = stretch
