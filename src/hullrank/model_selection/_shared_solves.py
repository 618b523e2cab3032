"""Every order of the classes rated by cross-validation, from as many solves per fold as there are classes.

The ridge regression of the classes' places p_c = 0, 1, ..., K - 1 (all classes of equal weight) has the scores
s(x) = sum_c (2 p_c - K + 1) x'A^-1 m_c, with A the covariance of the rows plus a ridge and m_c the mean of class c. A
and the means do not depend on the order, so the K *images* x'A^-1 m_c of the rows left out rate any order by one
product with its places. An order is rated by its pair accuracy, averaged over the pairs of classes: a class of few rows
then counts as much as any other, without which its place is left to chance.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Order = tuple[int, ...]  # class codes, lowest first

RIDGES = (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0)  # in units of the mean variance of a column


class Held(NamedTuple):
    """The rows that a fold leaves out: their images, classes, weights, and numbers in the data."""

    images: Floats
    codes: Ints
    weights: Floats
    rows: Ints


class Areas(NamedTuple):
    """How classes lie on a score line.

    ``below[i, c]`` is the share of class c that lies below row i, ties by half; ``pairs[c, d]`` the mean of that over
    the rows of class d, the probability that d lies above c. NaN for classes without a row.
    """

    below: Floats
    pairs: Floats


@dataclass
class SharedSolves:
    """The folds of one data set, and the rates of the orders that were asked for (both directions rate alike)."""

    folds: list[Held]
    n_classes: int
    rates: dict[Order, Floats] = field(default_factory=dict)

    @classmethod
    def of(cls, X: Floats, codes: Ints, weights: Floats, folds: Sequence[tuple[Ints, Ints]]) -> "SharedSolves":
        """Solve in every fold, with the ridge at which any two classes are told apart best (on average)."""
        n_classes = int(codes.max()) + 1
        solved = [_Solved(X[train], codes[train], weights[train], n_classes) for train, _ in folds]

        def held(ridge: float) -> list[Held]:
            return [
                Held(part.images(X[test], ridge), codes[test], weights[test], test)
                for part, (_, test) in zip(solved, folds, strict=True)
            ]

        tried = [cls(held(ridge), n_classes) for ridge in RIDGES]
        return max(tried, key=lambda each: float(np.nanmean(each.separability)))

    @cached_property
    def separability(self) -> Floats:
        """(K, K) area under the curve between any two classes, each pair along the direction of its own two means."""
        n, found = self.n_classes, np.full((self.n_classes, self.n_classes), np.nan)
        for c, d in zip(*np.triu_indices(n, 1), strict=True):
            values = []
            for images, codes, weights, _ in self.folds:
                two = (codes == c) | (codes == d)
                values.append(areas((images[:, d] - images[:, c])[two], codes[two], weights[two], n).pairs[c, d])
            found[c, d] = found[d, c] = _mean(np.array(values))
        return found

    def scores(self, order: Order, fold: Held) -> Floats:
        """Scores of the rows that a fold leaves out, by the regression of the places in an order."""
        places = np.empty(self.n_classes)
        places[list(order)] = 2.0 * np.arange(self.n_classes) - (self.n_classes - 1)
        return fold.images @ places

    def rate(self, order: Order) -> float:
        """The mean over the folds of the order's pair accuracy, class pairs averaged."""
        return float(_mean(self.by_fold(order)))

    def by_fold(self, order: Order) -> Floats:
        """The order's pair accuracy in every fold."""
        key = _one_direction(order)
        if key not in self.rates:
            steps = np.triu_indices(self.n_classes, 1)
            rated = []
            for fold in self.folds:
                pairs = areas(self.scores(key, fold), fold.codes, fold.weights, self.n_classes).pairs
                rated.append(_mean(pairs[np.ix_(key, key)][steps]))
            self.rates[key] = np.array(rated)
        return self.rates[key]

    def best(self, most: int) -> list[Order]:
        """The orders rated so far, best first; of two equal ones the first in alphabetical order of their codes."""
        return sorted(self.rates, key=lambda order: (-self.rate(order), order))[:most]

    def influences(self, order: Order, n_rows: int) -> Floats:
        """What every row of the data adds to the order's rate, about: its own pair accuracy less its class's, shared.

        This is the projection of a U-statistic on single rows (Hoeffding 1948); weighted by random multipliers it gives
        what the rate would be on a resample of the rows.
        """
        place = np.argsort(order)
        found, shares, codes = np.zeros(n_rows), np.zeros(n_rows), np.full(n_rows, -1)
        for fold in self.folds:
            below = areas(self.scores(order, fold), fold.codes, fold.weights, self.n_classes).below
            right = np.where(place[fold.codes][:, None] > place, below, 1 - below)
            right[np.arange(len(right)), fold.codes] = np.nan
            found[fold.rows], shares[fold.rows], codes[fold.rows] = _mean(right, axis=1), fold.weights, fold.codes
        for c in range(self.n_classes):
            members = codes == c
            share = shares[members] / shares[members].sum()
            found[members] = share * (found[members] - share @ found[members])
        return found * 2.0 / self.n_classes


class _Solved:
    """The covariance of training rows (classes of equal weight) by its eigenvectors, and the classes' means."""

    def __init__(self, X: Floats, codes: Ints, weights: Floats, n_classes: int) -> None:
        share = weights / np.bincount(codes, weights, n_classes)[codes]
        means = _by_class(share, codes, n_classes) @ X
        self.centre = means.mean(axis=0)
        moved = X - self.centre
        self.values, self.vectors = np.linalg.eigh(moved.T @ (moved * (share / n_classes)[:, None]))
        self.means = (means - self.centre) @ self.vectors

    def images(self, X: Floats, ridge: float) -> Floats:
        """(m, K): x'A^-1 m_c for the given rows."""
        values = np.maximum(self.values, 0.0)
        unit = float(values.mean()) or 1.0
        return ((X - self.centre) @ self.vectors / (values + ridge * unit)) @ self.means.T


def areas(scores: Floats, codes: Ints, weights: Floats, n_classes: int) -> Areas:
    """Where every row lies among the classes, and the probability for any two classes that one lies above the other."""
    by_score = np.argsort(scores, kind="stable")
    ordered = scores[by_score]
    reached = np.zeros((len(scores) + 1, n_classes))
    reached[1 + np.arange(len(scores)), codes[by_score]] = weights[by_score]
    np.cumsum(reached, axis=0, out=reached)
    left, right = np.searchsorted(ordered, scores, "left"), np.searchsorted(ordered, scores, "right")
    totals = np.where(reached[-1] > 0, reached[-1], np.nan)
    below = (reached[left] + reached[right]) / (2 * totals)
    return Areas(below, (_by_class(weights, codes, n_classes) @ below).T / totals)


def _by_class(weights: Floats, codes: Ints, n_classes: int) -> Floats:
    """(K, m): the weights of the rows of every class, 0 for those of others."""
    found = np.zeros((n_classes, len(codes)))
    found[codes, np.arange(len(codes))] = weights
    return found


def _one_direction(order: Order) -> Order:
    """An order and its reverse rank the same pairs; the one whose lowest class has the smaller code stands for both."""
    return order if order[0] < order[-1] else order[::-1]


def _mean(values: Floats, axis: int | None = None) -> Any:
    """The mean of what is known; NaN where nothing is."""
    known = np.isfinite(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(known, values, 0.0).sum(axis=axis) / known.sum(axis=axis)
