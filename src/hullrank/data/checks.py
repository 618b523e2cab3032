"""Rows, targets and weights checked once, with errors that say what is wrong and where."""

from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_consistent_length, validate_data

from hullrank.data.labels import unique_inverse
from hullrank.data.queries import warn_of_query_columns
from hullrank.data.row_view import RowView, in_place, pieces
from hullrank.exceptions import HullrankError, LabelError

Floats = NDArray[np.float64]
Matrix = Any  # (m, n) float64: a C-contiguous array, or a SciPy CSR matrix or array; not copied: see ``row_view``

# Sizes of entries and weights whose squares, sums and products with each other stay far from the ends of float64.
SMALLEST, LARGEST = 1e-100, 1e100
WIDEST = 1e30  # largest ratio of two positive weights


@dataclass(frozen=True)
class Samples:
    """Rows of positive weight with their class.

    ``rows`` sorts them by class, so that class c owns ``rows[starts[c]:starts[c + 1]]``; X itself keeps its order.
    ``mean_square`` is their mean squared distance from their mean, where these are drawn from others of which it is
    known.
    """

    X: Matrix
    codes: NDArray[np.intp]
    weights: Floats
    n_classes: int
    mean_square: float | None = None

    @cached_property
    def rows(self) -> NDArray[np.intp]:
        """Sample numbers sorted by class, stable."""
        small = np.int16 if self.n_classes < 2**15 else np.intp
        return np.argsort(self.codes.astype(small), kind="stable")

    @cached_property
    def starts(self) -> NDArray[np.intp]:
        """(K + 1,) first position of every class in ``rows``."""
        return np.concatenate([[0], np.cumsum(np.bincount(self.codes, minlength=self.n_classes))])

    @cached_property
    def class_weight(self) -> Floats:
        """(K,) total weight of every class."""
        return np.bincount(self.codes, self.weights, self.n_classes).astype(np.float64, copy=False)


def check_rows(estimator: Any, X: Any, *, reset: bool = False, sparse: bool = True, copied: bool = True) -> Matrix:
    """X as a finite C-contiguous float64 array or CSR matrix; ``reset`` remembers the features (in ``fit``).

    Unless they have to be ``copied``, many rows in another order of memory or in float32 stay as they are (see
    ``row_view``).
    """
    if not _is_plain(estimator, X, reset, copied):
        refuse_masked(X, "X")
        if is_source(X):
            raise HullrankError(
                "X is a source of blocks, which only fit of the linear class-based models and of SwappedPairsRanker "
                "takes; pass the rows of its blocks one by one, X.read(i)[0]"
            )
        if reset:
            warn_of_query_columns(X)
        kept: dict[str, Any] = {"dtype": (np.float64, np.float32), "order": None}
        form = {"dtype": np.float64, "order": "C"} if copied else kept
        try:
            X = validate_data(estimator, X, reset=reset, accept_sparse=("csr", "csc") if sparse else False, **form)
        except (ValueError, TypeError) as error:
            if (odd := _odd_cells(str(error))) is None:
                raise
            kind = ValueError if isinstance(error, ValueError) else TypeError
            raise kind(
                f"{odd} before the model: "
                f"make_pipeline(hullrank.io.TableEncoder(), {type(estimator).__name__}()) takes tables as they are"
            ) from error
    if sp.issparse(X):
        X = X.astype(np.float64, copy=False).tocsr()
    elif not copied:
        X = in_place(X)
    _check_sizes(X, SMALLEST if reset else 0.0, getattr(estimator, "feature_names_in_", None))
    return X


def _odd_cells(error: str) -> str | None:
    """Which cells of X are no numbers, and what they need; None where the error is about something else."""
    if "could not convert string to float" in error:
        return f"{error}; words need an encoder"
    if "contains NaN" in error:
        return f"{error.splitlines()[0].rstrip('.')}; missing cells need to be filled in"
    if any(name in error for name in ("DateTime64", "Timestamp", "datetime")):
        return "X contains dates; they need an encoder"
    return None


