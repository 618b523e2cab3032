"""Thresholds that depend on a few features: the problem of a conic solver, and a test that keeps its level."""

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from hullrank import FixedMarginClassifier, PartialOddsClassifier
from hullrank.exceptions import HullrankError
from hullrank.metrics.brant import proportional_odds_test


def turning(seed=0, n=300):
    """Three classes; the second feature counts one way at the first threshold and the other way at the second."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    low = X[:, 0] + X[:, 1] + 0.4 * rng.logistic(size=n) > 0
    return X, low.astype(int) + (low & (X[:, 0] - X[:, 1] + 0.4 * rng.logistic(size=n) > 0))


def proportional(seed, n=300, n_classes=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, np.digitize(X @ [1.0, -0.5, 0.3, 0.0] + rng.logistic(size=n), np.linspace(-1.5, 1.5, n_classes - 1))


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_the_problem_is_that_of_a_conic_solver(loss):
    X, y = turning(1, 80)
    weights = np.random.default_rng(0).uniform(0.5, 2, 80)
    inner = FixedMarginClassifier(C=0.7, loss=loss, tol=1e-9)
    model = PartialOddsClassifier(inner, features=[1, 2]).fit(X, y, sample_weight=weights)
    w, V, b = cp.Variable(4), cp.Variable((2, 2)), cp.Variable(2)
    charge = 0
    for j in range(2):
        z = cp.multiply(np.where(y > j, 1.0, -1.0), X @ w + X[:, [1, 2]] @ V[j] - b[j])
        lost = {"hinge": cp.pos(1 - z), "squared_hinge": cp.square(cp.pos(1 - z)), "logistic": cp.logistic(-z)}[loss]
        charge += weights @ lost
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + 0.5 * cp.sum_squares(V) + 0.7 * charge))
    problem.solve(solver="CLARABEL")
    assert model.certificate_.primal == pytest.approx(problem.value, rel=1e-6)
    assert model.certificate_.relative_gap <= 1e-9
    np.testing.assert_allclose(model.departures_, V.value, atol=2e-3)
    expected = X @ w.value + X[:, [1, 2]] @ V.value[1] - b.value[1]
    np.testing.assert_allclose(model.threshold_scores(X)[:, 1], expected, atol=5e-3)


def test_without_free_features_it_is_all_thresholds():
    X, y = proportional(0)
    model = PartialOddsClassifier(FixedMarginClassifier(C=0.5, tol=1e-9), features=[]).fit(X, y)
    plain = FixedMarginClassifier(C=0.5, thresholds="all", tol=1e-9).fit(X, y)
    assert model.certificate_.primal == pytest.approx(plain.certificate_.primal, rel=1e-7)
    np.testing.assert_allclose(model.coef_, plain.coef_, atol=1e-3)
    assert np.mean(model.predict(X) == plain.predict(X)) > 0.98


@pytest.mark.slow
def test_the_test_keeps_its_level_and_finds_what_turns():
    p_values = np.concatenate([proportional_odds_test(*proportional(seed, 250)) for seed in range(60)])
    assert 0.02 <= np.mean(p_values <= 0.05) <= 0.09
    assert abs(np.median(p_values) - 0.5) < 0.1
    for seed in range(5):
        X, y = turning(seed, 800)
        freed = PartialOddsClassifier().fit(X, y).features_
        assert 1 in freed
        assert not {2, 3} & set(freed.tolist())  # these say nothing at any threshold


def test_free_features_predict_better_where_they_are_needed():
    X, y = turning(7, 1500)
    train, test = np.arange(1500) < 700, np.arange(1500) >= 700
    inner = FixedMarginClassifier(loss="logistic", thresholds="all")
    free = PartialOddsClassifier(inner).fit(X[train], y[train]).score(X[test], y[test])
    assert free > inner.fit(X[train], y[train]).score(X[test], y[test]) + 0.05


@pytest.mark.slow
@parametrize_with_checks([PartialOddsClassifier(FixedMarginClassifier(tol=1e-12), features=[])])
@pytest.mark.filterwarnings("ignore::hullrank.exceptions.UndeclaredOrderWarning")
@pytest.mark.filterwarnings("ignore::hullrank.exceptions.CollapsedRankingWarning")
def test_estimator_follows_scikit_learn(estimator, check):
    check(estimator)


def test_errors_say_what_to_do():
    X, y = turning()
    with pytest.raises(HullrankError, match="from 0 to 3"):
        PartialOddsClassifier(features=[9]).fit(X, y)
    table = pd.DataFrame(X, columns=list("abcd"))
    with pytest.raises(HullrankError, match=r"from 0 to 3 or names among 'a', 'b', 'c', 'd', got \['z'\]"):
        PartialOddsClassifier(features=["z"]).fit(table, y)
    named, numbered = (PartialOddsClassifier(features=some).fit(table, y) for some in (["b", "d"], [3, 1]))
    np.testing.assert_array_equal(named.features_, [1, 3])
    np.testing.assert_array_equal(named.coef_, numbered.coef_)
    with pytest.raises(HullrankError, match="linear FixedMarginClassifier"):
        PartialOddsClassifier(FixedMarginClassifier(kernel="rbf")).fit(X, y)


def test_weights_are_repetitions_where_classes_are_balanced():
    X, y = turning(2, 120)
    times = np.random.default_rng(3).integers(0, 3, len(y))
    inner = FixedMarginClassifier(class_weight="balanced", tol=1e-10)
    one = PartialOddsClassifier(inner, features=[1]).fit(X, y, sample_weight=times)
    two = PartialOddsClassifier(inner, features=[1]).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert one.certificate_.primal == pytest.approx(two.certificate_.primal, rel=1e-8)
