"""The rows of X, behind the few products that solvers and certificates are allowed to ask for.

Nothing in ``solvers`` or ``models`` multiplies by X itself, so that rows held elsewhere (in blocks, on disk) only need
the same products; rows in memory may also hand out ``columns`` or ``entries`` to compiled loops, which go through them
without a call for each product. Dense and sparse meet here. ``tests/test_products_with_rows.py`` keeps it so.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import qr

from hullrank.data import RowView, pieces
from hullrank.problem.column_moments import ColumnMoments
from hullrank.problem.layout import GROUP, PARTNER, START, RowLayout

Floats = NDArray[np.float64]
FAR_OFF = 1e3  # distance of the mean from 0, in units of the rows' spread, beyond which rows are centred in a copy


def linear_scores(X: Any, coef: Floats) -> Floats:
    """Products x.coef of the rows of X as it stands: the scores that a linear model predicts.

    A matrix ``coef`` has a column for every score.
    """
    scores = np.asarray(X @ coef)
    return scores.ravel() if coef.ndim == 1 else scores


def columns_of(X: Any, columns: NDArray[np.integer]) -> Any:
    """Some columns of a matrix; one column of zeros where none is asked for, which no solver needs to know of."""
    if len(columns):
        return X[:, columns]
    return X[:, :1] * 0.0 if sp.issparse(X) else np.zeros((X.shape[0], 1))


class Rows(Protocol):
    """What a solver of class-based problems may ask of the rows x_i, i = 0..m-1.

    The interior-point and Newton methods ask for the products alone. Who has no stored ``entries``, or does not offer
    ``in_row_space`` and ``signed``, is not given to coordinate descent, has no more columns than rows, and takes nu and
    C as numbers.
    """

    @property
    def n_rows(self) -> int:
        """Number of rows."""

    @property
    def n_features(self) -> int:
        """Number of columns."""

    def scores(self, w: Floats) -> Floats:
        """Products x_i.w of all rows."""

    def adjoint(self, coef: Floats) -> Floats:
        """Sum of coef_i x_i."""

    def gram(self, d: Floats) -> Floats:
        """Sum of d_i x_i x_i', d >= 0."""

    def gram_operator(self, d: Floats) -> "GramOperator":
        """``gram(d)`` as an operator, for columns too many to form the matrix."""

    def take(self, positions: NDArray[np.integer]) -> "Rows":
        """The rows at the given positions, copied."""

    @property
    def copied(self) -> "Rows":
        """The same rows, copied into their order."""

    @property
    def is_sparse(self) -> bool:
        """Whether most entries are 0 and not stored."""

    def entries(self) -> "Entries":
        """The stored entries of sparse rows, for a solver that goes through them one by one."""

    def in_row_space(self) -> tuple["Rows", Callable[[Floats], Floats]]:
        """Rows of at most as many columns as rows that have the same scores, and the way back of their weights."""

    def signed(self, positions: NDArray[np.integer], signs: Floats) -> Any:
        """The matrix of the rows at the given positions, each times its sign, for a linear program over them."""

    @property
    def columns(self) -> Floats | None:
        """The columns of dense rows in memory as lines of a C-contiguous array, or None where there is none such."""

    def group_sums(self, layout: RowLayout) -> "GroupSums":
        """The map from values per row of the layout to (groups, columns): sums of values times the row's sample."""


class Entries(NamedTuple):
    """The stored entries of sparse rows: row i is that of X at pick[i], divided by ``scale``.

    Row k of X has the entries values[starts[k]:starts[k + 1]] in the columns of the same places.
    """

    values: Floats
    columns: NDArray[np.integer]
    starts: NDArray[np.integer]
    pick: NDArray[np.integer]
    scale: float

    def squares(self) -> Floats:
        """|x_i|^2 of every row."""
        return square_lengths(self.values, self.starts)[self.pick] / self.scale**2


