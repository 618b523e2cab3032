"""Sequential minimal optimisation for interval problems: the compiled inner loop, arrays only.

Signed multipliers v = sign * alpha, one per row; the residual of a row, sign * (offset - curvature * sum_bundle alpha)
- s, is how fast the dual objective grows with v. A row that may rise bounds -theta of its threshold from below by its
residual, one that may fall bounds it from above. A step raises v of one row and lowers v of another by the same
amount; if their thresholds differ, multipliers of order constraints along a path between them move too, at its cost.

Tables (one line each):
  lanes   first sample, last + 1, group, base of its rows, second group or -1, base of its rows, 1 if first of its class
  groups  threshold, first sample, last + 1, base of its rows, base of the partner's rows (or NO_ROW)
where the row of sample k is base + k. ``off`` holds, in float32, the residual plus s of the rows that may rise (line 0)
and fall (line 1), and -FAR or FAR of those that may not.
"""

from typing import Any

import numpy as np

from hullrank._jit import njit
from hullrank.solvers._smo_scans import INNER, scan_one, scan_two, unkey
from hullrank.solvers._smo_scans import gains as second_order_gains

Array = Any

FAR = 1e30
NO_ROW = -(1 << 40)  # base of the rows of a partner that is not there
CONVERGED, OUT_OF_STEPS, MISSING_ROW, STUCK, INDEFINITE = range(5)
# numbers that come in and go out
STEPS, VIOLATION, MISSING, RHO, RHO_WEIGHT, RHO_CURVATURE, LIMIT, EPS, MEMBERS, BEND = range(10)
MOST_MEMBERS = 16


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
def _bottleneck(edges: Array, order: Array, hop: Array, t1: Array, t2: Array, d: Array) -> Any:
    """The largest step up to d that keeps the order multipliers along the path from t1 to t2 non-negative."""
    a = t1
    while a != t2:
        e = hop[a, t2]
        forward = edges[e, 0] == a
        if not forward and order[1, e] < d:
            d = order[1, e]
        a = edges[e, 1] if forward else edges[e, 0]
    return d


@njit(**INNER)
def _push(edges: Array, order: Array, hop: Array, t1: Array, t2: Array, d: Array) -> Any:
    """Move d along the path; 1 if some order multiplier became or stopped being zero."""
    a = t1
    changed = 0
    while a != t2:
        e = hop[a, t2]
        forward = edges[e, 0] == a
        before = order[1, e] > 0
        order[1, e] += d if forward else -d
        if order[1, e] < 1e-14 * d:
            order[1, e] = 0.0
        if before != (order[1, e] > 0):
            changed = 1
        a = edges[e, 1] if forward else edges[e, 0]
    return changed


@njit(**INNER)
def _find_paths(edges: Array, order: Array, cost: Array, hop: Array) -> None:
    """Best path costs between thresholds (Floyd and Warshall): an order constraint up to low earns its gap, and the way
    back, open while its multiplier is positive, costs it. ``hop`` is the first order constraint of the path."""
    n = cost.shape[0]
    for a in range(n):
        for b in range(n):
            cost[a, b] = -1e30
            hop[a, b] = -1
        cost[a, a] = 0.0
    for e in range(edges.shape[0]):
        up = edges[e, 0]
        low = edges[e, 1]
        if order[0, e] > cost[up, low]:
            cost[up, low] = order[0, e]
            hop[up, low] = e
        if order[1, e] > 0 and -order[0, e] > cost[low, up]:
            cost[low, up] = -order[0, e]
            hop[low, up] = e
    for k in range(n):
        for a in range(n):
            if cost[a, k] > -1e29:
                for b in range(n):
                    if cost[k, b] > -1e29 and cost[a, k] + cost[k, b] > cost[a, b] + 1e-12:
                        cost[a, b] = cost[a, k] + cost[k, b]
                        hop[a, b] = hop[a, k]


