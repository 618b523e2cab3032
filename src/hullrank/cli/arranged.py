"""Parts of a table for a method that compares rows: a query in one part, or parts that are ranges of the target.

Tables that are not in such an order are put into it, through files in a folder of the user's.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import polars as pl

from hullrank.cli.console import note
from hullrank.cli.data import Data, TakenApart, coded, query_values, target_values
from hullrank.cli.first_look import FirstLook
from hullrank.cli.parts import Parts
from hullrank.cli.wording import counted
from hullrank.exceptions import TableError
from hullrank.io.parquet_parts import PARTS_IN_MEMORY
from hullrank.io.row_files import RowFiles, row_files
from hullrank.problem.block_pairs import FEW_RANKS


class DataInParts(Protocol):
    """Data by the number of the part, as often as it is asked for."""

    def __len__(self) -> int:
        """Number of parts."""

    def __getitem__(self, part: int) -> Data:
        """The rows of a part, taken apart."""


@contextmanager
def arranged(parts: Parts, look: FirstLook, grades: list[Any] | None, folder: Path | None) -> Iterator[DataInParts]:
    """The same rows in parts as pairs of rows need them, while this lasts; as they are where that will do.

    Parameters
    ----------
    parts : the table
    look : the first pass over it, which has ended
    grades : the names of the grades from lowest to highest, or None where the target is a number
    folder : where rows are written if they must be put in order; None is the system's folder for such files
    """
    wanted = _by_query(parts, look) if parts.columns.qid is not None else _by_target(parts, look, grades)
    if wanted is None:
        yield parts
        return
    with row_files(folder, parts.tables.memory) as files:
        for number, data in enumerate(parts.walk("putting rows in order")):
            if len(data) and data.rows is not None:
                files.add(data.rows, wanted.buckets(data, number))
        yield _Arranged(parts, files, wanted.n_buckets)


class _Arranged:
    """Parts that are read from buckets."""

    def __init__(self, parts: Parts, files: RowFiles, n_buckets: int) -> None:
        self._parts, self._files, self._n_buckets = parts, files, n_buckets

    def __len__(self) -> int:
        return self._n_buckets

    def __getitem__(self, part: int) -> Data:
        parts = self._parts
        return TakenApart(self._files.read(part), parts.columns, parts.tables.name, parts.reading).data(True)


class _ByQuery:
    """Rows go where the table of queries says."""

    def __init__(self, queries: pl.DataFrame, n_buckets: int, column: str) -> None:
        self.n_buckets, self._queries, self._column = n_buckets, queries.select("query", "bucket"), column

    def buckets(self, data: Data, part: int) -> Any:
        """The bucket of every row of a part."""
        assert data.rows is not None
        values = query_values(data.rows[self._column]).alias("query").to_frame()
        return values.join(self._queries, on="query", how="left", maintain_order="left")["bucket"]


class _ByTarget:
    """Rows go where their place in the order of the target says."""

    def __init__(self, targets: list[Any], rows: int) -> None:
        y = np.concatenate(targets)
        self._starts = np.cumsum([0, *map(len, targets)])
        self._bucket = np.empty(len(y), dtype=np.int32)
        self._bucket[np.argsort(y, kind="stable")] = np.arange(len(y)) // rows
        self.n_buckets = -(-len(y) // rows)

    def buckets(self, data: Data, part: int) -> Any:
        """The bucket of every row of a part."""
        return self._bucket[self._starts[part] : self._starts[part + 1]]


def _by_query(parts: Parts, look: FirstLook) -> _ByQuery | None:
    queries, most = look.queries(), parts.tables.rows_a_part
    largest = queries.sort("rows", descending=True).row(0, named=True)
    room = parts.tables.rows_in(parts.tables.memory)
    if largest["rows"] > room:
        raise TableError(
            f"query {largest['query']!r} has {counted(largest['rows'], 'rows')}, and --memory has room for {room:,} of "
            "them; give more --memory, or leave out --qid if all rows are comparable"
        )
    scattered = queries.filter(pl.col("first") != pl.col("last"))
    if not len(scattered):
        return None
    note(
        f"the rows of {counted(len(scattered), 'queries') if len(scattered) > 1 else '1 query'} do not stand together; "
        "rows are put in order through files (a table sorted by query is spared that)"
    )
    sizes = queries["rows"].to_numpy()
    _, bucket = np.unique((np.cumsum(sizes) - sizes) // most, return_inverse=True)
    placed = queries.with_columns(bucket=pl.Series(bucket))
    return _ByQuery(placed, int(bucket.max()) + 1, str(parts.columns.qid))


def _by_target(parts: Parts, look: FirstLook, grades: list[Any] | None) -> _ByTarget | None:
    if len(look.grades()) <= FEW_RANKS:
        return None
    targets = [np.asarray(coded(target_values(y), grades), dtype=np.float64) for y in look.targets]
    ranges = sorted((y.min(), y.max()) for y in targets if len(y))
    if all(end <= start for (_, end), (start, _) in pairwise(ranges)):
        return None
    note(
        "the rows are not in the order of the target; they are put in it through files (a sorted table is spared that)"
    )
    return _ByTarget(targets, parts.tables.rows_in(parts.tables.memory // PARTS_IN_MEMORY))
