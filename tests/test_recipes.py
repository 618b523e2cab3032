"""The recipes of docs/architecture.md, each followed as it is written: what is added works with all that was there."""

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import minimize

from hullrank import ConvexHullRanker, ExactRanker, FixedMarginClassifier, OrderGraph
from hullrank.exceptions import CollapsedRankingWarning
from hullrank.metrics import RankStatistic, rank_statistic
from hullrank.models.margins import MarginClassifier
from hullrank.problem import charges, kernel_factor, kernels, statistics
from hullrank.problem.block_rows import Passes, add
from hullrank.problem.certificate import Status
from hullrank.problem.charges import Charge
from hullrank.problem.intervals import fixed_margin_problem
from hullrank.reports.certifying import certify
from hullrank.solvers import intervals
from hullrank.solvers._scaled import scale_problem
from hullrank.solvers.base import REGISTRY, Solver, register
from hullrank.solvers.interior_point import Iterate


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    return X, np.digitize(X @ [1.0, -0.5, 0.2] + 0.4 * rng.normal(size=60), [-0.6, 0.6])


def test_a_charge(monkeypatch, data):
    """The hinge rounded over one unit, 0 | v^2/2 | v - 1/2: a record, and a solver that names it."""
    monkeypatch.setattr(charges, "_BY_NAME", dict(charges._BY_NAME))
    rounded = Charge(
        "rounded_hinge", 4, 1.0, value=lambda v: np.clip(v, 0, 1) ** 2 / 2 + np.maximum(v - 1, 0),
        derivative=lambda v: np.clip(v, 0, 1), curvature=lambda v: ((v > 0) & (v < 1)).astype(float),
        conjugate=lambda a: a * a / 2, largest=1.0,
    )  # fmt: skip
    charges._BY_NAME["rounded_hinge"] = rounded

    def solve_by_gradients(scaled, tol, max_iter):
        problem, layout, rows = scaled.problem, scaled.layout, scaled.rows
        sign, n = layout.spread(problem.sign), rows.n_features

        def objective(z):
            v = layout.spread(problem.offsets(z[n:])) - sign * rows.scores(z[:n])[layout.row_sample]
            a = layout.cost * problem.charge.derivative(v)
            pull = np.bincount(layout.row_sample, -sign * a, layout.n_samples)
            flow = problem.flow(np.add.reduceat(a, layout.group_starts[:-1]))
            value = z[:n] @ z[:n] / 2 + layout.cost @ problem.charge.value(v)
            return value, np.concatenate([z[:n] + rows.adjoint(pull), flow])

        found = minimize(objective, np.zeros(n + len(problem.linear)), jac=True, tol=1e-12).x
        v = layout.spread(problem.offsets(found[n:])) - sign * rows.scores(found[:n])[layout.row_sample]
        multipliers = problem.charge.derivative(v)
        point = Iterate(found[:n], found[n:], multipliers, np.zeros(len(problem.up)), 1, Status.CONVERGED)
        return point, scaled.certify(point)

    monkeypatch.setattr("hullrank.solvers.base.REGISTRY", registry := dict(REGISTRY))
    monkeypatch.setattr(intervals, "REGISTRY", registry)
    register(Solver("gradients", "intervals", solve_by_gradients, charges=(rounded,)))
    monkeypatch.setitem(FixedMarginClassifier._parameter_constraints, "loss", [str])
    X, y = data
    model = FixedMarginClassifier(0.5, loss="rounded_hinge").fit(X, y)
    assert model.certificate_.status is Status.CONVERGED
    assert model.certificate_.solver == "gradients"
    assert certify(model, X, y).holds
    model.coef_ = 1.01 * model.coef_
    assert not certify(model, X, y).holds


def test_an_order_builder(data):
    """Edges (lo, hi) of labels are all that a builder has to give."""

    def diamond(bottom, middle, top):
        return [(bottom, each) for each in middle] + [(each, top) for each in middle]

    X, y = data
    y = np.where((y == 1) & (X[:, 2] > 0), 3, y)
    order = OrderGraph.from_edges(diamond(0, [1, 3], 2))
    assert order.closure().n_edges == 5
    model = ConvexHullRanker(order=order).fit(X, y)
    assert model.certificate_.status is Status.CONVERGED
    assert certify(model, X, y).holds


