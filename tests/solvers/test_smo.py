"""Kernel interval problems against a conic solver, and the laws of the sequential solver."""

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hullrank import ConvexHullRanker, FixedMarginClassifier
from hullrank.data import Samples
from hullrank.exceptions import KernelError
from hullrank.problem.certificate import Status
from hullrank.problem.charges import Charge
from hullrank.problem.gram import Gram
from hullrank.problem.intervals import (
    Penalty,
    fixed_margin_problem,
    hull_problem,
    nu_margin_problem,
    sum_of_margins_problem,
)
from hullrank.problem.kernels import kernel_matrix
from statements import kernel_solved

CHAIN, DIAMOND = [(0, 1), (1, 2), (2, 3)], [(0, 1), (0, 2), (1, 3), (2, 3)]
GAMMA = 0.3


def make_samples(m=160, seed=0, weighted=True):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 3))
    f = X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.5 * rng.normal(size=m)
    y = np.searchsorted(np.quantile(f, [0.2, 0.45, 0.7]), f)
    return Samples(X, y, rng.integers(1, 4, m).astype(float) if weighted else np.ones(m), 4)


SAMPLES = make_samples()
ROW_WEIGHT = float((SAMPLES.weights * np.where(np.isin(SAMPLES.codes, [0, 3]), 1, 2)).sum())
PROBLEMS = {
    "fixed": fixed_margin_problem(4, 1.0),
    "fixed, C=100": fixed_margin_problem(4, 100.0),
    "fixed squared": fixed_margin_problem(4, 1.0, loss="squared_hinge"),
    "all thresholds": fixed_margin_problem(4, 1.0, thresholds="all"),
    "all thresholds squared": fixed_margin_problem(4, 10.0, thresholds="all", loss="squared_hinge"),
    "hull": hull_problem(4, CHAIN, 1.0),
    "hull hinge": hull_problem(4, CHAIN, 1.0, loss="hinge"),
    "hull diamond": hull_problem(4, DIAMOND, 1.0),
    "hull diamond hinge": hull_problem(4, DIAMOND, 10.0, loss="hinge"),
    "hull free": hull_problem(4, CHAIN, 1.0, intervals="free"),
    "hull free diamond": hull_problem(4, DIAMOND, 1.0, intervals="free"),
    "hull free hinge": hull_problem(4, CHAIN, 1.0, intervals="free", loss="hinge"),
    "hull per edge": hull_problem(4, DIAMOND, 1.0, slack="edge"),
    "hull per edge hinge": hull_problem(4, DIAMOND, 1.0, slack="edge", loss="hinge"),
    "nu": nu_margin_problem(4, 0.5, ROW_WEIGHT),
    "sum of margins": sum_of_margins_problem(4, 0.03),
    "hard": hull_problem(4, DIAMOND, np.inf),
}


def conic_optimum(problem, samples, K):
    """The problem as stated, over w in coordinates of the kernel's space."""
    values, vectors = np.linalg.eigh(K)
    F = (vectors * np.sqrt(np.maximum(values, 0)))[samples.rows]
    w, theta = cp.Variable(F.shape[1]), cp.Variable(len(problem.linear))
    s, rho = F @ w, theta[len(problem.linear) - 1] if problem.has_rho else 0
    weights = samples.weights[samples.rows]
    terms, rules = [0.5 * cp.sum_squares(w), problem.linear @ theta], []
    for pair in problem.bundles:
        c = problem.group_class[pair[0]]
        own = slice(samples.starts[c], samples.starts[c + 1])
        xi = cp.Variable(own.stop - own.start, nonneg=True)
        for g in pair[pair >= 0]:
            rules.append(problem.sign[g] * (s[own] - theta[problem.threshold[g]]) - rho + xi >= problem.offset[g])
        if problem.charge is Charge.HARD:
            rules.append(xi == 0)
        else:
            cost = problem.cost * weights[own]
            terms.append(cost @ (xi if problem.charge is Charge.HINGE else cp.square(xi)))
    for up, low, gap in zip(problem.up, problem.low, problem.gap, strict=True):
        rules.append(theta[up] - (theta[low] if low >= 0 else 0) >= gap)
    conic = cp.Problem(cp.Minimize(sum(terms)), rules)
    conic.solve(solver="CLARABEL", tol_gap_abs=1e-11, tol_gap_rel=1e-9, tol_feas=1e-9)
    return conic.value


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
@pytest.mark.parametrize("name", PROBLEMS)
def test_objective_equals_that_of_a_conic_solver(name):
    problem, K = PROBLEMS[name], kernel_matrix(SAMPLES.X, None, "rbf", gamma=GAMMA)
    optimum = conic_optimum(problem, SAMPLES, K)
    if problem.penalty is Penalty.BALL:  # with 1/2 |w|^2 in place of |w| <= 1 the optimum v becomes -v^2 / 2
        optimum = -((-2 * optimum) ** 0.5)
    solution = kernel_solved(problem, SAMPLES, Gram(SAMPLES.X, "rbf", GAMMA), tol=1e-6)
    certificate = solution.certificate
    assert certificate.status is Status.CONVERGED
    assert certificate.primal == pytest.approx(optimum, rel=1e-6)
    assert certificate.dual <= optimum * (1 + np.sign(optimum) * 1e-7)
    np.testing.assert_allclose(K @ solution.coef, solution.scores, atol=1e-9 * np.abs(solution.coef).sum())


