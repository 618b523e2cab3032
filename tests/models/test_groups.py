"""Grades of several raters on one score line: own thresholds per group, one w, as a conic solver finds them."""

from itertools import pairwise

import cvxpy as cp
import numpy as np
import pytest

from hullrank import ConvexHullRanker, FixedMarginClassifier, NuMarginClassifier, OrderGraph
from hullrank.exceptions import HullrankError, LabelError, NotSeparableError
from hullrank.io import load, save
from hullrank.problem.grouped_classes import order_among
from hullrank.reports.certifying import certify


def raters(seed=0, n=150):
    """Rows, grades 0..3 of three raters with thresholds of their own (the last never uses grade 1), raters, weights."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    value = X @ [1.0, -1.0, 0.5] + 0.3 * rng.normal(size=n)
    rater = rng.integers(0, 3, n)
    shift = np.array([-2.0, 0.0, 2.0])[rater]
    y = np.digitize(value + shift, [-1.0, 0.0, 1.0])
    y[(rater == 2) & (y == 1)] = 2
    return X, y, np.array(["ann", "bob", "cy"])[rater], rng.uniform(0.5, 2, n)


def fixed_margin_optimum(X, y, groups, weights, C, squared):
    """Immediate thresholds with one chain of them per group, by Clarabel."""
    w, cost, rules = cp.Variable(X.shape[1]), 0, []
    for group in np.unique(groups):
        own = groups == group
        classes = np.unique(y[own])
        b = cp.Variable(len(classes) - 1)
        rules += [b[j] <= b[j + 1] for j in range(len(classes) - 2)]
        for j, (lo, hi) in enumerate(pairwise(classes)):
            for rows, sign in ((own & (y == lo), -1), (own & (y == hi), 1)):
                slack = cp.pos(1 - sign * (X[rows] @ w - b[j]))
                cost += weights[rows] @ (cp.square(slack) if squared else slack)
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + C * cost), rules)
    problem.solve(solver="CLARABEL")
    return problem.value


def hull_optimum(X, y, groups, weights, C, edges_of):
    """Proper intervals, squared hinge, one order graph per group, by Clarabel."""
    w, cost, rules = cp.Variable(X.shape[1]), 0, []
    for group in np.unique(groups):
        own = groups == group
        L, U = cp.Variable(4), cp.Variable(4)
        edges = edges_of(np.unique(y[own]))
        rules += [L[hi] - U[lo] >= 1 for lo, hi in edges]
        for c in np.unique(y[own]):
            s, has = X[own & (y == c)] @ w, ({hi for _, hi in edges}, {lo for lo, _ in edges})
            below = cp.pos(L[c] - s) if c in has[0] else 0
            above = cp.pos(s - U[c]) if c in has[1] else 0
            rules += [L[c] <= U[c]] if c in has[0] and c in has[1] else []
            if c in has[0] or c in has[1]:
                cost += weights[own & (y == c)] @ cp.square(below + above)
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + C * cost), rules)
    problem.solve(solver="CLARABEL")
    return problem.value


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_fixed_margin_is_solved_as_a_conic_solver_does(loss):
    X, y, groups, weights = raters()
    model = FixedMarginClassifier(C=0.5, loss=loss, thresholds="immediate", tol=1e-9)
    model.fit(X, y, sample_weight=weights, groups=groups)
    expected = fixed_margin_optimum(X, y, groups, weights, 0.5, loss == "squared_hinge")
    assert model.certificate_.primal == pytest.approx(expected, rel=1e-6)
    assert model.certificate_.relative_gap <= 1e-9
    assert certify(model, X, y, sample_weight=weights, groups=groups).holds


@pytest.mark.parametrize("order", ["chain", OrderGraph.from_edges([(0, 1), (0, 2), (1, 3), (2, 3)])])
def test_hull_ranking_is_solved_as_a_conic_solver_does(order):
    X, y, groups, weights = raters(1)

    def edges_of(present):
        if order == "chain":
            return list(pairwise(present))
        return order_among(order, present).edges

    model = ConvexHullRanker(order, C=0.5, loss="squared_hinge", tol=1e-9)
    model.fit(X, y, sample_weight=weights, groups=groups)
    expected = hull_optimum(X, y, groups, weights, 0.5, edges_of)
    assert model.certificate_.primal == pytest.approx(expected, rel=1e-6)
    assert certify(model, X, y, sample_weight=weights, groups=groups).holds


@pytest.mark.parametrize(
    "model",
    [
        FixedMarginClassifier(C=1.0, thresholds="all", loss="logistic"),
        FixedMarginClassifier(C=1.0, thresholds="immediate", kernel="rbf"),
        ConvexHullRanker(C=1.0, slack="edge", order="full"),
        ConvexHullRanker(C=1.0, intervals="free"),
        ConvexHullRanker(C=1.0, kernel="rbf"),
        ConvexHullRanker(C=1.0, penalty="l1", loss="hinge"),
    ],
)
def test_every_variant_is_certified(model):
    X, y, groups, _ = raters(2)
    model.fit(X, y, groups=groups)
    assert model.certificate_.relative_gap <= 1e-6
    assert certify(model, X, y, groups=groups).holds
    counts = [np.bincount(y[groups == g]) for g in np.unique(groups)]
    assert model.certificate_.n_order_constraints == sum((c.sum() ** 2 - c @ c) // 2 for c in counts)


def test_one_group_is_no_group():
    X, y, _, _ = raters(3)
    for model in (FixedMarginClassifier(C=0.5, tol=1e-9), ConvexHullRanker(C=0.5, tol=1e-9)):
        alone = model.fit(X, y).coef_
        np.testing.assert_allclose(model.fit(X, y, groups=np.zeros(len(y))).coef_, alone, atol=1e-6)
        np.testing.assert_allclose(model.group_thresholds_[0], model.thresholds_)
        np.testing.assert_allclose(model.group_intervals_[0], model.intervals_, rtol=1e-12)


def test_own_thresholds_tell_what_common_ones_cannot():
    X, y, groups, _ = raters(4, 600)
    train, test = np.arange(600) < 300, np.arange(600) >= 300
    plain = FixedMarginClassifier(C=1.0, loss="squared_hinge").fit(X[train], y[train])
    own = FixedMarginClassifier(C=1.0, loss="squared_hinge").fit(X[train], y[train], groups=groups[train])
    right = np.mean(own.predict(X[test], groups=groups[test]) == y[test])
    assert right > np.mean(plain.predict(X[test]) == y[test]) + 0.2
    assert own.groups_.tolist() == ["ann", "bob", "cy"]
    assert set(own.predict(X[test][groups[test] == "cy"], groups=groups[test][groups[test] == "cy"])) <= {0, 2, 3}
    hull = ConvexHullRanker(C=1.0).fit(X[train], y[train], groups=groups[train])
    assert np.mean(hull.predict_class(X[test], groups=groups[test]) == y[test]) > right - 0.1
    unseen = own.predict(X[test], groups=np.full(300, "dee"))
    np.testing.assert_array_equal(unseen, own.predict(X[test]))


def test_a_group_of_one_class_says_nothing():
    X, y, groups, _ = raters(5)
    lonely = np.where(np.arange(len(y)) < 10, "eve", groups)
    y = np.where(lonely == "eve", 3, y)
    kept = lonely != "eve"
    for model in (FixedMarginClassifier(C=0.5, tol=1e-9), ConvexHullRanker(C=0.5, tol=1e-9)):
        without = model.fit(X[kept], y[kept], groups=lonely[kept]).coef_
        np.testing.assert_allclose(model.fit(X, y, groups=lonely).coef_, without, atol=1e-6)


def test_model_files_keep_groups(tmp_path):
    X, y, groups, _ = raters()
    model = FixedMarginClassifier().fit(X, y, groups=groups)
    save(model, tmp_path / "m.hull")
    again = load(tmp_path / "m.hull")
    np.testing.assert_array_equal(again.predict(X, groups=groups), model.predict(X, groups=groups))


def test_errors_say_what_to_do():
    X, y, groups, _ = raters()
    with pytest.raises(HullrankError, match="groups has 3 entries, but there are 150 rows"):
        FixedMarginClassifier().fit(X, y, groups=[1, 2, 3])
    with pytest.raises(HullrankError, match="fitted without groups"):
        FixedMarginClassifier().fit(X, y).predict(X, groups=groups)
    with pytest.raises(LabelError, match="no group has two classes"):
        FixedMarginClassifier().fit(X, y, groups=y)
    with pytest.raises(TypeError, match="groups"):
        NuMarginClassifier().fit(X, y, groups=groups)
    partial = ConvexHullRanker("0 < 1, 2 < 3").fit(X, y, groups=groups)
    with pytest.raises(HullrankError, match="partial order"):
        partial.predict_class(X, groups=groups)
    with pytest.raises(NotSeparableError, match="cannot be placed below row"):
        FixedMarginClassifier(C=np.inf).fit(X, y, groups=groups)