def test_a_statistic(monkeypatch):
    """Weights of the ranks under a name: the search maximises what the metric counts."""
    monkeypatch.setitem(statistics._WEIGHTS, "root", lambda level, n, _: np.sqrt(level))
    monkeypatch.setattr(statistics, "NAMES", (*statistics.NAMES, "root"))
    rng = np.random.default_rng(1)
    X, y = rng.integers(-4, 5, size=(14, 2)), rng.integers(0, 2, size=14)
    model = ExactRanker(statistic=RankStatistic("root")).fit(X, y)
    assert str(model.certificate_.status) == "proven_optimal"
    differences = (X[:, None] - X).reshape(-1, 2)
    ties = np.unique(np.arctan2(*differences[differences.any(axis=1)].T) % np.pi)  # angles of w at which pairs tie
    angles = np.append(ties, ties + np.pi)
    between = -(angles + np.roll(angles, -1) + [*np.zeros(len(angles) - 1), 2 * np.pi]) / 2
    values = [rank_statistic(y, X @ [np.cos(a), np.sin(a)], "root") for a in between]
    assert model.certificate_.value == pytest.approx(max(values), rel=1e-12)


def test_a_kernel(monkeypatch, data):
    """The name, the values from products gamma x.y, and that it has no negative eigenvalue."""
    X, y = data
    shape = kernels._shape_values

    def shape_values(block, kernel, degree, coef0, compiled=False):
        if kernel == "exponential":
            np.exp(block, out=block)
        else:
            shape(block, kernel, degree, coef0, compiled)

    monkeypatch.setattr(kernels, "KERNELS", (*kernels.KERNELS, "exponential"))
    monkeypatch.setattr(kernels, "_shape_values", shape_values)
    monkeypatch.setattr(kernel_factor, "_DEFINITE", (*kernel_factor._DEFINITE, "exponential"))
    allowed = FixedMarginClassifier._parameter_constraints
    monkeypatch.setitem(allowed, "kernel", [*allowed["kernel"], str])
    model = FixedMarginClassifier(kernel="exponential", gamma=0.3).fit(X, y)
    twin = FixedMarginClassifier(kernel=lambda A, B: np.exp(0.3 * A @ B.T)).fit(X, y)
    assert model.certificate_.status is Status.CONVERGED
    np.testing.assert_allclose(model.score_samples(X), twin.score_samples(X), atol=1e-2)
    assert model.certificate_.primal == pytest.approx(twin.certificate_.primal, rel=2e-6)


class GentleMargin(MarginClassifier):
    """An estimator: which problem it solves, and how its thresholds are read from the attributes."""

    def __init__(self, C=1.0):
        self.C = C

    def _problem(self, order, samples, space):
        return fixed_margin_problem(samples.n_classes, self.C, loss="logistic")

    def _stored_thresholds(self, statement):
        return self.thresholds_


def test_an_estimator(data):
    X, y = data
    model = GentleMargin(C=0.7).fit(X, y)
    twin = FixedMarginClassifier(0.7, loss="logistic", thresholds="immediate").fit(X, y)
    assert model.certificate_.status is Status.CONVERGED
    assert model.certificate_.primal == pytest.approx(twin.certificate_.primal, rel=2e-6)
    assert certify(model, X, y).holds
    np.testing.assert_array_equal(model.predict(X), twin.predict(X))
    with pytest.warns(CollapsedRankingWarning, match="charge slack more"):
        GentleMargin().fit(np.ones_like(X), y)


def test_a_solver(monkeypatch, data):
    """A point with multipliers, here those of a conic solver; the certificate is graded as ever."""
    X, y = data

    def solve_conic(scaled, tol, max_iter):
        rows, layout, problem = scaled.rows.take(np.arange(scaled.n_samples)).X, scaled.layout, scaled.problem
        w, b = cp.Variable(rows.shape[1]), cp.Variable(len(problem.linear))
        sign, group = problem.sign[layout.row_group], layout.row_group
        slack = cp.Variable(layout.n_rows, nonneg=True)
        margin = cp.multiply(sign, rows[layout.row_sample] @ w - b[problem.threshold[group]])
        held = margin + slack >= problem.offset[group]
        ordered = b[problem.up] - b[problem.low] >= problem.gap
        cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + layout.cost @ slack), [held, ordered]).solve(cp.CLARABEL)
        point = Iterate(w.value, b.value, held.dual_value / layout.cost, ordered.dual_value, 1, Status.CONVERGED)
        return point, scaled.certify(point)

    monkeypatch.setattr("hullrank.solvers.base.REGISTRY", registry := dict(REGISTRY))
    monkeypatch.setattr(intervals, "REGISTRY", registry)
    register(Solver("conic", "intervals", solve_conic, charges=(Charge.HINGE,), shared_slacks=False))
    X, y = data
    model = FixedMarginClassifier(0.5, loss="hinge", thresholds="immediate")
    statement = model.state(X, y)
    found = intervals.solve_intervals(statement, intervals.Options(1e-6), solver="conic")
    grade = statement.grade(found.point, found.evidence)
    assert grade.primal - grade.dual <= 1e-6 * grade.primal
    assert grade.primal == pytest.approx(model.fit(X, y).certificate_.primal, rel=2e-6)


