"""Solutions along a path of prices are those of solves from nothing, by their own gaps and against them."""

import numpy as np
import pytest

from hullrank import ConvexHullRanker, FixedMarginClassifier, SumOfMarginsClassifier, SwappedPairsRanker
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
