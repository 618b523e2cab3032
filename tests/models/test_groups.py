"""Grades of several raters on one score line: own thresholds per group, one w, as a conic solver finds them."""

from itertools import pairwise

import cvxpy as cp
import numpy as np
import pytest
from sklearn.base import clone

from cases import slow_after
from hullrank import (
    ConvexHullRanker,
    FixedMarginClassifier,
    NuMarginClassifier,
    OrderGraph,
    SumOfMarginsClassifier,
)
from hullrank.exceptions import (
    CollapsedRankingWarning,
    HullrankError,
    InfeasibleParameterError,
    LabelError,
    NotSeparableError,
)
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


def chains(X, y, groups, weights, w, margin):
    """(slack, rules, thresholds) of one chain per group: ``margin`` away from thresholds, or between a_j <= b_j."""
    slack, rules, found, n_rows = 0, [], [], 0.0
    for group in np.unique(groups):
        own = groups == group
        classes = np.unique(y[own])
        a = cp.Variable(len(classes) - 1)
        b = a if margin is not None else cp.Variable(len(classes) - 1)
        rules += [b[j] <= a[j + 1] for j in range(len(classes) - 2)] + ([a <= b] if margin is None else [])
        away = 0.0 if margin is None else margin
        for j, (lo, hi) in enumerate(pairwise(classes)):
            below, above = own & (y == lo), own & (y == hi)
            slack += weights[below] @ cp.pos(X[below] @ w - a[j] + away)
            slack += weights[above] @ cp.pos(b[j] - X[above] @ w + away)
            n_rows += weights[below].sum() + weights[above].sum()
        found.append((a, b))
    return slack, rules, found, n_rows


def nu_optimum(X, y, groups, weights, nu):
    """1/2 |w|^2 - nu rho + (1/N) sum xi with one margin rho for all groups, by Clarabel; and rho."""
    w, rho = cp.Variable(X.shape[1]), cp.Variable(nonneg=True)
    slack, rules, _, n_rows = chains(X, y, groups, weights, w, rho)
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) - nu * rho + slack / n_rows), rules)
    problem.solve(solver="CLARABEL", tol_gap_abs=1e-11, tol_gap_rel=1e-11)
    return problem.value, float(rho.value)


def sum_optimum(X, y, groups, weights, C):
    """The sum of the margins of all groups with |w| <= 1, by Clarabel."""
    w = cp.Variable(X.shape[1])
    slack, rules, found, _ = chains(X, y, groups, weights, w, None)
    margins = sum(cp.sum(a - b) for a, b in found)
    problem = cp.Problem(cp.Minimize(margins + C * slack), [*rules, cp.norm(w) <= 1])
    problem.solve(solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10)
    return problem.value


@pytest.mark.parametrize("seed", slow_after(1, [0, 6, 7]))
@pytest.mark.parametrize("fraction", [0.1, 0.5, 0.9])
def test_nu_margin_is_solved_as_a_conic_solver_does(seed, fraction):
    X, y, groups, weights = raters(seed)
    model = NuMarginClassifier(fraction=fraction, tol=1e-8).fit(X, y, sample_weight=weights, groups=groups)
    expected, rho = nu_optimum(X, y, groups, weights, model.nu_)
    assert model.certificate_.primal == pytest.approx(expected, rel=1e-6)
    assert model.margin_ == pytest.approx(rho, rel=1e-3)
    assert certify(model, X, y, sample_weight=weights, groups=groups).holds
    width = model.group_intervals_[:, 1:, 0] - model.group_intervals_[:, :-1, 1]  # one margin, whatever the group
    np.testing.assert_allclose(width[np.isfinite(width)], 2 * model.margin_, rtol=1e-9)


def test_nu_is_a_share_of_the_rows_of_all_groups():
    """The share of margin errors is at most nu, and that of rows on or inside the margin at least nu."""
    X, y, groups, _ = raters(8)
    model = NuMarginClassifier(fraction=0.5, tol=1e-9).fit(X, y, groups=groups)
    scores, errors, touched, n_rows = model.score_samples(X), 0, 0, 0
    for group, ends in zip(model.groups_, model.group_intervals_, strict=True):
        for c in np.flatnonzero(np.isfinite(ends).any(axis=1)):
            s = scores[(groups == group) & (y == c)]
            for outside in (ends[c, 0] - s, s - ends[c, 1]):
                if np.isfinite(outside).all():
                    n_rows += len(s)
                    errors += np.sum(outside > 1e-5 * model.margin_)
                    touched += np.sum(outside > -1e-5 * model.margin_)
    assert errors / n_rows <= model.nu_ <= touched / n_rows


@pytest.mark.parametrize("weight", ["balanced", None])
@pytest.mark.parametrize("fraction", [0.1, 0.5, 0.9])
def test_sum_of_margins_is_solved_as_a_conic_solver_does(weight, fraction):
    X, y, groups, weights = raters(9, 400)
    if weight is None:  # the rarest lowest or highest class of any group bounds C, so these groups are alike
        groups = np.arange(len(y)) % 3
    given = weights
    model = SumOfMarginsClassifier(fraction=fraction, class_weight=weight, tol=1e-8)
    model.fit(X, y, sample_weight=weights, groups=groups)
    if weight == "balanced":  # every class of every group weighs the same
        cells = [(groups == g) & (y == c) for g in np.unique(groups) for c in np.unique(y[groups == g])]
        factors = [given.sum() / len(cells) / given[cell].sum() for cell in cells]
        weights = given * sum(np.where(cell, factor, 0.0) for cell, factor in zip(cells, factors, strict=True))
    expected = sum_optimum(X, y, groups, weights, model.C_)
    assert model.certificate_.primal == pytest.approx(expected, rel=1e-5)
    assert certify(model, X, y, sample_weight=given, groups=groups).holds


