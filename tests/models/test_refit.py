"""A second fit leaves nothing of the first: attributes are those of a fresh estimator, and an error changes none."""

import inspect
from copy import deepcopy

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone

import hullrank
from hullrank.exceptions import HullrankError
from hullrank.io import load, save

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 2))
Y = np.digitize(X @ [1.0, -2.0] + 0.3 * RNG.normal(size=40), [-1, 1])
FORK = [(0, 1), (0, 2)]
KERNELS = [{"kernel": "rbf"}, {"kernel": "linear"}, {"approximation": 10}]
SETTINGS = {  # each is fitted after each other one
    "ConvexHullRanker": [{}, {"order": FORK}, *KERNELS],
    "ConvexHullClassifier": [{}, {"order": FORK}, *KERNELS],
    "FixedMarginClassifier": [{"warm_start": True}, *KERNELS],
    "PartialOddsClassifier": [{}, {"features": [0]}],
    "NuMarginClassifier": KERNELS,
    "SumOfMarginsClassifier": KERNELS,
    "SwappedPairsRanker": KERNELS,
    "SampledPairsRanker": [{"random_state": 0}, *KERNELS],
    "ExactRanker": [{"max_cells": 50}, {"method": "sweep"}],
    "LinearRelaxationRanker": [{}],
    "OrdinalCalibrator": [{"cv": 2}, {"cv": 2, "decision": "median"}],
    "TunedThresholdOrdinal": [{"cv": 2}, {"cv": 2, "metric": "quadratic_kappa"}],
    "OrdinalPredictionSets": [{"random_state": 0}],
    "ConvexHullRankerCV": [{"Cs": [1]}, {"Cs": [1, 2], "cv": 2}],
    "FixedMarginClassifierCV": [{"Cs": [1]}, {"Cs": [1, 2], "cv": 2}],
    "SwappedPairsRankerCV": [{"Cs": [1]}, {"Cs": [1, 2], "cv": 2}],
    "OrderGraphSearchCV": [{"n_resamples": 20}, {"order": "chain", "cv": 2}],
    "SemiSupervised": [{"strength": 1.0}, {"strength": "auto"}],
    "PRank": [{"kernel": "linear"}, {"kernel": "rbf"}],
    "RankBoost": [{"early_stopping": True, "random_state": 0}, {"weak_rankers": "thresholds"}],
    "InformativeVectorClassifier": [{"max_iter": 20}, {"tune": False}],
}
ESTIMATORS = [
    name
    for name in hullrank.__all__
    if inspect.isclass(cls := getattr(hullrank, name)) and issubclass(cls, BaseEstimator)
]


WRAPPERS = {"OrdinalCalibrator", "TunedThresholdOrdinal", "OrdinalPredictionSets", "SemiSupervised"}


def blank(name):
    inner = [hullrank.FixedMarginClassifier()] if name in WRAPPERS else []
    return getattr(hullrank, name)(*inner)


def test_every_estimator_is_here():
    assert sorted(SETTINGS) == sorted(ESTIMATORS)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::hullrank.exceptions.CollapsedRankingWarning")
@pytest.mark.filterwarnings("ignore::hullrank.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", SETTINGS)
def test_a_refit_has_the_attributes_of_a_fresh_fit(name):
    y = Y > 0 if name == "ExactRanker" else Y
    fresh = [set(vars(blank(name).set_params(**second).fit(X, y))) for second in SETTINGS[name]]
    for first in SETTINGS[name]:
        fitted = blank(name).set_params(**first).fit(X[:, :1], y)
        for second, attributes in zip(SETTINGS[name], fresh, strict=True):
            model = deepcopy(fitted).set_params(**blank(name).get_params(deep=False)).set_params(**second).fit(X, y)
            assert set(vars(model)) == attributes, (first, second)
            assert model.n_features_in_ == 2


def test_a_fork_after_a_chain_can_be_saved(tmp_path):
    ranker = hullrank.ConvexHullRanker().fit(X, Y)
    assert hasattr(ranker, "thresholds_")
    ranker.set_params(order=FORK).fit(X, Y)
    assert not hasattr(ranker, "thresholds_")
    save(ranker, tmp_path / "m.hull")
    np.testing.assert_array_equal(load(tmp_path / "m.hull").predict(X), ranker.predict(X))


