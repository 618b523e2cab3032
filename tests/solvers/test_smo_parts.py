"""The parts of the kernel solver: conjugate steps, samples at rest, rows in lent memory, Newton steps in a box."""

import cvxpy as cp
import numpy as np
import pytest

from hullrank.data import Samples
from hullrank.problem.certificate import Status
from hullrank.problem.intervals import (
    Charge,
    fixed_margin_problem,
    hull_problem,
    nu_margin_problem,
    sum_of_margins_problem,
)
from hullrank.problem.kernels import Gram, kernel_matrix
from hullrank.problem.layout import lay_out, narrow
from hullrank.solvers import _smo_focus
from hullrank.solvers import _smo_loops as loops
from hullrank.solvers._smo_newton import Factor, FreeFace, _solve_face
from hullrank.solvers._smo_start import Start
from hullrank.solvers._smo_state import RowCache, make_state, row_memory
from hullrank.solvers.kernel_intervals import solve_kernel_intervals
from hullrank.solvers.smo import Descent, certify, primal_of

DIAMOND = [(0, 1), (0, 2), (1, 3), (2, 3)]
GAMMA = 0.3
PROBLEMS = {
    "fixed": fixed_margin_problem(4, 100.0),
    "fixed squared": fixed_margin_problem(4, 1.0, charge=Charge.SQUARED_HINGE),
    "all thresholds": fixed_margin_problem(4, 10.0, thresholds="all"),
    "hull": hull_problem(4, DIAMOND, 10.0),
    "hull hinge": hull_problem(4, DIAMOND, 10.0, charge=Charge.HINGE),
    "hull free": hull_problem(4, DIAMOND, 1.0, intervals="free"),
    "hull per edge": hull_problem(4, DIAMOND, 10.0, slack="edge", charge=Charge.HINGE),
}


def make_samples(m=400, n_classes=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 3))
    f = X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.3 * rng.normal(size=m)
    y = np.searchsorted(np.quantile(f, np.arange(1, n_classes) / n_classes), f)
    order = np.argsort(y, kind="stable")
    return Samples(X[order], y[order], rng.integers(1, 4, m).astype(float), n_classes)


def started(problem, samples):
    gram = Gram(samples.X, "rbf", GAMMA)
    layout = lay_out(problem, samples.starts, samples.weights)
    state = make_state(problem, layout, gram.diagonal(), RowCache(gram, row_memory(len(gram), np.float32, 100.0)))
    state.run(1e30, 0)
    return state, gram


@pytest.mark.parametrize("name", PROBLEMS)
def test_steps_keep_scores_flow_and_boxes(name):
    state, gram = started(PROBLEMS[name], make_samples())
    state.run(0.0, 3000)
    np.testing.assert_allclose(state.s, gram.times(state.beta), atol=2e-5 * np.abs(state.v).sum() ** 0.5)
    assert np.abs(state.flow_residual()).max() <= 1e-12 * np.abs(state.v).sum()
    alpha = state.shares()
    assert alpha.min() >= 0
    if PROBLEMS[name].charge is Charge.HINGE:
        assert alpha.max() <= 1 + 1e-12


@pytest.mark.parametrize("name", PROBLEMS)
def test_estimated_gaps_are_those_of_the_certificate(name):
    state, _ = started(PROBLEMS[name], make_samples())
    state.run(0.0, 1000)
    primal = primal_of(state)
    point = certify(state, primal)
    assert primal.objective == pytest.approx(point.primal, rel=1e-10)
    assert state.dual == pytest.approx(point.dual, rel=1e-10)


def test_scores_begin_a_cache_line():
    for m in (17, 400):
        state, _ = started(PROBLEMS["fixed"], make_samples(m))
        for vector in (state.s, state.q, state.rounded):
            assert vector.ctypes.data % 64 == 0
            assert len(vector) == m


