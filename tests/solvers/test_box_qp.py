"""The quadratic programme of a Newton step against a conic solver, and its singular linear systems."""

import cvxpy as cp
import numpy as np
import pytest

from hullrank.solvers._box_qp import BoxQP, solve_box_qp, solve_symmetric


def make_programme(n, constraints, order, seed, width=1.0):
    """Entries that each belong to one constraint, with 0 strictly feasible, as in a Newton step."""
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(n, n))
    A = np.zeros((n, constraints))
    A[np.arange(n), np.arange(n) % constraints] = 1.0
    G = np.zeros((order, constraints))
    for line in G:
        line[rng.choice(constraints, 2, replace=False)] = 1.0, -1.0
    return BoxQP(
        M=factor @ factor.T / n + 1e-3 * np.eye(n),
        r=rng.normal(size=n),
        A=A,
        b=0.05 * rng.normal(size=constraints),
        lower=-width * rng.uniform(0.01, 1.0, n),
        upper=width * rng.uniform(0.01, 1.0, n),
        G=G,
        g=rng.normal(size=order),
        floor=-rng.uniform(0.0, 0.5, order),
    )


def objective(qp, M, x, t):
    return 0.5 * x @ M @ x - qp.r @ x - qp.g @ t


def conic_optimum(qp, M):
    x = cp.Variable(len(qp.r))
    value, flow = 0.5 * cp.quad_form(x, cp.psd_wrap(M)) - qp.r @ x, qp.A.T @ x
    rules = [x >= qp.lower, x <= qp.upper]
    if len(qp.g):  # early releases of cvxpy have no empty variable
        t = cp.Variable(len(qp.g))
        value, flow = value - qp.g @ t, flow - qp.G.T @ t
        rules.append(t >= qp.floor)
    rules.append(flow == qp.b)
    programme = cp.Problem(cp.Minimize(value), rules)
    programme.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    return programme.value


@pytest.mark.slow
@pytest.mark.parametrize("width", [0.3, 3.0, 30.0])
@pytest.mark.parametrize(("n", "constraints", "order"), [(40, 1, 0), (60, 3, 0), (150, 4, 2), (300, 5, 3)])
def test_the_optimum_is_that_of_a_conic_solver(n, constraints, order, width):
    for seed in (1, 2):
        qp = make_programme(n, constraints, order, seed, width)
        M = qp.M.copy()
        solution = solve_box_qp(qp)
        x, t = solution.x, solution.t
        assert (x >= qp.lower).all()
        assert (x <= qp.upper).all()
        assert (t >= qp.floor).all()
        np.testing.assert_allclose(qp.A.T @ x - qp.G.T @ t, qp.b, atol=1e-8)
        assert objective(qp, M, x, t) == pytest.approx(conic_optimum(qp, M), rel=1e-7, abs=1e-8)


@pytest.mark.parametrize("seed", range(1, 5))
def test_the_multipliers_satisfy_the_optimality_conditions(seed):
    qp = make_programme(200, 4, 2, seed)
    M = qp.M.copy()
    solution = solve_box_qp(qp)
    force = qp.r + qp.A @ solution.theta - M @ solution.x
    at_upper, at_lower = solution.x == qp.upper, solution.x == qp.lower
    assert at_upper.any()
    assert at_lower.any()
    assert (force[at_upper] >= 0).all()
    assert (force[at_lower] <= 0).all()
    np.testing.assert_allclose(force[~at_upper & ~at_lower], 0.0, atol=1e-8)
    slack = qp.G @ solution.theta - qp.g
    assert (slack >= -1e-9).all()
    np.testing.assert_allclose(slack * (solution.t - qp.floor), 0.0, atol=1e-8)


def test_entries_may_stand_in_any_order():
    qp = make_programme(150, 2, 0, seed=1)
    order = np.random.default_rng(0).permutation(150)
    moved = BoxQP(
        qp.M[np.ix_(order, order)], qp.r[order], qp.A[order], qp.b, qp.lower[order], qp.upper[order], qp.G, qp.g,
        qp.floor,
    )  # fmt: skip
    np.testing.assert_allclose(solve_box_qp(moved).x, solve_box_qp(qp).x[order], atol=1e-9)


def test_it_gives_up_where_it_was_told_to():
    assert solve_box_qp(make_programme(60, 1, 0, seed=0), most_turns=1) is None
    assert solve_box_qp(make_programme(60, 1, 0, seed=0), most_held=3) is None
    indefinite = make_programme(6, 1, 0, seed=0)
    indefinite.M[2, 2] = -1.0
    assert solve_box_qp(indefinite) is None


# Tight order constraints that form cycles depend on each other: the solution is then one of least squares.
TIGHT = ((0, 1), (0, 3), (0, 5), (0, 7), (2, 3), (2, 5), (4, 5), (4, 7))  # edges of thresholds, with two cycles
THRESHOLDS_AND_PINS = np.array(
    [
        [0.5530, -0.1865, -0.1769, -0.0329, -0.0265, 0.0121, 0.0155, 0.0011, 0.0376, -0.0058, -0.0058],
        [-0.1865, 1.9093, 1.5970, -1.3386, -1.2336, -0.2653, -0.1961, 0.0229, 0.2448, 0.1686, 0.1686],
        [-0.1769, 1.5970, 1.8785, -1.3305, -1.2276, -0.2623, -0.1942, 0.0221, 0.2275, 0.1715, 0.1715],
        [-0.0329, -1.3386, -1.3305, 3.5920, 3.1528, -1.7202, -1.7656, -0.0383, -0.5618, -0.5312, -0.5312],
        [-0.0265, -1.2336, -1.2276, 3.1528, 3.4261, -1.7283, -1.7769, -0.0414, -0.5700, -0.5298, -0.5298],
        [0.0121, -0.2653, -0.2623, -1.7202, -1.7283, 2.0923, 1.8421, -0.0320, 0.3580, 0.3079, 0.3079],
        [0.0155, -0.1961, -0.1942, -1.7656, -1.7769, 1.8421, 2.1373, -0.0474, 0.3379, 0.3242, 0.3242],
        [0.0011, 0.0229, 0.0221, -0.0383, -0.0414, -0.0320, -0.0474, 0.4818, -0.0093, 0.0143, 0.0143],
        [0.0376, 0.2448, 0.2275, -0.5618, -0.5700, 0.3580, 0.3379, -0.0093, 0.7535, -0.0313, -0.0313],
        [-0.0058, 0.1686, 0.1715, -0.5312, -0.5298, 0.3079, 0.3242, 0.0143, -0.0313, 1.1156, -0.5308],
        [-0.0058, 0.1686, 0.1715, -0.5312, -0.5298, 0.3079, 0.3242, 0.0143, -0.0313, -0.5308, 1.1156],
    ]
)


@pytest.mark.parametrize("seed", range(3))
def test_constraints_in_cycles_do_not_end_the_fit(seed):
    order = [*range(8), *range(11, 19), *range(8, 11)]  # thresholds, constraints, pinned multipliers
    A = np.zeros((19, 19))
    A[:11, :11] = THRESHOLDS_AND_PINS
    for column, (lo, hi) in enumerate(TIGHT, start=11):
        A[lo, column] = A[column, lo] = 1.0
        A[hi, column] = A[column, hi] = -1.0
    A = A[np.ix_(order, order)]
    assert np.linalg.matrix_rank(A) == 17
    right = A @ np.random.default_rng(seed).normal(size=19)
    np.testing.assert_allclose(A @ solve_symmetric(A.copy(), right), right, atol=1e-6)
