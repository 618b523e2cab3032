"""Data whose features have very different ROC curves, so that exact ranking gains over convex losses."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from hullrank.exceptions import HullrankError


def make_roc_flexibility(
    n_samples: int = 250, *, outliers: float = 0.2, shift: float = 0.3, random_state: Any = None
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Make two classes and five features whose ROC curves differ, like 'ROC Flexibility' of Bertsimas et al. (2010).

    The paper does not give its generator; this one shows the same pattern. Feature 1 puts most positives just above
    the negatives and a share ``outliers`` of them far below, which turns the difference of the means around; feature 2
    is informative only at the top, feature 3 only at the bottom, feature 4 is a shift, feature 5 a wider spread.

    Parameters
    ----------
    n_samples : int, default=250
        Samples, every second one positive.
    outliers : float, default=0.2
        Share of positives far below in feature 1, in [0, 1).
    shift : float, default=0.3
        Difference of the means in feature 4.
    random_state : int, RandomState instance or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_samples, 5)
    y : ndarray of shape (n_samples,)
        0 or 1.

    Examples
    --------
    >>> from hullrank.datasets import make_roc_flexibility
    >>> X, y = make_roc_flexibility(10, random_state=0)
    >>> X.shape, int(y.sum())
    ((10, 5), 5)
    """
    if n_samples < 2:
        raise HullrankError(f"n_samples={n_samples} leaves a class empty; make at least 2 samples")
    if not 0 <= outliers < 1:
        raise HullrankError(f"outliers={outliers} is no share; pass a number in [0, 1)")
    rng = check_random_state(random_state)
    y = np.arange(n_samples) % 2
    up, down = y == 1, y == 0
    positives, negatives = int(up.sum()), int(down.sum())
    X = rng.normal(size=(n_samples, 5))
    far = rng.permutation(positives) < round(outliers * positives)
    X[down, 0] *= 0.25
    X[up, 0] = np.where(far, -8.0 + 2.0 * X[up, 0], 1.0 + 0.25 * X[up, 0])
    X[up, 1] += np.where(rng.uniform(size=positives) < 0.2, 2.0, 0.0)
    X[down, 2] -= np.where(rng.uniform(size=negatives) < 0.2, 2.0, 0.0)
    X[up, 3] += shift
    X[up, 4] *= 2.0
    return X, y
