"""The kernel matrix of training samples: by blocks of rows, times a vector, of some of the samples, or given."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from hullrank.data import RowView, pieces
from hullrank.exceptions import KernelError
from hullrank.problem.kernel_rows import TILE
from hullrank.problem.kernels import (
    BLOCK_BYTES,
    Array,
    Kernel,
    KernelBlocks,
    check_finite,
    kernel_diagonal,
    kernel_matrix,
    real_values,
    rows_of,
)
from hullrank.problem.matrix_probe import is_known_definite, looks_symmetric, product

LARGE = 2_000_000  # numbers (16 MB) beyond which X is not copied to save time
_STRIP = 256  # rows of a matrix that are compared with those of its transpose at a time
_LEAST_BLOCKS = 4  # blocks of rows into which a symmetric matrix is cut at the least, to compute half of it
_FEW_NUMBERS = 1 << 15  # entries copied at a time from a known matrix: large temporary arrays cost more than copying
_FEW = 400  # rows up to which a symmetric matrix is computed whole: mirroring its half takes longer than it saves


@dataclass(frozen=True)
class Gram:
    """The kernel matrix of training samples, computed only where it is asked for.

    It consists of X (or the matrix itself, for "precomputed") and the parameters of the kernel. ``table`` has all its
    values in float64, where problems share them. For ``compiled`` see ``KernelBlocks``. Where values are known,
    ``samples`` are the numbers of the samples among those of X and the table (None: all, in their order), so that some
    of them, or another order, need no copy.
    """

    X: Any
    kernel: Kernel
    gamma: float = 1.0
    degree: int = 3
    coef0: float = 0.0
    compiled: bool = False
    table: Array | None = None
    samples: Array | None = None

    def __len__(self) -> int:
        return int(self.X.shape[0]) if self.samples is None else len(self.samples)

    @property
    def values(self) -> Array | None:
        """The whole matrix that ``samples`` are taken from, if it is known."""
        return self.X if self.kernel == "precomputed" else self.table

    @property
    def can_be_gathered(self) -> bool:
        """Whether compiled loops can read rows from known values, for which these must be plain arrays in float64."""
        return self._is_known_in_float64 and self.values.flags.carray  # type: ignore[union-attr]

    @property
    def _is_known_in_float64(self) -> bool:
        return self.values is not None and self.values.dtype == np.float64

    def blocks(self, dtype: DTypeLike, columns: Array | None = None) -> KernelBlocks:
        """Values against the samples ``columns`` (None: all), any rows at a time."""
        if self.values is not None:
            values = self._known
            return KernelBlocks.known(values if columns is None else values[:, columns], dtype)
        part = self._float64 if columns is None else self._float64.against(columns)
        return part.in_float32() if np.dtype(dtype) == np.float32 else part

    @property
    def _known(self) -> Array:
        """The known values of the samples."""
        assert self.values is not None
        return self.values if self.samples is None else _part(self.values, self.samples)

    @cached_property
    def _float64(self) -> KernelBlocks:
        return KernelBlocks(self.X, self.X, self.kernel, **self._parameters, compiled=self.compiled)

    def square(self, samples: Array, out: Array) -> None:
        """Write the matrix of the given samples, in their order, into ``out``."""
        if self.values is not None:
            samples = samples if self.samples is None else self.samples[samples]
            step = max(1, _FEW_NUMBERS // len(self.values))
            for low in range(0, len(samples), step):
                rows = self.values.take(samples[low : low + step], axis=0)
                rows.take(samples, axis=1, out=out[low : low + step], mode="clip")
        else:
            self._float64.against(samples).fill(samples, out)

    def take(self, rows: Array, **changes: Any) -> "Gram":
        """The matrix of the given samples, in their order; ``changes`` are other fields.

        What was prepared for kernel values of all samples is taken over rather than prepared anew.
        """
        if len(rows) == len(self) and np.array_equal(rows, np.arange(len(self))):
            part = replace(self, **changes)
        elif self.can_be_gathered:
            part = replace(self, samples=rows if self.samples is None else self.samples[rows], **changes)
        elif self.values is None:
            X = self.X.of(rows) if isinstance(self.X, RowView) else rows_of(self.X, rows)
            part = replace(self, X=X, **changes)
        else:
            values = _part(self.values, rows)
            given = self.kernel == "precomputed"
            X, table = (values, None) if given else (rows_of(self.X, rows), values)
            part = replace(self, X=X, table=table, **changes)
        if "_float64" in vars(self):
            vars(part)["_float64"] = self._float64.take(rows, compiled=part.compiled)
        return part

    def hashes(self) -> NDArray[np.uint64]:
        """A number per sample that depends on its values alone, not on where it stands; as good as random."""
        X: Any = np.sort(self._known, axis=1) if self.kernel == "precomputed" else self.X
        if self.samples is not None and self.kernel != "precomputed":
            X = rows_of(X, self.samples)
        m, n = X.shape
        odd: Array = np.random.default_rng(0).integers(2**63, size=n, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
        if sparse.issparse(X):
            sums = np.add.reduceat(np.append(_mixed(X.data, odd[X.indices]), np.uint64(0)), X.indptr[:-1])
            sums[np.diff(X.indptr) == 0] = 0
        else:
            sums = np.empty(m, dtype=np.uint64)
            for part in pieces(m, n):
                sums[part] = _mixed(X[part], odd).sum(axis=1, dtype=np.uint64)
        return np.asarray((sums ^ (sums >> np.uint64(32))) * odd[0], dtype=np.uint64)

    def divided(self, by: float) -> "Gram":
        """The matrix divided by a positive number, without products that overflow where the quotient does not."""
        if self.values is not None:
            return Gram(self.values / by, "precomputed", samples=self.samples)
        if self.kernel == "linear":
            return replace(self, X=self.X / np.sqrt(by))
        if self.kernel == "poly" and self.degree > 0:
            root = by ** (1.0 / self.degree)
            return replace(self, gamma=self.gamma / root, coef0=self.coef0 / root)
        return replace(self, kernel=lambda X, Y: kernel_matrix(X, Y, self.kernel, **self._parameters) / by)

    @property
    def _parameters(self) -> dict[str, Any]:
        return {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}

    def diagonal(self) -> NDArray[np.float64]:
        """The values k(x, x)."""
        diagonal = kernel_diagonal(self.X, self.kernel, **self._parameters)
        return diagonal if self.samples is None else diagonal[self.samples]

    def times(self, coef: Array, rows: Array | None = None) -> NDArray[np.float64]:
        """``rows`` (None: all) of the matrix times ``coef``, in float64, by blocks; zero coefficients cost nothing.

        Of many values that are equal in pairs because the matrix is symmetric, one of each is computed: where most
        coefficients are not zero, half of all.
        """
        if self._is_known_in_float64:
            return self._known_times(coef, rows)
        if isinstance(self.X, RowView) and self.values is None:
            columns = np.arange(len(self)) if rows is None else rows
            tiles = [columns[low : low + TILE] for low in range(0, len(columns), TILE)]
            return np.concatenate([np.empty(0), *(self._columns_times(coef, tile) for tile in tiles)])
        if rows is not None or not self._is_symmetric or np.count_nonzero(coef) <= _FEW:
            return self._columns_times(coef, rows)
        used, idle = np.flatnonzero(coef), np.flatnonzero(coef == 0)
        order, weights = np.concatenate([used, idle]), coef[used]
        blocks, m, n = self._float64.against(order), len(order), len(used)
        product = np.zeros(m)
        step = min(max(16, -(-n // _LEAST_BLOCKS)), max(1, BLOCK_BYTES // (8 * max(1, m))))
        memory = np.empty(step * m)
        for start in range(0, n, step):
            end = min(start + step, n)
            block = memory[: (end - start) * (m - start)].reshape(end - start, m - start)
            blocks.against(np.arange(start, m)).fill(used[start:end], block)
            product[start:] += weights[start:end] @ block
            product[start:end] += block[:, end - start : n - start] @ weights[end:]
        scores = np.empty_like(product)
        scores[order] = product
        return scores

    def _known_times(self, coef: Array, rows: Array | None) -> NDArray[np.float64]:
        """The product of known kernel values with coef; few rows or columns are copied if few are needed."""
        values, samples = self.values, self.samples
        assert values is not None
        if samples is not None:
            coef, part = np.zeros(len(values)), coef
            coef[samples] = part
            rows = samples if rows is None else samples[rows]
        if rows is not None and 4 * len(rows) < len(values):
            return np.asarray(coef @ values[:, rows])
        used = np.flatnonzero(coef)
        product = coef[used] @ values[used] if 4 * len(used) < len(values) else coef @ values
        return np.asarray(product if rows is None else product[rows])

    @property
    def _is_symmetric(self) -> bool:
        """Whether (i, j) and (j, i) are equal to the last digit, and columns may be copied in another order.

        Copies of a large X would matter beside the rows of the matrix that a solver keeps.
        """
        is_computed = self.values is None and not callable(self.kernel)
        return is_computed and not isinstance(self.X, RowView) and self.X.shape[0] * self.X.shape[1] <= LARGE

    def whole(self) -> NDArray[np.float64]:
        """All values, in float64; not to be changed, as known ones are not copied."""
        if self._is_known_in_float64:
            return self._known
        out = np.empty((len(self), len(self)))
        self.blocks(np.float64).fill(None, out)
        return out

    def _columns_times(self, coef: Array, columns: Array | None) -> NDArray[np.float64]:
        used, blocks = np.flatnonzero(coef), self.blocks(np.float64, columns)
        n = blocks.shape[1]
        product = np.zeros(n)
        step = max(1, BLOCK_BYTES // (8 * max(1, n)))
        buffer = np.empty((min(step, len(used)), n))
        for start in range(0, len(used), step):
            taken = used[start : start + step]
            blocks.fill(taken, buffer[: len(taken)])
            product += coef[taken] @ buffer[: len(taken)]
        return product


def _part(values: Array, rows: Array) -> Array:
    """The values between some samples."""
    return values.take(rows, axis=0).take(rows, axis=1)


def _mixed(values: Array, odd: Array) -> Array:
    """The bits of float64 numbers, mixed and multiplied by odd numbers."""
    bits = np.ascontiguousarray(values + 0.0, dtype=np.float64).view(np.uint64)  # + 0.0: a zero has no sign
    return np.asarray((bits ^ (bits >> np.uint64(29))) * odd)


def check_gram(gram: Any) -> Array:
    """A precomputed training matrix must be square, finite and symmetric (to 1e-6 of its largest entry)."""
    gram = real_values(gram, "the precomputed kernel", None)
    if gram.ndim != 2 or gram.shape[0] != gram.shape[1]:
        raise KernelError(
            f"kernel='precomputed' takes a square matrix of kernel values between all training samples, "
            f"got shape {gram.shape}; pass kernel_function(X, X)"
        )
    forth = product(gram)
    if is_known_definite(forth) or looks_symmetric(gram, forth):
        return gram
    check_finite(gram, "the precomputed kernel")
    _check_symmetry(gram)
    return gram


def _check_symmetry(gram: Array) -> None:
    """Compare a matrix with its transpose, some rows at a time."""
    limit = 1e-6 * max(float(np.abs(gram).max(initial=0.0)), np.finfo(np.float64).tiny)
    for low in range(0, len(gram), _STRIP):
        skew = np.abs(gram[low : low + _STRIP] - gram[:, low : low + _STRIP].T)
        row, column = np.unravel_index(int(skew.argmax()), skew.shape) + np.array([low, 0])
        if skew[row - low, column] > limit:
            raise KernelError(
                f"the precomputed kernel is not symmetric: entry ({row}, {column}) is {gram[row, column]:g} but "
                f"({column}, {row}) is {gram[column, row]:g}; symmetrise it with (K + K.T) / 2"
            )
