"""Keys of rows, by which equal ones are found: 64 bits that are equal for equal rows, and hardly ever for others."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Keys = NDArray[np.uint64]
_PIECE = 2048  # rows whose keys are computed at a time, so that they stay in cache
_FACTOR, _SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(29)  # odd, without pattern; a little less than half of 64


def row_keys(X: Any, *beside: NDArray[Any]) -> Keys:
    """A key of every row of X together with the numbers ``beside`` it, in every process the same.

    Who joins rows by their keys compares them, since different ones may have the same key by chance.
    """
    columns = _mixed(np.arange(1, X.shape[1] + 1, dtype=np.uint64)) | np.uint64(1)
    rows = sp.csr_array(X) if sp.issparse(X) else X
    lows = range(0, X.shape[0], _PIECE)
    found = np.concatenate([np.empty(0, dtype=np.uint64), *(_sums(rows[low : low + _PIECE], columns) for low in lows)])
    for values in beside:
        found = _mixed(found) + _bits(values)
    return _mixed(found)


def _sums(X: Any, columns: Keys) -> Keys:
    """Sums of the bits of rows, each times the factor of its column; sums may overflow."""
    if not sp.issparse(X):
        return np.asarray(_bits(X) @ columns)
    ends = np.zeros(len(X.data) + 1, dtype=np.uint64)
    np.cumsum(_bits(X.data) * columns[X.indices], out=ends[1:])
    return ends[X.indptr[1:]] - ends[X.indptr[:-1]]


def _bits(values: Any) -> Keys:
    """The bits of numbers, mixed; those of 0 and -0 are 0."""
    if values.dtype == np.uint64:
        return _mixed(values)
    return _mixed((np.asarray(values, dtype=np.float64) + 0.0).view(np.uint64))


def _mixed(bits: Keys) -> Keys:
    """Bits in which each depends on many of the given ones: round numbers differ in their first bits only."""
    bits = (bits ^ (bits >> _SHIFT)) * _FACTOR
    return bits ^ (bits >> _SHIFT)
