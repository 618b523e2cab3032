"""Queries: ids from sizes, columns that look like ids, and targets as dense ranks within their query."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hullrank.data.labels import unique_inverse
from hullrank.exceptions import HullrankError, QueryWarning

Ints = NDArray[np.int64]
QUERY_NAMES = frozenset({"qid", "query", "query_id", "queryid"})


def qid_from_groups(sizes: ArrayLike) -> Ints:
    """Query ids 0, 1, 2, ... of rows that stand query by query, from their sizes (LightGBM's and XGBoost's ``group``).

    Parameters
    ----------
    sizes : array-like of positive integers
        The number of rows of every query, in the order of the rows.

    Returns
    -------
    qid : ndarray of shape (sum of sizes,)

    Examples
    --------
    >>> from hullrank.data import qid_from_groups
    >>> qid_from_groups([2, 1, 3]).tolist()
    [0, 0, 1, 2, 2, 2]
    """
    values = np.asarray(sizes)
    if values.ndim != 1 or not len(values):
        raise HullrankError(f"group sizes have the shape {values.shape}; pass one number of rows per query")
    bad = ~np.isfinite(values) | (values != np.floor(values)) | (values < 1) if values.dtype.kind in "iuf" else None
    if bad is None or bad.any():
        odd = (values if bad is None else values[bad]).tolist()[0]
        raise HullrankError(f"a group has the size {odd!r}; sizes are positive whole numbers, one per query")
    return np.repeat(np.arange(len(values), dtype=np.int64), values.astype(np.int64))


def warn_of_query_columns(X: Any) -> None:
    """Say so if a data frame has a column of query ids, which would be learned from as a feature."""
    names = getattr(X, "columns", None)
    found = [] if names is None else [name for name in names if isinstance(name, str) and name.lower() in QUERY_NAMES]
    if found:
        warnings.warn(
            f"column {found[0]!r} of X is taken as a feature; drop it, and pass it as qid to rank within queries",
            QueryWarning,
            stacklevel=5,
        )


def ranks_within(codes: NDArray[Any], query: Ints) -> Ints:
    """Dense rank (0 for the lowest) of every target among the distinct targets of its query."""
    if not len(codes) or query.max() == 0:
        return unique_inverse(codes)[1]
    order = np.lexsort((codes, query))
    q, c = query[order], codes[order]
    first = np.r_[True, q[1:] != q[:-1]]
    group = np.cumsum(first | np.r_[True, c[1:] != c[:-1]])
    ranks = np.empty(len(codes), dtype=np.int64)
    ranks[order] = group - group[first][np.cumsum(first) - 1]
    return ranks
