"""Thresholds for a metric are the best of all, and decisions by probability cost least."""

from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes
from sklearn.metrics import cohen_kappa_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.estimator_checks import parametrize_with_checks

from hullrank import ConvexHullRanker, FixedMarginClassifier, OrdinalCalibrator, TunedThresholdOrdinal
from hullrank.datasets import discretize
from hullrank.exceptions import HullrankError
from hullrank.metrics import accuracy_within, mean_absolute_rank_error
from hullrank.models._cuts import best_cuts, metric_costs
from hullrank.models.calibration import decide


@pytest.mark.slow
@parametrize_with_checks([TunedThresholdOrdinal(FixedMarginClassifier(tol=1e-12), cv=2)])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


METRICS = {
    "mean_rank_error": lambda y, p, w: -mean_absolute_rank_error(y, p, sample_weight=w),
    "accuracy": lambda y, p, w: accuracy_within(y, p, 0, sample_weight=w),
    "within_one": lambda y, p, w: accuracy_within(y, p, 1, sample_weight=w),
    "quadratic_kappa": lambda y, p, w: cohen_kappa_score(y, p, weights="quadratic", sample_weight=w),
}


def predicted(scores, cuts):
    return np.searchsorted(cuts, scores, side="left")


def every_cut(scores, n_classes):
    """All ways to cut the line, one cut in each gap between distinct scores and beyond the ends."""
    levels = np.unique(scores)
    gaps = [-np.inf, *((levels[1:] + levels[:-1]) / 2), np.inf]
    return combinations_with_replacement(gaps, n_classes - 1)


@pytest.mark.slow
@pytest.mark.parametrize("metric", METRICS)
@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), n_classes=st.integers(2, 4))
def test_no_other_cuts_are_better(metric, seed, n_classes):
    rng = np.random.default_rng(seed)
    codes = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, 6)])
    scores = np.round(codes + rng.normal(size=len(codes)), 1)
    weights = rng.uniform(0.1, 3, len(codes))
    relative = metric == "quadratic_kappa"
    cuts, value = best_cuts(scores, codes, weights, metric_costs(metric, n_classes), relative=relative)
    assert (cuts[1:] >= cuts[:-1]).all()
    assert value == pytest.approx(METRICS[metric](codes, predicted(scores, cuts), weights))
    best = max(METRICS[metric](codes, predicted(scores, np.array(c)), weights) for c in every_cut(scores, n_classes))
    assert value == pytest.approx(best)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_a_cost_matrix_by_brute_force(seed):
    rng = np.random.default_rng(seed)
    codes, costs = rng.integers(0, 3, 10), rng.normal(size=(3, 3))
    scores, weights = rng.normal(size=10), rng.uniform(0.1, 3, 10)
    cuts, value = best_cuts(scores, codes, weights, metric_costs(costs, 3), relative=False)
    paid = [np.average(costs[codes, predicted(scores, c)], weights=weights) for c in [cuts, *every_cut(scores, 3)]]
    assert -value == pytest.approx(paid[0])
    assert paid[0] == pytest.approx(min(paid))


def test_probabilities_decide_at_least_expected_cost():
    P = np.random.default_rng(0).dirichlet(np.ones(4) / 2, size=200)
    grade = np.arange(4)
    expected_error = P @ np.abs(grade[:, None] - grade)
    np.testing.assert_allclose(expected_error[np.arange(200), decide(P, "median")], expected_error.min(axis=1))
    np.testing.assert_array_equal(decide(P, 1 - np.eye(4)), decide(P, "mode"))
    costs = np.random.default_rng(1).uniform(size=(4, 4))
    by_hand = [min(range(4), key=lambda j: sum(p[i] * costs[i, j] for i in range(4))) for p in P]
    np.testing.assert_array_equal(decide(P, costs), by_hand)


@pytest.fixture(scope="module")
def skewed():
    """Grades of very different frequency, where the margin's own thresholds serve no metric well."""
    X, y = load_diabetes(return_X_y=True)
    return X / X.std(axis=0), np.searchsorted(np.quantile(y, [0.5, 0.85, 0.95]), y)


def test_moved_thresholds_are_better_on_new_rows(skewed):
    X, y = skewed
    plain, tuned, median = [], [], []
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        inner = FixedMarginClassifier(C=0.1, class_weight="balanced")
        for answers, model in (
            (plain, inner),
            (tuned, TunedThresholdOrdinal(inner)),
            (median, OrdinalCalibrator(inner, decision="median")),
        ):
            answers.append(mean_absolute_rank_error(y[test], model.fit(X[train], y[train]).predict(X[test])))
    assert np.mean(tuned) < 0.9 * np.mean(plain)
    assert np.mean(median) < 0.9 * np.mean(plain)


def test_it_keeps_the_score_line_and_its_labels(skewed):
    X, y = skewed
    names = np.array(["none", "mild", "severe", "worst"])
    model = TunedThresholdOrdinal(ConvexHullRanker(classes=names.tolist()), cv=3).fit(X, names[y])
    assert model.classes_.tolist() == names.tolist()
    np.testing.assert_array_equal(model.score_samples(X), model.estimator_.score_samples(X))
    codes = np.searchsorted(model.thresholds_, model.score_samples(X))
    np.testing.assert_array_equal(model.predict(X), names[codes])


def test_weights_are_repetition(skewed):
    X, y = skewed[0][:90], discretize(load_diabetes().target, 3)[:90]
    weights = np.random.default_rng(0).integers(0, 4, 90)
    twice, fold = np.repeat(np.arange(90), weights), np.arange(90) % 3
    splits = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(3)]
    repeated = [(np.flatnonzero(fold[twice] != k), np.flatnonzero(fold[twice] == k)) for k in range(3)]
    inner = FixedMarginClassifier(tol=1e-10)
    weighted = TunedThresholdOrdinal(inner, cv=splits).fit(X, y, sample_weight=weights)
    plain = TunedThresholdOrdinal(inner, cv=repeated).fit(X[twice], y[twice])
    np.testing.assert_allclose(weighted.thresholds_, plain.thresholds_, rtol=1e-5)
    assert weighted.best_score_ == pytest.approx(plain.best_score_)


def test_costs_that_do_not_fit_are_named(skewed):
    X, y = skewed
    for model in (
        TunedThresholdOrdinal(FixedMarginClassifier(), metric=np.eye(3)),
        OrdinalCalibrator(FixedMarginClassifier(), decision=np.eye(3)),
    ):
        with pytest.raises(HullrankError, match=r"shape \(3, 3\), but there are 4 classes"):
            model.fit(X, y)
    with pytest.raises(HullrankError, match="costs must be finite"):
        TunedThresholdOrdinal(FixedMarginClassifier(), metric=np.full((4, 4), np.nan)).fit(X, y)


def test_folds_of_given_kernel_values_take_rows_and_columns(skewed):
    X, y = skewed
    X, y = X[:90], y[:90]
    named = TunedThresholdOrdinal(FixedMarginClassifier(kernel="rbf", gamma=0.1, tol=1e-9), cv=3).fit(X, y)
    given = TunedThresholdOrdinal(FixedMarginClassifier(kernel="precomputed", tol=1e-9), cv=3)
    K = rbf_kernel(X, gamma=0.1)
    np.testing.assert_allclose(given.fit(K, y).thresholds_, named.thresholds_, atol=1e-4)
    calibrated = OrdinalCalibrator(given.estimator, cv=3).fit(K, y)
    other = OrdinalCalibrator(named.estimator, cv=3).fit(X, y)
    np.testing.assert_allclose(calibrated.predict_proba(K), other.predict_proba(X), atol=1e-4)
