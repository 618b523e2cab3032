"""Rows that were fetched since they are near their kink; equal ones can be held as one, at the sum of their costs."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Keys = NDArray[np.uint64]
FACTOR, SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(29)  # odd and without pattern; a little less than half of 64


class Near(NamedTuple):
    """Rows near their kink: the bundle of every slack, the row of X, the cost of the slack, the row's number.

    ``times`` tells how many equal slacks an entry stands for; its number is then that of the first.
    """

    bundle: NDArray[np.int32]
    X: Any
    cost: Floats
    number: NDArray[np.int32]
    times: NDArray[np.int64]


def merge_equal(parts: list[Near]) -> list[Near]:
    """Entries with the same bundle and the same row become one; where there are none, the parts stay as they are.

    Entries are told apart by keys of 64 bits, and those with the same key are compared: should they differ after all,
    everything stays as it is, too.
    """
    if not parts:
        return parts
    keys = np.concatenate([_keys(part) for part in parts])
    _, first, entry = np.unique(keys, return_index=True, return_inverse=True)
    if len(first) == len(keys):
        return parts
    ends = np.cumsum([len(part.cost) for part in parts])
    kept = np.zeros(len(keys), dtype=bool)
    kept[first] = True
    place = (np.cumsum(kept) - 1)[first[entry]]  # where the first one equal to an entry will stand
    held = [np.flatnonzero(mine) for mine in np.split(kept, ends[:-1])]
    chosen = [part.X[mine] for part, mine in zip(parts, held, strict=True)]
    merged = Near(
        np.concatenate([part.bundle[mine] for part, mine in zip(parts, held, strict=True)]),
        sp.vstack(chosen, format="csr") if sp.issparse(chosen[0]) else np.concatenate(chosen),
        np.bincount(place, np.concatenate([part.cost for part in parts])),
        np.concatenate([part.number[mine] for part, mine in zip(parts, held, strict=True)]),
        np.bincount(place, np.concatenate([part.times for part in parts])).astype(np.int64),
    )
    same = all(_equal(part, merged, mine) for part, mine in zip(parts, np.split(place, ends[:-1]), strict=True))
    return [merged] if same else parts


def kinds_among(times: NDArray[np.int64], m: float) -> float:
    """About how many different entries m have, from how often each was met in a sample of them (after Chao).

    What was met once, beside what was met twice, tells how many were not met at all.
    """
    once, twice = np.count_nonzero(times == 1), np.count_nonzero(times == 2)
    unseen = once**2 / (2 * twice) if twice else (np.inf if once else 0.0)
    return min(len(times) + unseen, m)


def _keys(part: Near) -> Keys:
    """A key of every entry, which depends on the bits of its row, column by column, and on its bundle."""
    X = part.X
    with np.errstate(over="ignore"):
        columns = _mixed(np.arange(1, X.shape[1] + 1, dtype=np.uint64)) | np.uint64(1)
        if sp.issparse(X):
            ends = np.zeros(len(X.data) + 1, dtype=np.uint64)
            np.cumsum(_bits(X.data) * columns[X.indices], out=ends[1:])
            keys = ends[X.indptr[1:]] - ends[X.indptr[:-1]]
        else:
            keys = _bits(X) @ columns
        return _mixed(keys + _mixed(part.bundle.astype(np.uint64) + np.uint64(1)))


def _bits(values: Any) -> Keys:
    """The bits of numbers, mixed; those of 0 and -0 are 0."""
    return _mixed((np.asarray(values, dtype=np.float64) + 0.0).view(np.uint64))


def _mixed(bits: Keys) -> Keys:
    """Bits in which each depends on many of the given ones: round numbers differ in their first bits only."""
    bits = (bits ^ (bits >> SHIFT)) * FACTOR
    return bits ^ (bits >> SHIFT)


def _equal(part: Near, merged: Near, place: NDArray[np.intp]) -> bool:
    """Whether every entry of a part is the merged one at its place."""
    if not np.array_equal(part.bundle, merged.bundle[place]):
        return False
    X = merged.X[place]
    return not (part.X != X).nnz if sp.issparse(X) else np.array_equal(part.X, X)
