"""Sequential minimal optimisation for interval problems: the compiled inner loop, arrays only.

Signed multipliers v = sign * alpha, one per row; the residual of a row, sign * (offset - curvature * sum_bundle alpha)
- s, is how fast the dual objective grows with v. A row that may rise bounds -theta of its threshold from below by its
residual, one that may fall bounds it from above. A step raises v of one row and lowers v of another by the same
amount; if their thresholds differ, multipliers of order constraints along a path between them move too, at its cost.
Where rows stay inside their boxes (hinge), a step follows a direction conjugate to that of the step before: p = (raise
i, lower j) + share * (last p). With q = K p at hand this costs little, and fewer steps are needed.

A line of ``groups`` is threshold, first sample, last + 1, base of its rows, base of the partner's rows (or NO_ROW): the
row of sample k is base + k. Groups of one threshold that follow each other, samples and rows, are one segment: a line
of ``segments`` is threshold, first sample, last + 1, base of its rows, first group. ``rounded`` is s in float32.
``off`` holds, in float32 too, the residual plus s of the rows that may rise (line 0) and fall (line 1), and -FAR or FAR
of those that may not.
"""

from typing import Any

import numpy as np

from hullrank._jit import INNER, UNCOUNTED, njit
from hullrank.problem._exponentials import exponentials32
from hullrank.solvers._smo_paths import bottleneck, find_paths, push
from hullrank.solvers._smo_scans import differences, extremes, find, move
from hullrank.solvers._smo_scans import gains as second_order_gains

Array = Any

FAR = 1e30
NO_ROW = -(1 << 40)  # base of the rows of a partner that is not there
CONVERGED, OUT_OF_STEPS, MISSING_ROW, STUCK, INDEFINITE = range(5)
# numbers that come in and go out
STEPS, VIOLATION, MISSING, RHO, RHO_WEIGHT, RHO_CURVATURE, LIMIT, EPS, MEMBERS, BEND = range(10)
MOST_MEMBERS = 16  # rows that a direction moves before the next begins anew


@njit(**INNER)
def _level(row: Array, partner: Array, k: Array, sign: Array, offset: Array, curvature: Array, v: Array) -> Any:
    """Residual plus s of one row."""
    total = sign * v[row]
    if partner >= 0:
        total -= sign * v[partner]
    return sign * (offset - curvature[k] * total)


@njit(**INNER)
def _set_row(
    row: Array, partner: Array, k: Array, sign: Array, offset: Array, per_sample: Array, v: Array, off: Array
) -> None:
    """Where the row may rise and where it may fall, its level; else out of reach."""
    z = _level(row, partner, k, sign, offset, per_sample[1], v)
    bound = per_sample[2, k]
    off[0, row] = z if v[row] < (bound if sign > 0 else 0.0) else -1e30
    off[1, row] = z if v[row] > (0.0 if sign > 0 else -bound) else 1e30


@njit(error_model="numpy")
def set_rows(groups: Array, signs: Array, per_sample: Array, v: Array, off: Array) -> None:
    """Fill ``off`` for all rows of all groups."""
    for g in range(groups.shape[0]):
        for k in range(groups[g, 1], groups[g, 2]):
            partner = groups[g, 4] + k
            _set_row(groups[g, 3] + k, partner, k, signs[g, 0], signs[g, 1], per_sample, v, off)


@njit(**INNER)
def _extremes(segments: Array, signs: Array, s: Array, off: Array, ends: Array, ends_of: Array, rho: Array) -> None:
    """Per threshold, the extreme residuals and the segment of the one that may rise."""
    for t in range(ends_of.shape[0]):
        ends_of[t, 0] = -1e30
        ends_of[t, 1] = 1e30
    for r in range(segments.shape[0]):
        lo = segments[r, 1]
        hi = segments[r, 2]
        if hi > lo:
            base = segments[r, 3]
            extremes(s[lo:hi], off[0, base + lo : base + hi], off[1, base + lo : base + hi], ends[r])
            t = segments[r, 0]
            shift = signs[segments[r, 4], 0] * rho
            x = ends[r, 0]
            if x > -1e29 and x + shift > ends_of[t, 0]:
                ends_of[t, 0] = x + shift
                ends_of[t, 2] = r
            x = ends[r, 1]
            if x < 1e29 and x + shift < ends_of[t, 1]:
                ends_of[t, 1] = x + shift


