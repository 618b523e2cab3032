"""The compiled inner loop of sequential minimal optimisation (SMO) for interval problems.

The dual variables are signed multipliers v = sign * alpha, one per row (a sample at a threshold). A step raises v of
one row and lowers v of another by the same amount. If the two rows belong to different thresholds, multipliers of order
constraints on a path between these thresholds move as well, at the cost of that path. The rising row is the worst
violator and the falling row has the largest second-order gain (Fan, Chen and Lin 2005, working set selection 2). With
the hinge, a step follows a direction that is conjugate to the previous one as long as every row stays strictly inside
its box, p = (raise i, lower j) + carry * (previous p), as in the conjugate SMO of Torres-Barrán, Alaíz and Dorronsoro
(2021).

Definitions. The residual of a row is the derivative of the dual objective with respect to its v,

    residual = goal - score,      goal = sign * offset - charge * (v of the row - v of the row that shares its slack),

where ``charge`` is the curvature of the squared hinge. A row that may rise bounds -theta of its threshold from below by
its residual, and a row that may fall bounds it from above. The largest contradiction of two such bounds is the
violation of optimality.

The arguments of ``smo`` (m samples, R rows; a segment is a range of samples whose rows at one threshold are contiguous)
  K, slot, pending          kernel rows in float32; that of sample k is K[slot[k]] (slot -1: not loaded). A pending row
                            holds exponents, whose exponentials are taken when the row is first read, or nothing yet,
                            if ``values`` has the kernel values
  values, place             kernel values in float64 of some samples, where they are known (else no rows), and the
                            place of each sample in them
  threshold, first, last, base, sign      per segment: its threshold, its samples first..last-1 (sample k has the row
                            base + k), and the sign of its rows, which is used only with rho
  edges, gap, order         per order constraint: upper and lower threshold, gap, multiplier
  path_cost, hop            per pair of thresholds: see ``find_paths``
  v, low, high, offset, partner           per row: multiplier, its box, sign * offset, row that shares the slack (or -1)
  rising, falling           per row, float32: the goal if the row may rise (else -FAR), and if it may fall (else FAR)
  diagonal, charge, score   per sample, float64
  curvature, rounded, along, gain, zero   per sample, float32: diagonal + charge, score, K p, scratch, zeros
  least, most, peak, worst  per threshold: bounds of -theta; largest residual that may rise, and its segment
  members, direction        the rows that p moves, and their coefficients
  counts                    int64: STEPS done, step LIMIT, MISSING sample, number of N_MEMBERS
  numbers                   float64: TARGET violation, VIOLATION, RHO, its WEIGHT, CURVATURE along p (0: there is no p)
"""

from typing import Any

import numpy as np

from hullrank._jit import INNER, UNCOUNTED, fmax, fmin, njit
from hullrank.problem._exponentials import exponentials32

Array = Any
_FAST: dict[str, Any] = {**INNER, "fastmath": {"contract", "arcp", "nsz"}}

FAR = 1e30
MOST_MEMBERS = 16
STEPS, LIMIT, MISSING, N_MEMBERS = range(4)
TARGET, VIOLATION, RHO, WEIGHT, CURVATURE = range(5)
CONVERGED, OUT_OF_STEPS, MISSING_ROW, STUCK, INDEFINITE = range(5)
_LARGE = np.float32(1e29)  # goals beyond it are those of rows that may not move
_CHUNK = np.uint64(64)  # entries compared at a time, so that the comparison is vectorised


@njit(**_FAST)
def _move(score: Array, rounded: Array, along: Array, K: Array, i: Array, j: Array, carry: Array, d: Array) -> None:
    """K p = K_i - K_j + carry * (K p), score += d * (K p), and the score rounded to float32."""
    for k in range(score.shape[0]):
        z = (K[i, k] - K[j, k]) + carry * along[k]
        along[k] = z
        x = score[k] + d * z
        score[k] = x
        rounded[k] = np.float32(x)


