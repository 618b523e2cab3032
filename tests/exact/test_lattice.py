"""The linear program over directions against enumeration, branch and bound, and integer arithmetic."""

import numpy as np
import pytest
from cell_enumeration import best_auc

from hullrank import ExactRanker
from hullrank.exact import lattice_program
from hullrank.exact.clock import Clock
from hullrank.exact.lattice import LatticeSearch, reason_against
from hullrank.exact.lattice_program import DirectionProgram, Relations
from hullrank.exact.statement import state_pairs
from hullrank.exceptions import HullrankError


def stated(X, y, weights=None, query=None):
    n = len(y)
    weights = np.ones(n) if weights is None else np.asarray(weights, dtype=float)
    return state_pairs(np.asarray(X, dtype=float), y, weights, np.zeros(n, dtype=int) if query is None else query)


def searched(statement, seconds=30.0):
    arrangement = statement.arrangement
    search = LatticeSearch(arrangement, Clock(seconds), start=arrangement.D.T @ arrangement.weight)
    search.run()
    return search


def binary(n, d, seed=0):
    rng = np.random.default_rng(seed)
    X = (rng.random((n, d)) < 0.4).astype(float)
    s = X @ rng.normal(size=d) + rng.logistic(size=n)
    return X, (s > np.quantile(s, 0.8)).astype(int)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_lattice_finds_the_optimum_of_enumeration(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(2, 5))
    n = int(rng.integers(5, {2: 10, 3: 8, 4: 6}[d] + 1))
    X = rng.integers(0, int(rng.choice([2, 3, 5])), size=(n, d))
    y = np.r_[0, 1, rng.integers(0, 3, n - 2)]
    weights, query = rng.integers(1, 4, n), rng.integers(0, 2, n) if seed % 3 == 0 else np.zeros(n, dtype=int)
    try:
        statement = stated(X, y, weights, query)
    except HullrankError:
        return
    if len(statement.arrangement.D):
        search = searched(statement)
        assert search.value == search.bound == best_auc(X, y, weights, query)


def test_lattice_and_branch_and_bound_agree():
    X, y = binary(60, 4, seed=3)
    ours = ExactRanker(method="lattice").fit(X, y).certificate_
    theirs = ExactRanker(method="branch_and_bound").fit(X, y).certificate_
    assert ours.status == theirs.status == "proven_optimal"
    assert ours.value == theirs.value
    assert ours.rigorous
    assert not theirs.rigorous
    assert "integer arithmetic" in ours.guarantee
    assert "(checked in integers)" in repr(ours)


@pytest.mark.parametrize("n", [300, 20_000])
def test_six_binary_features_are_proven(n):
    X, y = binary(n, 6)
    certificate = ExactRanker(time_limit=30).fit(X, y).certificate_
    assert certificate.status == "proven_optimal"
    assert certificate.rigorous


def test_relations_are_all_that_there_are_in_any_window(monkeypatch):
    U = np.array([[1, 0], [0, 1], [1, 1], [1, -1], [1, 2], [2, 1]])
    expected = set()
    for i in range(len(U)):
        for j in range(i + 1, len(U)):
            for r in (1, -1):
                v = U[i] + r * U[j]
                g = np.gcd.reduce(v)
                for k in range(len(U)):
                    for t in (1, -1):
                        if (v == g * t * U[k]).all():
                            members = tuple(sorted((i, j, k))) if g == 1 else (i, j, k, r)
                            expected.add(members)
    whole = Relations(U)
    assert whole.count == len(expected)
    for i, j, k, r, t in whole._triples:
        v = U[i] + r * U[j]
        assert (v == np.gcd.reduce(v) * t * U[k]).all()
    monkeypatch.setattr(lattice_program, "_WINDOW", 12)
    rng = np.random.default_rng(0)
    many = np.unique(rng.integers(-2, 3, size=(60, 3)), axis=0)
    lead = many[np.arange(len(many)), np.argmax(many != 0, axis=1)]
    many = np.unique((many // np.maximum(np.gcd.reduce(many, axis=1), 1)[:, None])[lead > 0], axis=0)
    p = rng.random(len(many))
    assert len(Relations(many).broken(p, 10**6)) > 0


@pytest.mark.parametrize("seed", range(5))
def test_bounds_hold_for_any_multipliers(seed):
    """The integer bound is above the value of every cell, whatever the solver says."""
    rng = np.random.default_rng(seed)
    statement = stated(rng.integers(0, 3, size=(12, 3)), np.r_[0, 1, rng.integers(0, 2, 10)])
    search = searched(statement)
    program, m = search._program, len(statement.arrangement.D)
    low, high = np.zeros(m, dtype=np.int64), np.ones(m, dtype=np.int64)
    for _ in range(50):
        y = rng.integers(-(2**40), 2**40, len(program.cuts.lower))
        bound = program.cuts.bound(program.cost, y, low, high) / program._scale
        w = rng.normal(size=(200, 3))
        p = (search._U @ w.T > 0).astype(np.int64)
        assert bound >= ((program.cost / program._scale) @ p).max() - 1e-9


def test_signs_that_contradict_each_other_are_infeasible_in_integers():
    U = np.array([[1, 0], [0, 1], [1, 1]])
    program = DirectionProgram(np.array([3.0, 2.0, -4.0]), Relations(U))
    low, high = np.array([1, 1, 0]), np.array([1, 1, 0])
    answer, bound = program.solve(np.zeros(3, dtype=np.int64), np.ones(3, dtype=np.int64), 10.0)
    assert bound == 5.0
    assert program.separate(answer.x, 10)
    _, bound = program.solve(low, high, 10.0)
    assert bound == -np.inf


def test_what_is_no_lattice_is_refused_by_name():
    rng = np.random.default_rng(0)
    y = np.r_[0, 1, rng.integers(0, 2, 28)]
    with pytest.raises(HullrankError, match="few levels"):
        ExactRanker(method="lattice").fit(rng.normal(size=(30, 3)), y)
    with pytest.raises(HullrankError, match="AUC"):
        ExactRanker("dcg", method="lattice").fit(rng.integers(0, 2, (30, 3)), y)
    many = stated(rng.integers(0, 50, size=(300, 4)), np.r_[0, 1, rng.integers(0, 2, 298)])
    assert "directions of pairs" in reason_against(many.arrangement)


def test_a_stopped_search_keeps_an_honest_bound_and_goes_on():
    X, y = binary(300, 6)
    statement = stated(X, y)
    arrangement = statement.arrangement
    clock = Clock(60.0, max_cells=242)
    search = LatticeSearch(arrangement, clock, start=arrangement.D.T @ arrangement.weight)
    search.run()
    first = search.bound
    assert search.value < first <= arrangement.top
    clock.max_cells = float("inf")
    search.run()
    assert search.value == search.bound <= first
