"""Rows, targets and weights checked once, with errors that say what is wrong and where."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_consistent_length, validate_data

from hullrank.data.labels import unique_inverse
from hullrank.data.queries import warn_of_query_columns
from hullrank.exceptions import HullrankError, LabelError

Floats = NDArray[np.float64]
Matrix = Any  # (m, n) float64: a C-contiguous array, or a SciPy CSR matrix or array


@dataclass(frozen=True)
class Samples:
    """Rows of positive weight with their class.

    ``rows`` sorts them by class, so that class c owns ``rows[starts[c]:starts[c + 1]]``; X itself keeps its order.
    """

    X: Matrix
    codes: NDArray[np.intp]
    weights: Floats
    n_classes: int

    @cached_property
    def rows(self) -> NDArray[np.intp]:
        """Sample numbers sorted by class, stable."""
        small = np.int16 if self.n_classes < 2**15 else np.intp
        return np.argsort(self.codes.astype(small), kind="stable")

    @cached_property
    def starts(self) -> NDArray[np.intp]:
        """(K + 1,) first position of every class in ``rows``."""
        return np.concatenate([[0], np.cumsum(np.bincount(self.codes, minlength=self.n_classes))])

    @property
    def n_order_constraints(self) -> int:
        """Pairs of samples of different classes, (m^2 - sum m_c^2) / 2."""
        counts = self.starts[1:] - self.starts[:-1]
        return (len(self.codes) ** 2 - int(counts @ counts)) // 2


def check_rows(estimator: Any, X: Any, *, reset: bool = False, sparse: bool = True) -> Matrix:
    """X as a finite float64 array or CSR matrix; ``reset`` remembers the features (in ``fit``)."""
    if reset:
        warn_of_query_columns(X)
    X = validate_data(
        estimator, X, reset=reset, dtype=np.float64, order="C", accept_sparse=("csr", "csc") if sparse else False
    )
    return X.tocsr() if sp.issparse(X) else X


def check_target(X: Matrix, y: Any, *, discrete: bool = False) -> NDArray[Any]:
    """y as a 1-D array of X's length, without missing values; ``discrete`` refuses fractions (for classifiers)."""
    if y is None:
        raise HullrankError("this estimator requires y to be passed, but the target y is None")
    values = y if type(y) is np.ndarray and y.ndim == 1 else column_or_1d(y, warn=True)
    check_consistent_length(X, values)
    if values.dtype.kind == "c":
        raise LabelError("y is complex; ranks must be real numbers or labels")
    bad = _missing(values)
    if bad.any():
        raise LabelError(
            f"y contains NaN, infinity or None: input y is {values[bad].tolist()[0]!r} at row {int(np.argmax(bad))}; "
            "drop those rows"
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
    if values.dtype.kind == "O":
        return np.array([v is None or v != v for v in values], dtype=bool)
    return np.zeros(len(values), dtype=bool)


def check_queries(qid: Any, n_rows: int) -> NDArray[np.intp]:
    """Query numbers 0..Q-1 of the rows, from ids of any type in any order; all 0 if ``qid`` is None."""
    if qid is None:
        return np.zeros(n_rows, dtype=np.intp)
    values = column_or_1d(qid)
    if len(values) != n_rows:
        raise HullrankError(f"qid has {len(values)} entries, but there are {n_rows} rows; pass one query id per row")
    bad = _missing(values)
    if bad.any():
        raise HullrankError(
            f"qid is missing ({values[bad][0]!r}) at row {int(np.argmax(bad))}; give every row a query id"
        )
    return unique_inverse(values)[1]


def check_weights(sample_weight: Any, X: Matrix) -> Floats:
    """Finite, non-negative, not all zero; ones if None."""
    m = X.shape[0]
    if sample_weight is None:
        return np.ones(m)
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
    return weights