@dataclass(frozen=True)
class ArrayRows:
    """Rows in memory, a view of X: row i is (X[pick[i]] - mean) / scale; ``pick`` None means all rows as they stand.

    Sparse rows are never centred (thresholds absorb the mean); ``mean`` is then None. ``spread`` is rms|x| of the rows
    of X that were measured, by which they are scaled unless it is 0, and ``deviation`` that of every column of dense
    ones. ``origin``, where it is given, was taken out of the rows of the data to make X (see ``measured_rows``).
    """

    X: Any
    pick: NDArray[np.integer] | None = None
    mean: Floats | None = None
    scale: float = 1.0
    spread: float = 1.0
    deviation: Floats | None = None
    origin: Floats | None = None

    @property
    def taken_out(self) -> Floats | None:
        """What the rows lack of those of the data, apart from their scale."""
        return self.mean if self.origin is None else self.origin

    @property
    def moments(self) -> ColumnMoments | None:
        """Mean and standard deviation of the columns of dense rows that were measured."""
        return None if self.mean is None or self.deviation is None else ColumnMoments(self.mean, self.deviation)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.X.shape[1])

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0] if self.pick is None else len(self.pick))

    @property
    def is_sparse(self) -> bool:
        """Whether X is a sparse matrix."""
        return sp.issparse(self.X)

    @property
    def columns(self) -> Floats | None:
        """The columns, if they are stored as they are."""
        plain = self.pick is None and self.mean is None and self.scale == 1.0
        return self.X.T if plain and isinstance(self.X, np.ndarray) and self.X.flags.f_contiguous else None

    def scores(self, w: Floats) -> Floats:
        """Row products with w."""
        s = self.X @ (w / self.scale)
        if self.pick is not None:
            s = s[self.pick]
        if self.mean is not None:
            s -= self.mean @ w / self.scale
        return s

    def adjoint(self, coef: Floats) -> Floats:
        """Sum of coef_i times row i."""
        out = self.X.T @ self._scatter(coef)
        if self.mean is not None:
            out -= self.mean * coef.sum()
        return out / self.scale

    def gram(self, d: Floats) -> Floats:
        """Sum of d_i times row i's outer product, d >= 0; rows of weight 0 are not touched where X is a view."""
        d = self._scatter(d)
        if sp.issparse(self.X):
            return np.asarray((self.X.T @ self.X.multiply(d[:, None]).tocsr()).todense()) / self.scale**2
        H = np.zeros((self.n_features, self.n_features))
        # A mean near 0 is taken out of the sum rather than out of every row: that costs no digits, and no copy.
        is_near = self.mean is not None and self.pick is None and np.abs(self.mean).max(initial=0.0) < self.spread
        early, late = (None, self.mean) if is_near else (self.mean, None)
        root = np.sqrt(d)
        for part in pieces(*self.X.shape):
            Y, f = self.X[part], root[part]
            if self.pick is not None:
                hot = np.flatnonzero(f)
                Y, f = Y[hot], f[hot]
            Z = (Y if early is None else Y - early) * f[:, None]
            H += Z.T @ Z
        if late is not None:
            outer = np.outer(self.X.T @ d, late)
            H += float(d.sum()) * np.outer(late, late) - outer - outer.T
        return H / self.scale**2

    def gram_operator(self, d: Floats) -> "GramOperator":
        """``gram(d)`` as an operator, for columns too many to form the matrix."""
        return GramOperator(self, d)

    def gram_diagonal(self, d: Floats) -> Floats:
        """The diagonal of ``gram(d)``."""
        d = self._scatter(d)
        if sp.issparse(self.X):
            return np.asarray(self.X.multiply(self.X).T @ d).ravel() / self.scale**2
        squares = np.zeros(self.n_features)
        for part in pieces(*self.X.shape):
            Y = self.X[part] if self.mean is None else self.X[part] - self.mean
            squares += np.einsum("ij,ij,i->j", Y, Y, d[part])
        return squares / self.scale**2

    def entries(self) -> Entries:
        """The stored entries of sparse rows, for solvers that go through them one by one."""
        X = self.X
        pick = np.arange(X.shape[0]) if self.pick is None else self.pick
        return Entries(X.data, X.indices, X.indptr, pick, self.scale)

    def signed(self, positions: NDArray[np.integer], signs: Floats) -> Any:
        """The matrix of the rows at the given positions, each times its sign; sparse if the rows are."""
        taken = self.take(positions)
        return taken.X.multiply(signs[:, None] / taken.scale) if self.is_sparse else taken.X * signs[:, None]

    def in_row_space(self) -> tuple["ArrayRows", Callable[[Floats], Floats]]:
        """Rows R of at most as many columns as rows, with X = R Q' and Q'Q = 1, and the map from weights v to Q v.

        Rows x.(Q v) = r.v have the same scores. Sparse rows are not made dense: their R comes from the eigenvalues of
        XX', which has half the digits.
        """
        taken = self.take(np.arange(self.n_rows))
        if not self.is_sparse:
            Q, R = qr(taken.X.T, mode="economic", check_finite=False)
            return ArrayRows(np.ascontiguousarray(R.T)), lambda v: Q @ v
        values, vectors = np.linalg.eigh((taken.X @ taken.X.T).toarray() / taken.scale**2)
        kept = values > 1e-15 * max(values[-1], 1e-300)
        root, vectors = np.sqrt(values[kept]), vectors[:, kept]
        return ArrayRows(np.ascontiguousarray(vectors * root)), lambda v: taken.adjoint(vectors @ (v / root))

    def group_sums(self, layout: RowLayout) -> "GroupSums":
        """The map from row values to (G, n): for each group the sum of values_r times the sample of row r."""
        return GroupSums(self, layout)

    @cached_property
    def copied(self) -> "ArrayRows":
        """The same rows, copied into their order."""
        return self if self.pick is None else self.take(np.arange(self.n_rows))

    def take(self, positions: NDArray[np.integer], *, by_column: bool = True) -> "ArrayRows":
        """The rows at the given positions, copied; stored by column, weighing them runs along memory."""
        positions = positions if self.pick is None else self.pick[positions]
        if sp.issparse(self.X):
            return ArrayRows(self.X[positions].tocsr(), scale=self.scale)
        X = np.empty((len(positions), self.n_features), order="F" if by_column else "C")
        for part in pieces(*X.shape):
            X[part] = self.X[positions[part]]
        if self.mean is not None:
            X -= self.mean
        X /= self.scale
        return ArrayRows(X)

    def contrast(self, coef: Floats) -> Floats:
        """Sum of coef_i x_i for coefficients whose sum is 0 but for rounding, which the mean of the rows multiplies."""
        return self.adjoint(coef) - coef.sum() * self.centre

    @cached_property
    def centre(self) -> Floats:
        """The mean of the rows."""
        return np.asarray(self.adjoint(np.full(self.n_rows, 1.0 / max(self.n_rows, 1)))).ravel()

    @cached_property
    def longest(self) -> float:
        """Largest distance of a row of X from their mean; of rows that are X as it stands."""
        X, centre = self.X, self.centre
        if sp.issparse(X):
            squares = np.asarray(X.multiply(X).sum(axis=1)).ravel()
        else:
            squares = np.concatenate([np.einsum("ij,ij->i", Y, Y) for Y in map(X.__getitem__, pieces(*X.shape))])
        return float(np.max(squares - 2 * (X @ centre) + centre @ centre, initial=0.0)) ** 0.5

    @cached_property
    def products(self) -> Floats:
        """The products of any two rows, which are few and dense."""
        Y = self.take(np.arange(self.n_rows)).X
        return np.asarray(Y @ Y.T)

    @cached_property
    def column_variance(self) -> Floats:
        """Variance of every column of X."""
        even = np.full(self.X.shape[0], 1 / max(self.X.shape[0], 1))
        return np.maximum(ArrayRows(self.X).gram_diagonal(even) - (even @ self.X) ** 2, 0.0)

    @property
    def is_far_off(self) -> bool:
        """Whether the mean is so far from 0 that products with a view lose digits which a centred copy keeps."""
        return self.mean is not None and float(np.abs(self.mean).max(initial=0.0)) > FAR_OFF * self.scale

    def _scatter(self, values: Floats) -> Floats:
        """Values of view rows at the rows of X."""
        if self.pick is None:
            return values
        out = np.zeros(self.X.shape[0])
        out[self.pick] = values
        return out


