"""Preferences between rows, alone or beside targets: one problem, solved as a conic solver solves it."""

import cvxpy as cp
import numpy as np
import pytest

from hullrank import SwappedPairsRanker
from hullrank.exceptions import CollapsedRankingWarning, HullrankError, NoComparablePairError
from hullrank.problem import joined_pairs as joined
from hullrank.reports.certifying import certify


def rows(seed=0, n=40):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    value = X @ [1.0, -1.0, 0.5] + 0.5 * rng.normal(size=n)
    one, other = rng.integers(0, n, (2, 60))
    one, other = one[one != other], other[one != other]
    won = value[one] + rng.normal(size=len(one)) > value[other]
    pairs = np.column_stack([np.where(won, one, other), np.where(won, other, one), rng.uniform(0.5, 3, len(one))])
    return X, np.digitize(value, [-0.7, 0.7]), pairs, rng.uniform(0.5, 2, n)


def all_pairs(y, qid, weights):
    """Every pair that targets make: (winner, loser, weight)."""
    i, j = np.nonzero((y[:, None] > y) & (qid[:, None] == qid))
    return np.column_stack([i, j, weights[i] * weights[j]])


def optimum(X, table, C, loss):
    """The optimal objective of the mean pair, by Clarabel."""
    hi, lo = table[:, :2].astype(int).T
    w = cp.Variable(X.shape[1])
    d = (X[hi] - X[lo]) @ w
    charge = {"hinge": cp.pos(1 - d), "squared_hinge": cp.square(cp.pos(1 - d)), "logistic": cp.logistic(-d)}[loss]
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + C * (table[:, 2] / table[:, 2].sum()) @ charge))
    problem.solve(solver="CLARABEL")
    return problem.value


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("together", [False, True])
def test_given_pairs_are_solved_as_a_conic_solver_does(loss, together):
    X, y, pairs, weights = rows()
    qid = np.arange(len(y)) % 2
    a, b = pairs[:, :2].astype(int).T
    table = np.column_stack([pairs[:, :2], pairs[:, 2] * weights[a] * weights[b]])
    given = {"pairs": pairs, "sample_weight": weights}
    if together:
        table = np.concatenate([table, all_pairs(y, qid, weights)])
        given |= {"qid": qid}
    model = SwappedPairsRanker(C=20, loss=loss, tol=1e-9).fit(X, y if together else None, **given)
    assert model.certificate_.primal == pytest.approx(optimum(X, table, 20, loss), rel=1e-6)
    assert model.certificate_.relative_gap <= 1e-9
    assert model.certificate_.n_order_constraints == len(table)
    assert certify(model, X, y if together else None, **given).holds


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_joined_sets_are_one_list(monkeypatch, loss, kernel):
    X, y, pairs, weights = rows(1)
    parameters = {"C": 20, "loss": loss, "tol": 1e-8, "kernel": kernel}
    listed = SwappedPairsRanker(**parameters).fit(X, y, pairs=pairs, sample_weight=weights)
    with monkeypatch.context() as patch:
        patch.setattr(joined, "LISTED_PAIRS", 0)
        apart = SwappedPairsRanker(**parameters)
        assert isinstance(apart.state(X, y, pairs=pairs, sample_weight=weights).pairs, joined.JoinedPairs)
        apart.fit(X, y, pairs=pairs, sample_weight=weights)
    assert apart.certificate_.relative_gap <= 1e-8
    assert apart.certificate_.primal == pytest.approx(listed.certificate_.primal, rel=1e-7)
    np.testing.assert_allclose(apart.score_samples(X), listed.score_samples(X), atol=2e-3)


@pytest.mark.slow
def test_many_rows_are_sampled_for_the_start():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40_000, 4))
    y = X @ [1.0, 0.5, 0, 0] + rng.normal(size=len(X))
    pairs = np.column_stack([np.arange(500), np.arange(500, 1000), np.full(500, 1e4)])
    model = SwappedPairsRanker(C=100).fit(X, y, pairs=pairs)
    assert model.certificate_.relative_gap <= 1e-6
    assert certify(model, X, y, pairs=pairs).holds


