"""Scoring systems, limited features and required signs against brute force over all integer vectors and all cells."""

import itertools

import numpy as np
import pytest
from cell_enumeration import cell_signs

from hullrank import ExactRanker
from hullrank.exact.clock import Clock
from hullrank.exact.rule import WeightRule
from hullrank.exact.scoring import ScoringSearch
from hullrank.exact.statement import state_pairs, state_ranks
from hullrank.exceptions import HullrankError
from hullrank.models._constraints import signs_of_features
from hullrank.problem.statistics import RankStatistic


def random_problem(seed):
    rng = np.random.default_rng(seed)
    d, n, largest = int(rng.integers(1, 5)), int(rng.integers(4, 14)), int(rng.integers(1, 4))
    X = [
        rng.integers(0, 3, (n, d)) / 1.0,
        np.round(rng.normal(size=(n, d)), 1),
        rng.normal(size=(n, d)),
        rng.integers(0, 2, (n, d)) / 1.0,
    ][seed % 4]
    y = np.r_[0, 1, rng.integers(0, 2, n - 2)]
    signs = tuple(int(x) for x in rng.integers(-1, 2, d)) if rng.random() < 0.4 else ()
    rule = WeightRule(signs, largest, int(rng.integers(1, d + 1)) if rng.random() < 0.5 else None)
    if rng.random() < 0.6:
        return state_pairs(X, y, np.ones(n), np.zeros(n, dtype=int), rule)
    name = str(rng.choice(["dcg", "wrs", "mrr"]))
    return state_ranks(X, y, np.ones(n), RankStatistic(name).weights(n), rule)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_whole_number_weights_equal_brute_force(block):
    for seed in range(20 * block, 20 * block + 20):
        try:
            statement = random_problem(seed)
        except HullrankError:
            continue
        arrangement, d, largest = statement.arrangement, statement.X.shape[1], statement.rule.largest
        step = arrangement.step if arrangement.integer else 1e-9
        search = ScoringSearch(statement, Clock(30.0), step=step, bound=arrangement.top - statement.reward)
        search.run()
        every = (np.array(w, dtype=float) for w in itertools.product(range(-largest, largest + 1), repeat=d))
        best = max((float(statement.recount(w)), -np.abs(w).sum()) for w in every if statement.rule.allows(w))
        assert search.value == pytest.approx(best[0], rel=1e-12)
        assert np.abs(search.w).sum() == -best[1]
        assert search.bound == pytest.approx(best[0], rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("statistic", ["auc", "dcg"])
def test_required_signs_equal_enumeration(seed, statistic):
    """Cells of the pairs and the axes together, those with the wrong side of an axis left out."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, size=(6, 3)).astype(float)
    y = np.r_[0, 1, rng.integers(0, 2, 4)]
    signs = np.array([1, -1, 0]) if seed % 2 else np.array([1, 1, 1])
    ranker = ExactRanker(statistic, monotonic_cst=signs).fit(X, y)
    above, below = (index.ravel() for index in np.meshgrid(np.arange(6), np.arange(6), indexing="ij"))
    cells = cell_signs(np.vstack([X[above] - X[below], np.eye(3)]).astype(int))
    cells = cells[((cells[:, 36:] * signs)[:, signs != 0] > 0).all(axis=1)]
    won = cells[:, :36] > 0
    if statistic == "auc":
        best = (won @ ((y[above] == 1) & (y[below] == 0)).astype(int)).max() / ((y == 1).sum() * (y == 0).sum())
    else:
        rank = np.stack([won[:, above == i].sum(axis=1) for i in range(6)], axis=1)
        best = RankStatistic("dcg").weights(6)[rank[:, y == 1]].sum(axis=1).max()
    assert ranker.certificate_.status == "proven_optimal"
    assert ranker.certificate_.value == pytest.approx(best, rel=1e-12)
    assert (ranker.coef_ * signs >= 0).all()


@pytest.mark.parametrize("statistic", ["auc", "wrs"])
def test_few_features_are_the_best_of_all_choices(statistic):
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(25, 4)), 1)
    y = (X @ [1, -1, 0.3, 0] + rng.normal(size=25) > 0).astype(int)
    ranker = ExactRanker(statistic, max_features=2).fit(X, y)
    values = [
        ExactRanker(statistic).fit(X[:, list(chosen)], y).certificate_.value
        for chosen in itertools.combinations(range(4), 2)
    ]
    assert ranker.certificate_.status == "proven_optimal"
    assert ranker.certificate_.value == max(values)
    assert np.count_nonzero(ranker.coef_) <= 2


def test_an_axis_that_must_not_help_gets_no_weight():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 3))
    y = (X[:, 0] - X[:, 1] + 0.1 * rng.normal(size=40) > 0).astype(int)
    ranker = ExactRanker(monotonic_cst=[1, 1, 0]).fit(X, y)
    free = ExactRanker().fit(X, y)
    assert ranker.coef_[1] >= 0 > free.coef_[1]
    assert ranker.certificate_.value <= free.certificate_.value


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([1, 0], "one sign for each"),
        ([1, 2, 0], "signs are 1, -1 and 0"),
        ({"a": 1}, "no column names"),
    ],
)
def test_bad_signs_are_named(given, message):
    with pytest.raises(HullrankError, match=message):
        ExactRanker(monotonic_cst=given).fit(np.eye(3), [0, 1, 1])


def test_signs_by_name():
    assert signs_of_features({"b": -1}, 3, ["a", "b", "c"]) == (0, -1, 0)
    assert signs_of_features([0, 0], 2) == ()
    with pytest.raises(HullrankError, match="'z'"):
        signs_of_features({"z": 1}, 2, ["a", "b"])


def test_ties_of_decimals_count_the_same_in_score_and_certificate():
    rng = np.random.default_rng(4)
    X = rng.integers(0, 8, size=(60, 3)) * 0.1
    y = (X.sum(axis=1) + 0.3 * rng.normal(size=60) > 1).astype(int)
    ranker = ExactRanker(weights="integer", max_weight=2).fit(X, y)
    assert ranker.certificate_.status == "proven_optimal"
    assert ranker.score(X, y) == pytest.approx(ranker.certificate_.value, abs=1e-15)
    assert (ranker.coef_ == np.rint(ranker.coef_)).all()


def test_methods_that_know_no_restriction_say_so():
    X, y = np.eye(4), [0, 1, 0, 1]
    with pytest.raises(HullrankError, match="method='auto'"):
        ExactRanker(weights="integer", method="lattice").fit(X, y)
    with pytest.raises(HullrankError, match="method='auto'"):
        ExactRanker(monotonic_cst=[1, 0, 0, 0], method="mip").fit(X, y)
