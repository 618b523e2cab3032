"""The parts of the exact search against independent computations."""

from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hullrank.exact.arrangement import pair_arrangement
from hullrank.exact.cells import box_around, facet_boxes, swept_cells
from hullrank.exact.direction import nearest_point, widest_weights
from hullrank.exact.grid import read_grid
from hullrank.exact.mip import rank_program
from hullrank.exact.plane_search import PlaneSearch
from hullrank.exact.plane_sweep import sweep_plane
from hullrank.exact.relaxation import RelaxationStatement, relax
from hullrank.exact.rows import join_rows
from hullrank.exact.statement import state_pairs, state_ranks
from hullrank.exceptions import HullrankError
from hullrank.problem.certificate import Status
from hullrank.problem.statistics import RankStatistic
from hullrank.solvers.base import Options
from hullrank.solvers.linear_program import GrowingProgram, solve_lp, solve_mip


def pairs(seed, n=20, d=3, grades=2, weighted=False):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, d)), 1)
    y = np.r_[np.arange(grades), rng.integers(0, grades, n - grades)]
    weights = rng.integers(1, 4, n) / 2 if weighted else np.ones(n)
    return X, y, weights, rng.integers(0, 2, n)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(*[st.floats(-1e6, 1e6)] * 2), min_size=2, max_size=6), st.tuples(*[st.floats(-1e3, 1e3)] * 2))
def test_exact_order_is_the_order_of_fractions(rows, w):
    scores = [Fraction(a) * Fraction(w[0]) + Fraction(b) * Fraction(w[1]) for a, b in rows]
    expected = [sorted(set(scores)).index(s) for s in scores]
    sizes = np.abs(np.array(rows))
    assume(all(column[column > 0].min(initial=1.0) > 1e-280 for column in sizes.T))
    grid = read_grid(np.array(rows))
    if not grid.read:
        assert grid.order(np.array(w)).tolist() == expected


def test_numbers_of_hopeless_range_are_refused():
    with pytest.raises(HullrankError, match="column 1 of X holds numbers of sizes too different"):
        read_grid(np.array([[0.0, 1e-300], [1.0, 1e300], [2.0, 3e-300]]))


def test_exact_order_sees_what_floats_round_away():
    X = np.array([[1.0, 1e-30], [1.0, 0.0]])
    assert (X @ np.ones(2))[0] == (X @ np.ones(2))[1]
    assert read_grid(X).order(np.ones(2)).tolist() == [1, 0]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("weighted", [False, True])
def test_arrangement_counts_what_the_recount_counts(seed, weighted):
    X, y, weights, query = pairs(seed, grades=3, weighted=weighted)
    statement = state_pairs(X, y, weights, query)
    rng = np.random.default_rng(seed)
    for _ in range(20):
        w = rng.normal(size=3)
        s = X @ w
        better = (y[:, None] > y) & (query[:, None] == query) & (s[:, None] > s)
        expected = (np.outer(weights, weights) * better).sum()
        assert float(statement.recount(w)) == pytest.approx(expected, rel=1e-12)
        assert statement.arrangement.value(w * statement.scale) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", ["wrs", "partial_wmw", "wta", "mrr", "dcg", "pnorm"])
def test_rank_arrangement_counts_the_statistic(name):
    X, y, _, _ = pairs(0)
    X[3] = X[4]
    y[3], y[4] = 0, 1
    X[5] = X[6]
    y[5] = y[6] = 1
    statistic = RankStatistic(name)
    statement = state_ranks(X, y, np.ones(20), statistic.weights(20))
    rng = np.random.default_rng(0)
    for _ in range(20):
        w = rng.normal(size=3)
        expected = statistic.value(y == 1, X @ w)
        assert float(statement.recount(w)) == pytest.approx(expected, rel=1e-12)
        assert statement.arrangement.value(w * statement.scale) == pytest.approx(expected, rel=1e-12)


def test_opposite_differences_cancel_and_parallel_ones_add():
    D = np.array([[1.0, 2.0], [-2.0, -4.0], [3.0, 6.0], [1.0, 0.0], [0.0, 0.0]])
    grid = read_grid(np.vstack([D, [[0.0, 0.0]]]))
    merged = pair_arrangement(grid, np.arange(5), np.full(5, 5), np.ones(5))
    assert merged.constant == 1.0
    assert sorted(merged.weight.tolist()) == [1.0, 1.0]


