"""Kernels: parameters in, Gram matrices out, by blocks of rows so that no temporary is larger than a block.

linear     x.y                            rbf        exp(-gamma |x - y|^2)
poly       (gamma x.y + coef0)^degree     laplacian  exp(-gamma |x - y|_1)
sigmoid    tanh(gamma x.y + coef0)        callable   whatever it returns for (X, Y), checked
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray
from scipy import sparse
from sklearn.utils.extmath import safe_sparse_dot

from hullrank.exceptions import KernelError

Array = NDArray[Any]
Kernel = str | Callable[[Any, Any], ArrayLike]
KERNELS = ("linear", "rbf", "poly", "sigmoid", "laplacian", "precomputed")
_BLOCK_BYTES = 1 << 21
_LARGE = 2_000_000  # numbers (16 MB) beyond which X is not copied to save time
_TILE = 256  # rows and columns of the parts in which a matrix is compared with its transpose
_LEAST_BLOCKS = 4  # of rows, when half of a symmetric matrix is computed
_WIDE = 1e4  # exponent of rbf over twice the largest distance from the mean beyond which values come from differences


def resolve_gamma(gamma: float | str, X: Any, sample_weight: ArrayLike | None = None) -> float:
    """The number behind ``gamma``: "scale" is 1 / (n_features * variance of X), "auto" is 1 / n_features.

    The variance is that of all entries of X, each row counted with its weight, so that weights equal repetition.
    """
    if gamma == "auto":
        return 1.0 / X.shape[1]
    if gamma == "scale":
        variance = _variance(X, sample_weight)
        return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0
    if isinstance(gamma, str) or not (np.isfinite(gamma) and gamma > 0):
        raise KernelError(f"gamma must be a positive number, 'scale' or 'auto', got {gamma!r}")
    return float(gamma)


def kernel_matrix(
    X: Any,
    Y: Any = None,
    kernel: Kernel = "rbf",
    *,
    gamma: float = 1.0,
    degree: int = 3,
    coef0: float = 0.0,
    dtype: DTypeLike = np.float64,
    out: Array | None = None,
) -> Array:
    """Kernel values between the rows of X and the rows of Y (of X when Y is None), of shape (len(X), len(Y)).

    ``gamma`` is a number here (see ``resolve_gamma``). For ``precomputed`` X already is that matrix. ``out`` receives
    the values if given. Everything is computed in ``dtype``.
    """
    symmetric = Y is None
    blocks = KernelBlocks(X, X if symmetric else Y, kernel, gamma=gamma, degree=degree, coef0=coef0, dtype=dtype)
    out = np.empty(blocks.shape, dtype=dtype) if out is None else out
    blocks.fill(None, out)
    if symmetric and kernel in ("rbf", "laplacian"):
        np.fill_diagonal(out, 1.0)
    return out


class KernelBlocks:
    """Kernel values between X and Y, any rows at a time; what does not depend on the rows is prepared once.

    With ``compiled``, exponentials are those of ``_exponentials``: faster than NumPy's, but loading Numba takes half a
    second, so only solvers that need Numba anyway ask for them.
    """

    def __init__(
        self,
        X: Any,
        Y: Any,
        kernel: Kernel,
        *,
        gamma: float = 1.0,
        degree: int = 3,
        coef0: float = 0.0,
        dtype: DTypeLike = np.float64,
        compiled: bool = False,
    ) -> None:
        _check_parameters(kernel, gamma, degree)
        if kernel == "rbf":
            X, Y = _centrable(X), (None if X is Y else _centrable(Y))
            Y = X if Y is None else Y
        self.kernel, self.gamma, self.degree, self.coef0 = kernel, gamma, degree, coef0
        self.compiled = compiled
        self.dtype = np.dtype(dtype)
        self.shape = X.shape[0], (X.shape[1] if kernel == "precomputed" else Y.shape[0])
        factors = None if kernel == "laplacian" else _factors(X, Y, kernel, gamma, self.dtype)
        self.by_distance = factors is None
        self._left, self._right = (X, Y) if factors is None else factors

    @classmethod
    def known(cls, values: Array, dtype: DTypeLike) -> "KernelBlocks":
        """The rows of a matrix of kernel values that are known already, and finite."""
        blocks = object.__new__(cls)
        blocks.kernel, blocks.dtype, blocks.shape = "precomputed", np.dtype(dtype), values.shape
        blocks.by_distance = blocks.compiled = False
        blocks._left, blocks._right = values, None
        return blocks

    def against(self, columns: Array) -> "KernelBlocks":
        """Values against some rows of Y."""
        right = self._right[:, columns] if self._products else self._right[columns]
        return self._with(shape=(self.shape[0], len(columns)), _right=right)

    def from_column(self, first: int) -> "KernelBlocks":
        """Values against the rows of Y from number ``first`` on."""
        right = self._right[:, first:] if self._products else self._right[first:]
        return self._with(shape=(self.shape[0], self.shape[1] - first), _right=right)

    def take(self, samples: Array, *, compiled: bool) -> "KernelBlocks":
        """Values between some samples, of blocks whose two sides are the same samples."""
        part = self.against(samples)
        return part._with(shape=(len(samples), len(samples)), _left=_rows_of(self._left, samples), compiled=compiled)

    def in_float32(self) -> "KernelBlocks":
        """The same values, in float32."""
        rough = self._with(dtype=np.dtype(np.float32))
        if self._products:
            rough._left, rough._right = self._left.astype(np.float32), self._right.astype(np.float32)
        return rough

    def _with(self, **changes: Any) -> "KernelBlocks":
        other = object.__new__(KernelBlocks)
        vars(other).update(vars(self), **changes)
        return other

    @property
    def _products(self) -> bool:
        """Whether values come from products of the two sides, the right one by column."""
        return not (self.by_distance or callable(self.kernel))

    @property
    def exponential(self) -> bool:
        """Whether compiled exponentials are the last step."""
        return self.compiled and self.kernel in ("rbf", "laplacian")

    def fill(self, rows: Array | None, out: Array, *, only_exponents: bool = False) -> None:
        """Write the kernel values of ``rows`` of X (None: all) against Y into ``out``.

        With ``only_exponents`` the last step is left out: the exponential of what is written is the kernel value.
        """
        step = max(1, _BLOCK_BYTES // (out.itemsize * max(1, self.shape[1])))
        for start in range(0, len(out), step):
            end = start + step
            left = self._left[start:end] if rows is None else _rows_of(self._left, rows[start:end])
            self._fill(out[start:end], left, only_exponents)

    def _fill(self, block: Array, left: Any, only_exponents: bool) -> None:
        if self.kernel == "precomputed":
            block[...] = left
        elif callable(self.kernel):
            shape = left.shape[0], self.shape[1]
            block[...] = _checked(self.kernel(left, self._right), shape, "the kernel function", self.dtype)
        else:
            if self.by_distance:
                _measure(block, left, self._right, self.kernel, self.gamma)
            else:
                _multiply(block, left, self._right)
            if not only_exponents:
                _shape_values(block, self.kernel, self.degree, self.coef0, self.compiled)


@dataclass(frozen=True)
class Gram:
    """The kernel matrix of training samples, computed only where it is asked for.

    It consists of X (or the matrix itself, for "precomputed") and the parameters of the kernel. ``table`` has all its
    values in float64, where problems share them. For ``compiled`` see ``KernelBlocks``.
    """

    X: Any
    kernel: Kernel
    gamma: float = 1.0
    degree: int = 3
    coef0: float = 0.0
    compiled: bool = False
    table: Array | None = None

    def __len__(self) -> int:
        return int(self.X.shape[0])

    @property
    def is_large(self) -> bool:
        """Whether copies of X matter beside the rows of the matrix that a solver keeps."""
        return bool(np.prod(self.X.shape, dtype=np.float64) > _LARGE)

    @property
    def values(self) -> Array | None:
        """The whole matrix, if it is known."""
        return self.X if self.kernel == "precomputed" else self.table

    def blocks(self, dtype: DTypeLike, columns: Array | None = None) -> KernelBlocks:
        """Values against the samples ``columns`` (None: all), any rows at a time."""
        if self.values is not None:
            return KernelBlocks.known(self.values if columns is None else self.values[:, columns], dtype)
        part = self._float64 if columns is None else self._float64.against(columns)
        return part.in_float32() if np.dtype(dtype) == np.float32 else part

    @cached_property
    def _float64(self) -> KernelBlocks:
        return KernelBlocks(
            self.X, self.X, self.kernel, gamma=self.gamma, degree=self.degree, coef0=self.coef0, compiled=self.compiled
        )

    def square(self, samples: Array, out: Array) -> None:
        """Write the matrix of the given samples, in their order, into ``out``."""
        if self.values is not None:
            self.values.take(samples, axis=1).take(samples, axis=0, out=out, mode="clip")
        else:
            self._float64.against(samples).fill(samples, out)

    def take(self, rows: Array, **changes: Any) -> "Gram":
        """The matrix of the given samples, in their order; ``changes`` are other fields.

        What was prepared for kernel values of all samples is taken over rather than prepared anew.
        """
        if len(rows) == len(self) and np.array_equal(rows, np.arange(len(self))):
            part = replace(self, **changes)
        elif self.values is None:
            part = replace(self, X=_rows_of(self.X, rows), **changes)
        else:
            values = self.values.take(rows, axis=0).take(rows, axis=1)
            given = self.kernel == "precomputed"
            X, table = (values, None) if given else (_rows_of(self.X, rows), values)
            part = replace(self, X=X, table=table, **changes)
        if "_float64" in vars(self):
            vars(part)["_float64"] = self._float64.take(rows, compiled=part.compiled)
        return part

    def hashes(self) -> NDArray[np.uint64]:
        """A number per sample that depends on its values alone, not on where it stands; as good as random."""
        X: Any = np.sort(self.X, axis=1) if self.kernel == "precomputed" else self.X
        m, n = X.shape
        odd: Array = np.random.default_rng(0).integers(2**63, size=n, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
        if sparse.issparse(X):
            values, columns, starts = X.data, X.indices, X.indptr[:-1]
        else:
            values, columns, starts = X.ravel(), np.tile(np.arange(n), m), np.arange(m) * n
        bits = np.ascontiguousarray(values + 0.0, dtype=np.float64).view(np.uint64)  # + 0.0: a zero has no sign
        mixed = np.append((bits ^ (bits >> np.uint64(29))) * odd[columns], np.uint64(0))
        sums = np.add.reduceat(mixed, starts)
        if sparse.issparse(X):
            sums[np.diff(X.indptr) == 0] = 0
        return np.asarray((sums ^ (sums >> np.uint64(32))) * odd[0], dtype=np.uint64)

    def divided(self, by: float) -> "Gram":
        """The matrix divided by a positive number, without products that overflow where the quotient does not."""
        if self.values is not None:
            return Gram(self.values / by, "precomputed")
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
        return kernel_diagonal(self.X, self.kernel, gamma=self.gamma, degree=self.degree, coef0=self.coef0)

    def times(self, coef: Array, rows: Array | None = None) -> NDArray[np.float64]:
        """``rows`` (None: all) of the matrix times ``coef``, in float64, by blocks; zero coefficients cost nothing.

        Of two values that are equal because the matrix is symmetric, one is computed: where most coefficients are not
        zero, half of all.
        """
        values = self.values
        if values is not None and values.dtype == np.float64 and 2 * np.count_nonzero(coef) > len(coef):
            return np.asarray(coef @ (values if rows is None else values[:, rows]))
        if rows is not None or not self._is_symmetric:
            return self._columns_times(coef, rows)
        used, idle = np.flatnonzero(coef), np.flatnonzero(coef == 0)
        order, weights = np.concatenate([used, idle]), coef[used]
        blocks, m, n = self._float64.against(order), len(order), len(used)
        product = np.zeros(m)
        step = min(max(16, n // _LEAST_BLOCKS), max(1, _BLOCK_BYTES // (8 * max(1, m))))
        memory = np.empty(step * m)
        for start in range(0, n, step):
            end = min(start + step, n)
            block = memory[: (end - start) * (m - start)].reshape(end - start, m - start)
            blocks.from_column(start).fill(used[start:end], block)
            product[start:] += weights[start:end] @ block
            product[start:end] += block[:, end - start : n - start] @ weights[end:]
        scores = np.empty_like(product)
        scores[order] = product
        return scores

    @property
    def _is_symmetric(self) -> bool:
        """Whether (i, j) and (j, i) are equal to the last digit, and columns may be copied in another order."""
        return self.values is None and not callable(self.kernel) and not self.is_large

    def whole(self) -> NDArray[np.float64]:
        """All values, in float64."""
        out = np.empty((len(self), len(self)))
        self.blocks(np.float64).fill(None, out)
        return out

    def _columns_times(self, coef: Array, columns: Array | None) -> NDArray[np.float64]:
        used, blocks = np.flatnonzero(coef), self.blocks(np.float64, columns)
        n = blocks.shape[1]
        product = np.zeros(n)
        step = max(1, _BLOCK_BYTES // (8 * max(1, n)))
        buffer = np.empty((min(step, len(used)), n))
        for start in range(0, len(used), step):
            taken = used[start : start + step]
            blocks.fill(taken, buffer[: len(taken)])
            product += coef[taken] @ buffer[: len(taken)]
        return product


def kernel_diagonal(
    X: Any, kernel: Kernel = "rbf", *, gamma: float = 1.0, degree: int = 3, coef0: float = 0.0
) -> NDArray[np.float64]:
    """The values k(x, x) of the rows of X, without the matrix; infinite where they exceed float64."""
    if kernel in ("rbf", "laplacian"):
        return np.ones(X.shape[0])
    if kernel == "precomputed":
        return np.asarray(X).diagonal().astype(np.float64)
    if callable(kernel):
        return np.array([kernel_matrix(X[k : k + 1], None, kernel)[0, 0] for k in range(X.shape[0])])
    X = X if kernel == "linear" else X * np.sqrt(gamma)
    with np.errstate(over="ignore"):
        squares = X.multiply(X) if sparse.issparse(X) else X * X
        diagonal: NDArray[np.float64] = np.array(squares.sum(axis=1), dtype=np.float64).reshape(-1, 1)
        _shape_values(diagonal, kernel, degree, coef0)
    return diagonal[:, 0]


def check_gram(gram: Any, n_samples: int | None = None) -> Array:
    """A precomputed training matrix must be square, finite and symmetric (to 1e-6 of its largest entry)."""
    gram = _checked(gram, None, "the precomputed kernel", None)
    if gram.ndim != 2 or gram.shape[0] != gram.shape[1]:
        raise KernelError(
            f"kernel='precomputed' takes a square matrix of kernel values between all training samples, "
            f"got shape {gram.shape}; pass kernel_function(X, X)"
        )
    if n_samples is not None and gram.shape[0] != n_samples:
        raise KernelError(f"the precomputed kernel has {gram.shape[0]} rows for {n_samples} samples")
    limit = 1e-6 * max(float(np.abs(gram).max(initial=0.0)), np.finfo(np.float64).tiny)
    starts = range(0, gram.shape[0], _TILE)
    for i, j in itertools.combinations_with_replacement(starts, 2):
        here, there = gram[i : i + _TILE, j : j + _TILE], gram[j : j + _TILE, i : i + _TILE].T
        if np.array_equal(here, there):
            continue
        skew = np.abs(here - there)
        if skew.max(initial=0.0) > limit:
            row, column = np.unravel_index(int(skew.argmax()), skew.shape) + np.array([i, j])
            raise KernelError(
                f"the precomputed kernel is not symmetric: entry ({row}, {column}) is {gram[row, column]:g} but "
                f"({column}, {row}) is {gram[column, row]:g}; symmetrise it with (K + K.T) / 2"
            )
    return gram


def _check_parameters(kernel: Kernel, gamma: float, degree: int) -> None:
    if not callable(kernel) and kernel not in KERNELS:
        raise KernelError(f"kernel must be a function or one of {', '.join(KERNELS)}; got {kernel!r}")
    if not (np.isfinite(gamma) and gamma > 0):
        raise KernelError(f"gamma must be a positive number, got {gamma!r}; for 'scale' and 'auto' see resolve_gamma")
    if degree < 0:
        raise KernelError(f"degree must not be negative, got {degree!r}")


def _variance(X: Any, sample_weight: ArrayLike | None) -> float:
    weight = np.ones(X.shape[0]) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    weight = weight / (weight.sum() * X.shape[1])
    mean = float((weight @ X).sum())
    if not sparse.issparse(X):
        apart = X - mean
        apart *= apart
        return float((weight @ apart).sum())
    stored = np.repeat(weight, np.diff(X.indptr))  # the weights of the entries that are not left out as zeros
    return float(stored @ (X.data - mean) ** 2) + max(0.0, 1.0 - float(stored.sum())) * mean * mean


def _factors(X: Any, Y: Any, kernel: Kernel, gamma: float, dtype: Any) -> tuple[Any, Any] | None:
    """What the blocks multiply, the right side by column: few rows at a time then run along memory.

    For rbf one product of extended rows gives the exponent -gamma |x - y|^2; for poly and sigmoid gamma x.y. None where
    exponents are so large that these products, which cancel, lose digits that differences of rows keep.
    """
    if kernel == "precomputed":
        return _checked(X, None, "the precomputed kernel", dtype), None
    if callable(kernel):
        return X, Y
    if kernel != "rbf":
        X, Y = (X, Y) if kernel == "linear" else (X * np.sqrt(gamma), Y * np.sqrt(gamma))
        return X.astype(dtype), Y.astype(dtype).T if sparse.issparse(Y) else np.ascontiguousarray(Y.T, dtype=dtype)
    root = np.sqrt(2.0 * gamma)
    if sparse.issparse(X) or sparse.issparse(Y):
        (left, left_half), (right, right_half) = _scaled_sparse(X, root), _scaled_sparse(Y, root)
        left = sparse.hstack([left, left_half, np.ones_like(left_half)], format="csr", dtype=dtype)
        return left, sparse.hstack([right, np.ones_like(right_half), right_half], dtype=dtype).T.tocsr()
    centre = np.full(Y.shape[0], 1.0 / max(1, Y.shape[0])) @ Y
    right, right_half = _scaled_columns(Y, centre, root)
    if not -4.0 * float(right_half.min(initial=0.0)) <= _WIDE:
        return None
    left, left_half = (right, right_half) if X is Y else _scaled_columns(X, centre, root)
    rows, columns = np.empty((X.shape[0], X.shape[1] + 2), dtype), np.empty((X.shape[1] + 2, Y.shape[0]), dtype)
    rows[:, :-2], rows[:, -2], rows[:, -1] = left.T, left_half, 1.0
    columns[:-2], columns[-2], columns[-1] = right, 1.0, right_half
    return rows, columns


def _scaled_columns(X: Array, centre: Array, root: float) -> tuple[Array, Array]:
    """root * (x - centre) by column, and minus half its squared norm."""
    scaled = np.subtract(X.T, centre[:, None], order="C")
    scaled *= root
    return scaled, -0.5 * np.einsum("ij,ij->j", scaled, scaled)


def _scaled_sparse(X: Any, root: float) -> tuple[Any, Array]:
    """root * x, and minus half its squared norm as a column."""
    scaled = sparse.csr_matrix(X) * root
    return scaled, -0.5 * np.asarray(scaled.multiply(scaled).sum(axis=1), dtype=np.float64).reshape(-1, 1)


def _rows_of(X: Any, rows: Array) -> Any:
    return X.take(rows, axis=0) if isinstance(X, np.ndarray) else X[rows]


def _centrable(X: Any) -> Any:
    """Sparse rows with few zeros as an array: distances between rows that were not centred lose digits."""
    return X.toarray() if sparse.issparse(X) and 3 * X.nnz > X.shape[0] * X.shape[1] else X


def _measure(block: Array, left: Any, right: Any, kernel: str, gamma: float) -> None:
    """Exponents from distances between rows."""
    if kernel == "laplacian":
        from sklearn.metrics.pairwise import manhattan_distances  # loads all metrics, which takes half a second

        distances = manhattan_distances(left, right)
    else:
        from scipy.spatial.distance import cdist  # loads rotations and constants too, which no other kernel needs

        distances = cdist(left.toarray() if sparse.issparse(left) else left, right, "sqeuclidean")
    np.multiply(distances, -gamma, out=block, casting="same_kind")


def _multiply(block: Array, left: Any, right: Any) -> None:
    if isinstance(left, np.ndarray) and isinstance(right, np.ndarray):
        np.matmul(left, right, out=block)
    else:
        block[...] = safe_sparse_dot(left, right, dense_output=True)


def _shape_values(block: Array, kernel: str, degree: int, coef0: float, compiled: bool = False) -> None:
    """From products (gamma x.y; rbf, laplacian: exponents) to kernel values, in place."""
    if kernel in ("rbf", "laplacian") and compiled:
        from hullrank.problem._exponentials import exponentials32, exponentials64

        (exponentials32 if block.dtype == np.float32 else exponentials64)(block, 0, len(block))
    elif kernel in ("rbf", "laplacian"):
        np.minimum(block, 0.0, out=block)
        np.exp(block, out=block)
    elif kernel in ("poly", "sigmoid"):
        block += coef0
        if kernel == "sigmoid":
            np.tanh(block, out=block)
        else:
            _raise_to(block, degree)


def _raise_to(block: Array, degree: int) -> None:
    """Power by repeated multiplication for whole degrees (far faster than ``np.power``)."""
    if degree != int(degree):
        np.power(block, degree, out=block)
        return
    base = block.copy()
    block.fill(1.0)
    for bit in f"{int(degree):b}":
        block *= block
        if bit == "1":
            block *= base


def _checked(values: Any, shape: tuple[int, int] | None, source: str, dtype: DTypeLike | None) -> Array:
    values = values.toarray() if sparse.issparse(values) else np.asarray(values)
    if values.dtype.kind not in "fiub":
        raise KernelError(f"{source} must hold real numbers, got dtype {values.dtype}")
    values = values.astype(dtype if dtype is not None else np.result_type(values, np.float32), copy=False)
    if shape is not None and values.shape != shape:
        raise KernelError(f"{source} must have shape {shape} (rows of X by rows of Y), got {values.shape}")
    if not np.isfinite(values.sum(dtype=np.float64)) and not np.isfinite(values).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(values))[0])
        raise KernelError(
            f"{source} is not finite at {where}: {values[where]}; scale the features, for example by StandardScaler, "
            f"or choose a smaller gamma or degree"
        )
    return values
