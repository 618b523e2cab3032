"""What is known of a ranker's score in a fold before its solution is found."""

import warnings

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from hullrank import SwappedPairsRanker, SwappedPairsRankerCV
from hullrank.metrics import swapped_pairs
from hullrank.model_selection import _pair_bounds, _paths
from hullrank.model_selection._pair_bounds import PairBounds
from hullrank.model_selection._table import Table
from hullrank.problem.kernels import kernel_matrix
from hullrank.solvers.base import Options
from hullrank.solvers.solve import solve

LOSSES = ["hinge", "squared_hinge", "logistic"]
GRID = {"C": [0.1, 1.0, 10.0, 100.0, 1000.0], "gamma": [0.01, 0.1, 1.0, 10.0]}


def graded(seed, m=100, noise=0.3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 3))
    f = np.sin(X[:, 0]) + X[:, 1] + noise * rng.normal(size=m)
    return X, np.searchsorted(np.quantile(f, [0.3, 0.7]), f)


def both(X, y, loss, **given):
    folds = list(StratifiedKFold(4, shuffle=True, random_state=0).split(X, y))
    single = SwappedPairsRanker(kernel="rbf", loss=loss)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cold = GridSearchCV(single, GRID, cv=folds).fit(X, y, **given)
        ours = SwappedPairsRankerCV(GRID["C"], gammas=GRID["gamma"], estimator=single, cv=folds).fit(X, y, **given)
    return cold, ours


@pytest.mark.slow
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("C", [30.0, 3000.0])
def test_every_ball_holds_the_solution(loss, C):
    X, y = graded(0)
    statement = SwappedPairsRanker(C=C, kernel="rbf", gamma=0.3, loss=loss).state(X, y)
    best = statement.space.weights(solve(statement, Options(tol=1e-12, max_iter=2000)).point.coef)
    balls = []
    solve(statement, Options(tol=1e-9, watch=lambda centre, radius: balls.append((centre, radius))))
    assert len(balls) > 1
    for centre, radius in balls:
        assert np.linalg.norm(centre - best) <= radius * (1 + 1e-9) + 1e-9
    assert balls[-1][1] < 0.1 * balls[0][1]


def test_what_a_watch_raises_ends_the_solve():
    X, y = graded(0)
    statement = SwappedPairsRanker(C=100.0, kernel="rbf", gamma=0.3).state(X, y)

    def stop(centre, radius):
        raise LookupError

    with pytest.raises(LookupError):
        solve(statement, Options(watch=stop))


@pytest.mark.parametrize("weighted", [False, True])
def test_no_function_of_a_ball_ranks_more_pairs_right(weighted):
    rng = np.random.default_rng(1)
    X, y = graded(1, 40)
    qid = rng.integers(0, 3, 40) if weighted else None
    weights = rng.integers(0, 3, 40).astype(float) if weighted else None
    K = kernel_matrix(X, None, "rbf", gamma=0.5)
    bounds = PairBounds(y, weights, qid)
    scores = K @ rng.normal(size=40) + 2.0 * y
    exact = bounds.accuracy(scores, np.zeros(len(bounds.hi)))
    assert exact == pytest.approx(1 - swapped_pairs(y, scores, sample_weight=weights, qid=qid), abs=1e-12)
    reach = bounds.distances(K)
    np.testing.assert_allclose(
        reach, [(K[i, i] + K[j, j] - 2 * K[i, j]) ** 0.5 for i, j in zip(bounds.hi, bounds.lo, strict=True)]
    )
    for _ in range(50):
        v = rng.normal(size=40)
        moved = scores + K @ v * (rng.uniform() / (v @ K @ v) ** 0.5)
        found = 1 - swapped_pairs(y, moved, sample_weight=weights, qid=qid)
        assert found <= bounds.accuracy(scores, reach) + 1e-12


@pytest.mark.slow
def test_too_many_pairs_and_none_have_no_bounds(monkeypatch):
    X, y = graded(0)
    assert not len(PairBounds(np.ones(10)).hi)
    cold, ours = both(X, y, "hinge")
    monkeypatch.setattr(_pair_bounds, "MOST_PAIRS", 10)
    assert not len(PairBounds(y).hi)
    _, unbounded = both(X, y, "hinge")
    assert cold.best_params_ == ours.best_params_ == unbounded.best_params_
    assert ours.n_folds_run_.sum() < unbounded.n_folds_run_.sum()


@pytest.mark.slow
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", [0, 3])
def test_bounds_leave_the_choice_as_it_is(loss, seed):
    X, y = graded(seed, noise=0.3 if seed % 2 else 0.01)
    weights = None if seed < 2 else np.random.default_rng(seed).integers(1, 4, len(y)).astype(float)
    cold, ours = both(X, y, loss, **({} if weights is None else {"sample_weight": weights}))
    if weights is None:
        assert ours.best_params_ == cold.best_params_
        assert ours.best_score_ == pytest.approx(cold.best_score_, abs=1e-4)
    assert ours.n_folds_run_.min() < 4
    assert ours.n_folds_run_[ours.best_index_] == 4


def test_bounds_settle_a_table_as_scores_do():
    """Scores are known from above first, in any order; what may still win is rated in the end."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        scores = rng.integers(0, 10, (12, 5)) / 10
        table = Table.empty([{"C": k} for k in range(12)], 5, 1.0)
        for k, column in rng.permutation(np.argwhere(np.ones_like(scores))):
            bound = scores[k, column] + rng.uniform(0, 0.2)
            if table.is_hopeless(k):
                continue
            if bound < table.enough(k, column):
                table.bounds[k, column] = bound
            else:
                table.record(k, column, scores[k, column])
        while (k := table.unsettled()) is not None:
            for column in np.flatnonzero(~table.ran[k]):
                table.record(k, column, scores[k, column])
        means = scores.mean(axis=1).round(12)
        assert table.best() == means.argmax()
        assert (table.ranks() == 1).sum() == (means == means.max()).sum()


@pytest.mark.parametrize("n", [2, 5])
def test_paths_of_the_hinge_over_few_rows_are_those_of_single_fits(n):
    """No start is taken there, so that not even the last digits of a score differ."""
    rng = np.random.default_rng(n)
    X = rng.normal(size=(120, 4))
    y = np.digitize(X @ [1.0, -1.0, 0.5, 0.0] + 0.3 * rng.normal(size=120), np.linspace(-1, 1, n - 1))
    folds, prices = list(StratifiedKFold(4, shuffle=True, random_state=0).split(X, y)), [0.1, 1.0, 10.0, 1000.0]
    cold = GridSearchCV(SwappedPairsRanker(), {"C": prices}, cv=folds).fit(X, y)
    ours = SwappedPairsRankerCV(prices, cv=folds).fit(X, y)
    np.testing.assert_array_equal(ours.cv_results_["mean_test_score"], cold.cv_results_["mean_test_score"])


def test_a_start_that_led_nowhere_is_the_last(monkeypatch):
    """A path over separable rows: from a C on all solves begin from zero."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 5))
    y = np.digitize(X[:, 0], [0.0])
    given = []

    def solving(statement, options, start=None):
        found = solve(statement, options, start)
        given.append((start is not None, found.start is not None))
        return found

    monkeypatch.setattr(_paths, "solve", solving)
    folds = [(np.arange(600), np.arange(600, 700))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        SwappedPairsRankerCV(np.geomspace(1, 1e7, 15).tolist(), cv=folds).fit(X, y)
    misses = [k for k, (started, led) in enumerate(given) if started and not led]
    assert len(misses) == 1
    assert not any(started for started, _ in given[misses[0] + 1 :])
    assert any(started for started, _ in given)
