"""The rates of a fold that are prepared once are the scores that every model gives itself."""

import warnings

import numpy as np
import pytest

from hullrank import ConvexHullRanker, FixedMarginClassifier, SwappedPairsRanker
from hullrank.metrics import swapped_pairs, wmw_score
from hullrank.metrics.pairwise import PairAccuracy, QueryAccuracy
from hullrank.model_selection._scoring import Rating, Scorer


def rows(seed, n=300):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).round(1)  # scores tie
    grade = np.digitize(X @ [1.0, -1.0, 0.2] + rng.normal(size=n), [-1.0, 0.0, 1.0])
    return X, np.array(["poor", "fair", "good", "best"])[grade], rng.integers(0, 3, n).astype(float)


ORDER = ["poor", "fair", "good", "best"]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "model",
    [
        FixedMarginClassifier(classes=ORDER),
        FixedMarginClassifier(classes=ORDER, kernel="rbf"),
        ConvexHullRanker("poor < fair < good < best"),
        ConvexHullRanker("poor < fair, good < best"),
        ConvexHullRanker("poor < fair < good < best", kernel="rbf"),
    ],
)
def test_prepared_rates_are_scores(model, weighted):
    X, y, weights = rows(0)
    Z, grade, prices = rows(1)
    rate = Rating(Scorer(None, model), Z, grade, {"sample_weight": prices} if weighted else {})
    for C in (0.01, 1.0, 100.0):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.set_params(C=C).fit(X, y, sample_weight=weights)
        assert rate(model) == model.score(Z, grade, sample_weight=prices if weighted else None)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_prepared_rates_within_queries_are_scores(kernel, weighted):
    X, y, _ = rows(0)
    Z, grade, prices = rows(1)
    y, grade = np.searchsorted(np.unique(y), y), np.searchsorted(np.unique(grade), grade)
    qid = np.random.default_rng(5).integers(0, 20, len(Z))
    for given in ({}, {"qid": qid}):
        given = {**given, "sample_weight": prices} if weighted else given
        model = SwappedPairsRanker(kernel=kernel)
        rate = Rating(Scorer(None, model), Z, grade, given)
        for C in (10.0, 100.0):
            model.set_params(C=C).fit(X, y)
            assert rate(model) == model.score(Z, grade, **given)


def test_a_label_that_was_not_learned_is_wrong():
    X, y, _ = rows(2)
    known = y != "best"
    model = FixedMarginClassifier(classes=ORDER[:3]).fit(X[known], y[known])
    rate = Rating(Scorer(None, model), X, y, {})
    assert rate(model) == model.score(X, y) < 1


class Strict(FixedMarginClassifier):
    """Rates itself by the share of the best grade alone."""

    def score(self, X, y, sample_weight=None):
        return float(np.mean(self.predict(X)[y == "best"] == "best"))


def test_a_score_of_its_own_is_asked():
    X, y, _ = rows(3)
    model = Strict(classes=ORDER).fit(X, y)
    assert Rating(Scorer(None, model), X, y, {})(model) == model.score(X, y)
    pairs = SwappedPairsRanker(C=100).fit(X, X[:, 0])
    assert Rating(Scorer(None, pairs), X, X[:, 0], {})(pairs) == pairs.score(X, X[:, 0])
    named = Rating(Scorer("mean_absolute_rank_error", model), X, y, {})
    assert named(model) == Scorer("mean_absolute_rank_error", model)(model, X, y, {})


def test_pair_accuracy_is_wmw_score_and_nan_without_a_pair():
    rng = np.random.default_rng(4)
    y, weights = rng.integers(0, 20, 200), rng.integers(0, 3, 200).astype(float)
    share = PairAccuracy(y, "full", weights)
    for _ in range(3):
        scores = rng.normal(size=200).round(1)
        assert share(scores) == wmw_score(y, scores, sample_weight=weights)
    assert np.isnan(PairAccuracy([1, 1], "full")(np.zeros(2)))


@pytest.mark.parametrize("seed", range(12))
def test_pairs_are_counted_as_the_metric_does(seed):
    """To the last digit, whether or not scores tie, are infinite, or belong to queries."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 3000))
    y, qid = rng.integers(0, rng.integers(2, 30), n), rng.integers(0, 4, n) if seed % 2 else None
    scores = rng.normal(size=n) + 0.1 * y
    if seed % 3 == 0:
        scores = scores.round(1)
    if seed % 4 == 0:
        scores[:2] = -np.inf, np.inf
    assert QueryAccuracy(y, None, qid)(scores) == 1 - swapped_pairs(y, scores, qid=qid)
