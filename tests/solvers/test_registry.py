"""Statements times solvers: what each solver takes is pinned here, and every other cell gives its reason."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from hullrank.data import Samples
from hullrank.exact.relaxation import RelaxationStatement
from hullrank.exact.rows import join_rows
from hullrank.exact.statement import state_pairs
from hullrank.exceptions import HullrankError
from hullrank.models import _pair_blocks, exact, hull, margins, pairs  # noqa: F401, importing them registers solvers
from hullrank.problem.block_pairs import BlockPairStatement
from hullrank.problem.block_rows import HeldBlocks
from hullrank.problem.block_statement import BlockStatement
from hullrank.problem.charges import LOSSES, Charge, charge_named
from hullrank.problem.gram import Gram
from hullrank.problem.intervals import (
    fixed_margin_problem,
    hull_problem,
    nu_margin_problem,
    sum_of_margins_problem,
)
from hullrank.problem.pair_statement import PairStatement, Window
from hullrank.problem.pairs import every_pair
from hullrank.problem.signs import Signs
from hullrank.problem.statement import Point
from hullrank.solvers import block_pairs, faces, intervals, kernel_intervals, pairs_newton  # noqa: F401
from hullrank.solvers.base import REGISTRY, Options, able
from hullrank.solvers.solve import solve
from statements import interval_statement, pair_statement, solved

CHAIN = [(0, 1), (1, 2)]


def samples(m):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(m, 3))
    score = X @ [1.0, -1.0, 0.5] + rng.normal(size=m)
    return Samples(X, np.argsort(np.argsort(score)) * 3 // m, np.ones(m), 3)


FEW, MANY = samples(60), samples(24_000)
WIDE = replace(samples(600), X=sp.csr_array(sp.random(600, 4000, density=0.01, random_state=0)))
LINEAR = {"few": FEW, "many": MANY, "wide": WIDE}
GRAM = Gram(FEW.X, "rbf", 0.5)
INTERVALS = {
    "hinge": fixed_margin_problem(3, 0.5),
    "squared": fixed_margin_problem(3, 0.5, loss="squared_hinge"),
    "logistic": fixed_margin_problem(3, 0.5, loss="logistic"),
    "free": hull_problem(3, CHAIN, 0.5, intervals="free"),
    "free hinge": hull_problem(3, CHAIN, 0.5, intervals="free", loss="hinge"),
    "l1": hull_problem(3, CHAIN, 0.5, penalty="l1"),
    "l1 logistic": hull_problem(3, CHAIN, 0.5, penalty="l1", loss="logistic"),
    "hard": fixed_margin_problem(3, np.inf),
    "nu": nu_margin_problem(3, 0.6, 80.0),
    "sum": sum_of_margins_problem(3, 0.05),
}
POINT, SETTLED, NEWTON = "interior point", "interior point on unsettled rows", "semismooth Newton"
DESCENT = "dual coordinate descent"
BY_FACES = ["intervals face by face", "pairs face by face"]
SMO, COORDINATES = "SMO with Newton steps", "coordinates of the kernel's space"
EXPECTED = {
    "few": {
        **dict.fromkeys(["hinge", "squared", "free", "free hinge", "l1", "hard", "nu", "sum"], (POINT,)),
        **dict.fromkeys(["logistic", "l1 logistic"], (NEWTON,)),
    },
    "many": {
        **dict.fromkeys(
            ["hinge", "free", "free hinge", "nu", "sum"],
            (SETTLED, POINT),
        ),
        **dict.fromkeys(
            ["squared", "l1"],
            (SETTLED, NEWTON, POINT),
        ),
        **dict.fromkeys(["logistic", "l1 logistic"], (SETTLED, NEWTON)),
        "hard": (POINT,),
    },
    "wide": {
        **dict.fromkeys(["hinge", "squared", "l1", "nu", "sum"], (DESCENT, POINT)),
        **dict.fromkeys(["logistic", "l1 logistic"], (DESCENT, NEWTON)),
        **dict.fromkeys(["free", "free hinge", "hard"], (POINT,)),
    },
    "kernel": {
        **dict.fromkeys(
            ["hinge", "squared", "free", "nu", "sum"],
            (SMO, COORDINATES),
        ),
        **dict.fromkeys(["free hinge", "hard", "logistic"], (COORDINATES,)),
        **dict.fromkeys(["l1", "l1 logistic"], ()),
    },
    "approximated": {
        **dict.fromkeys(["hinge", "squared", "free", "free hinge", "hard", "logistic", "nu", "sum"], (COORDINATES,)),
        **dict.fromkeys(["l1", "l1 logistic"], ()),
    },
}


def statement_of(kind, name):
    if kind in LINEAR:
        return interval_statement(INTERVALS[name], LINEAR[kind])
    return interval_statement(INTERVALS[name], FEW, GRAM, 10 if kind == "approximated" else None)


def pairs_in_blocks(loss):
    rows = HeldBlocks([(FEW.X[part], FEW.codes[part], None, None) for part in (slice(0, 30), slice(30, 60))])
    rows = rows.map(_pair_blocks.checked_block)
    found = rows.sum(_pair_blocks.first_look, _pair_blocks.Wanted(2, None))
    return _pair_blocks.state_in_blocks(rows, found, 1.0, charge_named(loss), "pairs")


def others():
    """Statements of all other families, and the solvers that take them."""
    for loss in LOSSES:
        yield interval_statement(fixed_margin_problem(3, 0.5, loss=loss), MANY).in_blocks(600), ["rows in blocks"]
        yield pairs_in_blocks(loss), ["block_pairs"]
    zeros, ones = np.zeros(60, np.int64), np.ones(60)
    codes = FEW.codes.astype(np.int64)
    yield from ((pair_statement(FEW.X, every_pair(codes, zeros, ones)[1], 1.0, loss), ["pairs_newton"])
                for loss in LOSSES)  # fmt: skip
    yield RelaxationStatement(join_rows(FEW.X, codes, ones, zeros), 0.01), ["cutting planes"]
    yield state_pairs(FEW.X, codes, ones, zeros), ["exact search"]


def taken(statement):
    """The solvers that take the statement; all others must have said why not."""
    reasons = {name: solver.refuses(statement) for name, solver in REGISTRY.items()}
    assert all(reason is None or len(reason) > 20 for reason in reasons.values())
    return [name for name, reason in reasons.items() if reason is None]


@pytest.mark.parametrize("name", INTERVALS)
@pytest.mark.parametrize("kind", EXPECTED)
def test_the_matrix_of_class_based_problems(kind, name):
    assert taken(statement_of(kind, name)) == list(EXPECTED[kind][name])


def test_the_matrix_of_blocks_pairs_relaxations_and_exact_problems():
    for statement, expected in others():
        assert taken(statement) == expected


def test_every_solver_takes_something():
    pinned = {name for kind in EXPECTED.values() for solvers in kind.values() for name in solvers}
    pinned |= {name for _, solvers in others() for name in solvers}
    assert set(REGISTRY) == pinned | set(BY_FACES)


@pytest.mark.parametrize("smooth", [False, True])
def test_a_charge_that_no_formula_was_written_for(smooth):
    """Solvers, and sums over pairs and blocks, refuse it; the grade of class-based problems needs the record alone."""
    unknown = replace(Charge.SQUARED_HINGE, name="unknown", code=99, smooth=smooth)
    for kind in ("few", "many", "wide", "kernel", "approximated"):
        known = statement_of(kind, "squared")
        statement = replace(known, problem=replace(known.problem, charge=unknown))
        with pytest.raises(HullrankError, match="not unknown"):
            solve(statement, Options())
    known = statement_of("few", "squared")
    statement = replace(known, problem=replace(known.problem, charge=unknown))
    found = solve(known, Options())
    one, two = (each.grade(found.point, found.evidence) for each in (known, statement))
    assert one.primal == two.primal
    assert one.dual == pytest.approx(two.dual, rel=1e-9)
    for known, _ in others():
        if isinstance(known, PairStatement | BlockPairStatement):
            statement = replace(known, charge=unknown)
            with pytest.raises(HullrankError, match=r"sums over pairs .* not unknown"):
                statement.grade(Point(np.zeros(3)), Window(1.0))
        elif isinstance(known, BlockStatement):
            statement = replace(known, problem=replace(known.problem, charge=unknown))
            with pytest.raises(HullrankError, match=r"passes over blocks .* not unknown"):
                statement.survey(Point(np.zeros(3), np.zeros(2)))
        else:
            continue  # it has no charge to choose
        with pytest.raises(HullrankError, match="not unknown"):
            solve(statement, Options())


@pytest.mark.parametrize("name", INTERVALS)
def test_required_signs_are_left_to_the_search_over_faces(name):
    signs = Signs(np.array([1.0, 0.0, -1.0]))
    assert taken(replace(statement_of("few", name), signs=signs)) == BY_FACES[:1]
    all_pairs = next(statement for statement, solvers in others() if solvers == ["pairs_newton"])
    assert taken(replace(all_pairs, signs=signs)) == BY_FACES[1:]


@pytest.mark.parametrize("name", [name for name in INTERVALS if name != "hard"])  # these classes overlap
def test_every_solver_that_takes_a_problem_certifies_it(name):
    """All cells of the small linear problems; those of kernels and many rows are in the tests of their solvers."""
    statement = statement_of("few", name)
    for solver in EXPECTED["few"][name]:
        assert solved(statement, 1e-6, solver=solver).certificate.status == "converged"


def test_a_problem_that_no_solver_takes_lists_the_reasons():
    with pytest.raises(HullrankError, match=r"no solver takes this problem: SMO.*penalties.*coordinates"):
        able(statement_of("kernel", "l1"))
