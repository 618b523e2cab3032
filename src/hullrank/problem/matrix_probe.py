"""What one product with a random vector tells of a large matrix, in the time that reading it takes.

Two matrices that differ by E give products with a normal vector r that differ by E r, in row i by |E_i| times a normal
number: by less than a share d of |E_i| with a probability below d. So matrices with the same product are the same up to
rounding, and one whose product is that of its transpose is symmetric, but for a chance of about 1e-13 over the relative
size of E. The vector is drawn anew by every process, so that no data can be made to deceive it.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_ROUNDING = 1e-13  # share of a product's largest entry by which rounding may change it
_MOST_KNOWN = 1000  # matrices remembered at a time
_definite: set[int] = set()


@lru_cache(maxsize=32)
def _vector(n: int) -> Floats:
    return np.random.default_rng().normal(size=n)


def product(K: NDArray[np.floating]) -> Floats:
    """The matrix times the random vector; not finite where an entry is not."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(K @ _vector(K.shape[1]), dtype=np.float64)


def looks_symmetric(K: NDArray[np.floating], forth: Floats) -> bool:
    """Whether a square matrix is symmetric up to rounding, given its product; False where rounding may hide it."""
    with np.errstate(over="ignore", invalid="ignore"):
        apart = np.abs(product(K.T) - forth).max(initial=0.0)
        largest = np.abs(forth).max(initial=0.0)
        return bool(largest < np.inf and apart <= _ROUNDING * largest)


def is_known_definite(forth: Floats) -> bool:
    """Whether the matrix with this product was found to have no negative eigenvalue, lately and in this process."""
    return hash(forth.tobytes()) in _definite


def remember_definite(forth: Floats) -> None:
    """The matrix with this product has no negative eigenvalue."""
    if len(_definite) >= _MOST_KNOWN:
        _definite.clear()
    _definite.add(hash(forth.tobytes()))
