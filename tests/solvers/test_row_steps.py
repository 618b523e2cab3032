"""Rows that are stepped together, on vectors, move as each of them does in a bundle of its own."""

import numpy as np
import pytest

from hullrank.problem.charges import HARD, HINGE, SQUARED_HINGE
from hullrank.solvers._loops import SEVERAL, row_steps


@pytest.mark.parametrize("charge", [HINGE, SQUARED_HINGE, HARD])
@pytest.mark.parametrize("length", [SEVERAL - 1, SEVERAL, SEVERAL + 1, 100])
def test_long_bundles_move_as_single_rows(charge, length):
    rng = np.random.default_rng(length)
    together = np.array([[0, length, 0, -1, 0, -1, 0, charge]])
    alone = np.repeat(together, length, axis=0)
    alone[:, 1] = 1
    for column in (0, 4, 6):
        alone[:, column] = np.arange(length)
    groups, shift = np.array([[-1.0], [0.3]]), np.array([0.1])
    cost, s, ds, rest, rest_xi = rng.normal(size=(5, length))
    point, slack, bend = rng.uniform(0.1, 1.0, (3, 2, length))
    ratio = point[0] / point[1]

    def stepped(table):
        move, dxi = np.zeros((2, length)), np.zeros(length)
        measures = row_steps(
            table, groups, shift, np.abs(cost), s, ds, point, slack, ratio, bend, rest, rest_xi, move, dxi, False
        )
        return *measures, move, dxi

    for here, there in zip(stepped(together), stepped(alone), strict=True):
        np.testing.assert_allclose(here, there, rtol=1e-12, atol=1e-13)
