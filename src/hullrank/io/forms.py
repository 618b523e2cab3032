"""What the words of a column say: numbers, dates, or words after all; decided once, when a model is fitted.

A form is a plain dictionary, so that model files carry it: ``{"kind": "number", "decimal": ",", "strays": ["?"]}``,
``{"kind": "date", "dates": "dmy", "strays": []}``, or ``{"kind": "word", "strays": ["k.A."]}`` for words of which some
say that something is missing. Strays are the words that are taken as missing.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import polars as pl

from hullrank import exceptions
from hullrank.io.dates import ORDERS, read_dates
from hullrank.io.numbers import (
    currencies,
    decimal_evidence,
    has_leading_zeros,
    is_ambiguous,
    mixes_percent,
    read_numbers,
)

Form = dict[str, Any]

# Words that say that something is missing, in small letters; among numbers and dates they are never counted as strays.
MARKERS = frozenset({
    "#", "#div/0!", "#n/a", "#na", "#name?", "#null!", "#num!", "#ref!", "#value!", "*", "-", "--", "---", "-inf",
    ".", "..", "...", "?", "brak", "desconhecido", "desconocido", "entfällt", "fehlt", "geen", "inconnu", "inconnue",
    "inf", "k. a.", "k.a.", "keine", "keine angabe", "missing", "n. a.", "n.a", "n.a.", "n.c.", "n.d.", "n/a", "n/d",
    "na", "nan", "nc", "nd", "nil", "ninguno", "no data", "none", "not applicable", "not available", "not known",
    "null", "okänd", "onbekend", "s/d", "sconosciuto", "sin datos", "tba", "tbd", "unbekannt", "undefined", "unk.",
    "unknown", "void", "x",
})  # fmt: skip
# Those of them that may say something among other words: what someone has none of, a cross, a state, sodium.
HONEST = frozenset({
    "*", "-inf", "brak", "entfällt", "fehlt", "geen", "inf", "keine", "na", "nc", "nd", "nil", "ninguno", "none",
    "not applicable", "void", "x",
})  # fmt: skip
# Up to this share of the cells may be strays; with more of them the column is words.
MOST_STRAYS = 0.1
_FEW = 3
_MEASURED = r"^\s*(?<sign>[~≈<>≤≥=]*)\s*[-+]?\d[\d.,]*\s*(?<unit>(?:\p{L}{1,12}\.?)?)\s*$"
_LOOKED_AT = 1000  # the most frequent words, among which some must say a number or a date


@dataclass(frozen=True)
class Recognised:
    """The form of every column that is not plain words, and what a person should be told about the columns."""

    forms: dict[str, Form] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def recognise(
    frame: pl.DataFrame,
    *,
    decimal: str | None = None,
    dates: str | None = None,
    usual: str = ".",
    words: Iterable[str] = (),
) -> Recognised:
    """Find out what the words in the columns of a table say.

    Parameters
    ----------
    frame : polars.DataFrame
    decimal : {".", ","}, default=None
        The decimal sign; if None, that of the cells which can only be read in one way, of this column or else of all.
    dates : {"dmy", "mdy", "ymd"} or a format such as "%d|%m|%Y", default=None
        How dates are written; if None, the order of day and month in which most cells are dates.
    usual : {".", ","}, default="."
        The decimal sign where no cell tells.
    words : iterable of names, default=()
        Columns that are words, whatever they look like.

    Returns
    -------
    found : Recognised
        The form of every column (``forms``), and what is doubtful.

    Examples
    --------
    >>> import polars as pl
    >>> from hullrank.io import recognise
    >>> recognise(pl.DataFrame({"turnover": ["1.200,50 €", "30,00 €"]})).forms["turnover"]
    {'kind': 'number', 'decimal': ',', 'strays': []}
    """
    kept = set(words)
    columns = [
        _Counted(frame[name], dates) for name in frame.columns if frame[name].dtype == pl.String and name not in kept
    ]
    table_decimal = decimal or _agreed(column.decimal for column in columns) or None
    table_dates = dates or _agreed(column.dates for column in columns) or None
    found = Recognised()
    for column in columns:
        sign = decimal or column.decimal or table_decimal or usual
        order = dates or column.dates or table_dates or "dmy"
        form = column.form(sign, order)
        found.notes.extend(column.notes(form, sure_sign=bool(table_decimal), sure_dates=bool(table_dates)))
        if form is None or form["kind"] == "word":
            form = column.words_form()
            found.notes.extend(column.notes_of_words(form))
        if form is not None:
            found.forms[column.name] = form
    if dates is not None and "%" in dates and not any(form["kind"] == "date" for form in found.forms.values()):
        found.notes.append(f"no column has dates of the form {dates!r}")
    return found


def is_form(value: Any) -> bool:
    """Whether a value, of a file perhaps, is a form; `read_cells` works with those that are no words."""
    if not isinstance(value, dict) or not isinstance(value.get("strays"), list):
        return False
    if value.get("kind") == "word":
        return True
    if value.get("kind") == "number":
        return value.get("decimal") in (".", ",")
    dates = value.get("dates")
    return value.get("kind") == "date" and isinstance(dates, str) and (dates in ORDERS or "%" in dates)


def read_cells(cells: pl.Series, form: Form) -> pl.Series:
    """The numbers or dates that words say under a form; missing where they say none."""
    return read_dates(cells, form["dates"]) if form["kind"] == "date" else read_numbers(cells, form["decimal"])


def marked(cells: pl.Series) -> pl.Series:
    """Which of the words say that something is missing, whatever their case."""
    return cells.str.strip_chars().str.to_lowercase().is_in(MARKERS)


def strays(cells: pl.Series, values: pl.Series) -> pl.Series:
    """The different cells that are not missing and yet say nothing, most frequent first, without the MARKERS."""
    odd = cells.filter(values.is_null() & cells.is_not_null())
    odd = odd.filter(~marked(odd))
    return odd.alias("word").value_counts().sort("count", "word", descending=[True, False])["word"]


def _agreed(values: Iterable[str | None]) -> str | None:
    """What all that have an opinion agree on."""
    opinions = {value for value in values if value}
    return opinions.pop() if len(opinions) == 1 else None


class _Counted:
    """The different words of a column with their counts, and what they can be."""

    def __init__(self, series: pl.Series, dates: str | None) -> None:
        counts = series.drop_nulls().alias("word").value_counts().sort("count", "word", descending=[True, False])
        self.name, self.words, self.counts = series.name, counts["word"], counts["count"]
        self.total = int(self.counts.sum())
        self.marked = int(self.counts.filter(marked(self.words)).sum())
        self.decimal: str | None = None
        self.dates: str | None = None
        self.plain = not _says_something(self.words.head(_LOOKED_AT), dates or "mdy")
        if self.plain:
            return
        point, comma = decimal_evidence(self.words)
        sign = "." if point > comma else ","
        if point != comma and self._are_most(self._read(read_numbers(self.words, sign))):
            self.decimal = sign
        first, second = (self._read(read_dates(self.words, order)) for order in ("dmy", "mdy"))
        if first != second and self._are_most(max(first, second)):
            self.dates = "dmy" if first > second else "mdy"

    def _read(self, values: pl.Series) -> int:
        """How many cells say something."""
        return int(self.counts.filter(values.is_not_null()).sum())

    def _are_most(self, cells: int) -> bool:
        """Whether so many cells are at least half of those that are not marked as missing."""
        return cells > 0 and 2 * cells >= self.total - self.marked

    def form(self, decimal: str, dates: str) -> Form | None:
        """The form, None for words that look like nothing else; kind "word" for those that nearly are something."""
        if self.plain:
            return None
        candidates: list[Form] = [{"kind": "number", "decimal": decimal}, {"kind": "date", "dates": dates}]
        values = [read_cells(self.words, form) for form in candidates]
        read = [self._read(each) for each in values]
        best = int(read[1] > read[0])
        if not self._are_most(read[best]):
            return None
        odd = self.words.filter(values[best].is_null()).to_list()
        if self.total - self.marked - read[best] > MOST_STRAYS * self.total:
            return {"kind": "word", "nearly": candidates[best]["kind"], "strays": odd}
        return {**candidates[best], "strays": odd}

    def notes(self, form: Form | None, *, sure_sign: bool, sure_dates: bool) -> list[str]:
        """What a person should know about how the column is read."""
        name = f"column {self.name!r}"
        if form is None:
            return self._measured(name)
        shown = few(form["strays"])
        kind = "dates" if "date" in (form["kind"], form.get("nearly")) else "numbers"
        if form["kind"] == "word":
            return [f"{name} looks like {kind}, but too many cells are none ({shown}); it is taken as words"]
        told = [f"{name}: {self._cells(form['strays'], kind)} ({shown}) and taken as missing"] if form["strays"] else []
        if form["kind"] == "date":
            if not sure_dates and not self.dates and self._either_way():
                told.append(f"{name}: day or month first cannot be told; taken as day first (dates='mdy' if not)")
            return told
        if not sure_sign and is_ambiguous(self.words):
            what, other = ("thousands", ",") if form["decimal"] == "." else ("decimals", ".")
            told.append(f"{name}: commas taken as signs of {what} (decimal={other!r} if not)")
        if has_leading_zeros(self.words) and self._are_long_and_alike():
            told.append(f"{name} has leading zeros and is taken as numbers (words=[{self.name!r}] if they are codes)")
        if len(found := currencies(self.words)) > 1:
            told.append(f"{name} mixes currencies ({few(found)}); their numbers are compared as they are")
        if mixes_percent(self.words.filter(read_cells(self.words, form).is_not_null())):
            told.append(f"{name} mixes percent and plain numbers; 12% is taken as 0.12")
        return told

    def words_form(self) -> Form | None:
        """The form of words of which some say that something is missing; None where none do, or nothing else is said.

        A minus beside a plus is a sign, and no mark of what is missing.
        """
        folded = self.words.str.strip_chars().str.to_lowercase()
        honest = [*HONEST, "-"] if (folded == "+").any() else [*HONEST]
        marks = self.words.filter(marked(self.words) & ~folded.is_in(honest))
        return {"kind": "word", "strays": marks.to_list()} if 0 < len(marks) < len(self.words) else None

    def notes_of_words(self, form: Form | None) -> list[str]:
        """What a person should know about the words that are taken as missing."""
        if form is None:
            return []
        cells = int(self.counts.filter(self.words.is_in(form["strays"])).sum())
        taken = "1 cell is" if cells == 1 else f"{cells:,} cells are"
        shown = few(form["strays"])
        return [f"column {self.name!r}: {taken} taken as missing: {shown} (words=[{self.name!r}] if words like others)"]

    def _are_long_and_alike(self) -> bool:
        """Whether all words have one length, longer than that of a padded month or number of a row."""
        lengths = self.words.str.len_chars().unique()
        return len(lengths) == 1 and lengths[0] > _FEW

    def _cells(self, words: list[str], kind: str) -> str:
        cells = int(self.counts.filter(self.words.is_in(words)).sum())
        return f"1 cell is no {kind.removesuffix('s')}" if cells == 1 else f"{cells:,} cells are no {kind}"

    def _measured(self, name: str) -> list[str]:
        """Durations, and numbers with a few different units or signs beside them, such as 12 kg, 5k and ~7."""
        shown, most = few(self.words.to_list()), (1 - MOST_STRAYS) * max(self.total, 1)
        if int(self.counts.filter(self.words.str.contains(r"^\s*\d+:\d{2}(:\d{2})?\s*$")).sum()) >= most:
            return [f"{name} is taken as words ({shown}); write durations as numbers, of hours for instance"]
        beside = self.words.str.extract_groups(_MEASURED).struct.unnest()
        measured = ((beside["sign"] != "") | (beside["unit"] != "")).fill_null(False)
        if int(self.counts.filter(measured).sum()) < most or beside["unit"].n_unique() > _FEW:
            return []
        return [f"{name} is taken as words ({shown}); leave out the unit or sign to have it as numbers"]

    def _either_way(self) -> bool:
        """Whether some cell is another day when the month comes first."""
        slashed = self.words.filter(self.words.str.contains(r"^\s*\d+[-/]"))
        return not read_dates(slashed, "dmy").equals(read_dates(slashed, "mdy"), null_equal=True)


def _says_something(words: pl.Series, dates: str) -> bool:
    """Whether any of the words is a number or a date."""
    numbers = (read_numbers(words, sign) for sign in (".", ","))
    days = (read_dates(words, order) for order in ("dmy", dates))
    return any(values.null_count() < len(values) for values in chain(numbers, days))


def few(words: list[Any], most: int = _FEW) -> str:
    """The first words, quoted, for a message."""
    return exceptions.few(words, most)
