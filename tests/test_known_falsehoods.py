"""Falsehoods that certificates once told, and attributes of an earlier fit: none of them may come back."""

from dataclasses import replace

import numpy as np
import pytest

import hullrank
from hullrank import (
    ConvexHullRanker,
    FixedMarginClassifier,
    LinearRelaxationRanker,
    SumOfMarginsClassifier,
    SwappedPairsRanker,
)
from hullrank.io import load, save
from hullrank.problem import pairs
from hullrank.reports.certifying import certify
from known import FIXED, HULL, graded_data, graded_or_told, true_of
from referee.judge import judge
from referee.random_problems import random_case

# Certificates


def test_more_columns_than_rows():
    X = np.random.default_rng(50).normal(size=(14, 20))
    weights = 10.0 ** (np.arange(14) % 7 - 3)
    true_of("FixedMarginClassifier", {**FIXED, "C": 1e7}, X, np.arange(14) % 5, weights)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_more_columns_than_rows_whatever_the_weights(seed, loss):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(14, 20)) * 10.0 ** rng.uniform(-3, 3)
    weights = 10.0 ** rng.uniform(-6, 6, 14)
    true_of(
        "FixedMarginClassifier", {**FIXED, "C": 10.0 ** rng.uniform(0, 8), "loss": loss}, X, np.arange(14) % 5, weights
    )


def test_a_constant_column_has_no_variance_for_gamma():
    """Rounding of the mean of equal entries once gave gamma = 1e31, and scores that no two computations agreed on."""
    y, weights = np.arange(14) % 4, np.random.default_rng(0).uniform(0.6, 2.0, 14)
    params = {**HULL, "C": 8000.0, "loss": "logistic", "kernel": "poly", "degree": 2, "coef0": 1.0, "max_iter": 2}
    true_of("ConvexHullRanker", {**params, "norm": "coefficient"}, np.full((14, 1), 3.7), y, weights)
    for kernel in ("rbf", "poly"):
        model = ConvexHullRanker(kernel=kernel).fit(np.full((14, 1), 3.7), y, sample_weight=weights)
        assert model.gamma_ == 1.0


def test_l1_at_a_huge_price():
    X, y = graded_data(19, 12, 3)
    true_of("ConvexHullRanker", {**HULL, "C": 1e8, "loss": "hinge", "penalty": "l1"}, X, y)


@pytest.mark.parametrize(("shift", "tol"), [(100.0, 1e-6), (1000.0, 1e-10)])
def test_kernels_over_a_factor(shift, tol):
    X, y = graded_data()
    params = {**HULL, "C": 1.0, "loss": "hinge", "kernel": "poly", "coef0": 1.0, "norm": "coefficient", "tol": tol}
    true_of("ConvexHullRanker", params, X + shift, y)


def test_one_light_sample_beside_heavy_ones():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(12, 1))
    weights = np.r_[np.full(11, 1e5), 1e-6]  # the only sample of its grade weighs little: the last in a running sum
    params = {"C": 0.003, "loss": "hinge", "query_weight": "equal"}
    for lonely in (0, 2):
        true_of("SwappedPairsRanker", params, X, np.r_[np.ones(11), lonely], weights)


@pytest.mark.parametrize("weight", [1e154, 1e-165, 1e300, 1e-300])
@pytest.mark.parametrize(
    "model",
    [
        ConvexHullRanker(),
        FixedMarginClassifier(),
        FixedMarginClassifier(kernel="rbf"),
        SumOfMarginsClassifier(),
        hullrank.NuMarginClassifier(),
        SwappedPairsRanker(),
        LinearRelaxationRanker(),
    ],
    ids=lambda model: repr(model)[:40],
)
def test_weights_of_any_size(model, weight):
    """Weights of the same huge or tiny size for all: a finite certificate that holds, or an error that says why not."""
    X, y = graded_data()
    y = y.copy()
    y[:4] = (y[:4] + 1) % 3
    plain = model.fit(X, y).certificate_.primal
    fitted = graded_or_told(lambda: model.fit(X, y, sample_weight=np.full(40, weight)))
    if fitted is not None and fitted.certificate_.status == "converged":
        assert (fitted.certificate_.primal == 0) == (plain == 0)


@pytest.mark.parametrize("scale", [1e200, 1e-200])
@pytest.mark.parametrize("name", ["ConvexHullRanker", "FixedMarginClassifier", "SwappedPairsRanker"])
def test_features_of_any_size(name, scale):
    X, y = graded_data()
    fitted = graded_or_told(lambda: getattr(hullrank, name)().fit(X * scale, y))
    if fitted is not None and fitted.certificate_.status == "converged":
        assert fitted.certificate_.primal > 0
        assert scale < 1 or np.ptp(fitted.score_samples(X * scale)) > 0


