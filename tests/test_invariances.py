"""What must not change an answer: laws of the class-based estimators."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import slow_after
from hullrank import ConvexHullRanker, FixedMarginClassifier, NuMarginClassifier, SumOfMarginsClassifier
from hullrank.exceptions import CollapsedRankingWarning

TIGHT = 1e-11
PRICED = {
    "hull": lambda: ConvexHullRanker(C=0.5, tol=TIGHT),
    "hull with hinge": lambda: ConvexHullRanker(C=0.5, loss="hinge", tol=TIGHT),
    "hull, free": lambda: ConvexHullRanker("full", C=0.5, intervals="free", tol=TIGHT),
    "hull, edges": lambda: ConvexHullRanker("full", C=0.5, slack="edge", tol=TIGHT),
    "hull, edges with hinge": lambda: ConvexHullRanker(C=0.5, slack="edge", loss="hinge", tol=TIGHT),
    "fixed margin": lambda: FixedMarginClassifier(C=0.5, tol=TIGHT),
    "fixed margin, squared": lambda: FixedMarginClassifier(C=0.5, loss="squared_hinge", tol=TIGHT),
    "fixed margin, all": lambda: FixedMarginClassifier(C=0.5, thresholds="all", tol=TIGHT),
}
LASSO = {
    "hull, l1": lambda: ConvexHullRanker(C=3.0, penalty="l1", tol=TIGHT),
    "hull, l1 with hinge": lambda: ConvexHullRanker(C=3.0, penalty="l1", loss="hinge", tol=TIGHT),
}
AUTOMATIC = {
    "nu margin": lambda: NuMarginClassifier(tol=TIGHT),
    "sum of margins": lambda: SumOfMarginsClassifier(tol=TIGHT),
}
MODELS = PRICED | LASSO | AUTOMATIC
FIRST = ["hull", "hull, edges with hinge", "fixed margin", "hull, l1", "nu margin", "sum of margins"]
every_model = pytest.mark.parametrize("name", slow_after(len(FIRST), dict.fromkeys([*FIRST, *MODELS])))
law = settings(max_examples=5)
seeds = st.integers(0, 10**6)


def draw(seed, m=36, n=3, K=3):
    """Noisy grades with at least three samples each; only free intervals may cross on them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, n)) * rng.uniform(0.5, 2.0, n)
    signal = X @ rng.uniform(0.5, 1.5, n)
    ranks = np.argsort(np.argsort(signal + 0.15 * signal.std() * rng.normal(size=m)))
    return X, ranks * K // m, rng


def fit(name, X, y, **routed):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if name == "hull, free" else "error", CollapsedRankingWarning)
        return MODELS[name]().fit(X, y, **routed)


def value(model):
    return model.certificate_.primal


def assert_same_answer(one, other, X, Y=None, shift=0.0):
    """Objectives agree to rounding, scores to what a gap of TIGHT leaves (its root)."""
    assert value(one) == pytest.approx(value(other), rel=1e-9, abs=1e-12)
    scores, others = one.score_samples(X), other.score_samples(X if Y is None else Y) - shift
    size = np.abs(scores).max()
    np.testing.assert_allclose(scores, others, atol=2e-5 * size)


@every_model
@given(seeds)
@law
def test_weights_are_repetitions(name, seed):
    X, y, rng = draw(seed)
    times = rng.integers(1, 4, len(y))
    weighted = fit(name, X, y, sample_weight=times)
    repeated = fit(name, np.repeat(X, times, axis=0), np.repeat(y, times))
    assert_same_answer(weighted, repeated, X)


@every_model
@given(seeds)
@law
def test_rows_of_no_weight_are_dropped(name, seed):
    X, y, rng = draw(seed)
    weights = rng.uniform(0.5, 2.0, len(y))
    extra = rng.normal(size=(5, X.shape[1]))
    zeros = fit(name, np.vstack([extra, X]), np.append(np.full(5, 7), y), sample_weight=np.append(np.zeros(5), weights))
    dropped = fit(name, X, y, sample_weight=weights)
    assert zeros.classes_.tolist() == [0, 1, 2]
    np.testing.assert_array_equal(zeros.coef_, dropped.coef_)
    np.testing.assert_array_equal(zeros.intervals_, dropped.intervals_)


