"""The logistic charge over all pairs without a pair: what it adds to a hinge is a short sum of exponentials.

With v the violation of a pair, x = exp(-|v|) and the numbers c_k of Cohen, Rodriguez Villegas and Zagier (2000), by
which 1 / (1 + x) is sum_k c_k x^k to one part in 5.8^n for n terms,

    phi(v) = log(1 + exp(v)) = max(0, v) + log(1 + x),            log(1 + x) = sum_k c_k x^(k+1) / (k + 1)
    phi'(v) = (v > 0) - sign(v) x / (1 + x),                       x / (1 + x) = sum_k c_k x^(k+1)
    phi''(v) = x / (1 + x)^2                                                   = sum_k (k + 1) c_k x^(k+1)

Powers of x are products of a factor of either sample, so that one pass over the samples sorted by score, in each
direction, gives the sums over all partners (``_decay_loops``).
"""

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hullrank.problem.all_pairs import AllPairs
from hullrank.problem.certificate import EPSILON
from hullrank.problem.pair_sets import Floats, Smooth

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


_C, _TAIL = alternating_weights(TERMS), alternating_weights(TERMS) / np.arange(1.0, TERMS + 1)
# Coefficients by direction (up, down), side (lower partners, higher ones) and sum (phi' and phi; phi''). On the way up,
# a lower partner that comes before a sample makes no violated pair, and phi' is x / (1 + x); a higher one does, and
# phi' is 1 less that. The sum of phi is asked of the lower partners only, which counts every pair once.
_RISE_AND_VALUE = np.array([[[_C, _TAIL], [-_C, _TAIL]], [[-_C, _TAIL], [_C, _TAIL]]])
_BEND = np.tile(alternating_weights(FEW_TERMS) * np.arange(1.0, FEW_TERMS + 1), (2, 2, 1, 1))


class LogisticPairs:
    """All pairs in arrays sorted by query and score: the rows' numbers, ranks, scores and weights."""

    def __init__(self, pairs: AllPairs, order: Ints, rank: NDArray[np.int32], scores: Floats, weights: Floats) -> None:
        self.pairs, self.order, self.rank, self.scores, self.weights = pairs, order, rank, scores, weights

    def smooth(self, centred: Floats, lower: Floats, higher: Floats) -> Smooth:
        """All pairs charged; ``lower`` and ``higher`` are the sums of weights, and of weights times ``centred`` scores,
        over the partners on the wrong side of a sample."""
        found = self._sums(self.weights[:, None], _RISE_AND_VALUE, [[2, 1], [1, 1]])
        (rise, tail), fall = found[0, :, :, 0], found[1, 0, :, 0]
        value = float(self.weights @ (lower[1] - lower[0] * centred + tail))
        falling, rising = higher[0] + fall, lower[0] + rise
        noise = 4 * TERMS * EPSILON * float(self.weights @ (falling + rising))
        return Smooth(value, self._unsorted(self.weights * (falling - rising)), noise)

    def laplacian(self, v: Floats) -> Floats:
        """L v, see ``PairsAt.smooth_laplacian``."""
        v = v[self.order]
        values = np.stack([self.weights, self.weights * v], axis=1)
        sums = np.add.reduce(self._sums(values, _BEND, [[1, 2], [1, 2]]))[0]
        return self._unsorted(self.weights * (v * sums[:, 0] - sums[:, 1]))

    def gram(self, X: Any) -> Floats:
        """X'LX is the symmetric part of X'(D X - 2 A G), G_i the weighted sum of the lower partners' rows."""
        rows = X[self.order].toarray() if sp.issparse(X) else X[self.order]
        rows -= np.ones(len(rows)) @ rows / len(rows)
        column = self.weights[:, None]
        weighted = column * rows
        values = np.concatenate([column, weighted], axis=1)
        lower, higher = self._sums(values, _BEND, [[1, values.shape[1]], [1, 1]])[:, 0]
        rows *= lower[:, :1] + higher[:, :1]
        rows -= 2 * lower[:, 1:]
        product = weighted.T @ rows
        return (product + product.T) / 2

    def _sums(self, values: Floats, coefs: Floats, sizes: list[list[int]]) -> Floats:
        """By side, row of the coefficients, sample and column of values; as many as ``sizes`` say: see
        ``decaying_sums``."""
        from hullrank.problem._decay_loops import decaying_sums

        pairs, n_values, n_terms = self.pairs, values.shape[1], coefs.shape[3]
        most = pairs.most_ranks
        step = max(1, min(_ROOM // (most * n_values), n_terms))
        room = np.empty(step), np.empty((most, n_values, step)), np.empty(most, dtype=np.int64)
        sorted_pairs = self.scores, self.rank, pairs.starts, pairs.n_ranks, values, *self._growth
        asked, out = np.array(sizes), np.zeros((2, coefs.shape[2], *values.shape))
        for k in range(0, n_terms, step):
            some = np.ascontiguousarray(coefs[..., k : k + step])
            decaying_sums(*sorted_pairs, some, asked, k, *room, out)
        return out

    @cached_property
    def _growth(self) -> tuple[Floats, Ints]:
        """By direction (up, down) and sample, exp of its distance from where the way begins, less whole stretches, and
        their number."""
        from hullrank.problem._decay_loops import STRETCH

        starts = self.pairs.starts
        ends = np.repeat(self.scores[np.stack([starts[:-1], starts[1:] - 1])], self.pairs.sizes, axis=1)
        distance = np.abs(self.scores - ends)
        stretch = np.floor(distance / STRETCH)
        return np.exp(distance - STRETCH * stretch), stretch.astype(np.int64)

    def _unsorted(self, values: Floats) -> Floats:
        out = np.empty_like(values)
        out[self.order] = values
        return out
