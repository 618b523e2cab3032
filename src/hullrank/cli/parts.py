"""Tables that do not fit into memory: the same data as of any table, in parts that are read again when needed."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import polars.selectors as cs

from hullrank.cli.console import working
from hullrank.cli.data import Columns, Data, Reading, TakenApart, query_numbers, tell_missing
from hullrank.cli.drift import Drift, tell_drift
from hullrank.cli.model import Model
from hullrank.exceptions import HullrankError, TableError
from hullrank.io.parquet_parts import ParquetParts, in_parts

_USUAL_MEMORY = 2 << 30  # bytes, as `Blocks` has them
_COPIES = 4  # of the cells of a table that is read, encoded and fitted in memory
_CELL = 8  # bytes
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def memory_in_bytes(text: str | None) -> int | None:
    """``2GiB``, ``500 MB`` or a number of bytes; units are powers of 1024."""
    if text is None:
        return None
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?\s*", text, re.IGNORECASE)
    size = 0 if match is None else int(float(match[1]) * _UNITS[match[2].upper()])
    if size < 1 << 20:
        raise HullrankError(f"--memory {text!r} is no size of at least 1 MiB; write it like --memory 2GiB")
    return size


def larger_than_memory(path: Path, memory: int | None, qid: str | None = None) -> ParquetParts | None:
    """The parts of Parquet files that take more memory than there is; None for tables that are read as a whole.

    Where there is a column ``qid``, parts are cut between queries.
    """
    if str(path) == "-" or (memory is None and not in_parts(path)):
        return None
    room = _USUAL_MEMORY if memory is None else memory
    if not in_parts(path) and not _is_parquet(path):
        if path.stat().st_size * _COPIES > room:
            raise TableError(f"{path} is larger than --memory allows, and only Parquet is read in parts; save it so")
        return None
    parts = ParquetParts(path, room, qid)
    return parts if parts.rows * len(parts.columns) * _CELL * _COPIES > room else None


def _is_parquet(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(4) == b"PAR1"


class Parts:
    """A table taken apart, part by part; every pass over it reads the files again."""

    def __init__(self, tables: ParquetParts, columns: Columns, reading: Reading, *, need_target: bool = True) -> None:
        self.tables, self.columns, self.reading, self.need_target = tables, columns, reading, need_target

    def __len__(self) -> int:
        return len(self.tables)

    def __getitem__(self, part: int) -> Data:
        frame, before = self.tables[part], self.tables.first_row(part)
        _refuse_infinite(frame, before)
        taken = TakenApart(frame, self.columns, self.tables.name, self.reading, before=before)
        return taken.data(self.need_target)

    def walk(self, title: str) -> Iterator[Data]:
        """The parts in turn, with a bar of the parts that are done."""
        with working(title) as advance:
            for part in range(len(self)):
                yield self[part]
                advance((part + 1) / len(self), f"part {part + 1:,} of {len(self):,}")


def _refuse_infinite(frame: pl.DataFrame, before: int) -> None:
    """An error that counts rows from the beginning of the table, which whoever encodes a part cannot."""
    for column in frame.select(cs.float()):
        if column.is_infinite().any():
            row = before + int(column.is_infinite().fill_null(False).arg_true()[0]) + 1
            raise TableError(
                f"column {column.name!r} is infinite in row {row:,}; write a number there, or leave the cell empty"
            )


@dataclass(frozen=True)
class Placed:
    """The rows of a table by what a model says of them: all that figures of its quality need."""

    y: Any
    scores: Any
    grades: Any | None
    weights: Any | None
    qid: Any | None
    groups: Any | None = None

    def __len__(self) -> int:
        return len(self.scores)

    @classmethod
    def of(cls, model: Model, data: Data) -> "Placed":
        """What the model says of a table in memory."""
        y = None if data.y is None else model.target(data)
        scores, grades = model.pipeline.score_samples(data.X), model.grades(data)
        return cls(y, scores, grades, data.weights, data.qid, data.groups)

    @classmethod
    def of_parts(cls, model: Model, parts: Parts, *, told: bool = False) -> "Placed":
        """The same of a table in parts; a row takes a few numbers, whatever the number of columns.

        Rows without a target are left out with a note, unless that was ``told`` by the fit that asks.
        """
        placed, queries, without, predicted, drift = [], [], 0, not told, Drift(model)
        for data in parts.walk(f"scoring {parts.tables.rows:,} rows"):
            without += data.without_target
            if len(data):
                placed.append(cls.of(model, data))
                predicted = predicted and model.predicted_target(data)
                drift.add(data)
                if parts.columns.qid is not None:
                    queries.append(data.rows[parts.columns.qid])
        tell_missing(0 if told else without, len(placed), parts.columns, parts.tables.name)
        if not told:
            drift.tell()
        if predicted:
            model.tell_predicted_target(parts.columns, parts.tables.name)
        y, scores, grades, weights, groups = (
            None if values[0] is None else np.concatenate(values)
            for values in zip(*((p.y, p.scores, p.grades, p.weights, p.groups) for p in placed), strict=True)
        )
        return cls(y, scores, grades, weights, query_numbers(pl.concat(queries)) if queries else None, groups)

    @classmethod
    def read(cls, model: Model, path: Path, columns: Columns, decimal: str | None, memory: int | None) -> "Placed":
        """The same of a file that has a target, as a whole or in parts."""
        tables = larger_than_memory(path, memory)
        if tables is not None:
            return cls.of_parts(model, Parts(tables, columns, model.reading(decimal)))
        data = model.load_data(path, columns, decimal)
        placed = cls.of(model, data)
        tell_drift(model, data)
        return placed
