"""Every exact method finds the optimum of integer enumeration, on data with ties, duplicates and collinear points."""

import numpy as np
import pytest
from exact_enumeration import best_auc, best_functional
from hypothesis import given, settings
from hypothesis import strategies as st

from hullrank.exact import branch_and_bound
from hullrank.exact.branch_and_bound import maximise
from hullrank.exact.clock import Clock
from hullrank.exact.direction import widest_weights
from hullrank.exact.statement import state_pairs, state_ranks
from hullrank.problem.statistics import RankStatistic

FUNCTIONALS = ["wrs", "partial_wmw", "wta", "mrr", "dcg", "pnorm"]


@st.composite
def lattices(draw, d, n_max, grades=2):
    """Small integer rows (many ties, duplicates, collinear points) with labels that compare."""
    n = draw(st.integers(3, n_max))
    size = draw(st.sampled_from([1, 2, 5, 40]))
    rows = draw(st.lists(st.tuples(*[st.integers(-size, size)] * d), min_size=n, max_size=n))
    X = np.array(rows, dtype=float)
    if draw(st.booleans()):
        X[:, -1] = X[:, 0] - X[:, 1]
    y = np.array(draw(st.lists(st.integers(0, grades - 1), min_size=n, max_size=n)))
    return X, y


def usable(X, y):
    return len(np.unique(y)) > 1 and len(np.unique(X, axis=0)) > 1


def proven(statement):
    outcome = maximise(statement.arrangement, Clock(30.0))
    w, value = widest_weights(statement, np.ones(statement.X.shape[1]) if outcome.w is None else outcome.w)
    return outcome, w, value


@settings(max_examples=60, deadline=None)
@given(lattices(2, 9, grades=3))
def test_auc_in_the_plane(data):
    X, y = data
    if usable(X, y):
        statement = state_pairs(X, y, np.ones(len(y)), np.zeros(len(y), dtype=int))
        outcome, _, value = proven(statement)
        assert value == best_auc(X.astype(int), y) == outcome.bound


@settings(max_examples=60, deadline=None)
@given(lattices(3, 7))
def test_auc_in_space(data):
    X, y = data
    if usable(X, y):
        statement = state_pairs(X, y, np.ones(len(y)), np.zeros(len(y), dtype=int))
        outcome, _, value = proven(statement)
        assert value == best_auc(X.astype(int), y) == outcome.bound


@settings(max_examples=30, deadline=None)
@given(lattices(3, 6, grades=3), st.data())
def test_auc_with_weights_and_queries(data, more):
    X, y = data
    n = len(y)
    weights = np.array(more.draw(st.lists(st.integers(1, 3), min_size=n, max_size=n)))
    query = np.array(more.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    try:
        statement = state_pairs(X, y, weights.astype(float), query)
    except ValueError:
        return
    outcome, _, value = proven(statement)
    assert value == best_auc(X.astype(int), y, weights, query) == outcome.bound


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONALS)
@pytest.mark.parametrize("d", [2, 3])
def test_functionals_on_lattices(name, d):
    @settings(max_examples=20, deadline=None)
    @given(lattices(d, 6))
    def law(data):
        X, y = data
        if not usable(X, y):
            return
        gain = RankStatistic(name, t=2).weights(len(y))
        statement = state_ranks(X, y, np.ones(len(y)), gain)
        outcome, _, value = proven(statement)
        best = best_functional(X.astype(int), y == 1, gain)
        assert float(value) == pytest.approx(best, rel=1e-12)
        assert outcome.bound == pytest.approx(best, rel=1e-9)

    law()


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(lattices(3, 6), st.data())
def test_custom_weights(data, more):
    X, y = data
    if not usable(X, y):
        return
    gain = np.sort(more.draw(st.lists(st.integers(0, 9), min_size=len(y), max_size=len(y)))).astype(float)
    outcome, _, value = proven(state_ranks(X, y, np.ones(len(y)), gain))
    assert float(value) == best_functional(X.astype(int), y == 1, gain) == outcome.bound


@settings(max_examples=25, deadline=None)
@given(lattices(2, 9))
def test_branch_and_bound_agrees_with_the_sweep(data):
    """A query of one more pair along a third axis makes a plane solid, and adds its weight to the optimum."""
    X, y = data
    if not usable(X, y):
        return
    n = len(y)
    flat = state_pairs(X, y, np.ones(n), np.zeros(n, dtype=int)).arrangement
    if len(flat.D) < 2:
        return
    solid = state_pairs(
        np.vstack([np.c_[X, np.zeros(n)], [[0, 0, 0], [0, 0, 1]]]),
        np.append(y, [0, 1]),
        np.append(np.ones(n), [1, 3]),
        np.append(np.zeros(n, dtype=int), [1, 1]),
    ).arrangement
    sweep = maximise(flat, Clock(30.0))
    outcome = maximise(solid, Clock(30.0))
    assert outcome.value == outcome.bound == sweep.value + 3.0


@settings(max_examples=15, deadline=None)
@given(lattices(3, 7), st.sampled_from([0.0, 0.1, 0.4]))
def test_swept_cells_and_boxes_agree(data, radius):
    X, y = data
    if not usable(X, y):
        return
    arrangement = state_pairs(X, y, np.ones(len(y)), np.zeros(len(y), dtype=int)).arrangement
    boxes = maximise(arrangement, Clock(30.0))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(branch_and_bound, "SWEEP_FROM", 3)
        patch.setattr(branch_and_bound, "_SWEPT_RADIUS", radius)
        swept = maximise(arrangement, Clock(30.0))
    assert boxes.bound == swept.bound == boxes.value == swept.value
