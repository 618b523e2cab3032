"""One length scale for every column of an rbf kernel, by the evidence of a Gaussian process (gamma="ard").

The kernel is exp(-sum_j gamma_j (x_j - x'_j)^2). Ranks of the targets, as normal scores z, are taken as values of a
Gaussian process with that kernel and noise; the gammas maximise log p(z) (MacKay 1994, automatic relevance
determination) less a small sum of gamma_j in units of the column's variance, which lets columns that say nothing go to
0. With S = signal K + noise I, a = S^-1 z and B = a a' - S^-1 the derivative of log p in a parameter is
1/2 tr(B dS), so that all gammas together cost one product of an (m, m) matrix with X.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from hullrank.exceptions import HullrankError

Floats = NDArray[np.float64]

MOST_ROWS = 600  # rows that the gammas are learned from
_SHRINKAGE = 0.3  # price, in nats, of a column with gamma_j * variance_j = 1
_LOW, _HIGH = np.log(1e-6), np.log(1e2)  # bounds of log(gamma_j * variance_j)


def normal_scores(targets: NDArray[Any], query: NDArray[np.integer]) -> Floats:
    """Quantiles of the normal distribution at the targets' mid-ranks (within queries), with mean 0 and variance 1."""
    from scipy.special import ndtri
    from scipy.stats import rankdata  # loads all of SciPy's statistics, which no prediction needs

    z = np.zeros(len(targets))
    for q in np.unique(query):
        own = np.flatnonzero(query == q)
        z[own] = ndtri((rankdata(targets[own]) - 0.5) / len(own))
    spread = float(z.std())
    return (z - z.mean()) / spread if spread > 0 else z


def evidence(theta: Floats, X: Floats, z: Floats) -> tuple[float, Floats]:
    """log p(z) and its gradient in theta = logarithms of (gamma_1, ..., gamma_n, signal, noise); X is standardised."""
    gamma, signal, noise = np.exp(theta[:-2]), float(np.exp(theta[-2])), float(np.exp(theta[-1]))
    scaled = X * np.sqrt(gamma)
    squares = np.einsum("ij,ij->i", scaled, scaled)
    K = np.exp(-np.maximum(squares[:, None] + squares - 2 * scaled @ scaled.T, 0.0))
    S = signal * K
    S[np.diag_indices_from(S)] += noise
    factor = cho_factor(S, lower=True)
    a = cho_solve(factor, z)
    value = -0.5 * float(z @ a) - float(np.log(np.diag(factor[0])).sum()) - 0.5 * len(z) * np.log(2 * np.pi)
    B = np.outer(a, a) - cho_solve(factor, np.eye(len(z)))
    G = B * (signal * K)
    sums = G.sum(axis=1)
    by_column = np.einsum("ij,ij,i->j", X, X, sums) - np.einsum("ij,ij->j", X, G @ X)
    gradient = np.concatenate([-gamma * by_column, [0.5 * float(sums.sum()), 0.5 * noise * float(np.trace(B))]])
    return value, gradient


def scale_columns(X: Any, gammas: Floats | None) -> Any:
    """X with every column times the root of its gamma, so that the kernel has gamma = 1; X itself without gammas."""
    if gammas is None:
        return X
    return (X @ sp.diags_array(np.sqrt(gammas))).tocsr() if sp.issparse(X) else X * np.sqrt(gammas)


def column_gammas(X: Any, targets: NDArray[Any], query: NDArray[np.integer] | None = None) -> Floats:
    """(n,) gammas of the columns, learned from at most `MOST_ROWS` rows; 0 for a column without variance."""
    m = X.shape[0]
    query = np.zeros(m, dtype=np.intp) if query is None else query
    kept = np.arange(m) if m <= MOST_ROWS else np.sort(np.random.default_rng(0).choice(m, MOST_ROWS, replace=False))
    z = normal_scores(targets, query)[kept]
    if not z.any():
        raise HullrankError("gamma='ard' learns from targets, and all are equal; use gamma='scale' or a number")
    rows = X[kept].toarray() if sp.issparse(X) else np.asarray(X[kept], dtype=np.float64)
    spread = rows.std(axis=0)
    varies = spread > 1e-12 * np.maximum(np.abs(rows).max(axis=0), 1e-300)
    standard = (rows[:, varies] - rows[:, varies].mean(axis=0)) / spread[varies]
    gammas = np.zeros(rows.shape[1])
    if varies.any():
        gammas[varies] = _fitted(standard, z) / spread[varies] ** 2
    return gammas


def _fitted(X: Floats, z: Floats) -> Floats:
    """Gammas of standardised columns, from the start gamma_j = 1 / (2 n): that of "scale", halved."""
    from scipy.optimize import minimize  # loads all of SciPy's optimisers, which no prediction needs

    n = X.shape[1]

    def negative(theta: Floats) -> tuple[float, Floats]:
        value, gradient = evidence(theta, X, z)
        shrunk = _SHRINKAGE * np.exp(theta[:-2])
        gradient[:-2] -= shrunk
        return float(shrunk.sum()) - value, -gradient

    start = np.append(np.full(n, -np.log(2.0 * n)), np.log([0.7, 0.3]))
    bounds = [(_LOW, _HIGH)] * n + [(np.log(1e-3), np.log(1e3)), (np.log(1e-4), np.log(10.0))]
    found = minimize(negative, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 150})
    gammas = np.exp(found.x[:-2])
    return np.where(gammas > 2 * np.exp(_LOW), gammas, 0.0)