class CountedRows:
    """Rows of another kind: the products of the protocol, and how often each was asked for."""

    def __init__(self, rows, asked):
        self._rows, self.asked = rows, asked

    n_rows = property(lambda self: self._rows.n_rows)
    n_features = property(lambda self: self._rows.n_features)
    copied = property(lambda self: self)
    is_sparse = False
    columns = None

    def __getattr__(self, name):
        if name not in ("scores", "adjoint", "gram", "gram_operator", "group_sums", "take"):
            raise AttributeError(f"{name} is no product of the protocol")
        self.asked[name] = self.asked.get(name, 0) + 1
        return getattr(self._rows, name)


@pytest.mark.parametrize(
    ("solver", "loss"),
    [
        ("interior point", "hinge"),
        ("interior point", "squared_hinge"),
        ("semismooth Newton", "squared_hinge"),
        ("semismooth Newton", "logistic"),
    ],
)
def test_rows_of_another_kind(data, solver, loss):
    """The interior-point and Newton methods, and their certificate, see X through the products alone."""
    X, y = data
    scaled = scale_problem(FixedMarginClassifier(0.5, loss=loss).state(X, y)).copied()
    asked = {}
    _, one = REGISTRY[solver].solve(scaled, 1e-9, 100)
    _, two = REGISTRY[solver].solve(replace(scaled, rows=CountedRows(scaled.rows, asked)), 1e-9, 100)
    assert max(one.relative_gap, two.relative_gap) <= 1e-9
    assert one.primal == pytest.approx(two.primal, rel=1e-9)
    assert min(asked["scores"], asked["adjoint"], asked["gram"]) >= 1


class FiledBlocks:
    """Rows held by someone else: here by files, one for every block, written anew by ``map``."""

    def __init__(self, folder, n_blocks, counter=None, depth=0):
        self.folder, self.n_blocks, self.counter, self.depth = folder, n_blocks, counter or Passes(), depth

    passes = property(lambda self: self.counter.count)

    def _load(self, i):
        return np.load(self.folder / f"{self.depth}-{i}.npy", allow_pickle=True)[()]

    def store(self, i, block):
        held = np.empty((), dtype=object)
        held[()] = block
        np.save(self.folder / f"{self.depth}-{i}.npy", held, allow_pickle=True)

    def map(self, task, *args):
        other = FiledBlocks(self.folder, self.n_blocks, self.counter, self.depth + 1)
        for i in range(self.n_blocks):
            other.store(i, task(self._load(i), *args))
        return other

    def sum(self, task, *args):
        self.counter.count += 1
        total = {}
        for i in range(self.n_blocks):
            total = add(total, task(self._load(i), *args))
        return total


class NotGathered:
    """A source whose blocks are never held all at once."""

    gathers = False
    memory = 1 << 20

    def __len__(self):
        return 3


def test_rows_held_by_someone_else(tmp_path):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(6000, 3))
    y = np.digitize(X @ [1.0, -0.5, 0.2] + 0.4 * rng.normal(size=6000), [-0.6, 0.6])
    blocks = FiledBlocks(tmp_path, 3)
    for i, part in enumerate(np.split(np.arange(6000), 3)):
        blocks.store(i, (X[part], y[part], None, None))
    model = FixedMarginClassifier(1.0)._fit_blocks(blocks, NotGathered(), 0.0)
    whole = FixedMarginClassifier(1.0).fit(X, y)
    assert model.certificate_.status is Status.CONVERGED
    assert model.certificate_.passes == blocks.passes >= 2
    assert model.certificate_.primal == pytest.approx(whole.certificate_.primal, rel=2e-6)
