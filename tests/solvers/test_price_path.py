"""Solutions along a path of prices are those of solves from nothing, by their own gaps and against them."""

from dataclasses import replace

import numpy as np
import pytest

from hullrank import ConvexHullRanker, FixedMarginClassifier, SumOfMarginsClassifier, SwappedPairsRanker
from hullrank.solvers import price_path
from hullrank.solvers._paying_rows import PayingRows
from hullrank.solvers.base import Options
from hullrank.solvers.price_path import PricePath, follows

PRICES = np.geomspace(1e-3, 1e3, 9)


def graded(m=3500, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d)) * [1.0, 3.0, 0.2, 1.0] + [0.0, 5.0, 0.0, -2.0]
    value = X @ [1.0, 0.3, -2.0, 0.0] + 0.7 * rng.normal(size=m)
    return X, np.digitize(value, np.quantile(value, [0.2, 0.5, 0.9])), rng.uniform(0.5, 2.0, m)


@pytest.mark.parametrize(
    "model",
    [
        FixedMarginClassifier(1.0),
        FixedMarginClassifier(1.0, thresholds="immediate"),
        FixedMarginClassifier(1.0, loss="logistic"),
        ConvexHullRanker(C=1.0),
        ConvexHullRanker(C=1.0, order="0 < 1, 2 < 3", slack="edge"),
        ConvexHullRanker(C=1.0, loss="logistic"),
    ],
)
def test_every_point_is_graded_as_optimal_on_the_data_as_given(model):
    X, y, weights = graded()
    statement = model.state(X, y, sample_weight=weights)
    assert follows(statement)
    path = PricePath(statement)
    for C in PRICES:
        here = model.set_params(C=C)._restate(statement)
        solution = path.solve(here, Options(tol=1e-6))
        grade = here.grade(solution.point, solution.evidence)
        assert grade.primal - grade.dual <= 1.1e-6 * abs(grade.primal)
        alone = type(model)(**{**model.get_params(), "tol": 1e-9}).fit(X, y, sample_weight=weights)
        assert grade.primal == pytest.approx(alone.certificate_.primal, rel=2e-6)
        np.testing.assert_allclose(solution.point.coef, alone.coef_, atol=3e-3 * np.abs(alone.coef_).max())


@pytest.mark.parametrize("model", [FixedMarginClassifier(1.0), ConvexHullRanker(C=1.0)])
def test_a_squared_hinge_is_solved_without_duality_gaps(model, monkeypatch):
    """Every point ends in a step in which no row changed sides, and has the objective of a solve to the last digits."""
    X, y, weights = graded(seed=3)
    statement = model.state(X, y, sample_weight=weights)
    monkeypatch.setattr(price_path, "newton", None)
    path = PricePath(statement)
    for C in [*PRICES, *PRICES[::-3]]:
        here = model.set_params(C=C)._restate(statement)
        solution = path.solve(here, Options(tol=1e-9))
        grade = here.grade(solution.point, solution.evidence)
        assert grade.primal - grade.dual <= 1.1e-9 * grade.primal


def test_the_gap_of_a_model_bounds_what_a_step_away_from_its_minimum_costs():
    """Moved so little that no row changes sides, the objective rises by no more than the bound."""
    X, y, _ = graded(seed=6)
    model = ConvexHullRanker(C=1.0)
    statement = model.state(X, y)
    path = PricePath(statement)
    path.solve(statement, Options(tol=1e-12))
    problem, paying, point, rng = statement.problem, path.paying, path.point, np.random.default_rng(0)

    def value(w, theta):
        return 0.5 * w @ w + paying.charge(path.scaled.rows.scores(w), theta)

    least = value(point.w, point.theta)
    for size, moves_thresholds in ((1e-8, False), (1e-7, False), (1e-8, True), (1e-7, True)):
        w = point.w + size * rng.normal(size=4)
        theta = problem.raise_thresholds(point.theta + moves_thresholds * size * rng.normal(size=6))
        found = value(w, theta)
        assert paying.n_changed == 0
        moved = replace(point, w=w, theta=theta)
        bound = price_path._gap(problem, paying.terms(problem), moved, found - 0.5 * w @ w, 20.0)
        assert bound >= found - least - 1e-14 * least
        assert bound < 1e-6 * least


