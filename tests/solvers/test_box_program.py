"""Linear programs in a box agree with SciPy's, and the range of nu and C with HiGHS."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse as sp
from scipy.optimize import linprog

from hullrank import NuMarginClassifier, SumOfMarginsClassifier
from hullrank.data import Samples
from hullrank.problem.intervals import nu_margin_problem, sum_of_margins_problem
from hullrank.problem.signs import Signs
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
    found, y = least_in_box(c, A, upper, floor)
    if found is None:  # x = 0 may be the only point of the box with A x = 0, which has no way along its inside
        assert n < 20 * p
        return
    assert abs(found - known) <= 1e-6 * max(abs(known), floor)
    bound = np.minimum(c - y @ A, 0.0) @ upper  # no x of the box with A x = 0 has less
    assert bound <= known + 1e-9 * max(abs(known), floor)
    assert abs(found - bound) <= 1e-6 * max(abs(known), floor)


def test_equations_that_say_the_same_twice_are_left_to_others():
    A = np.ones((2, 30))
    assert least_in_box(np.arange(30.0), A, np.ones(30), 1.0)[0] in (None, pytest.approx(0.0, abs=1e-6))


@pytest.mark.parametrize("problem", PROBLEMS, ids=["nu", "sum"])
@pytest.mark.parametrize("noise", [0.0, 0.3, 3.0])
@pytest.mark.parametrize("orders", [0.0, 3.0])
def test_the_collapse_drive_is_that_of_highs(problem, noise, orders, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 3))
    codes = np.digitize(X[:, 0] + noise * rng.normal(size=900), [-0.5, 0.5])
    samples = Samples(X, codes, 10 ** rng.uniform(-orders / 2, orders / 2, 900), 3)
    found = parameter_range.collapse_drive(problem, samples)
    monkeypatch.setattr(parameter_range, "MANY_MORE", np.inf)
    known = parameter_range.collapse_drive(problem, samples)
    assert abs(found - known) <= 1e-6 * samples.weights.sum()


@pytest.mark.parametrize("form", ["dense", "sparse", "signs", "far off"])
@pytest.mark.parametrize("problem", PROBLEMS, ids=["nu", "sum"])
def test_a_drive_from_some_rows_holds_for_all(problem, form, monkeypatch):
    """Beyond it w = 0 is not optimal, whatever the rows that were left out say; it lies little above the exact one."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(900, 4)) + 100.0 * (form == "far off")
        y = np.digitize(
            X @ [1.0, 2.0, 0.0, -1.0] - 200.0 * (form == "far off") + 1.5 * rng.normal(size=900), [-1.0, 1.0]
        )
        samples = Samples(sp.csr_array(X) if form == "sparse" else X, y, rng.uniform(0.5, 2.0, 900), 3)
        signs = Signs(np.array([1.0, 1.0, 0.0, 0.0])) if form == "signs" else None
        exact = parameter_range.collapse_drive(problem, samples, signs)
        with monkeypatch.context() as patch:
            patch.setattr(parameter_range, "MOST_ROWS", 250)
            found = parameter_range.collapse_drive(problem, samples, signs)
        assert exact * (1 - 1e-6) <= found <= 1.2 * exact  # of 225 rows


@pytest.mark.parametrize("fraction", [0.0, 0.05, None, 1.0])
def test_no_fraction_collapses_many_rows(fraction):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 6))
    y = np.digitize(X @ rng.normal(size=6) + 2 * rng.normal(size=6000), [-2.0, 0.0, 2.0])
    for model in (NuMarginClassifier(fraction=fraction), SumOfMarginsClassifier(fraction=fraction)):
        assert np.ptp(model.fit(X, y).score_samples(X)) > 0
