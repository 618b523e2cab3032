"""A word about columns whose scales differ too much for one penalty or one kernel width."""

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp

from hullrank.exceptions import ScaleWarning
from hullrank.problem.column_moments import ColumnMoments, column_moments

MOST = 1e3  # ratio of two columns' standard deviations beyond which the user is warned
_DIGITS = 1e-9  # of its mean, by which a column varies that is taken as constant


def warn_of_scales(estimator: Any, X: Any, moments: ColumnMoments | None = None, names: Any = None) -> None:
    """Warn where the standard deviations of two columns of a dense X differ by more than 1000.

    Sparse columns are left alone: they are rare or frequent rather than small or large. ``moments`` are those of X,
    where they are known, and ``names`` those of its columns, where the estimator does not have them.
    """
    if sp.issparse(X) or X.shape[1] < 2 or not _sees_scales(estimator):
        return
    mean, spread = column_moments(X) if moments is None else moments
    if spread.max() <= MOST * spread.min():
        return
    varying = np.flatnonzero((spread > _DIGITS * np.abs(mean)) & np.isfinite(spread))
    if len(varying) < 2:
        return
    small, large = varying[np.argmin(spread[varying])], varying[np.argmax(spread[varying])]
    if spread[large] > MOST * spread[small]:
        names = getattr(estimator, "feature_names_in_", np.arange(X.shape[1])) if names is None else names
        seen = "penalty" if estimator.kernel == "linear" else "kernel"
        warnings.warn(
            f"column {names[large]} has a standard deviation of {spread[large]:.3g} and column {names[small]} one of "
            f"{spread[small]:.3g}, so that the {seen} sees little of the second; put StandardScaler() in front",
            ScaleWarning,
            stacklevel=4,
        )


def _sees_scales(estimator: Any) -> bool:
    """Whether scores depend on the scales of the columns: not where every column has a length of its own."""
    kernel = estimator.kernel
    learned = kernel == "rbf" and estimator.gamma == "ard"
    return not (callable(kernel) or kernel == "precomputed" or learned)
