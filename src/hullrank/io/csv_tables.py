"""CSV files as tables: numbers in the decimal sign of the file, ragged rows and doubtful names refused."""

import csv
import io
import re
from codecs import BOM_UTF8
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import polars as pl

from hullrank.exceptions import TableError
from hullrank.io.content import INFER, MISSING, REFUSALS, Content, reason
from hullrank.io.csv_style import Style, header_of, is_doubtful, sniff_decimal, typed
from hullrank.io.encodings import WINDOWS, as_utf8, converted
from hullrank.io.numbers import has_leading_zeros

_SNIFFED = 2_000  # rows from which the decimal sign is guessed
_LEADING_ZERO = re.compile(rb"(?:^|[\s,;|\"])0\d")
_TOO_LONG = re.compile(r"could not parse `-?\d+` as dtype `i64` at column '(.*)' \(column number")


class _NotUtf8Error(TableError):
    pass


def read_csv(
    content: Content, decimal: str | None, usual: str | None, *, verbatim: bool = False
) -> tuple[pl.DataFrame, Style]:
    """The table and its style, with the cells as they are written if ``verbatim``.

    ``decimal`` is its decimal sign, ``usual`` the sign where no cell tells.
    """
    content, encoding = as_utf8(content)
    content = _with_line_feeds(content)
    try:
        frame, style = _read(content, decimal, usual, verbatim)
    except _NotUtf8Error:  # somewhere behind the first bytes
        encoding = WINDOWS
        frame, style = _read(converted(content, encoding), decimal, usual, verbatim)
    return frame, replace(style, encoding=encoding, marked=content.head.startswith(BOM_UTF8))


def _with_line_feeds(content: Content) -> Content:
    """The content with lines that end as elsewhere, if they end as on old Macintoshes."""
    if b"\r" not in content.head or b"\n" in content.head:
        return content
    with content.stream() as stream:
        return Content(stream.read().replace(b"\r", b"\n"), content.name)


def _read(content: Content, decimal: str | None, usual: str | None, verbatim: bool) -> tuple[pl.DataFrame, Style]:
    """The same of text in UTF-8."""
    content.check_text()
    header, style = header_of(content.head, content.name)
    twice = next((column for i, column in enumerate(header) if column and column in header[:i]), None)
    if twice is not None:
        raise TableError(f"{content.name} has two columns named {twice!r}; rename one of them")
    if decimal is None:
        decimal = "."
        if usual == "," or is_doubtful(content.head, style.separator):
            first = _parsed(content, style, types=False, rows=_SNIFFED)
            decimal = sniff_decimal(first, style.separator, usual)
    style = replace(style, decimal=decimal)
    frame = _parsed(content, style, types=decimal == ".", words=_codes(content, style))
    cells = _parsed(content, style, types=False, missing=()) if verbatim else None
    if frame.width and frame.height and frame[:, -1].null_count():
        ragged = _ragged(content, style, frame.width)
        if ragged:  # Polars fills short rows with missing cells; a row that was cut should not pass as one
            raise TableError(ragged)
        kept = ~frame.select(pl.all_horizontal(pl.all().is_null())).to_series()
        frame, cells = frame.filter(kept), None if cells is None else cells.filter(kept)
    names = [pl.col(column).alias(name) for column, name in _names(frame, header).items()]
    frame, style = frame.select(names), replace(style, cells=None if cells is None else cells.select(names))
    return (frame if decimal == "." else typed(frame, decimal)), style


def _codes(content: Content, style: Style) -> list[str]:
    """Columns with leading zeros, as article numbers have them: as words they keep them, and still say numbers."""
    if not _LEADING_ZERO.search(content.head):
        return []
    first = _parsed(content, style, types=False, rows=_SNIFFED)
    return [column.name for column in first if has_leading_zeros(column)]


def _parsed(
    content: Content,
    style: Style,
    *,
    types: bool,
    rows: int | None = None,
    words: Iterable[str] = (),
    missing: Iterable[str] = MISSING,
) -> pl.DataFrame:
    """The cells of the first ``rows`` or all rows, as words or (``types``) as what Polars takes them for.

    Columns of ``words`` are words in any case, and so are whole numbers that have too many digits for 64 bits.
    """
    options: dict[str, Any] = {"separator": style.separator, "skip_lines": style.skip, "n_rows": rows}
    options["schema_overrides"] = dict.fromkeys(words, pl.String)
    for looked_at in (INFER, None):
        try:
            return pl.read_csv(
                content.source,
                null_values=list(missing),
                infer_schema=types,
                infer_schema_length=looked_at,
                glob=False,
                **options,
            ).with_columns(pl.selectors.by_dtype(pl.Int128).cast(pl.String))
        except REFUSALS as error:
            too_long = _TOO_LONG.match(str(error))
            if too_long and looked_at is None:  # Polars of 2025 has whole numbers of 64 bits at most
                return _parsed(content, style, types=types, rows=rows, words=[*words, too_long[1]])
            if looked_at is None or not str(error).startswith("could not parse"):
                if "utf-8" in reason(error).lower():
                    raise _NotUtf8Error(f"{content.name} is not UTF-8 text") from error
                ragged = _ragged(content, style, len(header_of(content.head, content.name)[0]))
                raise (TableError(ragged) if ragged else content.unreadable("CSV", error)) from error
    raise AssertionError


def _names(frame: pl.DataFrame, header: list[str]) -> dict[str, str]:
    """The names of the header for the columns; those without one have their number, or are left out if empty."""
    if len(header) != frame.width:
        return {column: column for column in frame.columns}
    names = {}
    for number, (name, column) in enumerate(zip(header, frame, strict=True), 1):
        if name:
            names[column.name] = name
        elif column.null_count() < len(column):
            label = f"column {number}"
            while label in header:
                label += "_"
            names[column.name] = label
    return names


def _ragged(content: Content, style: Style, width: int) -> str | None:
    """What is wrong with the first row that has not ``width`` fields, if there is one."""
    with io.TextIOWrapper(content.stream(), "utf-8-sig", errors="replace", newline="") as text:
        for _ in range(style.skip):
            next(text)
        reader = csv.reader(text, delimiter=style.separator)
        try:
            row = next((row for row in reader if row and len(row) != width), None)
        except csv.Error:
            return None
    if row is None:
        return None
    if style.title is not None:
        return f"the first line of {content.name} has not the names of its columns; {style.title}"
    hint = "; cells with commas in them stand in quotes" if style.separator == "," and len(row) > width else ""
    if any("\n" in cell for cell in row):
        hint = '; a quote (") before it is not closed'
    return f"{content.name}, line {reader.line_num + style.skip}: {len(row)} fields where the header has {width}{hint}"
