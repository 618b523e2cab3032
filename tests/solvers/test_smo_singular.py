"""Tight order constraints that form cycles depend on each other: the Newton step is then a least-squares one."""

import numpy as np
import pytest

from hullrank.solvers._smo_newton import _solve_small

TIGHT = ((0, 1), (0, 3), (0, 5), (0, 7), (2, 3), (2, 5), (4, 5), (4, 7))  # edges of thresholds, with two cycles
THRESHOLDS_AND_PINS = np.array(
    [
        [0.5530, -0.1865, -0.1769, -0.0329, -0.0265, 0.0121, 0.0155, 0.0011, 0.0376, -0.0058, -0.0058],
        [-0.1865, 1.9093, 1.5970, -1.3386, -1.2336, -0.2653, -0.1961, 0.0229, 0.2448, 0.1686, 0.1686],
        [-0.1769, 1.5970, 1.8785, -1.3305, -1.2276, -0.2623, -0.1942, 0.0221, 0.2275, 0.1715, 0.1715],
        [-0.0329, -1.3386, -1.3305, 3.5920, 3.1528, -1.7202, -1.7656, -0.0383, -0.5618, -0.5312, -0.5312],
        [-0.0265, -1.2336, -1.2276, 3.1528, 3.4261, -1.7283, -1.7769, -0.0414, -0.5700, -0.5298, -0.5298],
        [0.0121, -0.2653, -0.2623, -1.7202, -1.7283, 2.0923, 1.8421, -0.0320, 0.3580, 0.3079, 0.3079],
        [0.0155, -0.1961, -0.1942, -1.7656, -1.7769, 1.8421, 2.1373, -0.0474, 0.3379, 0.3242, 0.3242],
        [0.0011, 0.0229, 0.0221, -0.0383, -0.0414, -0.0320, -0.0474, 0.4818, -0.0093, 0.0143, 0.0143],
        [0.0376, 0.2448, 0.2275, -0.5618, -0.5700, 0.3580, 0.3379, -0.0093, 0.7535, -0.0313, -0.0313],
        [-0.0058, 0.1686, 0.1715, -0.5312, -0.5298, 0.3079, 0.3242, 0.0143, -0.0313, 1.1156, -0.5308],
        [-0.0058, 0.1686, 0.1715, -0.5312, -0.5298, 0.3079, 0.3242, 0.0143, -0.0313, -0.5308, 1.1156],
    ]
)


@pytest.mark.parametrize("seed", range(3))
def test_constraints_in_cycles_do_not_end_the_fit(seed):
    order = [*range(8), *range(11, 19), *range(8, 11)]  # thresholds, constraints, pinned multipliers
    A = np.zeros((19, 19))
    A[:11, :11] = THRESHOLDS_AND_PINS
    for column, (lo, hi) in enumerate(TIGHT, start=11):
        A[lo, column] = A[column, lo] = 1.0
        A[hi, column] = A[column, hi] = -1.0
    A = A[np.ix_(order, order)]
    assert np.linalg.matrix_rank(A) == 17
    right = A @ np.random.default_rng(seed).normal(size=19)
    np.testing.assert_allclose(A @ _solve_small(A.copy, right), right, atol=1e-6)
