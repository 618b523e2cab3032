"""Pair metrics against the definition, pair by pair, and against scikit-learn and SciPy."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau
from sklearn.metrics import roc_auc_score

from hullrank import OrderGraph
from hullrank.exceptions import HullrankError, LabelError, UndeclaredOrderWarning, UndefinedMetricWarning
from hullrank.metrics import kendall_tau_b, pair_counts, swapped_pairs, wmw_score


@st.composite
def rankings(draw, most=14, labels=5):
    """y, scores, weights and queries with many ties."""
    m = draw(st.integers(2, most))
    y = draw(st.lists(st.integers(0, labels - 1), min_size=m, max_size=m))
    scores = draw(st.lists(st.sampled_from([-np.inf, -1.5, 0.0, 0.25, 1.0, 3.0, 1e9]), min_size=m, max_size=m))
    weights = draw(st.lists(st.integers(0, 3), min_size=m, max_size=m).filter(any))
    queries = draw(st.lists(st.sampled_from("pqr"), min_size=m, max_size=m))
    return np.array(y), np.array(scores), np.array(weights, dtype=float), np.array(queries)


def brute_counts(y, scores, weights, queries, edges=None):
    """(won, tied, total) weight over all pairs, or over the pairs along edges (lo, hi)."""
    won = tied = total = 0.0
    for i in range(len(y)):
        for j in range(len(y)):
            if queries[i] == queries[j] and (y[i] > y[j] if edges is None else (y[j], y[i]) in edges):
                weight = weights[i] * weights[j]
                won, tied = won + weight * (scores[i] > scores[j]), tied + weight * (scores[i] == scores[j])
                total += weight
    return won, tied, total


def same(value, expected):
    return value == pytest.approx(expected, rel=1e-12, abs=1e-14, nan_ok=True)


@given(rankings())
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_swapped_pairs_is_its_definition(case):
    y, scores, weights, queries = case
    won, _, total = brute_counts(y, scores, weights, queries)
    expected = (total - won) / total if total else np.nan
    assert same(swapped_pairs(y, scores, qid=queries, sample_weight=weights), expected)
    assert same(swapped_pairs(y * 0.5 - 3, scores, qid=queries, sample_weight=weights), expected)


@pytest.mark.slow
@given(rankings(), st.lists(st.sampled_from([(i, j) for i in range(5) for j in range(i)]), min_size=1))
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_wmw_is_its_definition_on_any_graph(case, edges):
    y, scores, weights, _ = case
    order = OrderGraph.from_edges(edges, labels=range(5))
    shares = []
    counts = np.zeros(3)
    for edge in set(edges):
        one = np.array(brute_counts(y, scores, weights, np.zeros(len(y)), {edge}))
        counts += one
        shares += [one[:2] / one[2]] if one[2] else []
    for ties, tie_value in (("strict", 0.0), ("half", 0.5)):
        value = {"pairs": (counts[0] + tie_value * counts[1]) / counts[2] if counts[2] else np.nan}
        value["sum"] = sum(won + tie_value * tied for won, tied in shares) if shares else np.nan
        value["edges"] = value["sum"] / len(shares) if shares else np.nan
        for average, expected in value.items():
            result = wmw_score(y, scores, order=order, average=average, ties=ties, sample_weight=weights)
            assert same(result, expected), (ties, average)


@given(rankings())
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_full_graph_is_counted_alike_with_and_without_edges(case):
    y, scores, weights, _ = case
    codes = np.unique(y, return_inverse=True)[1]
    edges = OrderGraph.full(range(codes.max() + 1)).codes
    by_edge = pair_counts.count_edge_pairs(codes, scores, weights, edges)
    at_once = pair_counts.count_pairs(codes, scores, weights)
    assert by_edge == at_once
    assert same(1 - wmw_score(y, scores, sample_weight=weights), swapped_pairs(y, scores, sample_weight=weights))


def test_edges_in_chunks_count_the_same(monkeypatch):
    rng = np.random.default_rng(0)
    codes, scores = rng.integers(0, 40, 300), rng.integers(0, 50, 300).astype(float)
    edges = OrderGraph.chain(range(40)).codes
    whole = pair_counts.count_edge_pairs(codes, scores, np.ones(300), edges)
    monkeypatch.setattr(pair_counts, "_CHUNK", 25)
    assert pair_counts.count_edge_pairs(codes, scores, np.ones(300), edges) == whole


@given(rankings(), st.randoms())
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_weights_are_repetition_and_row_order_does_not_matter(case, random):
    y, scores, weights, queries = case
    rows = np.repeat(np.arange(len(y)), weights.astype(int)).tolist()
    random.shuffle(rows)
    for metric, by_query in ((swapped_pairs, True), (kendall_tau_b, True), (wmw_score, False)):
        whole, repeated = ({"qid": queries}, {"qid": queries[rows]}) if by_query else ({}, {})
        assert same(metric(y, scores, sample_weight=weights, **whole), metric(y[rows], scores[rows], **repeated))


@given(rankings())
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_tau_b_is_that_of_scipy_and_averages_queries(case):
    y, scores, _, queries = case
    assert same(kendall_tau_b(y, scores), kendalltau(y, scores).statistic)
    each = [kendall_tau_b(y[queries == q], scores[queries == q]) for q in np.unique(queries)]
    expected = np.nanmean(each) if not np.isnan(each).all() else np.nan
    assert same(kendall_tau_b(y, scores, qid=queries), expected)


def test_two_classes_give_the_area_under_the_roc_curve():
    rng = np.random.default_rng(1)
    y, scores, weights = rng.integers(0, 2, 200), rng.integers(0, 30, 200), rng.random(200)
    expected = roc_auc_score(y, scores, sample_weight=weights)
    assert same(wmw_score(y, scores, ties="half", sample_weight=weights), expected)


def test_many_distinct_targets_and_samples():
    rng = np.random.default_rng(2)
    m = 20_000
    y, noise = rng.normal(size=m), rng.normal(size=m)
    tau = kendalltau(y, y + noise).statistic
    assert same(swapped_pairs(y, y + noise), (1 - tau) / 2)
    assert swapped_pairs(y, y) == 0.0
    assert swapped_pairs(y, -y) == 1.0
    assert wmw_score(y, y, order="chain", average="edges") == 1.0
    assert wmw_score(y, np.zeros(m), ties="half", average="edges") == pytest.approx(0.5)


def test_many_queries_with_real_targets():
    rng = np.random.default_rng(3)
    m = 50_000
    y, queries = rng.normal(size=m), np.repeat(np.arange(m // 5), 5)
    scores = y + rng.normal(size=m)
    higher = np.sign(y.reshape(-1, 5, 1) - y.reshape(-1, 1, 5)) > 0
    won = (scores.reshape(-1, 5, 1) > scores.reshape(-1, 1, 5)) & higher
    assert same(swapped_pairs(y, scores, qid=queries), 1 - won.sum() / higher.sum())
    assert same(kendall_tau_b(y, scores, qid=queries), 2 * won.sum() / higher.sum() - 1)


def test_order_of_labels_comes_from_the_data_or_is_declared():
    labels, scores = ["mid", "low", "high"], [2.0, 1.0, 3.0]
    grades = ["low", "mid", "high"]
    assert swapped_pairs(labels, scores, classes=grades) == 0.0
    assert swapped_pairs(pd.Categorical(labels, grades, ordered=True), scores) == 0.0
    assert swapped_pairs(pl.Series(labels, dtype=pl.Enum(grades)), scores) == 0.0
    assert wmw_score(labels, scores, order="low < mid < high") == 1.0
    assert wmw_score([2, 1, 3], scores, order="1 < 2 < 3 < 4") == 1.0
    with pytest.warns(UndeclaredOrderWarning):
        assert swapped_pairs(labels, scores) == pytest.approx(2 / 3)


def test_labels_of_the_graph_without_a_sample_are_left_out():
    order = OrderGraph.chain("abcd")
    assert wmw_score(["a", "b", "d"], [1, 2, 3], order=order, average="sum") == 1.0
    with pytest.warns(UndefinedMetricWarning, match="both ends"):
        assert np.isnan(wmw_score(["a", "d"], [1, 2], order=order))


def test_rows_of_zero_weight_bring_no_class():
    assert wmw_score([0, 1, 2], [0, 1, 0], average="edges", sample_weight=[1, 1, 0]) == 1.0


@pytest.mark.parametrize("metric", [swapped_pairs, kendall_tau_b, wmw_score])
def test_one_class_is_undefined_with_a_warning(metric):
    with pytest.warns(UndefinedMetricWarning, match="undefined"):
        assert np.isnan(metric([1, 1, 1], [0.1, 0.2, 0.3]))


def test_queries_of_one_document_have_no_pairs():
    assert swapped_pairs([0, 1, 5], [0.0, 1.0, -5.0], qid=[1, 1, "x"]) == 0.0
    with pytest.warns(UndefinedMetricWarning):
        assert np.isnan(swapped_pairs([0, 1, 2], [0.0, 1.0, 2.0], qid=["a", "b", "c"]))


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([0, 1], [0.1, np.nan]), {}, "NaN at row 1"),
        (([0, np.nan], [0.1, 0.2]), {}, "NaN"),
        (([0, 1, 2], [0.1, 0.2]), {}, "inconsistent numbers of samples"),
        (([], []), {}, "no samples"),
        (([0, 1], [0.1, 0.2]), {"sample_weight": [1, -1]}, "negative"),
        (([0, 1], [0.1, 0.2]), {"sample_weight": [1]}, "sample_weight has shape"),
        (([0, 1], [0.1, 0.2]), {"average": "macro"}, "average='macro'"),
        (([0, 1], [0.1, 0.2]), {"ties": "maybe"}, "ties='maybe'"),
        (([0, 1, 7], [0.1, 0.2, 0.3]), {"order": "0 < 1"}, "7"),
    ],
)
def test_bad_input_is_named(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        wmw_score(*arguments, **options)


def test_bad_queries_and_classes_are_named():
    with pytest.raises(HullrankError, match="qid has 1 entries, but there are 2 rows"):
        swapped_pairs([0, 1], [0, 1], qid=[1])
    with pytest.raises(HullrankError, match="qid is missing"):
        swapped_pairs([0, 1], [0, 1], qid=[1, None])
    with pytest.raises(LabelError, match="'c'"):
        swapped_pairs(["a", "c"], [0, 1], classes=["a", "b"])
