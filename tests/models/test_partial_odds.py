"""Thresholds that depend on a few features: the problem of a conic solver, and a test that keeps its level."""

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from hullrank import FixedMarginClassifier, PartialOddsClassifier
from hullrank.exceptions import HullrankError
from hullrank.metrics.brant import _logistic, proportional_odds_test


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


@pytest.mark.parametrize("noise", [0.2, 0.3, 0.5])
def test_strong_departures_have_small_p_values(noise):
    """The probabilities of separate fits are not nested here."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3000, 3))
    y = (X[:, 0] + noise * rng.logistic(size=3000) > -0.5).astype(int)
    y += (X[:, 1] + noise * rng.logistic(size=3000) > 0) & (y == 1)
    p_values = proportional_odds_test(X, y)
    assert (p_values[:2] < 1e-6).all()
    assert p_values[2] > 0.01
    np.testing.assert_array_equal(PartialOddsClassifier().fit(X, y).features_, [0, 1])


def test_weights_are_repetitions_in_the_test():
    X, y = turning(3, 200)
    times = np.random.default_rng(3).integers(0, 4, len(y))
    weighted = proportional_odds_test(X, y, times.astype(float))
    np.testing.assert_allclose(
        weighted, proportional_odds_test(np.repeat(X, times, axis=0), np.repeat(y, times)), rtol=1e-3
    )
    model = PartialOddsClassifier(FixedMarginClassifier(class_weight="balanced")).fit(X, y, sample_weight=times)
    np.testing.assert_array_equal(model.p_values_, weighted)


def test_classes_without_rows_and_columns_without_news_do_not_count():
    X, y = turning(4, 200)
    plain = proportional_odds_test(X, y)
    np.testing.assert_allclose(proportional_odds_test(X, np.array([1, 3, 7])[y]), plain)
    np.testing.assert_array_equal(proportional_odds_test(np.zeros((200, 2)), y), [1, 1])
    twice = proportional_odds_test(np.column_stack([X, X[:, 1]]), y)
    np.testing.assert_allclose(twice[1], twice[4], rtol=1e-3)
    assert np.isfinite(twice).all()


@pytest.mark.slow
def test_the_variance_of_a_difference_is_that_of_a_bootstrap():
    X, y = turning(5, 1500)
    rng = np.random.default_rng(0)

    def fits(rows):
        Z = np.column_stack([np.ones(len(rows)), X[rows]])
        return [_logistic(Z, y[rows] > j, np.ones(len(rows))) for j in range(2)]

    (_, low), (_, high) = fits(np.arange(1500))
    known = ((high - low) ** 2).sum(axis=0)
    drawn = [fits(rng.integers(0, 1500, 1500)) for _ in range(150)]
    found = np.var([high[0] - low[0] for low, high in drawn], axis=0)
    np.testing.assert_allclose(known, found, rtol=0.3)