def test_pairs_are_targets_of_two_rows():
    X, _, pairs, _ = rows(2)
    hi, lo = pairs[:, :2].astype(int).T
    both = np.concatenate([X[hi], X[lo]])
    y, qid = np.repeat([1, 0], len(hi)), np.tile(np.arange(len(hi)), 2)
    old = SwappedPairsRanker(C=10, tol=1e-9).fit(both, y, qid=qid)
    new = SwappedPairsRanker(C=10, tol=1e-9).fit(X, pairs=pairs[:, :2])
    np.testing.assert_allclose(new.coef_, old.coef_, atol=1e-4)
    assert new.score(X, pairs=pairs) == pytest.approx(
        np.average(X[hi] @ new.coef_ > X[lo] @ new.coef_, weights=pairs[:, 2])
    )


def test_a_weight_is_a_repetition_and_equal_queries_count_pairs_as_one():
    X, y, pairs, _ = rows(3)
    twice = np.concatenate([pairs, pairs])
    doubled = np.column_stack([pairs[:, :2], 2 * pairs[:, 2]])
    fits = [SwappedPairsRanker(C=10, tol=1e-9).fit(X, y, pairs=each).coef_ for each in (twice, doubled)]
    np.testing.assert_allclose(fits[0], fits[1], atol=1e-5)
    equal = SwappedPairsRanker(C=10, tol=1e-9, query_weight="equal").fit(X, y, pairs=pairs)
    weights = np.ones(len(y))
    made = all_pairs(y, np.zeros(len(y)), weights)
    made[:, 2] /= made[:, 2].sum()
    table = np.concatenate([made, np.column_stack([pairs[:, :2], pairs[:, 2] / pairs[:, 2].sum()])])
    assert equal.certificate_.primal == pytest.approx(optimum(X, table, 10, "hinge"), rel=1e-6)


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([(0, 1), (2, 99)], r"pair 1 is \(2.0, 99.0\), and rows are whole numbers from 0 to 39"),
        ([(0, 1), (-1, 2)], "pair 1"),
        ([(0, 1), (3, 3)], "pair 1 compares row 3 with itself"),
        ([(0, 1, 1.0), (2, 3, -1.0)], "pair 1 has the weight -1.0"),
        ([0, 1], "two columns"),
        ([("a", "b")], "numbers of rows"),
    ],
)
def test_bad_pairs_are_named(pairs, message):
    with pytest.raises(HullrankError, match=message):
        SwappedPairsRanker().fit(rows()[0], pairs=pairs)


def test_nothing_to_compare():
    X, y, pairs, _ = rows()
    with pytest.raises(NoComparablePairError, match="no pair of positive weight"):
        SwappedPairsRanker().fit(X, pairs=[(0, 1, 0.0)])
    model = SwappedPairsRanker().fit(X, np.ones(len(y)), pairs=pairs)  # equal targets say nothing, and do no harm
    assert model.certificate_.n_order_constraints == len(pairs)
    with pytest.raises(HullrankError, match="y=None"):
        model.score(X, y, pairs=pairs)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("pairs", [[(0, 1), (1, 0)], [(0, 1), (1, 2), (2, 0)], [(0, 1, 2), (1, 0, 1), (1, 0, 1)]])
def test_pairs_that_contradict_each_other_are_not_told_to_raise_C(pairs, loss):
    X = rows()[0]
    with pytest.warns(CollapsedRankingWarning, match="the pairs contradict each other.*whatever C is"):
        model = SwappedPairsRanker(loss=loss).fit(X, pairs=pairs)
    np.testing.assert_allclose(model.coef_, 0.0, atol=1e-9)
