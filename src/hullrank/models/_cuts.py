"""The best places to cut a line of scored samples into ordered classes, for a cost of each label."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hullrank.exceptions import HullrankError

Floats = NDArray[np.float64]


def metric_costs(metric: Any, n_classes: int) -> Floats:
    """(K, K) cost [true, predicted] that a metric charges; a metric that is not a word is that matrix itself.

    Shares (accuracy, within one rank) have the cost -1 where they count. Quadratic kappa has the squared distance, to
    be taken relative to chance.
    """
    if not isinstance(metric, str):
        return check_costs(metric, n_classes)
    grade = np.arange(n_classes)
    apart = np.abs(grade[:, None] - grade).astype(np.float64)
    return {
        "mean_rank_error": apart,
        "accuracy": -(apart == 0).astype(np.float64),
        "within_one": -(apart <= 1).astype(np.float64),
        "quadratic_kappa": apart**2,
    }[metric]


def check_costs(costs: ArrayLike, n_classes: int) -> Floats:
    """Costs [true class, predicted class] as a square matrix of finite numbers."""
    table = np.asarray(costs, dtype=np.float64)
    if table.shape != (n_classes, n_classes):
        raise HullrankError(
            f"the costs have shape {table.shape}, but there are {n_classes} classes; pass one row per true class and "
            "one column per predicted class, from lowest to highest"
        )
    if not np.isfinite(table).all():
        i, j = np.argwhere(~np.isfinite(table))[0]
        raise HullrankError(f"the cost of predicting class {j} for class {i} is {table[i, j]}; costs must be finite")
    return table


def best_cuts(
    scores: Floats, codes: NDArray[np.intp], weights: Floats, costs: Floats, *, relative: bool
) -> tuple[Floats, float]:
    """Ascending cuts of least mean cost, and minus that mean; a sample at a cut lies below it.

    With ``relative`` the mean cost is divided by that of chance, the mean over all pairs of a true and an independent
    predicted label, and what is left of 1 is returned (kappa). Both are sums over samples, so that their ratio is
    minimised by a few minimisations of cost - ratio * chance with the ratio found so far (Dinkelbach 1967), each exact.
    """
    levels, table = weights_by_level(scores, codes, weights, len(costs))
    shares = table / table.sum()
    paid = shares @ costs
    ends = _cheapest(paid)
    if not relative:
        return _between(levels, ends), -_total(paid, ends) + 0.0
    chance = np.outer(shares.sum(axis=1), shares.sum(axis=0) @ costs)
    ratio = _total(paid, ends) / _total(chance, ends)
    while True:
        trial = _cheapest(paid - ratio * chance)
        lower = _total(paid, trial) / _total(chance, trial)
        if not lower < ratio:
            return _between(levels, ends), 1 - ratio
        ends, ratio = trial, lower


def weights_by_level(
    scores: Floats, codes: NDArray[np.intp], weights: Floats, n_classes: int
) -> tuple[Floats, NDArray[Any]]:
    """The ascending levels of the scores, and the weight of every class there, (level, class)."""
    levels, place = np.unique(scores, return_inverse=True)
    table = np.bincount(place * n_classes + codes, weights, len(levels) * n_classes)
    return levels, table.reshape(len(levels), -1)


def cheapest_cuts(levels: NDArray[Any], table: NDArray[Any], costs: Floats) -> Floats:
    """Ascending cuts of least cost between levels of the score."""
    return _between(levels, _cheapest(table / table.sum() @ costs))


def _cheapest(price: Floats) -> NDArray[np.intp]:
    """(K - 1,) how many levels lie below each cut, so that the total price (level, class) is least.

    best[k, i] is the least price of the first i levels with classes up to k: either class k takes none after the end of
    the classes below it, or all from there on. With P_k the running sum of the price of class k, that is
    P_k[i] + min over j <= i of (best[k-1, j] - P_k[j]).
    """
    n, n_classes = price.shape
    running = np.zeros((n_classes, n + 1))
    np.cumsum(price.T, axis=1, out=running[:, 1:])
    best = running[0]
    origin = np.zeros((n_classes, n + 1), dtype=np.intp)
    for k in range(1, n_classes):
        offer = best - running[k]
        least = np.minimum.accumulate(offer)
        origin[k] = np.maximum.accumulate(np.where(offer == least, np.arange(n + 1), 0))
        best = running[k] + least
    ends, end = np.empty(n_classes - 1, dtype=np.intp), n
    for k in range(n_classes - 1, 0, -1):
        end = int(origin[k, end])
        ends[k - 1] = end
    return ends


def _total(price: Floats, ends: NDArray[np.intp]) -> float:
    label = np.searchsorted(ends, np.arange(len(price)), side="right")
    return float(price[np.arange(len(price)), label].sum())


def _between(levels: NDArray[Any], ends: NDArray[np.intp]) -> Floats:
    """The middle between the levels on both sides of a cut; infinite where one side has none."""
    padded = np.concatenate([[-np.inf], levels, [np.inf]])
    lower, upper = padded[ends], padded[ends + 1]
    inner = np.isfinite(lower) & np.isfinite(upper)
    cuts = np.where(np.isfinite(lower), np.inf, -np.inf)
    middle = lower[inner] + (upper[inner] - lower[inner]) / 2
    cuts[inner] = np.where(middle < upper[inner], middle, lower[inner])
    return cuts
