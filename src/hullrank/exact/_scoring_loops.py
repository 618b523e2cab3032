"""Compiled branch and bound over boxes of whole-number weights.

A box holds the weights lo <= w <= hi. For a pair direction D write m = D.(lo + hi) / 2 and h = sum_j |D_j| (hi_j -
lo_j) / 2: on the box D.w stays in [m - h, m + h]. Ties are errors, so a direction with pairs on both sides earns the
larger side where both can be reached, and nothing where D.w = 0.
"""

from typing import Any

import numpy as np

from hullrank._jit import njit

Array = Any


@njit(error_model="numpy")
def _reach(D: Array, box: Array, m: Array, h: Array) -> None:
    """m and h of every direction; D has a row per feature."""
    d = D.shape[0]
    for p in range(D.shape[1]):
        m[p] = 0.0
        h[p] = 0.0
    for j in range(d):
        c = 0.5 * (box[j] + box[d + j])
        r = 0.5 * (box[d + j] - box[j])
        if c == 0.0 and r == 0.0:
            continue
        for p in range(D.shape[1]):
            m[p] += D[j, p] * c
            h[p] += abs(D[j, p]) * r


@njit(error_model="numpy")
def _most(
    m: Array, h: Array, sides: Array, owner: Array, copies: Array, gain: Array, counts: Array, tol: float
) -> float:
    """The largest conceivable value where D.w may lie in m +- h, give or take tol.

    ``sides`` holds what a direction earns on either side. Without a table ``gain`` the value is the sum of that, else
    every owner counts its pairs, and each of its copies earns the gain of that count.
    """
    value = 0.0
    table = gain.size > 0
    if table:
        for i in range(counts.size):
            counts[i] = 0.0
    for p in range(m.size):
        up = m[p] + h[p] > -tol
        down = m[p] - h[p] < tol
        earned = sides[0, p] if up else 0.0
        if down and sides[1, p] > earned:
            earned = sides[1, p]
        if table:
            counts[owner[p]] += earned
        else:
            value += earned
    if table:
        for i in range(counts.size):
            value += copies[i] * gain[int(counts[i])]
    return value


@njit(error_model="numpy")
def _spell_out(D: Array, w: Array, m: Array, h: Array, tol: float) -> None:
    """At a single point: h = 2 tol where the sign of m is in doubt, and m = h = 0 where all products are 0."""
    for p in range(m.size):
        h[p] = 0.0
    for j in range(D.shape[0]):
        if w[j] != 0.0:
            for p in range(m.size):
                h[p] += abs(D[j, p])
    for p in range(m.size):
        if h[p] == 0.0:
            m[p] = 0.0
        h[p] = 2.0 * tol if h[p] > 0.0 and abs(m[p]) <= tol else 0.0


@njit(error_model="numpy")
def _limit_features(box: Array, features: int) -> bool:
    """Apply the limit on features: weights that may be 0 must be 0 once enough others cannot; False if too many."""
    d = box.size // 2
    forced = 0
    for j in range(d):
        forced += box[j] > 0 or box[d + j] < 0
    if forced > features:
        return False
    if forced == features:
        for j in range(d):
            if box[j] <= 0 and box[d + j] >= 0:
                box[j] = 0.0
                box[d + j] = 0.0
    return True


@njit(error_model="numpy")
def _smallest(box: Array) -> float:
    """The least sum of |w_j| in a box."""
    d = box.size // 2
    total = 0.0
    for j in range(d):
        total += max(0.0, box[j], -box[d + j])
    return total


@njit(error_model="numpy")
def _widest(D: Array, box: Array, size: Array) -> int:
    """The feature whose range moves scores most, or -1 for a single point."""
    d = D.shape[0]
    chosen = -1
    most = 0.0
    for j in range(d):
        width = (box[d + j] - box[j]) * size[j]
        if box[d + j] > box[j] and width >= most:
            chosen = j
            most = width
    return chosen


