"""Kernels: parameters in, Gram matrices out, by blocks of rows so that no temporary is larger than a block.

linear     x.y                            rbf        exp(-gamma |x - y|^2)
poly       (gamma x.y + coef0)^degree     laplacian  exp(-gamma |x - y|_1)
sigmoid    tanh(gamma x.y + coef0)        callable   whatever it returns for (X, Y), checked
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray
from scipy import sparse
from sklearn.utils.extmath import safe_sparse_dot

from hullrank.data import RowView, pieces
from hullrank.exceptions import KernelError
from hullrank.problem.kernel_rows import MadeColumns, MadeRows, TurnedColumns

Array = NDArray[Any]
Kernel = str | Callable[[Any, Any], ArrayLike]
KERNELS = ("linear", "rbf", "poly", "sigmoid", "laplacian", "precomputed")
BLOCK_BYTES = 1 << 21
_MADE = 8  # factor by which a block is larger where its columns have to be computed first
_ROUNDING = 16 * float(np.finfo(np.float64).eps)  # share of the mean by which rounding sets equal entries apart
_WIDE = 1e4  # exponent of rbf at twice the largest distance from the mean beyond which products lose too many digits


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
) -> NDArray[np.float64]:
    """Kernel values between the rows of X and the rows of Y (of X when Y is None), of shape (len(X), len(Y)).

    ``gamma`` is a number here (see ``resolve_gamma``). For ``precomputed`` X already is that matrix.
    """
    blocks = KernelBlocks(X, X if Y is None else Y, kernel, gamma=gamma, degree=degree, coef0=coef0)
    values = np.empty(blocks.shape)
    blocks.fill(None, values)
    if Y is None and kernel in ("rbf", "laplacian"):
        np.fill_diagonal(values, 1.0)
    return values


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
        compiled: bool = False,
    ) -> None:
        _check_parameters(kernel, gamma, degree)
        if kernel == "rbf":
            X, Y = _centrable(X), (None if X is Y else _centrable(Y))
            Y = X if Y is None else Y
        self.kernel, self.gamma, self.degree, self.coef0 = kernel, gamma, degree, coef0
        self.compiled = compiled
        self.dtype: np.dtype[Any] = np.dtype(np.float64)
        self.shape = X.shape[0], (X.shape[1] if kernel == "precomputed" else Y.shape[0])
        factors = None if kernel == "laplacian" else _factors(X, Y, kernel, gamma)
        self.by_distance = factors is None
        if factors is None and isinstance(X, RowView):
            X = Y = np.asarray(X)
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

    def take(self, samples: Array, *, compiled: bool) -> "KernelBlocks":
        """Values between some samples, of blocks whose two sides are the same samples."""
        shape = len(samples), len(samples)
        if isinstance(self._left, MadeRows):
            rows = self._left.of(samples)
            return self._with(shape=shape, _left=rows, _right=MadeColumns(rows), compiled=compiled)
        return self.against(samples)._with(shape=shape, _left=rows_of(self._left, samples), compiled=compiled)

    def in_float32(self) -> "KernelBlocks":
        """The same values, in float32."""
        rough = self._with(dtype=np.dtype(np.float32))
        if isinstance(self._right, MadeColumns):
            rough._right = self._right.in_float32()
            rough._left = TurnedColumns(rough._right, self._right.rows.half is not None)
        elif self._products:
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
        block = BLOCK_BYTES * (_MADE if isinstance(self._right, MadeColumns) else 1)
        step = max(1, block // (out.itemsize * max(1, self.shape[1])))
        for start in range(0, len(out), step):
            end = start + step
            left = self._left[start:end] if rows is None else rows_of(self._left, rows[start:end])
            self._fill(out[start:end], left, only_exponents)

    def _fill(self, block: Array, left: Any, only_exponents: bool) -> None:
        if self.kernel == "precomputed":
            block[...] = left
        elif callable(self.kernel):
            shape = left.shape[0], self.shape[1]
            block[...] = checked_values(self.kernel(left, self._right), shape, "the kernel function", self.dtype)
        else:
            if self.by_distance:
                _measure(block, left, self._right, self.kernel, self.gamma)
            else:
                _multiply(block, left, self._right)
            if not only_exponents:
                _shape_values(block, self.kernel, self.degree, self.coef0, self.compiled)


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
    if isinstance(X, RowView):
        parts = (X[part] for part in pieces(*X.shape))
        return np.concatenate([kernel_diagonal(Y, kernel, gamma=gamma, degree=degree, coef0=coef0) for Y in parts])
    X = X if kernel == "linear" else X * np.sqrt(gamma)
    with np.errstate(over="ignore"):
        squares = X.multiply(X) if sparse.issparse(X) else X * X
        diagonal: NDArray[np.float64] = np.array(squares.sum(axis=1), dtype=np.float64).reshape(-1, 1)
        _shape_values(diagonal, kernel, degree, coef0)
    return diagonal[:, 0]


def _check_parameters(kernel: Kernel, gamma: float, degree: int) -> None:
    if not callable(kernel) and kernel not in KERNELS:
        raise KernelError(f"kernel must be a function or one of {', '.join(KERNELS)}; got {kernel!r}")
    if not (np.isfinite(gamma) and gamma > 0):
        raise KernelError(f"gamma must be a positive number, got {gamma!r}; for 'scale' and 'auto' see resolve_gamma")
    if degree < 0:
        raise KernelError(f"degree must not be negative, got {degree!r}")


def _variance(X: Any, sample_weight: ArrayLike | None) -> float:
    """The weighted variance of all entries of X; 0 where it is no more than rounding of their mean."""
    weight = np.ones(X.shape[0]) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    weight = weight / (weight.sum() * X.shape[1])
    mean = float((weight @ X).sum())
    if not sparse.issparse(X):
        variance = 0.0
        for part in pieces(*X.shape) if isinstance(X, RowView) else [slice(None)]:
            apart = X[part] - mean
            apart *= apart
            variance += float((weight[part] @ apart).sum())
    else:
        counts = np.diff(X.indptr)  # stored entries of every row
        stored = float(np.repeat(weight, counts) @ (X.data - mean) ** 2)
        variance = stored + float(weight @ (X.shape[1] - counts)) * mean * mean
    return variance if variance > (_ROUNDING * mean) ** 2 else 0.0


def _factors(X: Any, Y: Any, kernel: Kernel, gamma: float) -> tuple[Any, Any] | None:
    """What the blocks multiply, the right side by column: few rows at a time then run along memory.

    For rbf one product of extended rows gives the exponent -gamma |x - y|^2; for poly and sigmoid gamma x.y. None where
    exponents are so large that these products, which cancel, lose digits that differences of rows keep.
    """
    if kernel == "precomputed":
        return checked_values(X, None, "the precomputed kernel", np.float64), None
    if callable(kernel):
        return X, Y
    if isinstance(X, RowView):
        return _made_factors(X, kernel, gamma)
    if kernel != "rbf":
        X, Y = (X, Y) if kernel == "linear" else (X * np.sqrt(gamma), Y * np.sqrt(gamma))
        X, Y = X.astype(np.float64, copy=False), Y.astype(np.float64, copy=False)
        return X, Y.T if sparse.issparse(Y) else np.ascontiguousarray(Y.T)
    root = np.sqrt(2.0 * gamma)
    if sparse.issparse(X) or sparse.issparse(Y):
        (left, left_half), (right, right_half) = _scaled_sparse(X, root), _scaled_sparse(Y, root)
        left = sparse.hstack([left, left_half, np.ones_like(left_half)], format="csr")
        return left, sparse.hstack([right, np.ones_like(right_half), right_half]).T.tocsr()
    centre = np.full(Y.shape[0], 1.0 / max(1, Y.shape[0])) @ Y
    right, right_half = _scaled_columns(Y, centre, root)
    if not -4.0 * float(right_half.min(initial=0.0)) <= _WIDE:
        return None
    left, left_half = (right, right_half) if X is Y else _scaled_columns(X, centre, root)
    rows, columns = np.empty((X.shape[0], X.shape[1] + 2)), np.empty((X.shape[1] + 2, Y.shape[0]))
    rows[:, :-2], rows[:, -2], rows[:, -1] = left.T, left_half, 1.0
    columns[:-2], columns[-2], columns[-1] = right, 1.0, right_half
    return rows, columns


def _made_factors(X: RowView, kernel: Kernel, gamma: float) -> tuple[MadeRows, MadeColumns] | None:
    """The factors of many rows against themselves, where they are not held in float64."""
    if kernel != "rbf":
        rows = MadeRows(X, 1.0 if kernel == "linear" else float(np.sqrt(gamma)))
    else:
        rows = MadeRows.about(X, np.full(len(X), 1.0 / len(X)) @ X, float(np.sqrt(2.0 * gamma)))
        if rows.half is not None and not -4.0 * float(rows.half.min(initial=0.0)) <= _WIDE:
            return None
    return rows, MadeColumns(rows)


def _scaled_columns(X: Array, centre: Array, root: float) -> tuple[Array, Array]:
    """root * (x - centre) by column, and minus half its squared norm."""
    scaled = np.subtract(X.T, centre[:, None], order="C")
    scaled *= root
    return scaled, -0.5 * np.einsum("ij,ij->j", scaled, scaled)


def _scaled_sparse(X: Any, root: float) -> tuple[Any, Array]:
    """root * x, and minus half its squared norm as a column."""
    scaled = sparse.csr_matrix(X) * root
    return scaled, -0.5 * np.asarray(scaled.multiply(scaled).sum(axis=1), dtype=np.float64).reshape(-1, 1)


def rows_of(X: Any, rows: Array) -> Any:
    """Some rows of a matrix, copied."""
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
    if isinstance(right, MadeColumns):
        right.multiply(left, block)
    elif isinstance(left, np.ndarray) and isinstance(right, np.ndarray):
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


def checked_values(values: Any, shape: tuple[int, int] | None, source: str, dtype: DTypeLike | None) -> Array:
    """Kernel values as a finite array of real numbers, of the given shape; ``source`` says whose they are."""
    values = real_values(values, source, dtype)
    if shape is not None and values.shape != shape:
        raise KernelError(f"{source} must have shape {shape} (rows of X by rows of Y), got {values.shape}")
    check_finite(values, source)
    return values


def real_values(values: Any, source: str, dtype: DTypeLike | None) -> Array:
    """Kernel values as an array of real numbers; None is their own float type."""
    values = values.toarray() if sparse.issparse(values) else np.asarray(values)
    if values.dtype.kind not in "fiub":
        raise KernelError(f"{source} must hold real numbers, got dtype {values.dtype}")
    return values.astype(dtype if dtype is not None else np.result_type(values, np.float32), copy=False)


def check_finite(values: Array, source: str) -> None:
    """Refuse values that are not finite, by the first of them."""
    if not np.isfinite(values.sum(dtype=np.float64)) and not np.isfinite(values).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(values))[0])
        raise KernelError(
            f"{source} is not finite at {where}: {values[where]}; scale the features, for example by StandardScaler, "
            f"or choose a smaller gamma or degree"
        )
