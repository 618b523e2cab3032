"""The pair solver agrees with independent solvers, and its certificate is a true bound."""

import itertools

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

from hullrank import SwappedPairsRanker
from hullrank.problem import pairs as pair_module
from hullrank.problem.certificate import Status
from hullrank.problem.gram import Gram
from hullrank.problem.pairs import C_from_liblinear, C_from_paper, C_from_svm_rank, every_pair
from hullrank.solvers import pairs_newton, pairs_search
from hullrank.solvers.base import Options
from hullrank.solvers.solve import solve
from statements import pair_statement, solved

LOSSES = ["hinge", "squared_hinge"]


def data(m=40, n=3, grades=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, n))
    signal = X @ np.arange(1, n + 1) + rng.normal(size=m)
    return X, np.digitize(signal, np.quantile(signal, np.arange(1, grades) / grades))


def state(X, y, C=10.0, loss="hinge", query=None, weights=None, **options):
    m = len(y)
    query = np.zeros(m, np.int64) if query is None else query
    rows, pairs = every_pair(y, query, np.ones(m) if weights is None else weights, **options)
    return pair_statement(X[rows], pairs, C, loss)


def conic(problem):
    """Optimum of the problem over its listed pairs, by a conic solver."""
    pairs = problem.pairs
    D = problem.X[pairs.hi] - problem.X[pairs.lo]
    w = cp.Variable(D.shape[1])
    slack = cp.pos(1 - D @ w)
    charge = {"hinge": slack, "squared_hinge": cp.square(slack), "logistic": cp.logistic(-D @ w)}[problem.charge.name]
    objective = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + problem.C * pairs.weights @ charge))
    objective.solve(cp.CLARABEL)
    return objective.value, w.value


@pytest.fixture
def never_listed(monkeypatch):
    """Small problems take the way of large ones."""
    monkeypatch.setattr(pair_module, "LISTED_PAIRS", 0)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("C", [0.1, 10.0, 1e4])
@pytest.mark.parametrize("options", [{}, {"query_weight": "equal"}])
def test_agrees_with_a_conic_solver(loss, C, options):
    X, y = data()
    query = np.random.default_rng(1).integers(0, 5, len(y))
    weights = np.random.default_rng(2).random(len(y)) + 0.1
    problem = state(X, y, C, loss, query, weights, **options)
    value, w = conic(problem)
    solution = solved(problem, tol=1e-9)
    assert solution.certificate.status is Status.CONVERGED
    np.testing.assert_allclose(solution.certificate.primal, value, rtol=1e-6)
    np.testing.assert_allclose(solution.coef, w, atol=1e-4 * np.abs(w).max())


@pytest.mark.parametrize("loss", LOSSES)
def test_all_pairs_unlisted_agree_with_listed(loss, monkeypatch):
    X, y = data(300, 5, 7)
    listed = solved(state(X, y, loss=loss), tol=1e-9)
    monkeypatch.setattr(pair_module, "LISTED_PAIRS", 0)
    swept = solved(state(X, y, loss=loss), tol=1e-9)
    np.testing.assert_allclose(swept.certificate.primal, listed.certificate.primal, rtol=1e-8)
    np.testing.assert_allclose(swept.coef, listed.coef, atol=1e-4)


def subsets_problem(D, C):
    """The paper's problem (9): one slack, a constraint for every sign pattern of the pairs."""
    w, xi = cp.Variable(D.shape[1]), cp.Variable()
    flips = np.array(list(itertools.product([0, 1], repeat=len(D))))[1:]
    constraints = [2 * (flips @ D) @ w >= flips.sum(axis=1) - xi, xi >= 0]
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + C * xi), constraints)
    problem.solve(cp.CLARABEL)
    return problem.value, w.value


def cutting_planes(D, C, epsilon=1e-7):
    """The paper's algorithm 1: add the most violated constraint of (9), solve over those found, repeat."""
    cuts, w, xi = [], np.zeros(D.shape[1]), 0.0
    while True:
        worst = 2 * D @ w < 1
        violation = worst.sum() - 2 * D[worst].sum(axis=0) @ w
        if violation < xi + epsilon:
            return 0.5 * w @ w + C * violation, w
        cuts.append((worst.sum(), 2 * D[worst].sum(axis=0)))
        v, slack = cp.Variable(len(w)), cp.Variable()
        found = [g @ v >= count - slack for count, g in cuts]
        cp.Problem(cp.Minimize(0.5 * cp.sum_squares(v) + C * slack), [*found, slack >= 0]).solve(cp.CLARABEL)
        w, xi = v.value, float(slack.value)