@njit(**INNER)
def _extremes(
    K: Array,
    i: Array,
    j: Array,
    share: Array,
    d: Array,
    q: Array,
    lanes: Array,
    groups: Array,
    signs: Array,
    s: Array,
    off: Array,
    ends: Array,
    ends_of: Array,
    rho: Array,
) -> None:
    """Apply the last step to s and find, per threshold, the extreme residuals and the groups that hold them."""
    for lane in range(lanes.shape[0]):
        lo = lanes[lane, 0]
        hi = lanes[lane, 1]
        g = lanes[lane, 2]
        first = lanes[lane, 6] == 1
        step = d if first else 0.0
        keep = share if first else np.float32(1)
        other = j if first else i
        a = lanes[lane, 3]
        if lanes[lane, 4] < 0:
            scan_one(
                s[lo:hi], q[lo:hi], K[i, lo:hi], K[other, lo:hi], keep, step,
                off[0, a + lo : a + hi], off[1, a + lo : a + hi], ends[g],
            )
        else:
            b = lanes[lane, 5]
            scan_two(
                s[lo:hi], q[lo:hi], K[i, lo:hi], K[other, lo:hi], keep, step,
                off[0, a + lo : a + hi], off[1, a + lo : a + hi], off[0, b + lo : b + hi], off[1, b + lo : b + hi],
                ends[g], ends[lanes[lane, 4]],
            )  # fmt: skip
    for t in range(ends_of.shape[0]):
        ends_of[t, 0] = -1e30
        ends_of[t, 1] = 1e30
    for g in range(groups.shape[0]):
        if groups[g, 2] > groups[g, 1]:
            t = groups[g, 0]
            shift = signs[g, 0] * rho
            x = unkey(ends[g, 0])
            if x > -1e29 and x + shift > ends_of[t, 0]:
                ends_of[t, 0] = x + shift
                ends_of[t, 2] = g
            x = unkey(ends[g, 1])
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


@njit(**INNER)
def _partner(ki: Array, own: Array, sign: Array, reach: Array, t: Array, groups: Array, signs: Array, s: Array,
             q: Array, qi: Array, conj: Array,
             off: Array, curvature32: Array, gains: Array, io: Array) -> Any:  # fmt: skip
    """Group and sample of the row at threshold t whose fall gains most together with the given rise; group -1: none."""
    best = np.int32(0)
    h = -1
    j = 0
    for g in range(groups.shape[0]):
        lo = groups[g, 1]
        hi = groups[g, 2]
        if groups[g, 0] == t and hi > lo:
            extra = io[RHO_CURVATURE] if signs[g, 0] != sign else 0.0
            down = off[1, groups[g, 3] + lo : groups[g, 3] + hi]
            far = np.float32(reach - signs[g, 0] * io[RHO])
            gain = second_order_gains(
                s[lo:hi], q[lo:hi], ki[lo:hi], down, curvature32[lo:hi], np.float32(own + extra), far, qi,
                np.float32(conj), gains,
            )
            if gain > best:
                best = gain
                h = g
                x = np.int32(gain).view(np.float32)
                j = lo
                while gains[j - lo] != x:
                    j += 1
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


