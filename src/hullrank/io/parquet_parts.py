"""Parquet files, one or many, as one table in parts that fit into memory."""

from collections.abc import Iterator
from contextlib import contextmanager
from glob import glob, has_magic
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from hullrank.exceptions import TableError
from hullrank.io.content import REFUSALS, reason

_PART = 1 << 25  # bytes of a part if nothing says otherwise
PARTS_IN_MEMORY = 16  # a part takes at most this fraction of the memory there is
_CELL = 8  # bytes


class ParquetParts:
    """The rows of Parquet files with equal columns, in the order of the files' names.

    Where files give a column different types, it has one that holds them all: a float, or words.

    Parameters
    ----------
    files : path
        A file, a folder (all its files that end in .parquet or .pq), or a pattern such as ``"grades/*.parquet"``.
    memory : int, default=None
        Bytes that whoever asks has for rows; a part takes a sixteenth of it at most.
    qid : str, default=None
        A column with queries; a part goes on to the end of its last query.
    """

    def __init__(self, files: str | Path, memory: int | None = None, qid: str | None = None) -> None:
        self.name = str(files)
        self.files = files_of(files)
        schema = _schema(self.files[0])
        self.columns = schema.names()
        self.memory = _PART * PARTS_IN_MEMORY if memory is None else memory
        rows = self.rows_a_part = self.rows_in(min(_PART, self.memory // PARTS_IN_MEMORY))
        self._slices: list[tuple[Path, int, int]] = []
        self.rows = 0
        self._orders: dict[tuple[Path, str], list[str] | None] = {}
        self._versions = {file: _version(file) for file in self.files}
        for file in self.files:
            schema = _common(schema, file)
            held = _height(file)
            cut_at_queries = qid in self.columns and held > rows
            starts = query_starts(_column(file, str(qid)), rows) if cut_at_queries else range(0, held, rows)
            self._slices += [(file, start, end - start) for start, end in pairwise([*starts, held])]
            self.rows += held
        self._schema = schema
        if not self.rows:
            raise TableError(f"{self.name} has a header but no rows; nothing to read")

    def __len__(self) -> int:
        return len(self._slices)

    def __getitem__(self, part: int) -> pl.DataFrame:
        file, start, rows = self._slices[part]
        with _reading(file):
            scan = pl.scan_parquet(file, glob=False).slice(start, rows)
            frame = scan.select(self.columns).cast(self._schema).collect()
        if len(frame) != rows or _version(file) != self._versions[file]:
            raise TableError(f"{file} changed while it was read; start again")
        return frame

    def rows_in(self, room: int) -> int:
        """How many rows take so many bytes, about; at least one."""
        return max(1, room // (_CELL * len(self.columns)))

    def __iter__(self) -> Iterator[pl.DataFrame]:
        return (self[part] for part in range(len(self)))

    def order_of(self, column: str, part: int) -> list[str] | None:
        """The words of a column from lowest to highest, where the file of a part says that they are ordered."""
        file = self._slices[part][0]
        if (file, column) not in self._orders:
            self._orders[file, column] = _order(file, column)
        return self._orders[file, column]

    def first_row(self, part: int) -> int:
        """The number of rows before a part."""
        return sum(rows for _, _, rows in self._slices[:part])


def in_parts(files: str | Path) -> bool:
    """Whether a name stands for several files: a folder, or a pattern that is not itself the name of a file."""
    path = Path(files)
    return path.is_dir() or (has_magic(str(files)) and not path.exists())


def files_of(files: str | Path) -> list[Path]:
    """The files that a name stands for; a name that is neither a folder nor a pattern is a file of its own."""
    path = Path(files)
    if path.is_dir():
        found = sorted(file for file in path.iterdir() if file.suffix.lower() in (".parquet", ".pq"))
        if not found:
            raise TableError(
                f"the folder {files} holds no Parquet files (.parquet or .pq); for those in folders within it, give "
                f"the pattern '{files}/**/*.parquet'"
            )
        return found
    if not in_parts(files):
        return [path]
    found = sorted(Path(name) for name in glob(str(files), recursive=True))
    if not found:
        raise TableError(f"no file has a name like {files}")
    return found


def query_starts(qid: Any, rows: int) -> list[int]:
    """Where parts of at least ``rows`` rows begin, so that none begins within a query, whose rows stand together."""
    starts = [0] if len(qid) else []
    for start in (np.flatnonzero(qid[1:] != qid[:-1]) + 1).tolist():
        if start - starts[-1] >= rows:
            starts.append(start)
    return starts


def _column(file: Path, name: str) -> Any:
    """One column of a file."""
    with _reading(file):
        return pl.scan_parquet(file, glob=False).select(name).collect()[name].to_numpy()


def _order(file: Path, name: str) -> list[str] | None:
    """The categories of an ordered Categorical of pandas, or an ordered dictionary of Arrow; None without PyArrow.

    Polars reads such a column as words in no order. Its row groups have the same categories, or no order in common.
    """
    if not isinstance(_schema(file)[name], pl.Categorical):
        return None
    try:
        from pyarrow import parquet, types
    except ImportError:
        return None
    with _reading(file), parquet.ParquetFile(file) as held:
        kind = held.schema_arrow.field(name).type
        if not (types.is_dictionary(kind) and kind.ordered):
            return None
        groups = (held.read_row_group(i, columns=[name]).column(0) for i in range(held.num_row_groups))
        orders = {tuple(chunk.dictionary.to_pylist()) for group in groups for chunk in group.chunks if len(chunk)}
    return list(orders.pop()) if len(orders) == 1 else None


def _version(file: Path) -> tuple[int, int]:
    """What changes whenever a file is written again: its size, and when it was written."""
    with _reading(file):
        known = file.stat()
        return known.st_size, known.st_mtime_ns


def _schema(file: Path) -> pl.Schema:
    with file.open("rb") as stream:
        if stream.read(4) != b"PAR1":
            raise TableError(f"{file} is no Parquet file, and only Parquet is read in parts; save it as Parquet first")
    with _reading(file):
        return pl.scan_parquet(file, glob=False).collect_schema()


def _common(schema: pl.Schema, file: Path) -> pl.Schema:
    """Types that hold the cells of the files before, which have this schema, and of one more."""
    held = _schema(file)
    lacking = [name for name in schema if name not in held]
    if lacking:
        raise TableError(f"{file} lacks the column {lacking[0]!r}, which files before it have")
    if all(held[name] == dtype for name, dtype in schema.items()):
        return schema
    rows = [pl.DataFrame(schema=schema), pl.DataFrame(schema={name: held[name] for name in schema})]
    try:
        return pl.concat(rows, how="vertical_relaxed").schema
    except REFUSALS as error:
        raise TableError(f"{file} has a column of another type than files before it: {reason(error)}") from error


def _height(file: Path) -> int:
    """The number of rows of a file."""
    with _reading(file):
        return int(pl.scan_parquet(file, glob=False).select(pl.len()).collect().item())


@contextmanager
def _reading(file: Path) -> Iterator[None]:
    """While a file is read, what goes wrong is an error that names it."""
    try:
        yield
    except (*REFUSALS, OSError) as error:
        raise TableError(f"{file} cannot be read as Parquet: {reason(error)}") from error
