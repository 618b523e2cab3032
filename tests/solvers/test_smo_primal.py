"""Thresholds and stretch of a primal point against the minimum over all kinks."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hullrank.problem.certificate import total_charge
from hullrank.problem.charges import Charge
from hullrank.problem.intervals import (
    fixed_margin_problem,
    hull_problem,
    nu_margin_problem,
    sum_of_margins_problem,
)
from hullrank.problem.layout import lay_out
from hullrank.solvers._smo_primal import best_primal

PROBLEM = fixed_margin_problem(3, 2.0)


SQUARE = 1e9  # |w|^2, so large that w is not stretched


def least_thresholds(problem, layout, s, guess, violation=1e-3):
    return best_primal(problem, layout, s, SQUARE, np.asarray(guess, dtype=np.float64), violation).thresholds


@pytest.mark.slow
@given(
    scores=st.lists(st.integers(-8, 8), min_size=9, max_size=9),
    weights=st.lists(st.integers(1, 3), min_size=9, max_size=9),
    guess=st.floats(-30, 30),
)
@settings(deadline=None, max_examples=200)
@example([0] * 8 + [1], [1] * 9, 1e-9)
def test_thresholds_are_the_best_of_all_kinks(scores, weights, guess):
    """As far as the objective, SQUARE / 2 and the charge, can tell charges apart."""
    s = np.array(scores, dtype=np.float64)
    problem = replace(PROBLEM, gap=np.array([-100.0]))
    layout = lay_out(problem, np.array([0, 3, 6, 9]), np.array(weights, dtype=np.float64))
    found = least_thresholds(problem, layout, s, [guess, -guess])
    kinks = np.unique(np.concatenate([s - 1, s + 1]))
    for t in range(2):
        other = found.copy()
        least = []
        for other[t] in kinks:
            least.append(total_charge(problem, layout, other, s))
        assert total_charge(problem, layout, found, s) <= min(least) + 2 * np.spacing(SQUARE / 2)


def test_thresholds_that_would_cross_are_raised_or_stay():
    layout = lay_out(PROBLEM, np.array([0, 3, 6, 9]), np.ones(9))
    s = np.array([5.0, 5.1, 5.2, 0.0, 0.1, 0.2, -5.0, -5.1, -5.2])
    for guess in ([0.0, 0.0], [-3.0, 4.0], [3.0, 3.0]):
        found = least_thresholds(PROBLEM, layout, s, guess)
        assert found[1] >= found[0]
        assert total_charge(PROBLEM, layout, found, s) <= total_charge(PROBLEM, layout, np.array(guess), s) + 1e-9


def test_a_flat_charge_is_cut_in_the_middle():
    layout = lay_out(PROBLEM, np.array([0, 2, 4, 6]), np.ones(6))
    s = np.array([-9.0, -8.0, 1.0, 2.0, 8.0, 10.0])
    np.testing.assert_allclose(least_thresholds(PROBLEM, layout, s, [0.0, 0.0]), [-3.5, 5.0], atol=1e-9)


def test_a_threshold_with_rows_on_one_side_stays():
    problem = replace(PROBLEM, sign=np.array([-1.0, -1.0, 1.0, 1.0]))
    layout = lay_out(problem, np.array([0, 2, 4, 6]), np.ones(6))
    np.testing.assert_array_equal(least_thresholds(problem, layout, np.arange(6.0), [-20.0, 30.0]), [-20.0, 30.0])


@pytest.mark.parametrize("charge", [Charge.HINGE, Charge.SQUARED_HINGE])
@pytest.mark.parametrize("intervals", ["proper", "free"])
def test_the_objective_is_that_of_the_certificate(charge, intervals):
    problem = hull_problem(
        3, [(0, 1), (1, 2)], 3.0, loss=charge.name if charge is not Charge.HARD else "hinge", intervals=intervals
    )
    rng = np.random.default_rng(0)
    layout = lay_out(problem, np.array([0, 4, 9, 12]), rng.uniform(0.5, 2.0, 12))
    s = rng.normal(size=12)
    primal = best_primal(problem, layout, s, 2.0, rng.normal(size=4), 0.3)
    charged = total_charge(problem, layout, primal.thresholds, primal.stretch * s)
    assert primal.objective == pytest.approx(0.5 * primal.stretch**2 * 2.0 + charged)
    assert (problem.order_gaps(primal.thresholds) >= problem.gap - 1e-12).all()


@pytest.mark.parametrize("problem", [nu_margin_problem(3, 0.4, 12.0), sum_of_margins_problem(3, 2.0)])
def test_the_stretch_of_a_homogeneous_objective_is_the_best(problem):
    layout = lay_out(problem, np.array([0, 4, 9, 12]), np.ones(12))
    s = np.repeat([-5.0, 0.0, 5.0], [4, 5, 3]) + np.random.default_rng(1).uniform(-0.5, 0.5, 12)
    guess = np.array([-2.5, 2.5, 1.0] if problem.has_rho else [-4.0, -1.0, 1.0, 4.0])
    primal = best_primal(problem, layout, s, 4.0, guess, 0.01)
    assert primal.stretch > 0
    for change in (0.9, 1.1):
        theta, scores = change * primal.thresholds, change * primal.stretch * s
        other = 0.5 * (change * primal.stretch) ** 2 * 4.0 + float(problem.linear @ theta)
        assert other + total_charge(problem, layout, theta, scores) > primal.objective


@pytest.mark.parametrize("charge", [Charge.HINGE, Charge.SQUARED_HINGE, Charge.HARD])
@pytest.mark.parametrize("intervals", ["proper", "free"])
def test_charges_are_those_of_the_stated_problem(charge, intervals):
    cost = np.inf if charge is Charge.HARD else 3.0
    problem = hull_problem(
        3, [(0, 1), (1, 2)], cost, loss=charge.name if charge is not Charge.HARD else "hinge", intervals=intervals
    )
    rng = np.random.default_rng(0)
    layout = lay_out(problem, np.array([0, 4, 9, 12]), rng.uniform(0.5, 2.0, 12))
    theta, s = rng.normal(size=4), rng.normal(size=12)
    missing = problem.offsets(theta)[layout.row_group] - problem.sign[layout.row_group] * s[layout.row_sample]
    slack = [max(0.0, missing[layout.row_slack == each].max()) for each in range(layout.n_slacks)]
    charges = np.square(slack) if charge is Charge.SQUARED_HINGE else np.array(slack)
    expected = charges.max() if charge is Charge.HARD else layout.cost @ charges
    assert total_charge(problem, layout, theta, s) == pytest.approx(expected)


def test_the_best_stretch_pays_for_what_the_rows_lack():
    layout = lay_out(PROBLEM, np.array([0, 2, 4, 6]), np.full(6, 1e3))
    s = 0.99 * np.array([-2.0, -2.0, 0.0, 0.0, 2.0, 2.0])
    primal = best_primal(PROBLEM, layout, s, 1.0, np.array([-0.99, 0.99]), 0.02)
    assert primal.stretch == pytest.approx(1.02)
    assert total_charge(PROBLEM, layout, primal.thresholds, primal.stretch * s) == pytest.approx(0.0, abs=1e-6)
