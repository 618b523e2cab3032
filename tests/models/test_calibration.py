"""The calibrator gives the maximum-likelihood cumulative logistic of cross-validated scores."""

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.base import BaseEstimator
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from hullrank import FixedMarginClassifier, OrdinalCalibrator
from hullrank.exceptions import HullrankError, LabelError
from hullrank.models._cumulative_logistic import class_probabilities, fit_cumulative_logistic


class LeastSquaresScorer(BaseEstimator):
    """The smallest thing with score_samples: a ridge regression on numeric targets."""

    def fit(self, X, y, sample_weight=None):
        self.ridge_ = Ridge().fit(X, y, sample_weight)
        self.n_features_in_ = self.ridge_.n_features_in_
        return self

    def score_samples(self, X):
        return self.ridge_.predict(X)


@pytest.mark.slow
@parametrize_with_checks([OrdinalCalibrator(FixedMarginClassifier(tol=1e-12), cv=2)])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def grades(n_grades=5):
    X, y = load_diabetes(return_X_y=True)
    cuts = np.quantile(y, np.arange(1, n_grades) / n_grades)
    return X * 20, np.searchsorted(cuts, y)


def negative_log_likelihood(x, scores, codes, weights):
    cuts, slope = x[:-1], x[-1]
    cumulative = np.column_stack([np.zeros(len(scores)), expit(cuts - slope * scores[:, None]), np.ones(len(scores))])
    return -weights @ np.log(np.maximum(np.diff(cumulative)[np.arange(len(scores)), codes], 1e-300))


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 6))
def test_likelihood_cannot_be_improved(seed, n_classes):
    rng = np.random.default_rng(seed)
    codes = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, 60)])
    scores = 0.4 * codes + rng.normal(size=len(codes))
    weights = rng.uniform(0.1, 3, len(codes))
    slope, cuts = fit_cumulative_logistic(scores, codes, weights)
    assert slope >= 0
    assert (np.diff(cuts) > 0).all()
    ours = np.append(cuts, slope)
    value = negative_log_likelihood(ours, scores, codes, weights)
    other = minimize(
        negative_log_likelihood, ours + rng.normal(scale=0.01, size=len(ours)), (scores, codes, weights),
        bounds=[(None, None)] * len(cuts) + [(0, None)], tol=1e-14,
    )  # fmt: skip
    assert value <= other.fun * (1 + 1e-9)


def test_scores_against_the_order_give_class_frequencies():
    codes = np.repeat([0, 1, 2], [10, 30, 60])
    slope, cuts = fit_cumulative_logistic(-codes.astype(float), codes, np.ones(100))
    assert slope == 0
    np.testing.assert_allclose(class_probabilities(np.zeros(1), slope, cuts), [[0.1, 0.3, 0.6]])


def test_separated_scores_give_finite_and_certain_answers():
    codes = np.repeat([0, 1, 2], 10)
    scores = codes * 10.0
    slope, cuts = fit_cumulative_logistic(scores, codes, np.ones(30))
    assert np.isfinite(slope)
    probabilities = class_probabilities(scores, slope, cuts)
    assert (probabilities[np.arange(30), codes] > 1 - 1e-6).all()


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=20),
    st.floats(0, 50),
    st.lists(st.floats(1e-3, 5), min_size=1, max_size=6),
)
def test_probabilities_are_proper_and_monotone(scores, slope, steps):
    scores = np.sort(scores)
    probabilities = class_probabilities(scores, slope, np.cumsum(steps) - 2)
    assert (probabilities >= 0).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-12)
    assert (np.diff(np.cumsum(probabilities, axis=1), axis=0) <= 1e-12).all()


def test_any_estimator_with_score_samples():
    X, y = grades()
    model = OrdinalCalibrator(LeastSquaresScorer()).fit(X, y)
    probabilities = model.predict_proba(X)
    observed = np.eye(5)[y].mean(axis=0)
    np.testing.assert_allclose(probabilities.mean(axis=0), observed, atol=0.02)
    assert -np.log(probabilities[np.arange(len(y)), y]).mean() < -np.log(observed[y]).mean() - 0.2
    np.testing.assert_array_equal(model.score_samples(X), model.estimator_.score_samples(X))


def test_scale_and_shift_of_the_scores_do_not_matter():
    X, y = grades()

    class Shifted(LeastSquaresScorer):
        def score_samples(self, X):
            return 1e4 * super().score_samples(X) - 7e5

    plain = OrdinalCalibrator(LeastSquaresScorer()).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(OrdinalCalibrator(Shifted()).fit(X, y).predict_proba(X), plain, rtol=1e-6)


def test_weights_are_repetition_and_zero_weight_rows_do_not_count():
    X, y = grades(3)
    X, y = X[:90], y[:90]
    weights = np.random.default_rng(0).integers(0, 4, 90)
    twice = np.repeat(np.arange(90), weights)
    fold = np.arange(90) % 3
    splits = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(3)]
    repeated = [(np.flatnonzero(fold[twice] != k), np.flatnonzero(fold[twice] == k)) for k in range(3)]
    weighted = OrdinalCalibrator(LeastSquaresScorer(), cv=splits).fit(X, y, sample_weight=weights)
    plain = OrdinalCalibrator(LeastSquaresScorer(), cv=repeated).fit(X[twice], y[twice])
    np.testing.assert_allclose(weighted.predict_proba(X), plain.predict_proba(X), rtol=1e-6)


