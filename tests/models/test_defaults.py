"""Defaults that do not depend on the scale of the data, and words where nothing can be ranked."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import GridSearchCV

from hullrank import (
    ConvexHullRanker,
    FixedMarginClassifier,
    NuMarginClassifier,
    SampledPairsRanker,
    SumOfMarginsClassifier,
    SwappedPairsRanker,
)
from hullrank.exceptions import (
    CollapsedRankingWarning,
    ConvergenceWarning,
    HullrankError,
    ScaleWarning,
    WeakPriceWarning,
)
from hullrank.problem.kernels import kernel_matrix

DRIVEN = [NuMarginClassifier, SumOfMarginsClassifier]
PRICED = {
    "hull": lambda **options: ConvexHullRanker(**options),
    "hull, l1": lambda **options: ConvexHullRanker(penalty="l1", **options),
    "hull, hinge": lambda **options: ConvexHullRanker(loss="hinge", **options),
    "hull, coefficient norm": lambda **options: ConvexHullRanker(norm="coefficient", kernel="rbf", **options),
    "fixed": lambda **options: FixedMarginClassifier(**options),
    "fixed, rbf": lambda **options: FixedMarginClassifier(kernel="rbf", **options),
    "fixed, poly": lambda **options: FixedMarginClassifier(kernel="poly", **options),
    "pairs": lambda **options: SwappedPairsRanker(**options),
    "pairs, logistic": lambda **options: SwappedPairsRanker(loss="logistic", **options),
    "pairs, rbf": lambda **options: SwappedPairsRanker(kernel="rbf", **options),
    "sampled": lambda **options: SampledPairsRanker(random_state=0, **options),
}


def draw(seed=0, m=40, n=3, K=4, noise=0.7):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, n))
    place = np.argsort(np.argsort(X @ rng.normal(size=n) + noise * rng.normal(size=m)))
    return X, place * K // m


@pytest.mark.slow
@given(st.integers(0, 10**6), st.sampled_from([1e-6, 1e-3, 1e3, 1e6]), st.sampled_from(sorted(PRICED)))
@settings(max_examples=40)
def test_the_scale_of_the_data_does_not_change_the_ranking(seed, a, name):
    """A power of two would prove it to the last digit; the tolerance leaves scores equal to about its root."""
    X, y = draw(seed)
    one, other = PRICED[name](tol=1e-9).fit(X, y), PRICED[name](tol=1e-9).fit(a * X, y)
    s, t = one.score_samples(X), other.score_samples(a * X)
    np.testing.assert_allclose(t, s, atol=2e-3 * np.ptp(s))


@pytest.mark.parametrize("name", sorted(PRICED))
def test_a_price_in_units_of_the_data_is_written_down(name):
    X, y = draw()
    model = PRICED[name]().fit(X, y)
    again = PRICED[name](C=model.C_).fit(X, y)
    np.testing.assert_allclose(again.score_samples(X), model.score_samples(X), rtol=1e-12)
    assert again.C_ == model.C_


def test_the_units_of_class_based_models():
    X, y = draw()
    weights = np.random.default_rng(1).integers(1, 4, len(y)).astype(float)
    mean = np.average(X, axis=0, weights=weights)
    square = np.average(((X - mean) ** 2).sum(axis=1), weights=weights)
    for X_ in (X, sp.csr_array(X)):
        model = FixedMarginClassifier().fit(X_, y, sample_weight=weights)
        assert pytest.approx(1 / square) == model.C_
    assert pytest.approx(3 / square) == FixedMarginClassifier(loss="hinge").fit(X, y, sample_weight=weights).C_
    assert pytest.approx(10 / square) == FixedMarginClassifier(loss="logistic").fit(X, y, sample_weight=weights).C_
    l1 = ConvexHullRanker(penalty="l1").fit(X, y, sample_weight=weights)
    assert pytest.approx((square / 3) ** -0.5) == l1.C_
    K = kernel_matrix(X, None, "rbf", gamma=0.3)
    spread = np.average(K.diagonal(), weights=weights) - weights @ K @ weights / weights.sum() ** 2
    for model, rows in (
        (FixedMarginClassifier(kernel="rbf", gamma=0.3), X),
        (ConvexHullRanker(kernel="precomputed"), K),
    ):
        assert pytest.approx(1 / spread) == model.fit(rows, y, sample_weight=weights).C_


@pytest.mark.parametrize("query_weight", ["pairs", "equal"])
@pytest.mark.parametrize("form", ["few rows", "many rows", "sparse", "rbf"])
def test_the_units_of_pairs(form, query_weight):
    """Against every pair, one by one."""
    rng = np.random.default_rng(0)
    X, y = draw(m=30 if form == "few rows" else 150, K=7)
    qid, weights = rng.integers(0, 4, len(y)), rng.integers(1, 4, len(y)).astype(float)
    i, j = np.nonzero((y[:, None] > y) & (qid[:, None] == qid))
    omega = weights[i] * weights[j]
    if query_weight == "equal":
        omega = omega / np.bincount(qid[i], omega)[qid[i]]
    distances = ((X[i] - X[j]) ** 2).sum(axis=1)
    if form == "rbf":
        distances = 2 - 2 * np.exp(-0.3 * distances)
    model = SwappedPairsRanker(query_weight=query_weight, **({"kernel": "rbf", "gamma": 0.3} if form == "rbf" else {}))
    model.fit(sp.csr_array(X) if form == "sparse" else X + 100.0, y, sample_weight=weights, qid=qid)
    assert pytest.approx(1000 / np.average(distances, weights=omega)) == model.C_
    drawn = SampledPairsRanker(random_state=0).fit(X, y, qid=qid)
    pairs = drawn.state(X, y, qid=qid).pairs
    assert pytest.approx(1000 / ((X[pairs.hi] - X[pairs.lo]) ** 2).sum(axis=1).mean()) == drawn.C_


@pytest.mark.parametrize("name", sorted(PRICED))
def test_equal_rows_have_a_price_too(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = PRICED[name]().fit(np.full((12, 2), 0.1), np.arange(12) % 3)
    assert np.isfinite(model.score_samples([[0.1, 0.2]])).all()


def test_a_price_too_small_for_pairs_says_so():
    X, y = draw()
    with pytest.warns(WeakPriceWarning, match="every pair lies inside the margin.*C=0.01 is too small.*C='scale'"):
        SwappedPairsRanker(0.01).fit(X, y)
    with pytest.warns(WeakPriceWarning, match="no weights are better than 0 within tol=1e-06.*use a larger one"):
        SwappedPairsRanker(1.0).fit(1e-4 * X, y)
    with pytest.warns(CollapsedRankingWarning, match="the samples of every pair have the same features"):
        SwappedPairsRanker().fit(np.ones((6, 2)), np.arange(6))
    for loss in ("hinge", "squared_hinge", "logistic"):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            SwappedPairsRanker(loss=loss).fit(1e-4 * X, y)


AWKWARD = {
    "noise": lambda rng: (rng.normal(size=(60, 3)), rng.integers(0, 4, 60)),
    "many classes": lambda rng: (rng.normal(size=(60, 2)), rng.integers(0, 9, 60)),
    "constant": lambda rng: (np.ones((10, 2)), np.arange(10) % 3),
    "a class for every sample": lambda rng: (rng.normal(size=(12, 2)), np.arange(12)),
    "two equal samples": lambda rng: (np.ones((2, 1)), np.array([0, 1])),
    "one against fifty": lambda rng: (np.vstack([rng.normal(size=(50, 2)), [[9.0, 9.0]]]), np.repeat([0, 1], [50, 1])),
    "counts": lambda rng: (rng.integers(0, 3, (80, 3)).astype(float), rng.integers(0, 4, 80)),
    "grades": lambda rng: draw(int(rng.integers(10**6)), noise=float(rng.uniform(0, 5))),
}


@pytest.mark.slow
@given(
    st.sampled_from(DRIVEN), st.sampled_from(sorted(AWKWARD)), st.integers(0, 10**6),
    st.one_of(st.sampled_from([0.0, 1.0]), st.floats(0, 1)), st.sampled_from(["linear", "rbf"]),
    st.sampled_from([None, "balanced"]),
)  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_any_fraction_is_legal_on_any_data(model, case, seed, fraction, kernel, class_weight):
    X, y = AWKWARD[case](np.random.default_rng(seed))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CollapsedRankingWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = model(fraction=fraction, kernel=kernel, class_weight=class_weight).fit(X, y)
    certificate = fitted.certificate_
    # Where the ranking nearly vanishes, what is left of the objective may be rounding, and the status says so.
    assert certificate.relative_gap <= 1e-4 or certificate.status == "precision"
    assert set(fitted.predict(X)) <= set(y.tolist())


@pytest.mark.parametrize("model", DRIVEN)
def test_fractions_can_be_searched_over(model):
    X, y = draw(m=90)
    search = GridSearchCV(model(), {"fraction": [0, 0.25, 0.5, 0.75, 1]}, error_score="raise", cv=3).fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize(("model", "name"), [(NuMarginClassifier, "nu"), (SumOfMarginsClassifier, "C")])
def test_a_fraction_beside_a_number_is_refused(model, name):
    with pytest.raises(HullrankError, match=f"{name}=0.3 and fraction=0.5 both choose {name}; leave one out"):
        model(0.3, fraction=0.5).fit(*draw())


@pytest.mark.parametrize("model", DRIVEN)
def test_a_larger_fraction_drives_more(model):
    X, y = draw(m=90)
    drives = []
    for fraction in (0.0, 0.3, 0.6, 1.0):
        fitted = model(fraction=fraction).fit(X, y)
        drives.append(fitted.nu_ if model is NuMarginClassifier else 1 / fitted.C_)
    assert np.all(np.diff(drives) > 0)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("model", DRIVEN)
def test_a_collapsed_model_predicts_the_median_class(model, kernel):
    X, y = np.full((20, 2), 0.1), np.repeat([0, 1, 2, 3], [3, 4, 11, 2])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = model(kernel=kernel, class_weight=None).fit(X, y)
    assert set(fitted.predict([[0.1, 0.1], [5.0, -5.0]] if kernel == "linear" else [[0.1, 0.1]])) == {2}
    assert fitted.certificate_.status == "converged"


def test_repeated_rows_of_a_kernel_do_not_collapse():
    """Rows of one place in several grades make a range of nu begin above 0, whatever the kernel."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(40, 2)), 6, axis=0)
    y = np.clip(np.round(X[:, 0] + 1.5 + rng.normal(size=240)), 0, 3).astype(int)
    for model in DRIVEN:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            fitted = model(kernel="rbf").fit(X, y)
        assert np.ptp(fitted.score_samples(X)) > 0


