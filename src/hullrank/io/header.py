"""Where the names of the columns stand, if not in the first line: under a title, as people write above their tables."""

import csv
import io
import re
from collections import Counter

import polars as pl

from hullrank.io.numbers import read_numbers

SEPARATORS = ";\t|,"  # the comma last: where two fit alike, it may be a decimal comma
_LINES = 200  # lines that are looked at
_UNNAMED = re.compile(r"|_\d+|column_\d+|__UNNAMED__\d+")  # what columns without a name are called in spreadsheets


def first_rows(text: str, separator: str) -> tuple[list[list[str]], list[int]]:
    """The first rows of a CSV file, and the lines that they end in."""
    reader = csv.reader(io.StringIO(text), delimiter=separator)
    rows, lines = [], []
    for row in reader:
        rows.append(row)
        lines.append(reader.line_num)
        if len(rows) == _LINES:
            break
    return rows, lines


def line_below_title(text: str) -> str | None:
    """What to say of a CSV file whose header is not its first line; None if nothing speaks for that.

    A header has a name for every column, and the lines above it have at most half as many cells.
    """
    try:
        parsed = [first_rows(text, separator) for separator in SEPARATORS]
    except csv.Error:
        return None
    rows, lines = max(parsed, key=lambda found: _usual_width(found[0])[1])
    width, often = _usual_width(rows)
    place = next((i for i, row in enumerate(rows) if _is_header(row, width)), None)
    if not place or often < 3 or any(2 * sum(map(bool, map(str.strip, row))) > width for row in rows[:place]):
        return None
    return f"line {lines[place]} looks like the header; delete the lines above it"


def _usual_width(rows: list[list[str]]) -> tuple[int, int]:
    """How many cells rows of more than one have most often, and how often that is."""
    widths = Counter(len(row) for row in rows if len(row) > 1)
    return widths.most_common(1)[0] if widths else (0, 0)


def row_below_title(frame: pl.DataFrame) -> str | None:
    """The same of a spreadsheet, whose blank rows are gone already, so that rows have no numbers."""
    unnamed = [name for name in frame.columns if _UNNAMED.fullmatch(name)]
    if 2 * len(unnamed) < frame.width or frame.width < 2:
        return None
    cells = ([cell if isinstance(cell, str) else "" for cell in row] for row in frame.head(_LINES).iter_rows())
    row = next((row for row in cells if _is_header(row, frame.width)), None)
    if row is None:
        return None
    return f"the row that begins with {row[0]!r}, {row[1]!r} looks like the header; delete the rows above it"


def _is_header(row: list[str], width: int) -> bool:
    """Whether a row has a name for every column: words that differ, and no number."""
    names = {cell.strip() for cell in row}
    if not len(row) == len(names) == width > 1 or "" in names:
        return False
    return read_numbers(pl.Series([*names]), ".").count() == 0