@pytest.mark.parametrize("change", [{"tol": 1e9}, {"dual": -1e9}, {"tol": 1e9, "dual": -1e9}])
def test_certify_does_not_believe_the_file(change, tmp_path):
    """A model that is far from optimal is not certified because its file names a lax tolerance or a loose bound."""
    X, y = graded_data()
    noisy = y.copy()
    noisy[:6] = (noisy[:6] + 1) % 3
    bad = FixedMarginClassifier(C=10.0).fit(X, noisy)
    bad.coef_ = bad.coef_ * 0.5
    scores = bad.score_samples(X)
    slack = np.maximum(bad.intervals_[noisy, 0] - scores, 0) + np.maximum(scores - bad.intervals_[noisy, 1], 0)
    objective = 0.5 * float(bad.coef_ @ bad.coef_) + 10.0 * float(slack.sum())
    bad.certificate_ = replace(bad.certificate_, primal=objective, dual=change.get("dual", objective * (1 - 1e-9)))
    bad.tol = change.get("tol", bad.tol)
    save(bad, tmp_path / "tampered.hull")
    assert not certify(load(tmp_path / "tampered.hull"), X, noisy).holds


# Attributes of an earlier fit


def test_a_second_order_leaves_nothing_of_the_first(tmp_path):
    X, y = graded_data()
    model = ConvexHullRanker().fit(X, y)
    assert hasattr(model, "thresholds_")
    model.set_params(order=[(0, 1), (0, 2)]).fit(X, y)
    assert not hasattr(model, "thresholds_")
    save(model, tmp_path / "model.hull")
    assert np.array_equal(load(tmp_path / "model.hull").score_samples(X), model.score_samples(X))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"kernel": "rbf"}, {"kernel": "linear"}),
        ({"kernel": "linear"}, {"kernel": "rbf"}),
        ({"kernel": "poly"}, {"kernel": "precomputed"}),
    ],
)
@pytest.mark.parametrize("name", ["ConvexHullRanker", "FixedMarginClassifier", "SwappedPairsRanker"])
def test_a_second_kernel_leaves_nothing_of_the_first(name, first, second):
    X, y = graded_data()
    model = getattr(hullrank, name)(**first).fit(X, y)
    model.set_params(**second).fit(X @ X.T if second["kernel"] == "precomputed" else X, y)
    fresh = getattr(hullrank, name)(**second).fit(X @ X.T if second["kernel"] == "precomputed" else X, y)
    assert set(vars(model)) == set(vars(fresh))


def test_a_second_fit_leaves_no_feature_names():
    import pandas as pd

    X, y = graded_data()
    model = FixedMarginClassifier().fit(pd.DataFrame(X, columns=["a", "b"]), y)
    model.fit(X, y)
    assert not hasattr(model, "feature_names_in_")


# The order of rows


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("name", ["ConvexHullRanker", "FixedMarginClassifier", "SwappedPairsRanker"])
def test_an_approximation_does_not_depend_on_the_order_of_rows(name, kernel):
    X, y = graded_data(4, 300, 3)
    shuffled = np.random.default_rng(1).permutation(300)
    model = getattr(hullrank, name)(kernel=kernel, approximation=50, tol=1e-8)
    one = model.fit(X, y).score_samples(X)
    two = model.fit(X[shuffled], y[shuffled]).score_samples(X)
    spread = np.ptp(one)
    assert np.abs((one - one.mean()) - (two - two.mean())).max() <= 1e-3 * spread


def test_an_exact_kernel_does_not_depend_on_the_order_of_rows():
    """Both answers are within tol of the optimum, so their distance in the kernel's space is at most sqrt(8 tol P)."""
    X, y = graded_data(5, 200, 3)
    y = np.roll(y, 3)
    shuffled = np.random.default_rng(1).permutation(200)
    model = FixedMarginClassifier(kernel="rbf", tol=1e-6)
    one = model.fit(X, y).score_samples(X)
    primal = model.certificate_.primal
    two = model.fit(X[shuffled], y[shuffled]).score_samples(X)
    assert np.abs(one - two).max() <= np.sqrt(8 * 1e-6 * primal)


def test_pairs_that_are_not_listed_of_sparse_rows_far_from_zero(monkeypatch):
    """Multipliers that did not quite add up to 0, times the mean of the rows, once made a lower bound too high."""
    monkeypatch.setattr(pairs, "LISTED_PAIRS", -1)
    assert judge(random_case(3000187, "SwappedPairsRanker", False), 30.0).failures == []
