"""From class probabilities to one class: the most probable, the median, or the cheapest."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hullrank.exceptions import HullrankError

Floats = NDArray[np.float64]


def decide(probabilities: Floats, decision: Any) -> NDArray[np.intp]:
    """The place of a class for every row: by ``decision`` "mode", "median", or a matrix of costs."""
    if isinstance(decision, str):
        if decision == "mode":
            return probabilities.argmax(axis=1)
        return (np.cumsum(probabilities, axis=1)[:, :-1] < 0.5).sum(axis=1)
    return (probabilities @ check_costs(decision, probabilities.shape[1])).argmin(axis=1)


def check_decision(decision: Any, classes: NDArray[Any]) -> None:
    """A matrix of costs must fit the classes; a word has been checked before."""
    if not isinstance(decision, str):
        check_costs(decision, len(classes))


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
