"""Blocks of rows on the workers of a Dask cluster, behind the same two methods as blocks in memory or on disk.

A task is a pure function of a block and may run on any worker. What a lost worker held is computed again from the Dask
graph that made it, so that no pass can hang on a worker that is gone.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np
import scipy.sparse as sp
from dask.distributed import Client, as_completed

from hullrank._progress import tell_block
from hullrank.exceptions import HullrankError
from hullrank.problem.block_rows import Passes, Sums, Task, add

_FAN_IN = 16  # sums that are added on a worker at a time
_LARGE = 100_000  # bytes from which an argument travels once per worker rather than once per task
_MEMORY = 1 << 29  # bytes of rows that the driver may hold


@dataclass
class DaskBlocks:
    """Futures of blocks. ``map`` lets go of the blocks that it replaces."""

    client: Client
    blocks: list[Any]
    counter: Passes = field(default_factory=Passes)

    @property
    def passes(self) -> int:
        """How often all blocks have been gone through."""
        return self.counter.count

    def map(self, task: Task, *args: Any) -> "DaskBlocks":
        """The same rows with every block replaced by ``task(block, *args)``, where it lies."""
        mapped = DaskBlocks(self.client, self._each(task, args), self.counter)
        self.blocks = []
        return mapped

    def sum(self, task: Task, *args: Any) -> Sums:
        """The sum of ``task(block, *args)`` over all blocks, in one pass."""
        self.counter.count += 1
        parts = self._each(task, args)
        for done, _ in enumerate(as_completed(parts), start=1):
            tell_block(self.counter.count, done, len(parts))
        while len(parts) > _FAN_IN:
            groups = [parts[low : low + _FAN_IN] for low in range(0, len(parts), _FAN_IN)]
            parts = [self.client.submit(_added, group, pure=False, priority=1) for group in groups]
        return _added(self.client.gather(parts))

    def _each(self, task: Task, args: tuple[Any, ...]) -> list[Any]:
        """A future of ``task(block, *args)`` for every block."""
        shared = [self._shared(value) for value in args]
        return self.client.map(task, self.blocks, *([value] * len(self.blocks) for value in shared), pure=False)

    def _shared(self, value: Any) -> Any:
        if isinstance(value, np.ndarray) and value.nbytes > _LARGE:
            return self.client.scatter(value, broadcast=True, hash=False)
        return value


def _added(parts: Sequence[Sums]) -> Sums:
    """The sum in the order of the blocks, so that a repeated pass gives the same bits."""
    return reduce(add, parts, {})


@dataclass(frozen=True)
class DaskSource:
    """What a fit asks of a source beside its rows, which stay on the workers."""

    n_blocks: int
    feature_names_in_: Any = None
    memory: int = _MEMORY
    gathers: bool = False

    def __len__(self) -> int:
        return self.n_blocks


def blocks_of(client: Client, X: Any, y: Any, sample_weight: Any, qid: Any) -> tuple[DaskBlocks, DaskSource]:
    """The blocks of Dask collections, which are computed on the workers and stay there."""
    from dask import delayed

    parts = _parts(X, "X", None)
    columns = [
        [None] * len(parts) if values is None else _parts(values, name, X, len(parts))
        for name, values in (("y", y), ("sample_weight", sample_weight), ("qid", qid))
    ]
    as_one = delayed(_as_block, pure=False)
    lazy = [as_one(*block) for block in zip(parts, *columns, strict=True)]
    names = getattr(X, "columns", None)
    names = None if names is None or not all(isinstance(name, str) for name in names) else np.array(names, dtype=object)
    return DaskBlocks(client, client.compute(lazy)), DaskSource(len(parts), names)


def _parts(values: Any, name: str, like: Any, expected: int | None = None) -> Any:
    """The blocks of rows of a collection as delayed objects; those of y and the like stand beside those of X."""
    import dask.array as da

    if expected is not None and not hasattr(values, "to_delayed"):
        if not hasattr(like, "chunks") or np.isnan(like.chunks[0]).any():
            raise HullrankError(
                f"{name} is in memory, and the sizes of the blocks of X are unknown; give {name} in Dask"
            )
        values = np.asarray(values)
        _check_length(name, values.shape[0], like)
        values = da.from_array(values, chunks=(like.chunks[0], *values.shape[1:]))
    if not hasattr(values, "to_delayed"):
        raise HullrankError(
            f"{name} is a {type(values).__name__}; give a Dask array or data frame, or use the local estimator"
        )
    if isinstance(values, da.Array):
        values = _in_rows(values, like)
    parts = np.asarray(values.to_delayed(), dtype=object).ravel().tolist()
    if like is not None and hasattr(values, "chunks") and hasattr(like, "chunks"):
        _check_length(name, sum(values.chunks[0]), like)
    if expected is not None and len(parts) != expected:
        raise HullrankError(f"{name} has {len(parts)} blocks, and X has {expected}; rechunk {name} like X")
    return parts


def _check_length(name: str, length: float, X: Any) -> None:
    """Refuse another number of rows than that of X; NaN where a number is not known."""
    rows = sum(X.chunks[0])
    if length != rows and not np.isnan([length, rows]).any():
        raise HullrankError(f"X has {rows:,} rows, and {name} has {length:,}")


def _in_rows(values: Any, like: Any) -> Any:
    """An array in blocks of whole rows, cut like X where sizes are known."""
    if values.ndim == 2 and values.numblocks[1] > 1:
        return values.rechunk({1: -1})
    known = like is not None and hasattr(like, "chunks") and not np.isnan([*like.chunks[0], *values.chunks[0]]).any()
    if known and values.chunks[0] != like.chunks[0] and sum(values.chunks[0]) == sum(like.chunks[0]):
        return values.rechunk({0: like.chunks[0]})
    return values


def _as_block(X: Any, y: Any, weight: Any, qid: Any) -> tuple[Any, Any, Any, Any]:
    """One block as (X, y, weight or None, qid or None), from what Dask computed."""
    if not sp.issparse(X):
        X = _as_numbers(X)
    rows = X.shape[0]
    for name, values in (("y", y), ("sample_weight", weight), ("qid", qid)):
        if values is not None and len(values) != rows:
            raise HullrankError(f"a block of X has {rows} rows, and its {name} has {len(values)}; cut both alike")
    return X, y, _plain(weight), _plain(qid)


def _as_numbers(X: Any) -> Any:
    """Dense rows as float64; a missing number of any type is NaN."""
    try:
        if hasattr(X, "to_numpy"):
            return X.to_numpy(dtype=np.float64, na_value=np.nan)
        return np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise HullrankError(
            f"X has cells that are no numbers ({error}); drop such columns, or make columns of 0 and 1 of them by "
            "dask.dataframe.get_dummies(X.categorize())"
        ) from error


def _plain(values: Any) -> Any:
    return None if values is None else np.asarray(values)
