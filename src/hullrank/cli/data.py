"""From a file and the names of its columns to features, target, weights and queries."""

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from hullrank.cli.console import note, working
from hullrank.cli.wording import counted, in_command_terms, listed
from hullrank.exceptions import TableError
from hullrank.io.content import name_of
from hullrank.io.csv_style import Style
from hullrank.io.forms import Form, read_cells, recognise, strays
from hullrank.io.header import row_below_title
from hullrank.io.meant import did_you_mean
from hullrank.io.numbers import read_numbers, whole_numbers
from hullrank.io.tables import SparseTable, read_styled


@dataclass(frozen=True)
class Columns:
    """Which columns of a table play a part of their own."""

    target: str | None = None
    qid: str | None = None
    weights: str | None = None
    drop: tuple[str, ...] = ()
    groups: str | None = None  # raters, panels or sites whose grades cannot be compared


@dataclass(frozen=True)
class Reading:
    """How the cells of a file are read, where its owner or a model says so."""

    decimal: str | None = None
    dates: str | None = None
    words: tuple[str, ...] = ()  # columns that are words, whatever they look like
    usual: str | None = None  # the decimal sign where neither the owner nor the cells tell
    target: Form | None = None  # what the words of the target say
    find_target: bool = False  # whether to find that out
    verbatim: bool = False  # whether the cells of a CSV file are kept as they are written too


@dataclass(frozen=True)
class Data:
    """A table taken apart; ``X`` is a frame, or a CSR matrix for SVMlight files."""

    X: Any
    y: Any = None
    weights: Any = None
    qid: Any = None
    rows: Any = None  # the table as it was read, a frame; None for SVMlight files
    left: Any = None  # numbers of the rows of the file that are left, if some were left out
    style: Style | None = None  # of a CSV file
    target_form: Form | None = None  # what the words of the target were read as
    without_target: int = 0  # rows that were left out for it
    groups: Any = None  # names of the groups whose grades cannot be compared; empty where a cell is

    @property
    def numbers(self) -> Any:
        """The number of every row in the file, from 1."""
        return np.arange(1, len(self) + 1) if self.left is None else self.left

    @property
    def title(self) -> str | None:
        """What to say where a title stands above the names of the columns; None where none does."""
        return None if self.rows is None else _title(self.rows, self.style)

    @property
    def sparse(self) -> bool:
        """Whether X is a sparse matrix."""
        return not isinstance(self.X, pl.DataFrame)

    def fit_parameters(self, model: Any) -> dict[str, Any]:
        """Weights, queries and groups, as far as there are any and the ``fit`` of the model takes them."""
        from sklearn.utils.validation import has_fit_parameter

        given = {"sample_weight": self.weights, "qid": self.qid, "groups": self.groups}
        return {name: part for name, part in given.items() if part is not None and has_fit_parameter(model, name)}

    def take(self, rows: Any) -> "Data":
        """The same with some rows only."""
        parts = (self.X, self.y, self.weights, self.qid, self.groups)
        X, y, weights, qid, groups = (None if part is None else part[rows] for part in parts)
        return Data(X, y, weights, qid, groups=groups)

    @property
    def compared(self) -> Any:
        """The query of every row, or its group: what two rows must share to be compared. None compares all rows."""
        return self.qid if self.groups is None else np.unique(self.groups, return_inverse=True)[1]

    def __len__(self) -> int:
        return int(self.X.shape[0])


def load_data(
    path: Path, columns: Columns, reading: Reading, *, n_features: int | None = None, need_target: bool = True
) -> Data:
    """Read a file and take it apart; rows without a target are left out, with a note."""
    with working(f"reading {path}"):
        signs = {"decimal": reading.decimal, "usual": reading.usual}
        table, style = read_styled(path, n_features=n_features, **signs, verbatim=reading.verbatim)
    name = name_of(path)
    if isinstance(table, SparseTable):
        for option, column in {"--groups": columns.groups, "--weights": columns.weights}.items():
            if column is not None:
                raise TableError(
                    f"{name} is SVMlight, which has no column for {option}; use a table with named columns"
                )
        return Data(table.X, table.y, None, table.qid)
    if style is not None and style.encoding is not None:
        note(f"{name} is not UTF-8; it is read as {style.encoding}")
    if style is not None and style.decimal == "," and reading.decimal is None:
        note(f"{name} is read as {style}")
    data = TakenApart(table, columns, name, reading, style).data(need_target)
    tell_missing(data.without_target, len(data), columns, name)
    return data


