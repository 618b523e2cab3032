"""A cross-validated estimator chooses what a cold GridSearchCV with the same folds chooses."""

import itertools
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_wine
from sklearn.metrics import make_scorer, mean_absolute_error
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, StratifiedKFold
from sklearn.utils.estimator_checks import parametrize_with_checks

from cases import slow_after
from hullrank import (
    ConvexHullRanker,
    ConvexHullRankerCV,
    FixedMarginClassifier,
    FixedMarginClassifierCV,
    SwappedPairsRanker,
    SwappedPairsRankerCV,
)
from hullrank._progress import listening
from hullrank.datasets import discretize
from hullrank.exceptions import ConvergenceWarning, HullrankError, KernelError
from hullrank.metrics import get_scorer, swapped_pairs
from hullrank.problem import kernel_factor, matrix_probe
from hullrank.problem.gram import Gram

FOLDS = StratifiedKFold(4, shuffle=True, random_state=3)
EXACT = FixedMarginClassifier(tol=1e-9)  # so that no sample near a threshold changes sides
TIGHT = {"tol": 1e-12}


@pytest.mark.slow
@parametrize_with_checks(
    [
        FixedMarginClassifierCV([0.1, 1], estimator=FixedMarginClassifier(**TIGHT), cv=2),
        ConvexHullRankerCV([0.1, 1], estimator=ConvexHullRanker(**TIGHT), cv=2),
        SwappedPairsRankerCV([1, 100], estimator=SwappedPairsRanker(loss="squared_hinge", **TIGHT), cv=2),
    ]
)
@pytest.mark.filterwarnings("ignore::hullrank.exceptions.UndeclaredOrderWarning")
@pytest.mark.filterwarnings("ignore::hullrank.exceptions.CollapsedRankingWarning")
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def grades():
    X, y = load_diabetes(return_X_y=True)
    return (X / X.std(axis=0))[:240], discretize(y, 4)[:240]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("single", "searching"),
    [
        (FixedMarginClassifier(), FixedMarginClassifierCV),
        (FixedMarginClassifier(kernel="rbf", thresholds="all"), FixedMarginClassifierCV),
        (ConvexHullRanker(), ConvexHullRankerCV),
        (ConvexHullRanker(kernel="rbf"), ConvexHullRankerCV),
        (SwappedPairsRanker(), SwappedPairsRankerCV),
        (SwappedPairsRanker(kernel="rbf"), SwappedPairsRankerCV),
    ],
)
def test_the_choice_is_that_of_a_cold_search(grades, single, searching):
    X, y = grades
    single = single.set_params(tol=1e-8)
    Cs, losses = [10, 0.01, 1.0], ["squared_hinge", "hinge"]
    grid = {"C": Cs, "loss": losses}
    if single.kernel == "rbf":
        grid["gamma"] = ["scale", 0.02]
    cold = GridSearchCV(single, grid, cv=FOLDS).fit(X, y)
    warm = searching(Cs, losses=losses, gammas=grid.get("gamma"), estimator=single, cv=FOLDS, complete=True).fit(X, y)
    assert warm.best_params_ == cold.best_params_
    assert warm.best_index_ == cold.best_index_
    assert warm.cv_results_.keys() == cold.cv_results_.keys()
    assert warm.cv_results_["params"] == cold.cv_results_["params"]
    for name in ["mean_test_score", "std_test_score", "split2_test_score"]:
        np.testing.assert_allclose(warm.cv_results_[name], cold.cv_results_[name], atol=1e-4)
    np.testing.assert_array_equal(warm.cv_results_["param_C"], cold.cv_results_["param_C"])
    np.testing.assert_allclose(warm.score_samples(X), cold.best_estimator_.score_samples(X), atol=1e-12)
    assert warm.score(X, y) == pytest.approx(cold.score(X, y))
    assert warm.best_estimator_.certificate_.relative_gap <= 1e-8


def test_ranks_are_those_of_a_cold_search(grades):
    X, y = grades
    Cs = np.geomspace(1e-3, 10, 5)
    cold = GridSearchCV(EXACT, {"C": Cs}, cv=FOLDS).fit(X, y)
    warm = FixedMarginClassifierCV(Cs, estimator=EXACT, cv=FOLDS).fit(X, y)
    np.testing.assert_array_equal(warm.cv_results_["rank_test_score"], cold.cv_results_["rank_test_score"])


