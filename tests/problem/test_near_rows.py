"""Equal rows near their kink become one, at the sum of their costs."""

import numpy as np
import pytest
import scipy.sparse as sp

from hullrank.problem import near_rows
from hullrank.problem.near_rows import Near, kinds_among, merge_equal


def near(X, bundle, cost):
    m = len(cost)
    return Near(np.asarray(bundle, dtype=np.int32), X, cost, np.arange(m, dtype=np.int32), np.ones(m, dtype=np.int64))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_costs_and_times_of_equal_entries_add_up(form):
    rng = np.random.default_rng(0)
    X, bundle, cost = rng.integers(-1, 2, size=(600, 4)) * 1.0, rng.integers(0, 3, 600), rng.random(600)
    X[::7] *= -1  # zeros of both signs are the same number
    (merged,) = merge_equal(
        [near(form(X[:250]), bundle[:250], cost[:250]), near(form(X[250:]), bundle[250:], cost[250:])]
    )
    kinds, place = np.unique(np.column_stack([bundle, X]) + 0.0, axis=0, return_inverse=True)
    rows = merged.X.toarray() if sp.issparse(merged.X) else merged.X
    found = np.column_stack([merged.bundle, rows]) + 0.0
    order = np.lexsort(found.T[::-1])
    np.testing.assert_array_equal(found[order], kinds)
    np.testing.assert_allclose(merged.cost[order], np.bincount(place.ravel(), cost))
    np.testing.assert_array_equal(merged.times[order], np.bincount(place.ravel()))


def test_different_entries_stay_as_they_are():
    X = np.random.default_rng(0).normal(size=(100, 3))
    parts = [near(X[:50], np.zeros(50), np.ones(50)), near(X[50:], np.zeros(50), np.ones(50))]
    assert merge_equal(parts) == parts
    assert merge_equal([]) == []


def test_rows_whose_keys_agree_by_chance_are_not_merged(monkeypatch):
    monkeypatch.setattr(near_rows, "row_keys", lambda X, *beside: np.zeros(X.shape[0], dtype=np.uint64))
    X = np.arange(12.0).reshape(4, 3)
    parts = [near(X, np.zeros(4), np.ones(4))]
    assert merge_equal(parts) == parts


def test_the_number_of_kinds_is_estimated_from_those_met_once_and_twice():
    rng = np.random.default_rng(0)
    drawn = np.bincount(rng.integers(0, 5000, 8000))
    assert kinds_among(drawn[drawn > 0], 1e6) == pytest.approx(5000, rel=0.05)
    assert kinds_among(np.ones(100, dtype=np.int64), 700) == 700
    assert kinds_among(np.full(30, 9), 700) == 30