@pytest.mark.slow
@pytest.mark.parametrize("model", [FixedMarginClassifier, NuMarginClassifier, SwappedPairsRanker, SampledPairsRanker])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_columns_of_different_scale_are_named(model, kernel):
    pd = pytest.importorskip("pandas")
    X, y = draw()
    frame = pd.DataFrame(X * [1.0, 1e-3, 50.0], columns=["age", "share", "income"])
    with pytest.warns(ScaleWarning, match="column income .* column share .* put StandardScaler"):
        model(kernel=kernel).fit(frame, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ScaleWarning)
        model(kernel=kernel).fit(X * [1.0, 0.01, 5.0], y)
        model(kernel=kernel).fit(np.column_stack([X, np.full(len(y), 1e6)]), y)
        model(kernel=kernel).fit(sp.csr_array(X * [1.0, 1e-3, 50.0]), y)


def test_a_collapse_names_a_cure_that_holds():
    X, y = draw()
    with pytest.warns(CollapsedRankingWarning, match="use a larger C, or C='scale'"):
        FixedMarginClassifier(1e-9).fit(X, y)
    ring = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    for loss, cure in (("hinge", "use loss='squared_hinge', a kernel"), ("squared_hinge", "use a kernel")):
        with pytest.warns(CollapsedRankingWarning, match=f"a larger C will hardly help: {cure}"):
            FixedMarginClassifier(loss=loss).fit(np.vstack([0.1 * ring, ring]), np.repeat([0, 1], 4))


def test_thresholds_of_many_samples_are_those_of_sorted_scores(monkeypatch):
    from hullrank.metrics import mean_absolute_rank_error
    from hullrank.models import hull

    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 3))
    y = np.digitize(X @ [1, 2, -1] + 2 * rng.normal(size=6000), [-2, 0, 1])
    sorted_ = ConvexHullRanker().fit(X, y)
    monkeypatch.setattr(hull, "_MANY", 1000)
    counted = ConvexHullRanker().fit(X, y)
    np.testing.assert_allclose(counted.thresholds_, sorted_.thresholds_, atol=0.05)
    errors = [mean_absolute_rank_error(y, model.predict_class(X)) for model in (sorted_, counted)]
    assert errors[0] <= errors[1] <= errors[0] + 0.002
