"""The referee of the fuzz, its statements and its conic programs, against cvxpy and scikit-learn."""

import cvxpy as cp
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import conic
from cases import slow_after
from referee import statements
from referee.objective import evaluate, kernel_values, resolved_gamma
from referee.optimum import optimum
from referee.random_problems import random_case
from referee.restated import Restated, best_thresholds

CHAIN = [(0, 1), (1, 2)]
GRAPH = [(0, 2), (1, 2)]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(24, 3))
    return X, np.digitize(X[:, 0] + 0.5 * rng.normal(size=24), [-0.5, 0.5]), rng.uniform(0.1, 2, 24)


def assert_equal_optimum(st, expected):
    found = optimum(st)
    assert found.upper == pytest.approx(expected, rel=1e-8)
    assert found.width < 1e-8


@pytest.mark.parametrize("edges", [CHAIN, GRAPH])
@pytest.mark.parametrize("l1", [False, True])
@pytest.mark.parametrize("slack", ["sample", "edge"])
@pytest.mark.parametrize("intervals", ["proper", "free"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_hull_ranking_is_that_of_the_paper(data, loss, intervals, slack, l1, edges):
    X, y, weights = data
    options = {"loss": loss, "intervals": intervals, "slack": slack}
    st = statements.hull(X, y, weights, edges, 0.7, penalty="l1" if l1 else "l2", **options)
    assert_equal_optimum(st, conic.hull(X, y, edges, 0.7, weights=weights, l1=l1, **options))


@pytest.mark.parametrize("edges", [CHAIN, GRAPH])
@pytest.mark.parametrize("l1", [False, True])
@pytest.mark.parametrize("slack", ["sample", "edge"])
def test_hull_ranking_with_the_logistic_charge(data, slack, l1, edges):
    X, y, weights = data
    st = statements.hull(X, y, weights, edges, 0.7, loss="logistic", slack=slack, penalty="l1" if l1 else "l2")
    options = {"loss": "logistic", "intervals": "proper", "slack": slack}
    assert_equal_optimum(st, conic.hull(X, y, edges, 0.7, weights=weights, l1=l1, **options))


@pytest.mark.parametrize("thresholds", ["immediate", "all"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_fixed_margin_is_that_of_the_paper(data, loss, thresholds):
    X, y, weights = data
    st = statements.fixed_margin(X, y, weights, 0.7, loss=loss, thresholds=thresholds)
    assert_equal_optimum(st, conic.fixed_margin(X, y, 0.7, weights=weights, loss=loss, thresholds=thresholds))


def test_nu_and_sum_of_margins_are_those_of_the_paper(data):
    X, y, weights = data
    assert_equal_optimum(statements.nu_margin(X, y, weights, 0.4), conic.nu_margin(X, y, 0.4, weights=weights))
    assert_equal_optimum(
        statements.sum_of_margins(X, y, weights, 0.2), conic.sum_of_margins(X, y, 0.2, weights=weights)
    )


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("equal", [False, True])
def test_pairs_are_charged_one_by_one(data, loss, equal):
    X, y, weights = data
    qid = np.arange(24) % 3
    st = statements.pairs(X, *statements.all_pairs(y, weights, qid, equal_queries=equal), 5.0, loss=loss)
    assert_equal_optimum(st, conic.pairs(X, y, 5.0, weights=weights, qid=qid, loss=loss, equal_queries=equal))


@pytest.mark.parametrize("epsilon", [1e-3, 0.3])
def test_the_relaxation_is_the_linear_program_of_the_paper(data, epsilon):
    X, y, weights = data
    above, below, _ = statements.all_pairs(y, weights, np.zeros(24, int))
    st = statements.relaxation(X, above, below, weights[above] * weights[below], epsilon)
    assert_equal_optimum(st, conic.relaxation(X, y, epsilon, weights=weights))


@pytest.mark.parametrize("kernel", slow_after(1, ["rbf", "laplacian", "poly", "linear"]))
@pytest.mark.parametrize("norm", ["rkhs", "coefficient"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_a_kernel_is_its_own_feature_space(data, kernel, norm, loss):
    X, y, weights = data
    K, doubt = kernel_values(X, kernel, gamma=0.3, degree=2, coef0=1.0)
    K64 = K.astype(float)
    values, vectors = np.linalg.eigh(K64)
    root = vectors * np.sqrt(np.maximum(values, 0)) if norm == "rkhs" else K64
    st = statements.fixed_margin(K, y, weights, 0.7, loss=loss, is_kernel=norm == "rkhs", doubt=doubt)
    assert_equal_optimum(st, conic.fixed_margin(root, y, 0.7, weights=weights, loss=loss))


def test_a_hard_margin_is_separated_or_not(data):
    X, _, weights = data
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    st = statements.fixed_margin(X, y, weights, np.inf)
    w, b = cp.Variable(3), cp.Variable(2)
    constraints = [X[y == c] @ w - b[c - 1] >= 1 for c in (1, 2)] + [b[c] - X[y == c] @ w >= 1 for c in (0, 1)]
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w)), constraints)
    problem.solve(solver=cp.CLARABEL, tol_gap_rel=1e-11, tol_feas=1e-11)
    assert_equal_optimum(st, problem.value)
    assert optimum(statements.fixed_margin(X, data[1], weights, np.inf)).upper == np.inf


def test_two_classes_of_the_logistic_charge_are_logistic_regression(data):
    X, y, weights = data
    y = (y > 0).astype(int)
    model = LogisticRegression(C=0.7, tol=1e-12, max_iter=1000).fit(X, y, sample_weight=weights)
    for thresholds in ("immediate", "all"):
        st = statements.fixed_margin(X, y, weights, 0.7, loss="logistic", thresholds=thresholds)
        own = evaluate(st, model.coef_[0], -model.intercept_)
        assert own.value == pytest.approx(optimum(st).upper, rel=1e-9)


def test_an_unbounded_problem_has_points_far_below(data):
    X, y, weights = data
    assert optimum(statements.nu_margin(X, y, weights, 5.0)).upper < -1e5
    assert optimum(statements.sum_of_margins(X, y, weights, 1e-4)).upper < -1e5


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize("shift", [0.0, 1e4])
def test_scale_and_shift_only_change_the_price(data, scale, shift):
    """w / scale over X * scale + shift costs w over X at the price times scale^2, over scale^2."""
    X, y, weights = data
    plain = optimum(statements.fixed_margin(X, y, weights, 0.7)).upper
    other = optimum(statements.fixed_margin((X + shift) * scale, y, weights, 0.7 / scale**2))
    assert other.upper * scale**2 == pytest.approx(plain, rel=1e-7)


def test_errors_of_float64_are_bounded_but_not_by_much(data):
    """On shifted rows the float64 objective is off by at most the bound, and sometimes by a hundredth of it."""
    X, y, weights = data
    st = statements.fixed_margin(X + 1e6, y, weights, 0.7)
    rng = np.random.default_rng(1)
    ratios = []
    for _ in range(50):
        w, theta = rng.normal(size=3), np.sort(rng.normal(size=2)) + 1e6 * 0.3
        exact = evaluate(st, w, theta)
        rough = evaluate(st, w, theta, scores=st.features @ w)
        assert abs(rough.value - exact.value) <= exact.error
        ratios.append(abs(rough.value - exact.value) / exact.error)
    assert max(ratios) > 0.01


def test_gamma_counts_rows_by_weight(data):
    X, _, _ = data
    counts = np.arange(24) % 3 + 1
    repeated = np.repeat(X, counts, axis=0)
    assert resolved_gamma("scale", X, counts) == pytest.approx(1 / (3 * repeated.var()), rel=1e-12)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_thresholds_of_edges_are_the_best_ones(data, loss):
    X, y, weights = data
    st = statements.hull(X, y, weights, CHAIN, 0.7, loss=loss, slack="edge")
    w = np.array([1.0, 0.2, -0.1])
    best = best_thresholds(st, w)
    value = evaluate(st, w, best).value
    for step in (-1e-3, 1e-3):
        for e in range(2):
            assert evaluate(st, w, best + step * np.eye(2)[e]).value >= value - 1e-12


def mild(seed):
    """Whether a random problem is one that cvxpy solves to eight digits."""
    case = random_case(seed)
    odd = {"scale", "shift", "columns"} & set(case.traits) or case.traits.get("weights") == "twelve orders"
    C = case.params.get("C", 1.0)
    return not odd and 1e-3 < C < 1e3 and case.params.get("kernel") != "precomputed"


def cvxpy_optimum(case, restated):
    """The optimum as ``conic`` states it, with a kernel over the square root of its matrix."""
    p, weights = case.params, restated.weights
    features, options = restated.features()
    if options.get("is_kernel"):
        values, vectors = np.linalg.eigh(features.astype(float))
        features = vectors * np.sqrt(np.maximum(values, 0))
    features = np.asarray(features, float)
    if case.name == "FixedMarginClassifier":
        return conic.fixed_margin(
            features, restated.codes, p["C"], weights=weights, loss=p["loss"], thresholds=p["thresholds"]
        )
    if case.name == "ConvexHullRanker":
        return conic.hull(
            features, restated.codes, restated.edges(), p["C"], weights=weights, loss=p["loss"],
            intervals=p["intervals"], slack=p["slack"], l1=p.get("penalty") == "l1",
        )  # fmt: skip
    qid = np.zeros(len(restated.y)) if case.qid is None else case.qid[restated.kept]
    equal = p.get("query_weight") == "equal"
    return conic.pairs(features, restated.y, p["C"], weights=weights, qid=qid, loss=p["loss"], equal_queries=equal)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ConvexHullRanker", "FixedMarginClassifier", "SwappedPairsRanker"])
def test_random_problems_are_restated_as_cvxpy_has_them(name):
    seeds = [seed for seed in range(1200) if random_case(seed).name == name and mild(seed)]
    compared = 0
    for seed in seeds[:60]:
        case = random_case(seed)
        restated = Restated(case)
        try:
            expected = cvxpy_optimum(case, restated)
        except cp.SolverError:  # cvxpy hands Clarabel the problem as it stands, unscaled
            continue
        assert optimum(restated.statement()).upper == pytest.approx(expected, rel=1e-6), str(case)
        compared += 1
    assert compared > 30