def tell_missing(without: int, left: int, columns: Columns, name: str) -> None:
    """A note about rows that were left out because they have no target; an error if none is left."""
    if without:
        have, are = ("has", "is") if without == 1 else ("have", "are")
        note(f"{counted(without, 'rows')} of {name} {have} no {columns.target!r} and {are} left out")
    if not left:
        raise TableError(f"no row of {name} has a value in column {columns.target!r}")


@dataclass
class TakenApart:
    """A table, or a part of it, the names of its columns with a part of their own, and how to read them."""

    frame: pl.DataFrame
    columns: Columns
    name: str
    reading: Reading
    style: Style | None = None
    before: int = 0  # rows of the table before this part
    left: Any = None  # numbers of the rows that are left, once some were left out

    def data(self, need_target: bool) -> Data:
        """Everything in its place."""
        self._check_names(need_target)
        rows, target_form = len(self.frame), self._read_target()
        columns, frame = self.columns, self.frame
        special = (columns.target, columns.qid, columns.weights, columns.groups, *columns.drop)
        apart = {column for column in special if column}
        features = frame.select([column for column in frame.columns if column not in apart])
        if not features.width:
            raise TableError(f"{self.name} has no column left to learn from")
        return Data(
            features,
            y=frame[columns.target] if columns.target in frame.columns else None,
            weights=None if columns.weights is None else self._weights(frame[columns.weights]),
            qid=None if columns.qid is None else self._queries(frame[columns.qid]),
            groups=None if columns.groups is None else group_names(frame[columns.groups]),
            rows=frame,
            left=self.left,
            style=self.style,
            target_form=target_form,
            without_target=rows - len(frame),
        )

    def _check_names(self, need_target: bool) -> None:
        names, target = self.frame.columns, self.columns.target
        if need_target and target is None:
            raise TableError(f"say which column of {self.name} holds the grades: --target COLUMN ({listed(names)})")
        special = [target if need_target else None, self.columns.qid, self.columns.weights, self.columns.groups]
        for column in filter(None, (*special, *self.columns.drop, *self.reading.words)):
            if column not in names:
                meant = did_you_mean(column, names) if len(names) > 1 else ""
                hint = meant or f"; it has {listed(names)}{self._about_names()}"
                raise TableError(f"{self.name} has no column {column!r}{hint}")

    def _about_names(self) -> str:
        """What may be wrong with the first line: nothing separates it, it is a title, or it is a row already."""
        names = self.frame.columns
        title = _title(self.frame, self.style)
        if title is not None:
            return f"; {title}"
        if len(names) == 1 and self.style is not None:
            return "; separate its cells by commas, semicolons, tabs or bars, from the first line on"
        if any(name.startswith("column ") for name in names):
            return "; if the names of the columns stand further down, delete the lines above them"
        if read_numbers(pl.Series(names), ".").null_count() < len(names):
            return "; if its first line is a row already, put a line with the names of the columns above it"
        return ""

    def _read_target(self) -> Form | None:
        """Turn words of the target that say numbers or dates into them, and leave out the rows without any.

        Spaces around a grade do not belong to it. Gives the form of the words.
        """
        target, form = self.columns.target, self.reading.target
        if target is None or target not in self.frame.columns:
            return form
        series = self.frame[target]
        if series.dtype == pl.String:
            series = series.str.strip_chars().replace("", None)
            form = self._found_form(series) if self.reading.find_target else form
            if form is not None:
                series = self._read_as(form, series)
            self.frame = self.frame.with_columns(series)
        missing = series.is_null()
        if missing.any():
            self.left = np.flatnonzero(~missing.to_numpy()) + self.before + 1
            self.frame = self.frame.filter(~missing)
        return form

    def _read_as(self, form: Form, target: pl.Series) -> pl.Series:
        """The target of a table as the numbers or dates that it was when the model was fitted."""
        values = read_cells(target, form)
        odd = strays(target, values)
        if len(odd):
            raise TableError(f"column {target.name!r} was numbers when the model was fitted, and now holds {odd[0]!r}")
        return (values if values.dtype.is_temporal() else whole_numbers(target, values)).alias(target.name)

    def _found_form(self, series: pl.Series) -> Form | None:
        """The form of a target whose words all say numbers or dates; strays would be grades after all."""
        form = self._form(series)
        return form if form is not None and not len(strays(series, read_cells(series, form))) else None

    def _form(self, series: pl.Series) -> Form | None:
        """The form of words that say numbers or dates."""
        usual = self.reading.usual or ("." if self.style is None else self.style.decimal)
        found = recognise(series.to_frame(), decimal=self.reading.decimal, dates=self.reading.dates, usual=usual)
        form = found.forms.get(series.name)
        return None if form is None or form["kind"] == "word" else form

    def _weights(self, series: pl.Series) -> Any:
        values = series
        if series.dtype == pl.String:
            form = self._form(series)
            values = series if form is None else read_cells(series, form)
        values = values.cast(pl.Float64, strict=False)
        bad = values.is_null() | (values < 0).fill_null(False) | ~values.is_finite().fill_null(False)
        if bad.any():
            row = int(bad.arg_true()[0])
            odd = "no number" if values[row] is None else "negative" if values[row] < 0 else "not finite"
            raise TableError(f"the weight in row {self._number(row)} of {self.name} is {series[row]!r}, which is {odd}")
        return values.to_numpy()

    def _queries(self, series: pl.Series) -> Any:
        if series.null_count():
            number = self._number(int(series.is_null().arg_true()[0]))
            raise TableError(f"row {number} of {self.name} has no query in column {series.name!r}")
        return query_numbers(series)

    def _number(self, row: int) -> Any:
        return self.before + row + 1 if self.left is None else self.left[row]