@njit(**_FAST)
def _row_of(sample: Array, K: Array, slot: Array, pending: Array, values: Array, place: Array) -> Any:
    """Where the kernel row of a sample stands, or -1; a pending one is made from known values, or by exponentials."""
    row = slot[sample]
    if row >= 0 and pending[row]:
        if values.shape[0] == 0:
            exponentials32(K, row, row + 1)
        else:
            for k in range(K.shape[1]):
                K[row, k] = np.float32(values[place[sample], place[k]])
        pending[row] = False
    return row


@njit(**_FAST)
def _extremes(rounded: Array, rising: Array, falling: Array, lo: Array, hi: Array, base: Array) -> Any:
    """The largest residual that may rise and the smallest that may fall, of the samples lo..hi-1."""
    a = np.float32(-3e38)
    b = np.float32(3e38)
    for k in range(lo, hi):
        a = fmax(a, rising[k + base] - rounded[k])
        b = fmin(b, falling[k + base] - rounded[k])
    return a, b


@njit(**_FAST)
def _gains(rounded: Array, falling: Array, ki: Array, i: Array, curvature: Array, along: Array, gain: Array, lo: Array,
           hi: Array, base: Array, own: Array, reach: Array, here: Array, conjugate: Array) -> Any:  # fmt: skip
    """Second-order gains (reach - residual)^2 / curvature of a step in which one of the rows falls; the largest."""
    best = np.float32(0)
    least = np.float32(1e-7) * own
    for k in range(lo, hi):
        goal = falling[k + base]
        b = reach - (goal - rounded[k])
        b = b if b > np.float32(0) else np.float32(0)
        b = b if goal < _LARGE else np.float32(0)
        apart = here - along[k]
        a = own + curvature[k] - np.float32(2) * ki[i, k] - conjugate * apart * apart
        a = a if a > least else least
        x = np.float32(b * b / a)
        gain[k] = x
        best = fmax(best, x)
    return best


@njit(**_FAST)
def _find(values: Array, base: Array, minus: Array, lo: Array, hi: Array, wanted: Array) -> Any:
    """The first sample of lo..hi-1 where values[base + k] - minus[k] equals ``wanted``, or the last."""
    while lo + _CHUNK < hi:
        place = np.int32(64)
        for k in range(_CHUNK):
            x = np.int32(k) if values[lo + k + base] - minus[lo + k] == wanted else np.int32(64)
            place = x if x < place else place
        if place < np.int32(64):
            return np.int64(lo) + place
        lo += _CHUNK
    while lo + np.uint64(1) < hi and values[lo + base] - minus[lo] != wanted:
        lo += np.uint64(1)
    return np.int64(lo)


@njit(**INNER)
def _send(edges: Array, order: Array, hop: Array, start: Array, end: Array, d: Array) -> Any:
    """Send d along the path between two thresholds, or less if an order multiplier would become negative.

    Returns what was sent, and whether some order multiplier became or ceased to be zero.
    """
    changed = False
    for sending in range(2):
        a = start
        while a != end:
            e = hop[a, end]
            before = order[e]
            if edges[e, 0] == a:
                a = edges[e, 1]
                after = before + d
            else:
                a = edges[e, 0]
                if sending == 0 and before < d:
                    d = before
                after = before - d
            if sending == 1:
                after = after if after >= 1e-14 * d else 0.0
                order[e] = after
                changed = changed or (before > 0.0) != (after > 0.0)
    return d, changed


@njit(**INNER)
def _follow(members: Array, direction: Array, counts: Array, up: Array, down: Array, carry: Array, d: Array, v: Array,
            low: Array, high: Array) -> Any:  # fmt: skip
    """Step by d along (raise up, lower down) + carry * direction if every row stays inside its box; whether it did."""
    n = counts[N_MEMBERS]
    for row in (up, down):
        known = False
        for r in range(n):
            known = known or members[r] == row
        if not known:
            members[n] = row
            direction[n] = 0.0
            n += 1
    counts[N_MEMBERS] = n
    for writing in range(2):
        for r in range(n):
            row = members[r]
            x = carry * direction[r] + (row == up) - (row == down)
            value = v[row] + d * x
            if writing == 1:
                direction[r] = x
                v[row] = value
            elif value <= low[row] or value >= high[row]:
                return False
    return True


