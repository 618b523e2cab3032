"""Linear programs in a box agree with SciPy's, and the range of nu and C with HiGHS."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse as sp
from scipy.optimize import linprog

from hullrank import NuMarginClassifier, SumOfMarginsClassifier
from hullrank.data import Samples
from hullrank.exceptions import HullrankError
from hullrank.problem.intervals import nu_margin_problem, sum_of_margins_problem
from hullrank.problem.signs import Signs
from hullrank.solvers import parameter_range
from hullrank.solvers._box_program import multipliers_in_box
from hullrank.solvers.base import Options
from hullrank.solvers.solve import solve

ROUGH = (1e-3, 0.02)  # shares of the workable range
PROBLEMS = [nu_margin_problem(3, 1.0, 1.0), sum_of_margins_problem(3, 1.0)]


@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(5, 300), st.floats(0, 4))
@settings(max_examples=60, deadline=None)
def test_the_least_value_is_that_of_another_solver(seed, p, n, orders):
    rng = np.random.default_rng(seed)
    A, c = rng.normal(size=(p, n)), rng.normal(size=n)
    upper = 10 ** rng.uniform(-orders / 2, orders / 2, n)
    known = linprog(c, A_eq=A, b_eq=np.zeros(p), bounds=np.column_stack([np.zeros(n), upper])).fun
    floor = 1e-3 * float(upper.sum())
    found = multipliers_in_box(c, A, upper, upper, floor)
    if found is None:  # x = 0 may be the only point of the box with A x = 0, which has no way along its inside
        assert n < 20 * p
        return
    bound = np.minimum(c - found @ A, 0.0) @ upper
    assert abs(bound - known) <= 1e-6 * max(abs(known), floor)


def test_equations_that_say_the_same_twice_are_left_to_others():
    A = np.ones((2, 30))
    found = multipliers_in_box(np.arange(30.0), A, np.ones(30), np.ones(30), 1.0)
    assert found is None or np.minimum(np.arange(30.0) - found @ A, 0.0).sum() == pytest.approx(0.0, abs=1e-6)


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
    rough = {share: parameter_range.collapse_drive(problem, samples, high=high, rough=share).drive for share in ROUGH}
    monkeypatch.setattr(parameter_range, "MANY_MORE", np.inf)
    known = parameter_range.collapse_drive(problem, samples).drive
    assert abs(found - known) <= 1e-6 * samples.weights.sum()
    digits = 1e-6 * samples.weights.sum()
    for share, drive in rough.items():
        assert -digits <= drive - known <= 1.1 * share * (high - known) + digits
    monkeypatch.setattr(parameter_range, "MANY_CLASSES", 0)
    falling = parameter_range.collapse_drive(problem, samples).drive
    assert abs(falling - min(known, high)) <= digits


def test_a_class_for_every_sample_has_the_range_of_the_linear_program(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = np.argsort(np.argsort(X[:, 0] + 0.1 * rng.normal(size=300)))
    known = NuMarginClassifier().fit(X, y).nu_
    monkeypatch.setattr(parameter_range, "MANY_CLASSES", 200)
    monkeypatch.setattr(parameter_range, "solve_lp", None)
    model = NuMarginClassifier().fit(X, y)
    assert model.certificate_.status == "converged"
    assert model.nu_ == pytest.approx(known, rel=1e-3)
    with pytest.warns(UserWarning, match="no C gives a ranking"):
        SumOfMarginsClassifier().fit(X, y)


@pytest.mark.parametrize("Model", [NuMarginClassifier, SumOfMarginsClassifier])
def test_too_many_classes_with_required_signs_are_refused_with_the_cure(Model, monkeypatch):
    monkeypatch.setattr(parameter_range, "MOST_CLASSES", 20)
    X = np.random.default_rng(0).normal(size=(30, 2))
    with pytest.raises(HullrankError, match="at most 20 classes, and these are 30; join classes"):
        Model(monotonic_cst=[1, 0]).fit(X, np.arange(30))


@given(st.integers(0, 10**6), st.lists(st.integers(2, 6), min_size=1, max_size=3), st.booleans())
@settings(max_examples=60, deadline=None)
def test_the_drive_beyond_which_a_problem_is_unbounded_is_that_of_a_linear_program(seed, sizes, nu):
    model = NuMarginClassifier() if nu else SumOfMarginsClassifier()
    problem, rng = model._unit_problem(sizes), np.random.default_rng(seed)
    codes = np.concatenate([np.arange(sum(sizes)), rng.integers(0, sum(sizes), 20)])
    samples = Samples(np.zeros((len(codes), 1)), codes, rng.exponential(size=len(codes)), sum(sizes))
    weights = np.bincount(codes, samples.weights)[problem.group_class]
    equations = np.vstack([problem.linear, problem.incidence])
    upper = [None, *weights, *[None] * len(problem.up)]
    c = np.append(-1.0, np.zeros(len(upper) - 1))
    known = linprog(c, A_eq=equations.T, b_eq=np.zeros(len(problem.linear)), bounds=[(0, most) for most in upper])
    assert parameter_range.unbounded_drive(problem, samples) == pytest.approx(-known.fun, rel=1e-8)


@pytest.mark.parametrize("Model", [NuMarginClassifier, SumOfMarginsClassifier])
def test_the_lower_end_of_the_range_is_no_lower_over_more_rows_than_the_program_takes(Model, monkeypatch):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3000, 4))
    y = np.digitize(X[:, 0] + 2 * rng.normal(size=3000), [-0.5, 0.5])
    thinned = Model(fraction=0.0).fit(X, y)
    assert np.ptp(thinned.score_samples(X)) > 0
    samples = thinned.state(X, y).samples
    unit = thinned._unit_problem([3])
    rough = parameter_range.collapse_drive(unit, samples).drive
    monkeypatch.setattr(parameter_range, "MOST_ROWS", 3000)
    known = parameter_range.collapse_drive(unit, samples).drive
    assert known * (1 - 1e-9) <= rough <= known * 1.01


@pytest.mark.parametrize("Model", [NuMarginClassifier, SumOfMarginsClassifier])
def test_the_direction_in_which_a_ranking_begins_saves_iterations_and_changes_nothing(Model):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(400, 5))
    y = np.digitize(X @ rng.normal(size=5) + 0.3 * rng.normal(size=400), [-1, 0, 1])
    known = Model(fraction=0.1, tol=1e-10).fit(X, y)
    statement = known.state(X, y)  # a fitted model knows its parameter, and looks for no direction
    started = Model(fraction=0.1, tol=1e-10).state(X, y)
    assert statement.problem.direction is None
    assert started.problem.direction is not None
    solutions = [solve(each, Options(tol=1e-10)) for each in (statement, started)]
    assert solutions[1].iterations < solutions[0].iterations
    np.testing.assert_allclose(solutions[1].point.coef, solutions[0].point.coef, rtol=1e-4)


@pytest.mark.parametrize("form", ["dense", "sparse", "signs", "far off"])
@pytest.mark.parametrize("problem", PROBLEMS, ids=["nu", "sum"])
def test_a_drive_from_some_rows_holds_for_all(problem, form, monkeypatch):
    """Beyond it w = 0 is not optimal, whatever the rows that were left out say; it lies little above the exact one."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(900, 4))
        y = np.digitize(X @ [1.0, 2.0, 0.0, -1.0] + 1.5 * rng.normal(size=900), [-1.0, 1.0])
        X = sp.csr_array(X) if form == "sparse" else X + 100.0 * (form == "far off")
        samples = Samples(X, y, rng.uniform(0.5, 2.0, 900), 3)
        signs = Signs(np.array([1.0, 1.0, 0.0, 0.0])) if form == "signs" else None
        exact = parameter_range.collapse_drive(problem, samples, signs).drive
        with monkeypatch.context() as patch:
            patch.setattr(parameter_range, "MOST_ROWS", 250)
            found = parameter_range.collapse_drive(problem, samples, signs).drive
        assert exact * (1 - 1e-6) <= found <= 1.2 * exact  # of 225 rows


@pytest.mark.parametrize("fraction", [0.0, 0.05, None, 1.0])
def test_no_fraction_collapses_many_rows(fraction):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 6))
    y = np.digitize(X @ rng.normal(size=6) + 2 * rng.normal(size=6000), [-2.0, 0.0, 2.0])
    for model in (NuMarginClassifier(fraction=fraction), SumOfMarginsClassifier(fraction=fraction)):
        assert np.ptp(model.fit(X, y).score_samples(X)) > 0


def test_a_rough_answer_does_not_depend_on_the_coordinates_of_the_equations():
    """Nor on equations that follow from others: the same range for X, for X turned, and for X with a column twice."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 3))
    y = np.digitize(X[:, 0] + rng.normal(size=400), [-0.5, 0.5])
    turned = X @ np.linalg.qr(rng.normal(size=(3, 3)))[0]
    for problem in PROBLEMS:
        drives = [
            parameter_range.collapse_drive(problem, Samples(rows, y, np.ones(400), 3), high=800.0, rough=0.02).drive
            for rows in (X, turned, X[:, [0, 1, 2, 0]])
        ]
        np.testing.assert_allclose(drives, drives[0], rtol=1e-9)
