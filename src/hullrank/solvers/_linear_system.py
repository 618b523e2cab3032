"""The Newton system of interval problems: thresholds are eliminated first (banded), then (w, rho)."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import lapack
from scipy.sparse.csgraph import reverse_cuthill_mckee
from scipy.sparse.linalg import splu

from hullrank.problem.intervals import IntervalProblem
from hullrank.solvers._conjugate_gradients import conjugate_gradients

Floats = NDArray[np.float64]
WIDE_BAND = 64  # diagonals beyond which thresholds are eliminated in an order that keeps their matrix sparse
DENSE_LIMIT = 3000  # more columns than this are left to conjugate gradients


class SingularSystemError(ArithmeticError):
    """The Newton matrix is not positive definite to working precision."""


def newton_system(problem: IntervalProblem, n_features: int) -> "WholeSystem | BandedSystem":
    """The system that suits the number of thresholds and columns."""
    if isinstance(problem.incidence, np.ndarray) and len(problem.linear) <= 64 and n_features <= DENSE_LIMIT:
        return WholeSystem(problem)
    return BandedSystem(problem)


def model_system(problem: IntervalProblem, terms: Any, n: int) -> "WholeSystem | BandedSystem":
    """The system of 1/2 |w|^2 beside a quadratic model of the rows, which ``terms`` (`Settled`) has, factored."""
    system: Any = newton_system(problem, n)
    weight = np.concatenate([terms.group_weight, np.zeros(len(problem.up))])
    no_cross = np.zeros(len(problem.bundles))  # a model has no terms between the two thresholds of a shared slack
    if n <= DENSE_LIMIT:
        system.factor(terms.H + np.eye(n), terms.group_rows, weight, no_cross)
    else:
        diagonal = terms.H.diagonal() + 1.0
        system.factor(lambda v: terms.H @ v + v, terms.group_rows, weight, no_cross, diagonal)
    return system


def order_matrix(problem: IntervalProblem) -> Floats:
    """G with one line per order constraint: G theta is the room between its two thresholds."""
    G = -problem.incidence[problem.n_groups :]
    return G if isinstance(G, np.ndarray) else G.toarray()


class WholeSystem:
    """Few thresholds: the matrix over (theta, rho, w) is factored as one, thresholds first."""

    def __init__(self, problem: IntervalProblem) -> None:
        self.problem, self.N = problem, problem.incidence
        group, partner = problem.bundles[problem.bundles[:, 1] >= 0].T
        self.paired = np.flatnonzero(problem.bundles[:, 1] >= 0)
        self.pairs = problem.threshold[group], problem.threshold[partner]

    def factor(self, H: Floats, group_rows: Floats, weight: Floats, pair_weight: Floats) -> None:
        """Factor for per-group sums of D x and of D, the order constraints' D following, and per-bundle cross terms."""
        N, (n_groups, n) = self.N, group_rows.shape
        q = N.shape[1]
        M = np.empty((q + n, q + n))
        T = M[:q, :q] = N.T @ (weight[:, None] * N)
        if len(self.paired):
            i, j = self.pairs
            M[i, j] = M[j, i] = T[i, j] + pair_weight[self.paired]
        cross = N[:n_groups].T @ (self.problem.sign[:, None] * group_rows)
        M[:q, q:], M[q:, :q], M[q:, q:] = -cross, -cross.T, H
        self.chol, self.scale = _scaled_cholesky(M, M.diagonal() + 1e-300)

    def solve(self, rw: Floats, rtheta: Floats) -> tuple[Floats, Floats]:
        """The step (dw, (dtheta, drho))."""
        q = len(rtheta)
        x = lapack.dpotrs(self.chol, self.scale * np.concatenate([rtheta, rw]), lower=1)[0]
        x *= self.scale
        return x[q:], x[:q]


