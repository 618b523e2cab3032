"""The pass over a block of rows in any order; arrays only."""

from math import exp, log1p
from typing import Any

from hullrank._jit import njit

Array = Any


@njit(error_model="numpy")
def survey_rows(
    codes: Array, weights: Array, s: Array, first: Array, bundles: Array, groups: Array, charge: int, cost: float,
    window: float, smoothed: bool, digits: float, per_sample: Array, cross: Array, near: Array, per_group: Array,
) -> Any:  # fmt: skip
    """Charge every slack of the samples and sum what the charges pull.

    Sample i of class c has the bundles first[c] <= b < first[c + 1], with the groups bundles[b] = (g, partner or -1);
    groups = (sign, offset), and a slack is violated by v = max(offset - sign * s) over its one or two rows. Slacks with
    |v| < window (or two rows that are violated alike) are near their kink, near[i, b - first[c]]. Fills

        per_sample = sums of sign * alpha and of d, cross[:, i, b - first[c]] = (alpha, d), signed by which row pays:
        negative for the partner, and per_group += sums of alpha, d, cost * conjugate(alpha / cost), and d * v

    with the multiplier alpha = cost * phi'(v) and the curvature d = cost * phi''(v). For a hinge, near slacks are left
    out, or ``smoothed``: charged cost (v + window)^2 / (4 window). For a squared hinge, near slacks have no d unless
    ``smoothed``. Returns the total charge, and by how much it rises where every v is larger by ``digits``.
    """
    total, rise = 0.0, 0.0
    for i in range(len(codes)):
        c = cost * weights[i]
        pull, bend = 0.0, 0.0
        low = first[codes[i]]
        for b in range(low, first[codes[i] + 1]):
            g, h, slot = bundles[b, 0], bundles[b, 1], b - low
            v = groups[1, g] - groups[0, g] * s[i]
            side, close, tied = 1.0, False, False
            if h >= 0:
                other = groups[1, h] - groups[0, h] * s[i]
                tied = -window < v - other < window
                if other > v:
                    v, g, side = other, h, -1.0
            alpha, d, conjugate = 0.0, 0.0, 0.0
            if charge == 3:
                small = exp(-abs(v))
                share = 1.0 / (1.0 + small)
                d = c * small * share * share
                alpha = c * (share if v > 0.0 else small * share)
                value = c * (max(v, 0.0) + log1p(small))
                conjugate = alpha * v - value
                total += value
                rise += c * digits
            else:
                paid = max(v, 0.0)
                more = max(v + digits, 0.0)
                total += c * (paid if charge == 0 else paid * paid)
                rise += c * (more - paid if charge == 0 else more * more - paid * paid)
                close = -window < v < window or (tied and v > 0.0)
                if charge == 1:
                    alpha = 2.0 * c * paid
                    conjugate = c * paid * paid
                    d = 2.0 * c if v > 0.0 and (smoothed or not close) else 0.0
                elif close:
                    d = c / (2.0 * window) if smoothed else 0.0
                    alpha = d * (v + window)
                elif v > 0.0:
                    alpha = c
            near[i, slot] = close
            cross[0, i, slot] = side * alpha
            cross[1, i, slot] = side * d
            if alpha > 0.0:
                pull += groups[0, g] * alpha
                bend += d
                per_group[0, g] += alpha
                per_group[1, g] += d
                per_group[2, g] += conjugate
                per_group[3, g] += d * v
        per_sample[0, i] = pull
        per_sample[1, i] = bend
    return total, rise


@njit(error_model="numpy")
def add_group_rows(
    X: Array, codes: Array, first: Array, bundles: Array, cross: Array, lines: Array, sums: Array
) -> None:
    """Add |cross[lines[k], i, .]| * X[i] to sums[k, g] for the group g that pays for the slack."""
    for i in range(len(codes)):
        low = first[codes[i]]
        for b in range(low, first[codes[i] + 1]):
            for k in range(len(lines)):
                value = cross[lines[k], i, b - low]
                if value != 0.0:
                    g = bundles[b, 0] if value > 0.0 else bundles[b, 1]
                    for j in range(X.shape[1]):
                        sums[k, g, j] += abs(value) * X[i, j]
