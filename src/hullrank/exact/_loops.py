"""Bounds of cells of directions, compiled.

Conventions. A box is c +- r on a facet of the cube |w|_inf = 1 (one r_j is 0), stored as one row [c, r, bound]. For a
unit pair direction D write m = D.c and h = sum_j |D_j| r_j: on the box D.w stays in [m - h, m + h]. ``pad`` bounds
the rounding of m and h; m is kept rounded up by it. A pool holds lists of pairs as columns: rows 0..d-1 are D, row d
is the weight g.

  count bound   B0 = sum g [m + h > 0]
  centre cut    [D.w > 0] <= 1 + l D.w for every 0 <= l <= 1 / (h - m); with l = [m < 0] / (h - m) the sum is linear:
                F(w) <= B0 + S0 + s.(w - c),  S0 = sum g l m,  s = sum g l D
  range cut     a better w needs B0 + S0 + s.(w - c) > best: a half-space, which shrinks the box along each axis
"""

from typing import Any

import numpy as np

from hullrank._jit import njit

Array = Any
MOST_DEPTH = 120
"""Depth of the stack of the box search."""


@njit(fastmath=True, error_model="numpy")
def _widths(pool: Array, at: int, n: int, c: Array, r: Array, m: Array, h: Array, pad: Any) -> None:
    """m = D.c + pad and h = sum |D_j| r_j."""
    zero = pad - pad
    for q in range(n):
        m[q] = pad
        h[q] = zero
    for j in range(c.size):
        x = pool[j, at : at + n]
        cj = c[j]
        rj = r[j]
        for q in range(n):
            m[q] += x[q] * cj
            h[q] += abs(x[q]) * rj


@njit(fastmath=True, error_model="numpy")
def _count_open(n: int, m: Array, h: Array, pad: Any) -> int:
    zero = pad - pad
    two = pad + pad
    count = 0
    for q in range(n):
        count += (m[q] + h[q] > zero) & (m[q] - h[q] <= two)
    return count


@njit(error_model="numpy")
def _compact(pool: Array, at: int, n: int, to: int, m: Array, h: Array, index: Array, pad: Any) -> tuple[int, float]:
    """Copy the undecided pairs to ``to``, padded to whole SIMD blocks; returns their number and the weight won."""
    d = pool.shape[0] - 1
    zero = pad - pad
    two = pad + pad
    g = pool[d, at : at + n]
    count = 0
    won = 0.0
    for q in range(n):
        sure = m[q] - h[q] > two
        won += g[q] if sure else zero
        index[count] = q
        count += (m[q] + h[q] > zero) & (not sure)
    size = (count + 31) & ~31
    for j in range(d + 1):
        x = pool[j, at : at + n]
        y = pool[j, to : to + size]
        for q in range(count):
            y[q] = x[index[q]]
        for q in range(count, size):
            y[q] = zero
    for q in range(count):
        m[q] = m[index[q]]
        h[q] = h[index[q]]
    for q in range(count, size):
        m[q] = pad
        h[q] = zero
    return size, won


@njit(fastmath=True, error_model="numpy")
def _shift(pool: Array, at: int, n: int, j: int, by: Any, m: Array, shrink: Any, h: Array) -> None:
    """m += by D_j and h += shrink |D_j|."""
    x = pool[j, at : at + n]
    for q in range(n):
        m[q] += x[q] * by
        h[q] += abs(x[q]) * shrink


@njit(fastmath=True, error_model="numpy")
def _bound(pool: Array, at: int, n: int, m: Array, h: Array, cut: Array, pad: Any) -> tuple[Any, Any, Any]:
    """B0, F(c) and S0 over a list; the multipliers g l of the centre cut go to ``cut``."""
    zero = pad - pad
    two = pad + pad
    g = pool[pool.shape[0] - 1, at : at + n]
    bound = zero
    centre = zero
    offset = zero
    for q in range(n):
        gain = g[q] if m[q] + h[q] > zero else zero
        bound += gain
        centre += g[q] if m[q] > two else zero
        slope = gain / (h[q] - m[q] + two) if m[q] < zero else zero
        offset += slope * m[q]
        cut[q] = slope
    return bound, centre, offset


@njit(fastmath=True, error_model="numpy")
def _dot(pool: Array, at: int, n: int, j: int, cut: Array) -> Any:
    x = pool[j, at : at + n]
    total = cut[0] - cut[0]
    for q in range(n):
        total += cut[q] * x[q]
    return total


@njit(fastmath=True, error_model="numpy")
def _size(pool: Array, at: int, n: int, j: int) -> Any:
    x = pool[j, at : at + n]
    total = x[0] - x[0]
    for q in range(n):
        total += abs(x[q])
    return total


