"""Rows stay where they are in memory: float32, Fortran order, frames and rows without weight give the same answer."""

import tracemalloc
import warnings
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import slow_after
from hullrank import (
    ConvexHullRanker,
    FixedMarginClassifier,
    NuMarginClassifier,
    SampledPairsRanker,
    SumOfMarginsClassifier,
    SwappedPairsRanker,
)
from hullrank.data import RowView, row_view
from hullrank.exceptions import HullrankError
from hullrank.models import _kernel as kernel_estimators
from hullrank.problem import gram, kernel_rows
from hullrank.reports.certifying import certify

MODELS = {
    "hull": lambda: ConvexHullRanker(tol=1e-9),
    "hull, edges, hinge": lambda: ConvexHullRanker("full", slack="edge", loss="hinge", tol=1e-9),
    "hull, l1": lambda: ConvexHullRanker(C=3.0, penalty="l1", tol=1e-9),
    "hull, signs": lambda: ConvexHullRanker(monotonic_cst=[1, 0, -1], tol=1e-9),
    "fixed margin, hinge": lambda: FixedMarginClassifier(loss="hinge", thresholds="immediate", tol=1e-9),
    "fixed margin, logistic": lambda: FixedMarginClassifier(loss="logistic", tol=1e-9),
    "nu margin": lambda: NuMarginClassifier(tol=1e-9),
    "sum of margins": lambda: SumOfMarginsClassifier(tol=1e-9),
    "swapped pairs": lambda: SwappedPairsRanker(C=3.0, loss="squared_hinge", tol=1e-9),
    "swapped pairs, logistic": lambda: SwappedPairsRanker(C=3.0, loss="logistic", tol=1e-9),
    "sampled pairs": lambda: SampledPairsRanker(C=3.0, loss="squared_hinge", random_state=0, tol=1e-9),
}
FORMS = {
    "Fortran": np.asfortranarray,
    "every other column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "backwards": lambda X: X[::-1].copy()[::-1],
    "float32": lambda X: X.astype(np.float32),
    "float32, Fortran": lambda X: np.asfortranarray(X, dtype=np.float32),
    "pandas": pd.DataFrame,
    "pandas, mixed": lambda X: pd.DataFrame(X).astype({0: np.float32}),
    "polars": lambda X: pl.DataFrame(X, schema=[f"c{j}" for j in range(X.shape[1])]),
}
seeds = st.integers(0, 10**6)


@pytest.fixture
def views(monkeypatch):
    """Few rows are viewed too, as otherwise only many are."""
    monkeypatch.setattr(row_view, "WORTH", 0)


