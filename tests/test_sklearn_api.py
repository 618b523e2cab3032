"""Class-based estimators pass scikit-learn's own checks, with no expected failure; others do in tests of their own."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import hullrank
from hullrank import ConvexHullRanker, FixedMarginClassifier
from hullrank.models.catalogue import CATALOGUE

TIGHT = {"tol": 1e-12}
CLASS_BASED = dict.fromkeys(row.estimator for row in CATALOGUE if row.blocks == "classes" and not row.rival)


@parametrize_with_checks([getattr(hullrank, name)(**TIGHT) for name in (*CLASS_BASED, "ConvexHullClassifier")])
@pytest.mark.filterwarnings("ignore::hullrank.exceptions.UndeclaredOrderWarning")
@pytest.mark.filterwarnings("ignore::hullrank.exceptions.CollapsedRankingWarning")
def test_estimator_follows_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [
        ConvexHullRanker(intervals="free", **TIGHT),
        ConvexHullRanker("full", slack="edge", loss="hinge", **TIGHT),
        ConvexHullRanker(penalty="l1", **TIGHT),
        FixedMarginClassifier(loss="hinge", thresholds="immediate", **TIGHT),
    ]
)
@pytest.mark.filterwarnings("ignore::hullrank.exceptions.UndeclaredOrderWarning")
@pytest.mark.filterwarnings("ignore::hullrank.exceptions.CollapsedRankingWarning")
def test_variants_follow_scikit_learn(estimator, check):
    check(estimator)
