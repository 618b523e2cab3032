"""Tables from files: CSV, TSV, Parquet, Arrow (Feather), JSON lines, SVMlight, plain or gzipped, or standard input."""

import csv
import gzip
import io
import re
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from polars.exceptions import PanicException, PolarsError

from hullrank.exceptions import TableError

MISSING = ("", "NA", "N/A", "n/a", "nan", "NaN", "null", "NULL", "?")
_ENDINGS = {
    ".csv": "csv", ".tsv": "csv", ".tab": "csv", ".parquet": "parquet", ".pq": "parquet",
    ".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow", ".jsonl": "jsonl", ".ndjson": "jsonl",
    ".svm": "svmlight", ".svmlight": "svmlight", ".libsvm": "svmlight", ".letor": "svmlight",
}  # fmt: skip
_SVMLIGHT = re.compile(rb"\s*[-+.\deE]+(\s+qid:\d+)?(\s+\d+:[-+.\deE]+)+\s*(#.*)?\r?(\n|\Z)")
_REFUSALS = (PolarsError, PanicException, ValueError)
_INFER = 10_000  # rows from which column types are guessed before all rows are asked


@dataclass(frozen=True)
class SparseTable:
    """Rows of an SVMlight file: a CSR matrix, the target, and the queries if it has any."""

    X: Any
    y: Any
    qid: Any | None


def read_table(source: str | Path, *, n_features: int | None = None) -> pl.DataFrame | SparseTable:
    """Read a file, or standard input for ``"-"``, whatever of the known formats it is in.

    Parameters
    ----------
    source : path or "-"
        The format follows from the ending of the name (``.gz`` aside), else from the first bytes. In CSV files the
        separator (comma, semicolon, tab or bar) follows from the header, and the cells of ``MISSING`` are missing.
    n_features : int, default=None
        Width of an SVMlight matrix; the largest index in the file if None.

    Returns
    -------
    table : polars.DataFrame, or SparseTable for SVMlight files
    """
    name = "standard input" if str(source) == "-" else str(source)
    try:
        content = _open(source)
        kind = _kind(name, content)
        if kind == "svmlight":
            return _read_svmlight(content, name, n_features)
        read = {"csv": _read_csv, "jsonl": _read_jsonl, "parquet": _read_binary, "arrow": _read_binary}[kind]
        frame = read(content, name)
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise TableError(f"{name} is damaged or cut short: {error}") from error
    except OSError as error:
        raise TableError(f"{name} cannot be read: {error.strerror or error}") from error
    if not frame.width or not frame.height:
        raise TableError(f"{name} has {'a header but no rows' if frame.width else 'no columns'}; nothing to read")
    return frame


class _Content:
    """A file by path where it may be mapped or streamed, else its bytes; with its first bytes at hand."""

    def __init__(self, path: Path | None, data: bytes | None) -> None:
        self.path, self.data = path, data
        if data is not None:
            self.head = data[:65536]
        else:
            assert path is not None
            with path.open("rb") as stream:
                self.head = stream.read(65536)

    def stream(self) -> Any:
        """A new binary stream from the start."""
        if self.data is not None:
            return io.BytesIO(self.data)
        assert self.path is not None
        return self.path.open("rb")

    @property
    def for_polars(self) -> Any:
        """What Polars reads fastest."""
        return self.path if self.data is None else self.data


