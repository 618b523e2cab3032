"""Rank statistics against their definition, sample by sample."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hullrank.exceptions import HullrankError, LabelError, UndefinedMetricWarning
from hullrank.metrics import rank_statistic, swapped_pairs
from hullrank.problem.statistics import RankStatistic

binary = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 5)), min_size=2, max_size=12).filter(
    lambda rows: len({y for y, _ in rows}) == 2
)

WEIGHTS = {  # a_l of the paper, l = 1..n, with t = 3 and p = 2
    "wrs": lambda level, n: level,
    "partial_wmw": lambda level, n: level if level >= 3 else 0,
    "wta": lambda level, n: float(level == n),
    "mrr": lambda level, n: 1 / (n - level + 1),
    "dcg": lambda level, n: 1 / np.log2(n - level + 2),
    "pnorm": lambda level, n: level**2,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", WEIGHTS)
@given(binary)
def test_functional_sums_the_weight_of_the_strict_rank_of_each_positive(name, rows):
    if name == "partial_wmw" and len(rows) < 3:
        return
    y, scores = np.array(rows).T
    n = len(y)
    expected = sum(WEIGHTS[name](1 + sum(scores < s), n) for s in scores[y == 1])
    assert rank_statistic(y, scores, name, t=3, p=2) == pytest.approx(expected, rel=1e-13)
    table = [WEIGHTS[name](level, n) for level in range(1, n + 1)]
    assert rank_statistic(y, scores, table) == pytest.approx(expected, rel=1e-13)


@given(binary)
def test_auc_counts_ties_as_errors(rows):
    y, scores = np.array(rows).T
    won = [s > other for s in scores[y == 1] for other in scores[y == 0]]
    assert rank_statistic(y, scores) == pytest.approx(np.mean(won), rel=1e-13)


@given(st.permutations(range(10)), st.integers(1, 9))
def test_rank_sum_differs_from_the_pairs_by_a_constant_without_ties(scores, n_positive):
    y = np.arange(10) < n_positive
    pairs = rank_statistic(y, scores) * n_positive * (10 - n_positive)
    assert rank_statistic(y, scores, "wrs") == pytest.approx(pairs + n_positive * (n_positive + 1) / 2)


def test_auc_takes_graded_targets():
    y, scores = [0.5, 2, 2, 7], [1, 0, 3, 2]
    assert rank_statistic(y, scores) == pytest.approx(1 - swapped_pairs(y, scores))


@pytest.mark.parametrize("name", WEIGHTS)
@pytest.mark.parametrize("n", [5, 10, 137])
def test_weights_never_decrease_and_are_not_negative(name, n):
    weights = RankStatistic(name).weights(n)
    assert len(weights) == n
    assert weights[0] >= 0
    assert (np.diff(weights) >= 0).all()


def test_level_of_partial_wmw_as_a_share_of_the_samples():
    assert RankStatistic("partial_wmw", t=0.7).weights(10).tolist() == [0] * 6 + [7, 8, 9, 10]
    assert RankStatistic("partial_wmw", t=7) != RankStatistic("partial_wmw")
    assert RankStatistic.of("partial_wmw", t=7) == RankStatistic.of(RankStatistic("partial_wmw", t=7))


def test_the_higher_label_is_positive():
    assert rank_statistic(["b", "a"], [1, 2], "wta", classes=["b", "a"]) == 1.0


@pytest.mark.parametrize(
    ("statistic", "options", "message"),
    [
        ("roc", {}, "unknown rank statistic 'roc'"),
        ([0, 2, 1], {}, "a_2 = 2 > a_3 = 1"),
        ([-1, 0, 1], {}, "non-negative"),
        ([0, 1], {}, "2 weights were given for 3 samples"),
        ("pnorm", {"p": 0}, "p=0"),
        ("partial_wmw", {"t": 1.5}, "t=1.5"),
        ("partial_wmw", {"t": 4}, "above the number of samples"),
    ],
)
def test_bad_statistics_are_named(statistic, options, message):
    with pytest.raises(HullrankError, match=message):
        rank_statistic([0, 1, 1], [1, 2, 3], statistic, **options)


def test_more_than_two_labels_and_one_label():
    with pytest.raises(LabelError, match="needs two labels, but y has 3"):
        rank_statistic([0, 1, 2], [1, 2, 3], "dcg")
    with pytest.warns(UndefinedMetricWarning, match="all targets are"):
        assert np.isnan(rank_statistic([1, 1], [1, 2], "dcg"))
    with pytest.raises(HullrankError, match="counts pairs"):
        RankStatistic("auc").weights(3)
