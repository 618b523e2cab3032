"""From a file and the names of its columns to features, target, weights and queries."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from hullrank.cli.console import note, working
from hullrank.exceptions import TableError
from hullrank.io import SparseTable, read_table
from hullrank.order import OrderGraph, resolve_order

_FEW = 8


@dataclass(frozen=True)
class Columns:
    """Which columns of a table play a part of their own."""

    target: str | None = None
    qid: str | None = None
    weights: str | None = None
    drop: tuple[str, ...] = ()


@dataclass(frozen=True)
class Data:
    """A table taken apart; ``X`` is a frame, or a CSR matrix for SVMlight files."""

    X: Any
    y: Any = None
    weights: Any = None
    qid: Any = None
    rows: pl.DataFrame | None = None  # the table as it was read
    left: Any = None  # numbers of the rows of the file that are left, if some were left out

    @property
    def numbers(self) -> Any:
        """The number of every row in the file, from 1."""
        return np.arange(1, len(self) + 1) if self.left is None else self.left

    @property
    def sparse(self) -> bool:
        """Whether X is a sparse matrix."""
        return not isinstance(self.X, pl.DataFrame)

    def take(self, rows: Any) -> "Data":
        """The same with some rows only."""
        parts = (None if part is None else part[rows] for part in (self.X, self.y, self.weights, self.qid))
        return Data(*parts)

    def __len__(self) -> int:
        return int(self.X.shape[0])


def load_data(path: Path, columns: Columns, *, n_features: int | None = None, need_target: bool = True) -> Data:
    """Read a file and take it apart; rows without a target are left out, with a note."""
    with working(f"reading {path}"):
        table = read_table(path, n_features=n_features)
    name = "standard input" if str(path) == "-" else str(path)
    if isinstance(table, SparseTable):
        return Data(table.X, table.y, None, table.qid)
    return _take_apart(table, columns, name, need_target)


def _take_apart(frame: pl.DataFrame, columns: Columns, name: str, need_target: bool) -> Data:
    if need_target and columns.target is None:
        raise TableError(f"say which column of {name} holds the grades: --target COLUMN ({_names(frame)})")
    left = None
    if columns.target is not None and columns.target in frame.columns:
        missing = frame[columns.target].is_null()
        if missing.any():
            note(f"{missing.sum()} rows of {name} have no {columns.target!r} and are left out")
            left = np.flatnonzero(~missing.to_numpy()) + 1
            frame = frame.filter(~missing)
            if not frame.height:
                raise TableError(f"no row of {name} has a value in column {columns.target!r}")
    special = [columns.target if need_target else None, columns.qid, columns.weights, *columns.drop]
    for column in filter(None, special):
        if column not in frame.columns:
            raise TableError(f"{name} has no column {column!r}; it has {_names(frame)}")
    apart = {column for column in (columns.target, columns.qid, columns.weights, *columns.drop) if column}
    features = frame.select([column for column in frame.columns if column not in apart])
    if not features.width:
        raise TableError(f"{name} has no column left to learn from")
    return Data(
        features,
        frame[columns.target] if columns.target in frame.columns else None,
        None if columns.weights is None else _weights(frame[columns.weights], name, left),
        None if columns.qid is None else _queries(frame[columns.qid], name, left),
        frame,
        left,
    )


def _weights(series: pl.Series, name: str, left: Any) -> Any:
    values = series.cast(pl.Float64, strict=False)
    odd = values.is_null()
    if odd.any():
        row = int(odd.arg_true()[0])
        number = row + 1 if left is None else left[row]
        raise TableError(f"the weight in row {number} of {name} is {series[row]!r}, which is no number")
    return values.to_numpy()


def _queries(series: pl.Series, name: str, left: Any) -> Any:
    if series.null_count():
        row = int(series.is_null().arg_true()[0])
        number = row + 1 if left is None else left[row]
        raise TableError(f"row {number} of {name} has no query in column {series.name!r}")
    return series.to_numpy() if series.dtype.is_integer() else series.cast(pl.String).rank("dense").to_numpy()


def declared_order(y: Any, order: str | None, edges: Path | None) -> OrderGraph | None:
    """The order that the options state for the grades of y; None where numbers speak for themselves."""
    if order is not None and edges is not None:
        raise TableError("give the order by --order or by --edges, not by both")
    grades = _grades(y)
    if len(grades) < 2:
        raise TableError(f"all rows have the grade {grades[0]!r}; ranking needs at least two grades")
    if edges is not None:
        return _edges_file(edges, grades)
    if order is not None:
        return resolve_order(order, grades)
    if isinstance(y, pl.Series) and isinstance(y.dtype, pl.Enum):
        return OrderGraph.chain([grade for grade in y.dtype.categories.to_list() if grade in set(grades)])
    if grades and isinstance(grades[0], str):
        shown = " < ".join(map(str, grades[:_FEW])) + (" < ..." if len(grades) > _FEW else "")
        raise TableError(f"the grades are words, so say which is higher: --order '{shown}', in the right order")
    return None


def _grades(y: Any) -> list[Any]:
    if isinstance(y, pl.Series):
        return y.unique().sort().to_list()
    return [int(value) if float(value).is_integer() else value for value in np.unique(y).tolist()]


def _edges_file(path: Path, grades: list[Any]) -> OrderGraph:
    table = read_table(path)
    if isinstance(table, SparseTable) or table.width != 2:
        raise TableError(f"{path} must have two columns, the lower and the higher grade of every edge")
    printed = {str(grade): grade for grade in grades}
    pairs = [tuple(printed.get(str(label), label) for label in row) for row in table.rows()]
    return resolve_order(OrderGraph.from_edges(pairs), grades)


def target_values(y: Any) -> Any:
    """The target as an array of numbers or words."""
    if not isinstance(y, pl.Series):
        return y
    if y.dtype.is_numeric():
        return y.to_numpy()
    return np.array(y.cast(pl.String).to_list())


def _names(frame: pl.DataFrame) -> str:
    shown = ", ".join(frame.columns[:_FEW])
    return f"{shown} and {frame.width - _FEW} more" if frame.width > _FEW else shown
