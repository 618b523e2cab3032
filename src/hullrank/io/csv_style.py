"""How a CSV file is written: separator and decimal sign, found out together from its first lines."""

import csv
import re
from dataclasses import dataclass

import polars as pl

from hullrank.exceptions import TableError
from hullrank.io.header import SEPARATORS, first_rows, line_below_title
from hullrank.io.numbers import decimal_evidence, has_leading_zeros, is_ambiguous, read_numbers, whole_numbers

_SAID = re.compile(r"sep=(.)\r?\n", re.IGNORECASE)  # the line by which Excel announces the separator
_COMMA_IN_NUMBER = re.compile(rb"\d,\d")
_QUOTED_COMMA_IN_NUMBER = re.compile(rb'"[^"\n]{0,40}\d,\d[^"\n]{0,40}"')
_POINT_OF_THOUSANDS = re.compile(rb"\d\.\d{3}(?!\d)")
_WORDS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}


@dataclass(frozen=True)
class Style:
    """Separator, decimal sign, the number of lines before the header, and the encoding if it is not UTF-8.

    ``marked`` says whether the file begins with a byte order mark; ``cells`` are the words that stand in the file,
    whatever they mean, for whoever asked for them; ``title`` is what to say where the first line is no header.
    """

    separator: str = ","
    decimal: str = "."
    skip: int = 0
    encoding: str | None = None
    marked: bool = False
    title: str | None = None
    cells: pl.DataFrame | None = None

    def __str__(self) -> str:
        sign = "a decimal comma" if self.decimal == "," else "a decimal point"
        return f"separated by {_WORDS.get(self.separator, repr(self.separator))}, with {sign}"


def header_of(head: bytes, name: str) -> tuple[list[str], Style]:
    """The names of the columns, and the style with the separator for which the first lines have most alike fields."""
    text = head.decode("utf-8-sig", errors="replace")
    said = _SAID.match(text)
    if said:
        text = text[said.end() :]
    candidates = said[1] if said else SEPARATORS
    try:
        rows = {sign: first_rows(text, sign)[0] for sign in candidates}
    except csv.Error as error:
        raise TableError(f"the header of {name} cannot be read: {error}") from error
    separator = max(candidates, key=lambda sign: _fitness(rows[sign]))
    header = [cell.strip() for cell in rows[separator][0]] if rows[separator] else []
    if not any(header):
        hint = line_below_title(text) or "delete it"
        raise TableError(f"the first line of {name} is blank, where the names of the columns should stand; {hint}")
    return header, Style(separator, skip=int(said is not None), title=None if said else line_below_title(text))


def _fitness(rows: list[list[str]]) -> tuple[bool, float, int]:
    """More than one column; the share of rows that are as long as the header; the number of columns."""
    if not rows:
        return False, 0.0, 0
    width = len(rows[0])
    body = [row for row in rows[1:-1] or rows[1:] if row]  # the last line may be cut
    alike = sum(len(row) == width for row in body) / len(body) if body else 1.0
    return width > 1, round(alike, 2), width


def is_doubtful(head: bytes, separator: str) -> bool:
    """Whether the first bytes of a file show that its decimal sign may be a comma.

    That is a comma between digits that does not separate cells or, where semicolons separate them, a point before
    three digits.
    """
    if (_QUOTED_COMMA_IN_NUMBER if separator == "," else _COMMA_IN_NUMBER).search(head):
        return True
    return separator == ";" and _POINT_OF_THOUSANDS.search(head) is not None


def sniff_decimal(cells: pl.DataFrame, separator: str, usual: str | None) -> str:
    """The decimal sign of a table of words: that of the cells which can be read in one way only, else the usual one.

    Semicolons between numbers that can be read in two ways speak for decimal commas: programs only write semicolons
    where the comma is taken.
    """
    evidence = [decimal_evidence(column) for column in cells]
    point, comma = (sum(found) for found in zip(*evidence, strict=True))
    if point != comma:
        return "." if point > comma else ","
    return usual or ("," if separator == ";" and any(is_ambiguous(column) for column in cells) else ".")


def typed(words: pl.DataFrame, decimal: str) -> pl.DataFrame:
    """Columns of words in which every cell is a number, as numbers; any other column as it is."""
    return words.select([_typed(words[name], decimal) for name in words.columns])


def _typed(cells: pl.Series, decimal: str) -> pl.Series:
    if cells.str.contains(r"[^\d.,'’_eE+\-\s]").any():  # percent and currencies are recognised later, with a note
        return cells
    if has_leading_zeros(cells):
        return cells
    if cells.str.contains(r"[.'’_\s]").any():  # thousands are apart
        values = read_numbers(cells, decimal)
    else:
        values = cells.str.replace(",", ".", literal=True).cast(pl.Float64, strict=False)
    return cells if values.null_count() > cells.null_count() else whole_numbers(cells, values)
