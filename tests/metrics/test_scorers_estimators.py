"""Scorers on the estimators of the package, with labels that need a declared order."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hullrank import ConvexHullRanker, FixedMarginClassifier, OrderGraph
from hullrank.metrics import get_scorer, mean_absolute_rank_error, swapped_pairs

GRADES = ["slight", "clear", "bad"]  # not alphabetical


@pytest.fixture(scope="module")
def graded():
    X, target = load_diabetes(return_X_y=True)
    X, target = X[:150], target[:150]
    return X, np.array(GRADES)[np.digitize(target, np.quantile(target, [0.33, 0.67]))]


def test_ranker_is_searched_by_pairs_in_its_own_order(graded):
    X, y = graded
    model = make_pipeline(StandardScaler(), ConvexHullRanker(order=OrderGraph.chain(GRADES)))
    search = GridSearchCV(
        model, {"convexhullranker__C": [0.01, 0.1]}, scoring=get_scorer("swapped_pairs"), cv=3, error_score="raise"
    ).fit(X, y)
    assert search.score(X, y) == -swapped_pairs(y, search.score_samples(X), classes=GRADES)
    assert search.best_score_ > -0.35
    assert search.best_estimator_.score(X, y) == pytest.approx(1 + search.score(X, y))


def test_ranker_and_classifier_are_searched_by_rank_errors(graded):
    X, y = graded
    scorer = get_scorer("mean_absolute_rank_error")
    for model in (ConvexHullRanker(order=OrderGraph.chain(GRADES)), FixedMarginClassifier(classes=GRADES)):
        pipe = make_pipeline(StandardScaler(), model)
        assert (cross_val_score(pipe, X, y, scoring=scorer, cv=3, error_score="raise") > -1.0).all()
    pipe.fit(X, y)
    assert scorer(pipe, X, y) == -mean_absolute_rank_error(y, pipe.predict(X), classes=GRADES)


def test_score_of_a_ranker_with_new_real_targets_counts_all_pairs():
    X, y = load_diabetes(return_X_y=True)
    model = ConvexHullRanker().fit(X[:60], y[:60])
    assert model.score(X[60:160], y[60:160]) == pytest.approx(1 - swapped_pairs(y[60:160], model.predict(X[60:160])))