@njit(error_model="numpy")
def _cut_box(pool: Array, at: int, n: int, cut: Array, box: Array, value: float, aim: float) -> float:
    """The cut's bound on the box, given its value at the centre; the box shrinks to what the range cut leaves."""
    d = (box.size - 1) // 2
    slopes = np.empty(d)
    for j in range(d):
        slopes[j] = _dot(pool, at, n, j, cut) if box[d + j] > 0 else 0.0
        value += abs(slopes[j]) * box[d + j]
    slack = value - aim
    if slack > 0:
        for j in range(d):
            steep = abs(slopes[j])
            if steep * box[d + j] * 1.8 > slack:
                left = 0.5 * slack / steep * (1.0 + 1e-6)
                box[j] += (box[d + j] - left) if slopes[j] > 0 else (left - box[d + j])
                box[d + j] = left
    return value


@njit(error_model="numpy")
def _split(pool: Array, at: int, n: int, box: Array, axes: Array, work: Array, real: Array) -> int:
    """Halve the coordinates along which pairs are widest; box, m, h move to the lowest orthant. Returns how many."""
    d = pool.shape[0] - 1
    width = np.empty(d)
    for j in range(d):
        width[j] = _size(pool, at, n, j) * box[d + j] if box[d + j] > 0 else -1.0
    for i in range(axes.size):
        j = 0
        for k in range(d):
            if width[k] > width[j]:
                j = k
        if width[j] <= 0:
            return i
        axes[i] = j
        width[j] = -1.0
        box[d + j] *= 0.5
        box[j] -= box[d + j]
        real[0] = -box[d + j]
        _shift(pool, at, n, j, real[0], work[0], real[0], work[1])
    return axes.size


@njit(error_model="numpy")
def _list_open(pool: Array, work: Array, index: Array, box: Array, plan: Array, depth: int, pad: Any) -> float:
    """m and h of the pairs on a box, in a list of their own if many are decided; returns the weight won for good."""
    d = pool.shape[0] - 1
    n = plan[depth, 1]
    at = plan[depth, 2]
    centre = np.empty(d, work.dtype)
    radii = np.empty(d, work.dtype)
    for j in range(d):
        centre[j] = box[j]
        radii[j] = box[d + j]
    _widths(pool, at, n, centre, radii, work[0], work[1], pad)
    won = 0.0
    if _count_open(n, work[0], work[1], pad) < 0.8 * n - 16:
        to = at + n
        n, won = _compact(pool, at, n, to, work[0], work[1], index, pad)
        at = to
    plan[depth + 1, 0] = 0
    plan[depth + 1, 1] = n
    plan[depth + 1, 2] = at
    return won


@njit(error_model="numpy")
def _bound_orthants(
    pool: Array,
    work: Array,
    box: Array,
    children: Array,
    plan: Array,
    limits: Array,
    axes: Array,
    best: Array,
    won: float,
) -> int:
    """Cut a box into orthants, bound each on the box's list, and keep those that may beat the best; returns how many.

    The orthants follow each other in Gray code order, so that one coordinate flips at a time.
    """
    d = pool.shape[0] - 1
    n = plan[1]
    at = plan[2]
    real = np.empty(2, work.dtype)
    real[1] = limits[5]
    pad = real[1]
    orthants = 1 << _split(pool, at, n, box, axes, work, real)
    for orthant in range(orthants):
        if orthant > 0:
            i = 0
            while (orthant >> i) & 1 == 0:
                i += 1
            j = axes[i]
            by = 2.0 * box[d + j] if ((orthant ^ (orthant >> 1)) >> i) & 1 else -2.0 * box[d + j]
            box[j] += by
            real[0] = by
            _shift(pool, at, n, j, real[0], work[0], pad - pad, work[1])
        count, centre, offset = _bound(pool, at, n, work[0], work[1], work[2], pad)
        bound = won + count
        if won + centre > best[0] + 0.5 * limits[0]:
            best[0] = won + centre
            for j in range(d):
                best[1 + j] = box[j]
        if bound < best[0] + limits[0]:
            continue
        child = children[plan[0]]
        for j in range(2 * d):
            child[j] = box[j]
        if offset < 0.5 * (best[0] - bound):
            loose = bound + offset + limits[4] * (n / 32 + 8) * count
            bound = min(bound, _cut_box(pool, at, n, work[2], child, loose, best[0] + limits[0]))
        if bound >= best[0] + limits[0]:
            child[2 * d] = min(bound, box[2 * d])
            plan[0] += 1
    return orthants