@njit(**INNER)
def _worst_pair(ends_of: Array, cost: Array) -> Any:
    """The thresholds between which optimality is violated most, and by how much."""
    violation = -1.0
    rising = 0
    falling = 0
    for a in range(cost.shape[0]):
        if ends_of[a, 0] > -1e29:
            for b in range(cost.shape[0]):
                x = ends_of[a, 0] - ends_of[b, 1] + cost[a, b]
                if x > violation:
                    violation = x
                    rising = a
                    falling = b
    return violation, rising, falling


@njit(**UNCOUNTED)
def middles(ends_of: Array, cost: Array, middle: Array) -> None:
    """Per threshold, the middle of what the rows allow, its own and through paths; 0 if they allow everything."""
    for t in range(middle.shape[0]):
        at_least = -1e30
        at_most = 1e30
        for a in range(middle.shape[0]):
            at_least = max(at_least, ends_of[a, 0] + cost[a, t])
            at_most = min(at_most, ends_of[a, 1] - cost[t, a])
        if at_least < -1e29:
            at_least = at_most if at_most < 1e29 else 0.0
        if at_most > 1e29:
            at_most = at_least
        middle[t] = 0.5 * (at_least + at_most)


@njit(**INNER)
def _owner(groups: Array, g: Array, k: Array) -> Any:
    """The group of sample k in the segment that begins with group g."""
    while groups[g, 2] <= k:
        g += 1
    return g


@njit(**INNER)
def _partner(ki: Array, own: Array, sign: Array, reach: Array, t: Array, segments: Array, signs: Array, s: Array,
             off: Array, curvature32: Array, q: Array, qi: Array, conjugate: Array, gains: Array, io: Array
             ) -> Any:  # fmt: skip
    """First group of the segment, and sample, of the row at threshold t whose fall gains most together with the given
    rise; group -1: none."""
    best = np.float32(0)
    h = -1
    j = 0
    for r in range(segments.shape[0]):
        lo = segments[r, 1]
        hi = segments[r, 2]
        if segments[r, 0] == t and hi > lo:
            other = signs[segments[r, 4], 0]
            extra = io[RHO_CURVATURE] if other != sign else 0.0
            down = off[1, segments[r, 3] + lo : segments[r, 3] + hi]
            far = np.float32(reach - other * io[RHO])
            gain = second_order_gains(
                s[lo:hi], ki[lo:hi], down, curvature32[lo:hi], q[lo:hi], gains, np.float32(own + extra), far, qi,
                np.float32(conjugate),
            )  # fmt: skip
            if gain > best:
                best = gain
                h = segments[r, 4]
                j = lo + find(gains, hi - lo, gain)
    return h, j


@njit(**INNER)
def _bend(i: Array, j: Array, kij: Array, bundled: Array, opposite: Array, per_sample: Array, io: Array) -> Any:
    """Second derivative of the dual objective along the step, without sign."""
    bend = per_sample[1, i] + per_sample[1, j]
    if i != j:
        bend += per_sample[0, i] + per_sample[0, j] - 2.0 * kij
    elif bundled:
        bend += 2.0 * per_sample[1, i]
    if opposite:
        bend += io[RHO_CURVATURE]
    return bend


@njit(**INNER)
def _join(member: Array, along: Array, row: Array, lower: Array, upper: Array, io: Array) -> Any:
    """The place of a row among those that the direction moves; it enters with weight 0."""
    n = np.int64(io[MEMBERS])
    for r in range(n):
        if member[r] == row:
            return r
    member[n] = row
    along[0, n] = 0.0
    along[1, n] = lower
    along[2, n] = upper
    io[MEMBERS] = n + 1
    return n