def test_middles_of_thresholds_through_paths():
    rng = np.random.default_rng(0)
    for _ in range(50):
        n = int(rng.integers(1, 6))
        ends = np.stack([rng.normal(size=n), rng.normal(size=n) + 1, np.zeros(n)], axis=1)
        ends[rng.random(n) < 0.4, 0], ends[rng.random(n) < 0.4, 1] = -loops.FAR, loops.FAR
        cost = np.where(rng.random((n, n)) < 0.5, -loops.FAR, rng.normal(size=(n, n)))
        np.fill_diagonal(cost, 0.0)
        middle = np.empty(n)
        loops.middles(ends, cost, middle)
        for t in range(n):
            at_least = [ends[a, 0] + cost[a, t] for a in range(n) if min(ends[a, 0], cost[a, t]) > -1e29]
            at_most = [ends[a, 1] - cost[t, a] for a in range(n) if ends[a, 1] < 1e29 and cost[t, a] > -1e29]
            least, most = max(at_least, default=None), min(at_most, default=None)
            known = [end for end in (least, most) if end is not None]
            assert middle[t] == pytest.approx(np.mean(known) if known else 0.0, abs=1e-12)


def test_conjugate_directions_need_fewer_steps():
    taken = []
    for forgetful in (False, True):
        state, _ = started(PROBLEMS["fixed"], make_samples())
        while state.violation > 0.01:
            state.run(0.01, 1 if forgetful else 10**6)
            if forgetful:
                state.io[loops.MEMBERS] = 0.0
        taken.append(state.steps)
    assert taken[0] < 0.8 * taken[1]


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_narrowed_layout_knows_its_rows(name):
    problem, samples = PROBLEMS[name], make_samples()
    whole = lay_out(problem, samples.starts, samples.weights)
    kept = np.flatnonzero(np.random.default_rng(1).random(400) < 0.4)
    part, rows = narrow(problem, whole, kept)
    assert np.array_equal(whole.row_sample[rows], kept[part.row_sample])
    assert np.array_equal(whole.row_group[rows], part.row_group)
    np.testing.assert_array_equal(whole.row_cost[rows], part.row_cost)


