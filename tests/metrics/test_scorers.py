"""Scorers in model selection: any estimator, pipelines, searches, and routed metadata."""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hullrank import OrderGraph, metrics
from hullrank.exceptions import HullrankError
from hullrank.metrics import get_scorer, scoring_order
from hullrank.metrics.scorers import _METRICS

GRADES = ["low", "mid", "high"]
NO_METRICS = {"RankStatistic", "get_scorer", "rank_within", "scoring_order"}


class LineRanker(BaseEstimator):
    """Scores are the first column; what it says beyond that is set by its parameters."""

    def __init__(self, order=None, sign=1):
        self.order = order
        self.sign = sign

    def fit(self, X, y, sample_weight=None, qid=None):
        self.fitted_ = True
        if self.order is not None:
            self.order_ = self.order
            self.classes_ = np.array(self.order.labels)
        return self

    def score_samples(self, X):
        return self.sign * np.asarray(X)[:, 0]

    predict = score_samples

    def predict_class(self, X):
        place = np.clip(np.asarray(X)[:, 0].round().astype(int), 0, len(self.classes_) - 1)
        return self.classes_[place]


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    return X, (X[:, 0] + rng.normal(size=60) > 0).astype(int)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def test_every_metric_but_the_bound_has_a_scorer():
    scored = {metric.__name__ for metric, _, _ in _METRICS.values()}
    assert scored == set(metrics.__all__) - NO_METRICS - {"margin_risk_bound"}


@pytest.mark.parametrize("name", _METRICS)
def test_every_scorer_serves_a_grid_search(name, data):
    X, y = data
    search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, scoring=get_scorer(name), cv=3, error_score="raise")
    search.fit(X, y)
    metric, _, sign = _METRICS[name]
    answer = search.predict(X) if "rank_error" in name or "within" in name else search.decision_function(X)
    assert search.score(X, y) == pytest.approx(sign * metric(y, answer))
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_greater_is_better(data):
    X, y = data
    right, wrong = LineRanker().fit(X, y), LineRanker(sign=-1).fit(X, y)
    for name in ("wmw", "swapped_pairs", "kendall_tau_b", "rank_statistic", "ndcg"):
        assert get_scorer(name)(right, X, y) > get_scorer(name)(wrong, X, y)


def test_labels_are_ordered_as_the_estimator_was_fitted():
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array(GRADES)
    model = LineRanker(order=OrderGraph.chain(GRADES)).fit(X, y)
    assert get_scorer("wmw")(model, X, y) == 1.0
    assert get_scorer("swapped_pairs")(model, X, y) == 0.0
    assert get_scorer("mean_absolute_rank_error")(model, X, y[::-1]) == pytest.approx(-4 / 3)
    assert get_scorer("accuracy_within", k=2)(model, X, y[::-1]) == 1.0
    piped = make_pipeline(StandardScaler(with_mean=False, with_std=False), model).fit(X, y)
    assert get_scorer("wmw")(piped, X, y) == 1.0
    assert get_scorer("mean_absolute_rank_error")(piped, X, y) == 0.0
    assert get_scorer("wmw", order="high < mid < low")(piped, X, y) == 0.0


def test_chain_and_full_graphs_are_measured_alike():
    X, y = np.array([[0.0], [1.0], [0.5]]), np.array(GRADES)
    chain, full = (LineRanker(order=build(GRADES)).fit(X, y) for build in (OrderGraph.chain, OrderGraph.full))
    assert get_scorer("wmw")(chain, X, y) == get_scorer("wmw")(full, X, y) == pytest.approx(2 / 3)


def test_order_of_the_labels_stays_with_them_when_the_estimator_only_sorts(data):
    X, y = data
    grades = pd.Categorical(np.where(y, "fine", "poor"), ["poor", "fine"], ordered=True)
    model = LogisticRegression().fit(X, y)
    assert get_scorer("wmw")(model, X, grades) == get_scorer("wmw")(model, X, y)


def test_new_real_values_are_ordered_by_themselves():
    model = LineRanker(order=OrderGraph.chain([0.5, 1.5])).fit([[0]], [0])
    assert scoring_order(model, [0.7, 3.0]) == "full"
    assert scoring_order(model, [0.5]) == OrderGraph.full([0.5, 1.5])
    partial = LineRanker(order=OrderGraph.from_edges([(1, 2)], labels=[1, 2, 3])).fit([[0]], [0])
    with pytest.raises(ValueError, match="missing from the order graph: 9"):
        get_scorer("wmw")(partial, [[0.0], [1.0]], [1, 9])


def test_regressors_rank_by_their_prediction(data):
    X, y = data
    model = Ridge().fit(X, y)
    assert get_scorer("wmw")(model, X, y) == metrics.wmw_score(y, model.predict(X))


def test_several_scorers_together_and_weights(data):
    X, y = data
    scoring = {"pairs": get_scorer("wmw"), "gain": get_scorer("ndcg", k=5)}
    result = cross_validate(LogisticRegression(), X, y, scoring=scoring, cv=3, error_score="raise")
    assert result["test_pairs"] == pytest.approx(
        cross_val_score(LogisticRegression(), X, y, scoring=scoring["pairs"], cv=3)
    )


def test_queries_and_weights_are_routed(data, routing):
    X, y = data
    queries = np.repeat(np.arange(12), 5)
    weights = np.random.default_rng(1).random(60)
    ranker = LineRanker().set_fit_request(qid=True, sample_weight=False)
    scorer = get_scorer("swapped_pairs").set_score_request(qid=True, sample_weight="weights")
    ranker = ranker.set_fit_request(qid=True)
    cv = GroupKFold(3)
    params = {"qid": queries, "weights": weights, "groups": queries}
    values = cross_val_score(ranker, X, y, scoring=scorer, cv=cv, params=params, error_score="raise")
    for value, (_, test) in zip(values, cv.split(X, y, queries), strict=True):
        expected = metrics.swapped_pairs(y[test], X[test, 0], qid=queries[test], sample_weight=weights[test])
        assert value == pytest.approx(-expected)
    search = GridSearchCV(ranker, {"sign": [-1, 1]}, scoring=scorer, cv=cv, error_score="raise")
    search.fit(X, y, qid=queries, weights=weights, groups=queries)
    assert search.best_params_ == {"sign": 1}


def test_unrequested_metadata_is_refused(data, routing):
    X, y = data
    with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError):
        cross_val_score(LineRanker(), X, y, scoring=get_scorer("ndcg"), params={"qid": y})


def test_scorers_copy_and_print():
    scorer = get_scorer("ndcg", k=10, gain="exponential")
    assert repr(scorer) == "get_scorer('ndcg', k=10, gain='exponential')"
    assert pickle.loads(pickle.dumps(scorer)) == scorer
    search = GridSearchCV(LineRanker(), {}, scoring=scorer)
    assert clone(search).scoring == scorer


def test_bad_requests_are_named(data):
    X, y = data
    with pytest.raises(HullrankError, match="unknown metric 'auc'"):
        get_scorer("auc")
    with pytest.raises(HullrankError, match="'ndcg' has no option 'order'"):
        get_scorer("ndcg", order="chain")
    with pytest.raises(HullrankError, match="no option 'groups'"):
        get_scorer("ndcg").set_score_request(groups=True)
    three = LogisticRegression().fit(X, np.arange(60) % 3)
    with pytest.raises(HullrankError, match="not with one score per row"):
        get_scorer("wmw")(three, X, np.arange(60) % 3)
    with pytest.raises(HullrankError, match="has none of the methods"):
        get_scorer("wmw")(StandardScaler().fit(X), X, y)