def test_frames_pipelines_strings_and_sparse():
    X, y = grades(3)
    names = np.array(["low", "middle", "high"])
    labels = names[y]
    model = OrdinalCalibrator(FixedMarginClassifier(classes=list(names)), cv=3).fit(X, labels)
    assert model.classes_.tolist() == list(names)
    expected = model.predict_proba(X)
    frame = pl.DataFrame(X, schema=[f"x{i}" for i in range(X.shape[1])])
    framed = OrdinalCalibrator(FixedMarginClassifier(), cv=3)
    framed.fit(frame, pl.Series(labels, dtype=pl.Enum(list(names))))
    np.testing.assert_allclose(framed.predict_proba(frame), expected, rtol=1e-6)
    assert framed.feature_names_in_[0] == "x0"
    sparse = OrdinalCalibrator(FixedMarginClassifier(classes=list(names)), cv=3).fit(sp.csr_array(X), labels)
    np.testing.assert_allclose(sparse.predict_proba(X), expected, rtol=1e-5)
    pipe = make_pipeline(StandardScaler(), OrdinalCalibrator(FixedMarginClassifier(), cv=3))
    search = GridSearchCV(pipe, {"ordinalcalibrator__estimator__C": [0.1, 1]}, cv=2, scoring="neg_log_loss").fit(X, y)
    assert search.best_score_ > -1.0986


def test_bad_input():
    X, y = grades(3)
    with pytest.raises(LabelError, match="only one class"):
        OrdinalCalibrator(LeastSquaresScorer()).fit(X, np.ones(len(y)))
    lonely = y.copy()
    lonely[lonely == 2] = 1
    lonely[0] = 2
    with pytest.raises(HullrankError, match="class 2 has one sample"):
        OrdinalCalibrator(LeastSquaresScorer()).fit(X, lonely)

    class NoWeights(LeastSquaresScorer):
        def fit(self, X, y):
            return super().fit(X, y)

    with pytest.raises(HullrankError, match="takes no sample_weight"):
        OrdinalCalibrator(NoWeights()).fit(X, y, sample_weight=np.ones(len(y)))
    model = OrdinalCalibrator(LeastSquaresScorer())
    with pytest.raises(ValueError, match="inconsistent"):
        model.fit(X, y[:-1])
    assert not hasattr(model, "estimator_")


def test_a_partial_order_has_no_cumulative_probabilities():
    from hullrank import ConvexHullRanker, OrderGraph

    X, y = grades(3)
    with pytest.raises(HullrankError, match="total order"):
        OrdinalCalibrator(ConvexHullRanker(order=OrderGraph.from_edges([(0, 2), (1, 2)]))).fit(X, y)


def test_a_prefit_estimator_is_calibrated_on_other_rows():
    X, y = grades()
    fitted = FixedMarginClassifier().fit(X[:200], y[:200])
    before = fitted.coef_.copy()
    model = OrdinalCalibrator(fitted, cv="prefit").fit(X[200:], y[200:])
    assert model.estimator_ is fitted
    np.testing.assert_array_equal(fitted.coef_, before)
    scores = X[200:] @ before
    t = (scores - scores.mean()) / scores.std()
    x = np.append(model.cuts_, model.slope_)
    best = minimize(negative_log_likelihood, x, args=(t, y[200:], np.ones(len(t))), method="BFGS")
    assert negative_log_likelihood(x, t, y[200:], np.ones(len(t))) <= best.fun + 1e-6
    np.testing.assert_allclose(model.predict_proba(X[200:]), class_probabilities(t, model.slope_, model.cuts_))


def test_prefit_needs_a_fitted_estimator():
    X, y = grades()
    with pytest.raises(HullrankError, match="takes a fitted estimator"):
        OrdinalCalibrator(FixedMarginClassifier(), cv="prefit").fit(X, y)


def test_log_probabilities_are_logarithms_and_stay_finite():
    X, y = grades()
    model = OrdinalCalibrator(FixedMarginClassifier()).fit(X, y)
    np.testing.assert_allclose(model.predict_log_proba(X), np.log(model.predict_proba(X)), atol=1e-12)
    far = model.predict_log_proba(1e5 * X)
    assert np.isfinite(far).all()
    assert (model.predict_proba(1e5 * X) == 0).any()


def test_an_interrupted_fold_ends_the_whole_fit(monkeypatch):
    """Ctrl-C in one of the fits must not only move on to the next one."""
    from dataclasses import replace

    from hullrank.problem.certificate import Status

    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    fits, usual = [], FixedMarginClassifier.fit

    def stopped(self, *args, **kwargs):
        fits.append(usual(self, *args, **kwargs))
        if len(fits) == 3:
            self.certificate_ = replace(self.certificate_, status=Status.INTERRUPTED)
        return self

    monkeypatch.setattr(FixedMarginClassifier, "fit", stopped)
    with pytest.raises(KeyboardInterrupt) as stop:
        OrdinalCalibrator(FixedMarginClassifier()).fit(X, y)
    assert len(fits) == 3
    assert stop.value.estimator is fits[0]  # fitted to all rows, before the folds
