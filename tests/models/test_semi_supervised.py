"""Unlabelled rows through a graph: the problem that a conic solver states, solved in another inner product."""

import cvxpy as cp
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import make_swiss_roll
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils.estimator_checks import parametrize_with_checks

from hullrank import ConvexHullRanker, ExactRanker, FixedMarginClassifier, PRank, SemiSupervised, SwappedPairsRanker
from hullrank.exceptions import HullrankError, LabelError
from hullrank.models import _strength, semi_supervised
from hullrank.models._strength import _folds
from hullrank.problem.laplacian import laplacian, neighbour_graph
from hullrank.reports.certifying import certify


def rows(seed=0, n=50, labelled=20):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.digitize(X[:labelled] @ [1.0, -1.0, 0.3] + 0.3 * rng.normal(size=labelled), [-0.6, 0.6])
    return X, y


@pytest.mark.parametrize("strength", [0.0, 1.0, 50.0])
def test_the_linear_problem_is_that_of_a_conic_solver(strength):
    X, y = rows()
    M = laplacian(neighbour_graph(X, 5)).toarray()
    a, b = 1 / (1 + strength), strength / (1 + strength) / (np.trace(X.T @ M @ X) / 3)
    model = SemiSupervised(
        FixedMarginClassifier(C=2.0, loss="hinge", thresholds="immediate", tol=1e-9), strength=strength, n_neighbors=5
    ).fit(X[:20], y, unlabeled=X[20:])
    w, t = cp.Variable(3), cp.Variable(2)
    s = X[:20] @ w
    charge = cp.sum(cp.pos(1 - (t[0] - s[y == 0]))) + cp.sum(cp.pos(1 - (s[y == 1] - t[0])))
    charge += cp.sum(cp.pos(1 - (t[1] - s[y == 1]))) + cp.sum(cp.pos(1 - (s[y == 2] - t[1])))
    rough = X.T @ M @ X
    penalty = 0.5 * a * cp.sum_squares(w) + 0.5 * b * cp.quad_form(w, (rough + rough.T) / 2)
    problem = cp.Problem(cp.Minimize(penalty + 2.0 * charge), [t[0] <= t[1]])
    problem.solve(solver="CLARABEL")
    assert model.certificate_.primal == pytest.approx(problem.value, rel=1e-6)
    np.testing.assert_allclose(model.score_samples(X), X @ w.value, atol=1e-3)  # out of sample too
    assert certify(model, X[:20], y).holds


@pytest.mark.parametrize("strength", [0.0, 1.0, 50.0])
def test_the_kernel_problem_is_that_of_a_conic_solver(strength):
    """f = sum_j c_j k(x_j, .) over all rows, labelled or not, with |f|^2 = c'Kc and f'Mf over all rows."""
    X, y = rows(1)
    K, M = rbf_kernel(X, gamma=0.5), laplacian(neighbour_graph(X, 5)).toarray()
    inner = SwappedPairsRanker(C=30.0, loss="squared_hinge", kernel="rbf", gamma=0.5, tol=1e-9)
    model = SemiSupervised(inner, strength=strength, n_neighbors=5).fit(X[:20], y, unlabeled=X[20:])
    mean = np.trace(M @ K) / len(X)  # of f'Mf for a random function with |f|^2 = number of rows
    root = np.linalg.cholesky(K + 1e-12 * np.eye(len(X)))
    v = cp.Variable(len(X))  # f = root v, |f|^2 = v'v
    f = root @ v
    i, j = np.nonzero(y[:, None] > y)
    rough = root.T @ M @ root
    penalty = cp.sum_squares(v) / (1 + strength) + strength / (1 + strength) / mean * cp.quad_form(
        v, cp.psd_wrap((rough + rough.T) / 2)
    )
    charge = cp.sum(cp.square(cp.pos(1 - (f[i] - f[j])))) / len(i)
    problem = cp.Problem(cp.Minimize(0.5 * penalty + 30.0 * charge))
    problem.solve(solver="CLARABEL")
    assert model.certificate_.primal == pytest.approx(problem.value, rel=1e-5)
    scores, expected = model.score_samples(X), root @ v.value
    np.testing.assert_allclose(scores - scores.mean(), expected - expected.mean(), atol=1e-3)
    assert certify(model, X[:20], y, tol=1e-5).holds


def test_strength_0_is_the_estimator_itself():
    X, y = rows(2)
    new = np.random.default_rng(9).normal(size=(30, 3))
    for inner in (
        FixedMarginClassifier(C=3.0, kernel="rbf", gamma=0.3, tol=1e-9),
        ConvexHullRanker(C=3.0, kernel="poly", degree=2, gamma=0.3, coef0=1.0, tol=1e-9),
        ConvexHullRanker(C=3.0, tol=1e-9),
    ):
        model = SemiSupervised(inner, strength=0.0).fit(X[:20], y, unlabeled=X[20:])
        alone = clone(inner).fit(X[:20], y)
        shift = model.score_samples(new) - alone.score_samples(new)  # a constant that thresholds take up
        np.testing.assert_allclose(shift, shift.mean(), atol=2e-4)
        np.testing.assert_allclose(model.estimator_.thresholds_ - alone.thresholds_, shift.mean(), atol=2e-4)
        labels = "predict_class" if hasattr(alone, "predict_class") else "predict"
        np.testing.assert_array_equal(getattr(model, labels)(new), getattr(alone, labels)(new))


