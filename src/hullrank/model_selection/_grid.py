"""A grid of C, gamma and loss by cross-validation, whose problems share what they have in common.

Kernel values are computed once for each gamma and serve all folds, C and losses: those between training rows for
solving, those of the rows that a fold leaves out for rating. The data of a fold are checked once. Within a fold and a
gamma C rises along a path, each solve from the solution before it; linear rankers over pairs begin near the solution of
an earlier fold. For a kernel model the solution of another fold, or of all rows, or for another gamma is no better a
start than zero (measured on 5 x 4 points, 5 folds, 500 rows).

A point is dropped once it cannot win any more: where the largest score that there can be, in all folds to come, leaves
its mean below that of a point that is rated in all folds. So that a good point is soon rated in all folds, every gamma
is rated in the first fold, and then they come in the order of their best score there. The folds in which the leader
scores least come first: others score little there too, and what they cannot win any more is soon known.
Rankers over pairs with a kernel need not even be fitted to the end: see ``_pair_bounds``.
"""

import warnings
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from hullrank._progress import listening, tell
from hullrank._sklearn import safe_indexing
from hullrank.exceptions import (
    CollapsedRankingWarning,
    NotSeparableError,
    UndeclaredOrderWarning,
    WeakPriceWarning,
)
from hullrank.model_selection._pair_bounds import PairBounds
from hullrank.model_selection._paths import Path, Watch
from hullrank.model_selection._scoring import Rating, Scorer
from hullrank.model_selection._table import Params, Table
from hullrank.problem import matrix_probe
from hullrank.problem.gram import Gram
from hullrank.problem.interval_statement import IntervalStatement
from hullrank.problem.kernel_factor import is_definite
from hullrank.solvers.pair_path import PairPath

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
_CLOSE, _CLOSER = 0.1, 0.7  # radius of a ball, in units of its centre and of the last one, at which bounds are computed
_MOST_SHARED = 5000  # rows whose kernel values (200 MB) are shared


@dataclass(frozen=True)
class Rated:
    """What is learned from and rated on: checked rows, targets, and what else is given for every row."""

    X: Any
    y: Any
    metadata: dict[str, NDArray[Any]]
    pairwise: bool
    codes: NDArray[np.intp]

    @cached_property
    def is_definite(self) -> bool:
        """Whether the given kernel values have no negative eigenvalue; those between some of the samples then too."""
        return is_definite(Gram(self.X, "precomputed"))

    def by_class(self, rows: Rows) -> Rows:
        """The rows class by class, as kernel solvers take them."""
        return rows[np.argsort(self.codes[rows], kind="stable")]

    def take(self, rows: Rows, columns: Rows) -> tuple[Any, Any, dict[str, Any]]:
        """Some rows; of kernel values those against the samples ``columns``."""
        X = self.X.take(rows, axis=0).take(columns, axis=1) if self.pairwise else self.X[rows]
        given = {name: values[rows] for name, values in self.metadata.items()}
        return X, safe_indexing(self.y, rows), given