@every_model
@given(seeds)
@law
def test_order_of_rows_and_columns_is_irrelevant(name, seed):
    X, y, rng = draw(seed)
    rows, columns = rng.permutation(len(y)), rng.permutation(X.shape[1])
    whole = fit(name, X, y)
    assert_same_answer(whole, fit(name, X[rows], y[rows]), X)
    assert_same_answer(whole, fit(name, X[:, columns], y), X, X[:, columns])


@every_model
@given(seeds, st.sampled_from([1.0, -30.0, 1e3]))
@law
def test_shifted_features_shift_thresholds_only(name, seed, size):
    X, y, rng = draw(seed)
    shift = size * rng.normal(size=X.shape[1])
    model, moved = fit(name, X, y), fit(name, X + shift, y)
    assert_same_answer(model, moved, X, X + shift, shift=shift @ moved.coef_)
    assert np.array_equal(np.argsort(model.score_samples(X)), np.argsort(moved.score_samples(X + shift))) or (
        np.abs(model.coef_ - moved.coef_).max() < 1e-5 * np.abs(model.coef_).max()
    )


@pytest.mark.parametrize("name", PRICED)
@given(seeds, st.sampled_from([1e-6, 0.01, 7.0, 1e5]))
@law
def test_scaled_features_with_scaled_price_change_no_ranking(name, seed, a):
    X, y, _ = draw(seed)
    model = fit(name, X, y)
    scaled = MODELS[name]().set_params(C=0.5 / a**2).fit(a * X, y)
    assert value(scaled) * a**2 == pytest.approx(value(model), rel=1e-9)
    np.testing.assert_allclose(scaled.coef_ * a, model.coef_, atol=2e-5 * np.abs(model.coef_).max())
    scores = model.score_samples(X)
    np.testing.assert_allclose(scaled.score_samples(a * X), scores, atol=2e-5 * np.abs(scores).max())


@pytest.mark.parametrize("name", LASSO)
@given(seeds, st.sampled_from([1e-6, 0.01, 7.0, 1e5]))
@law
def test_scaled_features_under_l1(name, seed, a):
    X, y, _ = draw(seed)
    model = fit(name, X, y)
    scaled = MODELS[name]().set_params(C=3.0 / a).fit(a * X, y)
    assert value(scaled) * a == pytest.approx(value(model), rel=1e-9)
    assert np.array_equal(scaled.coef_ == 0, model.coef_ == 0)


@pytest.mark.parametrize("name", AUTOMATIC)
@given(seeds, st.sampled_from([1e-6, 0.01, 7.0, 1e5]))
@law
def test_scaled_features_keep_automatic_direction(name, seed, a):
    X, y, _ = draw(seed)
    model, scaled = fit(name, X, y), fit(name, a * X, y)
    cosine = model.coef_ @ scaled.coef_ / np.linalg.norm(model.coef_) / np.linalg.norm(scaled.coef_)
    assert cosine > 1 - 1e-9


@every_model
@given(seeds)
@law
def test_names_of_labels_are_irrelevant(name, seed):
    X, y, _ = draw(seed)
    plain = fit(name, X, y)
    numbers = np.array([-7, 3, 40])[y]
    words = np.array(["worst", "fair", "best"])[y]
    spaced = MODELS[name]().fit(X, numbers)
    named = MODELS[name]().set_params(classes=["worst", "fair", "best"]).fit(X, words)
    for other in (spaced, named):
        np.testing.assert_array_equal(plain.coef_, other.coef_)
        np.testing.assert_array_equal(plain.intervals_, other.intervals_)
    assert named.classes_.tolist() == ["worst", "fair", "best"]


@every_model
@pytest.mark.parametrize("storage", [sp.csr_matrix, sp.csc_matrix, sp.csr_array, sp.csc_array])
def test_sparse_equals_dense(name, storage):
    X, y, rng = draw(5)
    X = X * (rng.random(X.shape) < 0.7)
    dense, sparse = fit(name, X, y), fit(name, storage(X), y)
    assert_same_answer(dense, sparse, X, storage(X))
    np.testing.assert_allclose(sparse.thresholds_, dense.thresholds_, atol=1e-4 * np.abs(dense.thresholds_).max())
    np.testing.assert_allclose(sparse.predict(storage(X)), sparse.predict(X), atol=1e-12)


@pytest.mark.parametrize("name", ["hull", "hull, edges", "fixed margin"])
def test_reversed_order_reverses_the_ranking(name):
    X, y, _ = draw(2)
    up, down = fit(name, X, y), fit(name, X, 2 - y)
    np.testing.assert_allclose(down.coef_, -up.coef_, atol=1e-5 * np.abs(up.coef_).max())
