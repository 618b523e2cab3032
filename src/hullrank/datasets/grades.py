"""From real-valued targets to grades."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from hullrank.exceptions import HullrankError


def discretize(y: Any, bins: int = 5) -> NDArray[np.intp]:
    """Cut a target into grades of equal frequency; equal values always get equal grades.

    A value whose copies stand at the places a+1..b of the sorted target gets the grade
    ``floor(bins * (a + b) / (2 m))``: without ties every grade has m / bins samples (up to one), and a run of equal
    values goes whole to the grade that holds its middle. Grades that a long run leaves empty are closed up, so the
    result uses 0..k-1 with k <= bins.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Finite real values.
    bins : int, default=5
        Number of grades wanted.

    Returns
    -------
    grades : ndarray of shape (n_samples,)
        Integers, lowest first.

    Examples
    --------
    >>> from hullrank.datasets import discretize
    >>> discretize([0.3, 9.0, 0.1, 4.5, 2.2, 7.1], bins=3)
    array([0, 2, 0, 1, 1, 2])
    >>> discretize([1, 1, 1, 1, 2, 3], bins=3)
    array([0, 0, 0, 0, 1, 1])
    """
    if bins < 1:
        raise HullrankError(f"bins={bins}; ask for at least one grade")
    values = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
    if values.ndim != 1:
        raise HullrankError(f"y has shape {values.shape}; pass one target per sample")
    _, code, count = np.unique(values, return_inverse=True, return_counts=True)
    after = np.cumsum(count)
    grade = bins * (2 * after - count) // (2 * len(values))
    return np.unique(grade, return_inverse=True)[1][code].astype(np.intp)
