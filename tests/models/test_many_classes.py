"""Many classes: long chains and wide stars are solved, and what would make too many rows is refused with the reason."""

import numpy as np
import pytest

import conic
from cases import slow_after
from hullrank import ConvexHullRanker, FixedMarginClassifier, OrderGraph, SwappedPairsRanker
from hullrank.exceptions import HullrankError
from hullrank.problem.intervals import hull_problem
from hullrank.solvers import _linear_system


def graded(m, K, n=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, n))
    score = X @ rng.standard_normal(n) + rng.standard_normal(m)
    return X, np.argsort(np.argsort(score)) * K // m


@pytest.mark.parametrize(("loss", "m"), slow_after(1, [("hinge", 1500), ("squared_hinge", 4000)]))
def test_a_chain_with_a_class_for_every_sample(loss, m):
    X, y = graded(m, m)
    found = ConvexHullRanker(loss=loss).fit(X, y).certificate_
    assert (found.status, found.solver) == ("converged", "interior point")


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_a_star_has_the_optimum_of_a_conic_solver(loss):
    X, y = graded(80, 40)
    edges = [(0, k) for k in range(1, 40)]
    found = ConvexHullRanker(OrderGraph.from_edges(edges), C=0.2, loss=loss, tol=1e-8).fit(X, y).certificate_
    best = conic.hull(X, y, edges, 0.2, loss=loss, intervals="proper")
    assert found.primal == pytest.approx(best, rel=1e-6)


def test_a_star_of_many_classes_is_solved():
    X, y = graded(6000, 3000)
    star = OrderGraph.from_edges([(0, k) for k in range(1, 3000)])
    assert ConvexHullRanker(star).fit(X, y).certificate_.status == "converged"


def test_sparse_and_banded_factors_of_the_thresholds_agree(monkeypatch):
    rng = np.random.default_rng(0)
    problem = hull_problem(90, [(0, k) for k in range(1, 60)] + [(k, k + 30) for k in range(30, 60)], 1.0)
    rows, weight = rng.standard_normal((problem.n_groups, 5)), rng.uniform(1, 2, problem.n_groups + len(problem.up))
    right = rng.standard_normal(5), rng.standard_normal(len(problem.linear))
    steps = []
    for width, wide in ((1000, False), (5, True)):
        monkeypatch.setattr(_linear_system, "WIDE_BAND", width)
        system = _linear_system.BandedSystem(problem)
        assert system.is_wide == wide
        system.factor(500 * np.eye(5), rows, weight, np.zeros(len(problem.bundles)))
        steps.append(np.concatenate(system.solve(*right)))
    np.testing.assert_allclose(steps[0], steps[1], rtol=1e-9, atol=1e-12)


def test_too_many_rows_are_refused_before_any_work():
    X, y = graded(5000, 1500)
    with pytest.raises(HullrankError, match=r"at about 1499 thresholds, which makes 7495000 rows.*'immediate'"):
        FixedMarginClassifier(thresholds="all").fit(X, y)
    with pytest.raises(HullrankError, match=r"each of 2999 thresholds, 3000 classes at least 8997000 rows"):
        FixedMarginClassifier(thresholds="all").fit(*graded(3000, 3000))


def test_real_targets_with_a_hinge_converge():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5000, 10))
    target = X @ rng.standard_normal(10) + rng.standard_normal(5000)
    for C in (1.0, 1000.0):
        assert SwappedPairsRanker(C=C).fit(X, target).certificate_.relative_gap <= 1e-6
