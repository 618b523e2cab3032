"""Passes that sort rows into settled and kept ones; arrays only (conventions as in ``_loops``)."""

from typing import Any

from hullrank._jit import njit

Array = Any


@njit()
def settle(
    table: Array, groups: Array, charge: int, cost: Array, s: Array, width: float, keep: Array, state: Array,
    cross: Array, per_sample: Array, per_group: Array, kept: Array,
) -> Any:  # fmt: skip
    """Settle every slack whose violation is clear by more than ``width``: no charge, or that of one of its rows.

    state per slack: 0 free of charge, 1 or 2 charged through its first or second row, 3 kept; ``keep`` accumulates the
    slacks that must stay. A charged row counts c = cost (hinge) or 2 cost (squared): cross[r] = c, per_sample =
    (sums of c, sums of sign * c), per_group[0] = sums of c; ``kept`` counts per bundle. Returns the total charge and
    the number of slacks whose state changed.
    """
    for k in range(per_sample.shape[1]):
        per_sample[0, k] = 0.0
        per_sample[1, k] = 0.0
    for g in range(per_group.shape[1]):
        per_group[0, g] = 0.0
    unit = 1.0 if charge == 0 else 2.0
    total = 0.0
    changed = 0
    for b in range(len(table)):
        start, length, g, h = table[b, 0], table[b, 1], table[b, 2], table[b, 3]
        row, partner, first = table[b, 4], table[b, 5], table[b, 6]
        n_kept = 0
        sum_c, sum_c2 = 0.0, 0.0
        for i in range(length):
            q, k = first + i, start + i
            y = groups[1, g] - groups[0, g] * s[k]
            y2 = groups[1, h] - groups[0, h] * s[k] if h >= 0 else -1e300
            most = y if y >= y2 else y2
            side = 0
            if most > 0.0:
                side = 1 if y >= y2 else 2
                total += cost[q] * (most if charge == 0 else most * most)
            if keep[q] or -width < most < width or (side > 0 and -width < y - y2 < width):
                keep[q] = True
                n_kept += 1
                side = 3
            if side != state[q]:
                state[q] = side
                changed += 1
            cross[row + i] = unit * cost[q] if side == 1 else 0.0
            if h >= 0:
                cross[partner + i] = unit * cost[q] if side == 2 else 0.0
            if side == 1 or side == 2:
                c = unit * cost[q]
                per_sample[0, k] += c
                per_sample[1, k] += c * (groups[0, g] if side == 1 else groups[0, h])
                if side == 1:
                    sum_c += c
                else:
                    sum_c2 += c
        kept[b] = n_kept
        per_group[0, g] += sum_c
        if h >= 0:
            per_group[0, h] += sum_c2
    return total, changed


@njit()
def complete(
    table: Array, groups: Array, charge: int, s: Array, state: Array, kept_table: Array, kept_a: Array, a: Array,
    keep: Array,
) -> Any:  # fmt: skip
    """Multipliers (over cost) of all rows from the settled states and those of the kept rows.

    Settled rows that turn out on the other side of their kink are marked in ``keep``; returns how many.
    """
    wrong = 0
    for b in range(len(table)):
        start, length, g, h = table[b, 0], table[b, 1], table[b, 2], table[b, 3]
        row, partner, first = table[b, 4], table[b, 5], table[b, 6]
        j, j2 = kept_table[b, 4], kept_table[b, 5]
        for i in range(length):
            q, k = first + i, start + i
            side = state[q]
            y = groups[1, g] - groups[0, g] * s[k]
            y2 = groups[1, h] - groups[0, h] * s[k] if h >= 0 else -1e300
            if side == 3:
                a[row + i] = kept_a[j]
                j += 1
                if h >= 0:
                    a[partner + i] = kept_a[j2]
                    j2 += 1
                continue
            most = max(y, y2)
            if side != (0 if most <= 0.0 else (1 if y >= y2 else 2)):
                wrong += 1
                keep[q] = True
            a[row + i] = 0.0 if side != 1 else (1.0 if charge == 0 else 2.0 * max(0.0, y))
            if h >= 0:
                a[partner + i] = 0.0 if side != 2 else (1.0 if charge == 0 else 2.0 * max(0.0, y2))
    return wrong
