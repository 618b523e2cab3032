"""Rows that are read again, block by block, in every pass of a fit: data larger than memory."""

from collections.abc import Callable, Iterable, Iterator
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp

from hullrank.exceptions import HullrankError, TableError
from hullrank.io.parquet_parts import ParquetParts, query_starts
from hullrank.io.summaries import as_words

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
        Bytes that a fit may take beside the block that it reads. Rows that fit are kept after the first pass. If None,
        2 GiB.
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
        _check_whole("memory", memory, 1)
        _check_whole("n_blocks", n_blocks, 0)
        if not callable(read):
            raise TypeError(f"read is a function that gives block i, and was of type {type(read).__name__}")
        self._read, self._n_blocks, self.memory = read, int(n_blocks), memory
        if feature_names is not None:
            self.feature_names_in_ = np.array(list(feature_names), dtype=object)

    def __len__(self) -> int:
        return self._n_blocks

    def read(self, i: int) -> Block:
        """X, y, weights and queries of block i; the last two are None where there are none."""
        X, y, weight, qid = _complete(self._read(i), i)
        names, expected = _names(X), getattr(self, "feature_names_in_", None)
        if names is not None and expected is not None and list(names) != list(expected):
            odd = next((name for name in names if name not in set(expected)), None)
            what = "the same columns in another order" if odd is None else f"a column {odd!r}"
            raise HullrankError(f"block {i} has {what}, and others have {', '.join(map(repr, expected[:5]))}")
        return X, y, weight, qid

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
            Rows of a block; if None, so many that a block takes 32 MiB. Where there are queries, a block goes on to
            the end of its last one.
        memory : int, default=None
            Bytes that a fit may take beside the block that it reads; if None, 2 GiB.
        """
        if len(getattr(X, "shape", ())) != 2:
            raise ValueError("X is no array with rows and columns; make it one, or give batches (Blocks.from_batches)")
        _check_whole("block_rows", block_rows, 1)
        rows, width = X.shape
        for name, values in (("y", y), ("sample_weight", sample_weight), ("qid", qid)):
            if values is not None and len(values) != rows:
                raise ValueError(f"X has {rows:,} rows, and {name} has {len(values):,} values")
        step = block_rows or max(1, _BLOCK // (_CELL * max(1, width)))
        starts = range(0, rows, step) if qid is None else query_starts(np.asarray(qid), int(step))
        cuts = [*starts, rows]
        columns = (X.tocsr() if sp.issparse(X) else X, y, sample_weight, qid)

        def read(i: int) -> Block:
            part = slice(cuts[i], cuts[i + 1])
            X_, y_, weight, query = (None if values is None else _rows(values, part) for values in columns)
            return X_, y_, weight, query

        return cls(read, len(starts), memory=memory, feature_names=_names(X))

    @classmethod
    def from_batches(cls, batches: Any, *, memory: int | None = None) -> "Blocks":
        """Batches ``(X, y)``, ``(X, y, weights)`` or ``(X, y, weights, queries)`` of whatever can be read again.

        Parameters
        ----------
        batches : iterable or callable
            A list, or any object that starts anew whenever it is iterated over; or a function without arguments that
            gives a new iterator. A generator can be read only once and is refused. Batches without a length are
            counted first, in a pass of its own.
        memory : int, default=None
            Bytes that a fit may take beside the block that it reads; if None, 2 GiB.
        """
        if not callable(batches) and not isinstance(batches, Iterable):
            raise TypeError(
                f"batches is a list of (X, y) or a function that gives one, and was of type {type(batches).__name__}"
            )
        start = batches if callable(batches) else batches.__iter__
        iterator = iter(start())
        once = iterator is batches
        if not once:
            count = len(batches) if hasattr(batches, "__len__") else sum(1 for _ in iterator)
            first = next(iter(start()), None)
            once = count > 0 and first is None
        if once:
            raise TypeError(
                "batches can be read only once, and a fit reads them several times; give the function that makes them"
            )
        names = None if first is None else _names(_complete(first, 0)[0])
        return cls(_InTurn(start).read, count, memory=memory, feature_names=names)

    @classmethod
    def from_parquet(
        cls,
        files: str | Path,
        *,
        target: str,
        weights: str | None = None,
        qid: str | None = None,
        drop: str | Iterable[str] = (),
        encoder: Any = None,
        memory: int | None = None,
    ) -> "Blocks":
        """Rows of Parquet files with equal columns.

        Parameters
        ----------
        files : path
            A file, a folder, or a pattern such as ``"grades/*.parquet"``.
        target : str
            The column to rank by. An Enum of Polars declares its order, and so does an ordered Categorical of pandas
            (reading its order needs PyArrow).
        weights, qid : str, default=None
            The columns with the weights and the queries of the rows. The rows of a query stand together in one file.
        drop : str or iterable of str, default=()
            Columns to leave out.
        encoder : TableEncoder, default=None
            Turns the other columns into numbers; it is fitted in a pass of its own if it is not fitted yet. If None,
            the other columns must be numbers without a missing one.
        memory : int, default=None
            Bytes that a fit may take beside the block that it reads; if None, 2 GiB.
        """
        parts = ParquetParts(files, memory, qid)
        left_out = [drop] if isinstance(drop, str) else drop
        apart = {target, *left_out, *(name for name in (weights, qid) if name is not None)}
        unknown = sorted(apart - set(parts.columns))
        if unknown:
            raise TableError(f"{files} has no column {unknown[0]!r}; it has {', '.join(map(repr, parts.columns))}")
        features = [name for name in parts.columns if name not in apart]
        if not features:
            raise TableError(f"{files} has no column to learn from beside {', '.join(map(repr, sorted(apart)))}")
        if encoder is not None and not hasattr(encoder, "columns_"):
            encoder.fit_blocks(frame.select(features) for frame in parts)
        encode = _plain if encoder is None else encoder.transform

        def read(i: int) -> Block:
            frame = parts[i]
            more = (None if name is None else frame[name].to_numpy() for name in (weights, qid))
            return encode(frame.select(features)), _target(frame[target], parts.order_of(target, i)), *more

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
                return _complete(batch, i)
        raise TableError(f"there were more than {i} batches at first, and now there are {self._next}")


def _check_whole(name: str, number: Any, least: int) -> None:
    if number is not None and not (isinstance(number, Integral) and int(number) >= least):
        raise ValueError(f"{name} is a whole number of at least {least}, and was {number!r}")


def _complete(block: Any, i: int) -> Block:
    """A block with None for weights and queries that it lacks; whatever else is no block is refused."""
    if not isinstance(block, tuple | list) or not 2 <= len(block) <= 4:
        what = f"of type {type(block).__name__}" if not isinstance(block, tuple | list) else f"of {len(block)} parts"
        raise TypeError(f"block {i} is (X, y), (X, y, weights) or (X, y, weights, queries), and was {what}")
    X, y, weight, qid = (*block, None, None)[:4]
    return X, y, weight, qid


def _names(X: Any) -> list[str] | None:
    """The names of the columns of a data frame."""
    names = list(getattr(X, "columns", ()))
    return names if names and all(isinstance(name, str) for name in names) else None


def _rows(values: Any, part: slice) -> Any:
    """Rows by their places, whatever the index of a data frame says."""
    return values.iloc[part] if hasattr(values, "iloc") else values[part]


def _plain(frame: pl.DataFrame) -> Any:
    for column in frame:
        if not (column.dtype.is_numeric() or column.dtype == pl.Boolean):
            what = f"cells of type {column.dtype}"
        elif column.null_count() or (column.dtype.is_float() and column.is_nan().any()):
            what = "missing values"
        else:
            continue
        raise TableError(f"column {column.name!r} has {what}; give encoder=TableEncoder(), or drop the column")
    return frame.cast(pl.Float64).to_numpy()


def _target(series: pl.Series, order: list[str] | None) -> Any:
    """The target as numbers, as an Enum, which declares its order (its own, or this one), or as words."""
    if series.null_count():
        raise TableError(f"column {series.name!r} is the target, and {series.null_count():,} rows have none of it")
    if series.dtype.is_numeric() or series.dtype == pl.Boolean:
        return series.to_numpy()
    if order is not None:
        return series.cast(pl.String).cast(pl.Enum(order))
    return series if series.dtype == pl.Enum else np.array(as_words(series).to_list())
