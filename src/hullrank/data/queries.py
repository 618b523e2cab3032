"""Query ids in any order and type become codes; targets become dense ranks within their query."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d

from hullrank.exceptions import HullrankError

Ints = NDArray[np.int64]


def check_queries(qid: Any, n_rows: int) -> Ints:
    """Codes 0..Q-1 of the query ids, by sorted id; zeros (one query) if ``qid`` is None."""
    if qid is None:
        return np.zeros(n_rows, dtype=np.int64)
    listed = isinstance(qid, (list, tuple))  # NumPy would turn a list of numbers and strings into strings
    values = column_or_1d(np.array(qid, dtype=object) if listed else qid, warn=True)
    if len(values) != n_rows:
        raise HullrankError(f"qid has {len(values)} entries, X has {n_rows} rows; pass one query id per row")
    missing = (
        np.array([v is None or v != v for v in values.tolist()]) if values.dtype.kind in "fOM" else values != values
    )
    if missing.any():
        raise HullrankError(
            f"qid is missing at row {int(np.argmax(missing))}; give every row a query id, or drop the row"
        )
    try:
        return np.unique(values, return_inverse=True)[1].astype(np.int64)
    except TypeError as error:
        raise HullrankError(
            f"qid mixes types that cannot be compared ({error}); use only numbers or only strings"
        ) from error


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