@dataclass(frozen=True)
class GramOperator:
    """The matrix ``rows.gram(d)``, applied without being formed."""

    rows: ArrayRows
    d: Floats

    def __matmul__(self, v: Floats) -> Floats:
        return self.rows.adjoint(self.d * self.rows.scores(v))

    def diagonal(self) -> Floats:
        """The diagonal of the matrix."""
        return self.rows.gram_diagonal(self.d)


class GroupSums:
    """Sums of samples over the rows of each group, for any values of the rows.

    The rows of a group are a slice of copied rows, so few groups are as many products; otherwise a sparse matrix of
    the rows that have a value does it.
    """

    def __init__(self, rows: ArrayRows, layout: RowLayout) -> None:
        self.rows, self.layout = rows, layout
        starts = layout.group_starts
        self.slices = None
        if rows.pick is None and isinstance(rows.X, np.ndarray) and len(starts) <= 64:
            table = layout.table
            home = np.zeros(len(starts) - 1, dtype=np.int64)
            home[table[:, GROUP]] = table[:, START]
            paired = table[table[:, PARTNER] >= 0]
            home[paired[:, PARTNER]] = paired[:, START]
            self.slices = [
                (slice(a, b), slice(k, k + b - a))
                for a, b, k in zip(starts[:-1].tolist(), starts[1:].tolist(), home.tolist(), strict=True)
            ]

    def __call__(self, values: Floats) -> Floats:
        """The sums for given values."""
        rows, X = self.rows, self.rows.X
        if self.slices is not None:
            return np.array([values[own] @ X[samples] for own, samples in self.slices])
        hot = np.flatnonzero(values)
        sample: NDArray[np.integer] = self.layout.row_sample[hot]
        if rows.pick is not None:
            sample = rows.pick[sample]
        starts = np.searchsorted(hot, self.layout.group_starts)
        members = sp.csr_array((values[hot], sample, starts), shape=(len(starts) - 1, X.shape[0]))
        if isinstance(X, RowView):
            by_sample = members.tocsc()
            sums = np.add.reduce([by_sample[:, part] @ X[part] for part in pieces(*X.shape)])
        else:
            sums = members @ X
        if sp.issparse(sums):
            sums = sums.toarray()
        if rows.mean is not None:
            sums -= np.outer(members.sum(axis=1), rows.mean)
        return sums / rows.scale


def square_lengths(values: Floats, starts: NDArray[np.integer]) -> Floats:
    """|x|^2 of every row, from the stored entries of all rows."""
    sums = np.add.reduceat(np.append(values * values, 0.0), starts[:-1])
    sums[starts[1:] == starts[:-1]] = 0.0  # for an empty row, reduceat gives the entry that follows
    return sums
