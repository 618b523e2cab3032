"""Sets of pairs that no direction wins together, sought and checked in compiled loops.

If sum_k l_k D_k = 0 with all l_k > 0, no w has D_k.w > 0 for every k. A set is sought around one pair u: -u as a
positive combination of other pairs, by the active-set method for non-negative least squares (Lawson and Hanson 1974).
The combination lives in ``rows`` (its pairs), ``gram`` (their inner products, then the Cholesky factor) and ``numbers``
= [multipliers, their next values, inner products with -u]. Then members are exchanged for cheaper pairs, as in the
simplex method, until no exchange saves.
"""

from typing import Any

import numpy as np

from hullrank._jit import njit
from hullrank.exact._pricing_loops import BLOCK, most_promising, most_saving
from hullrank.exact._simplex_loops import cannot_all_be_won, invert

Array = Any
Work = tuple[Array, Array, Array, Array, Array]

_EXCHANGES = 4
"""Members of a set that are exchanged at most, times the dimensions."""


@njit(error_model="numpy")
def _solve(gram: Array, numbers: Array, k: int) -> bool:
    """Least-squares multipliers of k pairs, by Cholesky; False if their inner products are singular."""
    below = gram.shape[1]  # rows of the factor follow those of the inner products
    for i in range(k):
        for j in range(i + 1):
            entry = gram[i, j]
            for m in range(j):
                entry -= gram[below + i, m] * gram[below + j, m]
            if i == j and entry <= 1e-14:
                return False
            gram[below + i, j] = np.sqrt(entry) if i == j else entry / gram[below + j, j]
    for i in range(k):
        entry = numbers[2, i]
        for m in range(i):
            entry -= gram[below + i, m] * numbers[1, m]
        numbers[1, i] = entry / gram[below + i, i]
    for back in range(k):
        i = k - 1 - back
        entry = numbers[1, i]
        for m in range(i + 1, k):
            entry -= gram[below + m, i] * numbers[1, m]
        numbers[1, i] = entry / gram[below + i, i]
    return True


@njit(error_model="numpy")
def _enter(rows: Array, gram: Array, numbers: Array, k: int, pair: Array, target: Array) -> None:
    """A new pair in place k, with multiplier 0."""
    numbers[0, k] = 0.0
    numbers[2, k] = 0.0
    for j in range(pair.size):
        rows[k, j] = pair[j]
        numbers[2, k] -= pair[j] * target[j]
    for i in range(k + 1):
        product = 0.0
        for j in range(pair.size):
            product += rows[i, j] * pair[j]
        gram[i, k] = product
        gram[k, i] = product


@njit(error_model="numpy")
def _balance(rows: Array, gram: Array, numbers: Array, places: Array, k: int) -> int:
    """Move to the least-squares multipliers, dropping pairs whose multipliers reach 0; returns how many stay, or -1."""
    while k > 0:
        if not _solve(gram, numbers, k):
            return -1
        step = 1.0
        leaves = k
        for i in range(k):
            now, then = numbers[0, i], numbers[1, i]
            if then <= 1e-12 and (leaves == k or now < step * (now - then)):
                step = now / (now - then) if now > then else 0.0
                leaves = i
        for i in range(k):
            numbers[0, i] += step * (numbers[1, i] - numbers[0, i])
        if leaves == k:
            return k
        k -= 1
        places[leaves] = places[k]
        numbers[0, leaves] = numbers[0, k]
        numbers[2, leaves] = numbers[2, k]
        for j in range(rows.shape[1]):
            rows[leaves, j] = rows[k, j]
        for i in range(k + 1):
            gram[leaves, i] = gram[k, i]
        for i in range(k + 1):
            gram[i, leaves] = gram[i, k]
    return 0


@njit(error_model="numpy")
def _search(
    pair: int, at: int, n: int, pool: Array, ids: Array, favour: Array, E: Array, work: Work, places: Array
) -> int:
    """-E[pair] as a positive combination of columns of one window; returns how many, their columns in ``places``."""
    blocks, residual, rows, gram, numbers = work
    d = E.shape[1]
    k = 0
    for j in range(d):
        residual[j] = -E[pair, j]
    for _ in range(4 * d):
        column = most_promising(pool, at, n, residual, favour, blocks)
        for i in range(k):
            if places[i] == column:
                column = -1
        if column < 0:
            return 0
        places[k] = column
        _enter(rows, gram, numbers, k, E[ids[column]], E[pair])
        k = _balance(rows, gram, numbers, places, k + 1)
        if k < 0:
            return 0
        distance = 0.0
        for j in range(d):
            rest = -E[pair, j]
            for i in range(k):
                rest -= numbers[0, i] * rows[i, j]
            residual[j] = rest
            distance += rest * rest
        if k == d or distance < 1e-18:
            return k
    return 0


