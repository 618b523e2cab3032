"""Whether one direction is enough for all thresholds: Brant's test of proportional odds.

Brant (1990) fits a logistic regression to every question "above class j?" on its own and tests, column by column,
whether the coefficients are the same for all j. The fits share their rows; with p_j = P(y > j) the covariance of the
coefficients of the questions j < l is (X'W_jj X)^-1 X'W_jl X (X'W_ll X)^-1, W_jl = diag(p_l - p_j p_l).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

Floats = NDArray[np.float64]
_RIDGE = 1e6  # price of slack in the logistic fits: next to none, but finite where classes can be separated


def proportional_odds_test(X: Floats, codes: NDArray[np.integer]) -> Floats:
    """(n,) p-values of the columns: small where a column counts differently at different thresholds.

    ``codes`` are 0..K-1, lowest class first. With two classes there is one threshold, and all p-values are 1.
    """
    n_classes, n = int(codes.max()) + 1, X.shape[1]
    if n_classes < 3:
        return np.ones(n)
    spread = X.std(axis=0)
    varies = spread > 0
    Z = np.column_stack([np.ones(len(X)), (X[:, varies] - X[:, varies].mean(axis=0)) / spread[varies]])
    fits = [_logistic(Z, codes > j) for j in range(n_classes - 1)]
    beta, chances = np.array([fit[0] for fit in fits]), [fit[1] for fit in fits]
    inverse = [np.linalg.pinv((Z * (p * (1 - p))[:, None]).T @ Z) for p in chances]
    q, d = n_classes - 1, Z.shape[1]
    covariance = np.empty((q, q, d, d))
    for j in range(q):
        for k in range(j, q):
            middle = (Z * (chances[k] * (1 - chances[j]))[:, None]).T @ Z
            covariance[j, k] = inverse[j] @ middle @ inverse[k]
            covariance[k, j] = covariance[j, k].T
    p_values = np.ones(n)
    p_values[varies] = [_wald(beta[:, f], covariance[:, :, f, f]) for f in range(1, d)]
    return p_values


def _logistic(Z: Floats, above: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Coefficients of a logistic regression, and the probabilities that it gives."""
    from sklearn.linear_model import LogisticRegression

    model: Any = LogisticRegression(C=_RIDGE, fit_intercept=False, tol=1e-8, max_iter=1000).fit(Z, above)
    return model.coef_[0], model.predict_proba(Z)[:, 1]


def _wald(beta: Floats, covariance: Floats) -> float:
    """The p-value of equal entries of beta."""
    D = np.column_stack([-np.ones(len(beta) - 1), np.eye(len(beta) - 1)])
    apart = D @ beta
    statistic = float(apart @ np.linalg.pinv(D @ covariance @ D.T) @ apart)
    return float(chi2.sf(statistic, len(apart)))
