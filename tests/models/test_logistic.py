"""The logistic charge: equal to scikit-learn with two classes, to mord and to a conic solver with more."""

import cvxpy as cp
import numpy as np
import pytest
import sklearn
from sklearn.linear_model import LogisticRegression

from hullrank import ConvexHullRanker, FixedMarginClassifier, SwappedPairsRanker


def data(m=120, K=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 3))
    score = X @ [1.0, -0.5, 0.2] + rng.normal(size=m)
    return X, np.argsort(np.argsort(score)) * K // m, rng.uniform(0.5, 2.0, m)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("thresholds", ["immediate", "all"])
def test_two_classes_are_logistic_regression(C, thresholds):
    X, y, weights = data(K=2)
    ours = FixedMarginClassifier(C, loss="logistic", thresholds=thresholds, tol=1e-10).fit(X, y, sample_weight=weights)
    theirs = LogisticRegression(C=C, tol=1e-10, max_iter=1000).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(ours.coef_, theirs.coef_[0], atol=1e-5)
    np.testing.assert_allclose(ours.thresholds_, -theirs.intercept_, atol=1e-5)


def test_two_classes_with_few_features_are_logistic_regression_too():
    X, y, _ = data(K=2)
    ours = ConvexHullRanker(C=0.05, loss="logistic", penalty="l1", tol=1e-10).fit(X, y)
    named = {"penalty": "elasticnet"} if sklearn.__version__.startswith("1.7.") else {}  # 1.8 has l1_ratio alone
    theirs = LogisticRegression(C=0.05, l1_ratio=1, solver="saga", tol=1e-10, max_iter=100_000, **named).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_[0], atol=1e-4)
    assert np.array_equal(ours.coef_ == 0, theirs.coef_[0] == 0)


def conic(X, y, weights, C, thresholds, ordered):
    K = y.max() + 1
    w, b = cp.Variable(X.shape[1]), cp.Variable(K - 1)
    s, total = X @ w, 0.5 * cp.sum_squares(w)
    for j in range(K - 1):
        for sign, held in (
            (-1, y <= j if thresholds == "all" else y == j),
            (1, y > j if thresholds == "all" else y == j + 1),
        ):
            k = np.flatnonzero(held)
            total = total + C * weights[k] @ cp.logistic(-sign * (s[k] - b[j]))
    problem = cp.Problem(cp.Minimize(total), [b[1:] >= b[:-1]] if ordered else [])
    problem.solve(cp.CLARABEL)
    return problem.value


@pytest.mark.parametrize("thresholds", ["immediate", "all"])
@pytest.mark.parametrize("kind", ["plain", "kernel"])
def test_more_classes_equal_a_conic_solver(thresholds, kind):
    X, y, weights = data(m=60)
    if kind == "plain":
        model = FixedMarginClassifier(0.7, loss="logistic", thresholds=thresholds)
    else:
        model = FixedMarginClassifier(0.7, loss="logistic", thresholds=thresholds, kernel="poly", degree=1, gamma=1.0)
    model.fit(X, y, sample_weight=weights)
    expected = conic(X, y, weights, 0.7, thresholds, ordered=True)
    assert model.certificate_.primal == pytest.approx(expected, rel=1e-6)
    assert model.certificate_.dual <= expected * (1 + 1e-7)


def test_hulls_of_a_chain_are_immediate_thresholds():
    X, y, weights = data()
    hull = ConvexHullRanker(C=2.0, loss="logistic", tol=1e-9).fit(X, y, sample_weight=weights)
    fixed = FixedMarginClassifier(2.0, loss="logistic", thresholds="immediate", tol=1e-9)
    fixed.fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(hull.coef_, fixed.coef_, atol=1e-6)
    np.testing.assert_allclose(hull.intervals_[1:, 0], fixed.thresholds_, atol=1e-6)


@pytest.mark.parametrize("listed", [0, 10**6])
def test_pairs_equal_logistic_regression_on_differences(listed, monkeypatch):
    monkeypatch.setattr("hullrank.problem.pairs.LISTED_PAIRS", listed)
    X, y, _ = data()
    model = SwappedPairsRanker(C=300.0, loss="logistic", tol=1e-10).fit(X, y)
    i, j = np.nonzero(y[:, None] > y)
    D = np.concatenate([X[i] - X[j], X[j] - X[i]])
    labels = np.repeat([1, 0], len(i))
    theirs = LogisticRegression(C=300.0 / (2 * len(i)), fit_intercept=False, tol=1e-10).fit(D, labels)
    np.testing.assert_allclose(model.coef_, theirs.coef_[0], atol=1e-5)


@pytest.mark.parametrize(("thresholds", "name"), [("all", "LogisticAT"), ("immediate", "LogisticIT")])
def test_equal_to_mord(thresholds, name):
    mord = pytest.importorskip("mord")
    X, y, _ = data(m=300)
    theirs = getattr(mord, name)(alpha=1.0).fit(X, y)
    ours = FixedMarginClassifier(1.0, loss="logistic", thresholds=thresholds, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)
    np.testing.assert_allclose(ours.thresholds_, theirs.theta_, atol=1e-3)
