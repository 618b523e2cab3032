"""Parts of a table for a method that compares rows: a query in one part, or parts that are ranges of the target.

Tables that are not in such an order are put into it, through files in a folder of the user's.
"""

from collections.abc import Callable, Iterator
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

# From a part and its number to the bucket of every row; and the number of buckets.
Buckets = tuple[Callable[[Data, int], Any], int]


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
    bucket_of, n_buckets = wanted
    with row_files(folder, parts.tables.memory) as files:
        for number, data in enumerate(parts.walk("putting rows in order")):
            if len(data):
                files.add(data.rows, bucket_of(data, number))
        yield _Arranged(parts, files, n_buckets)


class _Arranged:
    """Parts that are read from buckets."""

    def __init__(self, parts: Parts, files: RowFiles, n_buckets: int) -> None:
        self._parts, self._files, self._n_buckets = parts, files, n_buckets

    def __len__(self) -> int:
        return self._n_buckets

    def __getitem__(self, part: int) -> Data:
        parts = self._parts
        return TakenApart(self._files.read(part), parts.columns, parts.tables.name, parts.reading).data(True)


def _by_query(parts: Parts, look: FirstLook) -> Buckets | None:
    """Whole queries in every bucket; None where their rows stand together already."""
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
    placed = queries.select("query", bucket=pl.Series(bucket))

    def bucket_of(data: Data, part: int) -> Any:
        values = query_values(data.rows[parts.columns.qid]).alias("query").to_frame()
        return values.join(placed, on="query", how="left", maintain_order="left")["bucket"]

    return bucket_of, int(bucket.max()) + 1


def _by_target(parts: Parts, look: FirstLook, grades: list[Any] | None) -> Buckets | None:
    """A range of the target in every bucket; None where the parts have such ranges already."""
    if len(look.grades()) <= FEW_RANKS:
        return None
    targets = [np.asarray(coded(target_values(y), grades), dtype=np.float64) for y in look.targets]
    ranges = sorted((y.min(), y.max()) for y in targets if len(y))
    if all(end <= start for (_, end), (start, _) in pairwise(ranges)):
        return None
    note(
        "the rows are not in the order of the target; they are put in it through files (a sorted table is spared that)"
    )
    rows = parts.tables.rows_in(parts.tables.memory // PARTS_IN_MEMORY)
    y, starts = np.concatenate(targets), np.cumsum([0, *map(len, targets)])
    bucket = np.empty(len(y), dtype=np.int32)
    bucket[np.argsort(y, kind="stable")] = np.arange(len(y)) // rows
    return lambda data, part: bucket[starts[part] : starts[part + 1]], -(-len(y) // rows)
