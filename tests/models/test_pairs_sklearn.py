"""The pair rankers pass scikit-learn's own checks, with no expected failure."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from hullrank import SampledPairsRanker, SwappedPairsRanker

TIGHT = {"tol": 1e-12}


@pytest.mark.slow
@parametrize_with_checks(
    [
        SwappedPairsRanker(**TIGHT),
        SwappedPairsRanker(loss="squared_hinge", query_weight="equal", **TIGHT),
        SwappedPairsRanker(kernel="rbf", **TIGHT),
        SwappedPairsRanker(kernel="poly", loss="squared_hinge", **TIGHT),
        SampledPairsRanker(**TIGHT),
        SampledPairsRanker(kernel="rbf", loss="squared_hinge", **TIGHT),
    ]
)
@pytest.mark.filterwarnings("ignore::hullrank.exceptions.UndeclaredOrderWarning")
def test_estimator_follows_scikit_learn(estimator, check):
    check(estimator)