@pytest.mark.parametrize("seed", range(3))
def test_papers_problem_with_exponentially_many_constraints_is_ours(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(6, 2)), np.array([1, 1, 2, 2, 3, 3])
    pairs = state(X, y).pairs
    D = X[pairs.hi] - X[pairs.lo]
    assert len(D) == 12
    for C in (0.01, 0.3):
        value, w = subsets_problem(D, C)
        by_cuts = cutting_planes(D, C)
        ours = solved(state(X, y, C_from_paper(C, 12)), tol=1e-10)
        np.testing.assert_allclose(ours.certificate.primal / 4, value, rtol=1e-6)
        np.testing.assert_allclose(by_cuts[0], value, rtol=1e-5)
        np.testing.assert_allclose(ours.coef / 2, w, atol=1e-4)


def test_conversions_of_C_state_the_peers_problems():
    X, y = data(12, 2, 3)
    query = np.repeat([0, 1], 6)
    w = np.array([0.3, -0.2])
    problem = state(X, y, 1.0, "hinge", query)
    hinges = np.maximum(0, 1 - (X[problem.pairs.hi] - X[problem.pairs.lo]) @ w)
    n = len(hinges)
    at = problem.pairs.at(problem.X @ w)
    np.testing.assert_allclose(C_from_svm_rank(3.0, n, 2) * at.hinge()[0], 3.0 / 2 * hinges.sum())
    np.testing.assert_allclose(C_from_liblinear(3.0, n) * at.ramp(-np.inf, 1.0).square, 3.0 * (hinges**2).sum())


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-8])
def test_lower_bound_is_below_every_objective(loss, tol, never_listed):
    """The bound of a loose solve stays below the optimum, however early it stops."""
    X, y = data(500, 6, 500, seed=3)
    best = solved(state(X, y, 50.0, loss), tol=1e-10).certificate
    for max_iter in (1, 3, 100):
        found = solved(state(X, y, 50.0, loss), tol=tol, max_iter=max_iter).certificate
        assert found.dual <= best.primal * (1 + 1e-12)
        assert found.primal >= best.dual * (1 - 1e-12)
        assert found.status is (Status.CONVERGED if found.relative_gap <= tol else Status.MAX_ITER)


def test_kinks_of_integer_features_are_certified(never_listed):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (800, 4)).astype(float)
    y = np.clip(np.round(X @ [1, 0.5, -1, 0.2] + 0.7 * rng.normal(size=800)), -2, 3)
    certificate = solved(state(X, y, 100.0), tol=1e-6).certificate
    assert certificate.status is Status.CONVERGED
    assert certificate.relative_gap <= 1e-6


@pytest.mark.parametrize("loss", LOSSES)
def test_small_data_reach_the_tightest_gap(loss):
    X, y = data(20, 3)
    certificate = solved(state(X, y, 5.0, loss), tol=1e-12).certificate
    assert certificate.status is Status.CONVERGED
    assert 0 <= certificate.relative_gap <= 1e-12


@pytest.mark.parametrize("loss", LOSSES)
def test_sampled_hessians_and_warm_starts_reach_the_same_answer(loss, monkeypatch):
    X, y = data(3000, 4, 3000)
    whole = solved(state(X, y, 20.0, loss), tol=1e-8)
    monkeypatch.setattr(pairs_search, "SAMPLE_ROWS", 300)
    monkeypatch.setattr(pairs_newton, "START_ROWS", 100)
    sampled = solved(state(X, y, 20.0, loss), tol=1e-8)
    assert sampled.certificate.status is Status.CONVERGED
    np.testing.assert_allclose(sampled.certificate.primal, whole.certificate.primal, rtol=1e-7)


def test_many_rows_are_charged_in_the_window_they_end_in(monkeypatch):
    """A sample's solution foretells how narrow the window must be, and no pass over all rows is in a wider one."""
    seen = set()
    charged = pair_module.PairProblem.charged

    def watched(problem, at, width):
        seen.add((problem.rows.n_rows, width))
        return charged(problem, at, width)

    monkeypatch.setattr(pairs_newton, "START_ROWS", 1000)
    monkeypatch.setattr(pair_module.PairProblem, "charged", watched)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 3))
    y = X @ [1.0, 2.0, 3.0] + rng.normal(size=4000)
    assert SwappedPairsRanker(C=10.0).fit(X, y).certificate_.relative_gap <= 1e-6
    assert len({width for rows, width in seen if rows == 1000}) > 1
    assert len({width for rows, width in seen if rows == 4000}) == 1


