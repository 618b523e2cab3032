"""Targets as dense ranks within their query."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def ranks_within(codes: NDArray[Any], query: Ints) -> Ints:
    """Dense rank (0 for the lowest) of every target among the distinct targets of its query."""
    if not len(codes) or query.max() == 0:
        return np.unique(codes, return_inverse=True)[1].astype(np.int64)
    order = np.lexsort((codes, query))
    q, c = query[order], codes[order]
    first = np.r_[True, q[1:] != q[:-1]]
    group = np.cumsum(first | np.r_[True, c[1:] != c[:-1]])
    ranks = np.empty(len(codes), dtype=np.int64)
    ranks[order] = group - np.repeat(group[first], np.diff(np.r_[np.flatnonzero(first), len(q)]))
    return ranks
