"""Every estimator passes scikit-learn's own checks, with no expected failure."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from hullrank import (
    ConvexHullClassifier,
    ConvexHullRanker,
    FixedMarginClassifier,
    NuMarginClassifier,
    SumOfMarginsClassifier,
)

TIGHT = {"tol": 1e-12}


@parametrize_with_checks(
    [
        ConvexHullRanker(**TIGHT),
        ConvexHullClassifier(**TIGHT),
        FixedMarginClassifier(**TIGHT),
        NuMarginClassifier(**TIGHT),
        SumOfMarginsClassifier(**TIGHT),
    ]
)
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