@njit(**INNER)
def _follow(member: Array, along: Array, at_i: Array, at_j: Array, share: Array, d: Array, v: Array, io: Array) -> Any:
    """Take the step d along the new direction, unless a row would leave its box; whether it was taken."""
    for r in range(np.int64(io[MEMBERS])):
        weight = share * along[0, r] + (r == at_i) - (r == at_j)
        target = v[member[r]] + d * weight
        if target <= along[1, r] or target >= along[2, r]:
            return False
    for r in range(np.int64(io[MEMBERS])):
        along[0, r] = share * along[0, r] + (r == at_i) - (r == at_j)
        v[member[r]] += d * along[0, r]
    return True


@njit(**INNER)
def _finish(K: Array, raw: Array, row: Array) -> None:
    """Exponentials of a row that is raw."""
    if raw[row]:
        exponentials32(K[row : row + 1])
        raw[row] = False


@njit(**UNCOUNTED)
def smo(
    K: Array,
    slot: Array,
    raw: Array,
    groups: Array,
    segments: Array,
    signs: Array,
    edges: Array,
    order: Array,
    cost: Array,
    hop: Array,
    per_sample: Array,
    curvature32: Array,
    v: Array,
    s: Array,
    rounded: Array,
    off: Array,
    gains: Array,
    ends: Array,
    ends_of: Array,
    q: Array,
    member: Array,
    along: Array,
    io: Array,
) -> Any:
    """Steps until the largest violation is below io[EPS]; returns how it ended, numbers in ``io``.

    K holds kernel rows, that of sample k at slot[k] (-1: not there: the caller must bring it and call again); where it
    is ``raw``, its values are the exponentials of what is there.
    ``per_sample`` is diagonal, curvature, bound; ``order`` is gap and multiplier of the order constraints ``edges``.
    The last direction moves io[MEMBERS] rows ``member``; ``along`` is by how much, and their lower and upper bound.
    """
    find_paths(edges, order, cost, hop)
    row_i = 0
    row_j = 0
    d = 0.0
    share = np.float32(1)
    ended = CONVERGED
    while True:
        rho = io[RHO]
        move(s, q, K[row_i], K[row_j], share, d, rounded)
        _extremes(segments, signs, rounded, off, ends, ends_of, rho)
        d = 0.0
        share = np.float32(1)
        row_j = row_i
        violation, t1, t2 = _worst_pair(ends_of, cost)
        io[VIOLATION] = violation
        if violation < io[EPS]:
            break
        if io[STEPS] >= io[LIMIT]:
            ended = OUT_OF_STEPS
            break
        r = np.int64(ends_of[t1, 2])
        lo = segments[r, 1]
        hi = segments[r, 2]
        base = segments[r, 3]
        differences(off[0, base + lo : base + hi], rounded[lo:hi], gains)
        i = lo + find(gains, hi - lo, ends[r, 0])
        g = _owner(groups, segments[r, 4], i)
        row_i = slot[i]
        if row_i < 0:
            io[MISSING] = i
            ended = MISSING_ROW
            break
        _finish(K, raw, row_i)
        reach = ends_of[t1, 0] + cost[t1, t2]
        own = per_sample[0, i] + per_sample[1, i]
        conjugate = 1.0 / io[BEND] if io[MEMBERS] > 0 and t1 == t2 else 0.0
        h, j = _partner(
            K[row_i], own, signs[g, 0], reach, t2, segments, signs, rounded, off, curvature32, q, q[i], conjugate,
            gains, io,
        )  # fmt: skip
        if h < 0:
            ended = STUCK
            break
        h = _owner(groups, h, j)
        row_j = slot[j]
        if row_j < 0:
            io[MISSING] = j
            ended = MISSING_ROW
            break
        _finish(K, raw, row_j)
        up = base + i
        down_row = groups[h, 3] + j
        bundled = groups[g, 4] + i == down_row
        bend = _bend(i, j, K[row_i, j], bundled, signs[g, 0] != signs[h, 0], per_sample, io)
        if bend < -1e-3 * (abs(per_sample[0, i]) + abs(per_sample[0, j])):
            ended = INDEFINITE
            break
        slope = _level(up, groups[g, 4] + i, i, signs[g, 0], signs[g, 1], per_sample[1], v) - s[i]
        slope -= _level(down_row, groups[h, 4] + j, j, signs[h, 0], signs[h, 1], per_sample[1], v) - s[j]
        slope += rho * (signs[g, 0] - signs[h, 0]) + cost[t1, t2]
        if slope <= 0.0:
            ended = STUCK
            break
        least = 1e-12 * (per_sample[0, i] + per_sample[0, j]) + 1e-300
        bend = bend if bend > least else least
        d = slope / bend
        low_i = 0.0 if signs[g, 0] > 0 else -per_sample[2, i]
        low_j = 0.0 if signs[h, 0] > 0 else -per_sample[2, j]
        apart = np.float64(q[i]) - np.float64(q[j])
        conjugate_bend = bend - conjugate * apart * apart
        followed = False
        if conjugate > 0.0 and conjugate_bend > 1e-3 * bend:
            at_i = _join(member, along, up, low_i, low_i + per_sample[2, i], io)
            at_j = _join(member, along, down_row, low_j, low_j + per_sample[2, j], io)
            followed = _follow(member, along, at_i, at_j, -conjugate * apart, slope / conjugate_bend, v, io)
        if followed:
            d = slope / conjugate_bend
            share = np.float32(-conjugate * apart)
            io[BEND] = conjugate_bend
            if io[MEMBERS] > MOST_MEMBERS - 2:
                io[MEMBERS] = 0.0
        else:
            share = np.float32(0)
            io[MEMBERS] = 0.0
            high = low_i + per_sample[2, i] - v[up]
            low = v[down_row] - low_j
            inside = d < high and d < low
            d = high if high < d else d
            d = low if low < d else d
            if t1 != t2:
                d = bottleneck(edges, order, hop, t1, t2, d)
                if push(edges, order, hop, t1, t2, d) == 1:
                    find_paths(edges, order, cost, hop)
            elif inside and per_sample[1, i] == 0.0 and io[RHO_WEIGHT] == 0.0:
                along[0, _join(member, along, up, low_i, low_i + per_sample[2, i], io)] = 1.0
                along[0, _join(member, along, down_row, low_j, low_j + per_sample[2, j], io)] = -1.0
                io[BEND] = bend
            v[up] = v[up] + d if d < high else low_i + per_sample[2, i]
            v[down_row] = v[down_row] - d if d < low else low_j
        for side in range(2):
            c = g if side == 0 else h
            k = i if side == 0 else j
            partner = groups[c, 4] + k
            _set_row(groups[c, 3] + k, partner, k, signs[c, 0], signs[c, 1], per_sample, v, off)
            if partner >= 0:
                _set_row(partner, groups[c, 3] + k, k, -signs[c, 0], signs[c, 1], per_sample, v, off)
        io[RHO] -= io[RHO_WEIGHT] * d * (signs[g, 0] - signs[h, 0])
        io[STEPS] += 1
    return ended


@njit(error_model="numpy")
def compact(memory: Array, width: Array, slots: Array, kept: Array) -> None:
    """Of the rows of ``width`` entries at ``slots`` (ascending) leave the entries ``kept``, row after row, in place."""
    n = kept.shape[0]
    for r in range(slots.shape[0]):
        row = memory[slots[r] * width : (slots[r] + 1) * width]
        for k in range(n):
            memory[r * n + k] = row[kept[k]]
