"""The class-based estimators among scikit-learn's tools: pipelines, searches, frames, clones, pickles, routing."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.compose import make_column_transformer
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score, cross_validate
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler

from cases import slow_after
from hullrank import (
    ConvexHullRanker,
    FixedMarginClassifier,
    NuMarginClassifier,
    SumOfMarginsClassifier,
    SwappedPairsRanker,
)
from hullrank.exceptions import LabelError
from hullrank.io import TableEncoder
from hullrank.metrics import get_scorer

ESTIMATORS = [ConvexHullRanker, FixedMarginClassifier, NuMarginClassifier, SumOfMarginsClassifier]
every_estimator = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda cls: cls.__name__)
NAMES = ["age", "dose", "weight"]
GRADES = ["mild", "moderate", "severe"]


def draw(m=90, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 3)) * [1.0, 50.0, 0.1]
    place = np.argsort(np.argsort(X @ [1.0, 0.02, 5.0] + 0.4 * rng.normal(size=m)))
    return X, place * 3 // m


@every_estimator
def test_pipeline(estimator):
    X, y = draw()
    pipeline = make_pipeline(StandardScaler(), estimator()).fit(X, y)
    by_hand = estimator().fit(StandardScaler().fit_transform(X), y)
    np.testing.assert_array_equal(pipeline.predict(X), by_hand.predict(StandardScaler().fit_transform(X)))
    np.testing.assert_array_equal(pipeline.score_samples(X), by_hand.score_samples(StandardScaler().fit_transform(X)))
    assert pipeline.score(X, y) == by_hand.score(StandardScaler().fit_transform(X), y)


@every_estimator
@pytest.mark.parametrize(
    "scoring", slow_after(1, ["wmw", "swapped_pairs", "mean_absolute_rank_error", "accuracy_within"])
)
def test_grid_search_with_ranking_scorers(estimator, scoring):
    X, y = draw()
    parameter = "C" if estimator in (ConvexHullRanker, FixedMarginClassifier) else "tol"
    grid = {"model__" + parameter: [1e-4, 1e-2]}
    search = GridSearchCV(
        Pipeline([("scale", StandardScaler()), ("model", estimator())]), grid, scoring=get_scorer(scoring), cv=3,
        error_score="raise",
    ).fit(X, y)  # fmt: skip
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_params_["model__" + parameter] in (1e-4, 1e-2)
    assert search.score(X, y) == get_scorer(scoring)(search.best_estimator_, X, y)


@every_estimator
def test_cross_validation(estimator):
    X, y = draw()
    own = cross_val_score(make_pipeline(StandardScaler(), estimator()), X, y, cv=3)
    assert own.shape == (3,)
    assert np.all(own > 0.6)
    several = cross_validate(
        make_pipeline(StandardScaler(), estimator()), X, y, cv=3,
        scoring={"pairs": get_scorer("wmw"), "steps": get_scorer("mean_absolute_rank_error")},
    )  # fmt: skip
    assert np.all(several["test_pairs"] > 0.8)
    assert np.all(several["test_steps"] > -0.5)
    assert cross_val_predict(make_pipeline(StandardScaler(), estimator()), X, y, cv=3).shape == y.shape


@every_estimator
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_frames_carry_feature_names(estimator, frame):
    X, y = draw()
    table = frame(dict(zip(NAMES, X.T, strict=True)))
    model, plain = estimator().fit(table, y), estimator().fit(X, y)
    assert model.feature_names_in_.tolist() == NAMES
    assert not hasattr(plain, "feature_names_in_")
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(model.predict(table), plain.predict(X))
    shuffled = frame(dict(zip(NAMES[::-1], X.T[::-1], strict=True)))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(shuffled)
    with pytest.warns(UserWarning, match="feature names"):
        model.predict(X)


@every_estimator
def test_frames_through_and_through(estimator):
    X, y = draw()
    table = pd.DataFrame(X, columns=NAMES).assign(ward=np.where(X[:, 0] > 0, "north", "south"))
    target = pd.Series(pd.Categorical.from_codes(y, GRADES, ordered=True), name="grade")
    prepare = make_column_transformer((StandardScaler(), NAMES), (OneHotEncoder(), ["ward"]))
    pipeline = make_pipeline(prepare, estimator()).fit(table, target)
    assert pipeline[-1].classes_.tolist() == GRADES
    assert pipeline.score(table, target) > 0.6
    assert cross_val_score(pipeline, table, target, cv=3, error_score="raise").min() > 0.5


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_words_are_answered_with_the_encoder_that_takes_them(frame):
    X, y = draw()
    table = frame({"age": X[:, 0], "ward": np.where(X[:, 1] > 0, "north", "south")})
    with pytest.raises(ValueError, match=r"'(north|south)'; words need an encoder.*TableEncoder"):
        FixedMarginClassifier().fit(table, y)
    assert make_pipeline(TableEncoder(), FixedMarginClassifier()).fit(table, y).score(table, y) > 0.5


@pytest.mark.parametrize("model", [FixedMarginClassifier(), SwappedPairsRanker()])
def test_cells_that_are_no_numbers_are_answered_by_the_encoder(model):
    numbers = pd.DataFrame({"a": np.arange(20.0), "b": np.arange(20.0) ** 2})
    y = np.arange(20) % 3
    with pytest.raises(ValueError, match=r"^Input X contains NaN; missing .*\(hullrank.io.TableEncoder"):
        model.fit(numbers.replace(4.0, np.nan), y)
    dates = numbers.assign(when=pd.date_range("2020", periods=20))
    for frame in (dates, dates.assign(word="red")):
        with pytest.raises(TypeError, match=r"^X contains dates; .* make_pipeline\(hullrank.io.TableEncoder"):
            model.fit(frame, y)


def test_words_that_scikit_learn_numbers_out_of_order_are_an_error_that_says_so():
    X, codes = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 3
    words = np.array(["low", "middle", "high"])[codes]
    model = FixedMarginClassifier(classes=["low", "middle", "high"])
    with pytest.raises(LabelError, match="cross_val_predict numbers words alphabetically"):
        cross_val_predict(model, X, words, method="decision_function")


@every_estimator
def test_sparse_rows_stay_sparse_in_a_pipeline(estimator):
    X, y = draw()
    pipeline = make_pipeline(MaxAbsScaler(), estimator()).fit(sp.csr_array(X), y)
    assert pipeline.score(sp.csr_array(X), y) > 0.6


@every_estimator
def test_clone_and_pickle(estimator):
    X, y = draw()
    model = estimator(tol=1e-8).fit(X, y)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not hasattr(copy, "coef_")
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.certificate_ == model.certificate_
    assert again.order_ == model.order_
    assert repr(model) == f"{estimator.__name__}(tol=1e-08)"


def test_rankers_are_neither_classifier_nor_regressor():
    assert not is_classifier(ConvexHullRanker())
    assert not is_regressor(ConvexHullRanker())
    assert all(is_classifier(estimator()) for estimator in ESTIMATORS[1:])


@every_estimator
def test_sample_weight_is_routed(estimator):
    X, y = draw()
    weights = np.random.default_rng(1).integers(1, 4, len(y)).astype(float)
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(
            StandardScaler().set_fit_request(sample_weight=False), estimator().set_fit_request(sample_weight=True)
        )
        pipeline.fit(X, y, sample_weight=weights)
        requested = estimator().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        scores = cross_val_score(requested, X, y, cv=3, params={"sample_weight": weights}, error_score="raise")
        silent = estimator()
        with pytest.raises(ValueError, match="sample_weight"):
            cross_validate(silent, X, y, cv=3, params={"sample_weight": weights}, error_score="raise")
    by_hand = estimator().fit(StandardScaler().fit_transform(X), y, sample_weight=weights)
    np.testing.assert_array_equal(pipeline[-1].coef_, by_hand.coef_)
    assert np.all((scores > 0.5) & (scores <= 1))


@every_estimator
def test_searches_accept_sample_weight(estimator):
    X, y = draw()
    weights = np.ones(len(y))
    search = GridSearchCV(estimator(), {"tol": [1e-4, 1e-6]}, cv=3, error_score="raise")
    search.fit(X, y, sample_weight=weights)
    assert search.best_score_ > 0.6