def test_scoring_by_name_and_function(grades):
    X, y = grades
    error = make_scorer(mean_absolute_error, greater_is_better=False)
    for scoring in ("neg_mean_absolute_error", error, "mean_absolute_rank_error"):
        search = FixedMarginClassifierCV([0.01, 1], estimator=EXACT, cv=FOLDS, scoring=scoring).fit(X, y)
        cold = GridSearchCV(EXACT, {"C": [0.01, 1]}, cv=FOLDS, scoring=error).fit(X, y)
        assert search.best_score_ == pytest.approx(cold.best_score_)
    with pytest.raises(HullrankError, match="one number"):
        FixedMarginClassifierCV([1], scoring=lambda model, X, y: {"a": 1}).fit(X, y)


def test_one_standard_error_takes_the_smallest_c_that_is_as_good(grades):
    X, y = grades
    Cs = np.geomspace(1e-4, 10, 8)
    search = ConvexHullRankerCV(Cs, cv=FOLDS).fit(X, y)
    plain = ConvexHullRankerCV(Cs, cv=FOLDS, one_standard_error=True).fit(X, y)
    folds = np.array([[search.cv_results_[f"split{k}_test_score"][i] for k in range(4)] for i in range(8)])
    limit = folds.mean(axis=1).max() - folds[folds.mean(axis=1).argmax()].std(ddof=1) / 2
    assert plain.best_params_["C"] == min(C for C, row in zip(Cs, folds, strict=True) if row.mean() >= limit)
    assert plain.best_params_["C"] < search.best_params_["C"]


@pytest.mark.slow
def test_queries_stay_whole_and_pairs_count_within_them():
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(20), 8)[rng.permutation(160)]
    X = rng.normal(size=(160, 3)) + qid[:, None]
    y = np.round(X[:, 0] - qid + 100 * qid + 0.5 * rng.normal(size=160), 1)
    exact = SwappedPairsRanker(tol=1e-10)  # so that no pair of a fold is left to the last digits
    search = SwappedPairsRankerCV([1, 10, 100], estimator=exact, cv=4).fit(X, y, qid=qid)
    scores = np.zeros((3, 4))
    for k, (train, test) in enumerate(GroupKFold(4).split(X, y, qid)):
        for i, C in enumerate([1, 10, 100]):
            model = SwappedPairsRanker(C, tol=1e-10).fit(X[train], y[train], qid=qid[train])
            scores[i, k] = 1 - swapped_pairs(y[test], model.predict(X[test]), qid=qid[test])
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], scores.mean(axis=1), atol=1e-3)
    assert search.best_params_["C"] == [1, 10, 100][scores.mean(axis=1).argmax()]
    assert search.score(X, y, qid=qid) == search.best_estimator_.score(X, y, qid=qid)
    by_name = SwappedPairsRankerCV([1, 10, 100], estimator=exact, cv=4, scoring="swapped_pairs").fit(X, y, qid=qid)
    np.testing.assert_allclose(by_name.cv_results_["mean_test_score"], search.cv_results_["mean_test_score"] - 1)


def test_groups_reach_the_splitter(grades):
    X, y = grades
    groups = np.arange(len(y)) % 12
    search = FixedMarginClassifierCV([0.1, 1], cv=3).fit(X, y, groups=groups)
    cold = GridSearchCV(FixedMarginClassifier(), {"C": [0.1, 1]}, cv=GroupKFold(3)).fit(X, y, groups=groups)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], cold.cv_results_["mean_test_score"])


def test_sorted_rows_of_a_ranker_are_dealt_by_class():
    X, y = load_wine(return_X_y=True)
    search = ConvexHullRankerCV([0.01, 1], cv=5).fit(X, y)
    cold = GridSearchCV(ConvexHullRanker(), {"C": [0.01, 1]}, cv=StratifiedKFold(5)).fit(X, y)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], cold.cv_results_["mean_test_score"], atol=1e-4)
    real = np.sort(X[:, 0]) + np.arange(len(y)) * 1e-6
    folds = KFold(5, shuffle=True, random_state=0)
    ours = SwappedPairsRankerCV([1, 100]).fit(X, real).cv_results_
    theirs = GridSearchCV(SwappedPairsRanker(), {"C": [1, 100]}, cv=folds).fit(X, real).cv_results_
    np.testing.assert_allclose(ours["mean_test_score"], theirs["mean_test_score"], atol=1e-3)