def test_gamma_goes_with_its_kernel():
    model = hullrank.FixedMarginClassifier(kernel="rbf").fit(X, Y)
    assert model.gamma_ > 0
    assert not hasattr(model.set_params(kernel="linear").fit(X, Y), "gamma_")


def test_a_warm_start_is_kept_while_it_is_asked_for():
    model = hullrank.FixedMarginClassifier(kernel="rbf", warm_start=True).fit(X, Y)
    cold = model.n_iter_
    assert model.fit(X, Y).n_iter_ < cold
    assert not hasattr(model.set_params(warm_start=False).fit(X, Y), "_warm")


def test_routing_and_notes_of_the_user_survive():
    import sklearn

    with sklearn.config_context(enable_metadata_routing=True):
        model = hullrank.ConvexHullRanker().set_fit_request(sample_weight=True)
        model.note = "first try"
        model.fit(X, Y).fit(X, Y)
        assert model.get_metadata_routing().fit.requests["sample_weight"] is True
        assert model.note == "first try"


LAST = {
    "OrdinalCalibrator": "score_mean_",
    "TunedThresholdOrdinal": "thresholds_",
    "OrdinalPredictionSets": "n_calibration_",
    "ConvexHullRankerCV": "refit_time_",
    "FixedMarginClassifierCV": "refit_time_",
    "SwappedPairsRankerCV": "refit_time_",
    "OrderGraphSearchCV": "best_estimator_",
    "PRank": "coef_",
    "RankBoost": "coef_",
    "InformativeVectorClassifier": "_root",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SETTINGS)
def test_an_error_late_in_a_fit_brings_the_last_one_back(name, monkeypatch):
    model = blank(name).set_params(**SETTINGS[name][0]).fit(X, Y > 0)
    before = dict(vars(model))

    def fail_at_the_end(self, attribute, value):
        if attribute == LAST.get(name, "certificate_"):
            raise HullrankError("too late")
        object.__setattr__(self, attribute, value)

    with monkeypatch.context() as patch:
        patch.setattr(type(model), "__setattr__", fail_at_the_end)
        with pytest.raises(HullrankError, match="too late"):
            model.fit(X[:, :1], Y > 0)
    assert vars(model) == before


def test_a_batch_with_an_error_leaves_a_perceptron_as_it_was():
    fresh = hullrank.PRank()
    with pytest.raises(ValueError, match="5"):
        fresh.partial_fit(X, np.full(40, 5), classes=[0, 1, 2])
    assert vars(fresh) == hullrank.PRank().get_params()

    def kernel(A, B):
        if len(A) == 400 - 256:
            raise HullrankError("the second block of rows fails")
        return A @ B.T

    model = hullrank.PRank(kernel=kernel, classes=[0, 1, 2]).partial_fit(X, Y)
    before, clock = dict(vars(model)), model._state.clock
    with pytest.raises(HullrankError, match="second block"):
        model.partial_fit(np.tile(X, (10, 1)), 2 - np.tile(Y, 10))
    assert vars(model) == before
    assert model._state.clock == clock


