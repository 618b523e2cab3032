"""Data and parameters that once crashed or hung a fit: each is graded, or told why not."""

import signal
import warnings

import numpy as np
import pytest

import hullrank
from hullrank import FixedMarginClassifier, LinearRelaxationRanker
from known import FIXED, HULL, graded_data, graded_or_told, true_of
from referee.judge import judge, time_limit
from referee.random_problems import random_case


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


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ConvexHullRanker", "FixedMarginClassifier", "SwappedPairsRanker"])
def test_the_largest_price_does_not_take_forever(name):
    X = np.random.default_rng(2).normal(size=(200, 5))
    within(20.0, lambda: getattr(hullrank, name)(C=1e100).fit(X, np.arange(200) % 4))


@pytest.mark.parametrize("C", [1e308, 10**400])
@pytest.mark.parametrize("name", ["ConvexHullRanker", "FixedMarginClassifier", "SwappedPairsRanker"])
def test_prices_beyond_what_can_be_computed_with_are_refused(name, C):
    X, y = graded_data()
    with pytest.raises(ValueError, match="C"):
        getattr(hullrank, name)(C=C).fit(X, y)


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
    except BaseException as error:
        while error is not None:  # C code that is interrupted may raise another error from it
            if isinstance(error, KeyboardInterrupt):
                return None
            error = error.__cause__ or error.__context__
        raise
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def delays():
    """Seconds before Ctrl-C, from before the solver starts to after it has ended."""
    return 0.001 * 1.3 ** np.arange(20)


def test_interrupting_a_hard_margin_with_a_kernel():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = np.digitize(X[:, 0] + 0.1 * rng.normal(size=300), [-0.5, 0.5])
    model = FixedMarginClassifier(C=np.inf, kernel="rbf", gamma=5.0, tol=1e-9)
    model.fit(X[:20], y[:20])  # compiles the loops
    for seconds in delays():
        fitted = interrupted(lambda: model.fit(X, y), seconds)
        if fitted is not None:
            assert not np.isnan([fitted.certificate_.primal, fitted.certificate_.dual]).any()
            assert np.isfinite(fitted.dual_coef_).all()


def test_interrupting_the_linear_relaxation():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 6))
    y = (X[:, 0] + rng.normal(size=400) > 0).astype(int)
    model = LinearRelaxationRanker().fit(X[:20], y[:20])  # imports the solver
    for seconds in delays():
        fitted = interrupted(lambda: model.fit(X, y), seconds)
        if fitted is not None:
            assert np.isfinite(fitted.certificate_.primal)
            assert np.isfinite(fitted.coef_).all()


@pytest.mark.parametrize("seed", [2000476, 2011854])
def test_fuzzed_fits_that_overflowed(seed):
    """A predictor whose growth float64 cannot raise to a power; a hard margin without an interval for a threshold."""
    assert judge(random_case(seed, None, False), 30.0).failures == []