@pytest.mark.parametrize("kernel", ["rbf", "poly", "laplacian", "linear"])
def test_every_kernel_reaches_its_gap(kernel):
    gram = Gram(SAMPLES.X, kernel, GAMMA, 3, 1.0)
    for problem in (PROBLEMS["fixed"], PROBLEMS["hull diamond"]):
        certificate = kernel_solved(problem, SAMPLES, gram, tol=1e-6).certificate
        assert certificate.status is Status.CONVERGED
        assert 0 <= certificate.relative_gap <= 1e-6


def test_order_of_thresholds_binds():
    """Chu and Keerthi's situation: without the order constraint the two thresholds would swap."""
    X = np.array([[0.0], [3.0], [1.0], [2.0], [0.5], [3.5]])
    samples = Samples(X, np.array([0, 0, 1, 1, 2, 2]), np.array([1.0, 3.0, 1.0, 1.0, 3.0, 1.0]), 3)
    problem = fixed_margin_problem(3, 0.1)
    solution = kernel_solved(problem, samples, Gram(X, "rbf", 0.1), tol=1e-9)
    assert solution.thresholds[0] == pytest.approx(solution.thresholds[1], abs=1e-6)
    assert solution.certificate.primal == pytest.approx(
        conic_optimum(problem, samples, kernel_matrix(X, None, "rbf", gamma=0.1)), rel=1e-7
    )


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.integers(1, 3), min_size=24, max_size=24),
    st.sampled_from(["fixed", "hull diamond", "hull per edge hinge", "all thresholds"]),
)
def test_weights_are_repetitions_also_among_duplicates(counts, name):
    samples = make_samples(24, seed=1, weighted=False)
    twice = np.repeat(np.arange(24), counts)
    repeated = Samples(samples.X[twice], samples.codes[twice], np.ones(len(twice)), 4)
    weighted = Samples(samples.X, samples.codes, np.asarray(counts, dtype=float), 4)
    answers = [
        kernel_solved(PROBLEMS[name], each, Gram(each.X, "rbf", GAMMA), tol=1e-9) for each in (repeated, weighted)
    ]
    assert answers[0].certificate.primal == pytest.approx(answers[1].certificate.primal, rel=3e-9)
    np.testing.assert_allclose(answers[0].scores, answers[1].scores[twice], atol=2e-4)


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.1, 100.0))
def test_row_order_does_not_matter(seed, C):
    samples = make_samples(40, seed=seed)
    shuffled = np.random.default_rng(seed).permutation(40)
    moved = Samples(samples.X[shuffled], samples.codes[shuffled], samples.weights[shuffled], 4)
    problem = fixed_margin_problem(4, C)
    one = kernel_solved(problem, samples, Gram(samples.X, "rbf", 1.0), tol=1e-8)
    two = kernel_solved(problem, moved, Gram(moved.X, "rbf", 1.0), tol=1e-8)
    assert one.certificate.primal == pytest.approx(two.certificate.primal, rel=3e-8)
    # strong convexity: |f - f*|^2 <= 2 gap
    np.testing.assert_allclose(one.scores[shuffled], two.scores, atol=4 * np.sqrt(2e-8 * one.certificate.primal))