@njit(**INNER)
def _goal(row: Array, k: Array, v: Array, offset: Array, partner: Array, charge: Array) -> Any:
    """The goal of a row of sample k."""
    total = v[row]
    if partner[row] >= 0:
        total -= v[partner[row]]
    return offset[row] - charge[k] * total


@njit(**INNER)
def _set_goals(row: Array, k: Array, v: Array, low: Array, high: Array, offset: Array, partner: Array, charge: Array,
               rising: Array, falling: Array) -> None:  # fmt: skip
    """Bring the goals of a row of sample k up to date, and those of the row that shares its slack."""
    goal = _goal(row, k, v, offset, partner, charge)
    other = partner[row]
    while True:
        rising[row] = goal if v[row] < high[row] else -FAR
        falling[row] = goal if v[row] > low[row] else FAR
        if other < 0:
            break
        goal = -goal
        row = other
        other = np.int64(-1)


@njit(**UNCOUNTED, no_cfunc_wrapper=True)
def find_paths(edges: Array, gap: Array, order: Array, cost: Array, hop: Array) -> None:
    """Best paths between thresholds through order constraints: largest gains, and the first constraint on each.

    Passing an order constraint from its upper to its lower threshold gains its gap. The way back, which is open while
    the constraint is tight (its multiplier is positive), loses the gap. From these arcs the algorithm of Floyd and
    Warshall makes paths.
    """
    n = cost.shape[0]
    for a in range(n):
        for b in range(n):
            cost[a, b] = 0.0 if a == b else -np.inf
            hop[a, b] = -1
    for e in range(edges.shape[0]):
        up = edges[e, 0]
        low = edges[e, 1]
        if gap[e] > cost[up, low]:
            cost[up, low] = gap[e]
            hop[up, low] = e
        if order[e] > 0.0 and -gap[e] > cost[low, up]:
            cost[low, up] = -gap[e]
            hop[low, up] = e
    for k in range(n):
        for a in range(n):
            x = cost[a, k]
            if x > -FAR:
                for b in range(n):
                    if x + cost[k, b] > cost[a, b] + 1e-12:
                        cost[a, b] = x + cost[k, b]
                        hop[a, b] = hop[a, k]


