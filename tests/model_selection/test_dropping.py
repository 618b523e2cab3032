"""Points that cannot win any more are dropped, the choice stays that of a cold GridSearchCV, and the table says so."""

import warnings

import numpy as np
import pytest
from sklearn.metrics import make_scorer, mean_absolute_error
from sklearn.model_selection import GridSearchCV, GroupKFold, StratifiedKFold

from hullrank import (
    ConvexHullRanker,
    ConvexHullRankerCV,
    FixedMarginClassifier,
    FixedMarginClassifierCV,
    SwappedPairsRanker,
    SwappedPairsRankerCV,
)
from hullrank.metrics import get_scorer
from hullrank.model_selection import _grid
from hullrank.model_selection._scoring import Scorer
from hullrank.model_selection._table import Table
from hullrank.plots import PathDisplay

GRID = {"C": [0.01, 1.0, 100.0], "gamma": [0.01, 0.3, 30.0]}


def graded(seed, m=120):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 3))
    f = np.sin(X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=m)
    return X, np.searchsorted(np.quantile(f, [0.3, 0.7]), f)


def searched(single, searching, X, y, scoring=None, grid=GRID, losses=None, **options):
    folds = StratifiedKFold(4, shuffle=True, random_state=1)
    search = searching(
        grid["C"], gammas=grid["gamma"], losses=losses, estimator=single, cv=folds, scoring=scoring, **options
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return search.fit(X, y)


def cold_search(single, X, y, scoring=None, grid=GRID, losses=None, cv=None, **given):
    folds = cv or StratifiedKFold(4, shuffle=True, random_state=1)
    grid = grid if losses is None else {**grid, "loss": losses}
    if isinstance(scoring, str) and scoring in ("wmw", "swapped_pairs", "mean_absolute_rank_error"):
        scoring = get_scorer(scoring)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return GridSearchCV(single, grid, cv=folds, scoring=scoring).fit(X, y, **given)


def check_equal_choice(warm, cold):
    """The choice, and every fold that was rated; what was dropped is NaN and could not have won."""
    assert warm.best_params_ == cold.best_params_
    assert warm.best_index_ == cold.best_index_
    assert warm.best_score_ == pytest.approx(cold.best_score_, abs=1e-6)
    n = warm.n_splits_
    ours = np.array([warm.cv_results_[f"split{k}_test_score"] for k in range(n)]).T
    theirs = np.array([cold.cv_results_[f"split{k}_test_score"] for k in range(n)]).T
    np.testing.assert_array_equal(np.isfinite(ours).sum(axis=1), warm.n_folds_run_)
    np.testing.assert_allclose(ours[np.isfinite(ours)], theirs[np.isfinite(ours)], atol=1e-6)
    dropped = warm.n_folds_run_ < n
    assert np.isnan(warm.cv_results_["mean_test_score"][dropped]).all()
    assert np.isnan(warm.cv_results_["std_test_score"][dropped]).all()
    assert (cold.cv_results_["mean_test_score"][dropped] < cold.best_score_).all()
    ranks = warm.cv_results_["rank_test_score"]
    assert (ranks[dropped] == (~dropped).sum() + 1).all()
    assert (ranks == 1).sum() == (cold.cv_results_["rank_test_score"] == 1).sum()
    assert (warm.cv_results_["mean_fit_time"] > 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("Cs", [[0.01, 1.0, 100.0], [100.0, 1.0, 0.01, 1.0, 100.0]], ids=["plain", "ties"])
def test_the_choice_is_that_of_a_cold_search(seed, Cs):
    X, y = graded(seed)
    grid = {**GRID, "C": Cs}
    if seed % 2:
        single, searching = FixedMarginClassifier(kernel="rbf", tol=1e-9), FixedMarginClassifierCV
        scoring = (None, "accuracy", "mean_absolute_rank_error")[seed % 3]
    else:
        single, searching = ConvexHullRanker(kernel="rbf", tol=1e-9), ConvexHullRankerCV
        scoring = (None, "swapped_pairs", "wmw")[seed % 3]
    losses = ["squared_hinge", "hinge"] if seed % 4 == 1 else None
    warm = searched(single, searching, X, y, scoring, grid, losses)
    check_equal_choice(warm, cold_search(single, X, y, scoring, grid, losses))


def test_hopeless_points_are_dropped_and_said_to_be():
    X, y = graded(0)
    single = ConvexHullRanker(kernel="rbf", tol=1e-9)
    warm = searched(single, ConvexHullRankerCV, X, y)
    assert warm.n_folds_run_.min() < 4
    check_equal_choice(warm, cold_search(single, X, y))
    whole = searched(single, ConvexHullRankerCV, X, y, complete=True)
    assert (whole.n_folds_run_ == 4).all()
    assert np.isfinite(whole.cv_results_["mean_test_score"]).all()
    assert whole.best_params_ == warm.best_params_


def test_groups_stay_whole():
    X, y = graded(5)
    groups = np.arange(len(y)) % 10
    single = FixedMarginClassifier(kernel="rbf", tol=1e-9)
    search = FixedMarginClassifierCV(GRID["C"], gammas=GRID["gamma"], estimator=single, cv=4).fit(X, y, groups=groups)
    assert search.n_folds_run_.min() < 4
    check_equal_choice(search, cold_search(single, X, y, cv=GroupKFold(4), groups=groups))


def test_queries_stay_whole():
    X, y = graded(6, m=80)
    qid = np.repeat(np.arange(10), 8)
    single = SwappedPairsRanker(kernel="rbf", loss="squared_hinge", tol=1e-9)
    searches = [
        SwappedPairsRankerCV([1.0, 100.0], gammas=GRID["gamma"], estimator=single, cv=5, complete=complete)
        for complete in (False, True)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        some, whole = (search.fit(X, y, qid=qid) for search in searches)
    assert some.best_index_ == whole.best_index_
    assert some.n_folds_run_.sum() < whole.n_folds_run_.sum() == 30


def test_nothing_is_dropped_without_a_largest_score_or_for_one_standard_error():
    X, y = graded(0)
    single = FixedMarginClassifier(kernel="rbf")
    assert searched(single, FixedMarginClassifierCV, X, y).n_folds_run_.min() < 4
    error = make_scorer(mean_absolute_error, greater_is_better=False)
    for options in (
        {"scoring": error},
        {"scoring": lambda model, X, y: 10 * model.score(X, y)},
        {"one_standard_error": True},
    ):
        assert (searched(single, FixedMarginClassifierCV, X, y, **options).n_folds_run_ == 4).all()


@pytest.mark.parametrize(
    ("scoring", "most"),
    [
        (None, 1.0),
        ("accuracy", 1.0),
        ("balanced_accuracy", 1.0),
        ("f1_macro", 1.0),
        ("neg_mean_absolute_error", 0.0),
        ("mean_absolute_rank_error", 0.0),
        ("accuracy_within", 1.0),
        ("rank_statistic", np.inf),
        (get_scorer("wmw", average="sum"), np.inf),
        (make_scorer(mean_absolute_error, greater_is_better=False), np.inf),
    ],
)
def test_the_largest_score(scoring, most):
    assert Scorer(scoring, FixedMarginClassifier()).most == most


class Generous(FixedMarginClassifier):
    """Its score is a number of rows."""

    def score(self, X, y, sample_weight=None):
        return float(np.sum(self.predict(X) == y))


def test_a_score_of_its_own_has_no_largest_value():
    assert Scorer(None, Generous()).most == np.inf
    X, y = graded(0)
    assert (searched(Generous(kernel="rbf"), FixedMarginClassifierCV, X, y).n_folds_run_ == 4).all()


def test_points_that_fail_do_not_lead():
    """A hard margin has no score in some folds, so that it neither wins nor drops others."""
    X, y = graded(0)
    X = X.round()  # equal rows of different grades
    single = FixedMarginClassifier(kernel="rbf")
    search = FixedMarginClassifierCV([1.0, np.inf], gammas=[0.01, 30.0], estimator=single, cv=4)
    with pytest.warns(UserWarning, match="has no score in fold"):
        search.fit(X, y)
    plain = FixedMarginClassifierCV([1.0, np.inf], gammas=[0.01, 30.0], estimator=single, cv=4, complete=True)
    with pytest.warns(UserWarning, match="has no score in fold"):
        plain.fit(X, y)
    assert search.best_params_ == plain.best_params_


@pytest.mark.parametrize("seed", range(20))
def test_a_table_drops_only_what_a_full_table_would_not_choose(seed):
    """Folds come in any order, scores tie often, some are missing."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 4, (12, 5)) / 3.0
    scores[rng.random((12, 5)) < 0.05] = np.nan
    table = Table.empty([{"C": k} for k in range(12)], 5, 1.0)
    for k, column in rng.permutation(np.argwhere(np.ones_like(scores))):
        if not table.is_hopeless(k):
            table.record(k, column, scores[k, column])
    whole = Table.empty([{"C": k} for k in range(12)], 5)
    for k, column in np.argwhere(np.ones_like(scores)):
        whole.record(k, column, scores[k, column])
    assert whole.ran.all()
    assert not any(whole.is_hopeless(k) for k in range(12))
    assert table.best() == whole.best()
    assert (table.ranks() == 1).sum() == (whole.ranks() == 1).sum()


def test_the_order_of_blocks():
    """All kernels in the first fold, then the best of them in all others."""
    table = Table.empty([{"C": 1, "gamma": k} for k in range(3)], 3, 1.0)
    found = []
    for number, column in _grid._blocks(table, [[[0]], [[1]], [[2]]], together=True):
        found.append((number, column))
        table.scores[number, column] = [0.2, np.nan, 0.7][number]
    assert found == [(0, 0), (1, 0), (2, 0), (2, 1), (2, 2), (0, 1), (0, 2), (1, 1), (1, 2)]
    assert list(_grid._blocks(table, [[[0]], [[1]]], together=False)) == [
        (0, 0),
        (0, 1),
        (0, 2),
        (1, 0),
        (1, 1),
        (1, 2),
    ]


def test_the_leaders_worst_folds_come_first():
    table = Table.empty([{"C": 1, "gamma": k} for k in range(2)], 4, 1.0)
    assert table.hardest_first(range(1, 4)) == [1, 2, 3]
    found = []
    for number, column in _grid._blocks(table, [[[0]], [[1]]], together=True):
        found.append((number, column))
        table.record(number, column, [[0.5, 0.1, 0.1, 0.1], [0.9, 0.7, 0.9, 0.6]][number][column])
    assert found == [(0, 0), (1, 0), (1, 1), (1, 2), (1, 3), (0, 3), (0, 1), (0, 2)]


def test_many_kernel_values_are_not_kept_together(monkeypatch):
    X, y = graded(0)
    single = ConvexHullRanker(kernel="rbf", tol=1e-9)
    usual = searched(single, ConvexHullRankerCV, X, y)
    monkeypatch.setattr(_grid, "_MOST_SHARED", 150)
    frugal = searched(single, ConvexHullRankerCV, X, y)
    monkeypatch.setattr(_grid, "_MOST_SHARED", 50)
    alone = searched(single, ConvexHullRankerCV, X, y)
    assert usual.best_index_ == frugal.best_index_ == alone.best_index_
    assert usual.best_score_ == pytest.approx(alone.best_score_)


def test_paths_show_dropped_points_apart():
    X, y = graded(0)
    search = searched(ConvexHullRanker(kernel="rbf"), ConvexHullRankerCV, X, y)
    display = PathDisplay.from_estimator(search)
    complete = sum(len(path) for path in display.paths.values())
    stopped = sum(len(path) for path in display.stopped.values())
    assert complete == (search.n_folds_run_ == 4).sum()
    assert stopped == (search.n_folds_run_ < 4).sum() > 0
    assert all(np.isfinite(path).all() for path in [*display.paths.values(), *display.stopped.values()])
