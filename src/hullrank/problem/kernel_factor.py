"""A kernel matrix as L L', so that a kernel problem over pairs becomes the linear problem over the rows of L.

Pairs only see differences, so all samples are first moved by a central one, o: K_ij = <phi_i - phi_o, phi_j - phi_o>,
which keeps K small where the kernel has a large constant part. With pivots P (some of the samples) and
K[P, P] = R R', R lower triangular, L = K[:, P] R^-T has K - L L' >= 0, with equality in the rows of P. The function
f = sum_p beta_p (k(x_p, .) - k(x_o, .)) with R'beta = w has the scores L w (up to a constant) and the norm |f| = |w|.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpotrf, dpstrf, spotrf

from hullrank.exceptions import KernelError
from hullrank.problem.certificate import EPSILON
from hullrank.problem.gram import Gram
from hullrank.problem.matrix_probe import is_known_definite, product, remember_definite

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

NYSTROEM_RANK = 1000  # pivots of approximation="nystroem"
_DEFINITE = ("linear", "rbf", "laplacian")
_PROBE = 1500  # samples whose kernel matrix is tested for negative eigenvalues
_FLOAT32_SAFE = 1e10  # largest entries between 1/this and this leave room for all others in float32, without a scale
_TINY = float(np.finfo(np.float64).tiny)
_NEGLIGIBLE = 1e-13  # share of the largest diagonal entry below which a pivot counts as 0


@dataclass(frozen=True)
class KernelFactor:
    """L, the pivots with their triangle R, the central sample, and the diagonal of K - L L'.

    The central sample is a pivot too, in a coordinate of its own that no other sample has.
    """

    L: Floats
    pivots: Ints
    R: Floats
    centre: int
    residual: Floats

    def coefficients(self, w: Floats) -> Floats:
        """One coefficient per sample, nonzero at the pivots: those of f = sum_i coef_i k(x_i, .).

        A matrix ``w`` has a column for every function.
        """
        coef = np.zeros((len(self.L), *w.shape[1:]))
        coef[self.pivots] = solve_triangular(self.R, w, lower=True, trans="T", check_finite=False)
        coef[self.centre] = 0.0
        coef[self.centre] = -coef.sum(axis=0)
        return coef


def basis_size(approximation: int | str | None) -> int | None:
    """The number of pivots that an estimator's parameter ``approximation`` asks for; None is as many as there are."""
    return NYSTROEM_RANK if isinstance(approximation, str) else approximation


