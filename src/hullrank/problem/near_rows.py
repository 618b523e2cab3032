"""Rows that were fetched since they are near their kink; equal ones can be held as one, at the sum of their costs."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hullrank.data import Samples
from hullrank.problem.row_keys import row_keys

Floats = NDArray[np.float64]
ENOUGH = 20_000  # drawn rows that tell whether rows repeat


class Near(NamedTuple):
    """Rows near their kink: the bundle of every slack, the row of X, the cost of the slack, the row's number.

    ``times`` tells how many equal slacks an entry stands for (None: each for itself); its number is then that of the
    first.
    """

    bundle: NDArray[np.integer]
    X: Any
    cost: Floats
    number: NDArray[np.integer]
    times: NDArray[np.int64] | None = None

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many slacks every entry stands for."""
        return np.ones(len(self.cost), dtype=np.int64) if self.times is None else self.times


def merge_equal(parts: list[Near]) -> list[Near]:
    """Entries with the same bundle and the same row become one; where there are none, the parts stay as they are.

    Entries are told apart by keys of 64 bits, and those with the same key are compared: should they differ after all,
    everything stays as it is, too.
    """
    parts = [part for part in parts if len(part.cost)]
    if not parts:
        return parts
    keys = np.concatenate([row_keys(part.X, part.bundle) for part in parts])
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
        np.bincount(place, np.concatenate([part.cost for part in parts])).astype(np.float64, copy=False),
        np.concatenate([part.number[mine] for part, mine in zip(parts, held, strict=True)]),
        np.bincount(place, np.concatenate([part.counts for part in parts])).astype(np.int64),
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


def rows_repeat(samples: Samples, m: int) -> bool:
    """Whether most of m rows are repetitions of others of their class, as far as the drawn samples tell."""
    some = slice(None, None, -(-len(samples.codes) // ENOUGH))
    codes = samples.codes[some]
    rows = Near(codes, samples.X[some], samples.weights[some], codes)
    return kinds_among(np.concatenate([near.counts for near in merge_equal([rows])]), m) < m / 2


def _equal(part: Near, merged: Near, place: NDArray[np.intp]) -> bool:
    """Whether every entry of a part is the merged one at its place."""
    if not np.array_equal(part.bundle, merged.bundle[place]):
        return False
    X = merged.X[place]
    return not (part.X != X).nnz if sp.issparse(X) else np.array_equal(part.X, X)
