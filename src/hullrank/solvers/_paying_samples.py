"""The linear systems of Newton steps over kernel values: K + 1/D on the samples that pay, for one D after another.

The first step of a solve changes many samples from paying to not paying or back, the next ones few. So one Cholesky
factor K + 1/D = LL' serves several systems. With a force z_i = (1/D_i - 1/D_i before) x_i on every sample of the factor
whose D has changed (one that no longer pays has x_i = 0), and z_i = x_i for those that pay anew,

    L'x = L^-1 right - W z,     W = L^-1 (columns of the identity, and columns of K for the new),

and what z must satisfy is a system as small as the number of changes.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
_FEW = 0.1  # share of the factored samples that may change before factoring anew costs less than updating


class PayingSamples:
    """Solves (K + 1/D) x = right on the samples with D > 0; x is 0 elsewhere."""

    def __init__(self, K: Floats) -> None:
        self.K = K
        self._rows, self._square = np.empty((2, K.size))
        self._D: Floats | None = None  # the weights D for which the factor was computed

    def solve(self, D: Floats, right: Floats) -> Floats | None:
        """x for right sides in the columns of ``right``; None where the matrix is not positive definite in rounding."""
        changed = np.arange(len(D)) if self._D is None else np.flatnonzero(D != self._D)
        if self._D is None or len(changed) > _FEW * len(self._samples):
            if not self._factor(D):
                return None
            changed = changed[:0]
        return self._solve_changed(D, right, changed)

    def _factor(self, D: Floats) -> bool:
        some, n = np.flatnonzero(D > 0), len(D)
        m = len(some)
        rows, square = self._rows[: m * n].reshape(m, n), self._square[: m * m].reshape(m, m)
        self.K.take(some, axis=0, out=rows, mode="clip").take(some, axis=1, out=square, mode="clip")
        square.flat[:: m + 1] += 1 / D[some]
        # The transpose of the symmetric matrix has the memory order that LAPACK factors in place.
        self._L, failed = lapack.dpotrf(square.T, lower=1, overwrite_a=1, clean=0)
        self._samples, self._D = some, None if failed else D.copy()
        return not failed

    def _solve_changed(self, D: Floats, right: Floats, changed: Ints) -> Floats | None:
        assert self._D is not None
        some, L, x = self._samples, self._L, np.zeros_like(right)
        y = lapack.dtrtrs(L, right[some], lower=1)[0]
        if not len(changed):
            x[some] = lapack.dtrtrs(L, y, lower=1, trans=1)[0]
            return x
        known = self._D[changed] > 0
        old, new = changed[known], changed[~known]
        columns = np.zeros((len(some), len(changed)), order="F")
        columns[np.searchsorted(some, old), np.arange(len(old))] = 1.0
        columns[:, len(old) :] = self.K[np.ix_(some, new)]
        W = lapack.dtrtrs(L, columns, lower=1, overwrite_b=1)[0]
        small, sides = W.T @ W, W.T @ y
        paying = D[old] > 0
        here = np.flatnonzero(paying)
        small[here, here] += 1 / (1 / D[old[here]] - 1 / self._D[old[here]])
        small[len(old) :, len(old) :] -= self.K[np.ix_(new, new)] + np.diag(1 / D[new])
        sides[len(old) :] -= right[new]
        try:
            z = np.linalg.solve(small, sides)
        except np.linalg.LinAlgError:
            return None
        x[some] = lapack.dtrtrs(L, y - W @ z, lower=1, trans=1)[0]
        x[old[~paying]] = 0.0
        x[new] = z[len(old) :]
        return x
