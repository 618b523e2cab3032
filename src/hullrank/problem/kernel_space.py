"""The space of functions of a kernel over given samples: scores, norms, and coordinates where these are needed.

A function f = sum_i v_i k(x_i, .) has the scores s = K v and is charged 1/2 v'Kv, or 1/2 v'v under the coefficient norm
of Fung et al. (27), which makes it a linear problem over the rows of K. With a rank, f is restricted to the span of so
many samples; in the coordinates of that span the problem is linear too.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hullrank.data import RowView, pieces
from hullrank.problem.certificate import EPSILON
from hullrank.problem.column_moments import beyond_rounding, mean_square
from hullrank.problem.gram import Gram
from hullrank.problem.intervals import Penalty
from hullrank.problem.kernel_factor import KernelFactor, factor_kernel, is_definite
from hullrank.problem.kernels import Kernel, kernel_matrix
from hullrank.problem.lengths import scale_columns

Floats = NDArray[np.float64]
_SOME = 300  # samples by which the spread of all is measured where its order of magnitude is enough
_MANY = 2000  # samples by which the spread is measured where a parameter is derived from it
MOST_PRODUCTS = 4e8  # kernel values up to which the remainder of an approximation is computed exactly
_BLOCK = 4_000_000  # kernel values held at a time while predicting (32 MB)


def expansion_scores(
    X: Any, vectors: Any, coef: Floats, kernel: Kernel, gamma: float | Floats, degree: int, coef0: float
) -> Floats:
    """Values of sum_j coef_j k(vectors_j, .) at the rows of X, some at a time; gamma may be one for each column."""
    one, columns = (1.0, gamma) if isinstance(gamma, np.ndarray) else (gamma, None)
    vectors = scale_columns(vectors, columns)
    scores = np.zeros(X.shape[0])
    step = max(1, _BLOCK // max(1, len(coef)))
    for start in range(0, len(scores) if len(coef) else 0, step):
        part = scale_columns(X[start : start + step], columns)
        values = kernel_matrix(part, vectors, kernel, gamma=one, degree=degree, coef0=coef0)
        scores[start : start + step] = values @ coef
    return scores


@dataclass(frozen=True)
class KernelSpace:
    """The kernel between samples, the number of samples that span the functions (None: all), and the norm.

    ``column_gamma`` has the gamma of every column where each has its own; the kernel's samples are then scaled so.
    """

    gram: Gram
    rank: int | None = None
    coefficient_norm: bool = False
    column_gamma: Floats | None = None

    @property
    def has_coordinates(self) -> bool:
        """Whether the problem is linear in ``coordinates`` rather than solved by kernel values."""
        return self.coefficient_norm or self.rank is not None

    def in_order(self, rows: NDArray[np.intp]) -> Gram:
        """The kernel matrix for a solver, samples in the given order.

        It is kept: the problems of a path share it, and what was prepared for its values serves ``some_scores``.
        """
        kept: tuple[Any, Gram] | None = vars(self).get("_ordered")
        if kept is None or kept[0] is not rows:
            kept = vars(self)["_ordered"] = rows, self.gram.take(rows, compiled=True)
        return kept[1]

    @cached_property
    def factor(self) -> KernelFactor:
        """K = L L' (+ a remainder where the rank is limited)."""
        return factor_kernel(self.gram, self.rank)

    @cached_property
    def is_definite(self) -> bool:
        """Whether the kernel has no negative eigenvalue on (some of) the samples."""
        return is_definite(self.gram)

    @cached_property
    def coordinates(self) -> Floats:
        """Rows in which the score is linear: those of K (coefficient norm), else those of L."""
        if not self.coefficient_norm:
            return self.factor.L
        return self.gram.whole()

    def coefficients(self, w: Floats) -> Floats:
        """The kernel coefficients of the function with the given weights on the coordinates."""
        return w if self.coefficient_norm else self.factor.coefficients(w)

    def weights(self, coef: Floats) -> Floats:
        """The weights on the coordinates of the function with the given kernel coefficients."""
        return coef if self.coefficient_norm else self.factor.L.T @ coef

    @property
    def is_approximate(self) -> bool:
        """Whether the functions are restricted to the span of some samples."""
        return self.rank is not None and len(self.factor.pivots) < len(self.gram)

    @property
    def span(self) -> str:
        """Which functions are allowed, in words."""
        return f"functions are restricted to the span of {len(self.factor.pivots)} samples"

    def scores(self, coef: Floats, rows: NDArray[Any] | None = None) -> Floats:
        """Scores of the samples (or those at ``rows``) for kernel coefficients, from float64 kernel values."""
        return self.gram.times(coef, rows)

    def some_scores(self, coef: Floats) -> tuple[NDArray[np.intp], Floats]:
        """About sixteen of the samples, and their scores; from what a solver has prepared for its kernel values."""
        some = np.arange(0, len(self.gram), max(1, len(self.gram) // 16))
        order, gram = vars(self).get("_ordered", (None, self.gram))
        return (some, gram.times(coef, some)) if order is None else (order[some], gram.times(coef[order], some))

    def penalty(self, penalty: Penalty, coef: Floats, scores: Floats) -> float:
        """That of the function with these coefficients and scores; infinite outside the unit ball beyond rounding."""
        if self.coefficient_norm:
            return penalty.of(coef)
        square = float(coef @ scores)
        if penalty is Penalty.BALL:
            digits = 1e-9 + 64 * EPSILON * float(np.abs(coef) @ self._lengths) ** 2
            return 0.0 if square <= 1 + digits else np.inf
        return 0.5 * square

    def dual_penalty(self, penalty: Penalty, beta: Floats, coef: Floats, scores: Floats) -> float:
        """That of the function with coefficients beta, from above: rounding is added.

        Solvers end with beta close to a multiple of ``coef``, whose scores are known: only the difference needs kernel
        values, and none where it is negligible.
        """
        size = float(coef @ coef)
        multiple = float(beta @ coef) / size if size > 0 else 0.0
        change = beta - multiple * coef
        square = multiple**2 * float(coef @ scores) + 2 * multiple * float(change @ scores)
        length = float(np.abs(change) @ self._lengths)
        if length**2 > 1e-10 * abs(square):
            square += float(change @ self.gram.times(change))
        else:
            square += length**2
        square = max(square, 0.0) + self.rounding(beta)
        return 0.5 * square if penalty is Penalty.L2 else float(np.sqrt(square))

    def reach(self, coef: Floats) -> float:
        """How large the terms are that add up to a score, together."""
        return float(np.abs(coef) @ self._lengths) * float(self._lengths.max(initial=0.0))

    def rounding(self, beta: Floats) -> float:
        """What rounding may add to beta'K beta, estimated as a random walk over the coefficients."""
        reach = float(np.abs(beta) @ self._lengths)
        return EPSILON * reach**2 / max(int(np.count_nonzero(beta)), 1) ** 0.5

    @cached_property
    def _lengths(self) -> Floats:
        """|k(x, .)| of every sample."""
        return np.sqrt(np.maximum(self.gram.diagonal(), 0.0))

    @cached_property
    def is_point(self) -> bool:
        """Whether all samples are one and the same row."""
        X = self.gram.whole() if self.gram.kernel == "precomputed" else self.gram.X
        if sp.issparse(X):
            return bool((X.max(axis=0) - X.min(axis=0)).count_nonzero() == 0)
        if isinstance(X, RowView):
            return all(bool((X[:1] == X[part]).all()) for part in pieces(*X.shape))
        return bool((X[:1, : 1 if self.gram.kernel == "precomputed" else None] == X).all())

    @cached_property
    def typical_length(self) -> float:
        """Root of the mean squared distance of the samples from their mean, in the kernel's space, by some of them."""
        return float(np.sqrt(self._mean_square(np.ones(len(self.gram)), _SOME)))

    def mean_square(self, weights: Floats) -> float:
        """Mean squared distance of the coordinates from their mean, by up to 2000 samples that do not depend on order.

        Of the rows of the kernel matrix under the coefficient norm, else in the kernel's space.
        """
        if not self.coefficient_norm:
            return self._mean_square(weights, _MANY)
        return mean_square(self.coordinates, weights)

    def _mean_square(self, weights: Floats, most: int) -> float:
        m = len(self.gram)
        some = np.arange(m) if m <= most else np.argsort(self.gram.hashes(), kind="stable")[:most]
        part, shares = self.gram.take(some), weights[some] / weights[some].sum()
        with np.errstate(over="ignore", invalid="ignore"):
            size = float(shares @ part.diagonal())
            return beyond_rounding(size - float(shares @ part.times(shares)), size)

    def remainder(self, penalty: Penalty, beta: Floats) -> float:
        """How much lower the dual objective may lie for the kernel K itself than for L L'.

        That is 1/2 beta'(K - L L')beta, or for the unit ball the difference of the two norms; a bound where kernel
        values are too many.
        """
        image = self.factor.L.T @ beta
        inside = float(image @ image)
        if np.count_nonzero(beta) * len(beta) > MOST_PRODUCTS:
            beyond = float(np.abs(beta) @ np.sqrt(self.factor.residual)) ** 2
        else:
            beyond = max(0.0, float(beta @ self.gram.times(beta)) - inside) + self.rounding(beta)
        return 0.5 * beyond if penalty is Penalty.L2 else float(np.sqrt(inside + beyond) - np.sqrt(inside))
