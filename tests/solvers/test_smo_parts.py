"""The parts of the kernel solver: sequential steps, paths between thresholds, shrinking, the row cache, warm starts."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from hullrank.data import Samples
from hullrank.problem.certificate import Status
from hullrank.problem.charges import Charge
from hullrank.problem.gram import Gram
from hullrank.problem.intervals import (
    fixed_margin_problem,
    hull_problem,
    nu_margin_problem,
    sum_of_margins_problem,
)
from hullrank.problem.kernels import kernel_matrix
from hullrank.problem.layout import lay_out, restrict_layout
from hullrank.solvers import _smo_loops as loops
from hullrank.solvers import smo
from hullrank.solvers._smo_cache import RowCache
from hullrank.solvers._smo_newton import find_face, newton_step
from hullrank.solvers._smo_settings import SmoSettings
from hullrank.solvers._smo_shrinking import ActiveSet
from hullrank.solvers._smo_start import Start, put_start
from hullrank.solvers._smo_state import SmoState
from hullrank.solvers.smo import certify, primal_of
from statements import kernel_solved

DIAMOND = [(0, 1), (0, 2), (1, 3), (2, 3)]
GAMMA = 0.3
SETTINGS = SmoSettings()
PROBLEMS = {
    "fixed": fixed_margin_problem(4, 100.0),
    "fixed squared": fixed_margin_problem(4, 1.0, loss="squared_hinge"),
    "all thresholds": fixed_margin_problem(4, 10.0, thresholds="all"),
    "hull": hull_problem(4, DIAMOND, 10.0),
    "hull hinge": hull_problem(4, DIAMOND, 10.0, loss="hinge"),
    "hull free": hull_problem(4, DIAMOND, 1.0, intervals="free"),
    "hull per edge": hull_problem(4, DIAMOND, 10.0, slack="edge", loss="hinge"),
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
    state = SmoState(problem, layout, gram.diagonal(), RowCache(gram, 100.0, SETTINGS))
    state.refresh()
    state.measure()
    return state, gram


@pytest.mark.parametrize("name", PROBLEMS)
def test_steps_keep_scores_flow_and_boxes(name):
    state, gram = started(PROBLEMS[name], make_samples())
    state.run(0.0, 3000)
    np.testing.assert_allclose(state.scores, gram.times(state.beta), atol=2e-5 * np.abs(state.v).sum() ** 0.5)
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


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_violation_is_that_of_its_definition(name):
    """The largest contradiction between bounds of -theta, over all pairs of rows and paths between their thresholds."""
    state, _ = started(PROBLEMS[name], make_samples(60))
    state.run(0.0, 50)
    residual = state.goal - state.scores[state.layout.row_sample]
    threshold = state.problem.threshold[state.layout.row_group]
    may_rise, may_fall = state.v < state.upper, state.v > state.lower
    gain = state.path_cost[np.ix_(threshold[may_rise], threshold[may_fall])]
    pairs = residual[may_rise][:, None] - residual[may_fall] + gain
    assert state.violation == pytest.approx(pairs.max(), abs=1e-5)
    assert state.violations().max() <= state.violation + 1e-5


def test_best_paths_are_those_of_all_walks():
    rng = np.random.default_rng(0)
    for _ in range(30):
        n = int(rng.integers(2, 6))
        edges = [(int(up), int(low)) for up in range(n) for low in range(up) if rng.random() < 0.5]
        tight = rng.random(len(edges)) < 0.3
        # Gaps at or, where not tight, below the distance of two points, so that no cycle of arcs has a gain.
        gaps = np.array([5.0 * (up - low) for up, low in edges]) - np.where(tight, 0, rng.integers(0, 3, len(edges)))
        arcs = [(up, low, gap, e) for e, ((up, low), gap) in enumerate(zip(edges, gaps, strict=True))]
        arcs += [(low, up, -gap, e) for up, low, gap, e in arcs if tight[e]]
        walks = np.where(np.eye(n) > 0, 0.0, -np.inf)
        for _ in range(n):
            for a, b, gain, _ in arcs:
                walks[:, b] = np.maximum(walks[:, b], walks[:, a] + gain)
        cost, hop = np.empty((n, n)), np.empty((n, n), dtype=np.int64)
        loops.find_paths(np.array(edges, dtype=np.int64).reshape(-1, 2), gaps, tight.astype(float), cost, hop)
        np.testing.assert_allclose(cost, walks)
        for a, b in zip(*np.nonzero(np.isfinite(cost) & ~np.eye(n, dtype=bool)), strict=True):
            gained, at = 0.0, a
            while at != b:
                _, at, gain, _ = next(arc for arc in arcs if arc[0] == at and arc[3] == hop[at, b])
                gained += gain
            assert gained == pytest.approx(cost[a, b])


def test_conjugate_directions_need_fewer_steps():
    taken = []
    for forgetful in (False, True):
        state, _ = started(PROBLEMS["fixed"], make_samples())
        while state.violation > 0.01:
            state.run(0.01, 1 if forgetful else 10**6)
            if forgetful:
                state.numbers[loops.CURVATURE] = 0.0
        taken.append(state.steps)
    assert taken[0] < 0.8 * taken[1]


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_restricted_layout_knows_its_rows(name):
    problem, samples = PROBLEMS[name], make_samples()
    whole = lay_out(problem, samples.starts, samples.weights)
    kept = np.flatnonzero(np.random.default_rng(1).random(400) < 0.4)
    part, rows = restrict_layout(problem, whole, kept)
    assert np.array_equal(whole.row_sample[rows], kept[part.row_sample])
    assert np.array_equal(whole.row_group[rows], part.row_group)
    np.testing.assert_array_equal(whole.row_cost[rows], part.row_cost)


def load(cache, samples):
    """Have these rows, and others."""
    for sample in samples:
        if cache.slot[sample] < 0:
            cache.load(sample, lambda: np.isin(np.arange(len(cache.slot)), samples).astype(float))


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("megabytes", [1.0, 0.2])
def test_cached_rows_stay_true_when_samples_are_left_out(megabytes, compiled):
    samples = make_samples()
    gram = Gram(samples.X, "rbf", GAMMA, compiled=compiled)
    K = kernel_matrix(samples.X, kernel="rbf", gamma=GAMMA)
    cache = RowCache(gram, megabytes, replace(SETTINGS, batch_bytes=1 << 14))
    rng = np.random.default_rng(2)
    load(cache, rng.permutation(400)[:100])

    def check(K):
        held = np.flatnonzero(cache.slot >= 0)
        values, pending = cache.values[cache.slot[held]], cache.pending[cache.slot[held]]
        assert (pending == compiled).all()
        np.testing.assert_allclose(np.where(pending[:, None], np.exp(values), values), K[held], atol=1e-6)
        assert np.array_equal(cache.owner[cache.slot[held]], held)
        return len(held)

    assert check(K) >= 100
    kept = np.sort(rng.permutation(400)[:150])
    cache.restrict(gram.take(kept), kept)
    part = K[np.ix_(kept, kept)]
    assert check(part) > 20
    load(cache, np.arange(100))
    assert check(part) >= 100
    cache.reset(gram)
    assert check(K) == 0
    load(cache, np.arange(300))
    assert check(K) == min(300, cache.capacity) or check(K) > 300
    assert cache.values.nbytes <= 1e6 * megabytes


def test_a_newton_matrix_beside_the_rows_respects_the_cache_size():
    samples = make_samples()
    gram = Gram(samples.X, "rbf", GAMMA)
    cache = RowCache(gram, 1.0, SETTINGS)
    load(cache, np.arange(50))
    cache.make_room(300_000, gram)
    assert (cache.slot >= 0).any()
    cache.make_room(400_000, gram)
    assert cache.values.nbytes == 0
    load(cache, np.arange(50))
    np.testing.assert_allclose(
        cache.values[cache.slot[7]], kernel_matrix(samples.X, kernel="rbf", gamma=GAMMA)[7], atol=1e-6
    )


@pytest.mark.parametrize("name", PROBLEMS)
def test_shrinking_changes_nothing(name, monkeypatch):
    samples, sizes = make_samples(), []
    gram = Gram(samples.X, "rbf", GAMMA)
    plain = kernel_solved(PROBLEMS[name], samples, gram, tol=1e-7)
    restrict = ActiveSet._restrict
    monkeypatch.setitem(smo.solve_by_smo.__kwdefaults__, "settings", replace(SETTINGS, shrink_least=20))
    monkeypatch.setattr(ActiveSet, "_restrict", lambda self, kept: sizes.append(len(kept)) or restrict(self, kept))
    shrunk = kernel_solved(PROBLEMS[name], samples, gram, tol=1e-7)
    assert shrunk.certificate.status is Status.CONVERGED
    assert shrunk.certificate.primal == pytest.approx(plain.certificate.primal, rel=2e-7)
    if PROBLEMS[name].charge is Charge.HINGE:
        assert min(sizes, default=400) < 300


def test_interruption_keeps_the_multipliers_of_shrunk_samples(monkeypatch):
    samples = make_samples()
    monkeypatch.setitem(smo.solve_by_smo.__kwdefaults__, "settings", replace(SETTINGS, shrink_least=20))
    newton = smo.Descent.newton

    def interrupted(self, forced):
        if self.active.is_shrunk:
            raise KeyboardInterrupt
        return newton(self, forced)

    monkeypatch.setattr(smo.Descent, "newton", interrupted)
    solution = kernel_solved(PROBLEMS["fixed"], samples, Gram(samples.X, "rbf", GAMMA), tol=1e-9)
    assert solution.certificate.status is Status.INTERRUPTED
    assert 0 <= solution.certificate.relative_gap < 0.2


def test_problems_without_a_scale_are_not_shrunk():
    state, gram = started(sum_of_margins_problem(4, 0.03), make_samples())
    assert not ActiveSet(state, gram, replace(SETTINGS, shrink_least=20)).shrink()


@pytest.mark.parametrize("name", PROBLEMS)
def test_newton_steps_climb_to_the_optimum_of_their_face(name):
    state, gram = started(PROBLEMS[name], make_samples())
    state.run(0.0, 2000)
    state.scores[:] = gram.times(state.beta)
    state.refresh()
    before, start, face, ridge = state.dual, state.v.copy(), find_face(state), 1e-2
    length = newton_step(state, gram, face, ridge, 0.0, SETTINGS)
    assert length > 0.9
    assert state.dual > before
    np.testing.assert_allclose(state.scores, gram.times(state.beta), atol=1e-9 * np.abs(state.v).sum())
    assert np.abs(state.flow_residual()).max() <= 1e-9 * np.abs(state.v).sum()
    assert (state.v >= state.lower).all()
    assert (state.v <= state.upper).all()
    if length == 1:  # at the optimum of the face, damped residuals of the free rows of a threshold are equal
        free = np.intersect1d(state.free_rows, face.rows)
        residual = (state.goal - state.scores[state.layout.row_sample] - ridge * (state.v - start))[free]
        threshold = state.problem.threshold[state.layout.row_group[free]]
        for t in np.unique(threshold):
            assert np.ptp(residual[threshold == t]) <= 1e-6


@pytest.mark.parametrize("name", [*PROBLEMS, "sum of margins", "nu"])
def test_a_start_that_is_not_balanced_is_repaired(name):
    samples = make_samples()
    others = {"sum of margins": sum_of_margins_problem(4, 0.02), "nu": nu_margin_problem(4, 0.5, 1200.0)}
    problem = {**PROBLEMS, **others}[name]
    gram = Gram(samples.X, "rbf", GAMMA)
    true = kernel_solved(problem, samples, gram, tol=1e-6)
    rows = lay_out(problem, samples.starts, samples.weights).n_rows
    shares = np.random.default_rng(3).uniform(size=rows) * true.certificate.primal / 1e3
    start = Start(np.minimum(shares, 1.0), np.zeros(len(problem.up)), 0.1 * problem.has_rho)
    found = kernel_solved(problem, samples, gram, tol=1e-6, start=start)
    assert found.certificate.solver == true.certificate.solver
    assert found.certificate.status is Status.CONVERGED
    assert found.certificate.primal == pytest.approx(true.certificate.primal, rel=2e-6)


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_start_for_another_price_is_stretched_to_the_best_multiple(name):
    samples, problem = make_samples(120), PROBLEMS[name]
    state, gram = started(problem, samples)
    state.run(1e-3, 2000)
    start = Start(state.shares(), state.order_multipliers / problem.cost, 0.0)
    dearer = replace(problem, cost=30 * problem.cost)
    state, _ = started(dearer, samples)
    put_start(state, start, gram)
    assert np.all((state.v >= state.lower) & (state.v <= state.upper))
    np.testing.assert_allclose(state.scores, gram.times(state.beta), atol=1e-9 * np.abs(state.scores).max())
    v, order, scores, best = state.v.copy(), state.order.copy(), state.scores.copy(), state.dual
    for factor in (0.9, 0.999, 1.001, 1.1):
        state.v[:], state.order[:], state.scores[:] = factor * v, factor * order, factor * scores
        if np.all((state.v >= state.lower) & (state.v <= state.upper)):
            assert state.dual < best


def test_order_multipliers_that_flow_round_a_cycle_are_sent_along_best_paths():
    """The flow into the thresholds stays the same, its gain does not fall, and no path gains by going round."""
    rng = np.random.default_rng(0)
    problem = hull_problem(4, [*DIAMOND, (0, 3)], 1.0, loss="hinge")
    for _ in range(20):
        state, gram = started(problem, make_samples(60))
        order = rng.random(len(problem.up)) * (rng.random(len(problem.up)) < 0.8)
        put_start(state, Start(state.shares(), order, 0.0), gram)
        assert (state.order >= 0).all()
        assert state.problem.gap @ state.order_multipliers >= problem.gap @ order - 1e-12
        np.testing.assert_allclose(
            problem.order_adjoint(state.order_multipliers), problem.order_adjoint(order), atol=1e-12
        )
        assert state.path_cost.diagonal().max() <= 0
        state.run(0.1, 500)


@pytest.mark.parametrize("large", [0, 1_000_000_000])
def test_x_is_not_held_in_several_copies(large, monkeypatch):
    """Beside the kernel rows and X: X in class order, and what values are computed from, in float64 and float32."""
    from hullrank import FixedMarginClassifier
    from hullrank.problem import gram

    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 1000))
    y = np.searchsorted([-1.0, 1.0], X[:, :4].sum(axis=1))
    model = FixedMarginClassifier(1.0, kernel="rbf", loss="hinge", thresholds="immediate")
    objective = model.fit(X, y).certificate_.primal
    monkeypatch.setattr(gram, "LARGE", large)
    tracemalloc.start()
    model.fit(X, y)
    peak = tracemalloc.get_traced_memory()[1] / X.nbytes
    tracemalloc.stop()
    assert model.certificate_.primal == pytest.approx(objective, rel=1e-6)
    assert peak < 5.5
