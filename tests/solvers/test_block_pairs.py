"""Steps of the solver for pairs in blocks."""

import numpy as np
from numpy.testing import assert_allclose

from hullrank.problem.block_pairs import PairSurvey
from hullrank.solvers.block_pairs import _mended


def survey(w, A, width=0.03):
    """A survey of the objective 1/2 w'A w."""
    return PairSurvey(w, width, 1.0, 1.0, A @ w, 0.0, 1.0, None)


def test_a_mended_hessian_tells_how_the_gradient_moved():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(3, 3))
    A = root @ root.T + np.eye(3)
    points = rng.normal(size=(3, 3))
    mended = _mended(np.eye(3), [survey(w, A) for w in points])
    move = points[2] - points[1]
    assert_allclose(mended @ move, A @ move, rtol=1e-10)
    assert np.linalg.eigvalsh(mended).min() > 0


def test_other_windows_and_repeated_weights_change_nothing():
    A, w = 3 * np.eye(2), np.ones(2)
    known = [survey(w, A, 0.1), survey(2 * w, A), survey(2 * w, A)]
    assert np.array_equal(_mended(np.eye(2), known), np.eye(2))
