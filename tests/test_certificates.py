"""Problems times solvers: each cell either certifies or gives its reason; certificates are honest."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from hullrank.data import Samples
from hullrank.problem.certificate import Status, certify_intervals
from hullrank.problem.charges import LOSSES
from hullrank.problem.intervals import (
    fixed_margin_problem,
    hull_problem,
    nu_margin_problem,
    sum_of_margins_problem,
)
from hullrank.problem.layout import lay_out
from hullrank.problem.measured_rows import centred_rows
from hullrank.solvers.base import of_family
from statements import interval_statement, solved

SOLVERS = {solver.name: solver for solver in of_family("intervals")}

CHAIN = [(c, c + 1) for c in range(4)]
PROBLEMS = {
    **{
        f"hull {loss} {kind}": hull_problem(5, CHAIN, 0.5, loss=loss, intervals=kind)
        for loss in ("hinge", "squared_hinge")
        for kind in ("proper", "free")
    },
    "hull edge": hull_problem(5, CHAIN, 0.5, slack="edge"),
    "hull logistic": hull_problem(5, CHAIN, 0.5, loss="logistic"),
    "hull l1": hull_problem(5, CHAIN, 0.01, penalty="l1"),
    **{
        f"fixed {loss} {kind}": fixed_margin_problem(5, 0.5, loss=loss, thresholds=kind)
        for loss in LOSSES
        for kind in ("immediate", "all")
    },
    "nu": nu_margin_problem(5, 0.6, 14400.0),
    "sum": sum_of_margins_problem(5, 0.0006),
}


@pytest.fixture(scope="module")
def samples():
    rng = np.random.default_rng(0)
    m = 9000
    X = rng.standard_normal((m, 6)) + 3
    score = X @ rng.standard_normal(6) + 1.0 * rng.standard_normal(m)
    return Samples(X, np.argsort(np.argsort(score)) * 5 // m, rng.uniform(0.5, 1.5, m), 5)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("problem", PROBLEMS)
def test_a_solver_certifies_or_gives_its_reason(problem, solver, samples):
    problem = PROBLEMS[problem]
    reason = SOLVERS[solver].refuses(interval_statement(problem, samples))
    if reason is not None:
        assert len(reason) > 10
        return
    statement = interval_statement(problem, samples)
    certificate = solved(statement, 1e-6, solver=solver).certificate
    assert certificate.solver == solver
    assert certificate.status is Status.CONVERGED
    assert -1e-9 <= certificate.relative_gap <= 1e-6
    last = "interior point" if problem.charge.name != "logistic" else "semismooth Newton"
    reference = solved(statement, 1e-9, solver=last).certificate
    assert certificate.dual <= reference.primal * (1 + np.sign(reference.primal) * 1e-9) + reference.floor
    assert certificate.primal >= reference.dual * (1 - np.sign(reference.dual) * 1e-9) - reference.floor


@pytest.mark.parametrize("problem", PROBLEMS)
def test_the_bound_holds_for_any_multipliers(problem, samples):
    """Whatever a solver hands in, the repaired dual value stays below the optimum, and the primal above it."""
    problem = PROBLEMS[problem]
    few = Samples(samples.X[:300], samples.codes[:300], samples.weights[:300], 5)
    optimum = solved(interval_statement(problem, few), 1e-9).certificate
    rows = centred_rows(few.X, few.rows, few.weights[few.rows])
    rows = replace(rows, scale=1.0)
    layout = lay_out(problem, few.starts, few.weights[few.rows])
    rng = np.random.default_rng(1)
    for _ in range(20):
        w = rng.standard_normal(6)
        w /= np.linalg.norm(w)
        share = rng.random(layout.n_rows) * (0.5 if (problem.bundles[:, 1] >= 0).any() else 1.0)
        point = certify_intervals(
            problem,
            layout,
            rows.scores(w),
            problem.penalty.of(w),
            lambda coef: problem.penalty.dual_of(rows.adjoint(coef)),
            rng.standard_normal(len(problem.linear)),
            share,
            rng.random(len(problem.up)) * layout.cost.sum(),
        )
        slack = 1e-7 * max(abs(optimum.primal), optimum.floor) + 1e-12
        assert point.dual <= optimum.primal + slack
        assert point.primal >= optimum.dual - slack or problem.homogeneous


def test_the_objective_is_that_of_the_returned_point(samples):
    few = Samples(samples.X[:300], samples.codes[:300], samples.weights[:300], 5)
    problem = fixed_margin_problem(5, 0.5)
    solution = solved(interval_statement(problem, few), 1e-8)
    s, b = few.X @ solution.coef, solution.thresholds
    total = 0.5 * solution.coef @ solution.coef
    for j in range(4):
        for sign, c in ((-1, j), (1, j + 1)):
            held = few.codes == c
            total += 0.5 * few.weights[held] @ np.maximum(0, 1 - sign * (s[held] - b[j]))
    assert solution.certificate.primal == pytest.approx(total, rel=1e-9)


@pytest.mark.slow
def test_many_sparse_columns_are_solved_by_conjugate_gradients():
    rng = np.random.default_rng(0)
    X = sp.csr_array(sp.random(3500, 4000, density=0.01, random_state=rng))
    score = X @ rng.standard_normal(4000)
    codes = np.argsort(np.argsort(score)) * 3 // 3500
    for loss in LOSSES:
        statement = interval_statement(fixed_margin_problem(3, 0.1, loss=loss), Samples(X, codes, np.ones(3500), 3))
        certificate = solved(statement, 1e-5).certificate
        assert certificate.status is Status.CONVERGED


def test_order_constraints_are_counted(samples):
    counts = np.bincount(samples.codes)
    expected = sum(int(a) * int(b) for i, a in enumerate(counts) for b in counts[:i])
    assert interval_statement(fixed_margin_problem(5, 0.5), samples).n_order_constraints == expected


def test_the_certificate_prints_what_it_proves(samples):
    certificate = solved(interval_statement(fixed_margin_problem(5, 0.5), samples)).certificate
    text = repr(certificate)
    for word in ("converged", "objective", "lower bound", "gap", "order constraints", "residuals"):
        assert word in text
