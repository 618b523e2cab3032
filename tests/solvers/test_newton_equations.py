"""Few columns solve the same Newton equations in compiled loops as many columns do by BLAS and LAPACK."""

import numpy as np
import pytest

from hullrank.problem.certificate import Status
from hullrank.problem.intervals import fixed_margin_problem, hull_problem, nu_margin_problem
from hullrank.problem.layout import lay_out
from hullrank.problem.rows import ArrayRows
from hullrank.solvers import _newton_equations
from hullrank.solvers._linear_system import SingularSystemError
from hullrank.solvers._newton_equations import FewColumns, ManyColumns, newton_equations
from hullrank.solvers.interior_point import Settled, interior_point

CHAIN = [(0, 1), (1, 2)]
PROBLEMS = {
    "fixed": fixed_margin_problem(3, 2.0),
    "all": fixed_margin_problem(3, 2.0, thresholds="all"),
    "hull": hull_problem(3, CHAIN, 2.0),
    "free": hull_problem(3, CHAIN, 2.0, intervals="free"),
    "nu": nu_margin_problem(3, 0.3, 50.0),
}


def drawn(problem, seed=0, m=30, n=5):
    """Rows, layout, and everything that a factor and a direction take, at random."""
    rng = np.random.default_rng(seed)
    rows = ArrayRows(np.asfortranarray(rng.normal(size=(m, n))))
    layout = lay_out(problem, np.array([0, 8, 20, m]), np.ones(m))
    E, G = len(problem.up), problem.n_groups
    per_sample, per_group = rng.random((3, m + E)), rng.random((3, G + E)) * 40 + 40
    cross, pairs = rng.random(layout.n_rows + E), 1e-3 * rng.random(len(layout.table) + E)
    settled = Settled(
        np.zeros(n), np.zeros(len(problem.linear)), np.eye(n) * 7, rng.normal(size=(G, n)), rng.random(G) + 5
    )
    return rows, layout, settled, per_sample, per_group, cross, pairs, rng.random(n) + 50


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("with_settled", [False, True])
def test_few_and_many_columns_give_the_same_direction(name, with_settled):
    problem = PROBLEMS[name]
    rows, layout, settled, per_sample, per_group, cross, pairs, curvature = drawn(problem)
    if not with_settled:
        settled = Settled(settled.linear_w, settled.linear_theta)
    rng = np.random.default_rng(1)
    rw, rtheta = rng.normal(size=rows.n_features), rng.normal(size=len(problem.linear))
    steps = []
    for equations in (newton_equations(problem, rows, layout, settled), ManyColumns(problem, rows, layout, settled)):
        equations.factor(per_sample, cross, per_group[0].copy(), pairs, curvature)
        ds = np.zeros(per_sample.shape[1])
        steps.append((*equations.direction(rw, rtheta, per_sample, per_group, ds), ds, *equations.solve(rw, rtheta)))
        assert isinstance(equations, FewColumns if len(steps) == 1 else ManyColumns)
    for few, many in zip(*steps, strict=True):
        np.testing.assert_allclose(few, many, rtol=1e-10, atol=1e-12)


def test_matrices_that_are_not_positive_definite_are_refused():
    problem = PROBLEMS["fixed"]
    rows, layout, settled, per_sample, per_group, cross, pairs, curvature = drawn(problem)
    equations = newton_equations(problem, rows, layout, settled)
    with pytest.raises(SingularSystemError):
        equations.factor(per_sample, cross, per_group[0], pairs, -1e6 * curvature)


def test_rows_that_are_views_or_wide_are_left_to_many_columns():
    problem, (rows, layout, *_) = PROBLEMS["fixed"], drawn(PROBLEMS["fixed"])
    settled = Settled(np.zeros(5), np.zeros(2))
    view = ArrayRows(rows.X, np.arange(30))
    assert isinstance(newton_equations(problem, view, layout, settled), ManyColumns)
    wide = ArrayRows(np.asfortranarray(np.ones((30, 40))))
    assert isinstance(newton_equations(problem, wide, layout, Settled(np.zeros(40), np.zeros(2))), ManyColumns)


@pytest.mark.parametrize("name", PROBLEMS)
def test_predictor_and_corrector_in_one_pass_take_the_same_steps(name, monkeypatch):
    """An interior-point solve of few columns, and the same one with the passes called one by one."""
    problem = PROBLEMS[name]
    rows, layout, *_ = drawn(problem)
    few = [interior_point(problem, rows, layout, tol=1e-8, max_iter=n) for n in (4, 200)]
    monkeypatch.setattr(_newton_equations, "FEW_COLUMNS", 0)
    many = [interior_point(problem, rows, layout, tol=1e-8, max_iter=n) for n in (4, 200)]
    np.testing.assert_allclose(few[0].w, many[0].w, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(few[0].theta, many[0].theta, rtol=1e-9, atol=1e-12)
    passed, called = few[1], many[1]
    assert passed.status is called.status is Status.CONVERGED
    np.testing.assert_allclose(passed.w, called.w, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(passed.theta, called.theta, rtol=1e-6, atol=1e-6)
