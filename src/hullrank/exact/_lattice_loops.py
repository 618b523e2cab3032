"""Compiled search for additive relations between integer directions."""

from typing import Any

import numpy as np

from hullrank._jit import njit

Array = Any


@njit(error_model="numpy")
def list_triples(U: Array, hashes: Array, table: Array, factors: Array, first: int, found: Array) -> tuple[int, int]:
    """Relations u_i + r u_j = g t u_k (r, t = +-1, g > 0) for i from ``first`` on, j > i, each relation once.

    ``hashes`` are the sums of the entries of U times ``factors``, modulo 2^64; ``table`` holds the numbers of the
    directions in an open hash table (-1: free), whose size is a power of two. Rows of ``found`` become (i, j, k, r, t).
    Returns the number of relations, and the i to go on from: one i is listed whole or not at all, and the number of
    directions when all are listed. The table must have room for the relations of one i.
    """
    m, d = U.shape
    mask = table.size - 1
    vector = np.empty(d, np.int64)
    count = 0
    for i in range(first, m):
        if count + 2 * m > found.shape[0]:
            return count, i
        for j in range(i + 1, m):
            for side in range(2):
                r = 1 - 2 * side
                g = 0
                t = 0
                for c in range(d):
                    x = U[i, c] + r * U[j, c]
                    vector[c] = x
                    if x != 0 and t == 0:
                        t = 1 if x > 0 else -1
                    if g != 1:
                        a = abs(x)
                        while a != 0:
                            g, a = a, g % a
                code = hashes[i] + hashes[j] if r > 0 else hashes[i] - hashes[j]
                if g > 1:
                    code = hashes[0] - hashes[0]
                    for c in range(d):
                        vector[c] //= g
                        code += np.uint64(vector[c]) * factors[c]
                if t < 0:
                    code = (hashes[0] - hashes[0]) - code
                k = _find(U, hashes, table, mask, code, vector, t)
                if k >= 0 and (g > 1 or k > j):
                    found[count, 0] = i
                    found[count, 1] = j
                    found[count, 2] = k
                    found[count, 3] = r
                    found[count, 4] = t
                    count += 1
    return count, m


@njit(error_model="numpy")
def _find(U: Array, hashes: Array, table: Array, mask: int, code: Any, vector: Array, t: int) -> int:
    """The direction t * vector, or -1."""
    at = np.int64(code & np.uint64(mask))
    while table[at] >= 0:
        k = table[at]
        if hashes[k] == code:
            same = True
            for c in range(vector.size):
                same = same and U[k, c] == t * vector[c]
            if same:
                return k
        at = (at + 1) & mask
    return -1


@njit(error_model="numpy")
def entangle(triples: Array, x: Array, out: Array) -> None:
    """Add to every direction the sum of x over the directions of each relation that it is part of."""
    for c in range(triples.shape[0]):
        total = x[triples[c, 0]] + x[triples[c, 1]] + x[triples[c, 2]]
        if total > 0.0:
            out[triples[c, 0]] += total
            out[triples[c, 1]] += total
            out[triples[c, 2]] += total


@njit(error_model="numpy")
def violations(triples: Array, p: Array, above: Array) -> int:
    """How far p breaks 0 <= lit(i) + lit(j) - lit(k) <= 1, per relation; returns the number of broken ones."""
    count = 0
    for c in range(triples.shape[0]):
        j = p[triples[c, 1]] if triples[c, 3] > 0 else 1.0 - p[triples[c, 1]]
        k = p[triples[c, 2]] if triples[c, 4] > 0 else 1.0 - p[triples[c, 2]]
        v = p[triples[c, 0]] + j - k
        above[c] = max(-v, v - 1.0)
        count += above[c] > 1e-6
    return count