def bring(cache, samples):
    """Have these rows, and others."""
    for sample in samples:
        if cache.slot[sample] < 0:
            cache.bring(sample, lambda: np.isin(np.arange(len(cache.slot)), samples).astype(float))


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("megabytes", [1.0, 0.2])
def test_rows_stay_true_when_memory_is_narrowed_and_lent(megabytes, compiled):
    samples = make_samples()
    gram = Gram(samples.X, "rbf", GAMMA, compiled=compiled)
    K = kernel_matrix(samples.X, kernel="rbf", gamma=GAMMA)
    cache = RowCache(gram, row_memory(400, np.float32, megabytes))
    rng = np.random.default_rng(2)
    bring(cache, rng.permutation(400)[:100])

    def check(cache, K):
        held = np.flatnonzero(cache.slot >= 0)
        values, raw = cache.values[cache.slot[held]], cache.raw[cache.slot[held]]
        assert (raw == compiled).all()
        np.testing.assert_allclose(np.where(raw[:, None], np.exp(values), values), K[held], atol=1e-6)
        assert np.array_equal(cache.owner[cache.slot[held]], held)
        return len(held)

    assert check(cache, K) >= 100
    kept = np.sort(rng.permutation(400)[:150])
    whole, cache, K = cache, cache.narrowed(gram.take(kept), kept), K[np.ix_(kept, kept)]
    assert check(cache, K) > 20
    bring(cache, np.arange(100))
    check(cache, K)
    lent = cache.lend((len(cache.memory) - 40 * 150) // 2)
    lent[:] = np.nan
    assert check(cache, K) == 40
    more = cache.lend(150)
    more[:] = np.nan
    assert not np.shares_memory(lent, more)
    assert check(cache, K) == 38
    cache.bring(0, lambda: np.zeros(150))
    check(cache, K)
    assert cache.lend(len(cache.memory)).size == len(cache.memory)  # does not fit: fresh memory
    check(cache, K)
    cache.lend((len(cache.memory) - 150) // 2)[:] = np.nan
    whole.clear()
    assert not whole.values[0].any()


@pytest.mark.parametrize("name", PROBLEMS)
def test_samples_at_rest_change_nothing(name, monkeypatch):
    samples, narrowed = make_samples(), []
    gram = Gram(samples.X, "rbf", GAMMA)
    plain = solve_kernel_intervals(PROBLEMS[name], samples, gram, tol=1e-7)
    monkeypatch.setattr(_smo_focus, "_LEAST", 20)
    narrow_to = _smo_focus.Focus.narrow
    monkeypatch.setattr(
        _smo_focus.Focus, "narrow", lambda self, kept: narrowed.append(len(kept)) or narrow_to(self, kept)
    )
    resting = solve_kernel_intervals(PROBLEMS[name], samples, gram, tol=1e-7)
    assert resting.certificate.status is Status.CONVERGED
    assert resting.certificate.primal == pytest.approx(plain.certificate.primal, rel=2e-7)
    if PROBLEMS[name].charge is Charge.HINGE:
        assert min(narrowed, default=400) < 300


def test_interruption_keeps_the_multipliers_of_those_at_rest(monkeypatch):
    samples = make_samples()
    monkeypatch.setattr(_smo_focus, "_LEAST", 20)
    newton = Descent.newton

    def interrupted(self, forced):
        if self.focus.narrowed:
            raise KeyboardInterrupt
        return newton(self, forced)

    monkeypatch.setattr(Descent, "newton", interrupted)
    solution = solve_kernel_intervals(PROBLEMS["fixed"], samples, Gram(samples.X, "rbf", GAMMA), tol=1e-9)
    assert solution.certificate.status is Status.INTERRUPTED
    assert 0 <= solution.certificate.relative_gap < 0.2


def test_problems_without_a_scale_rest_not():
    state, gram = started(sum_of_margins_problem(4, 0.03), make_samples())
    assert _smo_focus.Focus(state, gram).movable() is None


@pytest.mark.parametrize(("steps", "ridge"), [(100, 0.1), (200, 1e-4)])
def test_newton_steps_solve_the_box_of_their_face(steps, ridge):
    samples = make_samples(n_classes=2)
    state, _ = started(fixed_margin_problem(2, 10.0), samples)
    state.run(0.0, steps)
    face = FreeFace(state)
    K = kernel_matrix(samples.X[face.distinct], kernel="rbf", gamma=GAMMA)
    M = K[np.ix_(face.where, face.where)] + ridge * np.eye(len(face.rows))
    change, theta, tight, _ = _solve_face(face, Factor(face, K.copy(), ridge))
    assert not len(tight)
    np.testing.assert_allclose(face.clipped(change), change, atol=1e-12)
    held = (face.value + change == face.lower) | (face.value + change == face.upper)
    assert held.sum() >= 3
    x = cp.Variable(len(change))
    objective = cp.Maximize(face.residual @ x - 0.5 * cp.quad_form(x, cp.psd_wrap(M)))
    limits = [x >= face.lower - face.value, x <= face.upper - face.value, face.member.T @ x == -face.owed]
    best = cp.Problem(objective, limits).solve(solver=cp.CLARABEL)
    assert face.residual @ change - 0.5 * change @ M @ change == pytest.approx(best, rel=1e-6)
    np.testing.assert_allclose(face.member.T @ change, -face.owed, atol=1e-9)
    free = ~held
    np.testing.assert_allclose((M @ change - face.residual - face.member @ theta)[free], 0.0, atol=1e-6)


@pytest.mark.parametrize("name", [*PROBLEMS, "sum of margins", "nu"])
def test_a_start_that_is_not_balanced_is_repaired(name):
    samples = make_samples()
    others = {"sum of margins": sum_of_margins_problem(4, 0.02), "nu": nu_margin_problem(4, 0.5, 1200.0)}
    problem = {**PROBLEMS, **others}[name]
    gram = Gram(samples.X, "rbf", GAMMA)
    true = solve_kernel_intervals(problem, samples, gram, tol=1e-6)
    rows = lay_out(problem, samples.starts, samples.weights).n_rows
    shares = np.random.default_rng(3).uniform(size=rows) * true.certificate.primal / 1e3
    start = Start(np.minimum(shares, 1.0), np.zeros(len(problem.up)), 0.1 * problem.has_rho)
    found = solve_kernel_intervals(problem, samples, gram, tol=1e-6, start=start)
    assert found.certificate.solver == true.certificate.solver
    assert found.certificate.status is Status.CONVERGED
    assert found.certificate.primal == pytest.approx(true.certificate.primal, rel=2e-6)
