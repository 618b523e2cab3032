"""Falsehoods that certificates once told, crashes, and attributes of an earlier fit: none of them may come back."""

import os
import signal
import subprocess
import sys
import textwrap
import warnings
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
from hullrank.exceptions import HullrankError
from hullrank.io import load, save
from hullrank.reports.certifying import certify
from judge import judge, time_limit
from random_problems import Case

HULL = {"order": "chain", "intervals": "proper", "slack": "sample"}
FIXED = {"C": 1.0, "loss": "hinge", "thresholds": "immediate"}


def true_of(name, params, X, y, weights=None, seconds=30.0):
    """Nothing is false about this fit; the verdict, for further questions."""
    verdict = judge(Case(-1, name, params, np.asarray(X), np.asarray(y), weights), seconds)
    assert verdict.failures == []
    return verdict


def graded_or_told(fit):
    """The model, finite throughout; or None where an error names the reason."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = fit()
        except HullrankError as error:
            assert len(str(error)) > 20
            return None
    certificate = model.certificate_
    if certificate.status == "converged":
        assert np.isfinite([certificate.primal, certificate.dual]).all()
        assert certificate.dual <= certificate.primal * (1 + 1e-9)
    assert not np.isnan([certificate.primal, certificate.dual]).any()
    assert np.isfinite(getattr(model, "coef_", 0.0)).all()
    return model


def graded_data(seed=0, m=40, n=2):
    X = np.random.default_rng(seed).normal(size=(m, n))
    return X, (X[:, 0] > 0).astype(int) + (X[:, 0] > 1)


# Certificates


def test_more_columns_than_rows():
    X = np.random.default_rng(50).normal(size=(14, 20))
    weights = 10.0 ** (np.arange(14) % 7 - 3)
    true_of("FixedMarginClassifier", {**FIXED, "C": 1e7}, X, np.arange(14) % 5, weights)


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_more_columns_than_rows_whatever_the_weights(seed, loss):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(14, 20)) * 10.0 ** rng.uniform(-3, 3)
    weights = 10.0 ** rng.uniform(-6, 6, 14)
    true_of("FixedMarginClassifier", {**FIXED, "C": 10.0 ** rng.uniform(0, 8), "loss": loss}, X, np.arange(14) % 5, weights)


def test_l1_at_a_huge_price():
    X, y = graded_data(19, 12, 3)
    true_of("ConvexHullRanker", {**HULL, "C": 1e8, "loss": "hinge", "penalty": "l1"}, X, y)


@pytest.mark.parametrize(("shift", "tol"), [(100.0, 1e-6), (1000.0, 1e-10)])
def test_kernels_over_a_factor(shift, tol):
    X, y = graded_data()
    params = {**HULL, "C": 1.0, "loss": "hinge", "kernel": "poly", "coef0": 1.0, "norm": "coefficient", "tol": tol}
    true_of("ConvexHullRanker", params, X + shift, y)


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


# Crashes


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("size", [1e7, 1e8])
def test_pairs_of_large_features(loss, size):
    X, y = graded_data(3, 40, 4)
    true_of("SwappedPairsRanker", {"C": 100.0, "loss": loss}, X * size, y)


@pytest.mark.parametrize("penalty", ["l1", "l2"])
@pytest.mark.parametrize("intervals", ["proper", "free"])
def test_a_hard_margin_beside_a_constant_column(penalty, intervals):
    X, y = graded_data()
    X = np.column_stack([X, np.full(40, 3.7)])
    params = {**HULL, "C": np.inf, "loss": "hinge", "penalty": penalty, "intervals": intervals}
    true_of("ConvexHullRanker", params, X, y)
    true_of("FixedMarginClassifier", {**FIXED, "C": np.inf}, X, y)


@pytest.mark.parametrize("only", [0.0, 3.7])
def test_a_hard_margin_on_a_constant_column_alone(only):
    X, y = np.full((12, 1), only), np.arange(12) % 3
    assert true_of("ConvexHullRanker", {**HULL, "C": np.inf, "loss": "hinge"}, X, y).outcome == "declined"
    assert true_of("FixedMarginClassifier", {**FIXED, "C": np.inf}, X, y).outcome == "declined"


@pytest.mark.parametrize("rank", [1, 2])
@pytest.mark.parametrize("ridge", [0.0, 1e-14, 1e-10])
def test_a_hard_margin_with_a_kernel_that_is_nearly_singular(rank, ridge):
    X, y = graded_data(1, 24, rank)
    K = X @ X.T + ridge * np.eye(24)
    params = {"C": np.inf, "kernel": "precomputed"}
    true_of("ConvexHullRanker", {**HULL, "loss": "hinge", **params}, K, y)
    true_of("FixedMarginClassifier", {**FIXED, **params}, K, y)


@pytest.mark.parametrize("degree", [5, 9])
def test_kernels_beyond_float32(degree):
    """Kernel values of 1e40 and more are finite in float64, and no reason to refuse."""
    X, y = graded_data()
    params = {"kernel": "poly", "degree": degree, "coef0": 1.0, "gamma": 1.0}
    true_of("FixedMarginClassifier", {**FIXED, **params}, X * 1e5, y)


def within(seconds, fit):
    """The fit is graded or told, and ends within so many seconds of processor time."""
    with time_limit(seconds):
        graded_or_told(fit)


@pytest.mark.parametrize("name", ["ConvexHullRanker", "FixedMarginClassifier", "SwappedPairsRanker"])
def test_columns_of_very_different_size_do_not_take_forever(name):
    X = np.random.default_rng(0).normal(size=(60, 6)) * 10.0 ** np.linspace(-150, 150, 6)
    within(20.0, lambda: getattr(hullrank, name)().fit(X, np.arange(60) % 3))


@pytest.mark.parametrize("name", ["ConvexHullRanker", "FixedMarginClassifier", "SwappedPairsRanker"])
def test_the_largest_price_does_not_take_forever(name):
    X = np.random.default_rng(2).normal(size=(200, 5))
    within(20.0, lambda: getattr(hullrank, name)(C=1e308).fit(X, np.arange(200) % 4))


@pytest.mark.parametrize("name", ["ConvexHullRanker", "FixedMarginClassifier", "SwappedPairsRanker"])
def test_a_price_beyond_float64(name):
    X, y = graded_data()
    with pytest.raises(ValueError, match="C"):
        getattr(hullrank, name)(C=10**400).fit(X, y)


def interrupted(fit, seconds):
    """What the fit returns when Ctrl-C comes after so many seconds; None if the interrupt came through."""

    def stop(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return fit()
    except KeyboardInterrupt:
        return None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("milliseconds", [1, 3, 10, 30, 60, 100, 200])
def test_interrupting_a_hard_margin_with_a_kernel(milliseconds):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = np.digitize(X[:, 0] + 0.1 * rng.normal(size=300), [-0.5, 0.5])
    model = FixedMarginClassifier(C=np.inf, kernel="rbf", gamma=5.0, tol=1e-9)
    model.fit(X[:20], y[:20])  # compiles the loops
    fitted = interrupted(lambda: model.fit(X, y), milliseconds / 1000)
    if fitted is not None:
        assert not np.isnan([fitted.certificate_.primal, fitted.certificate_.dual]).any()
        assert np.isfinite(fitted.dual_coef_).all()
        assert fitted.certificate_.status in ("interrupted", "converged", "stalled", "max_iter")


@pytest.mark.parametrize("milliseconds", [1, 2, 5, 10, 20, 50, 100])
def test_interrupting_the_linear_relaxation(milliseconds):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 6))
    y = (X[:, 0] + rng.normal(size=400) > 0).astype(int)
    model = LinearRelaxationRanker()
    fitted = interrupted(lambda: model.fit(X, y), milliseconds / 1000)
    if fitted is not None:
        assert np.isfinite(fitted.certificate_.primal)
        assert np.isfinite(fitted.coef_).all()


def test_a_truncated_cache_of_compiled_loops_is_compiled_again(tmp_path):
    """Numba's index file cut short, as by a full disk, is a miss and not an error."""
    module = tmp_path / "loops_of_a_test.py"
    module.write_text(
        textwrap.dedent("""
        from hullrank._jit import njit

        @njit()
        def double(x):
            return 2.0 * x
        """)
    )
    paths = os.pathsep.join([str(tmp_path), *sys.path])
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": paths}
    command = [sys.executable, "-c", "from loops_of_a_test import double; print(double(3.0))"]
    assert subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout == "6.0\n"
    indexes = list((tmp_path / "cache").rglob("*.nbi"))
    assert indexes
    for cut in (0, 10, 40):
        for index in indexes:
            index.write_bytes(index.read_bytes()[:cut])
        again = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert again.stdout == "6.0\n", again.stderr[-500:]


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
