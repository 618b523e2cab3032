"""Rows of a large dense array as float64, of which only those at hand are ever copied."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Floats = NDArray[np.float64]
WORTH = 4_000_000  # bytes of float64 rows from which a view is worth its loops; fewer rows are copied
BLOCK = 65536  # numbers that are converted at a time, which stay in cache


class RowView:
    """Row i is ``base[kept[i]]`` as float64 (``kept`` None: base[i]).

    It stands for an array in what linear models ask of one: its shape, some of its rows (a copy), and products with
    vectors from both sides, in float64. Entries of float32 are exact in float64. ``np.asarray`` copies all rows.
    """

    __array_ufunc__ = None  # so that ``array @ view`` comes here
    dtype = np.dtype(np.float64)
    ndim = 2

    def __init__(self, base: NDArray[Any], kept: NDArray[np.intp] | None = None) -> None:
        self.base, self.kept = base, kept

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self), self.base.shape[1]

    @property
    def size(self) -> int:
        """Number of entries."""
        return len(self) * self.base.shape[1]

    def __len__(self) -> int:
        return len(self.base if self.kept is None else self.kept)

    def __getitem__(self, key: Any) -> Any:
        """Rows, copied; of ``[:, columns]`` a view of copied columns."""
        if isinstance(key, tuple):
            rows, columns = key
            if rows != slice(None):
                raise IndexError("columns are taken of all rows")
            return RowView(self.base[:, columns], self.kept)
        return np.ascontiguousarray(self.base[key if self.kept is None else self.kept[key]], dtype=np.float64)

    def of(self, rows: Any) -> "RowView":
        """Some rows as a view of their own."""
        return RowView(self.base, np.arange(len(self))[rows] if self.kept is None else self.kept[rows])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self[:], dtype=dtype)

    def __matmul__(self, w: Floats) -> Floats:
        out = np.empty((len(self), *np.shape(w)[1:]))
        for part in pieces(*self.shape):
            out[part] = self[part] @ w
        return out

    def __rmatmul__(self, v: Floats) -> Floats:
        out = np.zeros((*np.shape(v)[:-1], self.shape[1]))
        for part in pieces(*self.shape):
            out += v[..., part] @ self[part]
        return out

    @property
    def T(self) -> "_Transposed":
        """The transposed rows, for products with vectors."""
        return _Transposed(self)


class _Transposed:
    def __init__(self, view: RowView) -> None:
        self.view = view

    def __matmul__(self, v: Floats) -> Floats:
        return v.T @ self.view if v.ndim == 1 else (v.T @ self.view).T


def pieces(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Slices of rows that are worked on one at a time, so that nothing of the size of all rows is needed."""
    step = max(256, BLOCK // max(n_columns, 1))
    return (slice(low, min(low + step, n_rows)) for low in range(0, n_rows, step))


def in_place(X: Any) -> Any:
    """Checked dense rows as they stand, float64 where it is contiguous, else as a view; few rows are copied."""
    if 8 * X.size < WORTH:
        return np.ascontiguousarray(X, dtype=np.float64)
    plain = X.dtype == np.float64 and (X.flags.c_contiguous or X.flags.f_contiguous)
    return X if plain else RowView(X)


def rows_of(X: Any, kept: NDArray[np.intp]) -> Any:
    """The rows of X at ascending places; of many dense rows a view."""
    if sp.issparse(X) or 8 * X.shape[1] * len(kept) < WORTH:
        return X[kept]
    return X.of(kept) if isinstance(X, RowView) else RowView(X, kept)