def _open(source: str | Path) -> _Content:
    if str(source) == "-":
        data = sys.stdin.buffer.read()
        return _Content(None, gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    path = Path(source)
    with path.open("rb") as stream:
        zipped = stream.read(2) == b"\x1f\x8b"
    if zipped:
        with gzip.open(path) as unzipped:
            return _Content(None, unzipped.read())
    return _Content(path, None)


def _kind(name: str, content: _Content) -> str:
    head = content.head
    if not head:
        raise TableError(f"{name} is empty")
    if head[:4] == b"PAR1":
        return "parquet"
    if head[:6] == b"ARROW1":
        return "arrow"
    ending = Path(name.removesuffix(".gz")).suffix.lower()
    if ending in _ENDINGS:
        return _ENDINGS[ending]
    if head.lstrip()[:1] == b"{":
        return "jsonl"
    return "svmlight" if _SVMLIGHT.match(_first_rows(head)) else "csv"


def _first_rows(head: bytes) -> bytes:
    """Without the comment lines that SVMlight files may start with."""
    lines = head.splitlines(keepends=True)
    return b"".join(lines[next((i for i, line in enumerate(lines) if line[:1] != b"#"), 0) :][:1])


def _read_csv(content: _Content, name: str) -> pl.DataFrame:
    _check_text(content.head, name)
    header, separator = _csv_header(content.head, name)
    twice = next((column for i, column in enumerate(header) if column in header[:i]), None)
    if twice is not None:
        raise TableError(f"{name} has two columns named {twice!r}; rename one of them")
    frame = None
    for rows in (_INFER, None):
        try:
            frame = pl.read_csv(
                content.for_polars, separator=separator, null_values=list(MISSING), infer_schema_length=rows, glob=False
            )
            break
        except _REFUSALS as error:
            if rows is None or not str(error).startswith("could not parse"):
                raise TableError(_csv_problem(content, name, separator, error)) from error
    assert frame is not None
    if frame.width and frame.height and frame[:, -1].null_count():
        short = _ragged_line(content, separator, frame.width)
        if short:
            raise TableError(f"{name}, line {short[0]}: {short[1]} fields where the header has {frame.width}")
        blank = pl.all_horizontal(pl.all().is_null())
        frame = frame.filter(~blank)
    return frame


def _check_text(head: bytes, name: str) -> None:
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise TableError(f"{name} is UTF-16; save it as UTF-8")
    if b"\0" in head:
        raise TableError(f"{name} is not text, and in none of the known formats")


def _csv_header(head: bytes, name: str) -> tuple[list[str], str]:
    text = head.decode("utf-8-sig", errors="replace")
    first = text.split("\n", 1)[0]
    separator = max(",;\t|", key=first.count)
    try:
        header = next(csv.reader(io.StringIO(text), delimiter=separator), [])
    except csv.Error as error:
        raise TableError(f"the header of {name} cannot be read: {error}") from error
    if not any(header):
        raise TableError(f"the first line of {name} is blank, where the names of the columns should stand")
    return header, separator


def _csv_problem(content: _Content, name: str, separator: str, error: BaseException) -> str:
    reason = str(error).splitlines()[0] if str(error) else type(error).__name__
    if "utf-8" in reason.lower():
        return f"{name} is not UTF-8 text; save it as UTF-8 (from Latin-1: iconv -f latin1 -t utf8)"
    header, _ = _csv_header(content.head, name)
    ragged = _ragged_line(content, separator, len(header))
    if ragged:
        return f"{name}, line {ragged[0]}: {ragged[1]} fields where the header has {len(header)}"
    return f"{name} cannot be read as CSV: {reason}"


def _ragged_line(content: _Content, separator: str, width: int) -> tuple[int, int] | None:
    """Line and number of fields of the first row that has not ``width`` of them."""
    with io.TextIOWrapper(content.stream(), "utf-8-sig", errors="replace", newline="") as text:
        reader = csv.reader(text, delimiter=separator)
        try:
            for row in reader:
                if row and len(row) != width:
                    return reader.line_num, len(row)
        except csv.Error:
            return None
    return None


def _read_jsonl(content: _Content, name: str) -> pl.DataFrame:
    _check_text(content.head, name)
    for rows in (_INFER, None):
        try:
            return pl.read_ndjson(content.for_polars, infer_schema_length=rows)
        except _REFUSALS as error:
            if rows is None:
                reason = str(error).splitlines()[0] if str(error) else type(error).__name__
                raise TableError(f"{name} cannot be read as JSON lines: {reason}") from error
    raise AssertionError


def _read_binary(content: _Content, name: str) -> pl.DataFrame:
    is_parquet = content.head[:4] == b"PAR1"
    try:
        return _read_by_pyarrow(content.stream(), is_parquet)
    except ImportError:
        read = pl.read_parquet if is_parquet else pl.read_ipc
    except (*_REFUSALS, OSError, LookupError, TypeError, NotImplementedError, MemoryError) as error:
        raise TableError(_binary_problem(name, is_parquet, error)) from error
    try:
        return read(content.stream())
    except _REFUSALS as error:
        raise TableError(_binary_problem(name, is_parquet, error)) from error


def _read_by_pyarrow(stream: Any, is_parquet: bool) -> pl.DataFrame:
    """PyArrow survives damaged sizes and offsets at which Polars panics or aborts."""
    from pyarrow import ipc, parquet

    table = parquet.read_table(stream) if is_parquet else ipc.open_file(stream).read_all()
    table.validate(full=True)
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame


def _binary_problem(name: str, is_parquet: bool, error: BaseException) -> str:
    reason = str(error).splitlines()[0] if str(error) else type(error).__name__
    return f"{name} cannot be read as {'Parquet' if is_parquet else 'Arrow'}: {reason}"


def _read_svmlight(content: _Content, name: str, n_features: int | None) -> SparseTable:
    from sklearn.datasets import load_svmlight_file

    has_qid = b" qid:" in content.head
    try:
        loaded = load_svmlight_file(content.stream(), n_features=n_features, query_id=has_qid, zero_based="auto")
    except (ValueError, OverflowError, IndexError) as error:
        raise TableError(f"{name} cannot be read as SVMlight: {error}") from error
    X, y, qid = loaded if has_qid else (*loaded, None)
    if not X.shape[0]:
        raise TableError(f"{name} has no rows")
    bad = ~np.isfinite(X.data)
    if bad.any():
        raise TableError(f"{name} holds {X.data[bad][0]}, which cannot be ranked")
    return SparseTable(X, y, qid)