def _is_plain(estimator: Any, X: Any, reset: bool, copied: bool) -> bool:
    """Whether X is already what ``validate_data`` would return, whose questions about it cost more than a small fit.

    A sum that is finite tells that all entries are; the number of columns is then remembered, or as it was.
    """
    if type(X) is not np.ndarray or X.dtype != np.float64 or not (X.ndim == 2 and X.size):
        return False
    if not (X.flags.c_contiguous or (X.flags.f_contiguous and not copied)):
        return False
    if hasattr(estimator, "feature_names_in_") or not isfinite(X.sum()):
        return False
    if reset:
        estimator.n_features_in_ = X.shape[1]
    return bool(getattr(estimator, "n_features_in_", None) == X.shape[1])


def _check_sizes(X: Matrix, smallest: float, names: NDArray[Any] | None) -> None:
    """Refuse entries beyond ``LARGEST``, and columns that are not zero but nowhere reach ``smallest``."""
    sizes = _column_sizes(X, smallest)
    odd = np.flatnonzero((sizes > LARGEST) | ((sizes > 0) & (sizes < smallest)))
    if len(odd):
        j, size = odd[0], sizes[odd[0]]
        raise HullrankError(
            f"column {j}{'' if names is None else f' ({names[j]!r})'} of X has {size:.3g} as its largest size, whose "
            f"square is too {'large' if size > 1 else 'small'} for float64; divide the column by a constant, so that "
            f"its largest size lies between {SMALLEST:g} and {LARGEST:g}"
        )


def _column_sizes(X: Matrix, smallest: float) -> Floats:
    """The largest absolute entry of every column; of a dense one within the limits, its Euclidean norm.

    Sums of squares take a fifth of the time of maxima, and show which columns need a closer look.
    """
    if sp.issparse(X):
        sizes = np.zeros(X.shape[1])
        np.maximum.at(sizes, X.indices, np.abs(X.data))
        return sizes
    with np.errstate(over="ignore", under="ignore"):
        if isinstance(X, RowView):
            squares = np.add.reduce([np.einsum("ij,ij->j", Y, Y) for Y in map(X.__getitem__, pieces(*X.shape))])
        else:
            squares = np.einsum("ij,ij->j", X, X)
    sizes = np.sqrt(squares)
    if sizes.max() <= LARGEST and sizes.min() > 2 * len(X) ** 0.5 * smallest:
        return sizes
    suspects = np.flatnonzero((squares > LARGEST**2) | (sizes < 2 * np.sqrt(len(X)) * smallest) | (squares == 0))
    if len(suspects):
        sizes[suspects] = np.abs(np.asarray(X[:, suspects])).max(axis=0)
    return sizes


def is_source(X: Any) -> bool:
    """Whether X is a source of blocks (see ``hullrank.problem.block_rows``) rather than the rows themselves."""
    return callable(getattr(X, "read", None)) and hasattr(X, "__len__") and not hasattr(X, "shape")


def refuse_masked(values: Any, name: str) -> None:
    """An error for masked entries of a NumPy masked array, which other functions would read as numbers."""
    if np.ma.is_masked(values):
        row = int(np.argwhere(np.ma.getmaskarray(values))[0, 0])
        raise HullrankError(f"{name} is masked at row {row}; drop or fill the masked entries")


def check_target(X: Matrix, y: Any, *, discrete: bool = False) -> NDArray[Any]:
    """y as a 1-D array of X's length, without missing values; ``discrete`` refuses fractions (for classifiers)."""
    if y is None:
        raise HullrankError("this estimator requires y to be passed, but the target y is None")
    refuse_masked(y, "y")
    values = y if type(y) is np.ndarray and y.ndim == 1 else column_or_1d(y, warn=True)
    if len(values) != X.shape[0]:
        check_consistent_length(X, values)
    if values.dtype.kind == "c":
        raise LabelError("Complex data not supported: y is complex; ranks must be real numbers or labels")
    bad = _missing(values)
    if bad.any():
        raise LabelError(
            f"y contains NaN, NaT, infinity or None: input y is {values[bad][0]} at row {int(np.argmax(bad))}; drop "
            "those rows"
        )
    if discrete and values.dtype.kind == "f" and (fractional := values != np.floor(values)).any():
        raise LabelError(
            "Unknown label type: continuous. A classifier needs discrete grades, and y contains "
            f"{values[fractional].tolist()[0]!r}; pass the grades in order by classes=[...], an ordered Categorical, "
            "or cut y by hullrank.datasets.discretize"
        )
    return values


