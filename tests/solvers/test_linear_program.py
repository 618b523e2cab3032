import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog, milp

from hullrank.exceptions import HullrankError
from hullrank.solvers.linear_program import GrowingProgram, LinearProgram, ProgramStatus, solve_lp, solve_mip


def random_program(seed, integer=False):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(8, 5))
    inside = rng.uniform(-1, 1, size=5)
    lower = A @ inside - rng.uniform(0, 1, 8)
    upper = np.where(rng.random(8) < 0.5, np.inf, A @ inside + rng.uniform(0, 1, 8))
    flags = np.arange(5) < 2 if integer else None
    if integer:
        lower, upper = lower - 3, upper + 3
    return LinearProgram(rng.normal(size=5), A, lower, upper, np.full(5, -2.0), np.full(5, 2.0), flags)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("sparse", [False, True])
def test_lp_agrees_with_scipy_and_duals_prove_it(seed, sparse):
    p = random_program(seed)
    A = sp.csr_matrix(p.A) if sparse else p.A
    ours = solve_lp(p.c, A, p.row_lower, p.row_upper, p.col_lower, p.col_upper)
    bounded = np.isfinite(p.row_upper)
    theirs = linprog(
        p.c,
        np.r_[-p.A, p.A[bounded]],
        np.r_[-p.row_lower, p.row_upper[bounded]],
        bounds=np.c_[p.col_lower, p.col_upper],
    )
    assert ours.status is ProgramStatus.OPTIMAL
    assert ours.objective == pytest.approx(theirs.fun, abs=1e-8)
    reduced = p.c - p.A.T @ ours.row_duals
    dual = np.minimum(reduced * p.col_lower, reduced * p.col_upper).sum()
    for y, lo, hi in zip(ours.row_duals, p.row_lower, p.row_upper, strict=True):
        dual += 0.0 if y == 0 else y * (lo if y > 0 else hi)
    assert dual == pytest.approx(ours.objective, abs=1e-8)


def test_infeasible_and_unbounded_are_named():
    one = np.ones(1)
    assert solve_lp(one, np.ones((1, 1)), 2 * one, 2 * one, 0 * one, one).status is ProgramStatus.INFEASIBLE
    free = solve_lp(-one, np.ones((1, 1)), -one, np.inf * one, 0 * one, np.inf * one)
    assert free.status is ProgramStatus.UNBOUNDED


@pytest.mark.parametrize("seed", range(5))
def test_growing_program_equals_the_whole(seed):
    p = random_program(seed)
    grown = GrowingProgram(LinearProgram(p.c, p.A[:3], p.row_lower[:3], p.row_upper[:3], p.col_lower, p.col_upper))
    first = grown.solve().objective
    grown.add_rows(p.A[3:], p.row_lower[3:], p.row_upper[3:])
    whole = solve_lp(p.c, p.A, p.row_lower, p.row_upper, p.col_lower, p.col_upper)
    assert grown.solve().objective == pytest.approx(whole.objective, abs=1e-9)
    assert first <= whole.objective + 1e-9


@pytest.mark.parametrize("seed", range(5))
def test_mip_agrees_with_scipy_from_any_start(seed):
    p = random_program(seed, integer=True)
    theirs = milp(
        p.c,
        integrality=p.integer.astype(int),
        bounds=(p.col_lower, p.col_upper),
        constraints=(p.A, p.row_lower, p.row_upper),
    )
    plain = solve_mip(p)
    warm = solve_mip(p, start=theirs.x)
    assert plain.objective == pytest.approx(theirs.fun, abs=1e-6)
    assert warm.objective == pytest.approx(theirs.fun, abs=1e-6)
    assert plain.bound <= plain.objective + 1e-6
    np.testing.assert_allclose(plain.x[p.integer], np.round(plain.x[p.integer]), atol=1e-6)


@pytest.mark.parametrize("suffix", [".mps", ".lp"])
def test_written_program_is_the_same_for_another_reader(tmp_path, suffix):
    import highspy

    p = random_program(1, integer=True)
    p.write(tmp_path / f"model{suffix}")
    reader = highspy.Highs()
    reader.setOptionValue("output_flag", False)
    reader.readModel(str(tmp_path / f"model{suffix}"))
    reader.run()
    assert reader.getInfo().objective_function_value == pytest.approx(solve_mip(p).objective, abs=1e-6)


def test_unknown_format_and_missing_folder_are_refused(tmp_path):
    p = random_program(0)
    with pytest.raises(HullrankError, match=r"\*\.mps or \*\.lp"):
        p.write(tmp_path / "model.txt")
    with pytest.raises(HullrankError, match="could not write"):
        p.write(tmp_path / "nowhere" / "model.mps")


def test_a_live_program_changes_bounds_rows_and_basis():
    """max x + y in a box, under x + y <= 1.5 and x <= 0.25."""
    live = GrowingProgram(
        LinearProgram(-np.ones(2), sp.csr_array((0, 2)), np.empty(0), np.empty(0), np.zeros(2), np.ones(2))
    )
    assert live.solve().objective == pytest.approx(-2.0)
    live.add_rows(np.array([[1.0, 1.0], [1.0, 0.0]]), np.full(2, -np.inf), np.array([1.5, 0.25]))
    assert live.solve().objective == pytest.approx(-1.25)
    basis = live.basis(np.arange(2))
    live.set_bounds(np.zeros(2), np.array([1.0, 0.5]))
    assert live.solve().objective == pytest.approx(-0.75)
    live.add_rows(np.array([[0.0, 1.0]]), np.array([-np.inf]), np.array([0.25]))
    assert live.solve().objective == pytest.approx(-0.5)
    again = GrowingProgram(
        LinearProgram(-np.ones(2), np.array([[1.0, 1.0], [1.0, 0.0]]), np.full(2, -np.inf), np.array([1.5, 0.25]),
                      np.zeros(2), np.ones(2))
    )  # fmt: skip
    again.start_from(basis)
    assert again.solve().objective == pytest.approx(-1.25)


def test_an_infeasible_program_has_multipliers_that_prove_it():
    live = GrowingProgram(
        LinearProgram(np.zeros(2), np.array([[1.0, 1.0]]), np.array([3.0]), np.array([np.inf]), np.zeros(2), np.ones(2))
    )
    assert live.solve().status is ProgramStatus.INFEASIBLE
    ray = live.infeasibility()
    assert len(ray) == 1
    assert ray[0] != 0


def test_time_limits_of_a_live_program_count_from_every_solve():
    live = GrowingProgram(
        LinearProgram(-np.ones(2), np.ones((1, 2)), np.array([-np.inf]), np.array([1.0]), np.zeros(2), np.ones(2))
    )
    for _ in range(3):
        assert live.solve(seconds=5.0).status is ProgramStatus.OPTIMAL
