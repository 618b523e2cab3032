"""Kernels for the class-based estimators: parameters, the Gram matrix, support vectors, scores in bounded memory."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hullrank.data import Samples
from hullrank.exceptions import HullrankError
from hullrank.problem.intervals import IntervalProblem
from hullrank.problem.kernel_factor import basis_size, factor_kernel
from hullrank.problem.kernels import Gram, check_gram, kernel_matrix, resolve_gamma
from hullrank.solvers.base import Solution

Floats = NDArray[np.float64]

_FEW = 30  # dimensions up to which the range of nu and C takes account of a kernel's space
_BLOCK = 4_000_000  # kernel values held at a time while predicting (32 MB)


class KernelMixin:
    """An estimator with the parameters ``kernel``, ``gamma``, ``degree``, ``coef0``, ``cache_size``, ``approximation``.

    With a kernel the score is f(x) = sum_i dual_coef_i k(x_i, x) over the support vectors.
    """

    kernel: Any
    gamma: float | str
    degree: int
    coef0: float
    cache_size: float
    approximation: int | str | None
    tol: float
    max_iter: int
    verbose: int

    @property
    def _has_kernel(self) -> bool:
        return bool(self.kernel != "linear" or self.approximation is not None or self._coefficient_norm)

    @property
    def _coefficient_norm(self) -> bool:
        return getattr(self, "norm", "rkhs") == "coefficient"

    def _check_gram(self, X: Any) -> Any:
        return check_gram(X, X.shape[0]) if self.kernel == "precomputed" else X

    def _take(self, X: Any, kept: NDArray[np.intp]) -> Any:
        """The kept samples; of a precomputed kernel both rows and columns."""
        return X[np.ix_(kept, kept)] if self.kernel == "precomputed" else X[kept]

    def _gram(self, samples: Samples) -> Gram:
        """The kernel between the samples, with gamma resolved."""
        if self.kernel == "precomputed":
            return Gram(samples.X, "precomputed")
        self.gamma_ = resolve_gamma(self.gamma, samples.X, samples.weights)
        return Gram(samples.X, self.kernel, self.gamma_, self.degree, self.coef0)

    def _solve_with_kernel(self, problem: IntervalProblem, samples: Samples) -> Solution:
        """Solve with the kernel; the solution's coefficients belong to the samples."""
        from hullrank.solvers.kernel_intervals import solve_kernel_intervals

        if problem.l1:
            raise HullrankError("penalty='l1' works on features, not on a kernel; use kernel='linear' or penalty='l2'")
        rank = basis_size(self.approximation)
        if self._coefficient_norm and rank is not None:
            raise HullrankError("norm='coefficient' needs the whole kernel matrix; use approximation=None")
        gram = self._gram(samples)
        solution = solve_kernel_intervals(
            problem, samples, _squared(gram) if self._coefficient_norm else gram, tol=self.tol, max_iter=self.max_iter,
            cache_size=self.cache_size, rank=rank, start=self._warm_start_for(problem, samples), verbose=self.verbose,
        )  # fmt: skip
        self._remember(problem, samples, solution)
        return _unsquared(gram, solution) if self._coefficient_norm else solution

    def _warm_start_for(self, problem: IntervalProblem, samples: Samples) -> Any:
        """Where the last fit ended, if ``warm_start`` asks for it and rows and classes are as many as then."""
        if not getattr(self, "warm_start", False) or not hasattr(self, "_warm"):
            return None
        shape, start = self._warm
        return start if shape == _shape(problem, samples) else None

    def _remember(self, problem: IntervalProblem, samples: Samples, solution: Any) -> None:
        if getattr(self, "warm_start", False):
            self._warm: Any = (_shape(problem, samples), solution.start)

    def _store_weights(self, samples: Samples, coef: Floats) -> None:
        """``coef_`` of a linear score, else as in SVC: the samples with a coefficient, class by class."""
        rows = vars(self).pop("_rows")
        if not self._has_kernel:
            self.coef_ = coef
            return
        used = samples.rows[coef[samples.rows] != 0]
        self.support_ = rows[used]
        self.dual_coef_ = coef[used][None, :]
        self.n_support_ = np.bincount(samples.codes[used], minlength=samples.n_classes)
        self.support_vectors_ = np.empty((0, 0)) if self.kernel == "precomputed" else samples.X[used]

    def _norm(self, solution: Solution) -> float:
        """|w|, or the norm of the score in the kernel's space."""
        if self._has_kernel:
            return float(np.sqrt(max(0.0, float(solution.coef @ solution.scores))))
        return float(np.linalg.norm(solution.coef))

    def _as_features(self, samples: Samples) -> Samples | None:
        """The samples in coordinates of the kernel's space; None if it has too many dimensions to matter."""
        if not self._has_kernel:
            return samples
        gram = self._gram(samples)
        factor = factor_kernel(gram, None if len(gram) <= _FEW else _FEW)
        if factor.residual.max() > 1e-9 * float(gram.diagonal().max()):
            return None
        return Samples(factor.L, samples.codes, samples.weights, samples.n_classes)

    def _scores(self, X: Any) -> Floats:
        if hasattr(self, "coef_"):
            scores: Floats = super()._scores(X)  # type: ignore[misc]
            return scores
        coef = self.dual_coef_[0]
        if self.kernel == "precomputed":
            return np.asarray(X[:, self.support_] @ coef).ravel()
        scores = np.zeros(X.shape[0])
        step = max(1, _BLOCK // max(1, len(coef)))
        for start in range(0, len(scores) if len(coef) else 0, step):
            part = X[start : start + step]
            values = kernel_matrix(
                part, self.support_vectors_, self.kernel, gamma=self.gamma_, degree=self.degree, coef0=self.coef0
            )
            scores[start : start + step] = values @ coef
        return scores

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = self.kernel != "precomputed"
        return tags


def _shape(problem: IntervalProblem, samples: Samples) -> tuple[Any, ...]:
    return tuple(samples.starts.tolist()), problem.n_groups, len(problem.up), int(problem.charge)


def _squared(gram: Gram) -> Gram:
    """K K', the matrix of the dual under the coefficient norm 1/2 v'v: w = K v is linear in rows of K."""
    K = _whole(gram)
    return Gram(K @ K.T, "precomputed")


def _unsquared(gram: Gram, solution: Solution) -> Solution:
    """v = K'beta, so that f = sum_i v_i k(x_i, .)."""
    return replace(solution, coef=_whole(gram).T @ solution.coef)


def _whole(gram: Gram) -> Floats:
    K = np.empty((len(gram), len(gram)))
    gram.blocks(np.float64).fill(None, K)
    return K
