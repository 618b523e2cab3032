"""ConvexHullRanker: intervals, classes, every way to declare an order, collapse, hard margins, exact zeros, endings."""

import warnings

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hullrank import ConvexHullClassifier, ConvexHullRanker, OrderGraph
from hullrank.exceptions import CollapsedRankingWarning, ConvergenceWarning, LabelError, NotSeparableError
from hullrank.solvers.interior_point import _State

GRADES = ["mild", "moderate", "severe"]
VARIANTS = {
    "proper": {},
    "proper, hinge": {"loss": "hinge"},
    "free": {"intervals": "free"},
    "free, hinge": {"intervals": "free", "loss": "hinge"},
    "edge": {"slack": "edge"},
    "edge, hinge": {"slack": "edge", "loss": "hinge"},
    "l1": {"penalty": "l1"},
    "l1, hinge": {"penalty": "l1", "loss": "hinge"},
}
every_variant = pytest.mark.parametrize("variant", VARIANTS)


def draw(m=60, n=3, K=3, noise=0.3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, n))
    place = np.argsort(np.argsort(X @ np.arange(1, n + 1) + noise * rng.normal(size=m)))
    return X, place * K // m


def objective(ranker, X, y):
    """1/2 |w|^2 + C sum y_k^2 with y_k how far sample k lies outside the interval of its class."""
    lower, upper = ranker.intervals_[np.searchsorted(ranker.classes_, y)].T
    s = ranker.score_samples(X)
    outside = np.maximum(np.maximum(lower - s, s - upper), 0)
    return 0.5 * ranker.coef_ @ ranker.coef_ + ranker.C * outside @ outside


def test_intervals_are_where_classes_are_charged():
    X, y = draw()
    ranker = ConvexHullRanker(C=0.3).fit(X, y)
    lower, upper = ranker.intervals_.T
    assert lower[0] == -np.inf
    assert upper[-1] == np.inf
    assert np.all(lower[1:] - upper[:-1] >= 1 - 1e-12)
    assert np.all(lower <= upper)
    assert objective(ranker, X, y) == pytest.approx(ranker.certificate_.primal, rel=1e-9)


def test_a_partial_order_stands_for_the_pairs_that_it_compares():
    y = np.repeat([0, 1, 2, 3], [10, 20, 30, 40])
    X = np.random.default_rng(0).normal(size=(100, 2)) + y[:, None]
    order = OrderGraph.from_edges([(0, 1), (2, 3)])
    assert ConvexHullRanker(order).fit(X, y).certificate_.n_order_constraints == 10 * 20 + 30 * 40
    groups = np.arange(100) % 2  # halves of every class
    assert ConvexHullRanker(order).fit(X, y, groups=groups).certificate_.n_order_constraints == 2 * (5 * 10 + 15 * 20)
    assert ConvexHullRanker("0 < 1 < 3; 0 < 2").fit(X, y).certificate_.n_order_constraints == 200 + 800 + 400 + 300


@every_variant
def test_ranker_predicts_scores_and_is_scored_by_pairs(variant):
    X, y = draw()
    ranker = ConvexHullRanker(C=2.0, **VARIANTS[variant]).fit(X, y)
    np.testing.assert_array_equal(ranker.predict(X), X @ ranker.coef_)
    np.testing.assert_array_equal(ranker.predict(X), ranker.score_samples(X))
    s = ranker.predict(X)
    pairs = [(i, j) for i in range(len(y)) for j in range(len(y)) if y[i] < y[j]]
    assert ranker.score(X, y) == pytest.approx(np.mean([s[i] < s[j] for i, j in pairs]))
    assert ranker.certificate_.n_order_constraints == len(pairs)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("noise", [0.1, 3.0, 30.0])
def test_thresholds_have_the_least_mean_rank_error_on_the_samples(noise, weighted):
    X, y = draw(noise=noise)
    weights = np.random.default_rng(0).uniform(0.2, 3.0, len(y)) if weighted else np.ones(len(y))
    ranker = ConvexHullRanker(C=10.0).fit(X, y, sample_weight=weights)
    s = np.sort(ranker.score_samples(X))
    cuts = np.concatenate([[s[0] - 1], (s[1:] + s[:-1]) / 2, [s[-1] + 1]])

    def error(thresholds):
        return weights @ np.abs(np.searchsorted(thresholds, ranker.score_samples(X), side="left") - y)

    best = min(error([a, b]) for i, a in enumerate(cuts) for b in cuts[i:])
    assert error(ranker.thresholds_) == pytest.approx(best)
    assert np.isfinite(ranker.thresholds_).all()
    np.testing.assert_array_equal(ranker.predict_class(X), np.searchsorted(ranker.thresholds_, X @ ranker.coef_))


