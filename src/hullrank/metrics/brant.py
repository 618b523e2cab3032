"""Whether one direction is enough for all thresholds: Brant's test of proportional odds.

Brant (1990) fits a logistic regression to every question "above class j?" on its own and tests, column by column,
whether the coefficients are the same for all j. The fits share their rows, so their coefficients are correlated. Their
covariance is taken from the residuals r_j = [y > j] - P(y > j) of the fits: for the questions j and l it is
H_j^-1 Z' diag(r_j r_l) Z H_l^-1, with H_j the curvature of the fit. It is that of a sum over samples, and so positive
semidefinite also where proportional odds are far from true and the fitted probabilities are not nested. Residuals are
divided by 1 - h, with h the leverage of the row, as in a jackknife: a fit follows rows that it hangs on. Where classes
can be separated, coefficients hang on few rows and vary much, so that the test hardly ever rejects.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

Floats = NDArray[np.float64]
_RIDGE = 1e6  # price of slack in the logistic fits: next to none, but finite where classes can be separated
_MOST_LEVERAGE = 0.9999  # of a row; those of weights below 1 can be larger
_DIGITS = 1e-10  # share of the largest variance below which a contrast of the thresholds has none


def proportional_odds_test(X: Floats, codes: NDArray[np.integer], weights: Floats | None = None) -> Floats:
    """(n,) p-values of the columns: small where a column counts differently at different thresholds.

    Higher ``codes`` are higher classes; a row of weight w counts as w rows. With two classes there is one threshold,
    and all p-values are 1.
    """
    weights = np.ones(len(X)) if weights is None else weights
    X, codes, weights = X[weights > 0], codes[weights > 0], weights[weights > 0]
    lower = np.unique(codes)[:-1]
    p_values = np.ones(X.shape[1])
    varies = np.ptp(X, axis=0) > 0
    if len(lower) < 2 or not varies.any():
        return p_values
    centred = X[:, varies] - np.average(X[:, varies], axis=0, weights=weights)
    spread = np.sqrt(np.average(centred**2, axis=0, weights=weights))
    Z = np.column_stack([np.ones(len(X)), centred / spread])
    fits = [_logistic(Z, codes > j, weights) for j in lower]
    beta, moves = np.array([fit[0] for fit in fits]), np.array([fit[1] for fit in fits])
    p_values[varies] = [_wald(beta[:, f], (moves[:, :, f] * weights) @ moves[:, :, f].T) for f in range(1, Z.shape[1])]
    return p_values


def _logistic(Z: Floats, above: NDArray[np.bool_], weights: Floats) -> tuple[Floats, Floats]:
    """Coefficients of a logistic regression, and (m, d) by how much each row moves them."""
    from sklearn.linear_model import LogisticRegression

    model: Any = LogisticRegression(C=_RIDGE, fit_intercept=False, tol=1e-8, max_iter=1000)
    chances = model.fit(Z, above, weights).predict_proba(Z)[:, 1]
    curvature = chances * (1 - chances)
    inverse = np.linalg.pinv((Z * (weights * curvature)[:, None]).T @ Z + np.eye(Z.shape[1]) / _RIDGE, hermitian=True)
    towards = Z @ inverse
    leverage = curvature * np.einsum("ij,ij->i", towards, Z)
    jackknifed = (above - chances) / (1 - np.minimum(leverage, _MOST_LEVERAGE))
    return model.coef_[0], towards * jackknifed[:, None]


def _wald(beta: Floats, covariance: Floats) -> float:
    """The p-value of equal entries of beta; contrasts without variance do not count."""
    D = np.column_stack([-np.ones(len(beta) - 1), np.eye(len(beta) - 1)])
    variances, contrasts = np.linalg.eigh(D @ covariance @ D.T)
    known = variances > _DIGITS * variances[-1]
    if not known.any():
        return 1.0
    apart = contrasts[:, known].T @ (D @ beta)
    return float(chi2.sf(float(apart**2 @ (1 / variances[known])), np.count_nonzero(known)))