@pytest.mark.parametrize("name", ["fixed", "fixed squared", "hull diamond", "hull free", "all thresholds"])
@pytest.mark.parametrize("value", [0.0, 1.0])
def test_constant_kernel_collapses_with_a_certificate(name, value):
    gram = Gram(np.full((160, 160), value), "precomputed")
    solution = kernel_solved(PROBLEMS[name], SAMPLES, gram, tol=1e-6)
    assert solution.certificate.status is Status.CONVERGED
    assert np.ptp(solution.scores) < 1e-6


def test_a_small_cache_changes_nothing():
    samples = make_samples(300)
    whole = kernel_solved(PROBLEMS["fixed"], samples, Gram(samples.X, "rbf", GAMMA), tol=1e-7)
    small = kernel_solved(
        PROBLEMS["fixed"], samples, Gram(samples.X, "rbf", GAMMA), tol=1e-7, cache_size=64 * 300 * 4 / 1e6
    )
    assert small.certificate.status is Status.CONVERGED
    assert small.certificate.primal == pytest.approx(whole.certificate.primal, rel=2e-7)


def test_warm_start_along_C_saves_rounds():
    gram = Gram(SAMPLES.X, "rbf", GAMMA)
    first = kernel_solved(fixed_margin_problem(4, 10.0), SAMPLES, gram, tol=1e-6)
    problem = fixed_margin_problem(4, 10.5)
    cold = kernel_solved(problem, SAMPLES, gram, tol=1e-6)
    warm = kernel_solved(problem, SAMPLES, gram, tol=1e-6, start=first.start)
    assert warm.certificate.primal == pytest.approx(cold.certificate.primal, rel=2e-6)
    assert warm.certificate.iterations < cold.certificate.iterations


@pytest.mark.parametrize("name", ["fixed", "hull diamond", "sum of margins"])
def test_nystroem_says_how_far_the_exact_gap_is_open(name):
    K = kernel_matrix(SAMPLES.X, None, "rbf", gamma=GAMMA)
    exact = kernel_solved(PROBLEMS[name], SAMPLES, Gram(SAMPLES.X, "rbf", GAMMA), tol=1e-8).certificate
    solution = kernel_solved(PROBLEMS[name], SAMPLES, Gram(SAMPLES.X, "rbf", GAMMA), tol=1e-8, rank=30)
    assert np.count_nonzero(solution.coef) <= 30
    np.testing.assert_allclose(K @ solution.coef, solution.scores, atol=1e-8)
    certificate = solution.certificate
    assert certificate.status is Status.APPROXIMATED
    assert "span of 30 samples" in certificate.cause
    assert certificate.dual <= exact.primal <= certificate.primal + 1e-6 * abs(exact.primal)


def test_round_limit_ends_the_solve():
    solution = kernel_solved(
        fixed_margin_problem(4, 1000.0), SAMPLES, Gram(SAMPLES.X, "rbf", GAMMA), tol=1e-8, max_iter=1
    )
    assert solution.certificate.status is Status.MAX_ITER
    assert solution.certificate.iterations == 1
    assert solution.certificate.dual <= solution.certificate.primal


def test_interruption_keeps_the_best_so_far(monkeypatch):
    from hullrank.solvers.smo import Descent

    def interrupted(self, forced):
        raise KeyboardInterrupt

    monkeypatch.setattr(Descent, "newton", interrupted)
    solution = kernel_solved(fixed_margin_problem(4, 100.0), SAMPLES, Gram(SAMPLES.X, "rbf", GAMMA), tol=1e-8)
    assert solution.certificate.status is Status.INTERRUPTED
    assert solution.certificate.dual <= solution.certificate.primal < np.inf