WARM = {
    "hull": lambda **o: hullrank.ConvexHullRanker(**o),
    "hull, rbf": lambda **o: hullrank.ConvexHullRanker(kernel="rbf", **o),
    "hull, logistic": lambda **o: hullrank.ConvexHullRanker(loss="logistic", **o),
    "fixed": lambda **o: hullrank.FixedMarginClassifier(**o),
    "fixed, logistic": lambda **o: hullrank.FixedMarginClassifier(loss="logistic", **o),
    "nu": lambda **o: hullrank.NuMarginClassifier(**o),
    "nu, rbf": lambda **o: hullrank.NuMarginClassifier(kernel="rbf", **o),
    "sum": lambda **o: hullrank.SumOfMarginsClassifier(**o),
    "sum, rbf": lambda **o: hullrank.SumOfMarginsClassifier(kernel="rbf", **o),
    "pairs": lambda **o: hullrank.SwappedPairsRanker(**o),
    "pairs, squared": lambda **o: hullrank.SwappedPairsRanker(loss="squared_hinge", **o),
    "pairs, rbf": lambda **o: hullrank.SwappedPairsRanker(kernel="rbf", **o),
    "sampled": lambda **o: hullrank.SampledPairsRanker(random_state=0, **o),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", WARM)
def test_a_warm_start_reaches_the_optimum_of_a_cold_one(name):
    """After another price, other labels, fewer rows and another number of columns."""
    flipped = np.where(np.arange(40) % 7 == 0, 2 - Y, Y)
    driven = name.startswith(("nu", "sum"))
    parameters = [{"fraction": 0.3}, {"fraction": 0.7}] if driven else [{"C": 0.3}, {"C": 5.0}]
    warm = WARM[name](warm_start=True)
    for rows, y, width in ((slice(None), Y, 2), (slice(None), flipped, 2), (slice(30), Y, 2), (slice(None), Y, 1)):
        for settings in parameters:
            warm.set_params(**settings).fit(X[rows, :width], y[rows])
            cold = WARM[name](**settings).fit(X[rows, :width], y[rows])
            assert warm.certificate_.status == cold.certificate_.status
            assert warm.certificate_.primal == pytest.approx(cold.certificate_.primal, rel=2e-6, abs=1e-9)


@pytest.mark.parametrize(
    "name", ["hull", "fixed", "pairs", "pairs, squared", "hull, rbf", "hull, logistic", "fixed, logistic"]
)
def test_the_same_fit_again_is_quick_with_a_warm_start(name):
    model = WARM[name](warm_start=True).fit(X, Y)
    cold = model.n_iter_
    assert model.fit(X, Y).n_iter_ < cold


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
def test_partial_odds_start_from_the_last_fit(loss):
    inner = hullrank.FixedMarginClassifier(1.0, loss=loss)
    model = hullrank.PartialOddsClassifier(inner, features=[0], warm_start=True).fit(X, Y)
    cold = model.estimator_.n_iter_
    assert model.fit(X, Y).estimator_.n_iter_ < cold
    for features in ([0], [0, 1], []):
        model.set_params(features=features, estimator__C=3.0).fit(X, Y)
        fresh = clone(model).fit(X, Y)
        assert model.certificate_.primal == pytest.approx(fresh.certificate_.primal, rel=2e-6)
    assert not hasattr(model.set_params(warm_start=False).fit(X, Y), "_warm")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["fixed", "hull, rbf", "fixed, logistic"])
def test_a_start_is_handed_to_the_estimator_inside(name):
    few = np.arange(40) % 2 == 0
    model = hullrank.SemiSupervised(WARM[name](C=1.0), strength=1.0, warm_start=True)
    cold = model.fit(X[few], Y[few], unlabeled=X[~few]).estimator_.n_iter_
    assert model.fit(X[few], Y[few], unlabeled=X[~few]).estimator_.n_iter_ < cold
    model.set_params(strength=10.0, estimator__C=2.0).fit(X[few], Y[few], unlabeled=X[~few])
    fresh = clone(model).fit(X[few], Y[few], unlabeled=X[~few])
    assert model.certificate_.primal == pytest.approx(fresh.certificate_.primal, rel=2e-6)
    assert not hasattr(model.set_params(warm_start=False).fit(X[few], Y[few]), "_warm")


@pytest.mark.slow
@pytest.mark.parametrize("method", ["auto", "branch_and_bound"])
def test_an_exact_search_goes_on_from_the_last_weights(method):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(150, 6))
    y = (rows @ [3, -2, 1, 0, 1, 2] + 3 * rng.normal(size=150) > 0).astype(int)
    best = hullrank.ExactRanker(max_cells=3000, warm_start=True).fit(rows, y)
    value = best.certificate_.value
    best.set_params(max_cells=1, method=method).fit(rows, y)
    assert best.certificate_.value >= value
    cold = hullrank.ExactRanker(max_cells=1, method=method).fit(rows, y)
    assert cold.certificate_.value < value
    best.fit(rows[:, :3], y)  # weights of other columns are no start
    assert best.coef_.shape == (3,)


def test_cuts_begin_at_the_last_weights():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 3))
    y = (rows @ [1, -1, 0.5] + rng.normal(size=60) > 0).astype(int)
    model = hullrank.LinearRelaxationRanker(warm_start=True).fit(rows, y)
    cold, primal = model.n_iter_, model.certificate_.primal
    assert model.fit(rows, y).n_iter_ < cold
    assert model.certificate_.primal == pytest.approx(primal, rel=2e-6)
    fresh = hullrank.LinearRelaxationRanker(1e-3).fit(rows, y)
    model.set_params(epsilon=1e-3).fit(rows, y)
    assert model.certificate_.primal == pytest.approx(fresh.certificate_.primal, rel=2e-6)
