"""Equal rows in blocks: how many are different, and those merged with their weights."""

from functools import reduce
from operator import add

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from hullrank.problem import equal_rows
from hullrank.problem.equal_rows import DistinctCount, EqualRows, pair_keys


def answers(m, seed=0):
    """Rows of few values, targets and weights."""
    rng = np.random.default_rng(seed)
    return rng.integers(-1, 2, (m, 3)) * 0.5, rng.integers(0, 2, m).astype(float), rng.random(m)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("with_queries", [False, True])
def test_merged_rows_have_the_weights_and_numbers_of_all(kind, with_queries):
    X, y, weights = answers(600)
    qid = np.array(["a", "b", "c"])[np.arange(600) // 200] if with_queries else None
    parts = [slice(0, 200), slice(200, 400), slice(400, 600)]
    blocks = [
        EqualRows.of(1000, kind(X[part]), y[part], weights[part], None if qid is None else qid[part]) for part in parts
    ]
    merged = reduce(add, blocks)
    dense = merged.X.toarray() if sp.issparse(merged.X) else merged.X
    code = np.zeros(600) if qid is None else np.arange(600) // 200
    table = np.column_stack([X, y, code])
    rows, inverse, counts = np.unique(table, axis=0, return_inverse=True, return_counts=True)
    place = np.zeros(len(dense)) if qid is None else np.searchsorted(["a", "b", "c"], merged.qid)
    found = np.column_stack([dense, merged.y, place])
    order = np.lexsort(found.T[::-1])
    assert np.array_equal(found[order], rows)
    assert np.array_equal(merged.counts[order], counts)
    assert_allclose(merged.weights[order], np.bincount(inverse.ravel(), weights))


def test_too_many_rows_are_given_up():
    X, y, weights = answers(600)
    many, few = EqualRows.of(10, X, y, weights, None), EqualRows.of(10, X[:5], y[:5], weights[:5], None)
    assert many.X is None
    assert (many + few).X is None
    assert (few + many).X is None


def test_different_rows_of_one_key_are_not_merged(monkeypatch):
    X, y, weights = answers(50)
    monkeypatch.setattr(equal_rows, "pair_keys", lambda X, y, qid: np.zeros(len(y), dtype=np.uint64))
    assert EqualRows.of(100, X, y, weights, None).X is None


@pytest.mark.parametrize("distinct", [50, 5000, 40_000])
def test_different_rows_are_counted(distinct):
    """Whole numbers, whose bits differ in few places, are the hardest to tell apart."""
    number = np.arange(distinct)
    X = np.column_stack([number % 10, number // 10 % 10, number // 100 % 10, number // 1000]).astype(float)
    keys = pair_keys(np.tile(X, (2, 1)), np.zeros(2 * distinct))
    assert len(np.unique(keys)) == distinct
    counted = DistinctCount.of(keys[: distinct // 2]) + DistinctCount.of(keys[distinct // 2 :])
    assert_allclose(counted.estimate, distinct, rtol=0.05)


def test_zeros_have_no_sign():
    X = np.array([[0.0, 1.0], [-0.0, 1.0]])
    assert len(np.unique(pair_keys(X, np.zeros(2)))) == 1
    assert np.array_equal(pair_keys(X, np.ones(2)), pair_keys(sp.csr_array(X), np.ones(2)))