@pytest.mark.parametrize("unit", [1.0, np.pi * 1e20])
def test_opposite_differences_of_one_column_cancel(unit):
    X = unit * np.array([[2.0], [-2.0], [0.0], [unit]])
    merged = pair_arrangement(read_grid(X), np.array([0, 1]), np.full(2, 2), np.ones(2))
    assert merged.constant == 1.0
    assert not len(merged.D)


@pytest.mark.parametrize("name", ["auc", "dcg"])
@pytest.mark.parametrize("seed", range(4))
def test_sweep_is_the_best_of_a_plane(name, seed):
    X, y, weights, _ = pairs(seed, n=14)
    zeros = np.zeros(14, dtype=int)
    gain = RankStatistic("dcg").weights(14)
    statement = state_pairs(X, y, weights, zeros) if name == "auc" else state_ranks(X, y, weights, gain)
    arrangement = statement.arrangement
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, 3))
    value, cosine, sine = sweep_plane(arrangement, arrangement.D @ a, arrangement.D @ b)
    angles = np.linspace(0, 2 * np.pi, 20_001)
    sampled = max(arrangement.value(np.cos(t) * a + np.sin(t) * b) for t in angles[::5])
    assert arrangement.value(cosine * a + sine * b) == pytest.approx(value, rel=1e-12)
    assert value >= sampled * (1 - 1e-12)


def test_plane_search_only_improves_and_is_deterministic():
    X, y, weights, query = pairs(3, n=40, d=5)
    arrangement = state_pairs(X, y, weights, 0 * query).arrangement
    ends = []
    for _ in range(2):
        search = PlaneSearch(arrangement, np.eye(5), np.random.default_rng(0), np.ones(5))
        values = []
        for _ in range(20):
            search.run(5)
            values.append(search.value)
        ends.append(search.w)
        assert values == sorted(values)
        assert values[0] >= arrangement.value(np.ones(5))
        assert arrangement.value(search.w) == search.value
    np.testing.assert_array_equal(*ends)


@pytest.mark.parametrize("seed", range(6))
def test_nearest_point_agrees_with_a_conic_solver(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(2, 6))
    D = rng.normal(size=(60, d))
    D = D[D @ np.ones(d) > 0.1]
    w = cp.Variable(d)
    cp.Problem(cp.Minimize(cp.sum_squares(w)), [D @ w >= 1]).solve(solver="CLARABEL")
    ours = nearest_point(D)
    np.testing.assert_allclose(ours / np.linalg.norm(ours), w.value / np.linalg.norm(w.value), atol=1e-5)
    margin = (D @ ours).min() / np.linalg.norm(ours)
    assert margin == pytest.approx(np.linalg.norm(ours), rel=1e-9)


def test_settled_direction_depends_only_on_the_cell():
    X, y, weights, query = pairs(0, n=12)
    statement = state_pairs(X, y, weights, 0 * query)
    w = np.array([1.0, 0.5, -0.2])
    first, value = widest_weights(statement, w)
    again, _ = widest_weights(statement, first * statement.scale)
    assert value >= statement.recount(w / statement.scale)
    assert np.abs(first).max() == 1.0
    np.testing.assert_allclose(first, again, rtol=1e-9)


def test_cells_cover_all_directions_and_boxes_hold_swept_cells():
    rng = np.random.default_rng(0)
    d = 4
    boxes, swept = list(facet_boxes(d, 0.0)), list(swept_cells(d))
    for _ in range(200):
        w = rng.normal(size=d)
        unit = w / np.abs(w).max()
        assert any((np.abs(unit - b[:d]) <= b[d : 2 * d] + 1e-12).all() for b in boxes)
        u = w / np.abs(w[1:]).max()
        s = u[0] / (1 + abs(u[0]))
        inside = [
            c
            for c in swept
            if (np.abs(u[1:] - c[1:d]) <= c[d + 1 : 2 * d] + 1e-12).all() and c[2 * d] <= s <= c[2 * d + 1]
        ]
        assert inside
        for cell in inside:
            small = cell.copy()
            small[1:d], small[d + 1 : 2 * d] = u[1:], np.minimum(0.1, cell[d + 1 : 2 * d])
            small[2 * d :] = max(s - 0.05, cell[2 * d]), min(s + 0.05, cell[2 * d + 1])
            box = box_around(small, 0.0)
            assert (np.abs(unit - box[:d]) <= box[d : 2 * d] + 1e-12).all()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("weighted", [False, True])
