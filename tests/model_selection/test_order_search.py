"""A search for the order of classes finds what a cold search over all orders finds, and says where nothing is known."""

import warnings
from itertools import pairwise, permutations

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from hullrank import ConvexHullRanker, OrderGraph, OrderGraphSearchCV
from hullrank.datasets import load_dataset
from hullrank.exceptions import HullrankError, LabelError, UndecidedOrderWarning
from hullrank.metrics import wmw_score
from hullrank.model_selection import _order_discovery
from hullrank.model_selection._order_variants import variants
from hullrank.model_selection._shared_solves import SharedSolves, _Solved, areas


def grades(seed, n=160, n_classes=4, noise=0.6):
    """Rows of three features, whole numbers so that scores tie, and the codes of their classes; and weights."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, size=(n, 3)).astype(float)
    value = X @ [1.0, -0.7, 0.2] + noise * rng.normal(size=n)
    codes = np.searchsorted(np.quantile(value, np.arange(1, n_classes) / n_classes), value)
    return X, codes, rng.integers(1, 4, n).astype(float)


def folds_of(X, codes, n=4):
    return list(StratifiedKFold(n).split(X, codes))


def test_images_rate_an_order_as_a_ridge_regression_of_its_places():
    X, codes, weights = grades(0)
    order = (2, 0, 3, 1)
    place = np.argsort(order)
    folds = folds_of(X, codes)
    for ridge in (1e-3, 1.0):
        solved = [_Solved(X[train], codes[train], weights[train], 4) for train, _ in folds]
        for part, (train, test) in zip(solved, folds, strict=True):
            share = weights[train] / np.bincount(codes[train], weights[train])[codes[train]] / 4
            model = Ridge(alpha=ridge * np.maximum(part.values, 0).mean()).fit(
                X[train], 2.0 * place[codes[train]], sample_weight=share
            )
            held = part.images(X[test], ridge) @ (2.0 * place - 3) / 4
            np.testing.assert_allclose(held - held.mean(), model.predict(X[test]) - model.predict(X[test]).mean())


def test_the_best_of_all_orders_is_that_of_a_cold_search():
    X, codes, weights = grades(1, noise=3.0)
    folds = folds_of(X, codes)
    solves = SharedSolves.of(X, codes, weights, folds)
    rates = {}
    for order in permutations(range(4)):
        by_fold = []
        for fold in solves.folds:
            scores = solves.scores(order, fold)
            labels = np.argsort(order)[fold.codes]
            by_fold.append(wmw_score(labels, scores, average="edges", ties="half", sample_weight=fold.weights))
        rates[order] = np.mean(by_fold)
        assert solves.rate(order) == pytest.approx(rates[order], abs=1e-12)
    found = _order_discovery.discover(solves, len(codes), 0.9, 50, np.random.RandomState(0))
    assert found.orders[0] in (best := max(rates, key=rates.get), best[::-1])
    assert len(found.orders) == 12


def test_areas_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    scores, codes, weights = rng.integers(0, 6, 50).astype(float), rng.integers(0, 3, 50), rng.uniform(0.5, 2, 50)
    pairs = areas(scores, codes, weights, 4).pairs
    for c, d in permutations(range(3), 2):
        two = (codes == c) | (codes == d)
        expected = roc_auc_score(codes[two] == d, scores[two], sample_weight=weights[two])
        assert pairs[c, d] == pytest.approx(expected)
    assert np.isnan(pairs[3]).all()


def test_an_influence_is_the_derivative_of_the_rate_in_the_weight_of_a_row():
    X, codes, weights = grades(2)
    folds = [(np.arange(len(codes)), np.arange(len(codes)))]
    solves = SharedSolves.of(X, codes, weights, folds)
    order, step = (0, 2, 1, 3), 1e-6
    influence = solves.influences(order, len(codes))
    for row in (0, 7, 33, 150):
        heavier = weights.copy()
        heavier[row] *= 1 + step
        moved = SharedSolves([solves.folds[0]._replace(weights=heavier)], 4)
        assert (moved.rate(order) - solves.rate(order)) / step == pytest.approx(influence[row], rel=1e-4, abs=1e-9)


@pytest.mark.slow
def test_local_search_finds_the_best_of_all_orders(monkeypatch):
    for seed in range(4):
        X, codes, weights = grades(seed, n=300, n_classes=6, noise=1.0)
        folds = folds_of(X, codes)
        exact, local = (SharedSolves.of(X, codes, weights, folds) for _ in range(2))
        rng = np.random.RandomState(0)
        best = _order_discovery.discover(exact, len(codes), 0.9, 20, rng).orders[0]
        with monkeypatch.context() as patch:
            patch.setattr(_order_discovery, "EXACT_CLASSES", 1)
            climbed = _order_discovery.discover(local, len(codes), 0.9, 20, rng).orders[0]
        assert climbed == best
        assert len(local.rates) < len(exact.rates)


ORDINAL = ("ord_car", "ord_ESL", "ord_LEV", "ord_SWD", "ord_toy", "ord_winequality_red", "ord_ERA")


def shuffled(name, seed=0):
    """Standardised rows of an ordinal set, grades under names whose order says nothing, and the names in order."""
    found = load_dataset(name)
    X = StandardScaler().fit_transform(np.asarray(found.data, dtype=float))
    y = np.unique(np.asarray(found.target), return_inverse=True)[1]
    names = np.random.default_rng(seed).permutation([f"grade {c}" for c in "abcdefghi"[: y.max() + 1]])
    return X, names[y], names.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("name", ORDINAL)
def test_shuffled_grades_are_put_in_order_where_neighbours_can_be_told_apart(name, kernel):
    X, y, names = shuffled(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndecidedOrderWarning)
        search = OrderGraphSearchCV(ConvexHullRanker(kernel=kernel)).fit(X, y)
    place = {label: k for k, label in enumerate(search.classes_.tolist())}
    told = [search.separability_[place[lo], place[hi]] for lo, hi in pairwise(names)]
    if min(told) > 0.7:
        assert search.order_ in (OrderGraph.chain(names), OrderGraph.chain(names[::-1]))
    else:  # what is decided is right, and not everything is
        ranks = {label: k for k, label in enumerate(names)}
        agree = [ranks[lo] < ranks[hi] for lo, hi in search.order_.closure().edges]
        assert all(agree) or not any(agree)
        assert bool(search.undecided_) or min(told) > 0.6


def test_classes_that_are_alike_stay_incomparable():
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(4), 80)
    X = rng.normal(size=(320, 3))
    X[:, 0] += 2.0 * np.array([0, 1, 1, 2])[codes]
    y = np.array(["low", "left", "right", "top"])[codes]
    with pytest.warns(UndecidedOrderWarning, match="do not decide the order of 'left' and 'right'|'right' and 'left'"):
        search = OrderGraphSearchCV().fit(X, y)
    assert set(map(frozenset, search.undecided_)) == {frozenset({"left", "right"})}
    assert search.order_.n_edges == 4
    assert not search.order_.is_total
    assert search.best_estimator_.order_ == search.order_
    assert search.score(X, y) > 0.85
    assert 0.1 < search.relations_[1, 2] < 0.9
    assert search.relations_[0, 3] > 0.99


@pytest.mark.slow
def test_noise_has_no_order():
    decided = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndecidedOrderWarning)
            search = OrderGraphSearchCV(n_resamples=300).fit(rng.normal(size=(120, 4)), np.arange(120) % 4)
        decided += search.order_.n_edges > 0
    assert decided <= 4  # one in ten is expected at most
    with pytest.warns(UndecidedOrderWarning, match="decide nothing"):
        OrderGraphSearchCV(n_resamples=300).fit(np.random.default_rng(0).normal(size=(120, 4)), np.arange(120) % 4)


def test_labels_and_weights_do_not_matter_beyond_what_they_say():
    X, codes, _ = grades(5, n=200)
    found = OrderGraphSearchCV().fit(X, codes)
    assert found.classes_.tolist() == [0, 1, 2, 3]  # the direction is that of the labels
    named = OrderGraphSearchCV().fit(X, np.array(list("dbca"))[codes])
    assert named.best_score_ == pytest.approx(found.best_score_)
    assert named.classes_.tolist() in (list("dbca"), list("acbd"))
    weighted = OrderGraphSearchCV(cv=folds_of(X, codes)).fit(X, codes, sample_weight=np.full(200, 3.0))
    assert weighted.best_score_ == pytest.approx(OrderGraphSearchCV(cv=folds_of(X, codes)).fit(X, codes).best_score_)


def test_a_given_order_is_stated_as_a_cold_search_would():
    X, codes, _ = grades(3, noise=2.0)
    y, folds = codes + 1, folds_of(X, codes)
    search = OrderGraphSearchCV(ConvexHullRanker(C=0.1), order="chain", cv=folds).fit(X, y)

    def rate(model, X, y):
        return wmw_score(y, model.score_samples(X), order="full")

    tried = variants(OrderGraph.chain([1, 2, 3, 4]))
    grid = [{"order": [each.graph], "slack": [each.slack]} for each in tried]
    cold = GridSearchCV(ConvexHullRanker(C=0.1), grid, scoring=rate, cv=folds).fit(X, y)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], cold.cv_results_["mean_test_score"], atol=1e-12)
    means = cold.cv_results_["mean_test_score"]
    error = np.std([cold.cv_results_[f"split{k}_test_score"][means.argmax()] for k in range(4)], ddof=1) / 2
    near = [k for k in range(len(tried)) if means[k] >= means.max() - error]
    assert search.best_index_ == min(near, key=lambda k: tried[k].n_thresholds)
    assert search.best_estimator_.get_params()["order"] == tried[search.best_index_].graph
    assert search.best_estimator_.certificate_.relative_gap <= 1e-6


def test_variants_of_an_order():
    names = {each.name: each for each in variants(OrderGraph.chain("abcd"))}
    assert list(names) == [
        "chain, slack per sample", "chain", "skipped", "full", "merged a, b", "merged b, c", "merged c, d",
    ]  # fmt: skip
    assert [names[n].n_thresholds for n in ("chain, slack per sample", "chain", "skipped", "full")] == [6, 3, 5, 6]
    assert set(names["merged b, c"].graph.edges) == {("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")}
    assert set(names["skipped"].graph.edges) == {("a", "b"), ("b", "c"), ("c", "d"), ("a", "c"), ("b", "d")}
    partial = {each.name: each.graph for each in variants(OrderGraph.parse("a < b < d; a < c < d"))}
    assert partial["full"].n_edges == 5
    assert list(variants(OrderGraph.chain("ab"))) == list(variants(OrderGraph.chain("ab")))[:2]


def test_errors_say_what_to_do():
    X, codes, _ = grades(0)
    with pytest.raises(HullrankError, match="must be a ConvexHullRanker"):
        OrderGraphSearchCV(Ridge()).fit(X, codes)
    with pytest.raises(LabelError, match="needs two of every class"):
        OrderGraphSearchCV(cv=2).fit(X[:7], [0, 0, 0, 1, 1, 1, 2])
    with pytest.raises(LabelError, match="no edges"):
        OrderGraphSearchCV(order=OrderGraph.from_edges([], labels=[0, 1, 2, 3])).fit(X, codes)
    with pytest.raises(HullrankError, match="no row of class"):
        OrderGraphSearchCV(order="chain", cv=[(np.flatnonzero(codes < 3), np.flatnonzero(codes == 3))]).fit(X, codes)


@pytest.mark.slow
@parametrize_with_checks([OrderGraphSearchCV(n_resamples=10, cv=2), OrderGraphSearchCV(order="chain", cv=2)])
@pytest.mark.filterwarnings("ignore::hullrank.exceptions.UndecidedOrderWarning")
@pytest.mark.filterwarnings("ignore::hullrank.exceptions.UndeclaredOrderWarning")
def test_estimator_follows_scikit_learn(estimator, check):
    check(estimator)
