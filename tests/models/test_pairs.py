"""The pair rankers: laws they keep, queries, routing, errors."""

import gc
import os
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hullrank import SampledPairsRanker, SwappedPairsRanker
from hullrank.datasets import discretize
from hullrank.exceptions import ConvergenceWarning, HullrankError, KernelError, NoComparablePairError
from hullrank.experiments.data import SEED, load_sheet, standardise
from hullrank.metrics import rank_within, swapped_pairs
from hullrank.models import pair_ranker
from hullrank.problem.pairs_at_scores import AtScores

LOSSES = ["hinge", "squared_hinge"]


@pytest.fixture
def graded():
    """120 documents of 12 queries in mixed order, three grades."""
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(120, 4)), rng.integers(0, 12, 120)
    y = np.digitize(X @ [1, -1, 0.5, 0] + 0.3 * qid + rng.normal(size=120), [0, 2])
    return X, y, qid


def fitted(X, y, **options):
    qid, sample_weight = options.pop("qid", None), options.pop("sample_weight", None)
    model = SwappedPairsRanker(**{"C": 10.0, "tol": 1e-12, **options})
    return model.fit(X, y, qid=qid, sample_weight=sample_weight)


@settings(max_examples=15, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from(LOSSES),
    st.sampled_from(["pairs", "equal"]),
    st.sampled_from(["linear", "rbf"]),
)
def test_weights_are_repetitions_and_order_does_not_matter(seed, loss, query_weight, kernel):
    rng = np.random.default_rng(seed)
    X, y, qid = rng.normal(size=(30, 3)), rng.integers(0, 4, 30), rng.integers(0, 4, 30)
    weights = rng.integers(0, 4, 30)
    options = {"loss": loss, "query_weight": query_weight, "kernel": kernel}
    weighted = fitted(X, y, qid=qid, sample_weight=weights, **options).predict(X)
    repeated = np.repeat(np.arange(30), weights)
    rng.shuffle(repeated)
    twin = fitted(X[repeated], y[repeated], qid=qid[repeated], **options)
    np.testing.assert_allclose(centred(twin.predict(X)), centred(weighted), atol=1e-5)


def centred(scores):
    """A kernel model's scores are defined up to rounding of a constant only."""
    return scores - scores.mean()