@pytest.mark.parametrize("Model", [NuMarginClassifier, SumOfMarginsClassifier])
def test_the_workable_range_is_that_of_all_groups(Model):
    X, y, _, _ = raters(10, 300)
    groups = np.arange(len(y)) % 3
    name = "nu" if Model is NuMarginClassifier else "C"
    options = {} if Model is NuMarginClassifier else {"class_weight": None}
    edge = getattr(Model(fraction=1.0, **options).fit(X, y, groups=groups), f"{name}_")
    beyond = edge * 1.2 if name == "nu" else edge / 1.2
    with pytest.raises(InfeasibleParameterError, match=f"{name}=.*unbounded"):
        Model(beyond, **options).fit(X, y, groups=groups)
    assert Model(edge, **options).fit(X, y, groups=groups).certificate_.relative_gap <= 1e-6


@pytest.mark.parametrize("Model", [NuMarginClassifier, SumOfMarginsClassifier])
def test_driven_margins_with_kernels_signs_and_one_group(Model):
    X, y, groups, _ = raters(11, 200)
    for options in ({"kernel": "rbf"}, {"monotonic_cst": [1, 1, 0]}):
        model = Model(**options).fit(X, y, groups=groups)
        assert model.certificate_.relative_gap <= 1e-6
        assert certify(model, X, y, groups=groups).holds
    assert model.coef_[1] >= 0
    alone = Model(tol=1e-9).fit(X, y)
    one = Model(tol=1e-9).fit(X, y, groups=np.zeros(len(y)))
    np.testing.assert_allclose(one.coef_, alone.coef_, atol=1e-5)
    np.testing.assert_allclose(one.group_thresholds_[0], alone.thresholds_, atol=1e-5)


@pytest.mark.parametrize("Model", [NuMarginClassifier, SumOfMarginsClassifier])
def test_where_nothing_can_be_ranked_every_group_gets_its_median(Model):
    rng = np.random.default_rng(0)
    half = rng.normal(size=(60, 2))
    X, groups = np.vstack([half, -half]), np.tile(np.repeat(["ann", "bob"], 30), 2)
    y = np.tile(np.where(np.arange(60) < 30, [0, 0, 1, 2] * 15, [0, 1, 2, 2] * 15), 2)  # the same for x and -x
    with pytest.warns(CollapsedRankingWarning):
        model = Model(class_weight=None).fit(X, y, groups=groups)
    predicted = model.predict(X, groups=groups)
    for group in ("ann", "bob"):
        own = np.sort(y[groups == group])
        assert set(predicted[groups == group]) == {own[(len(own) - 1) // 2]}
    assert np.median(y[groups == "ann"]) < np.median(y[groups == "bob"])


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


@pytest.mark.parametrize(
    "model", [FixedMarginClassifier(), NuMarginClassifier(), SumOfMarginsClassifier(), ConvexHullRanker()]
)
def test_a_group_without_weight_is_left_out(model):
    X, y, groups, _ = raters()
    counted = groups != groups[0]
    weights = counted * 1.0
    given = clone(model).fit(X, y, groups=groups, sample_weight=weights)
    alone = clone(model).fit(X[counted], y[counted], groups=groups[counted])
    np.testing.assert_array_equal(given.groups_, alone.groups_)
    np.testing.assert_array_equal(given.group_thresholds_, alone.group_thresholds_)
    np.testing.assert_array_equal(given.thresholds_for(groups[:1]), given.thresholds_[None])  # as of unknown groups
    assert certify(given, X, y, sample_weight=weights, groups=groups).holds


def test_a_score_takes_groups():
    X, y, groups, weights = raters()
    model = FixedMarginClassifier().fit(X, y, groups=groups)
    right = model.predict(X, groups=groups) == y
    assert model.score(X, y, groups=groups) == right.mean()
    assert model.score(X, y, weights, groups=groups) == pytest.approx(np.average(right, weights=weights))
    assert model.score(X, y) == np.mean(model.predict(X) == y)
    with pytest.raises(HullrankError, match="fitted without groups"):
        FixedMarginClassifier().fit(X, y).score(X, y, groups=groups)


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
    with pytest.raises(HullrankError, match=r"groups has shape \(150, 2\); pass one group per row"):
        FixedMarginClassifier().fit(X, y, groups=np.column_stack([groups, groups]))
    with pytest.raises(HullrankError, match="fitted without groups"):
        FixedMarginClassifier().fit(X, y).predict(X, groups=groups)
    with pytest.raises(LabelError, match="no group has two classes"):
        FixedMarginClassifier().fit(X, y, groups=y)
    with pytest.raises(LabelError, match="no group has two classes"):
        NuMarginClassifier().fit(X, y, groups=y)
    partial = ConvexHullRanker("0 < 1, 2 < 3").fit(X, y, groups=groups)
    with pytest.raises(HullrankError, match="partial order"):
        partial.predict_class(X, groups=groups)
    with pytest.raises(NotSeparableError, match="cannot be placed below row"):
        FixedMarginClassifier(C=np.inf).fit(X, y, groups=groups)
