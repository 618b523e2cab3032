"""The three margin classifiers: decisions, thresholds, ranges of nu and C, the nu law, hard margins, endings."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes

from hullrank import FixedMarginClassifier, NuMarginClassifier, SumOfMarginsClassifier
from hullrank.exceptions import (
    CollapsedRankingWarning,
    ConvergenceWarning,
    InfeasibleParameterError,
    NotSeparableError,
)
from hullrank.solvers.interior_point import _State

GRADES = ["mild", "moderate", "severe"]
MODELS = {
    "fixed margin": lambda **options: FixedMarginClassifier(**options),
    "fixed margin, squared": lambda **options: FixedMarginClassifier(loss="squared_hinge", **options),
    "fixed margin, all": lambda **options: FixedMarginClassifier(thresholds="all", **options),
    "fixed margin, all, squared": lambda **options: FixedMarginClassifier(
        thresholds="all", loss="squared_hinge", **options
    ),
    "nu margin": lambda **options: NuMarginClassifier(**options),
    "sum of margins": lambda **options: SumOfMarginsClassifier(**options),
}
every_model = pytest.mark.parametrize("name", MODELS)


def draw(m=60, n=3, K=4, noise=0.5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, n))
    place = np.argsort(np.argsort(X @ np.arange(1, n + 1) + noise * rng.normal(size=m)))
    return X, place * K // m


@every_model
@pytest.mark.parametrize("K", [2, 3, 6])
def test_prediction_cuts_the_score_line(name, K):
    X, y = draw(K=K)
    model = MODELS[name]().fit(X, y)
    s, b = model.score_samples(X), model.thresholds_
    assert b.shape == (K - 1,)
    assert np.all(np.diff(b) >= 0)
    np.testing.assert_array_equal(model.predict(X), (s[:, None] > b).sum(axis=1))
    assert model.score(X, y) == np.mean(model.predict(X) == y)
    values = model.decision_function(X)
    if K == 2:
        np.testing.assert_allclose(values, s - b[0])
    else:
        assert values.shape == (len(y), K)
        np.testing.assert_array_equal(np.argmax(values, axis=1), model.predict(X))
    assert model.intervals_.shape == (K, 2)
    assert model.intervals_[0, 0] == -np.inf
    assert model.intervals_[-1, 1] == np.inf
    np.testing.assert_allclose((model.intervals_[:-1, 1] + model.intervals_[1:, 0]) / 2, b)


@every_model
def test_labels_in_any_declared_order(name):
    X, y = draw(K=3)
    plain = MODELS[name]().fit(X, y)
    named = np.array(GRADES)[y]
    declared = [
        (MODELS[name](classes=GRADES), named),
        (MODELS[name](), pd.Categorical(named, categories=GRADES, ordered=True)),
        (MODELS[name](), pd.Series(pd.Categorical(named, categories=[*GRADES, "unused"], ordered=True))),
        (MODELS[name](), pl.Series(named, dtype=pl.Enum(GRADES))),
    ]
    for model, target in declared:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model.fit(X, target)
        assert model.classes_.tolist() == GRADES
        np.testing.assert_array_equal(model.coef_, plain.coef_)
        np.testing.assert_array_equal(model.predict(X), np.array(GRADES)[plain.predict(X)])


def nu_range(X, y, **routed):
    """The ends of the workable range of nu, as the error states them."""
    with pytest.raises(InfeasibleParameterError) as caught:
        NuMarginClassifier(1e3).fit(X, y, **routed)
    low, _, _, _, high = str(caught.value).split("use ")[1].split(",")[0].split()
    return float(low), float(high)


def C_range(X, y, **routed):
    with pytest.raises(InfeasibleParameterError) as caught:
        SumOfMarginsClassifier(1e-9).fit(X, y, **routed)
    low, _, _, _, high = str(caught.value).split("use ")[1].split(",")[0].split()
    return float(low), float(high)


@pytest.mark.parametrize(("K", "noise", "weighted"), [(2, 3.0, False), (3, 3.0, True), (4, 1.5, False), (5, 3.0, True)])
def test_the_range_of_nu_has_sharp_ends(K, noise, weighted):
    X, y = draw(K=K, noise=noise)
    weights = np.random.default_rng(1).uniform(0.2, 3.0, len(y)) if weighted else None
    low, high = nu_range(X, y, sample_weight=weights)
    assert 0 < low < high
    with pytest.warns(CollapsedRankingWarning, match=f"nu=.* too small.*{low:.4g} < nu"):
        collapsed = NuMarginClassifier(0.99 * low).fit(X, y, sample_weight=weights)
    assert np.all(collapsed.coef_ == 0)
    assert collapsed.certificate_.relative_gap <= 1e-6
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for nu in (1.01 * low, 0.99 * high, "auto"):
            model = NuMarginClassifier(nu).fit(X, y, sample_weight=weights)
            assert model.certificate_.primal < 0
            assert np.ptp(model.score_samples(X)) > 0
    assert model.nu_ == pytest.approx(low + 0.108 * (high - low), rel=1e-3)  # the default fraction
    with pytest.raises(InfeasibleParameterError, match="unbounded"):
        NuMarginClassifier(1.01 * high).fit(X, y, sample_weight=weights)


@pytest.mark.parametrize(("K", "noise", "weighted"), [(2, 3.0, False), (3, 3.0, True), (4, 1.5, False)])
def test_the_range_of_C_has_sharp_ends(K, noise, weighted):
    X, y = draw(K=K, noise=noise)
    weights = np.random.default_rng(1).uniform(0.2, 3.0, len(y)) if weighted else None
    low, high = C_range(X, y, sample_weight=weights)
    assert 0 < low < high < np.inf
    with pytest.raises(InfeasibleParameterError, match="too small"):
        SumOfMarginsClassifier(0.99 * low).fit(X, y, sample_weight=weights)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for C in (1.01 * low, 0.99 * high, "auto"):
            model = SumOfMarginsClassifier(C).fit(X, y, sample_weight=weights)
            assert model.certificate_.primal < 0
            assert np.linalg.norm(model.coef_) == pytest.approx(1)
    np.testing.assert_allclose(1 / model.C_, 1 / high + 0.108 * (1 / low - 1 / high), rtol=1e-3)
    with pytest.raises(InfeasibleParameterError, match=f"too large.*{low:.4g} <= C < {high:.4g}"):
        SumOfMarginsClassifier(1.01 * high).fit(X, y, sample_weight=weights)
    if K == 2 and not weighted:
        assert low == pytest.approx(2 / len(y), rel=1e-3)  # printed with four digits


AWKWARD = {
    "noise": lambda rng: (rng.normal(size=(60, 3)), rng.integers(0, 4, 60)),
    "noise in many classes": lambda rng: (rng.normal(size=(60, 2)), rng.integers(0, 9, 60)),
    "constant": lambda rng: (np.ones((10, 2)), np.arange(10) % 3),
    "zero": lambda rng: (np.zeros((10, 2)), np.arange(10) % 3),
    "a class for every sample": lambda rng: (rng.normal(size=(12, 2)), np.arange(12)),
    "two samples": lambda rng: (np.array([[0.0], [1.0]]), [0, 1]),
    "two equal samples": lambda rng: (np.ones((2, 1)), [0, 1]),
    "three samples": lambda rng: (np.array([[0.0], [1.0], [2.0]]), [1, 0, 2]),
    "one against fifty": lambda rng: (np.vstack([rng.normal(size=(50, 2)), [[9.0, 9.0]]]), np.repeat([0, 1], [50, 1])),
    "binary features": lambda rng: ((rng.random((80, 6)) < 0.2).astype(float), rng.integers(0, 3, 80)),
    "counts": lambda rng: (rng.integers(0, 3, (80, 3)).astype(float), rng.integers(0, 4, 80)),
}


@pytest.mark.parametrize("case", AWKWARD)
@pytest.mark.parametrize("name", ["nu margin", "sum of margins"])
def test_auto_never_raises(name, case):
    X, y = AWKWARD[case](np.random.default_rng(0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", CollapsedRankingWarning)
        model = MODELS[name]().fit(X, y)
    assert model.certificate_.status == "converged"
    assert np.isfinite(model.coef_).all()
    assert set(model.predict(X)) <= set(np.asarray(y).tolist())


@pytest.mark.parametrize("name", ["nu margin", "sum of margins"])
def test_where_nothing_ranks_the_warning_says_so(name):
    X, y = AWKWARD["constant"](None)
    with pytest.warns(CollapsedRankingWarning, match="samples have the same features"):
        model = MODELS[name]().fit(X, y)
    assert np.all(model.coef_ == 0)


@given(st.integers(0, 10**6), st.integers(2, 5), st.booleans(), st.floats(0.1, 0.9))
@settings(max_examples=15)
def test_nu_bounds_margin_errors_and_support_vectors(seed, K, weighted, part):
    """Appendix A: share of margin errors <= nu <= share of rows that are not strictly outside the margin."""
    X, y = draw(m=80, K=K, noise=2.0, seed=seed)
    weights = np.random.default_rng(seed).integers(1, 5, 80).astype(float) if weighted else np.ones(80)
    low, high = nu_range(X, y, sample_weight=weights)
    nu = low + part * (high - low)
    model = NuMarginClassifier(nu, tol=1e-10).fit(X, y, sample_weight=weights)
    s, b, rho = model.score_samples(X), model.thresholds_, model.margin_
    assert rho > 0
    lower, upper = y < K - 1, y > 0
    slack = np.concatenate([s[lower] - b[y[lower]] + rho, b[y[upper] - 1] + rho - s[upper]])
    shares = np.concatenate([weights[lower], weights[upper]])
    shares /= shares.sum()
    edge = 1e-6 * (rho + np.ptp(s))
    assert shares[slack > edge].sum() <= nu + 1e-9
    assert shares[slack > -edge].sum() >= nu - 1e-9


def test_small_nu_collapses_on_the_diabetes_grades():
    X, target = load_diabetes(return_X_y=True)
    X = X / X.std(axis=0)
    y = np.searchsorted(np.quantile(target, [0.2, 0.4, 0.6, 0.8]), target)
    for nu in (0.3, 0.7):
        with pytest.warns(CollapsedRankingWarning, match="too small"):
            NuMarginClassifier(nu).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert NuMarginClassifier(0.85).fit(X, y).margin_ > 0


@pytest.mark.parametrize("thresholds", ["immediate", "all"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_hard_margin_separates(thresholds, loss):
    X = np.random.default_rng(0).normal(size=(40, 3))
    y = np.searchsorted([-0.7, 0.7], X[:, 0] + X[:, 1])
    options = {"thresholds": thresholds, "loss": loss, "tol": 1e-8}
    hard = FixedMarginClassifier(np.inf, **options).fit(X, y)
    s, b = hard.score_samples(X), hard.thresholds_
    assert all(s[y == c].max() <= b[c] - 1 + 1e-5 and s[y == c + 1].min() >= b[c] + 1 - 1e-5 for c in range(2))
    soft = FixedMarginClassifier(1e9, **options).fit(X, y)
    assert hard.certificate_.primal == pytest.approx(soft.certificate_.primal, rel=1e-3)
    with pytest.raises(NotSeparableError, match=r"row \d+ \(class \d\) cannot be placed below row \d+ \(class \d\)"):
        FixedMarginClassifier(np.inf, **options).fit(X, np.roll(y, 1))


def test_constant_features_collapse_with_the_cure():
    with pytest.warns(CollapsedRankingWarning, match="all samples have the same features"):
        FixedMarginClassifier().fit(np.ones((6, 2)), [0, 0, 1, 1, 2, 2])


@every_model
def test_too_few_iterations_warn(name):
    X, y = draw(noise=2.0)
    with pytest.warns(ConvergenceWarning, match=r"max_iter.*raise max_iter or tol"):
        model = MODELS[name](max_iter=1).fit(X, y)
    assert model.certificate_.status == "max_iter"
    assert np.isfinite(model.thresholds_).all()


@every_model
@pytest.mark.parametrize("rows", [60, 30_000])
def test_interrupt_keeps_the_best_answer(name, rows, monkeypatch):
    X, y = draw(m=rows, noise=1.0)
    weigh, calls = _State.weigh, iter(range(10**6))

    def interrupted(self, step):
        if next(calls) == 2:
            raise KeyboardInterrupt
        return weigh(self, step)

    monkeypatch.setattr(_State, "weigh", interrupted)
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        model = MODELS[name]().fit(X, y)
    assert model.certificate_.status == "interrupted"
    assert np.isfinite(model.thresholds_).all()
    assert model.score(X, y) > 0.4


@pytest.mark.parametrize("labels", [np.array([-100, 0, 100], np.int8), np.array([1, 5, 2**64 - 1], np.uint64)])
def test_labels_may_span_the_range_of_their_type(labels):
    X, codes = draw(m=300, K=3)
    model = FixedMarginClassifier().fit(X, labels[codes])
    np.testing.assert_array_equal(model.classes_, labels)
    np.testing.assert_array_equal(model.predict(X), labels[FixedMarginClassifier().fit(X, codes).predict(X)])


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("thresholds", ["immediate", "all"])
def test_a_collapsed_fixed_margin_warns(loss, thresholds):
    X, y = draw(300)
    with pytest.warns(CollapsedRankingWarning, match="use a larger C"):
        FixedMarginClassifier(C=1e-12, loss=loss, thresholds=thresholds).fit(X, y)


def test_a_sum_of_margins_with_too_large_a_price_is_an_error_without_warnings():
    X, y = draw(300, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for C in (1e3, 1e9):
            with pytest.raises(InfeasibleParameterError, match="too large for these data"):
                SumOfMarginsClassifier(C=C).fit(X, y)