def test_frames_sparse_rows_kernels_given_and_pickles(grades):
    X, y = grades
    names = np.array(["poor", "fair", "good", "best"])
    expected = FixedMarginClassifierCV([0.01, 1], estimator=EXACT, cv=FOLDS).fit(X, y)
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
    labels = pd.Series(pd.Categorical(names[y], categories=list(names), ordered=True))
    framed = FixedMarginClassifierCV([0.01, 1], estimator=EXACT, cv=FOLDS).fit(frame, labels)
    assert framed.classes_.tolist() == names.tolist()
    assert framed.feature_names_in_[0] == "x0"
    np.testing.assert_array_equal(framed.predict(frame), names[expected.predict(X)])
    sparse = FixedMarginClassifierCV([0.01, 1], estimator=EXACT, cv=FOLDS).fit(sp.csr_array(X), y)
    assert sparse.best_score_ == pytest.approx(expected.best_score_)
    given = FixedMarginClassifier(kernel="precomputed", tol=1e-9)
    gram = FixedMarginClassifierCV([0.01, 1], estimator=given, cv=FOLDS).fit(X @ X.T, y)
    assert gram.best_score_ == pytest.approx(expected.best_score_)
    again = pickle.loads(pickle.dumps(expected))
    np.testing.assert_array_equal(again.predict(X), expected.predict(X))
    assert get_scorer("accuracy_within", k=0)(expected, X, y) == pytest.approx(expected.score(X, y))


def test_progress_falls_to_zero_and_is_printed_only_on_request(grades, capsys):
    X, y = grades
    heard = []
    with listening(heard.append):
        FixedMarginClassifierCV([0.01, 1], cv=FOLDS).fit(X, y)
    assert heard[:4] == pytest.approx([0.75, 0.5, 0.25, 0])
    assert capsys.readouterr().out == ""
    FixedMarginClassifierCV([0.01, 1], cv=FOLDS, verbose=1).fit(X, y)
    assert "100% of the grid is rated" in capsys.readouterr().out


def test_bad_grids_are_named(grades):
    X, y = grades
    with pytest.raises(HullrankError, match="has no gamma"):
        FixedMarginClassifierCV([1], gammas=[1]).fit(X, y)
    with pytest.raises(HullrankError, match="no value of C"):
        FixedMarginClassifierCV([]).fit(X, y)
    with pytest.raises(ValueError, match="'C' parameter"):
        FixedMarginClassifierCV([1, -1]).fit(X, y)
    with pytest.raises(ValueError, match="'loss' parameter"):
        FixedMarginClassifierCV([1], losses=["log"]).fit(X, y)
    with pytest.raises(HullrankError, match="must be a FixedMarginClassifier"):
        FixedMarginClassifierCV([1], estimator=ConvexHullRanker()).fit(X, y)


@pytest.mark.parametrize("searching", [FixedMarginClassifierCV, ConvexHullRankerCV, SwappedPairsRankerCV])
def test_folds_without_a_row_that_counts_are_named(grades, searching):
    X, y = grades
    cv = KFold(2)
    train, test = next(cv.split(X))
    for nothing, what in ((train, "to learn from"), (test, "to rate on")):
        weights = np.ones(len(y))
        weights[nothing] = 0
        with pytest.raises(HullrankError, match=f"fold . has only rows of weight 0 {what}.*shuffle=True"):
            searching([1], cv=[(train, test)]).fit(X, y, sample_weight=weights)


def test_a_hard_margin_that_fails_is_not_chosen(grades):
    X, y = grades
    with pytest.warns(UserWarning, match="has no score in fold 0"):
        search = FixedMarginClassifierCV([1.0, np.inf], cv=FOLDS).fit(X, y)
    assert search.best_params_ == {"C": 1.0}
    assert search.cv_results_["rank_test_score"].tolist() == [1, 2]
    with pytest.warns(UserWarning, match="has no score"), pytest.raises(HullrankError, match="no point of the grid"):
        FixedMarginClassifierCV([np.inf], cv=FOLDS).fit(X, y)


def test_a_number_of_Cs_lies_around_the_scale_of_the_data(grades):
    X, y = grades
    for single, searching in ((ConvexHullRanker(), ConvexHullRankerCV), (SwappedPairsRanker(), SwappedPairsRankerCV)):
        for a in (1.0, 1000.0):
            search = searching(5, cv=2).fit(a * X, y)
            scale = type(single)().fit(a * X, y).C_
            np.testing.assert_allclose(
                [p["C"] for p in search.cv_results_["params"]], scale * np.geomspace(0.01, 100, 5)
            )
    with pytest.raises(HullrankError, match="Cs must be numbers"):
        ConvexHullRankerCV(["scale", 1.0]).fit(X, y)