def run_grid(
    estimator: Any,
    points: list[Params],
    data: Rated,
    folds: Sequence[tuple[Rows, Rows]],
    scorer: Scorer,
    *,
    complete: bool,
    verbose: int,
) -> Table:
    """Fit and rate the points of the grid in every fold; unless ``complete``, without those that cannot win."""
    table = Table.empty(points, len(folds), np.inf if complete else scorer.most)
    paths = _paths(points)
    together = np.isfinite(table.most) and len(paths) * data.X.shape[0] ** 2 <= _MOST_SHARED**2
    kernels = _Kernels(estimator, data, folds, scorer, keep=len(paths) if together else 1)
    beside: dict[int, PairPath] = defaultdict(PairPath)  # by the first point of a path

    def rate(some: list[list[int]], column: int, *, bounded: bool) -> None:
        if all(table.is_hopeless(k) for path in some for k in path):
            return
        with warnings.catch_warnings(), listening(_unheard):
            warnings.simplefilter("ignore", CollapsedRankingWarning)
            warnings.simplefilter("ignore", UndeclaredOrderWarning)
            warnings.simplefilter("ignore", WeakPriceWarning)
            fold, statement = kernels.fold(column, points[some[0][0]])
            for path in some:
                fold.walk(statement, path, table, column, beside[path[0]], bounded=bounded)

    for done, (number, column) in enumerate(_blocks(table, paths, together), 1):
        rate(paths[number], column, bounded=np.isfinite(table.most))
        left = 1 - done / (len(folds) * len(paths))
        tell(left, lambda left=left: f"{1 - left:.0%} of the grid is rated", verbose)  # type: ignore[misc]
    while (k := table.unsettled()) is not None:
        for column in np.flatnonzero(~table.ran[k]).tolist():
            rate([[k]], column, bounded=False)
    return table


def _unheard(gap: float) -> None:
    """The gap of one solve among many says nothing about how far the search is."""


def _blocks(table: Table, paths: list[list[list[int]]], together: bool) -> Iterator[tuple[int, int]]:
    """Which kernel and fold comes next: one kernel after the other, the best of the first fold first if together."""
    numbers, n_folds = range(len(paths)), table.scores.shape[1]
    if not together:
        yield from product(numbers, range(n_folds))
        return
    yield from ((number, 0) for number in numbers)
    first = np.nan_to_num(table.scores[:, 0], nan=-np.inf)
    best = [max(first[k] for path in paths[number] for k in path) for number in numbers]
    for number in sorted(numbers, key=lambda number: -best[number]):
        yield from product([number], table.hardest_first(range(1, n_folds)))


class _Kernels:
    """The folds of the data, and the kernel values that they share; values for ``keep`` kernels are kept."""

    def __init__(
        self, estimator: Any, data: Rated, folds: Sequence[tuple[Rows, Rows]], scorer: Scorer, keep: int
    ) -> None:
        self.estimator, self.data, self.splits, self.scorer, self.keep = estimator, data, folds, scorer, keep
        self.values: dict[Any, Floats] = {}
        self.folds: dict[int, _Fold] = {}

    def fold(self, column: int, point: Params) -> tuple["_Fold", Any]:
        """A fold, and the statement of its training rows with the kernel of a point."""
        model = clone(self.estimator).set_params(**point)
        if not self._shares(model):
            fold = _Fold(model, self.data, *self.splits[column], self.scorer)
            return fold, fold.statement
        if column not in self.folds:
            train, test = self.splits[column]
            self.folds[column] = _Fold(model, self.data, self.data.by_class(train), test, self.scorer)
        fold = self.folds[column]
        return fold, fold.with_kernel(model.gamma, self._shared_values(model))

    def _shares(self, model: Any) -> bool:
        """Whether all folds have the same kernel, of not too many values."""
        kernel = model._has_kernel and model.approximation is None and model.kernel != "precomputed"
        return kernel and not isinstance(model.gamma, str) and self.data.X.shape[0] <= _MOST_SHARED

    def _shared_values(self, model: Any) -> Floats:
        """Kernel values between all rows."""
        if model.gamma not in self.values:
            if len(self.values) >= self.keep:
                self.values.clear()
            space = model._space(self.data.X, np.ones(self.data.X.shape[0]))
            self.values[model.gamma] = replace(space.gram, compiled=True).whole()
        return self.values[model.gamma]