@njit(**UNCOUNTED, no_cfunc_wrapper=True)
def smo(K: Array, slot: Array, pending: Array, values: Array, place: Array, threshold: Array, first: Array,
        last: Array, base: Array, sign: Array, edges: Array, gap: Array, order: Array, path_cost: Array, hop: Array,
        v: Array, low: Array, high: Array, offset: Array, partner: Array, rising: Array, falling: Array,
        diagonal: Array, charge: Array, score: Array, curvature: Array, rounded: Array, along: Array, gain: Array,
        zero: Array, least: Array, most: Array, peak: Array, worst: Array, members: Array, direction: Array,
        counts: Array, numbers: Array) -> Any:  # fmt: skip
    """Take steps until the violation is below numbers[TARGET] or counts[LIMIT] steps are done; how it ended.

    After MISSING_ROW the caller must load the kernel row of the sample counts[MISSING] and call again.
    """
    weight = numbers[WEIGHT]
    while True:
        # The bounds of every threshold, and the pair of thresholds with the largest violation.
        rho = numbers[RHO]
        for t in range(least.shape[0]):
            least[t] = -FAR
            most[t] = FAR
        for r in range(first.shape[0]):
            a, b = _extremes(rounded, rising, falling, first[r], last[r], base[r])
            t = threshold[r]
            shift = sign[r] * rho
            if a > -_LARGE and a + shift > least[t]:
                least[t] = a + shift
                peak[t] = a
                worst[t] = r
            if b < _LARGE and b + shift < most[t]:
                most[t] = b + shift
        violation = -1.0
        t1: Any = np.int64(0)  # not a literal, for which the functions would be compiled once more
        t2: Any = t1
        for s in range(least.shape[0]):
            for t in range(least.shape[0]):
                x = least[s] - most[t] + path_cost[s, t]
                if x > violation:
                    violation = x
                    t1 = s
                    t2 = t
        numbers[VIOLATION] = violation
        if violation < numbers[TARGET]:
            return CONVERGED
        if counts[STEPS] >= counts[LIMIT]:
            return OUT_OF_STEPS
        # The rising row is that of sample i in segment g.
        g = worst[t1]
        i = _find(rising, base[g], rounded, first[g], last[g], peak[t1])
        ki = _row_of(i, K, slot, pending, values, place)
        if ki < 0:
            counts[MISSING] = i
            return MISSING_ROW
        # The falling row is that of sample j in segment h.
        conjugate = 1.0 / numbers[CURVATURE] if numbers[CURVATURE] > 0.0 and t1 == t2 else 0.0
        own = diagonal[i] + charge[i]
        cost = path_cost[t1, t2]
        best = np.float32(0)
        h: Any = np.int64(-1)
        for r in range(first.shape[0]):
            if threshold[r] == t2:
                turn = sign[g] - sign[r]
                x = _gains(
                    rounded, falling, K, ki, curvature, along, gain, first[r], last[r], base[r],
                    np.float32(own + weight * turn * turn), np.float32(least[t1] + cost - sign[r] * rho), along[i],
                    np.float32(conjugate),
                )  # fmt: skip
                if x > best:
                    best = x
                    h = r
        if h < 0:
            return STUCK
        j = _find(gain, np.uint64(0), zero, first[h], last[h], best)
        kj = _row_of(j, K, slot, pending, values, place)
        if kj < 0:
            counts[MISSING] = j
            return MISSING_ROW
        # Curvature and slope of the dual objective along the step.
        up = i + np.int64(base[g])
        down = j + np.int64(base[h])
        turn = sign[g] - sign[h]
        size = diagonal[i] + diagonal[j]
        bend = charge[i] + charge[j] + weight * turn * turn
        if i != j:
            bend += size - 2.0 * K[ki, j]
        elif partner[up] == down:
            bend += 2.0 * charge[i]
        if bend < -1e-3 * size:
            return INDEFINITE
        slope = _goal(up, i, v, offset, partner, charge) - score[i] - _goal(down, j, v, offset, partner, charge)
        slope += score[j] + rho * turn + cost
        if slope <= 0.0:
            return STUCK
        floor = 1e-12 * size + 1e-300
        bend = bend if bend > floor else floor
        # First try to stay conjugate to the direction, then to begin a new one, and last go to a bound.
        apart = np.float64(along[i]) - np.float64(along[j])
        carry = -conjugate * apart
        reduced = bend + carry * apart
        carry = carry if reduced > 1e-3 * bend else 0.0
        numbers[CURVATURE] = 0.0
        changed = False
        trying = t1 == t2 and charge[i] == 0.0 and weight == 0.0
        while trying:
            if carry == 0.0:
                counts[N_MEMBERS] = 0
                reduced = bend
            d = slope / reduced
            if _follow(members, direction, counts, up, down, carry, d, v, low, high):
                if counts[N_MEMBERS] <= MOST_MEMBERS - 2:
                    numbers[CURVATURE] = reduced
                break
            trying = carry != 0.0
            carry = 0.0
        if not trying:
            to_high = high[up] - v[up]
            to_low = v[down] - low[down]
            d = slope / bend
            d = d if d < to_high else to_high
            d = d if d < to_low else to_low
            if t1 != t2:
                d, changed = _send(edges, order, hop, t1, t2, d)
            v[up] = v[up] + d if d < to_high else high[up]
            v[down] = v[down] - d if d < to_low else low[down]
        _set_goals(up, i, v, low, high, offset, partner, charge, rising, falling)
        _set_goals(down, j, v, low, high, offset, partner, charge, rising, falling)
        numbers[RHO] = rho - weight * d * turn
        counts[STEPS] += 1
        _move(score, rounded, along, K, ki, kj, np.float32(carry), d)
        if changed:
            find_paths(edges, gap, order, path_cost, hop)
