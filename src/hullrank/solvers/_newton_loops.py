"""Passes of Newton's method over the rows of a problem; arrays only (see ``RowLayout.table``)."""

from math import exp, log
from typing import Any

from hullrank._jit import njit
from hullrank.problem.charges import SQUARED_HINGE

Array = Any


@njit(error_model="numpy")
def model_rows(
    table: Array, groups: Array, charge: int, cost: Array, s: Array, a: Array, cross: Array, per_sample: Array,
    per_group: Array,
) -> Any:  # fmt: skip
    """The quadratic model 1/2 d v^2 + e v of the charge at the violations v = o - sign * s of all rows.

    groups = (sign, o). The charge is the squared hinge, whose model has no e, or else the logistic one. Fills
    a[r] = the derivative over the cost, cross[r] = d, per_sample = (sums of d, sums of sign * e) and per_group = (sums
    of d, sums of e); returns the total charge, and how many rows began or ceased to pay since the last call (all rows
    of a smooth charge). Rows do not share slacks, so rows and slacks are in the same order. A logarithm takes longer
    than all the rest, so the factors 1 + exp(-|v|) of rows of equal cost are multiplied, as long as their product stays
    far below the largest number, and then share one.
    """
    for k in range(per_sample.shape[1]):
        per_sample[0, k] = 0.0
        per_sample[1, k] = 0.0
    total, changed = 0.0, 0
    for b in range(len(table)):
        start, length, g, row = table[b, 0], table[b, 1], table[b, 2], table[b, 4]
        sign, o = groups[0, g], groups[1, g]
        sum_d, sum_e = 0.0, 0.0
        shared, product = 0.0, 1.0
        for i in range(length):
            c, k = cost[row + i], start + i
            v = o - sign * s[k]
            if charge == SQUARED_HINGE:
                a[row + i] = 2.0 * v if v > 0.0 else 0.0
                d, e = 2.0 * c if v > 0.0 else 0.0, 0.0
                total += c * v * v if v > 0.0 else 0.0
                changed += (d > 0.0) != (cross[row + i] > 0.0)
            else:
                small = exp(-abs(v))
                share = 1.0 / (1.0 + small)
                d = c * small * share * share
                a[row + i] = share if v > 0.0 else small * share
                e = c * a[row + i] - d * v
                total += c * max(v, 0.0)
                if c != shared or product > 1e200:
                    total += shared * log(product)
                    shared, product = c, 1.0
                product *= 1.0 + small
                changed += 1
            cross[row + i] = d
            per_sample[0, k] += d
            per_sample[1, k] += sign * e
            sum_d += d
            sum_e += e
        total += shared * log(product)
        per_group[0, g] = sum_d
        per_group[1, g] = sum_e
    return total, changed


@njit(error_model="numpy")
def changed_rows(table: Array, groups: Array, cost: Array, s: Array, pays: Array, a: Array, changed: Array) -> Any:
    """The rows whose violation v = o - sign * s of a squared hinge is positive but who do not pay, or vice versa.

    groups = (sign, o). Fills a[r] = the derivative of the charge over the cost, and the first places of ``changed``;
    returns the total charge, and how many rows changed.
    """
    total, n = 0.0, 0
    for b in range(len(table)):
        start, length, g, row = table[b, 0], table[b, 1], table[b, 2], table[b, 4]
        sign, o = groups[0, g], groups[1, g]
        for i in range(length):
            v = max(o - sign * s[start + i], 0.0)
            a[row + i] = 2.0 * v
            total += cost[row + i] * v * v
            if (v > 0.0) != pays[row + i]:
                changed[n] = row + i
                n += 1
    return total, n
