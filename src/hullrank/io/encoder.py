"""From a table of numbers and words to a matrix of numbers, the same way at fitting and at prediction time."""

import warnings
from numbers import Integral
from typing import Any, ClassVar, Self

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from hullrank._sklearn import Interval
from hullrank.exceptions import TableError, TableWarning
from hullrank.io.forms import MOST_STRAYS, Form, few, read_cells, recognise, strays
from hullrank.io.numbers import decimal_evidence

Column = dict[str, Any]
_A_DAY = {"ms": 86_400e3, "us": 86_400e6, "ns": 86_400e9}


class TableEncoder(TransformerMixin, BaseEstimator):
    """Numbers imputed by the median and standardised, words one-hot encoded.

    Numbers, booleans and dates (in days) become one column each, (value or median - mean) / standard deviation, or,
    where ``standardise`` is False, as they are. Words that say numbers or dates (``1.234,50 €``, ``12%``,
    ``31.12.2024``; see `hullrank.io.recognise`) are read as such, and a few other words among them are missing, with a
    TableWarning. Any other words become one 0/1 column per category; a missing or new word is none of them. Columns
    without any value, and words that differ in every row (identifiers), are left out.

    Parameters
    ----------
    max_categories : int, default=50
        Only the most frequent words of a column get a column of their own.
    forms : dict, default=None
        What the words of a column say, by name, as `hullrank.io.recognise` found it; columns without a form are words.
        If None, it is found out in `fit`.
    standardise : bool, default=True
        Whether numbers are centred and divided by their standard deviation; a scoring system needs them as they are.

    Attributes
    ----------
    columns_ : list of dict
        For every column its name, kind ("number", "word" or "left out") and what is needed to encode it, among it the
        form of numbers and dates that were read from words.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Examples
    --------
    >>> import polars as pl
    >>> from hullrank.io import TableEncoder
    >>> frame = pl.DataFrame({"size": [1.0, 3.0, None], "colour": ["red", "blue", "red"]})
    >>> TableEncoder().fit(frame).get_feature_names_out().tolist()
    ['size', 'colour=red', 'colour=blue']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "max_categories": [Interval(Integral, 1, None, closed="left")],
        "forms": [dict, None],
        "standardise": ["boolean"],
    }

    def __init__(
        self, *, max_categories: int = 50, forms: dict[str, Form] | None = None, standardise: bool = True
    ) -> None:
        self.max_categories = max_categories
        self.forms = forms
        self.standardise = standardise

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn medians, scales and categories from a data frame."""
        self._validate_params()
        frame = _frame(X)
        forms = self.forms
        if forms is None:
            found = recognise(frame)
            forms = found.forms
            for told in found.notes:
                warnings.warn(told, TableWarning, stacklevel=2)
        columns = [self._learn(frame[name], forms.get(name)) for name in frame.columns]
        if all(column["kind"] == "left out" for column in columns):
            raise TableError("no column is left to learn from; every one is empty or an identifier")
        self.columns_ = columns
        self.feature_names_in_ = np.array(frame.columns, dtype=object)
        self.n_features_in_ = len(columns)
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """The matrix of a data frame; extra columns are ignored, missing ones are an error that names them."""
        check_is_fitted(self)
        frame = _frame(X)
        missing = [c["name"] for c in self.columns_ if c["kind"] != "left out" and c["name"] not in frame.columns]
        if missing:
            names = ", ".join(map(repr, missing[:5])) + (f" and {len(missing) - 5} more" if len(missing) > 5 else "")
            raise TableError(f"the table lacks columns that the model was fitted on: {names}")
        parts = [part for column in self.columns_ for part in _encode(column, frame)]
        return np.ascontiguousarray(frame.select(parts).to_numpy())

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the columns of the matrix: the column itself, or ``column=word``."""
        check_is_fitted(self)
        names: list[str] = []
        for column in self.columns_:
            if column["kind"] == "number":
                names.append(column["name"])
            elif column["kind"] == "word":
                names += [f"{column['name']}={word}" for word in column["words"]]
        return np.array(names, dtype=object)

    def _learn(self, series: pl.Series, form: Form | None) -> Column:
        name, known = series.name, series.drop_nulls()
        if form is not None and series.dtype == pl.String:
            series = read_cells(series, form)
        if _is_number(series.dtype):
            column = _learn_numbers(series.alias(name), self.standardise)
            return {**column, "form": form} if form is not None and column["kind"] == "number" else column
        counts = _words(known).alias("word").value_counts().sort("count", "word", descending=[True, False])
        if not len(counts) or (len(counts) == len(known) > self.max_categories):
            return {"name": name, "kind": "left out"}
        words = counts["word"].head(self.max_categories).to_list()
        others = {"n_others": len(counts) - len(words), "rows_of_others": int(counts["count"][len(words) :].sum())}
        return {"name": name, "kind": "word", "words": words, **others}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = tags.input_tags.categorical = tags.input_tags.allow_nan = True
        return tags


def _frame(X: Any) -> pl.DataFrame:
    frame = nw.from_native(X, pass_through=True, eager_only=True)
    if not isinstance(frame, nw.DataFrame):
        raise TableError(f"a table with named columns is needed, and this is a {type(X).__name__}")
    return frame.to_polars()


def _is_number(dtype: pl.DataType) -> bool:
    return dtype.is_numeric() or dtype.is_temporal() or dtype == pl.Boolean


def _numbers(series: pl.Series) -> pl.Series:
    """As floats (dates in days), with NaN missing; infinity is an error that names the row."""
    dtype = series.dtype
    if dtype.is_temporal():
        series = series.to_physical() / (1 if dtype == pl.Date else _A_DAY[getattr(dtype, "time_unit", "ns")])
    values = series.cast(pl.Float64).fill_nan(None)
    if values.is_infinite().any():
        row = int(values.is_infinite().fill_null(False).arg_true()[0])
        raise TableError(f"column {series.name!r} is infinite in row {row + 1}")
    return values


def _learn_numbers(series: pl.Series, standardise: bool) -> Column:
    values = _numbers(series).drop_nulls()
    if not len(values):
        return {"name": series.name, "kind": "left out"}
    filled = _numbers(series).fill_null(values.median())
    scale = filled.std(ddof=0) if standardise else 1.0
    return {
        "name": series.name,
        "kind": "number",
        "dates": series.dtype.is_temporal(),
        "fill": float(values.median()),  # type: ignore[arg-type]
        "mean": float(filled.mean()) if standardise else 0.0,  # type: ignore[arg-type]
        "scale": float(scale) if scale else 1.0,  # type: ignore[arg-type]
    }


def _words(series: pl.Series) -> pl.Series:
    if series.dtype.is_nested():
        raise TableError(f"column {series.name!r} holds lists or objects; give every value a column of its own")
    return series.cast(pl.String)


def _encode(column: Column, frame: pl.DataFrame) -> list[pl.Series]:
    if column["kind"] == "left out":
        return []
    name = column["name"]
    series = frame[name]
    if column["kind"] == "number":
        if not _is_number(series.dtype) and series.dtype != pl.Null:
            series = _read_again(column, _words(series)).alias(name)
        return [(_numbers(series).fill_null(column["fill"]) - column["mean"]) / column["scale"]]
    words = _words(series)
    return [(words == word).fill_null(False).cast(pl.Float64).alias(f"{name}={word}") for word in column["words"]]


def _read_again(column: Column, words: pl.Series) -> pl.Series:
    """Words as the numbers or dates that the column was when the model was fitted; a few strays are missing."""
    dates = column.get("dates", False)
    form = column.get("form") or {"kind": "date" if dates else "number", "decimal": ".", "dates": "dmy", "strays": []}
    values = read_cells(words, _with_sign_of(words, form))
    odd = strays(words.filter(~words.is_in(form["strays"])), values.filter(~words.is_in(form["strays"])))
    cells = int(words.is_in(odd.to_list()).sum())
    if not cells:
        return values
    what, name = "dates" if dates else "numbers", column["name"]
    if cells > MOST_STRAYS * (len(words) - words.null_count()):
        raise TableError(f"column {name!r} was {what} when the model was fitted, and now holds {odd[0]!r}")
    warnings.warn(f"column {name!r}: {few(odd.to_list())} taken as missing among {what}", TableWarning, stacklevel=2)
    return values


def _with_sign_of(words: pl.Series, form: Form) -> Form:
    """The form with the decimal sign that these words tell, if they do: new tables may come from another country."""
    if form["kind"] != "number":
        return form
    point, comma = decimal_evidence(words)
    return form if point == comma else {**form, "decimal": "." if point > comma else ","}
