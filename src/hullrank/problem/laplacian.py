"""Unlabelled rows as a change of inner product: functions that vary between neighbours cost more.

With the Laplacian M = D - W of a graph between all N rows, labelled or not, a mean of the penalties 1/2 |f|^2 and
1/2 f'Mf is again 1/2 |f|^2 in another inner product (Sindhwani, Niyogi and Belkin 2005). If the score is linear in
coordinates F of the rows (their features, or those of a kernel's space) with weights w, the penalty is 1/2 w'Aw with
A = a I + b F'MF = R'R; the weights R w on the coordinates F R^-1 have the plain penalty. So only the rows change, and
solvers, certificates and everything else stay as they are.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import cholesky

from hullrank.exceptions import HullrankError
from hullrank.problem.gram import Gram
from hullrank.problem.kernel_factor import KernelFactor, factor_kernel
from hullrank.problem.kernels import kernel_matrix

Floats = NDArray[np.float64]


def neighbour_graph(X: Floats, n_neighbors: int) -> Any:
    """The symmetric graph (weights 0 or 1) that joins every row with its nearest rows."""
    from sklearn.neighbors import kneighbors_graph

    if n_neighbors < 1:
        return sp.csr_array((len(X), len(X)))
    graph = kneighbors_graph(X, n_neighbors, mode="connectivity")
    return graph.maximum(graph.T).tocsr()


def check_graph(graph: Any, n_rows: int) -> Any:
    """A given graph: square, symmetric, with weights that are not negative, over labelled and then unlabelled rows."""
    W = sp.csr_array(graph).astype(np.float64)
    if W.shape != (n_rows, n_rows):
        raise HullrankError(
            f"graph has shape {W.shape}, and there are {n_rows} rows; pass one line for every labelled row, and then "
            "one for every unlabelled row"
        )
    if W.nnz and (not np.isfinite(W.data).all() or W.data.min() < 0):
        raise HullrankError("graph has weights that are negative or not finite; pass similarities")
    if abs(W - W.T).max() > 1e-9 * max(abs(W).max(), 1e-300):
        raise HullrankError("graph is not symmetric; pass (graph + graph.T) / 2")
    return W


def laplacian(graph: Any) -> Any:
    """M = D - W, sparse."""
    degree = np.asarray(graph.sum(axis=0)).ravel()
    return sp.csr_array(sp.diags(degree) - graph)


@dataclass(frozen=True)
class LinearMap:
    """Linear functions of rows, whose weights are the columns of W."""

    W: Floats

    def values(self, X: Floats) -> Floats:
        """(m, k) values of the functions at rows."""
        return X @ self.W


@dataclass(frozen=True)
class KernelMap:
    """Functions of a kernel's space, relative to their values at a central row: a column of ``coef`` for each."""

    rows: Floats
    centre: Floats  # a row of its own, of shape (1, n_features)
    coef: Floats
    kernel: Any
    gamma: float
    degree: int
    coef0: float

    def values(self, X: Floats) -> Floats:
        """(m, k) values of the functions at rows."""
        found: Floats = (self._kernel(X) - self._kernel(self.centre)) @ self.coef
        return found

    def _kernel(self, X: Floats) -> Floats:
        return kernel_matrix(X, self.rows, self.kernel, gamma=self.gamma, degree=self.degree, coef0=self.coef0)


class Features:
    """Coordinates of a linear score: the columns."""

    def __init__(self, X: Floats) -> None:
        self.F = X

    def functions(self, W: Floats) -> Floats:
        """What `map` needs to know of the functions whose weights are the columns of W."""
        return W

    def map(self, functions: Floats) -> LinearMap:
        """The functions, without the rows that the coordinates were made of."""
        return LinearMap(functions)


class KernelCoordinates:
    """Coordinates of a kernel's space over all rows, on at most ``rank`` of them."""

    def __init__(self, gram: Gram, rank: int | None) -> None:
        self.gram = gram
        self.factor: KernelFactor = factor_kernel(gram, rank)
        self.F = self.factor.L

    def functions(self, W: Floats) -> Floats:
        """Kernel coefficients of the pivots for the functions whose weights are the columns of W; each sums to 0.

        Values are relative to that at the central sample, which thresholds and pairs do not see.
        """
        return self.factor.coefficients(W)[self._used]

    @cached_property
    def _used(self) -> NDArray[np.intp]:
        return np.union1d(self.factor.pivots, [self.factor.centre])

    def map(self, functions: Floats) -> KernelMap:
        """The functions, with no rows but the pivots and the centre."""
        gram = self.gram
        rows, centre = gram.X[self._used], gram.X[[self.factor.centre]]
        return KernelMap(rows, centre, functions, gram.kernel, gram.gamma, gram.degree, gram.coef0)


@dataclass(frozen=True)
class InnerProduct:
    """Coordinates of all rows and the Laplacian of the graph between them."""

    coordinates: Features | KernelCoordinates
    M: Any

    @cached_property
    def roughness(self) -> Floats:
        """F'MF in units of its mean diagonal entry: a random function then costs as much by it as by its norm."""
        F = self.coordinates.F
        product = F.T @ (self.M @ F)
        mean = float(np.trace(product)) / F.shape[1]
        return (product + product.T) / (2 * mean) if mean > 0 else product

    def root(self, strength: float) -> Floats:
        """R, upper triangular, with R'R = (I + strength * roughness) / (1 + strength): a mean of the two penalties.

        So a random function costs the same at every strength, and C keeps its meaning.
        """
        n = self.coordinates.F.shape[1]
        found: Floats = cholesky((np.eye(n) + strength * self.roughness) / (1 + strength))
        return found
