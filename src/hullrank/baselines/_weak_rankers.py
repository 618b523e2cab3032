"""The weak rankers of RankBoost: the features themselves, or features cut at a threshold."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.sparsefuncs import min_max_axis

Floats = NDArray[np.float64]


class Choice(NamedTuple):
    """A weak ranker h and r = sum_k pi_k h(x_k): how much it agrees with the pairs still ranked wrong."""

    r: float
    feature: int
    threshold: float


def weak_values(X: Any, feature: int, threshold: float, scales: Floats) -> Floats:
    """h of any rows, up to a constant: the scaled feature where the threshold is NaN, else 1 above it."""
    column = X[:, [feature]]
    column = np.asarray(column.toarray() if sp.issparse(column) else column).ravel()
    return column / scales[feature] if np.isnan(threshold) else (column > threshold).astype(np.float64)


class FeatureRankers:
    """h_j(x) = (x_j - min_j) / (max_j - min_j); constant features drop out.

    The potential sums to zero, so r_j = pi.x_j / range_j whatever the minimum. A unit of h_j is ``scales[j]`` units of
    feature j.
    """

    def __init__(self, X: Any) -> None:
        sparse = sp.issparse(X)
        low, high = min_max_axis(X, axis=0) if sparse else (X.min(axis=0), X.max(axis=0))
        self.scales = np.where(high > low, high - low, np.inf)
        if sparse:
            self._X = sp.csc_array(X @ sp.diags_array(1 / self.scales))
        else:
            self._X = np.asfortranarray((X - low) / self.scales)

    def best(self, potential: Floats) -> Choice:
        """The feature with the largest |r|, the first of equals (up to rounding)."""
        r = potential @ self._X
        j = int(np.argmax(np.abs(r) >= np.abs(r).max() * (1 - 1e-10)))
        return Choice(float(r[j]), j, np.nan)

    def values(self, choice: Choice) -> Floats:
        """h of the training rows: the scaled feature (a sparse one without its minimum subtracted)."""
        return weak_values(self._X, choice.feature, np.nan, np.ones_like(self.scales))


class StumpRankers:
    """h(x) = 1 if x_j > threshold else 0, for every feature and every gap between its values; sorted once."""

    def __init__(self, X: Floats) -> None:
        self.scales = np.ones(X.shape[1])
        self._X = np.ascontiguousarray(X.T)
        self._order = np.argsort(self._X, axis=1, kind="stable").astype(np.int32)
        ordered = np.take_along_axis(self._X, self._order, axis=1)
        self._cut = np.zeros(self._X.shape, dtype=bool)
        self._cut[:, 1:] = ordered[:, 1:] > ordered[:, :-1]

    def best(self, potential: Floats) -> Choice:
        """The stump with the largest |r|, in one pass over the sorted features."""
        from hullrank.baselines._loops import best_stump

        found = np.zeros(3)
        best_stump(potential, self._order, self._cut, found)
        r, feature, place = float(found[0]), int(found[1]), int(found[2])
        low, high = self._X[feature, self._order[feature, [place - 1, place]]]
        middle = low + (high - low) / 2
        return Choice(r, feature, float(middle if low <= middle < high else low))

    def values(self, choice: Choice) -> Floats:
        """h of the training rows: 1 above the threshold, 0 elsewhere."""
        return (self._X[choice.feature] > choice.threshold).astype(np.float64)


WeakRankers = FeatureRankers | StumpRankers


class PairPotential:
    """pi(x) = sum over pairs of D: what a weak ranker must correlate with, in O(m) a round and without any pair.

    D(x_0, x_1) is proportional to w_0 w_1 exp(f(x_0) - f(x_1)) over the pairs of one query in which x_1 has the higher
    grade, and pi(x) = sum_{x'} D(x', x) - D(x, x') (Freund et al. 2003, equation (7)). The exponential splits into
    a factor of each sample, so sums over lower and higher grades are enough, for any number of grades.
    """

    def __init__(self, grades: NDArray[np.intp], weights: Floats, queries: NDArray[np.intp]) -> None:
        self._rows = np.lexsort((grades, queries))
        self._block = np.stack([queries[self._rows], grades[self._rows]])
        self._weights = weights[self._rows]
        self._starts = np.flatnonzero(np.diff(self._block[0], prepend=-1))
        self._sizes = np.diff(np.append(self._starts, len(self._rows)))
        self.total = 1.0  # as long as the loss at equal scores, by which others are divided, is not known
        self.total = self.at(np.zeros(len(grades)))[1]

    def at(self, scores: Floats) -> tuple[Floats, float]:
        """The potential (normalised so that D sums to one), and the mean loss over pairs, at the given scores."""
        from hullrank.baselines._loops import pair_potential

        f = scores[self._rows]
        middle = (np.maximum.reduceat(f, self._starts) + np.minimum.reduceat(f, self._starts)) / 2
        f -= np.repeat(middle, self._sizes)
        exponentials = self._weights * np.exp(np.stack([f, -f]))
        potential = np.empty_like(f)
        loss = pair_potential(exponentials, self._block, potential)
        result = np.empty_like(f)
        result[self._rows] = potential / loss if loss > 0 else 0.0
        return result, loss / self.total
