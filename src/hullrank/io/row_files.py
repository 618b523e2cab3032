"""Rows of a table larger than memory, put into buckets: held in memory as long as there is room, then in files."""

import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import polars as pl

from hullrank.exceptions import TableError

_BUCKET = "\0bucket"  # a name that no column of a table has
_IN_BUFFER = 8  # rows wait for their file in the memory divided by this


@contextmanager
def row_files(folder: Path | None, memory: int) -> Iterator["RowFiles"]:
    """Buckets with files in a folder of their own, which is removed at the end.

    Parameters
    ----------
    folder : where that folder is made; None is the system's place for such files
    memory : bytes that whoever asks has for rows
    """
    with tempfile.TemporaryDirectory(dir=folder, prefix=".hullrank-") as held:
        yield RowFiles(Path(held), memory // _IN_BUFFER)


class RowFiles:
    """Buckets of rows with equal columns; one bucket at a time is read back.

    Parameters
    ----------
    folder : path
        An empty folder, where every bucket has a file.
    room : int
        Bytes of rows that are held before they are written. A file is appended to as often as the room fills up, so
        that little room costs time.
    """

    def __init__(self, folder: Path, room: int) -> None:
        self._folder, self._room, self._held_bytes = folder, room, 0
        self._held: dict[int, list[pl.DataFrame]] = defaultdict(list)
        self._sizes: dict[int, list[int]] = defaultdict(list)  # bytes of every piece of a bucket's file

    def add(self, frame: pl.DataFrame, buckets: Any) -> None:
        """Put every row of a frame into its bucket."""
        placed = frame.with_columns(pl.Series(_BUCKET, buckets, dtype=pl.Int64))
        for (bucket,), part in placed.partition_by(_BUCKET, as_dict=True, include_key=False).items():
            self._held[int(bucket)].append(part)
        self._held_bytes += int(frame.estimated_size())
        if self._held_bytes > self._room:
            self._write()

    def read(self, bucket: int) -> pl.DataFrame:
        """The rows of a bucket, in the order in which they were added."""
        written = []
        if self._sizes[bucket]:
            with self._file(bucket).open("rb") as stream:
                written = [pl.read_ipc_stream(BytesIO(stream.read(size))) for size in self._sizes[bucket]]
        return pl.concat([*written, *self._held[bucket]], how="vertical_relaxed")

    def _write(self) -> None:
        try:
            for bucket, parts in self._held.items():
                piece = BytesIO()
                pl.concat(parts, how="vertical_relaxed").write_ipc_stream(piece, compression="lz4")
                with self._file(bucket).open("ab") as stream:
                    stream.write(piece.getbuffer())
                self._sizes[bucket].append(piece.tell())
        except OSError as error:
            raise TableError(
                f"rows are put in order through files in {self._folder.parent}, and one cannot be written there "
                f"({error.strerror}); make room, or give --out in another folder"
            ) from error
        self._held.clear()
        self._held_bytes = 0

    def _file(self, bucket: int) -> Path:
        return self._folder / f"{bucket:09d}"
