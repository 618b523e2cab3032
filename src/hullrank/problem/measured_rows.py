"""Rows of X, measured: about which mean and in which unit they are best looked at."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hullrank.data import Samples
from hullrank.problem.certificate import EPSILON
from hullrank.problem.column_moments import ENOUGH, column_moments
from hullrank.problem.intervals import IntervalProblem
from hullrank.problem.rows import FAR_OFF, ArrayRows, square_lengths

Floats = NDArray[np.float64]


def centred_rows(X: Any, pick: NDArray[np.integer], weights: Floats) -> ArrayRows:
    """A view of the picked rows, centred (if dense) and scaled to rms|x| = 1; large X are measured on enough rows.

    Sparse rows far from 0 are a view of a copy that is near it.
    """
    step = max(1, X.shape[0] * X.shape[1] // ENOUGH)
    if sp.issparse(X):
        near, origin = _near_zero(X)
        spread = sparse_spread(near, pick, weights)
        return ArrayRows(near, pick, None, spread or 1.0, spread, origin=origin)
    if step == 1 and len(pick) == len(X) and isinstance(X, np.ndarray):  # sums do not depend on the order of the rows
        some, measured = X, np.empty(len(pick))
        measured[pick] = weights
    else:
        some, measured = X[pick[::step]], weights[::step]
    mean, deviation = column_moments(some, measured)
    spread = float(np.linalg.norm(deviation))
    if spread <= 8 * EPSILON * float(np.abs(mean).max(initial=0.0)):  # rounding of equal rows
        spread = 0.0
    return ArrayRows(X, pick, mean, spread or 1.0, spread, deviation)


def sorted_rows(samples: Samples) -> ArrayRows:
    """The samples class by class, centred (if dense) and scaled to rms|x| = 1; they are measured once."""
    known = vars(samples)
    if "sorted_rows" not in known:
        known["sorted_rows"] = centred_rows(samples.X, samples.rows, samples.weights[samples.rows])
    rows: ArrayRows = known["sorted_rows"]
    return rows


def sparse_spread(X: Any, pick: NDArray[np.integer], weights: Floats) -> float:
    """rms|x| of the picked rows of a sparse matrix."""
    return (float(square_lengths(X.data, X.indptr)[pick] @ weights) / float(weights.sum())) ** 0.5


def rounding_unit(problem: IntervalProblem, X: Any, weights: Floats, spread: float) -> float:
    """rms|x| by which rounding is measured: ``spread``, in a homogeneous problem always about the mean of the rows."""
    if not (problem.homogeneous and sp.issparse(X)):
        return spread
    mean = np.asarray(weights @ X).ravel() / weights.sum()
    return float(np.sqrt(max(spread**2 - float(mean @ mean), 0.0)))


def _near_zero(X: Any) -> tuple[Any, Floats | None]:
    """Sparse rows whose distance from 0 costs no digits, and what was taken out of them (None: nothing).

    Far from 0 are only columns that have no zeros. Their means are taken out of the stored entries, so that rows stay
    sparse.
    """
    m, n = X.shape
    if X.nnz < m or not X.has_canonical_format:
        return X, None
    full = np.bincount(X.indices, minlength=n) == m
    if not full.any():
        return X, None
    origin = np.where(full, np.ones(m) @ X / m, 0.0)
    left = max(float(X.data @ X.data) / m - float(origin @ origin), 0.0) ** 0.5
    if not FAR_OFF * left < float(np.abs(origin).max()) < np.inf:
        return X, None
    near = X.copy()
    near.data -= origin[X.indices]
    rounding = 8 * EPSILON * float(np.abs(origin).max())
    return (near, origin) if np.abs(near.data).max() > rounding else (X, None)  # rows that are not all equal
