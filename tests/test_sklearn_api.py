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
        ConvexHullRanker(intervals="free", **TIGHT),
        ConvexHullRanker("full", slack="edge", loss="hinge", **TIGHT),
        ConvexHullRanker(penalty="l1", **TIGHT),
        ConvexHullClassifier(**TIGHT),
        FixedMarginClassifier(**TIGHT),
        FixedMarginClassifier(thresholds="all", loss="squared_hinge", **TIGHT),
        NuMarginClassifier(**TIGHT),
        SumOfMarginsClassifier(**TIGHT),
    ]
)
@pytest.mark.filterwarnings("ignore::hullrank.exceptions.UndeclaredOrderWarning")
@pytest.mark.filterwarnings("ignore::hullrank.exceptions.CollapsedRankingWarning")
def test_estimator_follows_scikit_learn(estimator, check):
    check(estimator)
