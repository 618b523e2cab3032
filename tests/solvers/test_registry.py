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
from hullrank.models import exact, hull, margins, pairs  # noqa: F401, importing them registers all solvers
from hullrank.problem.gram import Gram
from hullrank.problem.intervals import (
    fixed_margin_problem,
    hull_problem,
    nu_margin_problem,
    sum_of_margins_problem,
)
from hullrank.problem.pairs import every_pair
from hullrank.problem.signs import Signs
from hullrank.solvers import faces, intervals, kernel_intervals, pairs_newton  # noqa: F401
from hullrank.solvers.base import REGISTRY, able
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
SMO, COORDINATES = "SMO with Newton steps", "coordinates of the kernel's space"
EXPECTED = {
    "few": {
        **dict.fromkeys(["hinge", "squared", "free", "free hinge", "l1", "hard", "nu", "sum"], (POINT,)),
        **dict.fromkeys(["logistic", "l1 logistic"], (NEWTON,)),
    },
    "many": {
        **dict.fromkeys(
            ["hinge", "free", "free hinge", "nu", "sum"],
            (
                SETTLED,
                POINT,
            ),
        ),
        **dict.fromkeys(
            ["squared", "l1"],
            (
                SETTLED,
                NEWTON,
                POINT,
            ),
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
            (
                SMO,
                COORDINATES,
            ),
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


def others():
    zeros, ones = np.zeros(60, np.int64), np.ones(60)
    codes = FEW.codes.astype(np.int64)
    yield from ((pair_statement(FEW.X, every_pair(codes, zeros, ones)[1], 1.0, loss), ["pairs_newton"])
                for loss in ("hinge", "squared_hinge", "logistic"))  # fmt: skip
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


def test_the_matrix_of_pairs_relaxations_and_exact_problems():
    for statement, expected in others():
        assert taken(statement) == expected


@pytest.mark.parametrize("name", INTERVALS)
def test_required_signs_are_left_to_the_search_over_faces(name):
    signs = Signs(np.array([1.0, 0.0, -1.0]))
    assert taken(replace(statement_of("few", name), signs=signs)) == ["intervals face by face"]
    all_pairs, _ = next(others())
    assert taken(replace(all_pairs, signs=signs)) == ["pairs face by face"]


@pytest.mark.parametrize("name", INTERVALS)
def test_every_solver_that_takes_a_problem_certifies_it(name):
    """All cells of the small linear problems; those of kernels and many rows are in the tests of their solvers."""
    if name == "hard":
        return  # these classes overlap
    statement = statement_of("few", name)
    for solver in EXPECTED["few"][name]:
        assert solved(statement, 1e-6, solver=solver).certificate.status == "converged"


def test_a_problem_that_no_solver_takes_lists_the_reasons():
    with pytest.raises(HullrankError, match=r"no solver takes this problem: SMO.*penalties.*coordinates"):
        able("kernel intervals", statement_of("kernel", "l1"))