@pytest.mark.parametrize("iterations", [0, 1, 4, 8])
def test_interrupting_a_hard_margin_says_whether_its_point_is_feasible(iterations, monkeypatch):
    from hullrank.solvers.interior_point import _State

    samples = make_samples(60)
    gram = Gram(samples.X, "rbf", 2.0)
    choose_step, left = _State.choose_step, [iterations]

    def interrupted(self):
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return choose_step(self)

    monkeypatch.setattr(_State, "choose_step", interrupted)
    solution = kernel_solved(PROBLEMS["hard"], samples, gram, tol=1e-12)
    certificate = solution.certificate
    assert certificate.status is Status.INTERRUPTED
    assert np.isfinite(solution.coef).all()
    assert certificate.dual <= certificate.primal
    assert np.isfinite(certificate.primal) or "does not satisfy the constraints" in certificate.cause


@pytest.mark.parametrize("size", [1e-60, 1e-30, 1e30, 1e60])
@pytest.mark.parametrize("name", ["fixed", "fixed squared", "hull diamond"])
def test_kernels_beyond_the_range_of_float32(name, size):
    """A kernel times a number, and all costs divided by it, give the same scores and an objective divided by it."""
    K = kernel_matrix(SAMPLES.X, None, "rbf", gamma=GAMMA)
    problem = PROBLEMS[name]
    other = replace(problem, cost=problem.cost / size, linear=problem.linear / size)
    plain = kernel_solved(problem, SAMPLES, Gram(K, "precomputed"), tol=1e-7)
    scaled = kernel_solved(other, SAMPLES, Gram(size * K, "precomputed"), tol=1e-7)
    assert scaled.certificate.status is Status.CONVERGED
    assert size * scaled.certificate.primal == pytest.approx(plain.certificate.primal, rel=2e-7)
    np.testing.assert_allclose(scaled.scores, plain.scores, atol=2e-3)
    np.testing.assert_allclose(size * (K @ scaled.coef), scaled.scores, atol=1e-9 * np.abs(size * scaled.coef).sum())


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_polynomials_of_large_features_are_solved(loss):
    X, y = 1e15 * SAMPLES.X, SAMPLES.codes
    model = FixedMarginClassifier(1e-90, kernel="poly", degree=3, gamma=1.0, coef0=1.0, loss=loss).fit(X, y)
    assert model.certificate_.status == "converged"
    assert np.isfinite(model.score_samples(X)).all()
    squared = ConvexHullRanker(C=1e-180, kernel="poly", degree=3, gamma=1.0, coef0=1.0, norm="coefficient").fit(X, y)
    assert squared.certificate_.status == "converged"


def test_kernels_beyond_float64_say_what_to_do():
    with pytest.raises(KernelError, match="scale the features"):
        FixedMarginClassifier(kernel="poly", degree=4, gamma=1.0).fit(1e98 * SAMPLES.X, SAMPLES.codes)


def test_indefinite_kernels_are_refused():
    with pytest.raises(KernelError, match="not positive semi-definite"):
        kernel_solved(PROBLEMS["fixed"], SAMPLES, Gram(SAMPLES.X, "sigmoid", 2.0, 3, -1.0))
    K = np.eye(160)
    K[0, 1] = K[1, 0] = 2.0
    with pytest.raises(KernelError, match="not positive semi-definite"):
        kernel_solved(PROBLEMS["fixed"], SAMPLES, Gram(K, "precomputed"))


@pytest.mark.parametrize("seed", [10, 28, 89])
def test_every_free_row_may_leave_its_box_in_a_newton_step(seed):
    rng = np.random.default_rng(seed)
    m, k = int(rng.integers(60, 350)), int(rng.integers(2, 6))
    x = rng.normal(size=(m, int(rng.integers(1, 4))))
    x = np.round(x, 1) if seed % 2 else x
    score = np.sin(2 * x[:, 0]) + rng.choice([0.05, 0.3, 1.0]) * rng.normal(size=m)
    y = np.searchsorted(np.quantile(score, np.arange(1, k) / k), score)
    model = FixedMarginClassifier(float(10 ** rng.uniform(2, 4)), kernel="rbf", gamma=0.1, tol=1e-3).fit(x, y)
    assert model.certificate_.status == "converged"
    assert model.certificate_.relative_gap <= 1e-3
