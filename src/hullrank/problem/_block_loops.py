"""The pass over a block of rows in any order; arrays only."""

from math import exp, log, sqrt
from typing import Any

from hullrank._jit import njit, place
from hullrank.problem.charges import HINGE, LOGISTIC, SQUARED_HINGE

Array = Any
STEEP = 600.0  # violations up to which exp(v), and products of some of them, are finite numbers


@njit(error_model="numpy", fastmath={"reassoc", "contract"}, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def row_length(X: Array, i: int, centre: Array) -> float:
    """|x_i - centre|."""
    square = 0.0
    for j in range(X.shape[1]):
        square += (X[i, j] - centre[j]) ** 2
    return sqrt(square)


@njit(error_model="numpy")
def survey_hinges(
    X: Array, centre: Array, lengths: Any, codes: Array, weights: Array, s: Array, first: Array, bundles: Array,
    groups: Array, cost: float, width: float, smoothed: bool, digits: float, group_rows: Array, per_sample: Array,
    near: Array, per_group: Array,
) -> Any:  # fmt: skip
    """``survey_rows`` for a hinge whose slacks are those of one row each, rows at hand: a third of its time.

    Of per_group it fills sums of alpha and d, and group_rows[0, g] += sums of d x where kinks are smoothed.
    """
    total, rise, n_near = 0.0, 0.0, 0
    usual, longest = lengths
    reach = width if smoothed else longest * width
    for i in range(len(codes)):
        c = cost * weights[i]
        pull, bend = 0.0, 0.0
        for b in range(place(first[place(codes[i])]), place(first[place(codes[i] + 1)])):
            g = place(bundles[b, 0])
            v = groups[1, g] - groups[0, g] * s[i]
            paid = max(v, 0.0)
            total += c * paid
            rise += c * (max(v + digits, 0.0) - paid)
            alpha, size = c if v > 0.0 else 0.0, abs(v)
            if size < reach and (size < width or size * usual < width * row_length(X, i, centre)):
                near[0, n_near] = i
                near[1, n_near] = b
                n_near += 1
                alpha = 0.0
                if smoothed:
                    d = c / (2.0 * width)
                    alpha = d * (v + width)
                    bend += d
                    per_group[1, g] += d
                    for j in range(X.shape[1] if len(group_rows) else 0):
                        group_rows[0, g, j] += d * X[i, j]
            pull += groups[0, g] * alpha
            per_group[0, g] += alpha
        per_sample[0, i] = pull
        per_sample[1, i] = bend
    return total, rise, n_near


@njit(error_model="numpy")
def survey_rows(
    X: Array, centre: Array, lengths: Any, codes: Array, weights: Array, s: Array, growth: Array, first: Array,
    bundles: Array, groups: Array, charge: int, cost: float, width: float, smoothed: bool, digits: float, lines: Array,
    per_sample: Array, cross: Array, near: Array, per_group: Array, group_rows: Array,
) -> Any:  # fmt: skip
    """Charge every slack of the samples and sum what the charges pull.

    Sample i of class c has the bundles first[c] <= b < first[c + 1], with the groups bundles[b] = (g, partner or -1);
    groups = (sign, offset, exp(offset)), and a slack is violated by v = max(offset - sign * s) over its one or two
    rows. Slacks with |v| < window (or two rows that are violated alike) are near their kink: near[:, k] = (i, b). The
    window of a sample is the width, times |x - centre| in units of lengths[0], between 1 and lengths[1]: what is wrong
    with the weights shows in the scores of long rows. Kinks are ``smoothed`` over the width itself. Fills

        per_sample = sums of sign * alpha and of d, per_group += sums of alpha, d, alpha * v, and d * v, and
        group_rows[k, g] += sums of alpha x (lines[k] = 0) or d x (lines[k] = 1)

    with the multiplier alpha = cost * phi'(v) and the curvature d = cost * phi''(v), by the group that pays. Where the
    rows of X are not at hand (len(X) is 0), cross[:, i, b - first[c]] = (alpha, d) instead, negative for the partner.
    For a hinge, near slacks are left out, or smoothed: charged cost (v + width)^2 / (4 width). For a squared
    hinge, near slacks have no d unless smoothed. For the logistic charge ``growth`` is exp(s), or empty where that
    might overflow; a logarithm takes longer than all the rest, so the factors 1 + exp(v) of rows of equal cost are
    multiplied, as long as their product stays far below the largest number, and then share one. Returns the total
    charge, by how much it rises where every v is larger by ``digits``, and the number of near slacks.
    """
    total, rise, n_near = 0.0, 0.0, 0
    usual, longest = lengths
    shared, product = 0.0, 1.0
    value = (0.0, 0.0)
    for i in range(len(codes)):
        c = cost * weights[i]
        pull, bend = 0.0, 0.0
        low, end = place(first[place(codes[i])]), place(first[place(codes[i] + 1)])
        window, measured = width, smoothed or len(X) == 0
        for b in range(low, end):
            g, h = place(bundles[b, 0]), bundles[b, 1]
            v = groups[1, g] - groups[0, g] * s[i]
            side, tied = 1.0, False
            if h >= 0:
                other = groups[1, h] - groups[0, h] * s[i]
                tied = -width < v - other < width
                if other > v:
                    v, g, side = other, place(h), -1.0
            alpha, d = 0.0, 0.0
            if charge == LOGISTIC:
                if len(growth):
                    u = groups[2, g] / growth[i] if groups[0, g] > 0.0 else groups[2, g] * growth[i]
                else:
                    u = exp(min(v, STEEP))
                    total += c * max(v - STEEP, 0.0)
                share = 1.0 / (1.0 + u)
                alpha = c * u * share
                d = alpha * share
                if c != shared or product > 1e40:
                    total += shared * log(product)
                    shared, product = c, 1.0
                product *= 1.0 + u
                rise += c * digits
            else:
                paid = max(v, 0.0)
                more = max(v + digits, 0.0)
                total += c * (paid if charge == HINGE else paid * paid)
                rise += c * (more - paid if charge == HINGE else more * more - paid * paid)
                if not measured and width <= abs(v) < longest * width:
                    measured = True
                    window *= min(max(row_length(X, i, centre) / usual, 1.0), longest)
                close = -window < v < window or (tied and v > 0.0)
                if charge == SQUARED_HINGE:
                    alpha = 2.0 * c * paid
                    d = 2.0 * c if v > 0.0 and (smoothed or not close) else 0.0
                elif close:
                    d = c / (2.0 * window) if smoothed else 0.0
                    alpha = d * (v + window)
                elif v > 0.0:
                    alpha = c
                if close:
                    near[0, n_near] = i
                    near[1, n_near] = b
                    n_near += 1
            if len(X) == 0:
                cross[0, i, b - low] = side * alpha
                cross[1, i, b - low] = side * d
            if alpha > 0.0:
                pull += groups[0, g] * alpha
                bend += d
                per_group[0, g] += alpha
                per_group[1, g] += d
                per_group[2, g] += alpha * v
                per_group[3, g] += d * v
                value = (alpha, d)
                for k in range(len(lines) if len(X) else 0):
                    factor = value[lines[k]]
                    for j in range(X.shape[1]):
                        group_rows[k, g, j] += factor * X[i, j]
        per_sample[0, i] = pull
        per_sample[1, i] = bend
    return total + shared * log(product), rise, n_near
