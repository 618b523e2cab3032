"""Newton steps over kernel values reach the optimum that a quadratic program and a solve from nothing reach."""

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

from cases import slow_after
from hullrank import ConvexHullRanker, FixedMarginClassifier
from hullrank.problem.kernels import kernel_matrix
from hullrank.problem.statement import Point
from hullrank.solvers import kernel_path
from hullrank.solvers.base import Options
from hullrank.solvers.kernel_path import KernelPath, follows
from hullrank.solvers.solve import solve


def rows(seed=0, m=90):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 3))
    y = np.digitize(np.sin(2 * X[:, 0]) + X[:, 1] + 0.5 * rng.normal(size=m), [-0.8, 0.0, 0.8])
    return X, y, rng.integers(1, 4, m).astype(float), np.arange(m) % 2


MODELS = [
    FixedMarginClassifier(loss="squared_hinge", thresholds="all"),
    FixedMarginClassifier(loss="squared_hinge", thresholds="immediate"),
    ConvexHullRanker(),
    ConvexHullRanker("full"),
    ConvexHullRanker("0 < 1, 2 < 3"),
    ConvexHullRanker(slack="edge"),
    ConvexHullRanker(class_weight="balanced"),
]


@pytest.mark.parametrize("given", ["plain", "weighted", "grouped"])
@pytest.mark.parametrize("model", slow_after(3, MODELS), ids=str)
def test_a_path_ends_at_the_optimum(model, given):
    X, y, weights, groups = rows()
    model.set_params(kernel="rbf", gamma=0.3)
    extra = {"plain": {}, "weighted": {"sample_weight": weights}, "grouped": {"groups": groups}}[given]
    statement, tight = model.set_params(C=5.0).state(X, y, **extra), Options(1e-10, 200)
    path, last = KernelPath(statement), solve(statement, Options(1e-6, 200), None).point
    for C in (50.0, 500.0, 5000.0):
        stated = model.set_params(C=C)._restate(statement)
        found = path.solve(stated, tight, last)
        cold = solve(stated, tight, None)
        grade = stated.grade(found.point, found.evidence, found.scores)
        assert grade.primal - grade.dual <= 1e-9 * grade.primal
        assert grade.primal == pytest.approx(stated.grade(cold.point, cold.evidence).primal, rel=1e-8)
        np.testing.assert_allclose(found.scores, stated.scores(found.point), atol=1e-8)
        last = found.point


@pytest.mark.parametrize("thresholds", ["all", "immediate"])
def test_against_a_quadratic_program(thresholds):
    X, y, weights, _ = rows(3, 60)
    model = FixedMarginClassifier(C=5.0, loss="squared_hinge", thresholds=thresholds, kernel="rbf", gamma=0.5)
    statement = model.state(X, y, sample_weight=weights)
    path, last = KernelPath(statement), solve(statement, Options(1e-6, 200), None).point
    found = path.solve(model.set_params(C=80.0)._restate(statement), Options(1e-10, 200), last)
    L = np.linalg.cholesky(kernel_matrix(X, None, "rbf", gamma=0.5) + 1e-10 * np.eye(60))
    w, b = cp.Variable(60), cp.Variable(3)
    s, lost = L @ w, []
    for j in range(3):
        for k in range(4):
            if thresholds == "immediate" and k not in (j, j + 1):
                continue
            here = y == k
            sign = 1 if k > j else -1
            lost.append(weights[here] @ cp.square(cp.pos(1 - sign * (s[here] - b[j]))))
    program = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + 80 * cp.sum(lost)), [cp.diff(b) >= 0])
    program.solve(solver="CLARABEL")
    model.set_params(C=80.0)
    grade = model._restate(statement).grade(found.point, found.evidence, found.scores)
    assert grade.primal == pytest.approx(program.value, rel=1e-6)
    np.testing.assert_allclose(found.point.thresholds, b.value, atol=1e-4)


def test_where_slack_is_cheap_or_the_charge_has_a_kink_sequential_steps_stay():
    X, y, *_ = rows()
    for changes, expected in (
        ({"C": 100.0}, True),
        ({"C": 0.1}, False),
        ({"C": 100.0, "loss": "hinge"}, False),
        ({"C": 100.0, "loss": "logistic"}, False),
        ({"C": 100.0, "kernel": "linear"}, False),
        ({"C": 100.0, "approximation": 20}, False),
    ):
        model = FixedMarginClassifier(loss="squared_hinge", kernel="rbf").set_params(**changes)
        assert follows(model.state(X, y)) is expected, changes
    assert not follows(ConvexHullRanker(C=100.0, kernel="rbf", intervals="free").state(X, y))
    assert not follows(ConvexHullRanker(C=100.0, kernel="rbf", norm="coefficient").state(X, y))


def test_classes_so_many_that_the_incidence_is_sparse():
    X, *_ = rows(m=56)
    model = FixedMarginClassifier(C=100.0, loss="squared_hinge", thresholds="all", kernel="rbf", gamma=0.3)
    statement = model.state(X, np.argsort(np.argsort(X[:, 0])) // 2)
    assert sp.issparse(statement.problem.incidence)
    start = Point(np.zeros(56), np.zeros(27))
    found = KernelPath(statement).solve(statement, Options(1e-8, 200), start)
    grade = statement.grade(found.point, found.evidence)
    assert grade.primal - grade.dual <= 1e-8 * grade.primal


def test_an_open_gap_is_no_solution(monkeypatch):
    X, y, *_ = rows()
    model = ConvexHullRanker(C=100.0, kernel="rbf", gamma=0.3)
    statement = model.state(X, y)
    start = Point(np.zeros(len(y)), np.zeros(len(statement.problem.linear)))
    assert KernelPath(statement).solve(statement, Options(1e-300, 200), start) is None
    monkeypatch.setattr(kernel_path, "_MOST_STEPS", 1)
    assert KernelPath(statement).solve(statement, Options(1e-6, 200), start) is None


def test_equal_rows_and_a_kernel_of_few_dimensions():
    X, y, *_ = rows()
    X, y = np.repeat(X[:30], 3, axis=0), np.repeat(y[:30], 3)
    y[::7] = np.roll(y, 1)[::7]
    for kernel in ("rbf", "poly"):
        model = ConvexHullRanker(C=1.0, kernel=kernel, gamma=0.3, coef0=1.0, degree=2)
        statement = model.state(X, y)
        last = solve(statement, Options(1e-6, 200), None).point
        stated = model.set_params(C=1000.0)._restate(statement)
        found = KernelPath(statement).solve(stated, Options(1e-8, 200), last)
        assert found is not None
        grade = stated.grade(found.point, found.evidence)
        assert grade.primal - grade.dual <= 1e-8 * grade.primal