@pytest.mark.parametrize("loss", LOSSES)
def test_conjugate_gradients_reach_the_same_answer(loss, monkeypatch):
    X, y = data(400, 30, 400)
    X *= np.logspace(-2, 2, 30)
    whole = solved(state(X, y, 20.0, loss), tol=1e-7)
    monkeypatch.setattr(pairs_search, "DENSE_COLUMNS", 0)
    stepwise = solved(state(X, y, 20.0, loss), tol=1e-7)
    assert stepwise.certificate.status is Status.CONVERGED
    np.testing.assert_allclose(stepwise.certificate.primal, whole.certificate.primal, rtol=2e-7)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("listed", [0, 10**6])
def test_sparse_equals_dense(loss, listed, monkeypatch):
    monkeypatch.setattr(pair_module, "LISTED_PAIRS", listed)
    X, y = data(200, 5)
    X[np.abs(X) < 0.7] = 0.0
    dense = solved(state(X, y, 10.0, loss), tol=1e-9)
    sparse = solved(state(sp.csr_array(X), y, 10.0, loss), tol=1e-9)
    np.testing.assert_allclose(sparse.coef, dense.coef, atol=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("listed", [0, 10**6])
def test_separable_data_at_large_C_approach_the_hard_margin(loss, listed, monkeypatch):
    """min 1/2 |w|^2 subject to w.(x_i - x_j) >= 1 for all pairs."""
    monkeypatch.setattr(pair_module, "LISTED_PAIRS", listed)
    X, _ = data(40, 5)
    y = np.round(X @ np.arange(1, 6))
    problem = state(X, y, 1e6, loss)
    pairs = problem.pairs if listed else comparable_pairs(problem)
    w = cp.Variable(5)
    hard = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w)), [(X[pairs.hi] - X[pairs.lo]) @ w >= 1])
    hard.solve(cp.CLARABEL)
    certificate = solved(problem, tol=1e-6).certificate
    assert certificate.status is Status.CONVERGED
    assert certificate.dual <= hard.value * (1 + 1e-7)
    np.testing.assert_allclose(certificate.primal, hard.value, rtol=1e-5 if loss == "hinge" else 5e-2)


def comparable_pairs(problem):
    return problem.pairs.listed()


def test_pairs_at_the_margin_do_not_pay_for_the_last_digits_of_their_scores():
    """Separable pairs at a huge C: solved to a tolerance below what these digits would cost exactly at the margin."""
    X, y = data(m=20, n=40)
    statement = state(X, y, C=1e8)
    found = solve(statement, Options(1e-6))
    assert isinstance(found.evidence, np.ndarray)
    assert (
        statement.scores(found.point)[statement.pairs.hi] - statement.scores(found.point)[statement.pairs.lo]
    ).min() > 1
    grade = statement.grade(found.point, found.evidence)
    assert 0 <= grade.primal - grade.dual <= 1e-12 * grade.primal


def test_constant_rows_give_zero_weights():
    certificate = solved(state(np.ones((10, 2)), np.arange(10), 3.0)).certificate
    assert certificate.primal == pytest.approx(3.0)
    assert certificate.status is Status.CONVERGED


@pytest.mark.parametrize("loss", LOSSES)
def test_linear_kernel_equals_linear(loss):
    X, y = data(60, 3)
    problem = state(X, y, 10.0, loss)
    linear = solved(problem, tol=1e-10)
    kernel = solved(pair_statement(X, problem.pairs, 10.0, loss, Gram(X, "linear")), tol=1e-10)
    np.testing.assert_allclose(X.T @ kernel.coef, linear.coef, atol=1e-6)
    np.testing.assert_allclose(kernel.certificate.primal, linear.certificate.primal, rtol=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_kernel_agrees_with_a_conic_solver(loss):
    X, y = data(30, 2)
    K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(-1))
    pairs = state(X, y).pairs
    values, vectors = np.linalg.eigh(K)
    root = vectors * np.sqrt(values.clip(0))
    expected, _ = conic(pair_statement(root, pairs, 20.0, loss))
    solution = solved(pair_statement(X, pairs, 20.0, loss, Gram(K, "precomputed")), tol=1e-8)
    scores = K @ solution.coef
    slack = np.maximum(0, 1 - scores[pairs.hi] + scores[pairs.lo]) ** (1 if loss == "hinge" else 2)
    primal = 0.5 * solution.coef @ scores + 20.0 * pairs.weights @ slack
    np.testing.assert_allclose(primal, expected, rtol=1e-6)
    np.testing.assert_allclose(solution.certificate.primal, primal, rtol=1e-8)
    assert solution.certificate.dual <= expected * (1 + 1e-7)