@njit(error_model="numpy")
def _exchange(at: int, n: int, pool: Array, ids: Array, price: Array, E: Array, work: Work, places: Array) -> None:
    """Exchange members for cheaper pairs of the window while 0 stays inside the simplex.

    If sum_i l_i R_i = -u over d members, a pair p = sum_i a_i R_i can take the place of the member with the largest
    ratio a_i / l_i: then p has the multiplier t = l_i / a_i, and the others keep l - t a >= 0.
    """
    blocks, _, rows, _, numbers = work
    d = E.shape[1]
    inverse = np.zeros((d, 2 * d))
    ratios = np.empty((d, d), pool.dtype)
    for i in range(d):
        inverse[i, d + i] = 1.0
        for j in range(d):
            inverse[j, i] = rows[i, j]
    if not invert(inverse):
        return
    for _ in range(_EXCHANGES * d):
        for i in range(d):
            for j in range(d):
                ratios[i, j] = inverse[i, d + j] / max(numbers[0, i], 1e-9)
        column = most_saving(pool, at, n, ratios, places, price, blocks)
        if column < 0 or not _pivot(E[ids[column]], inverse, numbers, places, column):
            return


@njit(error_model="numpy")
def _pivot(pair: Array, inverse: Array, numbers: Array, places: Array, column: int) -> bool:
    """Let a pair take a member's place; False if no multiplier limits its own."""
    d = pair.size
    leaves = -1
    largest = 0.0
    for i in range(d):
        numbers[1, i] = 0.0
        for j in range(d):
            numbers[1, i] += inverse[i, d + j] * pair[j]
        if numbers[1, i] > largest * max(numbers[0, i], 1e-9):
            largest = numbers[1, i] / max(numbers[0, i], 1e-9)
            leaves = i
    if leaves < 0:
        return False
    pivot = numbers[1, leaves]
    step = numbers[0, leaves] / pivot
    for j in range(d, 2 * d):
        inverse[leaves, j] /= pivot
    for i in range(d):
        if i != leaves:
            numbers[0, i] -= step * numbers[1, i]
            for j in range(d, 2 * d):
                inverse[i, j] -= numbers[1, i] * inverse[leaves, j]
    numbers[0, leaves] = step
    places[leaves] = column
    return True


@njit(error_model="numpy")
def pack(
    around: Array,
    draws: Array,
    width: int,
    pool: Array,
    ids: Array,
    where: Array,
    favour: Array,
    price: Array,
    left: Array,
    E: Array,
    D: Array,
    n_pool: int,
    sets: Array,
) -> tuple[int, int, float]:
    """Take a set around each of some pairs from what is ``left`` of the weights; each pair is tried once.

    E are the pairs in coordinates that suit the search, and the first ``n_pool`` columns of ``pool`` those of the pairs
    ``ids`` (pair p is in column ``where[p]``), of which ``width`` in a row, from a drawn place on, are looked at. D are
    the pairs as they are checked.
    The members go to ``sets`` (-1 where a set has fewer); returns the number of sets, of columns left and the losses.
    """
    d = E.shape[1]
    work = (
        np.empty((3, BLOCK), pool.dtype),
        np.empty(d, pool.dtype),
        np.empty((d, d)),
        np.empty((2 * d, d)),
        np.empty((3, d)),
    )
    places = np.empty(d + 1, np.int64)
    found = 0
    losses = 0.0
    for t in range(around.size):
        pair = around[t]
        n = min(width, n_pool)
        at = int(draws[t] * (n_pool - n + 1))
        if left[pair] <= 0.0 or n <= d:
            continue
        own = where[pair]
        wanted = favour[own]
        favour[own] = 0.0
        k = _search(pair, at, n, pool, ids, favour, E, work, places)
        favour[own] = wanted
        if k == d:
            _exchange(at, n, pool, ids, price, E, work, places)
        members = np.empty(k + 1, np.int64)
        simplex = np.empty((k + 1, D.shape[1]))
        for i in range(k + 1):
            members[i] = ids[places[i]] if i < k else pair
            for j in range(D.shape[1]):
                simplex[i, j] = D[members[i], j]
        if k == 0 or not cannot_all_be_won(simplex):
            continue
        amount = left[pair]
        for i in range(k):
            amount = min(amount, left[members[i]])
        losses += amount
        for i in range(d + 1):
            sets[found, i] = members[i] if i <= k else -1
            if i <= k:
                left[members[i]] -= amount
        found += 1
        places[k] = own
        n_pool = _drop_used(pool, ids, where, favour, price, left, places, k + 1, n_pool)
    return found, n_pool, losses


@njit(error_model="numpy")
def _drop_used(
    pool: Array, ids: Array, where: Array, favour: Array, price: Array, left: Array, places: Array, k: int, n_pool: int
) -> int:
    """Put the last columns of the pool in the places of those that are used up, from the last place on."""
    for _ in range(k):
        last = 0
        for i in range(k):
            if places[i] > places[last]:
                last = i
        column = places[last]
        places[last] = -1
        if column >= 0 and left[ids[column]] <= 0.0:
            n_pool -= 1
            for j in range(pool.shape[0]):
                pool[j, column] = pool[j, n_pool]
            ids[column] = ids[n_pool]
            where[ids[column]] = column
            price[column] = price[n_pool]
            favour[column] = favour[n_pool]
    return n_pool