def graded(m, seed=0, n=3, K=3, noise=1.0):
    """Grades of rows whose entries float32 knows exactly."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, n)).astype(np.float32).astype(np.float64)
    s = X @ np.arange(1, n + 1) + noise * rng.standard_normal(m)
    return X, np.searchsorted(np.quantile(s, np.arange(1, K) / K), s)


@given(
    seeds, st.sampled_from([np.float32, np.float64, ">f8"]), st.booleans(), st.booleans(), st.integers(1, 700),
    st.integers(1, 400),
)  # fmt: skip
@settings(max_examples=30)
def test_a_view_is_its_rows_as_float64(seed, dtype, fortran, some, m, n):
    rng = np.random.default_rng(seed)
    base = np.asarray(rng.standard_normal((m, n)), dtype=dtype, order="F" if fortran else "C")
    kept = np.flatnonzero(rng.random(m) < 0.7) if some else None
    view, rows = RowView(base, kept), np.asarray(base[slice(None) if kept is None else kept], dtype=np.float64)
    w, v, V = rng.standard_normal(n), rng.standard_normal(len(rows)), rng.standard_normal((len(rows), 2))
    assert (view.shape, len(view), view.size) == (rows.shape, len(rows), rows.size)
    assert np.asarray(view).dtype == np.float64
    np.testing.assert_array_equal(np.asarray(view), rows)
    np.testing.assert_array_equal(view[1::2], rows[1::2])
    np.testing.assert_array_equal(np.asarray(view[:, [0]]), rows[:, [0]])
    np.testing.assert_allclose(view @ w, rows @ w, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(v @ view, v @ rows, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(view.T @ v, rows.T @ v, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(view.T @ V, rows.T @ V, rtol=1e-11, atol=1e-11)


@cache
def plain_fit(name):
    """The model of rows in memory as they usually are."""
    X, y = graded(150)
    return X, y, MODELS[name]().fit(X, y)


@pytest.mark.parametrize("form", slow_after(4, dict.fromkeys(["Fortran", "float32", "pandas", "polars", *FORMS])))
@pytest.mark.parametrize("name", MODELS)
def test_the_form_of_the_rows_does_not_matter(views, name, form):
    X, y, plain = plain_fit(name)
    given_rows = FORMS[form](X)
    other = MODELS[name]().fit(given_rows, y)
    assert other.certificate_.status == "converged"
    np.testing.assert_allclose(other.coef_, plain.coef_, rtol=1e-4, atol=1e-6)
    assert other.certificate_.primal == pytest.approx(plain.certificate_.primal, rel=1e-8)
    np.testing.assert_allclose(other.score_samples(given_rows), X @ other.coef_, rtol=1e-12, atol=1e-12)
    assert not certify(other, given_rows, y).reason


@pytest.mark.parametrize("name", slow_after(3, (name for name in MODELS if name != "sampled pairs")))
@given(seeds)
@settings(max_examples=4)
def test_weights_are_repetitions_and_zeros_are_absent(name, seed):
    X, y = graded(60, seed)
    weights = np.random.default_rng(seed).choice([0.0, 0.0, 1.0, 2.0], 60)
    weights[[np.flatnonzero(y == k)[0] for k in range(3)]] = 1.0
    times = weights.astype(int)
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        repeated = MODELS[name]().fit(np.repeat(X, times, axis=0), np.repeat(y, times))
        sparse = MODELS[name]().fit(sp.csr_array(X), y, sample_weight=weights)
        patch.setattr(row_view, "WORTH", 0)
        weighted = MODELS[name]().fit(X.astype(np.float32), y, sample_weight=weights)
    for other in (sparse, weighted):
        assert other.certificate_.primal == pytest.approx(repeated.certificate_.primal, rel=1e-7, abs=1e-12)
        np.testing.assert_allclose(other.coef_, repeated.coef_, rtol=2e-4, atol=2e-4 * np.abs(repeated.coef_).max())


MANY_ROWS = {
    "hinge": lambda: FixedMarginClassifier(loss="hinge", thresholds="immediate"),
    "logistic": lambda: FixedMarginClassifier(loss="logistic"),
    "edges": lambda: ConvexHullRanker("full", slack="edge"),
}


@cache
def plain_fit_of_many_rows(name):
    """Many rows, the model of them as they usually are, and the most memory that its fit held."""
    X, y = graded(100_000, n=30, K=5, noise=100.0)
    MANY_ROWS[name]().fit(X[:12_000], y[:12_000])  # compiles
    plain = MANY_ROWS[name]()
    return X, y, plain, peak_of(lambda: plain.fit(X, y))


@pytest.mark.parametrize("name", MANY_ROWS)
@pytest.mark.parametrize("form", ["Fortran", "float32", "zero weights", "pandas"])
@pytest.mark.slow
def test_many_rows_are_not_copied(name, form):
    X, y, plain, least = plain_fit_of_many_rows(name)
    weights = np.ones(len(y))
    if form == "zero weights":
        weights[::10] = 0.0
    rows = FORMS[form](X) if form in FORMS else X
    kept = weights > 0
    model = MANY_ROWS[name]()
    peak = peak_of(lambda: model.fit(rows, y, sample_weight=weights))
    if not kept.all():
        plain = MANY_ROWS[name]().fit(np.ascontiguousarray(X[kept]), y[kept])
    assert model.certificate_.status == plain.certificate_.status == "converged"
    assert model.certificate_.primal == pytest.approx(plain.certificate_.primal, rel=2e-6)
    assert peak <= least + 0.25 * X.nbytes


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.slow
def test_slacks_at_many_thresholds_take_no_row_each(loss):
    X, y = graded(100_000, n=30, K=50, noise=100.0)
    model = FixedMarginClassifier(loss=loss, thresholds="all").fit(X[:12_000], y[:12_000])  # compiles
    assert peak_of(lambda: model.fit(X, y)) <= 1.5 * X.nbytes
    assert model.certificate_.status == "converged"


def peak_of(work):
    """The most memory that the work held at a time, in bytes."""
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_many_scores_of_float32_are_those_of_float64():
    X, y = graded(30_000, n=20)
    model = FixedMarginClassifier().fit(X, y)
    half = X.astype(np.float32)
    np.testing.assert_allclose(model.score_samples(half), X @ model.coef_, rtol=1e-12, atol=1e-12)
    assert peak_of(lambda: model.score_samples(half)) <= 0.3 * X.nbytes


KERNEL_MODELS = {
    "hinge": lambda **k: FixedMarginClassifier(1.0, loss="hinge", thresholds="immediate", tol=1e-5, **k),
    "squared": lambda **k: ConvexHullRanker(C=1.0, tol=1e-5, **k),
    "nu": lambda **k: NuMarginClassifier(tol=1e-5, **k),
    "pairs": lambda **k: SwappedPairsRanker(C=3.0, loss="squared_hinge", tol=1e-5, **k),
    "Nystroem": lambda **k: FixedMarginClassifier(1.0, approximation=40, tol=1e-5, **k),
}


@pytest.mark.parametrize("kernel", [{"kernel": "rbf"}, {"kernel": "poly", "degree": 2, "coef0": 1.0}])
@pytest.mark.parametrize("name", KERNEL_MODELS)
def test_kernels_of_float32_rows_are_those_of_float64(views, monkeypatch, name, kernel):
    """Rows stay in float32, and the certificate is that of their values, which float64 knows exactly."""
    for module in (kernel_estimators, gram):
        monkeypatch.setattr(module, "LARGE", 0)
    monkeypatch.setattr(kernel_rows, "TILE", 64)
    X, y = graded(230, n=4)
    half = X.astype(np.float32)
    weights = np.random.default_rng(0).choice([0.0, 1.0, 2.0], 230)
    given_rows = KERNEL_MODELS[name](**kernel).fit(half, y, sample_weight=weights)
    exact = KERNEL_MODELS[name](**kernel).fit(X, y, sample_weight=weights)
    assert given_rows.certificate_.status == exact.certificate_.status != "precision"
    assert given_rows.certificate_.primal == pytest.approx(exact.certificate_.primal, rel=3e-5)
    assert given_rows.certificate_.dual <= exact.certificate_.primal * (1 + 1e-12)
    scores = given_rows.score_samples(half)
    np.testing.assert_allclose(scores, given_rows.score_samples(X), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(scores, exact.score_samples(X), atol=0.02 * np.ptp(scores))
    assert not certify(given_rows, half, y, sample_weight=weights, tol=1e-5).reason


@pytest.mark.parametrize("kernel", ["rbf", "poly", "sigmoid"])
def test_kernel_values_of_a_view_are_those_of_its_rows(monkeypatch, kernel):
    monkeypatch.setattr(kernel_rows, "TILE", 16)
    rng = np.random.default_rng(0)
    base = rng.standard_normal((150, 5)).astype(np.float32) + np.float32(3.0)
    kept = rng.permutation(150)[:101]
    viewed = gram.Gram(RowView(base, kept), kernel, 0.2, 3, 0.5)
    plain = gram.Gram(base[kept].astype(np.float64), kernel, 0.2, 3, 0.5)
    some, coef = rng.permutation(101)[:40], rng.standard_normal(101)
    np.testing.assert_array_equal(viewed.hashes(), plain.hashes())
    for view, rows in ((viewed, plain), (viewed.take(some), plain.take(some))):
        K = rows.whole()
        np.testing.assert_allclose(view.whole(), K, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(view.diagonal(), K.diagonal(), rtol=1e-12)
        np.testing.assert_allclose(view.times(coef[: len(K)]), K @ coef[: len(K)], rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(
            view.times(coef[: len(K)], some[:9] % len(K)), (K @ coef[: len(K)])[some[:9] % len(K)]
        )
        out, rough = np.empty((7, 7)), np.empty((len(K), len(K)), dtype=np.float32)
        view.square(np.arange(3, 10), out)
        np.testing.assert_allclose(out, K[3:10, 3:10], rtol=1e-12, atol=1e-12)
        view.blocks(np.float32).fill(None, rough)
        np.testing.assert_allclose(rough, K, rtol=1e-5, atol=1e-5 * np.abs(K).max())
        view.blocks(np.float32).fill(np.array([5, 2]), rough[:2])
        np.testing.assert_allclose(rough[:2], K[[5, 2]], rtol=1e-5, atol=1e-5 * np.abs(K).max())


@pytest.mark.slow
def test_a_kernel_holds_float32_rows_once():
    """Beside the rows that it caches, a fit holds the factor of its float32 products and the support vectors."""
    X, y = graded(3500, n=700, noise=30.0)
    half = X.astype(np.float32)
    model = FixedMarginClassifier(0.1, loss="hinge", kernel="rbf", cache_size=10, tol=1e-3)
    model.fit(half[:500], y[:500])  # compiles
    assert peak_of(lambda: model.fit(half, y)) <= 3 * half.nbytes + 30e6
    assert peak_of(lambda: model.fit(X, y)) > 5 * half.nbytes + 30e6


def test_columns_too_large_for_float32_squares_are_fine_and_infinite_entries_are_not(views):
    X, y = graded(200)
    large = (X * [1e25, 1.0, 1.0]).astype(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = FixedMarginClassifier(C=1.0).fit(large, y)
        exact = FixedMarginClassifier(C=1.0).fit(large.astype(np.float64), y)
    assert found.certificate_.primal == pytest.approx(exact.certificate_.primal, rel=1e-6)
    for wrong in (np.inf, np.nan):
        large[3, 1] = wrong
        with pytest.raises((ValueError, HullrankError), match=r"infinity|NaN"):
            found.fit(large, y)