@pytest.mark.parametrize("loss", [*LOSSES, "logistic"])
def test_kernel_rankers_of_many_rows_iterate_to_the_answer_of_a_factored_hessian(loss, monkeypatch):
    X, y = data(m=230)
    iterated = SwappedPairsRanker(C=100, kernel="rbf", gamma=0.2, loss=loss).fit(X, y)
    monkeypatch.setattr(pairs_search, "SQUARE_COLUMNS", 400)
    factored = SwappedPairsRanker(C=100, kernel="rbf", gamma=0.2, loss=loss).fit(X, y)
    assert iterated.certificate_.relative_gap <= 1e-6
    assert iterated.certificate_.primal == pytest.approx(factored.certificate_.primal, rel=2e-6)
    assert not np.array_equal(iterated.dual_coef_, factored.dual_coef_)  # the two went different ways


@pytest.mark.parametrize("width", [1.0, 0.1, 0.01])
def test_directions_from_the_rows_of_a_window_are_those_of_a_hessian(width):
    X, y = data(m=120)
    problem = SwappedPairsRanker(C=100, kernel="rbf", gamma=0.2).state(X, y).problem
    rng = np.random.default_rng(0)
    search = pairs_search.PairSearch(problem, rng.normal(size=problem.rows.n_features), width)
    r = rng.normal(size=problem.rows.n_features)
    np.testing.assert_allclose(
        search._inverted(width, 3.0)(r), np.linalg.solve(search._hessian(width, 3.0), r), atol=1e-9
    )


@pytest.mark.parametrize("loss", LOSSES)
def test_approximated_kernel_says_what_it_certifies(loss):
    X, y = data(200, 2)
    pairs, gram = state(X, y).pairs, Gram(X, "rbf", 0.5)
    exact = solved(pair_statement(X, pairs, 20.0, loss, gram), tol=1e-6).certificate
    near = solved(pair_statement(X, pairs, 20.0, loss, gram, 20), tol=1e-6)
    assert np.count_nonzero(near.coef) <= 20
    assert "20 samples" in near.certificate.cause
    assert exact.status is Status.CONVERGED
    assert near.certificate.primal >= exact.dual * (1 - 1e-9)
    whole = solved(pair_statement(X, pairs, 20.0, loss, gram, 200), tol=1e-6).certificate
    np.testing.assert_allclose(whole.primal, exact.primal, rtol=1e-9)


def test_reports_progress(capsys):
    X, y = data()
    solved(state(X, y), verbose=1)
    assert "gap" in capsys.readouterr().out


def test_interrupt_keeps_the_best_so_far(monkeypatch, never_listed):
    X, y = data(300, 4)
    problem = state(X, y, 100.0)
    step, calls = pairs_search.PairSearch._step, []

    def interrupted(self, tol):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        step(self, tol)

    monkeypatch.setattr(pairs_search.PairSearch, "_step", interrupted)
    certificate = solved(problem, tol=1e-10).certificate
    assert certificate.status is Status.INTERRUPTED
    assert certificate.iterations == 2
    assert certificate.dual <= certificate.primal


def test_a_price_at_which_every_pair_pays_is_solved_at_once(never_listed):
    """The weights are C times the mean difference of a pair's rows, until the price brings a pair near its margin."""
    X, y = data()
    mean = -every_pair(y, np.zeros(len(y), dtype=np.int64), np.ones(len(y)))[1].mean_contrast() @ X
    reach = np.ptp(X @ mean)
    options = Options(1e-6, 200)
    weak, strong = (solve(state(X, y, C=share * 0.5 / reach), options) for share in (0.99, 1.01))
    assert weak.iterations == 0
    assert weak.status is Status.CONVERGED
    np.testing.assert_allclose(weak.point.coef, 0.99 * 0.5 / reach * mean, rtol=1e-12)
    assert strong.iterations > 0


def test_a_start_that_leads_nowhere_is_given_up(monkeypatch):
    """Ranks that are almost separable: from the solution at a smaller C the search creeps along the kinks."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 20))
    scores = X @ rng.normal(size=20) + 0.3 * rng.normal(size=300)
    y = np.digitize(scores, np.quantile(scores, [1 / 3, 2 / 3]))
    steps, advance = [], pairs_search.PairSearch.advance
    monkeypatch.setattr(pairs_search.PairSearch, "advance", lambda self, tol: steps.append(1) or advance(self, tol))
    model = SwappedPairsRanker(C=100).fit(X, y)
    prices = [300, 1000, 3000, 10000]
    cold = [SwappedPairsRanker(C=C).fit(X, y).coef_ for C in prices]
    from_zero = len(steps)
    steps.clear()
    model.warm_start = True
    for C, coef in zip(prices, cold, strict=True):
        np.testing.assert_allclose(model.set_params(C=C).fit(X, y).coef_, coef, rtol=1e-2)
    assert len(steps) <= from_zero + (pairs_newton.STARTED_STEPS + 1) * len(prices)
