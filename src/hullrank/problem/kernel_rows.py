"""The two sides of a product that a kernel is made of, computed from rows in memory whenever some are asked for.

Many rows in float32 would otherwise be held in float64, as rows and as columns.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hullrank.data import RowView, pieces

Floats = NDArray[np.float64]
TILE = 2048  # columns of kernel values that are computed at a time


@dataclass(frozen=True)
class MadeRows:
    """Row i is root * x_i or, with ``half``, (z_i, half_i, 1), z_i = root * (x_i - centre) and half_i = -|z_i|^2 / 2.

    The product of such rows with the columns of ``MadeColumns`` is gamma x.y or -gamma |x - y|^2.
    """

    X: RowView
    root: float
    centre: Floats | None = None
    half: Floats | None = None

    @classmethod
    def about(cls, X: RowView, centre: Floats, root: float) -> "MadeRows":
        """Rows whose products are exponents of rbf."""
        half = np.empty(len(X))
        for part in pieces(*X.shape):
            Y = (X[part] - centre) * root
            half[part] = -0.5 * np.einsum("ij,ij->i", Y, Y)
        return cls(X, root, centre, half)

    def __len__(self) -> int:
        return len(self.X)

    @property
    def width(self) -> int:
        """Number of columns."""
        return self.X.shape[1] + (0 if self.half is None else 2)

    def of(self, samples: Any) -> "MadeRows":
        """The rows of some samples, not made yet."""
        return replace(self, X=self.X.of(samples), half=None if self.half is None else self.half[samples])

    def __getitem__(self, rows: Any) -> Floats:
        """Some rows, made."""
        out = np.empty((len(Y := self.X[rows]), self.width))
        if self.half is None or self.centre is None:
            return np.multiply(Y, self.root, out=out)
        np.subtract(Y, self.centre, out=out[:, :-2])
        out[:, :-2] *= self.root
        out[:, -2], out[:, -1] = self.half[rows], 1.0
        return out


@dataclass(frozen=True)
class MadeColumns:
    """The rows as columns, the last two entries exchanged."""

    rows: MadeRows

    def __getitem__(self, key: Any) -> Any:
        """Of [:, samples] the columns, made if they are few."""
        samples = key[1]
        part = self.rows.of(samples)
        return _turned(part, part[:]).T if len(part) <= TILE else MadeColumns(part)

    def multiply(self, left: Floats, out: Floats) -> None:
        """Write left times all columns, some of which are made at a time."""
        for low in range(0, len(self.rows), TILE):
            part = slice(low, min(low + TILE, len(self.rows)))
            np.matmul(left, _turned(self.rows, self.rows[part]).T, out=out[:, part])

    def in_float32(self) -> NDArray[np.float32]:
        """All columns."""
        out = np.empty((self.rows.width, len(self.rows)), dtype=np.float32)
        for part in pieces(*self.rows.X.shape):
            out[:, part] = _turned(self.rows, self.rows[part]).T
        return out


@dataclass(frozen=True)
class TurnedColumns:
    """Columns that are held, as the rows of the other side."""

    columns: NDArray[Any]
    has_half: bool

    def __getitem__(self, rows: Any) -> NDArray[Any]:
        """Some rows, copied."""
        out = np.ascontiguousarray(self.columns[:, rows].T)
        if self.has_half:
            out[:, [-2, -1]] = out[:, [-1, -2]]
        return out


def _turned(rows: MadeRows, made: Floats) -> Floats:
    """Made rows as those of the other side, in place."""
    if rows.half is not None:
        made[:, [-2, -1]] = made[:, [-1, -2]]
    return made