@pytest.mark.parametrize("loss", LOSSES)
def test_shifted_features_scaled_features_and_renamed_targets(graded, loss):
    X, y, qid = graded
    model = fitted(X, y, loss=loss, qid=qid)
    np.testing.assert_allclose(fitted(X + 50.0, y, loss=loss, qid=qid).coef_, model.coef_, atol=1e-6)
    np.testing.assert_allclose(fitted(X, np.exp(y), loss=loss, qid=qid).coef_, model.coef_, atol=1e-6)
    scaled = fitted(2 * X, y, loss=loss, qid=qid, C=2.5)  # |w|^2 / 4 + C: the same as C * 4 for the halved weights
    np.testing.assert_allclose(2 * scaled.coef_, model.coef_, atol=1e-6)
    names = np.array([f"query {k % 7}-{k}" for k in qid])
    np.testing.assert_allclose(fitted(X, y, loss=loss, qid=names).coef_, model.coef_, atol=1e-6)
    np.testing.assert_allclose(fitted(-X, -y, loss=loss, qid=qid).coef_, model.coef_, atol=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_documents_without_a_partner_drop_out(graded, loss):
    X, y, qid = graded
    lonely = np.vstack([X, 100 * np.ones((3, 4))])
    model = fitted(lonely, np.r_[y, 2, 1, 1], qid=np.r_[qid, 90, 91, 91], loss=loss)
    np.testing.assert_allclose(model.coef_, fitted(X, y, qid=qid, loss=loss).coef_, atol=1e-6)


def test_sparse_data_frames_and_categories(graded):
    X, y, qid = graded
    model = fitted(X, y, qid=qid)
    np.testing.assert_allclose(fitted(sp.csr_matrix(X), y, qid=qid).coef_, model.coef_, atol=1e-6)
    frame = pd.DataFrame(X, columns=list("abcd"))
    grade = pd.Series(pd.Categorical.from_codes(y, ["bad", "fair", "good"], ordered=True))
    named = fitted(frame, grade, qid=pd.Series(qid))
    np.testing.assert_allclose(named.coef_, model.coef_, atol=1e-6)
    assert named.feature_names_in_.tolist() == list("abcd")
    assert named.score(frame, grade, qid=qid) == pytest.approx(model.score(X, y, qid=qid))


def test_query_ids_of_mixed_types_are_just_names(graded):
    X, y, qid = graded
    names = np.array([k if k % 2 else f"query {k}" for k in qid], dtype=object)
    np.testing.assert_allclose(fitted(X, y, qid=names).coef_, fitted(X, y, qid=qid).coef_, atol=1e-6)


def test_score_is_pair_accuracy_within_queries(graded):
    X, y, qid = graded
    model = fitted(X, y, qid=qid)
    assert model.score(X, y, qid=qid) == pytest.approx(1 - swapped_pairs(y, model.predict(X), qid=qid))
    assert model.score(X, y, qid=qid) > 0.8
    assert model.score(X, y, qid=qid) > model.score(X, y)


def test_equal_queries_weigh_alike():
    """A large query that wants w < 0 against two small ones that want w > 0."""
    x = np.r_[np.arange(20.0), 0.0, 1.0, 0.0, 1.0][:, None]
    y = np.r_[-np.arange(20.0), 0.0, 1.0, 0.0, 1.0]
    qid = np.r_[np.zeros(20), 1, 1, 2, 2]
    assert SwappedPairsRanker(C=0.01).fit(x, y, qid=qid).coef_[0] < 0
    assert SwappedPairsRanker(C=0.01, query_weight="equal").fit(x / 20, y, qid=qid).coef_[0] < 0
    tamed = np.r_[x[:20] / 400, x[20:]]
    assert SwappedPairsRanker(C=0.01, query_weight="equal").fit(tamed, y, qid=qid).coef_[0] > 0


@pytest.mark.parametrize("loss", LOSSES)
def test_kernels_by_name_by_function_and_precomputed_agree(graded, loss):
    X, y, qid = graded
    gamma = 0.2
    named = fitted(X, y, qid=qid, kernel="rbf", gamma=gamma, loss=loss)

    def rbf(A, B):
        return np.exp(-gamma * ((A[:, None] - B[None]) ** 2).sum(-1))

    called = fitted(X, y, qid=qid, kernel=rbf, loss=loss)
    given = fitted(rbf(X, X), y, qid=qid, kernel="precomputed", loss=loss)
    np.testing.assert_allclose(called.predict(X[:9]), named.predict(X[:9]), atol=1e-6)
    np.testing.assert_allclose(given.predict(rbf(X[:9], X)), named.predict(X[:9]), atol=1e-6)
    assert named.support_vectors_.shape == (named.n_support_[0], 4)
    np.testing.assert_allclose(rbf(X, named.support_vectors_) @ named.dual_coef_[0], named.predict(X), atol=1e-9)


def test_kernel_learns_what_a_line_cannot():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = (X**2).sum(axis=1)
    assert SwappedPairsRanker(C=100.0).fit(X, y).score(X, y) < 0.6
    assert SwappedPairsRanker(C=100.0, kernel="rbf").fit(X, y).score(X, y) > 0.95
    near = SwappedPairsRanker(C=100.0, kernel="rbf", approximation=30).fit(X, y)
    assert near.score(X, y) > 0.95
    assert near.n_support_[0] <= 30
    assert "span of 30 samples" in near.certificate_.cause


def test_large_exact_kernel_is_refused_with_a_remedy(monkeypatch):
    monkeypatch.setattr(pair_ranker, "GRAM_ROWS", 10)
    with pytest.raises(HullrankError, match="approximation=1000"):
        SwappedPairsRanker(kernel="rbf").fit(np.arange(20.0)[:, None], np.arange(20))


def test_refit_with_another_kernel_forgets_the_last(graded):
    X, y, _ = graded
    model = fitted(X, y)
    model.set_params(kernel="rbf").fit(X, y)
    np.testing.assert_allclose(model.predict(X), fitted(X, y, kernel="rbf").predict(X), atol=1e-6)
    assert not hasattr(model, "coef_")
    assert not hasattr(model.set_params(kernel="linear").fit(X, y), "dual_coef_")


def test_indefinite_kernel_is_an_error():
    K = -np.eye(6) + 0.1
    with pytest.raises(KernelError, match="positive semidefinite"):
        SwappedPairsRanker(kernel="precomputed").fit(K, np.arange(6))


def test_sampled_pairs_approach_all_pairs():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = X @ [1, 2, -1] + rng.normal(size=400)
    every = SwappedPairsRanker(C=10.0).fit(X, y)
    many = SampledPairsRanker(200, C=10.0, random_state=0).fit(X, y)
    few = SampledPairsRanker(C=10.0, random_state=0).fit(X, y)
    np.testing.assert_allclose(many.coef_, every.coef_, rtol=0.05)
    assert few.certificate_.n_order_constraints == 5 * 400
    assert abs(few.score(X, y) - every.score(X, y)) < 0.01
    again = clone(few).fit(X, y)
    np.testing.assert_array_equal(again.coef_, few.coef_)


def test_routing_through_pipelines_and_searches(graded):
    X, y, qid = graded
    with sklearn.config_context(enable_metadata_routing=True):
        ranker = SwappedPairsRanker().set_fit_request(qid=True, sample_weight=False).set_score_request(qid=True)
        model = make_pipeline(StandardScaler(), ranker)
        search = GridSearchCV(model, {"swappedpairsranker__C": [0.1, 10.0]}, cv=GroupKFold(3))
        search.fit(X, y, qid=qid, groups=qid)
        assert search.best_score_ > 0.8
        newer = tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 8)  # 1.7 hands a pipeline's score no qid
        assert not newer or search.score(X, y, qid=qid) > 0.8
    train, test = next(GroupKFold(3).split(X, y, qid))
    alone = make_pipeline(StandardScaler(), SwappedPairsRanker(C=0.1)).fit(
        X[train], y[train], swappedpairsranker__qid=qid[train]
    )
    expected = 1 - swapped_pairs(y[test], alone.predict(X[test]), qid=qid[test])
    if newer:
        assert search.cv_results_["split0_test_score"][0] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": np.ones(6)}, "all targets are equal"),
        ({"qid": np.arange(6)}, "equal in each query"),
        ({"y": [0, 1, 2, np.nan, 1, 0]}, "row 3"),
        ({"y": [0, 1, 2, np.inf, 1, 0]}, "row 3"),
        ({"y": [0, 1]}, "inconsistent"),
        ({"qid": [1, 2]}, "qid has 2 entries"),
        ({"qid": [1, 1, 2, 2, None, 2]}, "row 4"),
        ({"y": np.array([1, 1, "a", 2, 2, 2], dtype=object)}, "mixes labels"),
        ({"X": np.full((6, 2), np.nan)}, "NaN"),
        ({"X": np.full((6, 2), np.inf)}, "infinity"),
        ({"sample_weight": np.zeros(6)}, "zero everywhere"),
        ({"sample_weight": [1, 0, 0, 0, 0, 0]}, "n_samples=1"),
        ({"sample_weight": -np.ones(6)}, "negative"),
    ],
)
def test_bad_input_is_named(change, message):
    given = {"X": np.arange(12.0).reshape(6, 2), "y": np.arange(6), **change}
    with pytest.raises(ValueError, match=message):
        SwappedPairsRanker().fit(given.pop("X"), given.pop("y"), **given)


