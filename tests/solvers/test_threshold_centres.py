"""Thresholds in the middle of what is optimal: the ends of the lattice against linear programs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from cases import slow_after
from hullrank.problem.intervals import fixed_margin_problem, hull_problem
from hullrank.problem.layout import lay_out
from hullrank.solvers.threshold_centres import centred_thresholds

PROBLEMS = {
    "immediate": lambda K: fixed_margin_problem(K, 1.0, loss="hinge", thresholds="immediate"),
    "all": lambda K: fixed_margin_problem(K, 1.0, loss="hinge", thresholds="all"),
    "hull": lambda K: hull_problem(K, [(k, k + 1) for k in range(K - 1)], 1.0, loss="hinge"),
    "edges": lambda K: hull_problem(K, [(k, k + 1) for k in range(K - 1)], 1.0, loss="hinge", slack="edge"),
}


def lattice_ends(problem, layout, scores):
    """The least and the greatest optimal thresholds, by linear programs over (theta, slacks)."""
    q, R, group = problem.n_thresholds, layout.n_rows, layout.row_group
    rows = np.zeros((R + len(problem.up), q + R))
    rows[np.arange(R), problem.threshold[group]] = problem.sign[group]
    rows[np.arange(R), q + np.arange(R)] = -1.0
    rows[R + np.arange(len(problem.up)), problem.low] = 1.0
    rows[R + np.arange(len(problem.up)), problem.up] -= 1.0
    limits = np.concatenate(
        [problem.sign[group] * scores[layout.row_sample] - problem.offset[group], -problem.gap]
    )  # sign * theta + offset - sign * s <= xi, and theta_up - theta_low >= gap
    bounds, charge = [(None, None)] * q + [(0, None)] * R, np.concatenate([np.zeros(q), layout.row_cost])
    best = linprog(charge, rows, limits, bounds=bounds).fun
    rows, limits = np.vstack([rows, charge]), np.append(limits, best + 1e-9)
    side = np.concatenate([np.ones(q), np.zeros(R)])
    return [linprog(sign * side, rows, limits, bounds=bounds).x[:q] for sign in (1.0, -1.0)]


@pytest.mark.parametrize("name", slow_after(1, PROBLEMS))
@given(st.integers(0, 10**6))
@settings(max_examples=25)
def test_they_are_the_mean_of_the_least_and_the_greatest_optimal_thresholds(name, seed):
    rng = np.random.default_rng(seed)
    K = int(rng.integers(2, 6))
    codes = np.sort(np.append(np.arange(K), rng.integers(0, K, 10)))
    problem = PROBLEMS[name](K)
    layout = lay_out(problem, np.searchsorted(codes, np.arange(K + 1)), rng.choice([0.5, 1.0, 2.0], len(codes)))
    scores = rng.integers(-4, 9, len(codes)) * 0.5
    found = centred_thresholds(problem, layout, scores, problem.raise_thresholds(np.full(problem.n_thresholds, -99.0)))
    least, greatest = lattice_ends(problem, layout, scores)
    np.testing.assert_allclose(found, (least + greatest) / 2, atol=1e-6)