def is_definite(gram: Gram) -> bool:
    """Whether the kernel has no negative eigenvalue on (up to 1500 of) the samples; a principal part proves it.

    An eigenvalue counts as negative below -1e-6 of the largest, which is at least the mean of the row sums: where the
    matrix with half of that added has a Cholesky factor, in float32 or in float64, the eigenvalues need not be known.
    Beyond these samples the solver finds out: it ends with an error where it meets a direction of negative curvature.
    A given matrix that was tested before, as those of a grid of prices are, is not tested again.
    """
    poly = gram.kernel == "poly" and gram.coef0 >= 0 and gram.degree == int(gram.degree)
    if poly or gram.kernel in _DEFINITE:
        return True
    forth = product(gram.whole()) if gram.kernel == "precomputed" else None
    if forth is not None and is_known_definite(forth):
        return True
    definite = _has_no_negative_eigenvalue(gram.take(np.arange(0, len(gram), -(-len(gram) // _PROBE))).whole())
    if definite and forth is not None:
        remember_definite(forth)
    return definite


def _has_no_negative_eigenvalue(K: Floats) -> bool:
    """The test of ``is_definite``."""
    largest = max(float(K.diagonal().max()), float(K.sum()) / len(K), _TINY)
    scale = 1.0 if 1 / _FLOAT32_SAFE < largest < _FLOAT32_SAFE else largest
    with np.errstate(over="ignore"):
        rough = (K if scale == 1.0 else K / scale).astype(np.float32)
    rough.flat[:: len(K) + 1] += np.float32(0.5e-6 * largest / scale)
    # The transpose of a symmetric matrix has the memory order that LAPACK factors in place.
    if not spotrf(rough.T, lower=1, overwrite_a=1, clean=0)[1]:
        return True
    K = K.copy()
    K.flat[:: len(K) + 1] += 0.5e-6 * largest
    if not dpotrf(K.T, lower=1, clean=0)[1]:
        return True
    values = np.linalg.eigvalsh(K) - 0.5e-6 * largest
    return bool(values[0] >= -1e-6 * max(values[-1], 0.0))


def factor_kernel(gram: Gram, rank: int | None = None) -> KernelFactor:
    """L to rounding error, or on at most ``rank`` pivots (Nystroem's approximation).

    With ``rank`` the pivots are chosen among four times as many samples, drawn by what they are and not by where they
    stand, so that the order of the samples does not matter.
    """
    m = len(gram)
    rank = m if rank is None else min(rank, m)
    whole = rank == m
    drawn = np.arange(m) if whole else np.argsort(gram.hashes(), kind="stable")[: 4 * rank]
    K = _columns(gram.take(drawn), None)
    noise = 64 * EPSILON * float(np.abs(K).max(initial=0.0))  # what rounding did to an entry before it is moved
    central = int(np.argmin(K.diagonal() - 2 * K.mean(axis=1)))
    _move(K, central, central)
    K[central, central] = 2 * max(float(K.diagonal().max()), _TINY)
    diagonal = K.diagonal().copy()
    chosen, L = _cholesky(K, diagonal, noise) if whole else _pivoted_cholesky(K, diagonal, noise)
    chosen = chosen[:rank]
    pivots, R, centre = drawn[chosen], L[chosen, : len(chosen)], int(drawn[central])
    if not whole:
        columns = _columns(gram, pivots)
        diagonal = gram.diagonal() - 2 * columns[:, 0] + columns[centre, 0]
        _move(columns, centre, 0)
        L = np.ascontiguousarray(solve_triangular(R, columns.T, lower=True, overwrite_b=True).T)
    L[centre] = 0.0
    residual = np.maximum(diagonal - np.einsum("ij,ij->i", L, L), 0.0)
    residual[pivots] = 0.0
    return KernelFactor(L, pivots, R, centre, residual)


def _columns(gram: Gram, columns: Any) -> Floats:
    out = np.empty((len(gram), len(gram) if columns is None else len(columns)))
    gram.blocks(np.float64, columns).fill(None, out)
    return out


def _move(K: Floats, row: int, column: int) -> None:
    """Move all samples by the one that stands in ``row`` and ``column``, in place."""
    K -= K[:, [column]]
    K -= K[[row]]


def _cholesky(K: Floats, diagonal: Floats, noise: float) -> tuple[Ints, Floats]:
    """All samples as pivots where K is safely positive definite, which is much faster, else complete pivoting."""
    L, failed = dpotrf(K.T, lower=1, clean=1)
    if not failed and float(L.diagonal().min()) ** 2 > max(_NEGLIGIBLE * float(diagonal.max()), noise):
        return np.arange(len(K)), np.ascontiguousarray(L)
    return _pivoted_cholesky(K, diagonal, noise)


def _pivoted_cholesky(K: Floats, diagonal: Floats, noise: float) -> tuple[Ints, Floats]:
    """Pivots, the most telling first, and L = K[:, P] R^-T up to a negligible remainder.

    ``noise`` is the rounding error of an entry: smaller pivots mean nothing.
    """
    m, largest = len(K), float(diagonal.max())
    negligible = max(max(m * 2.3e-16, _NEGLIGIBLE) * largest, noise)
    factor, order, r, _ = dpstrf(K.T, lower=1, tol=negligible, overwrite_a=1)
    pivots = order.astype(np.intp) - 1
    L = np.empty((m, r))
    L[pivots] = np.tril(factor[:, :r])
    if (diagonal - np.einsum("ij,ij->i", L, L)).min() < -max(1e-8 * largest, m * noise):
        raise KernelError(
            "the kernel is not positive semidefinite on these samples, so the ranking has no finite optimum; use a "
            "kernel such as 'rbf', or a precomputed matrix with its negative eigenvalues set to zero"
        )
    return pivots[:r], L