class BandedSystem:
    """[H, -B; -B', T] (dw, dtheta) = (r_w, r_theta), with T = E'DE + G'D_tG over the thresholds.

    T couples only thresholds that share a slack or an order constraint, so that it is banded after a permutation that
    keeps neighbours together; where one has many neighbours (a star), a sparse factor takes the place of the band. The
    rest, H - B T^-1 B' bordered by rho, is factored densely. Where ``factor`` is given a product v -> H v in place of a
    matrix, it is solved by conjugate gradients.
    """

    def __init__(self, problem: IntervalProblem) -> None:
        self.problem = problem
        self._solve_schur: Callable[[Floats], Floats]
        self._solve_thresholds: Callable[[Floats], Floats]
        q = self.n_thresholds = problem.n_thresholds
        self.paired = problem.bundles[:, 1] >= 0
        self.inner = (problem.up < q) & (problem.low >= 0)
        group, partner = problem.bundles[self.paired].T
        up, low = problem.up[self.inner], problem.low[self.inner]
        i = np.concatenate([problem.threshold[group], up])
        j = np.concatenate([problem.threshold[partner], low])
        self.place = _close_neighbours(i, j, q)
        own = problem.threshold
        self.lines = self.place[np.concatenate([own, i, up, low])]
        self.columns = self.place[np.concatenate([own, j, up, low])]
        apart = np.abs(self.lines - self.columns)
        self.bandwidth = int(apart.max(initial=0))
        self.is_wide = self.bandwidth > WIDE_BAND
        self.cells = apart * q + np.minimum(self.lines, self.columns)  # positions in LAPACK's lower band storage

    def factor(
        self,
        H: Floats | Callable[[Floats], Floats],
        group_rows: Floats,
        weight: Floats,
        pair_weight: Floats,
        diagonal: Floats | None = None,
    ) -> None:
        """Factor for per-group sums of D x and of D, the order constraints' D following, and per-bundle cross terms.

        ``diagonal`` of H preconditions the conjugate gradients when H is a product.
        """
        problem, q, n = self.problem, self.n_thresholds, group_rows.shape[1]
        group_weight, order_weight = weight[: problem.n_groups], weight[problem.n_groups :]
        inner = order_weight[self.inner]
        entries = np.concatenate([group_weight, pair_weight[self.paired], -inner, inner, inner])
        self._factor_thresholds(entries)
        B = np.empty((q, n + problem.has_rho))
        B[self.place, :n] = problem.sum_by_threshold(group_rows)
        border, corner = np.empty(0), 0.0
        if problem.has_rho:
            border = -problem.sign @ group_rows
            corner = float(group_weight.sum() + order_weight[problem.up == q].sum())
            B[self.place, n] = -problem.sum_by_threshold(problem.sign * group_weight)
        self.B, self.solved_B = B, self._solve_thresholds(B) if B.size else B
        if callable(H):
            self._prepare_iterations(H, diagonal, border, corner)
        else:
            self._factor_schur(H, border, corner)

    def _factor_thresholds(self, entries: Floats) -> None:
        """Factor T, whose entries stand at ``lines`` and ``columns``: by band, or sparse where that is wide."""
        q = self.n_thresholds
        if not self.is_wide:
            band = np.bincount(self.cells, entries, (self.bandwidth + 1) * q).reshape(self.bandwidth + 1, q)
            band[0] += 1e-15 * band[0] + 1e-300
            band, failed = lapack.dpbtrf(band, lower=1)
            if failed:
                raise SingularSystemError
            self._solve_thresholds = lambda right: lapack.dpbtrs(band, right, lower=1)[0]
            return
        i, j = self.lines, self.columns
        inner = i != j
        T = sp.csc_array(
            (np.append(entries, entries[inner]), (np.append(i, j[inner]), np.append(j, i[inner]))), shape=(q, q)
        )
        T.setdiag(T.diagonal() * (1 + 1e-15) + 1e-300)
        try:
            factor = splu(T, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
        except RuntimeError as error:
            raise SingularSystemError from error
        self._solve_thresholds = factor.solve

    def _factor_schur(self, H: Floats, border: Floats, corner: float) -> None:
        n = len(H)
        if self.problem.has_rho:
            S = np.empty((n + 1, n + 1))
            S[:n, :n], S[n, :n], S[:n, n], S[n, n] = H, border, border, corner
        else:
            S = H.copy()
        S -= self.B.T @ self.solved_B
        chol, scale = _scaled_cholesky(S, S.diagonal() * (1 + 1e-15) + 1e-300)
        self._solve_schur = lambda r: scale * lapack.dpotrs(chol, scale * r, lower=1)[0]

    def _prepare_iterations(
        self, H: Callable[[Floats], Floats], diagonal: Floats | None, border: Floats, corner: float
    ) -> None:
        rho = self.problem.has_rho

        def product(v: Floats) -> Floats:
            x = v[: len(v) - rho]
            Hv = H(x)
            if rho:
                Hv = np.append(Hv + border * v[-1], border @ x + corner * v[-1])
            return Hv - self.B.T @ (self.solved_B @ v)

        assert diagonal is not None
        D = np.append(diagonal, corner) if rho else diagonal
        D = D - np.einsum("ij,ij->j", self.B, self.solved_B)
        inverse = 1 / np.maximum(D, 1e-10 * np.abs(D).max() + 1e-300)
        self._solve_schur = lambda r: conjugate_gradients(product, r, lambda residual: inverse * residual)

    def solve(self, rw: Floats, rtheta: Floats) -> tuple[Floats, Floats]:
        """The step (dw, (dtheta, drho))."""
        q, n = self.n_thresholds, len(rw)
        permuted = np.empty(q)
        permuted[self.place] = rtheta[:q]
        half = self._solve_thresholds(permuted) if q else permuted
        right = np.concatenate([rw, rtheta[q:]]) + self.B.T @ half
        x = self._solve_schur(right) if len(right) else right
        return x[:n], np.concatenate([(half + self.solved_B @ x)[self.place], x[n:]])


def _scaled_cholesky(M: Floats, diagonal: Floats) -> tuple[Floats, Floats]:
    """The factor of scale * M * scale with scale = diagonal^(-1/2), and this scale; overwrites M."""
    if not np.all(diagonal > 0):
        raise SingularSystemError
    scale = 1 / np.sqrt(diagonal)
    M *= scale
    M *= scale[:, None]
    np.fill_diagonal(M, 1 + 1e-15)
    chol, failed = lapack.dpotrf(M, lower=1, overwrite_a=1)
    if failed:
        raise SingularSystemError
    return chol, scale


def _close_neighbours(i: NDArray[np.int64], j: NDArray[np.int64], q: int) -> NDArray[np.int64]:
    """A place for each of q thresholds such that coupled ones (i, j) stand close together."""
    place = np.arange(q)
    width = np.abs(i - j).max(initial=0)
    if width <= 1:
        return place
    ones = np.ones(2 * len(i))
    graph = sp.csr_array((ones, (np.concatenate([i, j]), np.concatenate([j, i]))), shape=(q, q))
    closer = np.argsort(reverse_cuthill_mckee(graph, symmetric_mode=True))
    return closer if np.abs(closer[i] - closer[j]).max() < width else place
