"""What an encoder must know of a column, gathered part by part, so that a table need not be in memory as a whole."""

from typing import Any

import numpy as np
import polars as pl

from hullrank.exceptions import TableError
from hullrank.io.forms import Form, read_cells

# A part of a column is remembered by so many of its quantiles, from which the median of all parts follows: of a column
# in parts the median is right up to a rank of one in 512, of a column in one part it is exact.
_QUANTILES = 257
_MOST_WORDS = 100_000  # different words of a column that are counted; beyond, the rarest are forgotten
_A_DAY = {"ms": 86_400e3, "us": 86_400e6, "ns": 86_400e9}


class Numbers:
    """Count, mean, variance and median of a column of numbers or dates (in days)."""

    def __init__(self, name: str, form: Form | None) -> None:
        self.name, self.form, self.dates = name, form, False
        self._rows = self._known = 0
        self._mean = self._squares = 0.0
        self._medians: list[float] = []
        self._quantiles: list[Any] = []

    def add(self, series: pl.Series) -> None:
        """Take in another part of the column; words are read as the form says."""
        if series.dtype == pl.String:
            if self.form is None:
                raise _both_kinds(self.name)
            series = read_cells(series, self.form)
        self.dates = self.dates or series.dtype.is_temporal()
        known = as_numbers(series).drop_nulls().to_numpy()
        self._rows += len(series)
        if not len(known):
            return
        mean, gone = float(known.mean()), self._known / (self._known + len(known))
        self._squares += float(((known - mean) ** 2).sum()) + gone * len(known) * (mean - self._mean) ** 2
        self._mean += (1 - gone) * (mean - self._mean)
        self._known += len(known)
        ranks = np.linspace(0, len(known) - 1, min(len(known), _QUANTILES)).round().astype(np.intp)
        self._medians.append(float(np.median(known)))
        self._quantiles.append((np.partition(known, ranks)[ranks], len(known) / len(ranks)))

    def skip(self, rows: int) -> None:
        """Take in rows that have no cell."""
        self._rows += rows

    def learned(self) -> dict[str, Any]:
        """How to encode the column: what missing cells get, then what is taken off and divided by."""
        if not self._known:
            return {"name": self.name, "kind": "left out"}
        fill, share = self._median(), self._known / self._rows
        mean = share * self._mean + (1 - share) * fill
        variance = self._squares / self._rows + share * (1 - share) * (fill - self._mean) ** 2
        scale = float(np.sqrt(variance))
        column = {"name": self.name, "kind": "number", "dates": self.dates}
        column |= {"fill": fill, "mean": mean, "scale": scale if scale else 1.0}
        return column if self.form is None else {**column, "form": self.form}

    def _median(self) -> float:
        if len(self._medians) == 1:
            return self._medians[0]
        values = np.concatenate([quantiles for quantiles, _ in self._quantiles])
        weights = np.concatenate([np.full(len(quantiles), weight) for quantiles, weight in self._quantiles])
        ordered = np.argsort(values)
        before = np.cumsum(weights[ordered])
        return float(values[ordered][np.searchsorted(before, before[-1] / 2)])


class Words:
    """The different words of a column with their counts; those that the form calls strays are missing."""

    def __init__(self, name: str, most: int, form: Form | None = None) -> None:
        self.name, self.form, self._most = name, form, most
        self._known = self._forgotten = 0
        self._counts = pl.DataFrame(schema={"word": pl.String, "count": pl.UInt32})

    def add(self, series: pl.Series) -> None:
        """Take in another part of the column."""
        if is_number(series.dtype):
            raise _both_kinds(self.name)
        known = as_words(series.drop_nulls())
        if self.form is not None:
            known = known.filter(~known.is_in(self.form["strays"]))
        self._known += len(known)
        both = pl.concat([self._counts, known.alias("word").value_counts()], how="vertical_relaxed")
        counts = both.group_by("word").sum().sort("count", "word", descending=[True, False])
        self._forgotten += max(0, len(counts) - _MOST_WORDS)
        self._counts = counts.head(_MOST_WORDS)

    def skip(self, rows: int) -> None:
        """Take in rows that have no cell: they are none of the words."""

    def learned(self) -> dict[str, Any]:
        """How to encode the column: the words that get a column of their own, most frequent first."""
        counts, different = self._counts, len(self._counts) + self._forgotten
        if not different or (different == self._known > 1):
            return {"name": self.name, "kind": "left out"}
        words = counts["word"].head(self._most).to_list()
        own = int(counts["count"].head(self._most).sum())
        others = {"n_others": different - len(words), "rows_of_others": self._known - own}
        column = {"name": self.name, "kind": "word", "words": words, **others}
        return column if self.form is None else {**column, "form": self.form}


def _both_kinds(name: str) -> TableError:
    return TableError(
        f"column {name!r} holds numbers in one part of the table and words in another; save it as one of them in all "
        "files, or leave it out"
    )


def is_number(dtype: pl.DataType) -> bool:
    """Whether cells of this type become one column of numbers."""
    return dtype.is_numeric() or dtype.is_temporal() or dtype == pl.Boolean


def as_numbers(series: pl.Series) -> pl.Series:
    """As floats (dates in days), with NaN missing; infinity is an error that names the row."""
    dtype = series.dtype
    if dtype.is_temporal():
        series = series.to_physical() / (1 if dtype == pl.Date else _A_DAY[getattr(dtype, "time_unit", "ns")])
    values = series.cast(pl.Float64).fill_nan(None)
    if values.is_infinite().any():
        row = int(values.is_infinite().fill_null(False).arg_true()[0])
        raise TableError(
            f"column {series.name!r} is infinite in row {row + 1}; write a number there, or leave the cell empty"
        )
    return values


def as_words(series: pl.Series) -> pl.Series:
    """As words; lists and objects are an error."""
    if series.dtype.is_nested():
        raise TableError(f"column {series.name!r} holds lists or objects; give every value a column of its own")
    return series.cast(pl.String)
