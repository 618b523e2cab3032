"""Bounds are never below the optimum, wherever the search is stopped."""

import os

import numpy as np
import pytest
from exact_enumeration import best_auc, best_functional

from hullrank.exact.branch_and_bound import BranchAndBound, maximise
from hullrank.exact.clock import Clock
from hullrank.exact.coordinates import spanning
from hullrank.exact.direction import widest_weights
from hullrank.exact.portfolio import solve_exact
from hullrank.exact.statement import state_pairs, state_ranks
from hullrank.problem.certificate import Status
from hullrank.problem.statistics import RankStatistic

INSTANCES = int(os.environ.get("HULLRANK_BOUND_INSTANCES", "150"))
FUNCTIONALS = ["wrs", "partial_wmw", "wta", "mrr", "dcg", "pnorm"]


def random_instance(rng):
    """Integer rows in three dimensions with ties and duplicates, a statistic of them, and its optimum."""
    while True:
        n = int(rng.integers(4, 9))
        size = int(rng.choice([1, 2, 4, 30, 200]))
        X = rng.integers(-size, size + 1, size=(n, 3)).astype(float)
        if rng.random() < 0.3:
            X[: n // 2] = X[n - n // 2 :]
        y = rng.integers(0, 2, n)
        if len(np.unique(y)) > 1 and len(np.unique(X, axis=0)) > 1:
            break
    if rng.random() < 0.6:
        return state_pairs(X, y, np.ones(n), np.zeros(n, dtype=int)), float(best_auc(X, y))
    X, y = X[:6], y[:6]
    if len(np.unique(y)) < 2 or len(np.unique(X, axis=0)) < 2:
        return random_instance(rng)
    gain = RankStatistic(str(rng.choice(FUNCTIONALS)), t=2).weights(len(y))
    return state_ranks(X, y, np.ones(len(y)), gain), best_functional(X, y == 1, gain)


@pytest.mark.slow
def test_stopped_searches_bound_the_optimum():
    rng = np.random.default_rng(0)
    stopped = 0
    for _ in range(INSTANCES):
        statement, best = random_instance(rng)
        solution = solve_exact(
            statement,
            method="branch_and_bound",
            statistic="any",
            starts=list,
            time_limit=60,
            max_cells=120 + int(rng.integers(1, 60)),  # 120 planes come first
            gap_tol=0.0,
            epsilon=1e-4,
            seed=int(rng.integers(1000)),
        )
        certificate = solution.certificate
        optimum = best / float(statement.total)
        assert certificate.value <= optimum * (1 + 1e-12) <= certificate.upper_bound * (1 + 1e-9) + 1e-12
        assert certificate.value == float(statement.recount(solution.w) / statement.total)
        if certificate.status is Status.PROVEN_OPTIMAL:
            assert certificate.value == pytest.approx(optimum, rel=1e-12)
        else:
            stopped += certificate.status is Status.MAX_CELLS
    assert stopped > INSTANCES // 20


@pytest.mark.slow
def test_random_lattices_are_solved():
    rng = np.random.default_rng(1)
    for _ in range(INSTANCES // 3):
        statement, best = random_instance(rng)
        outcome = maximise(statement.arrangement, Clock(30.0))
        _, value = widest_weights(statement, np.ones(3) if outcome.w is None else outcome.w)
        assert float(value) == pytest.approx(best, rel=1e-12)
        assert outcome.bound == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("d", [4, 5])
@pytest.mark.parametrize("name", ["auc", "dcg"])
def test_no_random_direction_beats_a_proof(d, name):
    rng = np.random.default_rng(d)
    X = np.round(rng.normal(size=(24, d)), 1)
    y = (X @ rng.normal(size=d) + rng.normal(size=24) * 2 > 0).astype(int)
    ones = np.ones(len(y))
    if name == "auc":
        statement = state_pairs(X, y, ones, np.zeros(len(y), dtype=int))
    else:
        statement = state_ranks(X, y, ones, RankStatistic(name).weights(len(y)))
    arrangement = statement.arrangement
    search = BranchAndBound(arrangement, spanning(arrangement), Clock(60.0))
    search.run()
    sampled = max(arrangement.value(rng.normal(size=d)) for _ in range(3000))
    assert search.bound == pytest.approx(search.value, rel=1e-9)
    assert search.value >= sampled
    assert arrangement.value(search.w) == pytest.approx(search.value, rel=1e-12)


@pytest.mark.parametrize("name", ["auc", "wrs"])
def test_seven_dimensions_give_an_honest_bound(name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 7))
    y = (X[:, 0] + 2 * rng.normal(size=40) > 0).astype(int)
    if name == "auc":
        statement = state_pairs(X, y, np.ones(40), np.zeros(40, dtype=int))
    else:
        statement = state_ranks(X, y, np.ones(40), RankStatistic(name).weights(40))
    arrangement = statement.arrangement
    search = BranchAndBound(arrangement, np.eye(7), Clock(60.0, max_cells=2000))
    search.run()
    assert arrangement.value(search.w) == search.value < search.bound < arrangement.top
    assert search.clock.cells < 2500
