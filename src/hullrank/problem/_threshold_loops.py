"""The pass over a block of rows that pay at every threshold: threshold by threshold along the rows; arrays only.

The first loop has no branch that depends on a row, so that it is compiled into vector instructions; few rows are near
a kink, and the second loop corrects what the first one did to these.
"""

from typing import Any

from hullrank._jit import njit
from hullrank.problem._block_loops import row_length
from hullrank.problem.charges import HINGE, SQUARED_HINGE

Array = Any


@njit(error_model="numpy", fastmath={"reassoc", "nsz", "contract"})
def charge_thresholds(
    codes: Array, cost: Array, s: Array, offsets: Array, charge: int, width: float, smoothed: bool, digits: float,
    cross: Array, per_sample: Array, per_side: Array,
) -> Any:  # fmt: skip
    """Charge sample i at every threshold k: v = offsets[1, k] - s if its class is above k, else offsets[0, k] + s.

    Writes cross[:, k, i] = (alpha, d, |v|) and per_sample = sums of sign * alpha and of d, and adds alpha, d, alpha * v
    and d * v to per_side[side, :, k], side 1 if the class is above. The multiplier alpha and the curvature d are those
    of ``survey_rows``, but as if no slack were near its kink unless it is smoothed. Returns the charge and by how much
    it rises where every v is larger by ``digits``.
    """
    total, rise = 0.0, 0.0
    for i in range(len(codes)):
        per_sample[0, i] = 0.0
        per_sample[1, i] = 0.0
    for k in range(offsets.shape[1]):
        alphas, ds, paids, slopes = 0.0, 0.0, 0.0, 0.0
        above, d_above, paid_above, slope_above = 0.0, 0.0, 0.0, 0.0
        for i in range(len(codes)):
            c = cost[i]
            upper = 1.0 if codes[i] > k else 0.0
            v = offsets[1, k] - s[i] if codes[i] > k else offsets[0, k] + s[i]
            paid = v if v > 0.0 else 0.0
            more = v + digits if v + digits > 0.0 else 0.0
            if charge == SQUARED_HINGE:
                total += c * paid * paid
                rise += c * (more * more - paid * paid)
                alpha = 2.0 * c * paid
                d = 2.0 * c if v > 0.0 else 0.0
            else:
                total += c * paid
                rise += c * (more - paid)
                alpha = c if v > 0.0 else 0.0
                d = 0.0
                if smoothed:
                    close = -width < v < width
                    d = c / (2.0 * width) if close else 0.0
                    alpha = d * (v + width) if close else alpha
            cross[0, k, i] = alpha
            cross[1, k, i] = d
            cross[2, k, i] = abs(v)
            per_sample[0, i] += (2.0 * upper - 1.0) * alpha
            per_sample[1, i] += d
            alphas += alpha
            ds += d
            paids += alpha * paid
            slopes += d * paid
            above += upper * alpha
            d_above += upper * d
            paid_above += upper * alpha * paid
            slope_above += upper * d * paid
        per_side[0, 0, k] += alphas - above
        per_side[0, 1, k] += ds - d_above
        per_side[0, 2, k] += paids - paid_above
        per_side[0, 3, k] += slopes - slope_above
        per_side[1, 0, k] += above
        per_side[1, 1, k] += d_above
        per_side[1, 2, k] += paid_above
        per_side[1, 3, k] += slope_above
    return total, rise


@njit(error_model="numpy")
def sift_near(
    X: Array, centre: Array, lengths: Any, codes: Array, charge: int, width: float, smoothed: bool, near: Array,
    cross: Array, per_sample: Array, per_side: Array,
) -> int:  # fmt: skip
    """Keep of near[:, j] = (k, i) the slacks within the window of their row, as ``survey_rows`` does; returns how many.

    Unless they are smoothed, a hinge leaves these out of all sums, and a squared hinge out of those of d; both have
    multipliers only where v is positive.
    """
    n_near = 0
    usual, longest = lengths
    for candidate in range(near.shape[1]):
        k, i = near[0, candidate], near[1, candidate]
        alpha, d, v = cross[0, k, i], cross[1, k, i], cross[2, k, i]
        window = width
        if v >= width:
            window *= min(max(row_length(X, i, centre) / usual, 1.0), longest)
        if v < window:
            near[0, n_near] = k
            near[1, n_near] = i
            n_near += 1
            if not smoothed:
                side = 1 if codes[i] > k else 0
                per_side[side, 1, k] -= d
                per_side[side, 3, k] -= d * v
                per_sample[1, i] -= d
                cross[1, k, i] = 0.0
                if charge == HINGE:
                    per_side[side, 0, k] -= alpha
                    per_side[side, 2, k] -= alpha * v
                    per_sample[0, i] -= alpha if side else -alpha
                    cross[0, k, i] = 0.0
    return n_near
