"""Rating tables: users x items with missing entries, and the features that collaborative filtering makes of them."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from hullrank.datasets.grades import discretize
from hullrank.exceptions import HullrankError


def make_ratings(
    n_users: int = 200,
    n_items: int = 300,
    *,
    rank: int = 3,
    n_levels: int = 5,
    density: float = 0.5,
    noise: float = 0.3,
    random_state: Any = None,
) -> NDArray[np.float64]:
    """Make a user x item table of low rank, rounded to ratings, with missing entries.

    Ratings are the grades 1..n_levels of ``U V' / sqrt(rank) + noise * e``, cut at equal frequency over the whole
    table, with U and V standard normal; every entry is kept with probability ``density``, at least one in every row.

    Parameters
    ----------
    n_users, n_items : int, default=200, 300
        Size of the table.
    rank : int, default=3
        Number of hidden tastes.
    n_levels : int, default=5
        Ratings are 1..n_levels.
    density : float in (0, 1], default=0.5
        Expected share of entries that are rated.
    noise : float, default=0.3
        Standard deviation of the noise added before cutting.
    random_state : int, RandomState instance or None, default=None
        Seed.

    Returns
    -------
    ratings : ndarray of shape (n_users, n_items)
        NaN where unrated.

    Examples
    --------
    >>> from hullrank.datasets import make_ratings
    >>> table = make_ratings(4, 6, density=0.5, random_state=0)
    >>> table.shape
    (4, 6)
    """
    if not 0 < density <= 1:
        raise HullrankError(f"density={density}; the share of rated entries lies in (0, 1]")
    rng = check_random_state(random_state)
    taste = rng.standard_normal((n_users, rank)) @ rng.standard_normal((rank, n_items)) / np.sqrt(rank)
    taste += noise * rng.standard_normal(taste.shape)
    ratings = 1.0 + discretize(taste.ravel(), n_levels).reshape(taste.shape)
    missing = rng.uniform(size=ratings.shape) >= density
    missing[np.arange(n_users), rng.randint(n_items, size=n_users)] = False
    ratings[missing] = np.nan
    return ratings


def ratings_to_features(ratings: Any, user: int) -> tuple[sp.csr_array, NDArray[np.float64], NDArray[np.intp]]:
    """One user's rated items as a ranking problem: an item's features are the other users' ratings of it.

    Ratings are shifted by the middle of the scale, which makes an unrated entry 0 (Shashua and Levin 2002,
    section 6). Where the scale has a middle rating the shift moves half a step below it, so that no rating becomes 0:
    the five stars 1..5 turn into -1.5, -0.5, 0.5, 1.5, 2.5.

    Parameters
    ----------
    ratings : array-like or sparse matrix of shape (n_users, n_items)
        NaN (dense) or not stored (sparse) where unrated.
    user : int
        Row whose ratings are the target.

    Returns
    -------
    X : CSR array of shape (n_rated, n_users - 1)
        Items that the user rated x the other users.
    y : ndarray of shape (n_rated,)
        The user's ratings of those items.
    items : ndarray of shape (n_rated,)
        Columns of the table they came from.

    Examples
    --------
    >>> from hullrank.datasets import ratings_to_features
    >>> nan = float("nan")
    >>> X, y, items = ratings_to_features([[1, nan, 5], [2, 3, nan], [nan, 4, 5]], user=0)
    >>> X.toarray()
    array([[-0.5,  0. ],
           [ 0. ,  2.5]])
    >>> y, items
    (array([1., 5.]), array([0, 2]))
    """
    table = _stored(ratings)
    if not -table.shape[0] <= user < table.shape[0]:
        raise HullrankError(f"user={user}, but the table has {table.shape[0]} users")
    own = table[[user], :].tocoo()
    items, y = own.coords[1], own.data
    order = np.argsort(items)
    others = np.delete(np.arange(table.shape[0]), user)
    shifted = table.copy()
    shifted.data = table.data - _middle(table.data)
    return shifted[others].T.tocsr()[items[order]], y[order], items[order].astype(np.intp)


def _stored(ratings: Any) -> sp.csr_array:
    """The rated entries only."""
    if sp.issparse(ratings):
        return sp.csr_array(ratings, dtype=np.float64)
    dense = np.asarray(ratings, dtype=np.float64)
    if dense.ndim != 2:
        raise HullrankError(f"ratings have shape {dense.shape}; pass a table of users x items, NaN where unrated")
    rows, columns = np.nonzero(~np.isnan(dense))
    return sp.csr_array((dense[rows, columns], (rows, columns)), shape=dense.shape)


def _middle(values: NDArray[np.float64]) -> float:
    """The middle of the scale in use, or half a step lower where that is itself a rating."""
    levels = np.unique(values)
    if len(levels) < 2:
        raise HullrankError("the table has fewer than two different ratings, so there is nothing to rank")
    middle = (levels[0] + levels[-1]) / 2
    step = np.diff(levels).min()
    return float(middle - step / 2 if np.isclose(levels, middle).any() else middle)