@njit(error_model="numpy")
def search_boxes(
    pool: Array,
    work: Array,
    index: Array,
    stack: Array,
    plan: Array,
    limits: Array,
    axes: Array,
    out: Array,
    best: Array,
) -> tuple[int, int]:
    """Depth-first search below the box in stack[0, 0]; the pairs are the first ``plan[0, 1]`` columns of the pool.

    A visited box keeps the list of its undecided pairs and is cut into orthants, all bounded on that list. ``limits``
    = [step, smallest radius, most pair bounds, most cells, rounding of a sum, pad]. Boxes still open when a limit
    is met go to ``out``; ``best`` = [value, w] takes a better one. Returns the number of open boxes and of cells.
    """
    d = pool.shape[0] - 1
    real = np.empty(1, work.dtype)
    real[0] = limits[5]
    box = np.empty(2 * d + 1)
    won = np.zeros(MOST_DEPTH)
    opened = 0
    cells = 0
    bounds = 0
    depth = 0
    while depth >= 0:
        if plan[depth, 0] == 0:
            depth -= 1
            continue
        plan[depth, 0] -= 1
        widest = 0.0
        for j in range(2 * d + 1):
            box[j] = stack[depth, plan[depth, 0], j]
        if box[2 * d] < best[0] + limits[0]:
            continue
        for j in range(d, 2 * d):
            widest = max(widest, box[j])
        full = plan[depth, 2] + 2 * plan[depth, 1] + 64 > pool.shape[1] or depth + 1 >= MOST_DEPTH
        full = full or opened + MOST_DEPTH * stack.shape[1] >= out.shape[0]
        if full or widest < limits[1] or bounds > limits[2] or cells >= limits[3]:
            for j in range(2 * d + 1):
                out[opened, j] = box[j]
            opened += 1
            continue
        won[depth + 1] = won[depth] + _list_open(pool, work, index, box, plan, depth, real[0])
        depth += 1
        looked = _bound_orthants(pool, work, box, stack[depth], plan[depth], limits, axes, best, won[depth])
        cells += looked
        bounds += looked * plan[depth, 1]
    return opened, cells


@njit(error_model="numpy")
def sweep_cell(
    D: Array,
    weight: Array,
    owner: Array,
    base: Array,
    multiplicity: Array,
    gain: Array,
    cell: Array,
    aim: float,
    bins: Array,
) -> float:
    """Bound of F on a swept cell: coordinates 1.. in a box, coordinate 0 anywhere in an interval, cut into bins.

    ``cell`` = [c, r, s0, s1]: t = w_0 runs over s / (1 - |s|) for s in [s0, s1]. Pair p can be won where t D_0 + D.c
    + h > 0: an interval of bins, rounded outwards. Per bin an owner's count is at most the number of its pairs that
    can be won there; owners of multiplicity 1 stand on distinct ranks. The interval shrinks to the bins that reach
    ``aim``.
    """
    d = D.shape[0]
    n_bins = bins.shape[1]
    low = cell[2 * d]
    high = cell[2 * d + 1]
    per_bin = n_bins / (high - low)
    end = max(abs(low), abs(high))
    farthest = end / (1.0 - end) if end < 1.0 else np.inf
    for i in range(bins.shape[0]):
        for b in range(n_bins):
            bins[i, b] = 0.0
        bins[i, 0] = base[i]
    for p in range(D.shape[1]):
        reach = 1e-10
        for j in range(1, d):
            reach += D[j, p] * cell[j] + abs(D[j, p]) * cell[d + j]
        a = D[0, p]
        i = owner[p]
        if abs(a) <= 2e-12:  # its sign is unknown; beyond some |t| it may decide the pair
            if reach > 0.0 or reach + 4e-12 * farthest > 0.0:
                bins[i, 0] += weight[p]
            continue
        a += 1e-12 if (a > 0.0) == (reach < 0.0) else -1e-12
        s = -reach / (a + abs(reach)) - 1e-13 if a > 0.0 else reach / (abs(reach) - a) + 1e-13
        if a > 0.0:
            if s < high:
                bins[i, min(n_bins - 1, int(max(0.0, (s - low) * per_bin)))] += weight[p]
        elif s > low:
            bins[i, 0] += weight[p]
            if s < high:
                after = int((s - low) * per_bin) + 1
                if after < n_bins:
                    bins[i, after] -= weight[p]
    best = -np.inf
    first = -1
    last = -1
    rank_count = np.zeros(gain.size + 1, np.int64)
    for b in range(n_bins):
        if b > 0:
            for i in range(bins.shape[0]):
                bins[i, b] += bins[i, b - 1]
        value = bins[0, b] if gain.size == 0 else _earned(bins, b, multiplicity, gain, rank_count)
        best = max(best, value)
        if value >= aim:
            if first < 0:
                first = b
            last = b
    if first >= 0:
        cell[2 * d] = low + first / per_bin
        cell[2 * d + 1] = low + (last + 1) / per_bin
    return best


@njit(error_model="numpy")
def _earned(bins: Array, b: int, multiplicity: Array, gain: Array, rank_count: Array) -> float:
    """sum m_i a(count_i), the counts of single owners lowered until they are distinct."""
    value = 0.0
    for rank in range(gain.size):
        rank_count[rank] = 0
    for i in range(bins.shape[0]):
        rank = int(bins[i, b])
        if multiplicity[i] == 1.0:
            rank_count[rank] += 1
        else:
            value += multiplicity[i] * gain[rank]
    waiting = 0
    for back in range(gain.size):
        rank = gain.size - 1 - back
        waiting += rank_count[rank]
        if waiting > 0:
            value += gain[rank]
            waiting -= 1
    return value + waiting * gain[0]