class _Fold:
    """A fold: a model, the statement of its training rows, and the rows to rate it on."""

    def __init__(self, model: Any, data: Rated, train: Rows, test: Rows, scorer: Scorer) -> None:
        self.model, self.needs_labels, self.train, self.test = model, scorer.needs_labels, train, test
        began = perf_counter()
        X, y, given = data.take(train, train)
        self.statement = model.state(X, y, **given)
        space = self.statement.space
        if data.pairwise and isinstance(self.statement, IntervalStatement) and data.is_definite:
            matrix_probe.remember_definite(matrix_probe.product(space.gram.whole()))
        self.rows = data.take(test, train)
        self.prepared = perf_counter() - began
        self.rate = Rating(scorer, *self.rows)
        self.reach: tuple[Floats, Floats] | None = None  # see ``with_kernel``

    @cached_property
    def bounds(self) -> PairBounds | None:
        """What bounds the scores before a solution is found; None where nothing does."""
        return self.rate.bounds(self.model)

    def with_kernel(self, gamma: float, values: Floats) -> Any:
        """The statement with another gamma, given the kernel values of all rows; the model's scores come from them."""
        columns = values.take(self.train, axis=1)
        held = columns.take(self.test, axis=0)
        self.model.set_params(gamma=gamma)._hold_kernel_values(self.rows[0], held)
        if self.bounds is not None:
            self.reach = held, self.bounds.distances(values.take(self.test, axis=0).take(self.test, axis=1))
        space, rows = self.statement.space, self.train[self.statement.positions]
        table = columns.take(rows, axis=0)
        if len(rows) < len(self.train):
            table = table.take(self.statement.positions, axis=1)
        gram = replace(space.gram, gamma=gamma, table=table)
        return replace(self.statement, space=replace(space, gram=gram))

    def walk(
        self, statement: Any, path: list[int], table: Table, column: int, beside: PairPath, *, bounded: bool
    ) -> None:
        """Fit and rate the points of one path (one loss, rising C), each from the solution before it, or from that
        of another fold; if ``bounded``, only until they are known to score less than is ``enough`` for now."""
        followed = Path(self.model, statement, needs_labels=self.needs_labels, beside=beside)
        for k in path:
            if table.is_hopeless(k):
                continue
            began = perf_counter()
            self.model.set_params(**table.points[k])
            try:
                followed.learn(began, self._watch(statement, table, k, column) if bounded else None)
            except _OutrunError:
                continue
            except NotSeparableError:
                warnings.warn(
                    f"{table.points[k]} has no score in fold {column}: the classes cannot be separated there",
                    stacklevel=2,
                )
                table.record(k, column)
                continue
            fitted = perf_counter()
            score = self.rate(self.model)
            seconds = fitted - began + self.prepared / len(table.points), perf_counter() - fitted
            table.record(k, column, score, seconds)

    def _watch(self, statement: Any, table: Table, k: int, column: int) -> Watch | None:
        """What ends the fit of a point as soon as its score in this fold need not be known for now."""
        enough = table.enough(k, column)
        if self.reach is None or self.bounds is None or enough == -np.inf:
            return None
        bounds, (values, distances) = self.bounds, self.reach
        last = np.inf

        def watch(centre: Floats, radius: float) -> None:
            nonlocal last
            if radius > min(_CLOSER * last, _CLOSE * float(np.linalg.norm(centre))):
                return
            last, coef = radius, np.zeros(len(self.train))
            coef[statement.positions] = statement.space.coefficients(centre)
            bound = bounds.accuracy(values @ coef, radius * distances)
            if bound < enough:
                table.bounds[k, column] = bound
                raise _OutrunError

        return watch


class _OutrunError(Exception):
    """A point scores less in a fold than another; how much less need not be known."""


def _paths(points: list[Params]) -> list[list[list[int]]]:
    """The points of every kernel of the grid: one path of rising C for every loss."""
    kernels: list[Params] = []
    paths: list[dict[Any, list[int]]] = []
    for k in sorted(range(len(points)), key=lambda k: points[k]["C"]):
        kernel = {name: value for name, value in points[k].items() if name == "gamma"}
        if kernel not in kernels:
            kernels.append(kernel)
            paths.append({})
        paths[kernels.index(kernel)].setdefault(points[k].get("loss"), []).append(k)
    return [list(by_loss.values()) for by_loss in paths]
