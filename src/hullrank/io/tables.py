"""Tables from files: CSV, TSV, Parquet, Arrow, JSON, SVMlight, spreadsheets, plain or gzipped, or standard input."""

import gzip
import json
import warnings
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from hullrank.exceptions import MissingExtraError, TableError, TableWarning
from hullrank.io.content import INFER, MISSING, REFUSALS, Content, name_of
from hullrank.io.csv_style import Style
from hullrank.io.csv_tables import read_csv
from hullrank.io.parquet_parts import ParquetParts, in_parts


@dataclass(frozen=True)
class SparseTable:
    """Rows of an SVMlight file: a CSR matrix, the target, and the queries if it has any.

    Parameters
    ----------
    X : scipy.sparse.csr_matrix of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
    qid : ndarray of shape (n_samples,), or None

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from hullrank.io import read_table
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "rows.svmlight"
    >>> _ = path.write_text("2 qid:1 1:0.5 3:1\\n0 qid:1 2:0.25\\n")
    >>> table = read_table(path)
    >>> table.X.shape, table.y.tolist(), table.qid.tolist()
    ((2, 3), [2.0, 0.0], [1, 1])
    """

    X: Any
    y: Any
    qid: Any | None


def read_table(
    source: str | Path, *, n_features: int | None = None, decimal: str | None = None
) -> pl.DataFrame | SparseTable:
    """Read a file, or standard input for ``"-"``, whatever of the known formats it is in.

    Parameters
    ----------
    source : path or "-"
        The format follows from the first bytes, else from the ending of the name (``.gz`` aside). In CSV files the
        separator (comma, semicolon, tab or bar) follows from the first lines, and the cells of ``MISSING`` are missing.
        A folder, or a pattern such as ``"grades/*.parquet"``, is all its Parquet files together.
    n_features : int, default=None
        Width of an SVMlight matrix; the largest index in the file if None.
    decimal : {".", ","}, default=None
        The decimal sign of a CSV file; if None, that of the cells which can be read in one way only.

    Returns
    -------
    table : polars.DataFrame, or SparseTable for SVMlight files

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from hullrank.io import read_table
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "shops.csv"
    >>> _ = path.write_text("size;colour\\n1;red\\n;blue\\n")
    >>> read_table(path).rows()
    [(1, 'red'), (None, 'blue')]
    """
    table, style = read_styled(source, n_features=n_features, decimal=decimal)
    if style is not None and style.encoding is not None:
        warnings.warn(f"{source} is not UTF-8; it is read as {style.encoding}", TableWarning, stacklevel=2)
    return table


def read_styled(
    source: str | Path,
    *,
    n_features: int | None = None,
    decimal: str | None = None,
    usual: str | None = None,
    verbatim: bool = False,
) -> tuple[pl.DataFrame | SparseTable, Style | None]:
    """As `read_table`, and the style of a CSV file, with its cells as they are written if ``verbatim``.

    ``usual`` is the decimal sign where no cell tells.
    """
    if str(source) != "-" and in_parts(source):
        return pl.concat(ParquetParts(source), how="vertical_relaxed"), None
    name, style = name_of(source), None
    try:
        content = Content.open(source)
        kind = content.kind()
        if kind == "svmlight":
            return _read_svmlight(content, n_features), None
        if kind == "csv":
            frame, style = read_csv(content, decimal, usual, verbatim=verbatim)
        else:
            readers = {"json": _read_json, "jsonl": _read_jsonl, "spreadsheet": _read_spreadsheet}
            frame = readers.get(kind, _read_binary)(content)
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise TableError(f"{name} is damaged or cut short: {error}") from error
    except OSError as error:
        raise TableError(f"{name} cannot be read: {error.strerror or error}") from error
    if not frame.width or not frame.height:
        raise TableError(f"{name} has {'a header but no rows' if frame.width else 'no columns'}; nothing to read")
    return frame, style


_ARRAY = 'an array of objects, one for every row, such as [{"size": 1}, {"size": 2}]'


def _read_jsonl(content: Content) -> pl.DataFrame:
    content.check_text()
    for rows in (INFER, None):
        try:
            frame = pl.read_ndjson(content.source, infer_schema_length=rows)
            break
        except REFUSALS as error:
            if rows is None:
                raise content.unreadable("JSON, an array of objects or one object a line", error) from error
    if frame.height == 1 and any(dtype.is_nested() for dtype in frame.dtypes):
        raise TableError(f"{content.name} is one JSON object, and a table is {_ARRAY}")
    return frame


def _read_json(content: Content) -> pl.DataFrame:
    """An array of objects, one a row; keys that an object lacks are missing in its row."""
    content.check_text()
    try:
        with content.stream() as stream:
            rows = json.load(stream)
    except (ValueError, RecursionError) as error:
        raise content.unreadable("JSON", error) from error
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise TableError(f"{content.name} is JSON, and a table is {_ARRAY}")
    try:
        return pl.DataFrame(rows, infer_schema_length=None)
    except (*REFUSALS, TypeError, OverflowError) as error:
        raise content.unreadable("a table", error) from error


def _read_spreadsheet(content: Content) -> pl.DataFrame:
    """The first sheet of an Excel or OpenDocument file."""
    try:
        import fastexcel  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(
            f"{content.name} is a spreadsheet: save it as CSV, or have hullrank read it after "
            "pip install 'hullrank[excel]'"
        ) from error
    try:
        with content.stream() as stream:
            frame = pl.read_excel(stream, engine="calamine", infer_schema_length=None)
    except Exception as error:  # fastexcel has errors of its own
        raise content.unreadable("a spreadsheet", error) from error
    words = [column for column in frame.columns if frame[column].dtype == pl.String]
    missing = {column: pl.when(~pl.col(column).is_in(MISSING)).then(pl.col(column)) for column in words}
    return frame.with_columns(**missing)


def _read_binary(content: Content) -> pl.DataFrame:
    is_parquet = content.head[:4] == b"PAR1"
    what = "Parquet" if is_parquet else "Arrow"
    try:
        return _read_by_pyarrow(content.stream(), is_parquet)
    except ImportError:
        read = pl.read_parquet if is_parquet else pl.read_ipc
    except (*REFUSALS, OSError, LookupError, TypeError, NotImplementedError, MemoryError) as error:
        raise content.unreadable(what, error) from error
    try:
        return read(content.stream())
    except REFUSALS as error:
        raise content.unreadable(what, error) from error


def _read_by_pyarrow(stream: Any, is_parquet: bool) -> pl.DataFrame:
    """PyArrow survives damaged sizes and offsets at which Polars panics or aborts."""
    from pyarrow import ipc, parquet

    table = parquet.read_table(stream) if is_parquet else ipc.open_file(stream).read_all()
    table.validate(full=True)
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame


def _read_svmlight(content: Content, n_features: int | None) -> SparseTable:
    from sklearn.datasets import load_svmlight_file

    has_qid = b" qid:" in content.head
    try:
        loaded = load_svmlight_file(content.stream(), n_features=n_features, query_id=has_qid, zero_based="auto")
    except (ValueError, OverflowError, IndexError) as error:
        raise TableError(f"{content.name} cannot be read as SVMlight: {error}") from error
    X, y, qid = loaded if has_qid else (*loaded, None)
    if not X.shape[0]:
        raise TableError(f"{content.name} has no rows")
    bad = ~np.isfinite(X.data)
    if bad.any():
        raise TableError(f"{content.name} holds {X.data[bad][0]}, which cannot be ranked")
    return SparseTable(X, y, qid)