def test_predict_class_of_a_partial_order_is_the_nearest_interval():
    X, y = draw(noise=0.1)
    ranker = ConvexHullRanker(order=[(0, 2), (1, 2)], C=10.0).fit(X, y)
    s = ranker.score_samples(X)
    lower, upper = ranker.intervals_.T.copy()
    upper[-1] = np.quantile(s[y == 2], 0.95, method="inverted_cdf")
    lower[0] = np.quantile(s[y == 0], 0.05, method="inverted_cdf")
    median = np.array([np.quantile(s[y == c], 0.5, method="inverted_cdf") for c in range(3)])
    expected = []
    for each in s:
        outside = np.maximum(np.maximum(lower - each, each - upper), 0)
        nearest = np.flatnonzero(outside == outside.min())
        expected.append(nearest[np.argmin(np.abs(each - median[nearest]))])
    np.testing.assert_array_equal(ranker.predict_class(X), expected)
    assert np.mean(ranker.predict_class(X) == y) > 0.9


def test_predict_class_on_a_fork_breaks_ties_by_the_median():
    X = np.array([[0.0], [1.0], [10.0], [11.0], [20.0], [21.0]])
    y = np.array(["root", "root", "near", "near", "far", "far"])
    ranker = ConvexHullRanker([("root", "near"), ("root", "far")], C=np.inf).fit(X, y)
    assert not hasattr(ranker, "thresholds_")
    assert ranker.predict_class([[0.5], [10.4], [20.6], [99.0]]).tolist() == ["root", "near", "far", "far"]


@pytest.mark.parametrize(
    "order",
    [
        OrderGraph.chain(GRADES),
        "mild < moderate < severe",
        "severe > moderate; moderate > mild",
        [("mild", "moderate"), ("moderate", "severe")],
        [["mild"], ["moderate"], ["severe"]],
        nx.DiGraph([("mild", "moderate"), ("moderate", "severe")]),
    ],
    ids=["graph", "text", "text downwards", "edges", "levels", "networkx"],
)
def test_every_way_to_declare_an_order_is_the_same_order(order):
    X, y = draw()
    named = np.array(GRADES)[y]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ranker = ConvexHullRanker(order).fit(X, named)
    plain = ConvexHullRanker().fit(X, y)
    assert ranker.classes_.tolist() == GRADES
    assert ranker.order_.reduction() == OrderGraph.chain(GRADES)
    np.testing.assert_array_equal(ranker.coef_, plain.coef_)
    np.testing.assert_array_equal(ranker.intervals_, plain.intervals_)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda named: pd.Categorical(named, categories=GRADES, ordered=True),
        lambda named: pd.Series(pd.Categorical(named, categories=[*GRADES, "unused"], ordered=True)),
        lambda named: pl.Series(named, dtype=pl.Enum(GRADES)),
    ],
    ids=["pandas Categorical", "pandas Series", "polars Enum"],
)
def test_y_may_carry_its_order(wrap):
    X, y = draw()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ranker = ConvexHullRanker().fit(X, wrap(np.array(GRADES)[y].tolist()))
    assert ranker.classes_.tolist() == GRADES
    np.testing.assert_array_equal(ranker.coef_, ConvexHullRanker().fit(X, y).coef_)


def test_classes_declare_the_order():
    X, y = draw()
    ranker = ConvexHullRanker(classes=GRADES).fit(X, np.array(GRADES)[y])
    assert ranker.classes_.tolist() == GRADES
    np.testing.assert_array_equal(ranker.coef_, ConvexHullRanker().fit(X, y).coef_)


def test_real_valued_targets_make_as_many_classes_as_values():
    X, _ = draw(m=25)
    y = X @ [1.0, 2.0, 3.0]
    ranker = ConvexHullRanker(C=1e3).fit(X, y)
    assert len(ranker.classes_) == 25
    assert ranker.certificate_.relative_gap <= 1e-6
    assert ranker.score(X, y) == 1.0


def test_a_partial_order_leaves_the_rest_free():
    X = np.array([[0.0, 0.0], [0.0, 1.0], [3.0, 5.0], [3.0, -5.0]])
    ranker = ConvexHullRanker([("a", "b"), ("a", "c")], C=np.inf).fit(X, ["a", "a", "b", "c"])
    s = ranker.score_samples(X)
    assert max(s[:2]) + 1 <= min(s[2:]) + 1e-6
    assert ranker.score(X, ["a", "a", "b", "c"]) == 1.0


def test_chain_and_full_coincide_with_proper_intervals_only():
    X, y = draw(noise=1.5, K=4)
    chain, full = (ConvexHullRanker(order, tol=1e-12).fit(X, y) for order in ("chain", "full"))
    np.testing.assert_allclose(chain.coef_, full.coef_, rtol=1e-7)
    edge = [ConvexHullRanker(order, slack="edge", tol=1e-12).fit(X, y).coef_ for order in ("chain", "full")]
    assert np.abs(edge[0] - edge[1]).max() > 1e-3


def test_collapse_is_reported_with_its_cure():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 3)), rng.integers(0, 5, 80)
    with pytest.warns(CollapsedRankingWarning, match=r"intervals='proper'.*slack='edge'"):
        ConvexHullRanker(intervals="free").fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", CollapsedRankingWarning)
        ConvexHullRanker(intervals="proper").fit(X, y)
        ConvexHullRanker(slack="edge").fit(X, y)


