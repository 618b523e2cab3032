"""Solutions of much the same rows are good starts for each other, and lead to what a solve from nothing finds."""

import numpy as np
import pytest

from hullrank import SwappedPairsRanker
from hullrank.problem.all_pairs import AllPairs
from hullrank.solvers.base import Options
from hullrank.solvers.pair_path import PairPath
from hullrank.solvers.pairs_newton import solve_pairs

PRICES = [0.01, 0.1, 1.0, 3.0, 10.0, 30.0]


def two_folds(loss, n=1200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = np.digitize(X @ [1.0, -1.0, 0.5, 0.0] + rng.normal(size=n), [-1.0, 0.0, 1.0])
    model = SwappedPairsRanker(loss=loss)
    return [model.state(X[keep], y[keep]) for keep in (slice(0, 1000), slice(200, None))]


def solved(statement, C, start):
    statement = statement.priced(C, statement.charge)
    return statement, solve_pairs(statement, Options(1e-6), start=start)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_a_start_from_another_fold_is_near_and_leads_to_the_solution(loss):
    one, other = two_folds(loss)
    path, before = PairPath(), None
    for C in PRICES:
        before = solved(one, C, path.start(C, before))[1].start
        path.keep(before)
    nearer, before = 0, None
    for C in PRICES:
        start = path.start(C, before)
        statement, found = solved(other, C, start)
        _, cold = solved(other, C, None)
        grades = [statement.grade(each.point, each.evidence) for each in (found, cold)]
        assert all(grade.primal - grade.dual <= 1e-6 * grade.primal for grade in grades)
        assert grades[0].primal == pytest.approx(grades[1].primal, rel=1e-6)
        if before is not None:
            distances = [np.linalg.norm(w - cold.point.coef) for w in (start.coef, before.coef)]
            nearer += distances[0] < distances[1]
        before = found.start
    assert nearer == len(PRICES) - 1


def test_without_a_solution_at_the_price_the_last_one_is_the_start():
    one, _ = two_folds("hinge")
    path = PairPath()
    assert path.start(1.0, None) is None
    first = solved(one, 1.0, None)[1].start
    path.keep(first)
    assert path.start(2.0, first) is first
    assert path.start(1.0, None) is first


@pytest.mark.parametrize("spoilt", [np.nan, np.inf, 1e200])
def test_a_start_that_leads_nowhere_is_not_taken(spoilt):
    one, _ = two_folds("hinge")
    start = solved(one, 1.0, None)[1].start
    bad = type(start)(start.coef * spoilt, width=start.width, C=2.0, curvature=start.curvature)
    with np.errstate(all="ignore"):
        statement, found = solved(one, 2.0, bad)
    grade = statement.grade(found.point, found.evidence)
    assert grade.primal - grade.dual <= 1e-6 * grade.primal


def test_where_all_pairs_pay_in_full_a_path_needs_no_sum_over_pairs(monkeypatch):
    """C times the mean difference is the solution as long as no pair comes near the margin, and only so long."""
    one, _ = two_folds("hinge")
    start = solved(one, 1e-4, None)[1].start
    weak = [solved(one, C, None) for C in (1e-3, 0.02, 3.0)]
    passes, at = [], AllPairs.at
    monkeypatch.setattr(AllPairs, "at", lambda pairs, scores: (passes.append(1), at(pairs, scores))[1])
    for (statement, cold), closed in zip(weak, (True, True, False), strict=True):
        passes.clear()
        found = solve_pairs(statement, Options(1e-6), start=start)
        assert (not passes) == closed
        grade = statement.grade(found.point, found.evidence)
        assert grade.primal - grade.dual <= (1e-12 if closed else 1e-6) * grade.primal
        assert grade.primal == pytest.approx(statement.grade(cold.point, cold.evidence).primal, rel=1e-6)
