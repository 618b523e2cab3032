"""Queries in Python: ids from group sizes, scores within queries, and a word where they would be forgotten."""

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.model_selection import GridSearchCV, GroupKFold

from hullrank import (
    ConvexHullRanker,
    ExactRanker,
    FixedMarginClassifier,
    NuMarginClassifier,
    PRank,
    RankBoost,
    SampledPairsRanker,
    SwappedPairsRanker,
)
from hullrank.data import qid_from_groups
from hullrank.exceptions import HullrankError, QueryWarning
from hullrank.metrics import swapped_pairs


@pytest.fixture
def searches():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    shift = np.repeat(rng.normal(scale=5, size=12), 5)
    return X, np.round(X[:, 0] + shift + 0.3 * rng.normal(size=60)), qid_from_groups([5] * 12)


def test_ids_follow_the_sizes():
    sizes = [3, 1, 4, 1, 5]
    qid = qid_from_groups(sizes)
    assert [int((qid == q).sum()) for q in range(5)] == sizes
    assert (np.diff(qid) >= 0).all()
    np.testing.assert_array_equal(qid_from_groups(np.array(sizes, dtype=float)), qid)


@pytest.mark.parametrize("sizes", [[], [2, 0], [2, -1], [1.5], [np.nan], ["a"], [[1, 2]]])
def test_sizes_that_are_none(sizes):
    with pytest.raises(HullrankError, match="group"):
        qid_from_groups(sizes)


@pytest.mark.parametrize(
    "model", [RankBoost(), SwappedPairsRanker(), SampledPairsRanker(random_state=0), ExactRanker(time_limit=0.3)]
)
@pytest.mark.filterwarnings("ignore:.*before a proof")
def test_scores_within_queries(searches, model):
    X, y, qid = searches
    model.fit(X, y, qid=qid)
    scores = model.score_samples(X)
    pairs = [(i, j) for i in range(60) for j in range(60) if qid[i] == qid[j] and y[i] > y[j]]
    assert model.score(X, y, qid=qid) == pytest.approx(np.mean([scores[i] > scores[j] for i, j in pairs]))
    with pytest.warns(QueryWarning, match="scored across them"):
        across = model.score(X, y)
    assert across == pytest.approx(1 - swapped_pairs(y, scores))
    with warnings.catch_warnings():
        warnings.simplefilter("error", QueryWarning)
        type(model)(**model.get_params()).fit(X, y).score(X, y)


@pytest.mark.parametrize("model", [ConvexHullRanker(), FixedMarginClassifier(), NuMarginClassifier(), PRank()])
def test_models_of_classes_say_who_takes_queries(searches, model):
    X, y, qid = searches
    with pytest.raises(HullrankError, match=f"{type(model).__name__}.* takes no qid; .*SwappedPairsRanker"):
        model.fit(X, np.sign(y), qid=qid)


def test_a_column_of_queries_is_no_feature_in_silence(searches):
    X, y, qid = searches
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(qid=qid)
    with pytest.warns(QueryWarning, match="column 'qid' of X is taken as a feature"):
        SwappedPairsRanker().fit(frame, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", QueryWarning)
        SwappedPairsRanker().fit(frame.drop(columns="qid"), y, qid=frame["qid"])


def test_model_selection_without_routing_warns_and_with_it_does_not(searches):
    X, y, qid = searches
    grid, cv = {"C": [0.1, 1.0]}, GroupKFold(3)
    with pytest.warns(QueryWarning, match="enable_metadata_routing"):
        GridSearchCV(SwappedPairsRanker(), grid, cv=cv.split(X, y, qid)).fit(X, y, qid=qid)
    with sklearn.config_context(enable_metadata_routing=True), warnings.catch_warnings():
        warnings.simplefilter("error", QueryWarning)
        routed = SwappedPairsRanker().set_fit_request(qid=True).set_score_request(qid=True)
        GridSearchCV(routed, grid, cv=list(cv.split(X, y, qid))).fit(X, y, qid=qid)
