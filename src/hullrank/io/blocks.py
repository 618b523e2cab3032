"""Rows that are read again, block by block, in every pass of a fit: data larger than memory."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from hullrank.exceptions import TableError
from hullrank.io.parquet_parts import ParquetParts

Block = tuple[Any, Any, Any | None, Any | None]  # X, y, weights of the rows, queries

_BLOCK = 1 << 25  # bytes of a block of an array
_CELL = 8  # bytes


class Blocks:
    """Rows in blocks; `fit` takes them in the place of X and y.

    Blocks are made by `from_parquet`, `from_arrays` or `from_batches`, or from a function of your own that reads a
    block by its number. A fit reads every block once in each of its few passes and holds few of them at a time.

    Parameters
    ----------
    read : callable
        ``read(i)`` gives ``(X, y, weights or None, queries or None)`` of block i, the same rows whenever it is asked.
    n_blocks : int
    memory : int, default=None
        Bytes that a fit may hold for rows. Rows that fit are kept after the first pass. If None, 2 GiB.
    feature_names : sequence of str, default=None
        The names of the columns of X.

    Examples
    --------
    >>> import numpy as np
    >>> from hullrank import FixedMarginClassifier
    >>> from hullrank.io import Blocks
    >>> X = np.random.default_rng(0).normal(size=(3000, 2))  # a numpy.memmap in earnest
    >>> y = np.digitize(X[:, 0], [-0.5, 0.5])
    >>> blocks = Blocks.from_arrays(X, y, block_rows=1000)
    >>> len(blocks)
    3
    >>> print(FixedMarginClassifier().fit(blocks).certificate_.status)
    converged
    """

    def __init__(
        self,
        read: Callable[[int], Block],
        n_blocks: int,
        *,
        memory: int | None = None,
        feature_names: Iterable[str] | None = None,
    ) -> None:
        if memory is not None and memory < 1:
            raise ValueError(f"memory is a number of bytes above 0, and was {memory}")
        self._read, self._n_blocks, self.memory = read, n_blocks, memory
        if feature_names is not None:
            self.feature_names_in_ = np.array(list(feature_names), dtype=object)

    def __len__(self) -> int:
        return self._n_blocks

    def read(self, i: int) -> Block:
        """X, y, weights and queries of block i; the last two are None where there are none."""
        return self._read(i)

    @classmethod
    def from_arrays(
        cls,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        qid: Any = None,
        block_rows: int | None = None,
        memory: int | None = None,
    ) -> "Blocks":
        """Rows of arrays, which may be memory-mapped (``numpy.load(..., mmap_mode="r")``) or sparse in CSR form.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight, qid : array of shape (n_samples,), default=None
        block_rows : int, default=None
            Rows of a block; if None, so many that a block takes 32 MiB.
        memory : int, default=None
            Bytes that a fit may hold for rows; if None, 2 GiB.
        """
        rows, width = X.shape
        for name, values in (("y", y), ("sample_weight", sample_weight), ("qid", qid)):
            if values is not None and len(values) != rows:
                raise ValueError(f"X has {rows:,} rows, and {name} has {len(values):,} values")
        step = block_rows or max(1, _BLOCK // (_CELL * max(1, width)))
        columns = (X, y, sample_weight, qid)

        def read(i: int) -> Block:
            part = slice(i * step, (i + 1) * step)
            X_, y_, weight, query = (None if values is None else values[part] for values in columns)
            return X_, y_, weight, query

        return cls(read, -(-rows // step), memory=memory)

    @classmethod
    def from_batches(cls, batches: Any, *, memory: int | None = None) -> "Blocks":
        """Batches ``(X, y)``, ``(X, y, weights)`` or ``(X, y, weights, queries)`` of whatever can be read again.

        Parameters
        ----------
        batches : iterable or callable
            A list, or any object that starts anew whenever it is iterated over; or a function without arguments that
            gives a new iterator. A generator can be read only once and is refused.
        memory : int, default=None
            Bytes that a fit may hold for rows; if None, 2 GiB.
        """
        start = batches if callable(batches) else batches.__iter__
        if iter(start()) is batches:
            raise TypeError(
                "batches can be read only once, and a fit reads them several times; give the function that makes them"
            )
        return cls(_InTurn(start).read, sum(1 for _ in start()), memory=memory)

    @classmethod
    def from_parquet(
        cls,
        files: str | Path,
        *,
        target: str,
        weights: str | None = None,
        qid: str | None = None,
        drop: Iterable[str] = (),
        encoder: Any = None,
        memory: int | None = None,
    ) -> "Blocks":
        """Rows of Parquet files with equal columns.

        Parameters
        ----------
        files : path
            A file, a folder, or a pattern such as ``"grades/*.parquet"``.
        target : str
            The column to rank by.
        weights, qid : str, default=None
            The columns with the weights and the queries of the rows.
        drop : iterable of str, default=()
            Columns to leave out.
        encoder : TableEncoder, default=None
            Turns the other columns into numbers; it is fitted in a pass of its own if it is not fitted yet. If None,
            the other columns must be numbers without a missing one.
        memory : int, default=None
            Bytes that a fit may hold for rows; if None, 2 GiB.
        """
        parts = ParquetParts(files, memory)
        apart = {target, *drop, *(name for name in (weights, qid) if name is not None)}
        unknown = sorted(apart - set(parts.columns))
        if unknown:
            raise TableError(f"{files} has no column {unknown[0]!r}; it has {', '.join(map(repr, parts.columns))}")
        features = [name for name in parts.columns if name not in apart]
        if encoder is not None and not hasattr(encoder, "columns_"):
            encoder.fit_blocks(frame.select(features) for frame in parts)
        encode = _plain if encoder is None else encoder.transform

        def read(i: int) -> Block:
            frame = parts[i]
            more = (None if name is None else frame[name].to_numpy() for name in (weights, qid))
            return encode(frame.select(features)), _target(frame[target]), *more

        names = features if encoder is None else encoder.get_feature_names_out()
        return cls(read, len(parts), memory=memory, feature_names=names)


class _InTurn:
    """Batches by number, from an iterator that is started anew when an earlier one is asked for."""

    def __init__(self, start: Callable[[], Iterable[Any]]) -> None:
        self._start, self._next = start, 0
        self._iterator: Iterator[Any] = iter(())

    def read(self, i: int) -> Block:
        if i < self._next or not self._next:
            self._iterator, self._next = iter(self._start()), 0
        for batch in self._iterator:
            self._next += 1
            if self._next == i + 1:
                X, y, weight, qid = (*batch, None, None)[:4]
                return X, y, weight, qid
        raise TableError(f"there were more than {i} batches at first, and now there are {self._next}")


def _plain(frame: pl.DataFrame) -> Any:
    for column in frame:
        if not (column.dtype.is_numeric() or column.dtype == pl.Boolean) or column.null_count():
            what = "missing values" if column.null_count() else f"cells of type {column.dtype}"
            raise TableError(f"column {column.name!r} has {what}; give encoder=TableEncoder(), or drop the column")
    return frame.cast(pl.Float64).to_numpy()


def _target(series: pl.Series) -> Any:
    if series.null_count():
        raise TableError(f"column {series.name!r} is the target, and {series.null_count():,} rows have none of it")
    return np.array(series.cast(pl.String).to_list()) if not series.dtype.is_numeric() else series.to_numpy()
