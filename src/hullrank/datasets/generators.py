"""Artificial data with a known order."""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from hullrank.datasets.grades import discretize
from hullrank.exceptions import HullrankError

Floats = NDArray[np.float64]


def make_ordinal(
    n_samples: int = 100,
    n_features: int = 20,
    *,
    n_classes: int = 5,
    n_informative: int | None = None,
    surface: Literal["linear", "saddle"] = "linear",
    noise: float = 0.1,
    return_coef: bool = False,
    random_state: Any = None,
) -> Any:
    """Make ordered classes: a noisy score, cut into grades of equal frequency.

    ``surface="linear"``: x is standard normal and the score is ``w.x + noise * e`` with ``|w| = 1``, e standard normal.
    ``surface="saddle"``: x is uniform in the unit cube and the score is ``10 (x_1 - 1/2)(x_2 - 1/2) + noise * e``, the
    surface on which Crammer and Singer (2001, section 4) show PRank with a second-order kernel.

    Parameters
    ----------
    n_samples, n_features : int, default=100, 20
        Size of X.
    n_classes : int, default=5
        Number of grades, 0 (lowest) to n_classes - 1.
    n_informative : int, default=None
        Features with a coefficient other than zero (linear surface only); None means all.
    surface : {"linear", "saddle"}, default="linear"
        Shape of the score.
    noise : float, default=0.1
        Standard deviation of the noise added to the score.
    return_coef : bool, default=False
        Whether to return w too (linear surface only).
    random_state : int, RandomState instance or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Grades.
    coef : ndarray of shape (n_features,)
        The vector w; only with ``return_coef=True``.

    Examples
    --------
    >>> from hullrank.datasets import make_ordinal
    >>> X, y = make_ordinal(6, 2, n_classes=3, random_state=0)
    >>> X.shape, sorted(y.tolist())
    ((6, 2), [0, 0, 1, 1, 2, 2])
    """
    rng = check_random_state(random_state)
    if surface == "saddle":
        if n_features < 2 or n_informative is not None or return_coef:
            raise HullrankError(
                "surface='saddle' needs n_features of at least 2, and has no coefficients: "
                "leave n_informative and return_coef alone, or take surface='linear'"
            )
        X = rng.uniform(size=(n_samples, n_features))
        score = 10 * (X[:, 0] - 0.5) * (X[:, 1] - 0.5)
        return X, discretize(score + noise * rng.standard_normal(n_samples), n_classes)
    X = rng.standard_normal((n_samples, n_features))
    coef = _direction(n_features, n_features if n_informative is None else n_informative, rng)
    y = discretize(X @ coef + noise * rng.standard_normal(n_samples), n_classes)
    return (X, y, coef) if return_coef else (X, y)


def _direction(n_features: int, n_informative: int, rng: Any) -> Floats:
    if not 1 <= n_informative <= n_features:
        raise HullrankError(f"n_informative={n_informative}; it must lie between 1 and n_features={n_features}")
    coef = np.zeros(n_features)
    coef[rng.permutation(n_features)[:n_informative]] = rng.standard_normal(n_informative)
    return coef / np.linalg.norm(coef)


def make_conic_classes(
    n_samples: int = 150, *, n_classes: int = 3, noise: float = 0.15, random_state: Any = None
) -> tuple[Floats, NDArray[np.intp]]:
    """Make ordered classes in the plane that conic sections separate: nested rings about the origin.

    Class c lies at radius ``c + 1`` (plus normal noise) and at any angle, so no line orders the classes and a
    second-order kernel does: the setting of Shashua and Levin (2002, figure 3). Classes are as equal in size as
    n_samples allows.

    Parameters
    ----------
    n_samples : int, default=150
        Number of points.
    n_classes : int, default=3
        Number of rings.
    noise : float, default=0.15
        Standard deviation of the radius.
    random_state : int, RandomState instance or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
    y : ndarray of shape (n_samples,)
        0 for the innermost ring.

    Examples
    --------
    >>> from hullrank.datasets import make_conic_classes
    >>> X, y = make_conic_classes(9, noise=0.0, random_state=0)
    >>> bool((abs((X**2).sum(axis=1) ** 0.5 - (y + 1)) < 1e-12).all())
    True
    """
    rng = check_random_state(random_state)
    y = rng.permutation(np.arange(n_samples) % n_classes)
    radius = 1.0 + y + noise * rng.standard_normal(n_samples)
    angle = rng.uniform(0.0, 2 * np.pi, size=n_samples)
    return radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]), y
