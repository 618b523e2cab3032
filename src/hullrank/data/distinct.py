"""Equal rows of a table."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def distinct_rows(table: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The first place of every distinct row, in sorted order, and for every row which of them it equals.

    As ``np.unique`` along the rows, which compares them as records: Ctrl-C during that comes out of NumPy as a
    TypeError without a cause.
    """
    order = np.lexsort(table.T[::-1]) if table.shape[1] else np.arange(len(table))
    new = np.ones(len(table), dtype=bool)
    new[1:] = (table[order[1:]] != table[order[:-1]]).any(axis=1)
    group = np.empty(len(table), dtype=np.intp)
    group[order] = np.cumsum(new) - 1
    return order[new], group