def test_relaxation_equals_the_whole_linear_program(seed, weighted):
    X, y, weights, query = pairs(seed, n=24, grades=3, weighted=weighted)
    epsilon = 1e-2
    rows = join_rows(X, y, weights, query)
    statement = RelaxationStatement(rows, epsilon)
    ours = relax(statement, Options(1e-9, 500))
    graded, w = statement.grade(ours.point, ours.evidence), ours.point.coef
    program = rank_program(state_pairs(X, y, weights, query), epsilon).program
    whole = solve_lp(
        program.c, program.A, *(getattr(program, k) for k in ("row_lower", "row_upper", "col_lower", "col_upper"))
    )
    hinge = (-program.c.sum() + whole.objective) / epsilon
    assert ours.status is Status.CONVERGED
    assert graded.primal == pytest.approx(hinge, rel=1e-6)
    assert graded.dual == pytest.approx(graded.primal, rel=1e-8)
    assert graded.dual <= graded.primal * (1 + 1e-12)
    s = X @ w
    compare = (y[:, None] > y) & (query[:, None] == query)
    loss = np.maximum(0, epsilon - (s[:, None] - s)) * np.outer(weights, weights)
    assert loss[compare].sum() / epsilon == pytest.approx(graded.primal, rel=1e-9)
    assert np.abs(w).max() <= 1 + 1e-12
    assert (s[:, None] - s)[compare].min() >= epsilon - 1 - 1e-9


def test_interrupted_relaxation_keeps_its_best(monkeypatch):
    X, y, weights, query = pairs(0, n=30)
    rows = join_rows(X, y, weights, query)
    solve, calls = GrowingProgram.solve, []

    def impatient(self, seconds):
        calls.append(None)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return solve(self, seconds)

    monkeypatch.setattr(GrowingProgram, "solve", impatient)
    statement = RelaxationStatement(rows, 1e-3)
    answer = relax(statement, Options(1e-9, 500))
    graded = statement.grade(answer.point, answer.evidence)
    assert answer.status is Status.INTERRUPTED
    assert answer.iterations == 4
    assert graded.dual <= graded.primal < np.inf
    s = rows.X @ answer.point.coef
    compare = (rows.codes[:, None] > rows.codes) & (rows.query[:, None] == rows.query)
    assert np.maximum(0, 1e-3 - (s[:, None] - s))[compare].sum() * 1e3 == pytest.approx(graded.primal, rel=1e-9)


@pytest.mark.parametrize("name", ["auc", "wrs", "partial_wmw", "wta", "mrr", "dcg", "pnorm"])
def test_mip_finds_the_optimum_of_tiny_data(name):
    rng = np.random.default_rng(2)
    X = rng.integers(-3, 4, size=(8, 2)).astype(float)
    y = np.array([0, 1, 0, 1, 0, 0, 1, 1])
    ones = np.ones(8)
    gain = None if name == "auc" else RankStatistic(name, t=4, p=2).weights(8)
    statement = state_pairs(X, y, ones, 0 * y) if gain is None else state_ranks(X, y, ones, gain)
    program = rank_program(statement, 1e-3)
    w, claimed, bound, _ = program.solve(30.0, np.ones(2))
    angles = np.linspace(0, 2 * np.pi, 5000)
    best = max(float(statement.recount(np.array([np.cos(t), np.sin(t)]))) for t in angles[::10])
    assert float(statement.recount(w)) == pytest.approx(claimed, rel=1e-6)
    assert claimed >= best - 1e-6
    assert bound >= claimed - 1e-6


def test_start_of_the_mip_is_feasible():
    X, y, _, query = pairs(1, n=12)
    for statement in (
        state_pairs(X, y, np.ones(12), 0 * query),
        state_ranks(X, y, np.ones(12), RankStatistic("dcg").weights(12)),
    ):
        program = rank_program(statement, 1e-4)
        point = program.point(np.array([1.0, -2.0, 0.5]))
        rows = program.program.A @ point
        assert (rows <= program.program.row_upper + 1e-9).all()
        assert (point >= program.program.col_lower).all()
        assert (point <= program.program.col_upper).all()
        value = program.constant - program.program.c @ point
        assert value == pytest.approx(float(statement.recount(np.array([1.0, -2.0, 0.5]))), rel=1e-9)
        assert solve_mip(program.program, time_limit=1e-3, start=point).objective <= program.program.c @ point + 1e-9
