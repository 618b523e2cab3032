"""Thresholds and stretch of a primal point against the minimum over all kinks."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hullrank.problem.certificate import charge_of, total_charge
from hullrank.problem.intervals import Charge, fixed_margin_problem, hull_problem
from hullrank.problem.layout import lay_out
from hullrank.solvers._smo_primal import _medians, best_primal

PROBLEM = fixed_margin_problem(3, 2.0)


@given(
    scores=st.lists(st.integers(-8, 8), min_size=9, max_size=9),
    weights=st.lists(st.integers(1, 3), min_size=9, max_size=9),
)
@settings(deadline=None, max_examples=200)
def test_medians_are_the_best_of_all_kinks(scores, weights):
    s = np.array(scores, dtype=np.float64)
    layout = lay_out(PROBLEM, np.array([0, 3, 6, 9]), np.array(weights, dtype=np.float64))
    found = _medians(PROBLEM, layout, s, np.zeros(2))
    kinks = np.unique(np.concatenate([s - 1, s + 1]))
    for t in range(2):
        other = found.copy()
        least = []
        for other[t] in kinks:
            least.append(total_charge(PROBLEM, layout, other, s))
        assert total_charge(PROBLEM, layout, found, s) <= min(least) + 1e-9


def test_a_flat_charge_is_cut_in_the_middle():
    layout = lay_out(PROBLEM, np.array([0, 2, 4, 6]), np.ones(6))
    s = np.array([-9.0, -8.0, 1.0, 2.0, 8.0, 10.0])
    np.testing.assert_allclose(_medians(PROBLEM, layout, s, np.zeros(2)), [-3.5, 5.0])


@pytest.mark.parametrize("charge", [Charge.HINGE, Charge.SQUARED_HINGE, Charge.HARD])
@pytest.mark.parametrize("intervals", ["proper", "free"])
def test_charges_are_those_of_the_stated_problem(charge, intervals):
    cost = np.inf if charge is Charge.HARD else 3.0
    problem = hull_problem(3, [(0, 1), (1, 2)], cost, charge=charge, intervals=intervals)
    rng = np.random.default_rng(0)
    layout = lay_out(problem, np.array([0, 4, 9, 12]), rng.uniform(0.5, 2.0, 12))
    missing = rng.normal(size=(2, layout.n_rows))
    for row_missing, total in zip(missing, charge_of(problem, layout, missing), strict=True):
        slack = [max(0.0, row_missing[layout.row_slack == each].max()) for each in range(layout.n_slacks)]
        charges = np.square(slack) if charge is Charge.SQUARED_HINGE else np.array(slack)
        assert total == pytest.approx(charges.max() if charge is Charge.HARD else layout.cost @ charges)


def test_the_best_stretch_pays_for_what_the_rows_lack():
    layout = lay_out(PROBLEM, np.array([0, 2, 4, 6]), np.full(6, 1e3))
    s = 0.99 * np.array([-2.0, -2.0, 0.0, 0.0, 2.0, 2.0])
    stretch, theta = best_primal(PROBLEM, layout, s, 1.0, np.array([-0.99, 0.99]), 0.02)
    assert stretch == pytest.approx(1.02)
    assert total_charge(PROBLEM, layout, theta, stretch * s) == pytest.approx(0.0)