def test_steps_that_do_not_settle_are_left_to_duality_gaps(monkeypatch):
    X, y, _ = graded(seed=4)
    model = FixedMarginClassifier(1.0)
    statement = model.state(X, y)
    monkeypatch.setattr(price_path, "_MOST_STEPS", 1)
    solution = PricePath(statement).solve(statement, Options(tol=1e-6))
    grade = statement.grade(solution.point, solution.evidence)
    assert grade.primal - grade.dual <= 1.1e-6 * abs(grade.primal)


@pytest.mark.parametrize("copied", [True, False])
def test_sums_that_are_moved_are_those_of_the_rows_that_pay(copied):
    """Rows change sides by few and by many, on copied rows and on a view of X."""
    X, y, weights = graded(m=600, seed=5)
    statement = FixedMarginClassifier(1.0).state(X, y, sample_weight=weights)
    scaled = PricePath(statement).scaled if copied else price_path.scale_problem(statement)
    problem, layout, rng = statement.problem, scaled.layout, np.random.default_rng(0)
    paying, s, theta = PayingRows(scaled), rng.normal(size=600), np.array([-1.0, 0.0, 1.0])
    Z = scaled.rows.take(np.arange(600)).X
    for size in (1.0, 0.01, 1e-4, 0.3, 0.02, 0.0):
        s, theta = s + size * rng.normal(size=600), theta + size * rng.normal(size=3)
        charge = paying.charge(s, theta)
        before, n_changed = paying.pays.copy(), paying.n_changed
        paying.follow()
        group, sample = layout.row_group, layout.row_sample
        v = np.maximum(problem.offsets(theta)[group] - problem.sign[group] * s[sample], 0.0)
        d = np.where(v > 0, 2 * layout.cost, 0.0)
        assert charge == pytest.approx(layout.cost @ v**2)
        assert n_changed == np.count_nonzero(before != (v > 0))
        np.testing.assert_allclose(paying.multipliers, 2 * v)
        np.testing.assert_allclose(paying.H, Z[sample].T @ (d[:, None] * Z[sample]), rtol=1e-10, atol=1e-10 * d.sum())
        for g in range(problem.n_groups):
            own = group == g
            np.testing.assert_allclose(paying.group_rows[g], d[own] @ Z[sample[own]], atol=1e-10 * d.sum())
            assert paying.group_weight[g] == pytest.approx(d[own].sum(), abs=1e-10 * d.sum())


def test_a_point_does_not_depend_on_the_way_to_it():
    X, y, _ = graded(seed=1)
    model = FixedMarginClassifier(1.0)
    statement = model.state(X, y)
    here = model.set_params(C=3.0)._restate(statement)
    tight = Options(tol=1e-10)
    up, down = PricePath(statement), PricePath(statement)
    for C in (0.01, 0.3):
        up.solve(model.set_params(C=C)._restate(statement), tight)
    for C in (1000.0, 20.0):
        down.solve(model.set_params(C=C)._restate(statement), tight)
    one, other = up.solve(here, tight).point, down.solve(here, tight).point
    np.testing.assert_allclose(one.coef, other.coef, rtol=1e-4, atol=1e-6)


def test_what_newton_steps_cannot_follow_is_left_to_others():
    X, y, _ = graded(seed=2)
    for model in (
        FixedMarginClassifier(1.0, loss="hinge"),
        FixedMarginClassifier(1.0, monotonic_cst=[1, 0, 0, 0]),
        FixedMarginClassifier(1.0, kernel="rbf"),
        ConvexHullRanker(C=1.0, penalty="l1"),
        ConvexHullRanker(C=1.0, intervals="free"),
        SumOfMarginsClassifier(),
        SwappedPairsRanker(1.0),
    ):
        assert not follows(model.state(X, y))
