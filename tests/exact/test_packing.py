"""Packed sets of pairs: none of them can be won whole, none share a pair, and the bound holds."""

import numpy as np
import pytest
from scipy.optimize import linprog

from hullrank import ExactRanker
from hullrank.exact.clock import Clock
from hullrank.exact.packing import Packing, cannot_all_be_won
from hullrank.exact.statement import state_pairs


def packed(n, d, seed, levels=None):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) if levels is None else rng.integers(0, levels, size=(n, d)).astype(float)
    score = X[:, 0] + 2 * rng.normal(size=n)
    y = (score > np.median(score)).astype(np.int64)
    arrangement = state_pairs(X, y, np.ones(n), np.zeros(n, dtype=np.int64)).arrangement
    packing = Packing(arrangement, arrangement.D.T @ arrangement.weight, d, seed)
    packing.run(Clock(), 60.0)
    return X, y, arrangement, packing


@pytest.mark.parametrize(("d", "levels"), [(2, None), (3, None), (5, None), (3, 6)])
def test_no_direction_wins_a_whole_set_and_sets_share_no_more_than_the_weights(d, levels):
    _, _, arrangement, packing = packed(60, d, 0, levels)
    assert len(packing.sets) > 10
    used = np.zeros(len(arrangement.D))
    for members in packing.sets[:100]:
        D = arrangement.D[members]
        free = [(None, None)] * d
        assert linprog(np.zeros(d), A_ub=-D, b_ub=-np.ones(len(D)), bounds=free).status == 2  # infeasible
    if levels is None:
        np.add.at(used, np.concatenate(packing.sets), 1.0)
        assert (used <= arrangement.weight).all()
        assert packing.losses == len(packing.sets)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("levels", [None, 4])
def test_the_bound_is_not_below_the_optimum(seed, levels):
    X, y, arrangement, packing = packed(40, 3, seed, levels)
    optimum = ExactRanker().fit(X, y).certificate_
    assert optimum.status == "proven_optimal"
    assert packing.losses > 0
    total = (y == 0).sum() * (y == 1).sum()
    assert arrangement.top - packing.losses >= optimum.value * total - 1e-9


def test_simplices_around_zero_by_more_than_rounding():
    corner = np.vstack([np.eye(3), -np.ones(3)])
    assert cannot_all_be_won(corner)
    assert cannot_all_be_won(np.hstack([corner, np.zeros((4, 1))]))
    assert not cannot_all_be_won(np.vstack([np.eye(3), [-1.0, -1.0, 1e-14]]))
    assert not cannot_all_be_won(np.vstack([np.eye(3), [-1.0, -1.0, 0.1]]))
    assert not cannot_all_be_won(np.vstack([np.eye(3), -np.ones(3), -np.ones(3)]))
    assert not cannot_all_be_won(np.array([[1.0, 1e-16], [1.0, -1e-16], [-1.0, 0.0]]))


def test_many_dimensions_have_a_bound_below_one():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 8))
    y = (X[:, 0] + 2 * rng.normal(size=200) > 0).astype(int)
    with pytest.warns(UserWarning, match="before a proof"):
        certificate = ExactRanker(time_limit=8).fit(X, y).certificate_
    assert certificate.value < certificate.upper_bound < 0.98
