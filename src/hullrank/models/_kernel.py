"""Kernels for the class-based estimators: parameters, the Gram matrix, support vectors, scores in bounded memory."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from hullrank.data import RowView, Samples, check_rows, distinct_rows, rows_of
from hullrank.exceptions import HullrankError
from hullrank.models._constraints import signs_of_features
from hullrank.problem.gram import LARGE, Gram, check_gram
from hullrank.problem.kernel_factor import basis_size, factor_kernel
from hullrank.problem.kernel_space import KernelSpace, expansion_scores
from hullrank.problem.kernels import resolve_gamma
from hullrank.problem.lengths import column_gammas, scale_columns
from hullrank.problem.rows import linear_scores
from hullrank.problem.signs import Signs
from hullrank.problem.statement import Point

Floats = NDArray[np.float64]
Ranks = tuple[NDArray[Any], NDArray[np.integer] | None]  # targets, and queries or None

_FEW = 30  # dimensions up to which the range of nu and C takes account of a kernel's space
_OF_PRODUCTS = ("rbf", "poly", "sigmoid")  # kernels whose values are made of products of rows
_STRICT = ("rbf", "laplacian")  # kernels that are strictly positive definite


class KernelMixin:
    """An estimator with the parameters ``kernel``, ``gamma``, ``degree``, ``coef0``, ``cache_size``, ``approximation``.

    With a kernel the score is f(x) = sum_i dual_coef_i k(x_i, x) over the support vectors.
    """

    kernel: Any = "linear"  # the values, down to ``verbose``, for estimators that do not offer these parameters
    gamma: float | str = "scale"
    degree: int = 3
    coef0: float = 0.0
    cache_size: float = 500
    approximation: int | str | None = None
    norm: str = "rkhs"
    monotonic_cst: Any = None
    tol: float = 1e-6
    max_iter: int = 200
    verbose: int = 0
    _held: tuple[Any, Floats] | None = None

    @property
    def _has_kernel(self) -> bool:
        return bool(self.kernel != "linear" or self.approximation is not None or self.norm == "coefficient")

    @property
    def _reads_pieces(self) -> bool:
        return hasattr(self, "coef_") or self.kernel != "precomputed"

    def _signs(self, d: int) -> Signs | None:
        """The signs that ``monotonic_cst`` asks of the weights of d features; None if it asks for none."""
        signs = signs_of_features(self.monotonic_cst, d, getattr(self, "feature_names_in_", None))
        if signs and self._has_kernel:
            raise HullrankError(
                "monotonic_cst sets the signs of the features' weights, and a score with a kernel (kernel="
                f"{self.kernel!r}, approximation={self.approximation!r}) has no such weights; use kernel='linear' "
                "without approximation and norm, or drop monotonic_cst"
            )
        return Signs(np.array(signs, dtype=np.float64)) if signs else None

    def _check_gram(self, X: Any) -> Any:
        return check_gram(X) if self.kernel == "precomputed" else X

    def _take(self, X: Any, kept: NDArray[np.intp]) -> Any:
        """The kept samples; of a precomputed kernel both rows and columns, of many linear ones a view."""
        if not self._has_kernel:
            return rows_of(X, kept)
        if isinstance(X, RowView):
            return X.of(kept)
        return X[np.ix_(kept, kept)] if self.kernel == "precomputed" else X[kept]

    def _check_features(self, X: Any, reset: bool) -> Any:
        """Checked rows; those of a linear score, and many in float32 for a kernel, stay where they are in memory."""
        of_products = isinstance(self.kernel, str) and self.kernel in _OF_PRODUCTS and self.gamma != "ard"
        copied = self._has_kernel and (not of_products or self.norm == "coefficient")
        X = check_rows(self, X, reset=reset, sparse=self.kernel != "precomputed", copied=copied)
        if self._has_kernel and not sp.issparse(X) and not (isinstance(X, RowView) and X.size > LARGE):
            X = np.ascontiguousarray(X)
        return self._check_gram(X)

    def _space(
        self, X: Any, weights: Floats, rows: NDArray[np.integer] | None = None, ranks: Ranks | None = None
    ) -> KernelSpace | None:
        """The space of the kernel over the samples (those at ``rows``; all count for gamma); None for a linear score.

        A fitted model has its own gamma. ``ranks`` are the targets and queries from which gamma="ard" learns.
        """
        if not self._has_kernel:
            return None
        rank, coefficient_norm = basis_size(self.approximation), self.norm == "coefficient"
        if coefficient_norm and rank is not None:
            raise HullrankError("norm='coefficient' needs the whole kernel matrix; use approximation=None")
        columns: Floats | None = None
        if self.kernel == "precomputed":
            gram = Gram(X, "precomputed")
        else:
            gamma = self.gamma_ if hasattr(self, "gamma_") else self._resolved_gamma(X, weights, ranks)
            one, columns = (1.0, gamma) if isinstance(gamma, np.ndarray) else (gamma, None)
            gram = Gram(scale_columns(X, columns), self.kernel, one, self.degree, self.coef0)
        return KernelSpace(gram if rows is None else gram.take(rows), rank, coefficient_norm, columns)

    def _resolved_gamma(self, X: Any, weights: Floats, ranks: Ranks | None) -> float | Floats:
        """The number behind gamma, or one for every column."""
        if self.gamma != "ard":
            return resolve_gamma(self.gamma, X, weights)
        if self.kernel != "rbf" or ranks is None:
            raise HullrankError("gamma='ard' is for kernel='rbf' and targets in one line; use 'scale' or a number")
        return column_gammas(X, *ranks)

    def _store_weights(self, statement: Any, X: Any, coef: Floats, by_class: NDArray[np.intp]) -> None:
        """``coef_`` of a linear score, else as in SVC: the samples with a coefficient, class by class."""
        if statement.space is None:
            self.coef_ = coef
            return
        used = by_class[coef[by_class] != 0]
        self.support_ = statement.positions[used]
        self.dual_coef_ = coef[used][None, :]
        self.support_vectors_ = np.empty((0, 0)) if self.kernel == "precomputed" else X[used]
        if self.kernel != "precomputed":
            columns = statement.space.column_gamma
            self.gamma_ = statement.space.gram.gamma if columns is None else columns

    def candidate(self, statement: Any) -> Point:
        """The fitted attributes as a point of the stated problem.

        Parameters
        ----------
        statement : Statement
            What ``state`` returned for the training data.

        Returns
        -------
        point : Point
        """
        if not hasattr(
            self, "n_iter_"
        ):  # asked first, since every fit comes here, and scikit-learn's check takes longer
            check_is_fitted(self, "n_iter_")
        return Point(self._stored_coef(statement), self._stored_thresholds(statement))

    def _stored_thresholds(self, statement: Any) -> Floats:
        """The thresholds of the stated problem, of which problems over pairs have none."""
        return np.empty(0)

    def _stored_coef(self, statement: Any) -> Floats:
        """The weights, or the kernel coefficient of every sample of the statement."""
        if statement.space is None:
            return self.coef_
        positions = statement.positions
        every = np.bincount(self.support_, self.dual_coef_[0], positions[-1] + 1)  # by row of the data as given
        coef: Floats = every[positions]
        if np.count_nonzero(coef) < np.count_nonzero(every):
            raise HullrankError("the support vectors of this model are no rows of these data; pass the training data")
        return coef

    def _few_coordinates(self, samples: Samples, space: KernelSpace | None) -> Samples | None:
        """The samples in coordinates of the kernel's space; None if it has too many dimensions to matter.

        Different rows are linearly independent under rbf and laplacian, so that being one of them is a coordinate.
        """
        if space is None:
            return samples
        if self.kernel in _STRICT and space.rank is None:
            X: Any = samples.X.toarray() if sp.issparse(samples.X) else np.asarray(samples.X)
            row = distinct_rows(X)[1]
            if len(row) == row.max() + 1:
                return None
            member = sp.csr_matrix((np.ones(len(row)), (np.arange(len(row)), row)))
            return Samples(member, samples.codes, samples.weights, samples.n_classes)
        factor = factor_kernel(space.gram, None if len(space.gram) <= _FEW else _FEW)
        if factor.residual.max() > 1e-9 * float(space.gram.diagonal().max()):
            return None
        return Samples(factor.L, samples.codes, samples.weights, samples.n_classes)

    def _hold_kernel_values(self, X: Any, values: Floats) -> None:
        """Take the scores of X from its kernel values with the training samples, for all fits to the same samples."""
        self._held = X, values

    def _scores(self, X: Any) -> Floats:
        if hasattr(self, "coef_"):
            return super()._scores(X)  # type: ignore[misc]
        coef = self.dual_coef_[0]
        if self._held is not None and self._held[0] is X:
            every = np.zeros(self._held[1].shape[1])
            every[self.support_] = coef
            return linear_scores(self._held[1], every)
        if self.kernel == "precomputed":
            return linear_scores(X[:, self.support_], coef)
        return expansion_scores(X, self.support_vectors_, coef, self.kernel, self.gamma_, self.degree, self.coef0)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = self.kernel != "precomputed"
        return tags
