"""A grid of C, gamma and loss by cross-validation, where every solve starts from its neighbour's solution.

Within a fold and a gamma the data are checked once, and the kernel's space (its values, and the factor of its matrix
where the solver needs one) serves every C and loss. C rises along a path, because the solution for a smaller C is cheap
and close to the next. Starting from the solution for another gamma gave no clear gain; kernel values, a tenth of a
solve, are not shared between folds.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.base import clone

from hullrank._progress import listening, tell
from hullrank._sklearn import safe_indexing
from hullrank.exceptions import (
    CollapsedRankingWarning,
    HullrankError,
    NotSeparableError,
    UndeclaredOrderWarning,
    WeakPriceWarning,
)
from hullrank.model_selection._paths import Path
from hullrank.model_selection._scoring import Rating, Scorer

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
Params = dict[str, Any]


@dataclass(frozen=True)
class Rated:
    """What is learned from and rated on: checked rows, targets, and what else is given for every row."""

    X: Any
    y: Any
    metadata: dict[str, NDArray[Any]]
    pairwise: bool

    def take(self, rows: Rows, columns: Rows) -> tuple[Any, Any, dict[str, Any]]:
        """Some rows; of kernel values those against the samples ``columns``."""
        X = self.X[np.ix_(rows, columns)] if self.pairwise else self.X[rows]
        given = {name: values[rows] for name, values in self.metadata.items()}
        return X, safe_indexing(self.y, rows), given


@dataclass
class Table:
    """Scores and seconds of every point of the grid (rows) in every fold (columns)."""

    points: list[Params]
    scores: Floats
    fit_seconds: Floats
    score_seconds: Floats

    @classmethod
    def empty(cls, points: list[Params], n_folds: int) -> "Table":
        """Nothing known yet: no score, no time."""
        shape = len(points), n_folds
        return cls(points, np.full(shape, np.nan), np.zeros(shape), np.zeros(shape))

    def results(self) -> dict[str, Any]:
        """The table under the names of GridSearchCV's ``cv_results_``."""
        found: dict[str, Any] = {}
        for name, seconds in (("fit_time", self.fit_seconds), ("score_time", self.score_seconds)):
            found[f"mean_{name}"], found[f"std_{name}"] = seconds.mean(axis=1), seconds.std(axis=1)
        for name in self.points[0]:
            found[f"param_{name}"] = _masked([point[name] for point in self.points])
        found["params"] = self.points
        for k, column in enumerate(self.scores.T):
            found[f"split{k}_test_score"] = column
        found["mean_test_score"], found["std_test_score"] = self.scores.mean(axis=1), self.scores.std(axis=1)
        found["rank_test_score"] = self.ranks()
        return found

    def ranks(self) -> NDArray[np.int32]:
        """1 for the highest mean; equal means share the lowest rank, and points without a mean come last."""
        means = self.scores.mean(axis=1)
        lowest = np.nanmin(means) - 1 if np.isfinite(means).any() else 0.0
        return rankdata(-np.nan_to_num(means, nan=lowest), method="min").astype(np.int32)

    def best(self) -> int:
        """The first point with the highest mean."""
        if not np.isfinite(self.scores.mean(axis=1)).any():
            raise HullrankError(
                "no point of the grid has a score in every fold: classes cannot be separated (C=inf), or some fold has "
                "nothing to compare; use finite Cs, fewer folds, or other splits"
            )
        return int(self.ranks().argmin())

    def simplest(self) -> int:
        """The smallest C whose mean is within one standard error of the best, with gamma and loss of the best."""
        best = self.best()
        n, means = self.scores.shape[1], self.scores.mean(axis=1)
        error = float(self.scores[best].std(ddof=1)) / n**0.5 if n > 1 else 0.0
        other = {name: value for name, value in self.points[best].items() if name != "C"}
        near = [
            k
            for k, point in enumerate(self.points)
            if means[k] >= means[best] - error and all(point[name] == value for name, value in other.items())
        ]
        return min(near, key=lambda k: (self.points[k]["C"], k))


def run_grid(
    estimator: Any,
    points: list[Params],
    data: Rated,
    folds: Sequence[tuple[Rows, Rows]],
    scorer: Scorer,
    verbose: int,
) -> Table:
    """Fit and rate every point of the grid in every fold."""
    table = Table.empty(points, len(folds))
    kernels, paths = _paths(points)
    for column, (train, test) in enumerate(folds):
        for number, kernel in enumerate(kernels):
            with warnings.catch_warnings(), listening(_unheard):
                warnings.simplefilter("ignore", CollapsedRankingWarning)
                warnings.simplefilter("ignore", UndeclaredOrderWarning)
                warnings.simplefilter("ignore", WeakPriceWarning)
                fold = _Fold(clone(estimator).set_params(**kernel), data, train, test, scorer)
                for path in paths[number]:
                    fold.walk(path, table, column)
            left = 1 - (column * len(kernels) + number + 1) / (len(folds) * len(kernels))
            tell(left, lambda left=left: f"{1 - left:.0%} of the grid is rated", verbose)  # type: ignore[misc]
    return table


def _unheard(gap: float) -> None:
    """The gap of one solve among many says nothing about how far the search is."""


class _Fold:
    """A fold for one kernel: a model, the statement of its training rows, and the rows to rate it on."""

    def __init__(self, model: Any, data: Rated, train: Rows, test: Rows, scorer: Scorer) -> None:
        self.model, self.needs_labels = model, scorer.needs_labels
        began = perf_counter()
        X, y, given = data.take(train, train)
        self.statement = model.state(X, y, **given)
        self.prepared = perf_counter() - began
        self.rate = Rating(scorer, *data.take(test, train))

    def walk(self, path: list[int], table: Table, column: int) -> None:
        """Fit and rate the points of one path (one loss, rising C), each from the solution before it."""
        followed = Path(self.model, self.statement, needs_labels=self.needs_labels)
        for k in path:
            began = perf_counter()
            self.model.set_params(**table.points[k])
            try:
                followed.learn(began)
            except NotSeparableError:
                warnings.warn(
                    f"{table.points[k]} has no score in fold {column}: the classes cannot be separated there",
                    stacklevel=2,
                )
                continue
            fitted = perf_counter()
            table.scores[k, column] = self.rate(self.model)
            table.fit_seconds[k, column] = fitted - began + self.prepared / len(table.points)
            table.score_seconds[k, column] = perf_counter() - fitted


def _paths(points: list[Params]) -> tuple[list[Params], list[list[list[int]]]]:
    """The kernels of the grid and, for each, its points: one path of rising C for every loss."""
    kernels: list[Params] = []
    paths: list[dict[Any, list[int]]] = []
    for k in sorted(range(len(points)), key=lambda k: points[k]["C"]):
        kernel = {name: value for name, value in points[k].items() if name == "gamma"}
        if kernel not in kernels:
            kernels.append(kernel)
            paths.append({})
        paths[kernels.index(kernel)].setdefault(points[k].get("loss"), []).append(k)
    return kernels, [list(by_loss.values()) for by_loss in paths]


def _masked(values: list[Any]) -> Any:
    kinds = {type(value) for value in values}
    same = kinds <= {int, float} or kinds == {str}
    return np.ma.MaskedArray(np.array(values, dtype=None if same else object), mask=False)