@njit(error_model="numpy")
def smo(
    K: Array,
    slot: Array,
    lanes: Array,
    groups: Array,
    signs: Array,
    edges: Array,
    order: Array,
    cost: Array,
    hop: Array,
    per_sample: Array,
    curvature32: Array,
    v: Array,
    s: Array,
    off: Array,
    gains: Array,
    ends: Array,
    ends_of: Array,
    q: Array,
    member: Array,
    weight: Array,
    place: Array,
    io: Array,
) -> Any:
    """Steps until the largest violation is below io[EPS]; returns how it ended, numbers in ``io``.

    K holds kernel rows, that of sample k at slot[k] (-1: not there: the caller must bring it and call again).
    ``per_sample`` is diagonal, curvature, bound; ``order`` is gap and multiplier of the order constraints ``edges``.
    """
    _find_paths(edges, order, cost, hop)
    row_i = 0
    row_j = 0
    d = 0.0
    share = np.float32(1)
    ended = CONVERGED
    while True:
        rho = io[RHO]
        _extremes(K, row_i, row_j, share, d, q, lanes, groups, signs, s, off, ends, ends_of, rho)
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
        g = np.int64(ends_of[t1, 2])
        base = groups[g, 3]
        wanted = unkey(ends[g, 0])
        i = groups[g, 1]
        while i < groups[g, 2] - 1 and np.float32(off[0, base + i] - np.float32(s[i])) != wanted:
            i += 1
        row_i = slot[i]
        if row_i < 0:
            io[MISSING] = i
            ended = MISSING_ROW
            break
        reach = ends_of[t1, 0] + cost[t1, t2]
        own = per_sample[0, i] + per_sample[1, i]
        conj = 0.0
        if io[MEMBERS] > 0 and t1 == t2:
            conj = 1.0 / io[BEND]
        h, j = _partner(K[row_i], own, signs[g, 0], reach, t2, groups, signs, s, q, q[i], conj, off, curvature32, gains, io)
        if h < 0:
            ended = STUCK
            break
        row_j = slot[j]
        if row_j < 0:
            io[MISSING] = j
            ended = MISSING_ROW
            break
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
        d = slope / (bend if bend > least else least)
        high = (per_sample[2, i] if signs[g, 0] > 0 else 0.0) - v[up]
        low = v[down_row] + (0.0 if signs[h, 0] > 0 else per_sample[2, j])
        free = d < high and d < low
        d = high if high < d else d
        d = low if low < d else d
        if t1 != t2:
            d = _bottleneck(edges, order, hop, t1, t2, d)
            if _push(edges, order, hop, t1, t2, d) == 1:
                _find_paths(edges, order, cost, hop)
        n = np.int64(io[MEMBERS])
        plain = True
        if conj > 0.0:
            c = np.float64(q[i]) - np.float64(q[j])
            bend2 = bend - c * c * conj
            if bend2 > 1e-3 * bend:
                gamma = -c * conj
                d2 = slope / bend2
                # rows not yet members: treat i and j
                at_i = place[up]
                at_j = place[down_row]
                wi = 1.0 + (gamma * weight[at_i] if at_i >= 0 else 0.0)
                wj = -1.0 + (gamma * weight[at_j] if at_j >= 0 else 0.0)
                lo_i = 0.0 if signs[g, 0] > 0 else -per_sample[2, i]
                lo_j = 0.0 if signs[h, 0] > 0 else -per_sample[2, j]
                room = (lo_i + per_sample[2, i] - v[up]) / wi if wi > 0 else (lo_i - v[up]) / wi if wi < 0 else 1e300
                most = room
                room = (lo_j + per_sample[2, j] - v[down_row]) / wj if wj > 0 else (lo_j - v[down_row]) / wj if wj < 0 else 1e300
                most = room if room < most else most
                for r in range(n):
                    row = member[r, 0]
                    if row != up and row != down_row:
                        w = gamma * weight[r]
                        x = v[row]
                        lower = 0.0 if member[r, 1] > 0 else -per_sample[2, member[r, 2]]
                        room = (lower + per_sample[2, member[r, 2]] - x) if w > 0 else x - lower
                        aw = w if w > 0 else -w
                        if room < most * aw:
                            most = room / aw
                if most > d2:  # not cut
                    plain = False
                    d = d2
                    share = np.float32(gamma)
                    for r in range(n):
                        weight[r] *= gamma
                        row = member[r, 0]
                        if row != up and row != down_row:
                            v[row] += d * weight[r]
                    if at_i < 0:
                        at_i = n
                        member[n, 0] = up
                        member[n, 1] = 1 if signs[g, 0] > 0 else -1
                        member[n, 2] = i
                        weight[n] = 0.0
                        place[up] = n
                        n += 1
                    if at_j < 0:
                        at_j = n
                        member[n, 0] = down_row
                        member[n, 1] = 1 if signs[h, 0] > 0 else -1
                        member[n, 2] = j
                        weight[n] = 0.0
                        place[down_row] = n
                        n += 1
                    weight[at_i] = wi
                    weight[at_j] = wj
                    v[up] += d * wi
                    v[down_row] += d * wj
                    io[BEND] = bend2
                    io[MEMBERS] = n
                    if n > MOST_MEMBERS - 2:
                        for r in range(n):
                            place[member[r, 0]] = -1
                        io[MEMBERS] = 0
        if plain:
            for r in range(n):
                place[member[r, 0]] = -1
            n = 0
            share = np.float32(0)
            v[up] = v[up] + d if d < high else (per_sample[2, i] if signs[g, 0] > 0 else 0.0)
            v[down_row] = v[down_row] - d if d < low else (0.0 if signs[h, 0] > 0 else -per_sample[2, j])
            if free and t1 == t2 and i != j and io[RHO_WEIGHT] == 0.0 and per_sample[1, i] == 0.0:
                member[0, 0] = up
                member[0, 1] = 1 if signs[g, 0] > 0 else -1
                member[0, 2] = i
                member[1, 0] = down_row
                member[1, 1] = 1 if signs[h, 0] > 0 else -1
                member[1, 2] = j
                weight[0] = 1.0
                weight[1] = -1.0
                place[up] = 0
                place[down_row] = 1
                n = 2
                io[BEND] = bend
            io[MEMBERS] = n
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


@njit(error_model="numpy", fastmath={"contract"})
def add_rows(K: Array, slots: Array, change: Array, total: Array) -> None:
    """total += K[slots]' change, in float64, two rows a pass."""
    n = slots.shape[0]
    for r in range(0, n, 2):
        a = change[r]
        b = change[r + 1] if r + 1 < n else 0.0
        ka = K[slots[r]]
        kb = K[slots[r + 1]] if r + 1 < n else ka
        for k in range(total.shape[0]):
            total[k] += a * ka[k] + b * kb[k]


@njit(error_model="numpy")
def compact(memory: Array, width: Array, slots: Array, kept: Array) -> None:
    """Of the rows of ``width`` entries at ``slots`` (ascending) leave the entries ``kept``, row after row, in place."""
    n = kept.shape[0]
    for r in range(slots.shape[0]):
        row = memory[slots[r] * width : (slots[r] + 1) * width]
        for k in range(n):
            memory[r * n + k] = row[kept[k]]
