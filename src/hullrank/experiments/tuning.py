"""Grid search by cross-validation inside the training part, the same for every method."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold

Floats = NDArray[np.float64]
Fit = Callable[[Any, Any, NDArray[Any]], Callable[[Any], NDArray[Any]]]
Loss = Callable[[NDArray[Any], NDArray[Any]], float]


def choose(
    grid: Iterable[Any],
    fit: Fit,
    X: Any,
    y: NDArray[Any],
    loss: Loss,
    *,
    folds: int,
    seed: int,
    most: int | None = None,
) -> Any:
    """The point of the grid with the lowest mean loss over the folds; the first of equals.

    ``fit(point, X, y)`` gives a function that predicts. At most ``most`` rows, drawn at random, take part. A fold whose
    loss is not a number (nothing to compare) is left out of the mean. A point at which a fit fails for numerical
    reasons is not chosen, as in scikit-learn's searches.
    """

    def held_out(point: Any, train: NDArray[Any], test: NDArray[Any]) -> float:
        try:
            return loss(y[test], fit(point, X[train], y[train])(X[test]))
        except np.linalg.LinAlgError:
            return np.inf

    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(y))[: most or len(y)]
    X, y = X[rows], y[rows]
    splits = list(KFold(folds, shuffle=True, random_state=seed).split(y[:, None]))
    points = list(grid)
    means = [np.nanmean([held_out(point, train, test) for train, test in splits]) for point in points]
    return points[int(np.nanargmin(means))]
