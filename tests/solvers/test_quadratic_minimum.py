"""The minimum of a quadratic model under order constraints, against SciPy's SLSQP and the interior-point method."""

import numpy as np
import pytest
from scipy.optimize import minimize

from hullrank.problem.intervals import fixed_margin_problem, hull_problem, nu_margin_problem, sum_of_margins_problem
from hullrank.solvers import _merged_thresholds, _quadratic_minimum
from hullrank.solvers._linear_system import SingularSystemError
from hullrank.solvers._quadratic_minimum import active_set_minimum, complementary
from hullrank.solvers.interior_point import Iterate, Settled

PROBLEMS = {
    "fixed": fixed_margin_problem(5, 1.0, loss="logistic"),
    "hull": hull_problem(4, [(0, 1), (1, 2), (2, 3)], 1.0, loss="squared_hinge"),
    "diamond": hull_problem(4, [(0, 1), (0, 2), (1, 3), (2, 3)], 1.0, loss="logistic"),
    "nu": nu_margin_problem(4, 20.0, 1.0),
    "sum of margins": sum_of_margins_problem(4, 1.0),
}


def model(problem, seed, n=3, m=40):
    """A convex quadratic like that of rows: H = sum d xx', group_rows = sum d x, group_weight = sum d, by group."""
    rng = np.random.default_rng(seed)
    H, rows, weight = np.zeros((n, n)), [], []
    for _ in range(problem.n_groups):
        X, d = rng.normal(size=(m, n)), rng.random(m)
        H += (X * d[:, None]).T @ X
        rows.append(d @ X)
        weight.append(d.sum())
    linear = rng.normal(size=n) * 9, rng.normal(size=len(problem.linear)) * 30
    return Settled(*linear, H, np.array(rows), np.array(weight))


def value(problem, terms, w, theta):
    """The penalty and half of sum d (sign theta + rho - sign w.x)^2, with the linear terms of problem and rows."""
    form = w @ terms.H @ w / 2
    for sign, j, rows, weight in zip(
        problem.sign, problem.threshold, terms.group_rows, terms.group_weight, strict=True
    ):
        o = sign * theta[j] + (theta[-1] if problem.has_rho else 0.0)
        form += weight * o * o / 2 - sign * o * (rows @ w)
    return w @ w / 2 + form + terms.linear_w @ w + (problem.linear + terms.linear_theta) @ theta


@pytest.mark.parametrize("most", [200, 0])
@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("seed", range(4))
def test_the_minimum_is_that_of_another_solver(name, seed, most, monkeypatch):
    """With a matrix over all order constraints, and with thresholds merged where these are more than ``most``."""
    monkeypatch.setattr(_quadratic_minimum, "MOST_CONSTRAINTS", most)
    problem = PROBLEMS[name]
    terms, q = model(problem, seed), len(problem.linear)
    start = problem.raise_thresholds(np.zeros(q), room=0.1)
    found = active_set_minimum(problem, terms, Iterate(np.zeros(3), start, np.empty(0), np.ones(len(problem.up))))
    peer = minimize(
        lambda x: value(problem, terms, x[:3], x[3:]), np.append(np.zeros(3), start), method="SLSQP",
        constraints={"type": "ineq", "fun": lambda x: problem.order_gaps(x[3:]) - problem.gap},
        options={"ftol": 1e-14, "maxiter": 500},
    )  # fmt: skip
    if most == 0 and problem.has_rho and abs(peer.x[-1]) < 1e-6:  # merging leaves a margin of 0 to another method
        assert found is None
        return
    gaps = problem.order_gaps(found.theta) - problem.gap
    assert gaps.min() >= -1e-12
    assert found.order_multipliers.min() >= 0
    np.testing.assert_allclose(found.order_multipliers * gaps, 0, atol=1e-9)
    best = value(problem, terms, found.w, found.theta)
    assert best <= peer.fun + 1e-6 * abs(peer.fun)
    np.testing.assert_allclose(np.append(found.w, found.theta), peer.x, atol=1e-3)


def test_binding_constraints_were_among_them():
    """The laws above would hold trivially if nothing ever bound."""
    problem = PROBLEMS["fixed"]
    bound = [
        active_set_minimum(
            problem, model(problem, seed), Iterate(np.zeros(3), np.arange(4.0), np.empty(0), np.zeros(3))
        ).order_multipliers.any()
        for seed in range(4)
    ]
    assert any(bound)


def test_merged_thresholds_begin_with_the_constraints_that_were_held(monkeypatch):
    monkeypatch.setattr(_quadratic_minimum, "MOST_CONSTRAINTS", 0)
    problem = PROBLEMS["hull"]
    terms, point = model(problem, 0), Iterate(np.zeros(3), np.arange(6.0), np.empty(0), np.zeros(len(problem.up)))
    first = active_set_minimum(problem, terms, point)
    assert first.order_multipliers.any()
    monkeypatch.setattr(_merged_thresholds, "MOST_TURNS", 1)
    assert active_set_minimum(problem, terms, point) is None  # one turn is not enough from nothing
    again = active_set_minimum(problem, terms, first)
    np.testing.assert_allclose(again.theta, first.theta, rtol=1e-9, atol=1e-12)


def test_a_circle_of_held_constraints_is_left_to_another_method(monkeypatch):
    monkeypatch.setattr(_quadratic_minimum, "MOST_CONSTRAINTS", 0)
    problem = PROBLEMS["diamond"]
    terms = model(problem, 0)
    terms.linear_theta[:] = [-300, 0, 0, 0, 0, 300]  # the lowest class goes up and the highest down
    point = Iterate(np.zeros(3), np.zeros(len(problem.linear)), np.empty(0), np.zeros(len(problem.up)))
    assert active_set_minimum(problem, terms, point) is None


def test_an_l1_penalty_is_left_to_another_method():
    problem = hull_problem(3, [(0, 1), (1, 2)], 1.0, penalty="l1")
    point = Iterate(np.zeros(3), np.arange(4.0), np.empty(0), np.zeros(3))
    assert active_set_minimum(problem, model(problem, 0), point) is None


@pytest.mark.parametrize("name", ["nu", "sum of margins"])
def test_a_driven_threshold_that_no_row_weighs_on_has_no_minimum(name):
    problem = PROBLEMS[name]
    terms = model(problem, 0)
    terms.group_weight[problem.threshold == 1] = 0.0
    point = Iterate(np.zeros(3), np.zeros(len(problem.linear)), np.empty(0), np.zeros(len(problem.up)))
    with pytest.raises(SingularSystemError):
        active_set_minimum(problem, terms, point)


def test_constraints_that_say_the_same_share_their_multiplier():
    t = complementary(np.ones((2, 2)), np.array([-1.0, -1.0]), np.ones(2, dtype=bool))
    np.testing.assert_allclose(t, 0.5)


def test_an_active_set_that_does_not_settle_is_left_to_another_method():
    """A matrix that is not positive semidefinite makes the method go round in circles."""
    assert complementary(np.array([[0.1, -2.0], [-2.0, 0.1]]), np.array([-1.0, -1.0]), np.zeros(2, dtype=bool)) is None
    assert complementary(np.zeros((2, 2)), np.array([-1.0, -1.0]), np.ones(2, dtype=bool)) is None
