"""Rows held in blocks: in memory, read again from a source in every pass, or by whoever else can add up.

All that a fit asks of rows beyond memory is

    rows.map(task, *args)    the same rows, every block replaced by task(block, *args), where it lies
    rows.sum(task, *args)    one pass: the sum of task(block, *args) over all blocks

A task is a pure function of a block and of a few small arrays, and gives a dictionary (see ``add``). No state per row
is kept between passes, so that a block that was lost can be loaded again and its sums come out the same.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from hullrank._progress import tell_block
from hullrank.exceptions import HullrankError

Task = Callable[..., Any]
Sums = dict[str, Any]


class Block(NamedTuple):
    """Rows of X with the codes of their classes and their weights, all positive."""

    X: Any
    codes: NDArray[np.intp]
    weights: NDArray[np.float64]


class BlockSource(Protocol):
    """Where blocks of raw data can be read, any number of times, always with the same rows."""

    def __len__(self) -> int:
        """Number of blocks."""

    def read(self, i: int) -> tuple[Any, Any, Any, Any]:
        """Block i as (X, y, weight or None, qid or None)."""


def refuse_beside_blocks(**given: Any) -> None:
    """An error for what blocks have of their own."""
    for name, value in given.items():
        if value is not None:
            raise HullrankError(f"blocks carry their own targets, weights and queries; leave out {name}")


class BlockRows(Protocol):
    """Rows in blocks."""

    @property
    def passes(self) -> int:
        """How often all blocks have been gone through."""

    def map(self, task: Task, *args: Any) -> Self:
        """The same rows with every block replaced by ``task(block, *args)``."""

    def sum(self, task: Task, *args: Any) -> Sums:
        """The sum of ``task(block, *args)`` over all blocks, in one pass."""


@dataclass
class Passes:
    """A count that rows share with those that they are mapped to."""

    count: int = 0


@dataclass(frozen=True)
class HeldBlocks:
    """Blocks in memory."""

    blocks: Sequence[Any]
    counter: Passes = field(default_factory=Passes)

    @property
    def passes(self) -> int:
        """How often all blocks have been gone through."""
        return self.counter.count

    def map(self, task: Task, *args: Any) -> "HeldBlocks":
        """The same rows with every block replaced by ``task(block, *args)``."""
        return HeldBlocks([task(block, *args) for block in self.blocks], self.counter)

    def sum(self, task: Task, *args: Any) -> Sums:
        """The sum of ``task(block, *args)`` over all blocks, in one pass."""
        self.counter.count += 1
        return _told(self.counter.count, len(self.blocks), lambda i: task(self.blocks[i], *args))


@dataclass(frozen=True)
class ReadBlocks:
    """Blocks that are read again in every pass, one at a time; mapped ones pass through all ``steps`` after reading."""

    source: BlockSource
    steps: tuple[tuple[Task, tuple[Any, ...]], ...] = ()
    counter: Passes = field(default_factory=Passes)

    @property
    def passes(self) -> int:
        """How often all blocks have been gone through."""
        return self.counter.count

    def map(self, task: Task, *args: Any) -> "ReadBlocks":
        """The same rows with every block replaced by ``task(block, *args)`` whenever it is read."""
        return ReadBlocks(self.source, (*self.steps, (task, args)), self.counter)

    def sum(self, task: Task, *args: Any) -> Sums:
        """The sum of ``task(block, *args)`` over all blocks, in one pass."""
        self.counter.count += 1
        return _told(self.counter.count, len(self.source), lambda i: task(self._block(i), *args))

    def _block(self, i: int) -> Any:
        return reduce(lambda block, step: step[0](block, *step[1]), self.steps, self.source.read(i))


def _told(pass_number: int, n_blocks: int, part: Callable[[int], Sums]) -> Sums:
    """The sum of all parts; every block that is done is told."""
    total: Sums = {}
    for i in range(n_blocks):
        total = add(total, part(i))
        tell_block(pass_number, i + 1, n_blocks)
    return total


def add(total: Mapping[Any, Any], part: Mapping[Any, Any]) -> Sums:
    """The sum of two dictionaries: numbers and arrays are added, lists joined, dictionaries added by key."""
    out = dict(total)
    for name, value in part.items():
        if name not in out:
            out[name] = value
        elif isinstance(value, dict):
            out[name] = add(out[name], value)
        else:
            out[name] = out[name] + value
    return out
