"""Linear programs in a box agree with SciPy's, and the range of nu and C with HiGHS."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from hullrank.data import Samples
from hullrank.problem.intervals import nu_margin_problem, sum_of_margins_problem
from hullrank.solvers import parameter_range
from hullrank.solvers._box_program import least_in_box

PROBLEMS = [nu_margin_problem(3, 1.0, 1.0), sum_of_margins_problem(3, 1.0)]


@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(5, 300), st.floats(0, 4))
@settings(max_examples=60, deadline=None)
def test_the_least_value_is_that_of_another_solver(seed, p, n, orders):
    rng = np.random.default_rng(seed)
    A, c = rng.normal(size=(p, n)), rng.normal(size=n)
    upper = 10 ** rng.uniform(-orders / 2, orders / 2, n)
    known = linprog(c, A_eq=A, b_eq=np.zeros(p), bounds=np.column_stack([np.zeros(n), upper])).fun
    floor = 1e-3 * float(upper.sum())
    found = least_in_box(c, A, upper, upper, floor)
    if found is None:  # x = 0 may be the only point of the box with A x = 0, which has no way along its inside
        assert n < 20 * p
        return
    assert abs(found.value - known) <= 1e-6 * max(abs(known), floor)
    assert np.minimum(c - found.y @ A, 0.0) @ upper >= known - 1e-6 * max(abs(known), floor)


def test_equations_that_say_the_same_twice_are_left_to_others():
    A = np.ones((2, 30))
    found = least_in_box(np.arange(30.0), A, np.ones(30), np.ones(30), 1.0)
    assert found is None or found.value == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("problem", PROBLEMS, ids=["nu", "sum"])
@pytest.mark.parametrize("noise", [0.0, 0.3, 3.0])
@pytest.mark.parametrize("orders", [0.0, 3.0])
def test_the_collapse_drive_is_that_of_highs(problem, noise, orders, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 3))
    codes = np.digitize(X[:, 0] + noise * rng.normal(size=900), [-0.5, 0.5])
    samples = Samples(X, codes, 10 ** rng.uniform(-orders / 2, orders / 2, 900), 3)
    found = parameter_range.collapse_drive(problem, samples).drive
    high = parameter_range.unbounded_drive(problem, samples)
    rough = parameter_range.collapse_drive(problem, samples, high=high, rough=1e-3).drive
    monkeypatch.setattr(parameter_range, "MANY_MORE", np.inf)
    known = parameter_range.collapse_drive(problem, samples).drive
    assert abs(found - known) <= 1e-6 * samples.weights.sum()
    assert -1e-6 * samples.weights.sum() <= rough - known <= 1.1e-3 * (high - known) + 1e-6 * samples.weights.sum()