def _title(frame: pl.DataFrame, style: Style | None) -> str | None:
    return row_below_title(frame) if style is None else style.title


def query_values(series: pl.Series) -> pl.Series:
    """The queries as integers or words, which mean the same in every part of a table."""
    return series if series.dtype.is_integer() else series.cast(pl.String)


def query_numbers(series: pl.Series) -> Any:
    """The queries as integers: as they are, or words in the order in which they appear."""
    if series.dtype.is_integer():
        return series.to_numpy()
    _, first, query = np.unique(query_values(series).to_numpy(), return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[query]


def group_names(series: pl.Series) -> Any:
    """The groups as words, whole numbers without a decimal point; empty where a cell is."""
    whole = series.dtype.is_float() and (series.drop_nulls() == series.drop_nulls().floor()).all()
    return (series.cast(pl.Int64) if whole else series).cast(pl.String).fill_null("").to_numpy().astype(str)


def recognised(data: Data, reading: Reading) -> dict[str, Form] | None:
    """What the words of the features say, with a note about everything that is doubtful."""
    from hullrank.data.queries import QUERY_NAMES

    if data.sparse:
        return None
    usual = "." if data.style is None else data.style.decimal
    found = recognise(data.X, decimal=reading.decimal, dates=reading.dates, usual=usual, words=reading.words)
    for told in found.notes:
        note(in_command_terms(told))
    for name in data.X.columns:
        if data.qid is None and name.lower() in QUERY_NAMES:
            add = f"--qid {shlex.quote(name)}"
            note(f"column {name!r} is taken as a feature; if it says which query a row is for, add {add}")
    return found.forms


def target_values(y: Any) -> Any:
    """The target as an array of numbers (dates in days) or words."""
    if not isinstance(y, pl.Series):
        return y
    if y.dtype.is_temporal():
        return y.cast(pl.Datetime("us")).to_physical().to_numpy() / 86_400e6
    if y.dtype.is_numeric():
        return y.to_numpy()
    return np.array(y.cast(pl.String).to_list())


def coded(y: Any, grades: list[Any] | None, unknown: str = "is not in the declared order") -> Any:
    """A target in numbers: the places of its values in the list of all grades, or as it is where there is no list.

    ``unknown`` is what to say of a value that is not in the list.
    """
    if grades is None:
        return y
    place = {grade: code for code, grade in enumerate(grades)}
    for value in y.tolist():
        if value not in place:
            raise TableError(f"grade {value!r} {unknown}{did_you_mean(value, grades)}")
    return np.array([place[value] for value in y.tolist()])
