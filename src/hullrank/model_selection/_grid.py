"""A grid of C, gamma and loss by cross-validation, whose problems share what they have in common.

Kernel values are computed once for each gamma and serve all folds, C and losses: those between training rows for
solving, those of the rows that a fold leaves out for rating. Within a fold and a gamma the data are checked once, and
the factor of the kernel matrix, where the solver needs one, serves every C and loss. C rises along a
path, each solve from the solution before it. The solution of another fold, or of all rows, or for another gamma is no
better start for a kernel model than zero (measured on 5 x 4 points, 5 folds, 500 rows).
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
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
_MOST_SHARED = 5000  # rows whose kernel values (200 MB) are shared


@dataclass(frozen=True)
class Rated:
    """What is learned from and rated on: checked rows, targets, and what else is given for every row."""

    X: Any
    y: Any
    metadata: dict[str, NDArray[Any]]
    pairwise: bool
    codes: NDArray[np.intp]

    def by_class(self, rows: Rows) -> Rows:
        """The rows class by class, as kernel solvers take them."""
        return rows[np.argsort(self.codes[rows], kind="stable")]

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
    for number in range(len(kernels)):
        first = points[paths[number][0][0]]
        shared = _shared_values(clone(estimator).set_params(**first), data)
        for column, (train, test) in enumerate(folds):
            with warnings.catch_warnings(), listening(_unheard):
                warnings.simplefilter("ignore", CollapsedRankingWarning)
                warnings.simplefilter("ignore", UndeclaredOrderWarning)
                warnings.simplefilter("ignore", WeakPriceWarning)
                fold = _Fold(clone(estimator).set_params(**first), data, train, test, scorer, shared)
                for path in paths[number]:
                    fold.walk(path, table, column)
            left = 1 - (number * len(folds) + column + 1) / (len(folds) * len(kernels))
            tell(left, lambda left=left: f"{1 - left:.0%} of the grid is rated", verbose)  # type: ignore[misc]
    return table


def _unheard(gap: float) -> None:
    """The gap of one solve among many says nothing about how far the search is."""


class _Fold:
    """A fold for one kernel: a model, the statement of its training rows, and the rows to rate it on."""

    def __init__(self, model: Any, data: Rated, train: Rows, test: Rows, scorer: Scorer, shared: Floats | None) -> None:
        self.model, self.needs_labels = model, scorer.needs_labels
        began = perf_counter()
        train = train if shared is None else data.by_class(train)
        X, y, given = data.take(train, train)
        self.statement = model.state(X, y, **given)
        rated = data.take(test, train)
        if shared is not None:
            self._share(shared, train, test, rated[0])
        self.prepared = perf_counter() - began
        self.rate = Rating(scorer, *rated)

    def _share(self, values: Floats, train: Rows, test: Rows, X: Any) -> None:
        """Take kernel values from those of all rows, for the statement and for the scores of the rows X to rate on."""
        space, rows = self.statement.space, train[self.statement.positions]
        gram = replace(space.gram, table=values.take(rows, axis=0).take(rows, axis=1))
        self.statement = replace(self.statement, space=replace(space, gram=gram))
        held, of_other_rows = values.take(test, axis=0).take(train, axis=1), self.model._scores

        def scores(other: Any) -> Floats:
            if other is not X:
                return of_other_rows(other)
            return held[:, self.model.support_] @ self.model.dual_coef_[0]

        self.model._scores = scores

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


def _shared_values(model: Any, data: Rated) -> Floats | None:
    """Kernel values between all rows, where all folds have the same kernel and the values are not too many."""
    shared = model._has_kernel and model.approximation is None and model.kernel != "precomputed"
    if not shared or isinstance(model.gamma, str) or data.X.shape[0] > _MOST_SHARED:
        return None
    space = model._space(data.X, np.ones(data.X.shape[0]))
    return replace(space.gram, compiled=True).whole()


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
