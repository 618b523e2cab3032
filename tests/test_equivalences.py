"""Every class-based estimator solves the problem that its paper prints: objectives agree with a conic solver's."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.svm import SVC, NuSVC

import conic
from hullrank import (
    ConvexHullRanker,
    FixedMarginClassifier,
    NuMarginClassifier,
    OrderGraph,
    SumOfMarginsClassifier,
)

pytestmark = pytest.mark.filterwarnings("ignore::hullrank.exceptions.CollapsedRankingWarning")
TIGHT = {"tol": 1e-9}


def graded(n_classes, *, m=60, n=3, noise=1.0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, n)) * rng.uniform(0.5, 2, n) + rng.standard_normal(n)
    score = X @ rng.standard_normal(n) + noise * rng.standard_normal(m)
    y = np.argsort(np.argsort(score)) * n_classes // m
    return X, y, rng.uniform(0.2, 3, m)


def random_edges(n_classes, seed=1):
    rng = np.random.default_rng(seed)
    edges = [(lo, hi) for hi in range(1, n_classes) for lo in range(hi) if rng.random() < 0.5]
    linked = {c for edge in edges for c in edge}
    lonely = [(c, c + 1) if c + 1 < n_classes else (c - 1, c) for c in range(n_classes) if c not in linked]
    return sorted({*edges, *lonely})


GRAPHS = {
    "chain": lambda K: [(c, c + 1) for c in range(K - 1)],
    "full": lambda K: [(lo, hi) for hi in range(K) for lo in range(hi)],
    "random": random_edges,
}


def primal(model):
    assert model.certificate_.relative_gap <= model.tol
    return model.certificate_.primal


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
@pytest.mark.parametrize(("intervals", "slack"), [("proper", "sample"), ("free", "sample"), ("proper", "edge")])
@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("K", [2, 3, 5, 9])
def test_hull_ranking_is_problem_28(K, graph, intervals, slack, loss, weighted):
    X, y, weights = graded(K)
    weights = weights if weighted else None
    edges = GRAPHS[graph](K)
    order = OrderGraph.from_edges(edges, labels=range(K))
    model = ConvexHullRanker(order, C=0.3, loss=loss, intervals=intervals, slack=slack, **TIGHT)
    model.fit(X, y, sample_weight=weights)
    expected = conic.hull(X, y, edges, 0.3, weights=weights, loss=loss, intervals=intervals, slack=slack)
    assert_allclose(primal(model), expected, rtol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("graph", ["chain", "full"])
@pytest.mark.parametrize("intervals", ["proper", "free"])
def test_every_sample_may_be_its_own_class(graph, intervals):
    X, y, _ = graded(24, m=24)
    model = ConvexHullRanker(graph, C=0.3, intervals=intervals, **TIGHT).fit(X, y)
    assert_allclose(primal(model), conic.hull(X, y, GRAPHS[graph](24), 0.3, intervals=intervals), rtol=1e-6)


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_l1_penalty(loss):
    X, y, weights = graded(4)
    edges = GRAPHS["chain"](4)
    model = ConvexHullRanker(C=0.1, penalty="l1", loss=loss, **TIGHT).fit(X, y, sample_weight=weights)
    expected = conic.hull(X, y, edges, 0.1, weights=weights, loss=loss, intervals="proper", l1=True)
    assert_allclose(primal(model), expected, rtol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("thresholds", ["immediate", "all"])
@pytest.mark.parametrize("K", [2, 3, 5, 9])
def test_fixed_margin_is_problem_2_to_5(K, thresholds, loss, weighted):
    X, y, weights = graded(K)
    weights = weights if weighted else None
    model = FixedMarginClassifier(C=0.7, loss=loss, thresholds=thresholds, **TIGHT).fit(X, y, sample_weight=weights)
    expected = conic.fixed_margin(X, y, 0.7, weights=weights, loss=loss, thresholds=thresholds)
    assert_allclose(primal(model), expected, rtol=1e-6)
    assert np.all(np.diff(model.thresholds_) >= -1e-9)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("K", [2, 3, 5, 9])
def test_nu_margin_is_problem_32(K, weighted):
    X, y, weights = graded(K, noise=0.5)
    weights = weights if weighted else None
    model = NuMarginClassifier(**TIGHT).fit(X, y, sample_weight=weights)
    assert_allclose(primal(model), conic.nu_margin(X, y, model.nu_, weights=weights), rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("K", [2, 3, 5])
def test_sum_of_margins_is_problem_14_to_20(K, weighted):
    X, y, weights = graded(K, noise=0.2)
    weights = weights if weighted else None
    model = SumOfMarginsClassifier(class_weight=None, **TIGHT).fit(X, y, sample_weight=weights)
    expected = conic.sum_of_margins(X, y, model.C_, weights=weights)
    assert expected < 0
    assert_allclose(primal(model), expected, rtol=1e-6)
    if not weighted:
        assert_allclose(conic.sum_of_margins_dual(X, y, model.C_), expected, rtol=1e-6)


def test_hull_with_hinge_is_a_fixed_margin_with_wider_gaps():
    X, y, _ = graded(5)
    hull = ConvexHullRanker(C=0.4, loss="hinge", **TIGHT).fit(X, y)
    assert_allclose(4 * primal(hull), conic.fixed_margin(X, y, 0.8, least_gap=2.0), rtol=1e-6)


def test_proper_intervals_make_chain_and_full_the_same():
    X, y, _ = graded(5)
    chain, full = (ConvexHullRanker(order, C=0.4, tol=1e-12).fit(X, y) for order in ("chain", "full"))
    assert_allclose(chain.coef_, full.coef_, atol=1e-8)


def test_same_partial_order_but_different_problems():
    """Fung's figure 1 (e) and (f): edges that follow from others change what is paid."""
    X, y, _ = graded(4, noise=2.0)
    edges_e = [(0, 1), (1, 2), (2, 3)]
    edges_f = [*edges_e, (0, 2), (1, 3)]
    e, f = (
        ConvexHullRanker(OrderGraph.from_edges(edges), slack="edge", **TIGHT).fit(X, y) for edges in (edges_e, edges_f)
    )
    assert e.order_.closure() == f.order_.closure()
    assert primal(f) > 1.1 * primal(e)


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_two_classes_are_svc(C):
    X, y, weights = graded(2)
    ours = FixedMarginClassifier(C=C, loss="hinge", tol=1e-10).fit(X, y, sample_weight=weights)
    svc = SVC(kernel="linear", C=C, tol=1e-8).fit(X, y, sample_weight=weights)
    assert_allclose(ours.coef_, svc.coef_[0], rtol=1e-4, atol=1e-6)
    assert_allclose(ours.decision_function(X), svc.decision_function(X), rtol=1e-3, atol=1e-4)


def test_two_classes_are_nu_svc():
    X, y, _ = graded(2)
    nu = NuMarginClassifier(nu=0.77, tol=1e-11).fit(X, y)
    svc = NuSVC(kernel="linear", nu=0.77, tol=1e-9).fit(X, y)
    assert_allclose(nu.decision_function(X) / nu.margin_, svc.decision_function(X), rtol=1e-4, atol=1e-4)
    margins = SumOfMarginsClassifier(C=2 / (0.77 * len(y)), class_weight=None, tol=1e-11).fit(X, y)
    direction = svc.coef_[0] / np.linalg.norm(svc.coef_[0])
    assert_allclose(margins.coef_, direction, atol=1e-5)
    assert np.array_equal(margins.predict(X), svc.predict(X))
