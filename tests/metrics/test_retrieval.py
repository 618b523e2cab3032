"""Retrieval metrics against their definitions and scikit-learn."""

from itertools import groupby, permutations

import numpy as np
import pytest
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st

from hullrank.exceptions import HullrankError, LabelError, UndefinedMetricWarning
from hullrank.metrics import mean_average_precision, mean_reciprocal_rank, ndcg_score, precision_at_k

METRICS = [ndcg_score, mean_average_precision, mean_reciprocal_rank, precision_at_k]
rows = st.tuples(st.integers(0, 4), st.sampled_from([-1.0, 0.0, 0.5, 2.0]), st.sampled_from("pqr"))
documents = st.lists(rows, min_size=1, max_size=9)
lists = st.lists(st.tuples(st.integers(0, 4), st.sampled_from([-1.0, 0.0, 0.5, 2.0])), min_size=2, max_size=6)


def all_rankings(scores):
    """Every order of the documents by falling score, ties broken in every way."""
    order = sorted(range(len(scores)), key=lambda i: -scores[i])
    ranked = [[]]
    for _, run in groupby(order, key=lambda i: scores[i]):
        ranked = [[*head, *tail] for tail in permutations(list(run)) for head in ranked]
    return ranked


@given(lists, st.integers(1, 7))
def test_ndcg_with_linear_gain_is_that_of_scikit_learn(case, k):
    y, scores = np.array(case).T
    assert ndcg_score(y, scores, k=k) == pytest.approx(sklearn.metrics.ndcg_score([y], [scores], k=k))
    assert ndcg_score(y, scores) == pytest.approx(sklearn.metrics.ndcg_score([y], [scores]))


@given(lists, st.integers(1, 7))
def test_ndcg_with_exponential_gain_is_that_of_transformed_grades(case, k):
    y, scores = np.array(case).T
    assert ndcg_score(y, scores, k=k, gain="exponential") == pytest.approx(ndcg_score(2.0**y - 1, scores, k=k))


def test_ndcg_by_hand():
    gains, discounts = [3, 7, 0], [1, 1 / np.log2(3), 0.5]  # grades 2, 3, 0 in ranked order
    expected = np.dot(gains, discounts) / np.dot([7, 3, 0], discounts)
    assert ndcg_score([2, 3, 0], [9, 8, 7], gain="exponential") == pytest.approx(expected)


@given(lists, st.integers(1, 7))
def test_precision_at_k_is_the_mean_over_all_ways_to_break_ties(case, k):
    y, scores = np.array(case).T
    expected = np.mean([sum(y[i] > 0 for i in order[:k]) / k for order in all_rankings(scores)])
    assert precision_at_k(y, scores, k) == pytest.approx(expected)


@given(lists)
def test_average_precision_is_that_of_scikit_learn(case):
    y, scores = np.array(case).T
    if (y > 1).any():
        expected = sklearn.metrics.average_precision_score(y > 1, scores)
        assert mean_average_precision(y, scores, relevant_above=1) == pytest.approx(expected)


@given(lists)
def test_reciprocal_rank_is_the_worst_way_to_break_ties(case):
    y, scores = np.array(case).T
    if (y > 0).any():
        places = [next(place for place, i in enumerate(order, 1) if y[i] > 0) for order in all_rankings(scores)]
        assert mean_reciprocal_rank(y, scores) == pytest.approx(1 / max(places))


@pytest.mark.slow
@pytest.mark.parametrize("metric", METRICS)
@given(documents, st.randoms())
def test_value_is_the_mean_over_queries_in_any_row_order(metric, case, random):
    each = []
    for query in sorted({query for _, _, query in case}):
        y, scores, _ = zip(*[row for row in case if row[2] == query], strict=True)
        each.append(metric(y, scores))
    random.shuffle(case)
    y, scores, queries = zip(*case, strict=True)
    assert metric(y, scores, qid=queries) == pytest.approx(np.mean(each))


@pytest.mark.parametrize("metric", METRICS)
def test_weight_of_a_query_is_the_mean_weight_of_its_documents(metric):
    y, scores, queries = [1, 0, 0, 1, 1], [2, 1, 2, 1, 0], [1, 1, 2, 2, 2]
    first, second = metric(y[:2], scores[:2]), metric(y[2:], scores[2:])
    value = metric(y, scores, qid=queries, sample_weight=[4, 2, 1, 1, 1])
    assert value == pytest.approx((3 * first + second) / 4)
    assert metric(y, scores, qid=queries, sample_weight=[1, 1, 0, 0, 0]) == first


@pytest.mark.parametrize("metric", [ndcg_score, mean_average_precision, mean_reciprocal_rank])
def test_queries_of_one_document_and_without_a_relevant_one(metric):
    assert metric([2], [0.3]) == 1.0
    assert metric([0], [0.3]) == 0.0
    assert metric([0], [0.3], no_relevant=1.0) == 1.0
    assert metric([2, 0, 0], [3, 2, 1], qid=[1, 2, 2]) == 0.5
    assert metric([2, 0, 0], [3, 2, 1], qid=[1, 2, 2], no_relevant=np.nan) == 1.0
    with pytest.warns(UndefinedMetricWarning, match="relevant document"):
        assert np.isnan(metric([0, 0], [1, 2], no_relevant=np.nan))


def test_precision_fills_short_queries_up():
    assert precision_at_k([1], [0.3], k=5) == 0.2
    assert precision_at_k([0], [0.3], k=5) == 0.0


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([-1, 1], [1, 2]), {}, "at least 0"),
        (([0, 1], [1, 2]), {"k": 0}, "k=0"),
        (([0, 1], [1, 2]), {"k": 1.5}, "k=1.5"),
        (([0, 1], [1, 2]), {"gain": "square"}, "gain='square'"),
        (([0, 2000], [1, 2]), {"gain": "exponential"}, "too large a gain"),
        (([0, 1], [1, np.nan]), {}, "NaN at row 1"),
        (([0, 1], [1, 2]), {"qid": [1, 2, 3]}, "qid has 3 entries"),
    ],
)
def test_bad_input_is_named(arguments, options, message):
    with pytest.raises(HullrankError, match=message):
        ndcg_score(*arguments, **options)


def test_labels_that_are_no_numbers_are_refused():
    with pytest.raises(LabelError, match="numeric grades"):
        ndcg_score(["low", "high"], [1, 2])