def test_constant_features_collapse():
    with pytest.warns(CollapsedRankingWarning, match="all samples have the same features"):
        ranker = ConvexHullRanker().fit(np.ones((6, 2)), [0, 0, 1, 1, 2, 2])
    assert np.ptp(ranker.score_samples(np.ones((6, 2)))) == 0


@pytest.mark.parametrize("variant", [name for name in VARIANTS if "hinge" not in name])
def test_hard_margin_separates(variant):
    X = np.random.default_rng(0).normal(size=(40, 3))
    y = np.searchsorted([-0.7, 0.7], X[:, 0] + X[:, 1])
    hard = ConvexHullRanker(C=np.inf, tol=1e-8, **VARIANTS[variant]).fit(X, y)
    s = hard.score_samples(X)
    reach = 1e-6 * np.abs(s).max()
    assert all(s[y == c + 1].min() - s[y == c].max() >= 1 - reach for c in range(2))
    soft = ConvexHullRanker(C=1e9, tol=1e-8, **VARIANTS[variant]).fit(X, y)
    np.testing.assert_allclose(hard.coef_, soft.coef_, atol=1e-3 * np.abs(hard.coef_).max())
    with pytest.raises(NotSeparableError, match="row"):
        ConvexHullRanker(C=np.inf, **VARIANTS[variant]).fit(X, np.roll(y, 1))


@pytest.mark.parametrize("variant", ["l1", "l1, hinge"])
def test_l1_gives_exact_zeros(variant):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 20))
    y = np.searchsorted([-1, 1], X[:, 0] - X[:, 1])
    counts = []
    for C in (0.02, 0.2, 2.0):
        ranker = ConvexHullRanker(C=C, tol=1e-9, **VARIANTS[variant]).fit(X, y)
        assert ranker.certificate_.relative_gap <= 1e-9
        counts.append(np.count_nonzero(ranker.coef_))
        if C > 0.1:
            assert {0, 1} <= set(np.flatnonzero(ranker.coef_))
    assert counts[0] <= counts[1] <= counts[2]
    assert 2 <= counts[1] < 20


def test_class_weight_multiplies_sample_weight():
    X, y = draw(noise=1.0)
    weights = np.random.default_rng(3).uniform(0.5, 2, len(y))
    one = ConvexHullRanker(class_weight={0: 1.0, 1: 3.0, 2: 0.5}).fit(X, y, sample_weight=weights)
    other = ConvexHullRanker().fit(X, y, sample_weight=weights * np.array([1.0, 3.0, 0.5])[y])
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-12)
    balanced = ConvexHullRanker(class_weight="balanced").fit(X[10:], y[10:])
    per_class = len(y[10:]) / (3 * np.bincount(y[10:]))
    other = ConvexHullRanker().fit(X[10:], y[10:], sample_weight=per_class[y[10:]])
    np.testing.assert_allclose(balanced.coef_, other.coef_, rtol=1e-12)


@every_variant
def test_too_few_iterations_warn(variant):
    X, y = draw(noise=1.0)
    with pytest.warns(ConvergenceWarning, match=r"max_iter.*raise max_iter or tol"):
        ranker = ConvexHullRanker(max_iter=1, **VARIANTS[variant]).fit(X, y)
    assert ranker.certificate_.status == "max_iter"
    assert np.isfinite(ranker.coef_).all()


@every_variant
@pytest.mark.parametrize("rows", [60, 30_000])
def test_interrupt_keeps_the_best_answer(variant, rows, monkeypatch):
    X, y = draw(m=rows, noise=1.0)
    weigh, calls = _State.weigh, iter(range(10**6))

    def interrupted(self, step):
        if next(calls) == 4:
            raise KeyboardInterrupt
        return weigh(self, step)

    monkeypatch.setattr(_State, "weigh", interrupted)
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        ranker = ConvexHullRanker(**VARIANTS[variant]).fit(X, y)
    assert ranker.certificate_.status == "interrupted"
    assert np.isfinite(ranker.intervals_[1]).all()
    assert ranker.score(X, y) > 0.75


def test_the_classifier_is_the_ranker_with_classes_for_predictions():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = np.array(["a", "b", "c"])[np.digitize(X @ [1.0, -1, 0] + 0.3 * rng.normal(size=120), [-0.6, 0.6])]
    ranker = ConvexHullRanker("a < b < c").fit(X, y)
    classifier = ConvexHullClassifier("a < b < c").fit(X, y)
    np.testing.assert_array_equal(classifier.coef_, ranker.coef_)
    np.testing.assert_array_equal(classifier.predict(X), ranker.predict_class(X))
    assert classifier.score(X, y) == accuracy_score(y, ranker.predict_class(X))
    pipeline = make_pipeline(StandardScaler(), ConvexHullClassifier("a < b < c"))
    search = GridSearchCV(pipeline, {"convexhullclassifier__C": [1e-4, 1.0]}, scoring="accuracy", cv=3).fit(X, y)
    assert search.best_score_ == pytest.approx(np.mean(cross_val_score(search.best_estimator_, X, y, cv=3)))
    assert set(search.predict(X)) == {"a", "b", "c"}
    with pytest.raises(LabelError, match="continuous"):
        ConvexHullClassifier().fit(X, X[:, 0])