def test_failed_fit_leaves_the_estimator_as_it_was(graded):
    X, y, _ = graded
    model = fitted(X, y)
    before = model.coef_
    with pytest.raises(NoComparablePairError):
        model.fit(X, np.ones(len(y)))
    assert model.coef_ is before


def test_early_end_warns(graded):
    X, y, _ = graded
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        SwappedPairsRanker(C=1e4, max_iter=1, tol=1e-10).fit(X, y)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), min_size=1, max_size=30))
def test_places_within_queries(rows):
    scores, qid = np.array(rows).T
    places = rank_within(scores, qid)
    for query in np.unique(qid):
        inside = qid == query
        np.testing.assert_array_equal(places[inside], rankdata(-scores[inside], method="min"))


@pytest.mark.skipif("HULLRANK_DATA" not in os.environ, reason="needs the folder of data sets in HULLRANK_DATA")
def test_pairs_at_the_margin_that_nearly_depend_on_each_other():
    """An iterative singular value decomposition fails on the pairs in the window of these rows."""
    sheet = load_sheet("autompg")
    train, _ = next(KFold(10, shuffle=True, random_state=SEED).split(sheet.X))
    X, _ = standardise(sheet.X[train], sheet.X[train])
    rows = np.random.default_rng(0).permutation(len(X))
    kept, _ = next(KFold(5, shuffle=True, random_state=0).split(rows[:, None]))
    X, y = X[rows][kept], discretize(sheet.y, 5)[train][rows][kept]
    model = SwappedPairsRanker(C=100.0 * len(y), kernel="rbf", gamma=3 / X.shape[1], loss="hinge", tol=1e-3).fit(X, y)
    assert model.certificate_.status == "converged"


def test_an_interrupted_fit_says_nothing_about_C(monkeypatch):
    from hullrank.solvers import pairs_search

    def interrupted(self, tol):
        raise KeyboardInterrupt

    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    monkeypatch.setattr(pairs_search.PairSearch, "_step", interrupted)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model = SwappedPairsRanker().fit(X, X @ [1.0, 2.0, -1.0])
    assert model.certificate_.status == "interrupted"
    assert [each.category for each in told] == [ConvergenceWarning]


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_sums_over_pairs_are_freed_when_a_fit_ends(loss):
    """Scores and pairs refer to each other, which would keep them until the next garbage collection."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 3))
    y = X[:, 0] + rng.normal(size=20_000)

    def alive():
        return sum(issubclass(type(found), AtScores) for found in gc.get_objects())  # a dead proxy has no class

    gc.collect()
    gc.disable()
    try:
        before = alive()
        SwappedPairsRanker(loss=loss, C=10.0).fit(X, y)
        assert alive() == before
    finally:
        gc.enable()
