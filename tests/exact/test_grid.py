"""Columns read as integers: what is recognised, what stays a plain floating-point number, and exact directions."""

from fractions import Fraction

import numpy as np
import pytest

from hullrank.exact.grid import column_scale, read_grid
from hullrank.exact.integers import null_vectors, parallel_classes, spans_at_most
from hullrank.exact.scores import decimal_places, linear_scores


def column(values):
    grid = read_grid(np.asarray(values, dtype=float)[:, None])
    return grid.whole[:, 0].tolist(), grid.steps[0], grid.read


@pytest.mark.parametrize(
    ("values", "whole", "step", "read"),
    [
        ([3, 5, 11], [0, 1, 4], Fraction(2), False),
        ([0.5, 1.0, 0.25], [1, 3, 0], Fraction(1, 4), False),
        ([0.1, 0.3, 0.2], [0, 2, 1], Fraction(1, 10), True),
        ([1000.05, 1000.25, 1000.1], [0, 4, 1], Fraction(1, 20), True),
        ([7.0, 7.0, 7.0], [0, 0, 0], Fraction(1), False),
        ([np.pi, 0.0, np.pi], [1, 0, 1], Fraction(np.pi), False),
    ],
)
def test_levels_are_recognised(values, whole, step, read):
    assert column(values) == (whole, step, read)


def test_standardised_levels_are_recognised_and_continuous_ones_are_not():
    rng = np.random.default_rng(0)
    levels = rng.integers(0, 7, 200).astype(float)
    whole, _, read = column((levels - levels.mean()) / levels.std())
    assert whole == (levels - levels.min()).tolist()
    assert read
    grid = read_grid(rng.normal(size=(200, 3)))
    assert not grid.read
    assert not grid.small


def test_integers_stand_for_the_floats_exactly():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(20, 2)) * np.array([1e-200, 1e170])
    X[3, 0] = 1e-180
    grid = read_grid(X)
    for j in range(2):
        offsets = {Fraction(x) - k * grid.steps[j] for x, k in zip(X[:, j].tolist(), grid.whole[:, j], strict=True)}
        assert len(offsets) == 1


def test_an_outlier_does_not_own_the_scale():
    X = np.random.default_rng(0).normal(size=(60, 1))
    plain = column_scale(X)
    X[5] = 1e20
    assert column_scale(X) == pytest.approx(plain, rel=0.3)


def test_parallel_pairs_are_found_among_large_numbers():
    X = np.array([[0.0, 0.0], [1e20, 1.0], [3e20, 3.0], [-2e20, -2.0], [1e20, 2.0]])
    grid = read_grid(X)
    above, below = np.array([1, 2, 3, 4]), np.zeros(4, dtype=int)
    D = X[above] / np.linalg.norm(X[above], axis=1)[:, None]
    members, group, sign = parallel_classes(grid, above, below, D)
    assert len(members) == 2
    assert group[0] == group[1] == group[2] != group[3]
    assert sign[0] == sign[1] == -sign[2]


def test_rank_is_decided_in_integers():
    vectors = np.array([[10**20, 0, 0], [10**20, 1, 0], [0, 10**20, 0]], dtype=object)
    assert spans_at_most(vectors, np.array([0, 2]))
    assert not spans_at_most(vectors, np.array([0]))
    null = null_vectors([[2, 4, 6], [1, 1, 1]], 3)
    assert len(null) == 1
    assert (np.array([[2, 4, 6], [1, 1, 1]]) @ null[0] == 0).all()


def test_scores_depend_on_the_row_alone_and_keep_small_differences():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(50, 7)), 3, axis=0)
    w = rng.normal(size=7)
    scores = linear_scores(X, w)
    assert (scores.reshape(50, 3) == scores[::3, None]).all()
    np.testing.assert_allclose(scores, X @ w, rtol=1e-12)
    exact = [float(sum(Fraction(a) * Fraction(b) for a, b in zip(row, w.tolist(), strict=True))) for row in X.tolist()]
    np.testing.assert_array_equal(scores, exact)


def test_whole_number_weights_of_decimals_tie_exactly():
    X = np.array([[0.1, 0.2], [0.3, 0.0], [0.0, 0.3]])
    assert decimal_places(X) == 1
    assert len(set(linear_scores(X, np.ones(2), 1).tolist())) == 1
    assert decimal_places(np.array([[np.pi]])) is None
