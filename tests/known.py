"""What the tests of known falsehoods and crashes share."""

import warnings

import numpy as np

from hullrank.exceptions import HullrankError
from referee.judge import judge
from referee.random_problems import Case

HULL = {"order": "chain", "intervals": "proper", "slack": "sample"}
FIXED = {"C": 1.0, "loss": "hinge", "thresholds": "immediate"}


def true_of(name, params, X, y, weights=None, seconds=30.0):
    """Nothing is false about this fit; the verdict, for further questions."""
    verdict = judge(Case(-1, name, params, np.asarray(X), np.asarray(y), weights), seconds)
    assert verdict.failures == []
    return verdict


def graded_or_told(fit):
    """The model, finite throughout; or None where an error names the reason."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = fit()
        except HullrankError:
            return None
    certificate = model.certificate_
    if certificate.status == "converged":
        assert np.isfinite([certificate.primal, certificate.dual]).all()
        assert certificate.dual <= certificate.primal + 1e-9 * abs(certificate.primal)
    assert not np.isnan([certificate.primal, certificate.dual]).any()
    assert np.isfinite(getattr(model, "coef_", 0.0)).all()
    return model


def graded_data(seed=0, m=40, n=2):
    X = np.random.default_rng(seed).normal(size=(m, n))
    return X, (X[:, 0] > 0).astype(int) + (X[:, 0] > 1)
