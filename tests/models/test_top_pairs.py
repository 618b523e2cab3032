"""pair_weight="ndcg": pairs weigh what their swap costs in NDCG, counted by swapping them."""

import numpy as np
import pytest

from hullrank import SwappedPairsRanker
from hullrank.exceptions import HullrankError
from hullrank.io import load, save
from hullrank.metrics import ndcg_score
from hullrank.problem.top_pairs import ndcg_pairs
from hullrank.reports.certifying import certify


def lists(seed=0, n=90):
    rng = np.random.default_rng(seed)
    X, qid = rng.normal(size=(n, 4)), rng.integers(0, 9, n)
    value = X @ [1.0, -1.0, 0.5, 0.0] + rng.normal(size=n)
    return X, np.digitize(value, [-0.5, 1.0]), qid, rng.normal(size=n)


def test_weights_are_the_changes_of_ndcg_by_swaps():
    _, y, qid, scores = lists()
    weights = np.random.default_rng(1).uniform(0.5, 2, len(y))
    rows, pairs = ndcg_pairs(y, qid, weights, scores)
    expected = np.empty(pairs.n_pairs)
    for k, (hi, lo) in enumerate(zip(rows[pairs.hi], rows[pairs.lo], strict=True)):
        own = qid == qid[hi]
        swapped = scores.copy()
        swapped[[hi, lo]] = scores[[lo, hi]]
        before, after = (ndcg_score(y[own], s[own], gain="exponential") for s in (scores, swapped))
        expected[k] = abs(before - after) * weights[hi] * weights[lo]
    np.testing.assert_allclose(pairs.weights, expected / expected.sum(), atol=1e-12)
    assert pairs.n_pairs == sum(np.count_nonzero(y[qid == q][:, None] > y[qid == q]) for q in np.unique(qid))


def test_equal_scores_share_a_discount():
    y, qid = np.array([2, 1, 0]), np.zeros(3, dtype=int)
    np.testing.assert_allclose(ndcg_pairs(y, qid, np.ones(3), np.zeros(3))[1].weights, 1 / 3)  # no top to be seen
    _, pairs = ndcg_pairs(y, qid, np.ones(3), np.array([1.0, 1.0, 0.0]))
    tied = (pairs.hi == 0) & (pairs.lo == 1)
    assert pairs.weights[tied] == 0.0


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_last_round_is_certified_and_can_be_stated_again(kernel, tmp_path):
    X, y, qid, _ = lists(2)
    model = SwappedPairsRanker(C=10, pair_weight="ndcg", kernel=kernel).fit(X, y, qid=qid)
    assert model.certificate_.relative_gap <= 1e-6
    assert certify(model, X, y, qid=qid).holds
    rows, pairs = ndcg_pairs(y, qid, np.ones(len(y)), model.weighting_scores_)
    table = np.column_stack([rows[pairs.hi], rows[pairs.lo], pairs.weights])
    again = SwappedPairsRanker(C=10, kernel=kernel, tol=1e-8).fit(X, pairs=table)
    np.testing.assert_allclose(
        model.score_samples(X) - model.score_samples(X).mean(),
        again.score_samples(X) - again.score_samples(X).mean(),
        atol=5e-3,
    )
    save(model, tmp_path / "m.hull")
    np.testing.assert_array_equal(load(tmp_path / "m.hull").predict(X), model.predict(X))


@pytest.mark.slow
def test_the_top_of_lists_gains_where_it_is_unlike_the_rest():
    gains = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X, qid, best = rng.normal(size=(1200, 3)), np.repeat(np.arange(60), 20), np.arange(1200) % 20 < 2
        y = (X[:, 1] + 0.3 * rng.normal(size=1200) > 0).astype(int)  # the second column tells 1 from 0
        X[best] += [1.5, -1.0, 0.0]  # the best are high in the first and low in the second
        y[best] = 3
        train, test = qid < 30, qid >= 30
        found = [
            ndcg_score(
                y[test],
                SwappedPairsRanker(C=10, pair_weight=weight).fit(X[train], y[train], qid=qid[train]).predict(X[test]),
                qid=qid[test],
                k=5,
                gain="exponential",
            )
            for weight in (None, "ndcg")
        ]
        gains.append(found[1] - found[0])
    assert np.mean(gains) > 0.02 + 2 * np.std(gains, ddof=1) / len(gains) ** 0.5


def test_where_it_means_nothing():
    X, y, qid, value = lists()
    with pytest.raises(HullrankError, match="is for grades"):
        SwappedPairsRanker(pair_weight="ndcg").fit(X, value, qid=qid)
    with pytest.raises(HullrankError, match="leave out pairs"):
        SwappedPairsRanker(pair_weight="ndcg").fit(X, y, pairs=[(0, 1)])
