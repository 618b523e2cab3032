"""Thresholds with room stand in the middle of their optimal interval, found here by linear programs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from hullrank import ConvexHullRanker, FixedMarginClassifier


def optimal_ranges(scores, y, weights, reach, n_thresholds, ordered):
    """[min, max] of every threshold over the minima of the hinge charge; reach(j) gives the rows of its two sides."""
    rows, right, cost = [], [], []
    for j in range(n_thresholds):
        for sign, members in zip((1, -1), reach(j), strict=True):
            for k in np.flatnonzero(members):
                row = np.zeros(n_thresholds)
                row[j] = sign
                rows.append(row)
                right.append(sign * scores[k] - 1)
                cost.append(weights[k])
    A = np.hstack([np.array(rows), -np.eye(len(rows))])
    right = np.array(right)
    if ordered:
        steps = np.zeros((n_thresholds - 1, A.shape[1]))
        steps[np.arange(n_thresholds - 1), np.arange(n_thresholds - 1)] = 1
        steps[np.arange(n_thresholds - 1), np.arange(1, n_thresholds)] = -1
        A, right = np.vstack([A, steps]), np.append(right, np.zeros(n_thresholds - 1))
    bounds = [(None, None)] * n_thresholds + [(0, None)] * len(cost)
    charge = np.append(np.zeros(n_thresholds), cost)
    best = linprog(charge, A, right, bounds=bounds).fun
    A, right = np.vstack([A, charge]), np.append(right, best + 1e-9 * max(1.0, best))
    ranges = np.empty((n_thresholds, 2))
    for j in range(n_thresholds):
        aim = np.zeros(A.shape[1])
        for side, sign in enumerate((1, -1)):
            aim[j] = sign
            ranges[j, side] = sign * linprog(aim, A, right, bounds=bounds).fun
    return ranges


@given(st.integers(0, 10**6), st.sampled_from(["immediate", "all"]), st.sampled_from([0.01, 0.3, 10.0]))
@settings(max_examples=25)
def test_fixed_margin_thresholds_are_midpoints(seed, thresholds, C):
    rng = np.random.default_rng(seed)
    K, m = int(rng.integers(2, 5)), 12
    X = rng.integers(0, 4, (m, 2)).astype(float) if seed % 2 else rng.normal(size=(m, 2))
    y = np.append(np.arange(K), rng.integers(0, K, m - K))
    weights = rng.integers(1, 4, m).astype(float)
    model = FixedMarginClassifier(C, loss="hinge", thresholds=thresholds, tol=1e-9).fit(X, y, sample_weight=weights)
    everybody = thresholds == "all"
    ranges = optimal_ranges(
        model.score_samples(X), y, weights,
        lambda j: (y > j, y <= j) if everybody else (y == j + 1, y == j), K - 1, ordered=not everybody,
    )  # fmt: skip
    np.testing.assert_allclose(model.thresholds_, ranges.mean(axis=1), atol=1e-5)


def test_a_threshold_between_far_classes_is_centred():
    X, y = np.array([[0.0], [1.0], [5.0], [6.0], [20.0], [21.0]]), [0, 0, 1, 1, 2, 2]
    for C in (1.0, np.inf):
        model = FixedMarginClassifier(C, loss="hinge", thresholds="immediate", tol=1e-10).fit(X, y)
        np.testing.assert_allclose(model.coef_, 0.5, rtol=1e-5)
        np.testing.assert_allclose(model.thresholds_, [1.5, 6.5], rtol=1e-5)
        assert model.certificate_.relative_gap <= 1e-10


def test_hull_intervals_with_room_are_centred():
    X, y = np.array([[0.0], [2.0], [10.0], [12.0]]), [0, 0, 1, 1]
    ranker = ConvexHullRanker(loss="hinge", C=100.0, tol=1e-10).fit(X, y)
    middle = ranker.score_samples([[6.0]])[0]
    np.testing.assert_allclose(ranker.thresholds_, [middle], rtol=1e-6)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_many_classes_stay_ordered(loss):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    model = FixedMarginClassifier(loss=loss).fit(X, rng.permutation(40))
    assert np.all(np.diff(model.thresholds_) >= 0)
    assert model.certificate_.relative_gap <= 1e-6
