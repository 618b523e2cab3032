"""Dual coordinate descent on sparse rows: the optimum of a conic solver, exact zeros, nothing dense, honest endings."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.svm import SVC

import conic
from hullrank import ConvexHullRanker, FixedMarginClassifier
from hullrank.data import Samples
from hullrank.exceptions import ConvergenceWarning, HullrankError
from hullrank.problem.intervals import fixed_margin_problem, hull_problem, nu_margin_problem, sum_of_margins_problem
from hullrank.problem.rows import ArrayRows, square_lengths
from hullrank.solvers import coordinate_descent
from hullrank.solvers.base import able
from statements import interval_statement, solved

NAME = "dual coordinate descent"
CHAIN, TREE = [(0, 1), (1, 2), (2, 3)], [(0, 1), (0, 2), (2, 3)]


def text_like(m, n, classes, seed=0, entries=8):
    """Rows of a few positive entries, in columns of very different frequency, and grades that depend on them."""
    rng = np.random.default_rng(seed)
    columns = (np.exp(rng.random((m, entries)) * np.log(n)) - 1).astype(np.int32)
    starts = np.arange(0, m * entries + 1, entries, dtype=np.int32)
    X = sp.csr_array((rng.exponential(size=m * entries), columns.ravel(), starts), shape=(m, n))
    X.sum_duplicates()
    score = X @ rng.standard_normal(n) + rng.standard_normal(m)
    return X, np.argsort(np.argsort(score)) * classes // m


X, y = text_like(120, 30, 4)
X = sp.csr_array(sp.vstack([X, sp.csr_array((2, 30))]))  # two rows without entries
y = np.append(y, [0, 2])
weights = np.random.default_rng(1).uniform(0.2, 3.0, len(y))
D = X.toarray()


def descended(problem, tol=1e-7, max_iter=2000):
    statement = interval_statement(problem, Samples(X, y, weights, 4))
    return solved(statement, tol, max_iter, solver=NAME)


CASES = {
    **{
        f"{loss}, {thresholds}": (
            lambda loss=loss, thresholds=thresholds: fixed_margin_problem(4, 0.7, loss=loss, thresholds=thresholds),
            lambda loss=loss, thresholds=thresholds: conic.fixed_margin(
                D, y, 0.7, weights=weights, loss=loss, thresholds=thresholds
            ),
        )
        for loss in ("hinge", "squared_hinge", "logistic")
        for thresholds in ("immediate", "all")
    },
    **{
        f"hull, {loss}, {penalty}, {slack}": (
            lambda loss=loss, penalty=penalty, slack=slack: hull_problem(
                4, TREE, 0.5, loss=loss, penalty=penalty, slack=slack
            ),
            lambda loss=loss, penalty=penalty, slack=slack: conic.hull(
                D, y, TREE, 0.5, weights=weights, loss=loss, intervals="proper", slack=slack, l1=penalty == "l1"
            ),
        )
        for loss in ("hinge", "squared_hinge", "logistic")
        for penalty in ("l2", "l1")
        for slack in ("sample", "edge")
    },
    "nu": (
        lambda: nu_margin_problem(4, 0.9, 2 * weights.sum() - weights[y == 0].sum() - weights[y == 3].sum()),
        lambda: conic.nu_margin(D, y, 0.9, weights=weights),
    ),
    "sum of margins": (
        lambda: sum_of_margins_problem(4, 0.04),
        lambda: conic.sum_of_margins(D, y, 0.04, weights=weights),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_the_optimum_is_that_of_a_conic_solver(case):
    problem, optimum = CASES[case]
    tol = 1e-4 if "l1" in case else 1e-6
    found, best = descended(problem(), tol).certificate, optimum()
    assert found.status == "converged"
    assert found.primal == pytest.approx(best, rel=1.5 * tol, abs=1e-9)
    assert found.dual <= best + 1e-8 * abs(best)


def test_weights_that_l1_leaves_out_are_exactly_zero():
    problem = hull_problem(4, CHAIN, 0.1, penalty="l1")
    statement = interval_statement(problem, Samples(X, y, weights, 4))
    descent = solved(statement, 1e-6, 2000, solver=NAME)
    point = solved(statement, 1e-9, solver="interior point")
    assert np.array_equal(descent.coef != 0, point.coef != 0)
    assert 0 < np.count_nonzero(descent.coef) < 30


def test_two_classes_are_those_of_svc():
    A, target = text_like(700, 3500, 2, entries=12)
    ours = FixedMarginClassifier(C=0.3, loss="hinge", tol=1e-9).fit(A, target)
    theirs = SVC(kernel="linear", C=0.3, tol=1e-9).fit(A, target)
    assert ours.certificate_.solver == NAME
    np.testing.assert_allclose(ours.coef_, theirs.coef_.toarray().ravel(), atol=1e-4)
    np.testing.assert_allclose(ours.thresholds_, -theirs.intercept_, atol=1e-4)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_a_weight_is_a_repetition(loss):
    A, target = text_like(800, 3500, 3)
    times = np.random.default_rng(0).integers(0, 4, 800)
    model = FixedMarginClassifier(loss=loss, C=0.1, tol=1e-8)
    weighted = clone(model).fit(A, target, sample_weight=times)
    rows = np.repeat(np.arange(800), times)
    repeated = clone(model).fit(A[rows], target[rows])
    assert weighted.certificate_.solver == repeated.certificate_.solver == NAME
    apart = 2 * np.sqrt(2 * 1e-8 * weighted.certificate_.primal)  # what two gaps of 1e-8 allow
    assert np.linalg.norm(weighted.coef_ - repeated.coef_) <= apart < 0.01 * np.linalg.norm(weighted.coef_)


@pytest.mark.slow
@pytest.mark.parametrize("penalty", ["l2", "l1"])
def test_nothing_dense_is_made(penalty):
    """The sums of 38 groups of rows in 100,000 columns would take 30 MB."""
    A, target = text_like(4000, 100_000, 20, entries=20)
    model = ConvexHullRanker(C=0.1, penalty=penalty, tol=1e-2)
    model.fit(*text_like(600, 3500, 3))  # compiles
    tracemalloc.start()
    try:
        model.fit(A, target)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    size = A.data.nbytes + A.indices.nbytes + A.indptr.nbytes + 8 * A.shape[1]
    assert peak < 6 * size
    assert model.certificate_.solver == NAME


def test_what_would_be_dense_is_refused_with_the_reason():
    A = sp.csr_array((4000, 200_000))
    codes = np.arange(4000) // 20
    free = hull_problem(200, np.stack([np.arange(199), np.arange(1, 200)], 1), 1.0, intervals="free")
    with pytest.raises(HullrankError, match="dense sums of 398 groups of rows in 200000 columns; use fewer classes"):
        able(interval_statement(free, Samples(A, codes, np.ones(4000), 200)))


def test_few_sweeps_end_with_max_iter_and_a_true_bound(monkeypatch):
    A, target = text_like(600, 3500, 3)
    best = FixedMarginClassifier(C=30.0).fit(A, target).certificate_
    monkeypatch.setattr("hullrank.solvers.intervals.REGISTRY", {})
    monkeypatch.setattr("hullrank.solvers.intervals.able", lambda given: [s for s in able(given) if s.name == NAME])
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        short = FixedMarginClassifier(C=30.0, max_iter=1).fit(A, target).certificate_
    assert short.dual <= best.primal
    assert short.primal >= best.dual


def test_an_interrupt_keeps_the_last_point(monkeypatch):
    sweep, calls = coordinate_descent._State.sweep, []

    def interrupted(self, order):
        calls.append(1)
        if len(calls) == 4:
            raise KeyboardInterrupt
        sweep(self, order)

    monkeypatch.setattr(coordinate_descent._State, "sweep", interrupted)
    found = descended(fixed_margin_problem(4, 5.0), 1e-12)
    assert found.certificate.status == "interrupted"
    assert np.isfinite(found.certificate.relative_gap)


def test_square_lengths_of_rows_of_all_sizes():
    B = sp.csr_array(np.array([[0.0, 0.0], [1e-30, 0.0], [1e30, 2.0], [0.0, 0.0], [3.0, 4.0], [0.0, 0.0]]))
    np.testing.assert_allclose(square_lengths(B.data, B.indptr), [0.0, 1e-60, 1e60, 0.0, 25.0, 0.0], rtol=1e-15)
    picked = ArrayRows(B, np.array([4, 1]), None, 5.0).entries()
    np.testing.assert_allclose(picked.squares(), [1.0, 4e-62])