def test_a_given_graph_is_used_and_checked():
    X, y = rows(3)
    graph = neighbour_graph(X, 5)
    inner = ConvexHullRanker(kernel="rbf")
    own = SemiSupervised(inner, strength=5.0, n_neighbors=5).fit(X[:20], y, unlabeled=X[20:])
    given = SemiSupervised(inner, strength=5.0, graph=graph).fit(X[:20], y, unlabeled=X[20:])
    np.testing.assert_allclose(given.score_samples(X), own.score_samples(X), atol=1e-9)
    twice = SemiSupervised(inner, strength=5.0, graph=2.0 * graph).fit(X[:20], y, unlabeled=X[20:])
    np.testing.assert_allclose(twice.score_samples(X), own.score_samples(X), atol=1e-6)  # units do not matter
    for odd, message in ((graph[:40, :40], "there are 50 rows"), (-graph, "negative"), (sp.triu(graph), "symmetric")):
        with pytest.raises(HullrankError, match=message):
            SemiSupervised(inner, strength=1.0, graph=odd).fit(X[:20], y, unlabeled=X[20:])


def test_many_rows_are_spanned_by_some(monkeypatch):
    X, t = make_swiss_roll(400, noise=0.2, random_state=0)
    X, y = X / X.std(axis=0), np.digitize(t, [7, 9, 11])
    few = np.arange(400) % 10 == 0
    inner = FixedMarginClassifier(C=10.0, kernel="rbf", gamma=1.0)
    whole = SemiSupervised(inner, strength=10.0).fit(X[few], y[few], unlabeled=X[~few])
    monkeypatch.setattr(semi_supervised, "MOST_PIVOTS", 150)
    part = SemiSupervised(inner, strength=10.0).fit(X[few], y[few], unlabeled=X[~few])
    assert abs(part.score(X[~few], y[~few]) - whole.score(X[~few], y[~few])) < 0.05


def test_unlabelled_rows_help_on_a_surface():
    gains = []
    for seed in range(5):
        X, t = make_swiss_roll(600, noise=0.2, random_state=seed)
        X, y = X / X.std(axis=0), np.digitize(t, np.quantile(t, [0.25, 0.5, 0.75]))
        few = np.arange(600) % 20 == 0
        inner = FixedMarginClassifier(C=10.0, kernel="rbf", gamma=1.0, loss="squared_hinge")
        alone = clone(inner).fit(X[few], y[few]).score(X[~few], y[~few])
        model = SemiSupervised(inner, strength=100.0).fit(X[few], y[few], unlabeled=X[~few])
        gains.append(model.score(X[~few], y[~few]) - alone)
    assert np.mean(gains) > 2 * np.std(gains, ddof=1) / 5**0.5 > 0


@pytest.mark.slow
def test_the_strength_is_the_best_of_the_folds_or_0_where_that_is_not_clearly_better(monkeypatch):
    X, y = rows(4, 120, 60)
    for inner in (FixedMarginClassifier(), ConvexHullRanker(kernel="rbf")):
        model = SemiSupervised(inner).fit(X[:60], y, unlabeled=X[60:])
        table = model.cv_results_
        assert model.strength_ in (0.0, table["strength"][np.argmax(table["mean_test_score"])])
    monkeypatch.setattr(_strength, "_DEMANDED", np.inf)
    assert SemiSupervised(inner).fit(X[:60], y, unlabeled=X[60:]).strength_ == 0.0
    monkeypatch.setattr(_strength, "_DEMANDED", -np.inf)
    model = SemiSupervised(inner).fit(X[:60], y, unlabeled=X[60:])
    assert model.strength_ == table["strength"][np.argmax(table["mean_test_score"])]


def test_metadata_is_handed_on():
    X, y = rows(5)
    weights = np.random.default_rng(0).uniform(0.5, 2, 20)
    model = SemiSupervised(ConvexHullRanker(tol=1e-9), strength=0.0)
    model.fit(X[:20], y, unlabeled=X[20:], sample_weight=weights)
    alone = ConvexHullRanker(tol=1e-9).fit(X[:20], y, sample_weight=weights)
    np.testing.assert_allclose(model.score_samples(X), X @ alone.coef_, atol=1e-5)
    queries = SemiSupervised(SwappedPairsRanker(), strength=1.0).fit(X[:20], y, qid=np.arange(20) % 2)
    assert queries.certificate_.relative_gap <= 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("inner", [FixedMarginClassifier(), SwappedPairsRanker()])
