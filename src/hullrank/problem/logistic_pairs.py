"""The logistic charge over all pairs without a pair: what it adds to a hinge is a short sum of exponentials.

With v the violation of a pair, x = exp(-|v|) and the numbers c_k of Cohen, Rodriguez Villegas and Zagier (2000), by
which 1 / (1 + x) is sum_k c_k x^k to one part in 5.8^n for n terms,

    phi(v) = log(1 + exp(v)) = max(0, v) + log(1 + x),            log(1 + x) = sum_k c_k x^(k+1) / (k + 1)
    phi'(v) = (v > 0) - sign(v) x / (1 + x),                       x / (1 + x) = sum_k c_k x^(k+1)
    phi''(v) = x / (1 + x)^2                                                   = sum_k (k + 1) c_k x^(k+1)

Powers of x are products of a factor of either sample, so that one pass over the samples sorted by score, in each
direction, gives the sums over all partners (``_decay_loops``).
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hullrank.problem.all_pairs import AllPairs
from hullrank.problem.pair_sets import EPSILON, Floats, Smooth

Ints = NDArray[np.int64]
TERMS = 21  # terms of the series, which give all digits of a float64
FEW_TERMS = 8  # terms for second derivatives, which only direct the steps of a solver: they give one part in 2000
_ROOM = 1 << 22  # float64 numbers that the running sums may take


def alternating_weights(n: int) -> Floats:
    """The numbers c_k, k = 0..n-1, by which sum_k c_k x^k is nearly 1 / (1 + x) for 0 <= x <= 1 (algorithm 1 there)."""
    d = (3 + 8**0.5) ** n
    d = (d + 1 / d) / 2
    b, c, found = -1.0, -d, np.empty(n)
    for k in range(n):
        c = b - c
        found[k] = c / d
        b *= (k + n) * (k - n) / ((k + 0.5) * (k + 1))
    return found


_C, _POWERS = alternating_weights(TERMS), np.arange(1.0, TERMS + 1)
_RISE = _C[None]
_RISE_AND_VALUE = np.stack([_C, _C / _POWERS])
_FALL_AND_VALUE = np.stack([-_C, _C / _POWERS])
_BEND = (alternating_weights(FEW_TERMS) * _POWERS[:FEW_TERMS])[None]


class LogisticPairs:
    """All pairs in arrays sorted by query and score; ``order`` has the rows' numbers."""

    def __init__(self, pairs: AllPairs, order: Ints, scores: Floats) -> None:
        self.pairs, self.order, self.scores = pairs, order, scores
        self.rank, self.weights = pairs.small_rank[order], pairs.weights[order]
        self.growth: dict[int, tuple[Floats, Ints]] = {}  # by direction (1: ascending scores, -1: descending)

    def smooth(self, centred: Floats, lower: Floats, higher: Floats) -> Smooth:
        """All pairs charged; ``lower`` and ``higher`` are the sums of weights, and of weights times ``centred`` scores,
        over the partners on the wrong side of a sample."""
        column = self.weights[:, None]
        rise, tail = self._sums(1, column, _RISE_AND_VALUE, _FALL_AND_VALUE)[:, :, 0]
        fall = self._sums(-1, column, -_RISE, _RISE)[0, :, 0]
        value = float(self.weights @ (lower[1] - lower[0] * centred + tail))
        falling, rising = higher[0] + fall, lower[0] + rise
        noise = 4 * TERMS * EPSILON * float(self.weights @ (falling + rising))
        return Smooth(value, self._unsorted(self.weights * (falling - rising)), noise)

    def laplacian(self, v: Floats) -> Floats:
        """L v, see ``PairsAt.smooth_laplacian``."""
        v = v[self.order]
        sums = self._curvatures(np.stack([self.weights, self.weights * v], axis=1), 1, -1)
        return self._unsorted(self.weights * (v * sums[:, 0] - sums[:, 1]))

    def gram(self, X: Any) -> Floats:
        """X'LX is the symmetric part of X'(D X - 2 A G), G_i the weighted sum of the lower partners' rows."""
        rows = X[self.order].toarray() if sp.issparse(X) else X[self.order]
        rows -= np.ones(len(rows)) @ rows / len(rows)
        column = self.weights[:, None]
        lower = self._curvatures(np.hstack([column, column * rows]), 1)
        degree = lower[:, :1] + self._curvatures(column, -1)
        product = rows.T @ (column * (degree * rows - 2 * lower[:, 1:]))
        return (product + product.T) / 2

    def _curvatures(self, values: Floats, *sides: int) -> Floats:
        """The sums over the partners of each sample, on some sides, of value times phi''."""
        return np.add.reduce([self._sums(side, values, _BEND, _BEND)[0] for side in sides])

    def _sums(self, side: int, values: Floats, up: Floats, down: Floats) -> Floats:
        """By row of the coefficients (on the way up, and on the way down), sample and column of values: see
        ``decaying_sums``."""
        from hullrank.problem._decay_loops import decaying_sums

        most, n_values, n_terms = self.pairs.most_ranks, values.shape[1], up.shape[1]
        step = max(1, min(_ROOM // (most * n_values), n_terms))
        room = np.empty(step), np.empty((most, n_values, step)), np.empty(most, dtype=np.int64)
        out = np.zeros((len(up), *values.shape))
        for way, coefs in ((1, up), (-1, down)):
            sorted_pairs = self.scores, self.rank, self.pairs.starts, self.pairs.n_ranks, values, *self._growth(way)
            for k in range(0, n_terms, step):
                decaying_sums(way, side, *sorted_pairs, np.ascontiguousarray(coefs[:, k : k + step]), k, *room, out)
        return out

    def _growth(self, way: int) -> tuple[Floats, Ints]:
        """For every sample exp of its distance from where a way begins, less whole stretches, and their number."""
        if way not in self.growth:
            from hullrank.problem._decay_loops import STRETCH

            starts = self.pairs.starts
            ends = self.scores[starts[:-1] if way > 0 else starts[1:] - 1]
            distance = way * (self.scores - np.repeat(ends, self.pairs.sizes))
            stretch = np.floor(distance / STRETCH)
            self.growth[way] = np.exp(distance - STRETCH * stretch), stretch.astype(np.int64)
        return self.growth[way]

    def _unsorted(self, values: Floats) -> Floats:
        out = np.empty_like(values)
        out[self.order] = values
        return out
