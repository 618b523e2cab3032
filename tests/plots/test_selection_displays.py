"""Pictures of searches and of probabilities show what a plain computation gives."""

import matplotlib as mpl

mpl.use("agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.model_selection import GridSearchCV

from hullrank import FixedMarginClassifier, FixedMarginClassifierCV, OrderGraphSearchCV, OrdinalCalibrator
from hullrank.exceptions import HullrankError
from hullrank.plots import OrderSearchDisplay, PathDisplay, ReliabilityDisplay


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 2))
    return X, np.digitize(X @ [1.0, 1] + rng.normal(size=150), [-0.7, 0.7])


def test_paths_have_the_means_and_standard_errors_of_the_folds(data):
    search = FixedMarginClassifierCV([1, 0.01], losses=["hinge", "squared_hinge"], cv=4).fit(*data)
    display = PathDisplay.from_estimator(search)
    assert set(display.paths) == {"loss=hinge", "loss=squared_hinge"}
    results = search.cv_results_
    k = results["params"].index({"C": 0.01, "loss": "hinge"})
    folds = [results[f"split{i}_test_score"][k] for i in range(4)]
    expected = [0.01, np.mean(folds), np.std(folds, ddof=1) / 2]
    np.testing.assert_allclose(display.paths["loss=hinge"][0], expected)
    assert display.chosen == pytest.approx((search.best_params_["C"], search.best_score_))
    assert len(display.lines_) == 2
    assert display.ax_.get_xscale() == "log"
    cold = GridSearchCV(FixedMarginClassifier(), {"C": [0.01, 1]}, cv=4).fit(*data)
    assert list(PathDisplay.from_estimator(cold).paths) == [""]
    assert PathDisplay.from_predictions(results).chosen is None
    with pytest.raises(HullrankError, match="no parameter 'gamma'"):
        PathDisplay.from_estimator(search, parameter="gamma")
    with pytest.raises(HullrankError, match="is no number"):
        PathDisplay.from_estimator(search, parameter="loss")
    with pytest.raises(HullrankError, match="no cv_results_"):
        PathDisplay.from_estimator(FixedMarginClassifier())


def test_reliability_is_that_of_scikit_learn_at_every_threshold(data):
    X, y = data
    model = OrdinalCalibrator(FixedMarginClassifier()).fit(X, y)
    display = ReliabilityDisplay.from_estimator(model, X, y, n_bins=5)
    P = model.predict_proba(X)
    assert list(display.curves) == [0, 1]
    for k, curve in display.curves.items():
        observed, predicted = calibration_curve(y > k, P[:, k + 1 :].sum(axis=1), n_bins=5, strategy="quantile")
        np.testing.assert_allclose(curve[:, 0], predicted, atol=1e-12)
        np.testing.assert_allclose(curve[:, 1], observed, atol=1e-12)
        assert display.errors_[k] == pytest.approx(np.average(np.abs(observed - predicted), weights=curve[:, 2]))
    assert len(display.lines_) == 2


def test_reliability_counts_weights_as_repetition_and_names_what_does_not_fit(data):
    _, y = data
    P = np.random.default_rng(0).dirichlet(np.ones(3), size=len(y))
    weights = np.arange(len(y)) % 3
    twice = np.repeat(np.arange(len(y)), weights)
    one = ReliabilityDisplay.from_predictions(y, P, n_bins=1, sample_weight=weights)
    other = ReliabilityDisplay.from_predictions(y[twice], P[twice], n_bins=1)
    for k in (0, 1):
        np.testing.assert_allclose(one.curves[k], other.curves[k])
    with pytest.raises(HullrankError, match="one column each"):
        ReliabilityDisplay.from_predictions(y, P[:, :2])
    for wrong in (P * np.nan, P - 0.5, P + 0.9):
        with pytest.raises(HullrankError, match="between 0 and 1"):
            ReliabilityDisplay.from_predictions(y, wrong)
    with pytest.raises(HullrankError, match="not among the classes"):
        ReliabilityDisplay.from_predictions(y, P, classes=[0, 1, 7])
    with pytest.raises(HullrankError, match="no predict_proba"):
        ReliabilityDisplay.from_estimator(FixedMarginClassifier(), P, y)
    with pytest.raises(HullrankError, match="at least 1"):
        ReliabilityDisplay.from_predictions(y, P, n_bins=0)


def test_candidates_of_an_order_search_are_drawn_best_first(data):
    X, y = data
    search = OrderGraphSearchCV(n_resamples=50).fit(X, y)
    display = OrderSearchDisplay.from_estimator(search)
    assert display.names == ["0 < 1 < 2", *(str(name) for name in search.cv_results_["name"][1:])]
    np.testing.assert_allclose(display.folds.mean(axis=1), search.cv_results_["mean_test_score"])
    assert display.chosen == 0
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == display.names
    stated = OrderGraphSearchCV(order="chain", cv=3).fit(X, y)
    few = OrderSearchDisplay.from_estimator(stated, most=1)
    assert few.names == [stated.cv_results_["name"][stated.best_index_]]
    assert few.plausible is None
    with pytest.raises(HullrankError, match="no search for an order"):
        OrderSearchDisplay.from_estimator(FixedMarginClassifier())
