"""From a table of numbers and words to a matrix of numbers, the same way at fitting and at prediction time."""

import warnings
from collections import Counter
from collections.abc import Iterable
from numbers import Integral
from typing import Any, ClassVar, Self

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
from narwhals.exceptions import DuplicateError
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from hullrank._sklearn import Interval
from hullrank.exceptions import TableError, TableWarning
from hullrank.io.forms import MOST_STRAYS, Form, few, read_cells, recognise, strays
from hullrank.io.meant import nearest
from hullrank.io.numbers import decimal_evidence
from hullrank.io.summaries import Numbers, Words, as_numbers, as_words, is_number

Column = dict[str, Any]


class TableEncoder(TransformerMixin, BaseEstimator):
    """Numbers imputed by the median and standardised, words one-hot encoded.

    Numbers, booleans and dates (in days) become one column each, (value or median - mean) / standard deviation, or,
    where ``standardise`` is False, as they are. Words that say numbers or dates (``1.234,50 €``, ``12%``,
    ``31.12.2024``; see `hullrank.io.recognise`) are read as such, and a few other words among them are missing, with a
    TableWarning. Any other words become one 0/1 column per category; a missing or new word is none of them, and words
    such as ``unknown`` or ``k.A.`` are missing, with a TableWarning too. Columns without any value, and words that
    differ in every row (identifiers), are left out.

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
        form of words that were read as numbers or dates, or of which some are missing.
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
        return self.fit_blocks([X])

    def fit_blocks(self, frames: Iterable[Any]) -> Self:
        """Learn the same from a table in parts, one after another, of which only one need be in memory.

        What words say is found out from the first part, and whether a column is one of words or of numbers from its
        first cell. The median of a number is that of 257 quantiles of each part, and of more than 100,000 different
        words in a column the rarest are not counted.
        """
        self._validate_params()
        forms = self.forms
        columns: dict[str, Numbers | Words | None] = {}  # None: every cell so far is missing
        missing = Counter[str]()  # rows before the first cell of a column
        for frame in map(_frame, frames):
            if not columns:
                forms = _told(frame) if forms is None else forms
                columns = dict.fromkeys(frame.columns)
            for name, column in columns.items():
                series, rows = frame[name], len(frame)
                if series.null_count() < rows:
                    column = columns[name] = column or self._summary(series, (forms or {}).get(name), missing[name])
                    column.add(series)
                elif column is None:
                    missing[name] += rows
                else:
                    column.skip(rows)
        if not columns:
            raise TableError("the table has no rows")
        left_out = {"kind": "left out"}
        learned = [c.learned() if c is not None else {"name": name, **left_out} for name, c in columns.items()]
        if all(column["kind"] == "left out" for column in learned):
            raise TableError("no column is left to learn from; every one is empty or an identifier")
        if not self.standardise:
            as_given = {"mean": 0.0, "scale": 1.0}
            learned = [{**column, **as_given} if column["kind"] == "number" else column for column in learned]
        self.columns_ = learned
        self.feature_names_in_ = np.array([column["name"] for column in learned], dtype=object)
        self.n_features_in_ = len(learned)
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """The matrix of a data frame; extra columns are ignored, missing ones are an error that names them."""
        check_is_fitted(self)
        frame = _frame(X)
        missing = [c["name"] for c in self.columns_ if c["kind"] != "left out" and c["name"] not in frame.columns]
        if missing:
            raise TableError(_lacks(missing, [name for name in frame.columns if name not in self.feature_names_in_]))
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

    def _summary(self, series: pl.Series, form: Form | None, missing: int) -> Numbers | Words:
        """What gathers the cells of a column, of which this is the first part with any after ``missing`` rows."""
        form = form if series.dtype == pl.String else None
        numbers = is_number(series.dtype) if form is None else form["kind"] != "word"
        column = Numbers(series.name, form) if numbers else Words(series.name, self.max_categories, form)
        column.skip(missing)
        return column

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = tags.input_tags.categorical = tags.input_tags.allow_nan = True
        return tags


def _told(frame: pl.DataFrame) -> dict[str, Form]:
    """What the words of a table say, with a warning about what is doubtful."""
    found = recognise(frame)
    for told in found.notes:
        warnings.warn(told, TableWarning, stacklevel=4)
    return found.forms


def _frame(X: Any) -> pl.DataFrame:
    try:
        frame = nw.from_native(X, pass_through=True, eager_only=True)
    except DuplicateError as error:
        names = list(X.columns)
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise TableError(f"the table has two columns named {twice!r}; rename one of them") from error
    if not isinstance(frame, nw.DataFrame):
        raise TableError(f"a table with named columns is needed, and this is a {type(X).__name__}")
    return frame.to_polars()


def _lacks(missing: list[str], others: list[str]) -> str:
    """What to say of columns that are missing: their names, and those of the others that may be the same."""
    meant = dict.fromkeys(repr(other) for name in missing[:5] if (other := nearest(name, others)) is not None)
    hint = f"; did you mean {', '.join(meant)}?" if meant else ""
    return f"the table lacks columns that the model was fitted on: {few(missing, 5)}{hint}"


def _encode(column: Column, frame: pl.DataFrame) -> list[pl.Series]:
    if column["kind"] == "left out":
        return []
    name = column["name"]
    series = frame[name]
    if column["kind"] == "number":
        if not is_number(series.dtype) and series.dtype != pl.Null:
            series = _read_again(column, as_words(series)).alias(name)
        return [(as_numbers(series).fill_null(column["fill"]) - column["mean"]) / column["scale"]]
    words = as_words(series)
    return [(words == word).fill_null(False).cast(pl.Float64).alias(f"{name}={word}") for word in column["words"]]


def _read_again(column: Column, words: pl.Series) -> pl.Series:
    """Words as the numbers or dates that the column was when the model was fitted; a few strays are missing."""
    dates = column.get("dates", False)
    form = column.get("form") or {"kind": "date" if dates else "number", "decimal": ".", "dates": "dmy", "strays": []}
    values = read_cells(words, _with_sign_of(words, form))
    new = ~words.is_in(form["strays"])
    odd = strays(words.filter(new), values.filter(new))
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
