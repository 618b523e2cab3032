"""Equal rows in blocks, merged into one whose weight is theirs: answers of a survey, ratings, zeros and ones.

A weight is a repetition, so that a problem over merged rows is the problem over all of them. How many different rows
there are is estimated first, from the smallest of their keys, which takes no memory; only if they are few are they
collected.
"""

from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hullrank.problem.row_keys import Keys, row_keys

Floats = NDArray[np.float64]

_SMALLEST = 4096  # keys of an estimate, which is then off by some 1.6%


def pair_keys(X: Any, y: Floats, qid: Any = None) -> Keys:
    """A key for every row, its target and its query, which may have any name."""
    if qid is None:
        return row_keys(X, y)
    names, codes = np.unique(qid, return_inverse=True)
    short = [blake2b(repr(name).encode(), digest_size=8).digest() for name in names.tolist()]
    return row_keys(X, y, np.frombuffer(b"".join(short), dtype=np.uint64)[codes])


@dataclass(frozen=True)
class DistinctCount:
    """The smallest different keys of some rows; counts of several blocks add up."""

    keys: Keys

    @classmethod
    def of(cls, keys: Keys) -> "DistinctCount":
        """The count of rows with such keys."""
        return cls(np.unique(keys)[:_SMALLEST])

    def __add__(self, other: "DistinctCount") -> "DistinctCount":
        return DistinctCount.of(np.concatenate([self.keys, other.keys]))

    @property
    def estimate(self) -> float:
        """How many different rows there are, about: keys are spread evenly, so the largest of the smallest tells."""
        if len(self.keys) < _SMALLEST:
            return float(len(self.keys))
        return _SMALLEST * 2.0**64 / (float(self.keys[-1]) + 1)


@dataclass(frozen=True)
class EqualRows:
    """Different rows, each with the weight and the number of all rows that are equal to it; those of blocks add up.

    ``X`` is None once there were more than ``room`` of them.
    """

    room: int
    X: Any
    y: Floats
    weights: Floats
    qid: Any
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, room: int, X: Any, y: Floats, weights: Floats, qid: Any, counts: Any = None) -> "EqualRows":
        """Rows (with ``counts`` of those that each of them stands for already), merged where they are equal."""
        _, first, inverse = np.unique(pair_keys(X, y, qid), return_index=True, return_inverse=True)
        counts = np.ones(len(y), dtype=np.int64) if counts is None else counts
        if len(first) > room or not _are_equal(X, y, qid, first[inverse]):
            return cls(room, None, np.empty(0), np.empty(0), None, np.empty(0, dtype=np.int64))
        number, weight = np.zeros(len(first), dtype=np.int64), np.zeros(len(first))
        np.add.at(number, inverse, counts)
        np.add.at(weight, inverse, weights)
        return cls(room, X[first], y[first], weight, None if qid is None else qid[first], number)

    def __add__(self, other: "EqualRows") -> "EqualRows":
        if self.X is None or other.X is None:
            return self if self.X is None else other
        stack = sp.vstack if sp.issparse(self.X) else np.concatenate
        qid = None if self.qid is None else np.concatenate([self.qid, other.qid])
        y, weights, counts = (
            np.concatenate([getattr(self, name), getattr(other, name)]) for name in ("y", "weights", "counts")
        )
        return EqualRows.of(self.room, stack([self.X, other.X]), y, weights, qid, counts)


def _are_equal(X: Any, y: Floats, qid: Any, partner: NDArray[np.intp]) -> bool:
    """Whether every row equals its partner: two different ones may have the same key by chance."""
    if not np.array_equal(y, y[partner]) or (qid is not None and not np.array_equal(qid, qid[partner])):
        return False
    if sp.issparse(X):
        return (sp.csr_array(X) != sp.csr_array(X)[partner]).nnz == 0
    return np.array_equal(X, X[partner])


def equal_rows(block: tuple[Any, Floats, Floats, Any], room: int) -> dict[str, Any]:
    """The different rows of a checked block (X, y, weights, queries or None), unless they are too many (a task)."""
    X, y, weights, qid = block
    return {"equal": EqualRows.of(room, X, y, weights, qid)} if len(y) else {}