@njit(error_model="numpy")
def _part(box: Array, j: int, part: int, child: Array) -> bool:
    """Part 0, 1 or 2 of a box cut along feature j, 0 being a part of its own; False if there is no such part."""
    d = box.size // 2
    low = box[j]
    high = box[d + j]
    for c in range(2 * d):
        child[c] = box[c]
    if low < 0 and high > 0:
        child[j] = low if part == 0 else (0.0 if part == 1 else 1.0)
        child[d + j] = -1.0 if part == 0 else (0.0 if part == 1 else high)
        return True
    middle = np.floor(0.5 * (low + high))
    if low == 0:
        middle = 0.0
    elif high == 0:
        middle = -1.0
    child[j] = low if part == 0 else middle + 1.0
    child[d + j] = middle if part == 0 else high
    return part < 2


@njit(error_model="numpy")
def _take(best: Array, value: float, w: Array, half: float) -> None:
    """Keep a point of better value, or of equal value and smaller weights."""
    total = 0.0
    for c in range(best.size - 3):
        total += abs(w[c])
    if value > best[0] + half or (value > best[0] - half and total < best[1]):
        best[0] = value
        best[1] = total
        for c in range(best.size - 3):
            best[3 + c] = w[c]


@njit(error_model="numpy")
def _push(stack: Array, depth: int, children: Array, kept: int) -> int:
    """Put boxes on the stack, the one of the largest bound last; returns the new depth."""
    last = stack.shape[1] - 1
    for _ in range(kept):
        worst = 0
        for c in range(1, kept):
            if children[c, last] < children[worst, last]:
                worst = c
        for c in range(last + 1):
            stack[depth, c] = children[worst, c]
        children[worst, last] = np.inf
        depth += 1
    return depth


@njit(error_model="numpy")
def search_weights(
    D: Array,
    sides: Array,
    owner: Array,
    copies: Array,
    gain: Array,
    size: Array,
    stack: Array,
    depth: int,
    best: Array,
    limits: Array,
    work: Array,
) -> tuple[int, int]:
    """Depth-first search below the boxes on the stack; returns how many are left on it, and how many were bounded.

    A row of the stack is [lo, hi, bound]. ``best`` = [value, sum |w|, doubt, w] takes a better value, or an equal one
    of smaller sum; doubt is the largest value that a single point may have beyond rounding. ``limits`` = [most boxes,
    features, tol, half the smallest difference of values].
    """
    d = D.shape[0]
    m = work[0]
    h = work[1]
    tol = limits[2]
    half = limits[3]
    counts = np.zeros(copies.size)
    box = np.empty(2 * d)
    children = np.empty((4, 2 * d + 1))
    looked = 0
    while depth > 0 and looked < limits[0]:
        depth -= 1
        for c in range(2 * d):
            box[c] = stack[depth, c]
        bound = stack[depth, 2 * d]
        j = _widest(D, box, size)
        if j < 0 or bound < best[0] - half or (bound < best[0] + half and _smallest(box) >= best[1]):
            continue
        kept = 0
        for part in range(3):
            child = children[kept, : 2 * d]
            if not (_part(box, j, part, child) and _limit_features(child, int(limits[1]))):
                continue
            looked += 1
            _reach(D, child, m, h)
            value = min(bound, _most(m, h, sides, owner, copies, gain, counts, tol))
            if _widest(D, child, size) >= 0:
                children[kept, 2 * d] = value
                kept += value > best[0] - half
                continue
            if tol > 0.0:
                _spell_out(D, child, m, h, tol)
                best[2] = max(best[2], _most(m, h, sides, owner, copies, gain, counts, 0.0))
                for p in range(m.size):  # ties in doubt are errors
                    m[p] = 0.0 if h[p] > 0.0 else m[p]
                    h[p] = 0.0
                value = _most(m, h, sides, owner, copies, gain, counts, 0.0)
            _take(best, value, child, half)
        depth = _push(stack, depth, children, kept)
    return depth, looked