@pytest.mark.parametrize("declare", ["Categorical", "Series", "Enum"])
@pytest.mark.filterwarnings("error::hullrank.exceptions.UndeclaredOrderWarning")
def test_folds_keep_the_order_that_y_declares(inner, declare, monkeypatch):
    monkeypatch.setattr(_strength, "STRENGTHS", (0.0, 1.0))
    X, _ = rows(6)
    names = ["small", "medium", "large"]  # not the order of the alphabet
    grades = np.digitize(X[:20, 0], np.quantile(X[:20, 0], [1 / 3, 2 / 3]))
    words = np.array(names)[grades]
    target = {
        "Categorical": lambda: pd.Categorical(words, names, ordered=True),
        "Series": lambda: pd.Series(pd.Categorical(words, names, ordered=True), index=np.arange(20)[::-1]),
        "Enum": lambda: pl.Series(words, dtype=pl.Enum(names)),
    }[declare]()
    model = SemiSupervised(inner).fit(X[:20], target, unlabeled=X[20:])
    by_number = SemiSupervised(inner).fit(X[:20], grades, unlabeled=X[20:])
    np.testing.assert_array_equal(model.cv_results_["mean_test_score"], by_number.cv_results_["mean_test_score"])


def test_folds_keep_queries_whole_and_rate_within_them():
    rng = np.random.default_rng(0)
    X, queries = rng.normal(size=(80, 3)), np.arange(80) % 10
    y = np.round(X[:, 0] + 100 * rng.normal(size=10)[queries], 1)  # targets of different queries say nothing
    folds = _folds(np.arange(80), queries)
    assert all(not set(queries[train]) & set(queries[test]) for train, test in folds)
    assert len(folds) == 12
    model = SemiSupervised(SwappedPairsRanker()).fit(X, y, qid=queries)
    assert model.cv_results_["mean_test_score"].max() > 0.9
    alone = SwappedPairsRanker().fit(X, y, qid=queries)
    same = SemiSupervised(SwappedPairsRanker(), strength=0.0).fit(X, y, qid=queries)
    assert same.score(X, y, qid=queries) == pytest.approx(alone.score(X, y, qid=queries), abs=1e-3)


def test_groups_are_handed_on_to_predict_and_score():
    X, y = rows(7)
    X, y = X[:20], np.digitize(X[:20, 0], [-0.5, 0.5])
    groups = np.arange(20) % 2
    model = SemiSupervised(FixedMarginClassifier()).fit(X, y, groups=groups)
    labels = model.predict(X, groups=groups)
    assert model.score(X, y, groups=groups) == np.mean(labels == y)
    ranker = SemiSupervised(ConvexHullRanker(), strength=0.0).fit(X, y, groups=groups)
    assert ranker.predict_class(X, groups=groups).shape == (20,)


def test_rows_without_weight_do_not_choose_the_strength():
    X, y = rows(8)
    counted = np.arange(20) % 4 > 0
    model = SemiSupervised(ConvexHullRanker()).fit(X[:20], y, unlabeled=X[20:], sample_weight=counted)
    without = SemiSupervised(ConvexHullRanker()).fit(X[:20][counted], y[counted], unlabeled=X[20:])
    np.testing.assert_allclose(model.cv_results_["mean_test_score"], without.cv_results_["mean_test_score"])


def test_errors_say_what_to_do():
    X, y = rows()
    with pytest.raises(HullrankError, match="a number, 'scale' or 'auto' for gamma"):
        SemiSupervised(ConvexHullRanker(kernel="rbf", gamma="ard"), strength=0.0).fit(X[:20], y)
    with pytest.raises(HullrankError, match="a certificate and a kernel"):
        SemiSupervised(ExactRanker()).fit(X[:20], y)
    with pytest.raises(HullrankError, match="not 'precomputed'"):
        SemiSupervised(ConvexHullRanker(kernel="precomputed")).fit(X[:20], y)
    with pytest.raises(ValueError, match="features"):
        SemiSupervised(ConvexHullRanker()).fit(X[:20], y, unlabeled=X[20:, :2])
    with pytest.raises(HullrankError, match="must have a certificate"):
        SemiSupervised(PRank()).fit(X[:20], y)
    with pytest.raises(LabelError, match="nan at row 3; drop those rows, or pass them as unlabeled="):
        SemiSupervised(ConvexHullRanker()).fit(X[:20], np.where(np.arange(20) == 3, np.nan, y))


def test_no_unlabelled_rows_are_none_at_all():
    X, y = rows()
    alone = SemiSupervised(ConvexHullRanker(), strength=1.0).fit(X[:20], y)
    empty = SemiSupervised(ConvexHullRanker(), strength=1.0).fit(X[:20], y, unlabeled=X[:0])
    np.testing.assert_array_equal(empty.score_samples(X), alone.score_samples(X))


@pytest.mark.slow
@parametrize_with_checks(
    [
        SemiSupervised(FixedMarginClassifier(kernel="rbf", tol=1e-12), strength=1.0),
        SemiSupervised(ConvexHullRanker(tol=1e-12)),
    ]
)
@pytest.mark.filterwarnings("ignore::hullrank.exceptions.UndeclaredOrderWarning")
@pytest.mark.filterwarnings("ignore::hullrank.exceptions.CollapsedRankingWarning")
def test_estimator_follows_scikit_learn(estimator, check, monkeypatch):
    """Two strengths are a choice; more would only repeat it."""
    monkeypatch.setattr(_strength, "STRENGTHS", (0.0, 1.0))
    check(estimator)