def _missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    if values.dtype.kind == "f":
        return ~np.isfinite(values)
    if values.dtype.kind in "mM":
        return np.isnat(values)
    if values.dtype.kind == "O":
        return np.array([value is None or not _equals_itself(value) for value in values], dtype=bool)
    return np.zeros(len(values), dtype=bool)


def _equals_itself(value: Any) -> bool:
    """False for NaN, NaT and pandas' NA, whose comparison has no truth value."""
    try:
        return bool(value == value)
    except TypeError:
        return False


def check_queries(qid: Any, n_rows: int) -> NDArray[np.intp]:
    """Query numbers 0..Q-1 of the rows, from ids of any type in any order; all 0 if ``qid`` is None."""
    if qid is None:
        return np.zeros(n_rows, dtype=np.intp)
    refuse_masked(qid, "qid")
    try:
        values = qid if type(qid) is np.ndarray and qid.ndim == 1 else column_or_1d(qid)
    except ValueError as error:
        raise HullrankError(f"qid has shape {np.shape(qid)}; pass one query id per row") from error
    if len(values) != n_rows:
        raise HullrankError(f"qid has {len(values)} entries, but there are {n_rows} rows; pass one query id per row")
    bad = _missing(values)
    if bad.any():
        raise HullrankError(
            f"qid is missing ({values[bad][0]!r}) at row {int(np.argmax(bad))}; give every row a query id"
        )
    return unique_inverse(values)[1]


def check_weights(sample_weight: Any, X: Matrix) -> Floats:
    """Finite, non-negative, not all zero, of sizes that can be summed and squared; ones if None."""
    m = X.shape[0]
    if sample_weight is None:
        return np.ones(m)
    refuse_masked(sample_weight, "sample_weight")
    weights = np.asarray(sample_weight)
    if weights.dtype.kind not in "fiub":
        try:
            weights = weights.astype(np.float64, casting="unsafe" if weights.dtype.kind == "O" else "safe")
        except (TypeError, ValueError) as error:
            raise HullrankError(f"sample_weight is not numeric ({error}); pass one real weight per row") from error
    weights = weights.astype(np.float64, copy=False)
    if weights.ndim == 0:
        weights = np.full(m, float(weights))
    if weights.shape != (m,):
        raise HullrankError(f"sample_weight has shape {weights.shape}, X has {m} rows; pass one weight per row")
    if not np.isfinite(weights).all():
        raise HullrankError(f"sample_weight contains NaN or infinity at row {int(np.argmin(np.isfinite(weights)))}")
    if (weights < 0).any():
        raise HullrankError(f"sample_weight is negative ({weights.min()}) at row {int(np.argmin(weights))}")
    if not weights.any():
        raise HullrankError("sample_weight is zero everywhere, so no sample is left; give some rows a positive weight")
    check_weight_sizes(weights, "sample_weight")
    return weights


def check_weight_sizes(weights: Floats, name: str, rows: NDArray[np.intp] | None = None) -> None:
    """Refuse positive weights whose squares or ratios leave the range in which float64 calculates well.

    ``rows`` are their row numbers in the reader's data, if those are not 0, 1, 2, ...
    """
    low, high = float(weights.min(initial=np.inf, where=weights > 0)), float(weights.max())
    if low >= SMALLEST and high <= LARGEST and high <= WIDEST * low:
        return
    odd = int(np.argmax(weights if high > LARGEST or low >= SMALLEST else weights == low))
    row = odd if rows is None else rows[odd]
    raise HullrankError(
        f"{name} is {weights[odd]:.3g} at row {row}, and positive weights run from {low:.3g} to {high:.3g}; rescale "
        f"them to between {SMALLEST:g} and {LARGEST:g} with a ratio of at most {WIDEST:g}, and use 0 for rows that "
        "should not count"
    )