@pytest.mark.parametrize(
    ("single", "searching"),
    [
        (FixedMarginClassifier(kernel="rbf"), FixedMarginClassifierCV),
        (FixedMarginClassifier(kernel="poly", coef0=1.0), FixedMarginClassifierCV),
        (ConvexHullRanker(kernel="laplacian"), ConvexHullRankerCV),
        (SwappedPairsRanker(kernel="rbf"), SwappedPairsRankerCV),
    ],
)
@pytest.mark.parametrize("container", slow_after(1, [np.asarray, sp.csr_array]))
def test_kernel_values_are_computed_once_for_all_folds(grades, single, searching, container, monkeypatch):
    rows, y = grades[0][:120], grades[1][:120]
    X = container(rows)
    weights = np.random.default_rng(1).integers(0, 3, len(y)).astype(float)
    single = single.set_params(tol=1e-8)
    grid = {"C": [0.1, 10], "gamma": [0.02, 0.1]}
    cold = np.zeros((4, 4))
    for k, (train, test) in enumerate(FOLDS.split(rows, y)):
        for i, (C, gamma) in enumerate(itertools.product(grid["C"], grid["gamma"])):
            model = clone(single).set_params(C=C, gamma=gamma).fit(X[train], y[train], sample_weight=weights[train])
            cold[i, k] = model.score(X[test], y[test], sample_weight=weights[test])
    computed = []
    monkeypatch.setattr(Gram, "whole", counted(Gram.whole, computed))
    search = searching(grid["C"], gammas=grid["gamma"], estimator=single, cv=FOLDS, complete=True)
    search.fit(X, y, sample_weight=weights)
    assert [values.shape for values in computed if len(values) == 120] == [(120, 120)] * 2
    found = np.array([search.cv_results_[f"split{k}_test_score"] for k in range(4)]).T
    np.testing.assert_allclose(found, cold, atol=1e-4)
    assert search.best_index_ == cold.mean(axis=1).argmax()


def counted(function, answers):
    def counting(*args):
        answers.append(function(*args))
        return answers[-1]

    return counting


def test_a_function_that_scores_may_ask_for_any_rows(grades):
    X, y = grades
    seen = []

    def scoring(model, held, target):
        seen.append(held)
        np.testing.assert_allclose(model.score_samples(held[:7].copy()), model.score_samples(held)[:7], atol=1e-9)
        return np.mean(model.predict(held) == target)

    estimator = FixedMarginClassifier(kernel="rbf", gamma=0.1)
    search = FixedMarginClassifierCV([1, 10], estimator=estimator, cv=FOLDS, scoring=scoring).fit(X, y)
    assert all(rows.shape == (60, X.shape[1]) for rows in seen)
    assert "gamma" not in search.best_params_


@pytest.mark.parametrize(
    ("single", "searching"), [(FixedMarginClassifier, FixedMarginClassifierCV), (ConvexHullRanker, ConvexHullRankerCV)]
)
def test_given_kernel_values_are_tested_once(grades, single, searching, monkeypatch):
    """The values between the rows of a fold are part of those between all rows."""
    X, y = grades
    sizes, test = [], kernel_factor._has_no_negative_eigenvalue
    monkeypatch.setattr(kernel_factor, "_has_no_negative_eigenvalue", lambda K: (sizes.append(len(K)), test(K))[1])
    monkeypatch.setattr(matrix_probe, "_definite", set())
    K = np.exp(-0.05 * cdist(X, X, "sqeuclidean"))
    searching([1, 10], estimator=single(kernel="precomputed"), cv=FOLDS).fit(K, y)
    assert sizes == [len(y)]
    with pytest.raises(KernelError, match="definite"):
        searching([1, 10], estimator=single(kernel="precomputed"), cv=FOLDS).fit(K - 0.5 * np.eye(len(y)), y)


def test_a_point_that_does_not_converge_says_so(grades):
    estimator = ConvexHullRanker(kernel="rbf", gamma=0.1, max_iter=1, tol=1e-12)
    with pytest.warns(ConvergenceWarning, match="tol=1e-12"):
        ConvexHullRankerCV([1000], estimator=estimator, cv=2).fit(*grades)
