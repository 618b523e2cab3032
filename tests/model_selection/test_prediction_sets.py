"""Prediction sets are neighbouring grades, nested, and contain the truth as often as promised."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils.estimator_checks import parametrize_with_checks

from hullrank import FixedMarginClassifier, OrdinalCalibrator, OrdinalPredictionSets
from hullrank.model_selection.prediction_sets import growth


@pytest.mark.slow
@parametrize_with_checks([OrdinalPredictionSets(FixedMarginClassifier(tol=1e-10), random_state=0)])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def slow_growth(p):
    """By hand: the set as a list, one class after the other."""
    held = [int(np.argmax(p))]
    needed = {held[0]: 0.0}
    while len(held) < len(p):
        below, above = min(held) - 1, max(held) + 1
        down = above == len(p) or (below >= 0 and p[below] >= p[above])
        taken = below if down else above
        needed[taken] = sum(p[k] for k in held)
        held.append(taken)
    return [needed[k] for k in range(len(p))]


def test_sets_grow_by_the_likelier_neighbour():
    P = np.random.default_rng(0).dirichlet(np.ones(5) / 2, size=300)
    np.testing.assert_allclose(growth(P), [slow_growth(p) for p in P], atol=1e-12)
    for level in (0.0, 0.3, 0.8):
        contained = growth(P) <= level
        assert contained.any(axis=1).all()
        assert (np.abs(np.diff(contained.astype(int), axis=1)).sum(axis=1) <= 2).all()


def grades(rng, n):
    X = rng.normal(size=(n, 3))
    return X, np.digitize(X @ [1.0, -1, 0.5] + rng.standard_t(3, size=n), [-1.5, -0.3, 0.5, 2])


class Overconfident(FixedMarginClassifier):
    """Probabilities that are much too sharp: coverage must not depend on them."""

    def predict_proba(self, X):
        values = 20 * self.decision_function(X)
        shares = np.exp(values - values.max(axis=1, keepdims=True))
        return shares / shares.sum(axis=1, keepdims=True)


@pytest.mark.slow
@pytest.mark.parametrize("inner", [FixedMarginClassifier(C=0.1), Overconfident(C=0.1)])
@pytest.mark.parametrize("coverage", [0.7, 0.9])
def test_coverage_holds_on_average_over_draws(inner, coverage):
    rng = np.random.default_rng(1)
    covered = []
    for seed in range(40):
        X, y = grades(rng, 200)
        model = OrdinalPredictionSets(inner, coverage=coverage, random_state=seed).fit(X, y)
        new, truth = grades(rng, 400)
        covered.append(model.predict_set(new)[np.arange(400), truth].mean())
    assert np.mean(covered) >= coverage - 2 * np.std(covered) / 40**0.5
    assert np.mean(covered) <= coverage + 0.12


def test_too_few_rows_promise_nothing_but_all_grades():
    X, y = grades(np.random.default_rng(0), 120)
    model = OrdinalPredictionSets(FixedMarginClassifier(), coverage=0.99, random_state=0).fit(X, y)
    assert model.growth_ == np.inf
    assert model.n_calibration_ == 30
    assert model.predict_set(X).all()


def test_intervals_are_the_ends_of_the_sets_in_labels():
    X, y = grades(np.random.default_rng(0), 300)
    names = np.array(["e", "d", "c", "b", "a"])
    inner = OrdinalCalibrator(FixedMarginClassifier(classes=names.tolist()), cv=3)
    model = OrdinalPredictionSets(inner, random_state=0).fit(X, names[y])
    contained, ends = model.predict_set(X), model.predict_interval(X)
    for row, (low, high) in zip(contained, ends, strict=True):
        held = names[row]
        assert (held[0], held[-1]) == (low, high)
    assert (contained[np.arange(300), [names.tolist().index(label) for label in model.predict(X)]]).all()


def test_given_kernel_values_are_those_of_the_rows_learned_from():
    X, y = grades(np.random.default_rng(5), 80)
    K = rbf_kernel(X, gamma=0.1)
    named = OrdinalPredictionSets(FixedMarginClassifier(kernel="rbf", gamma=0.1, tol=1e-9), random_state=0).fit(X, y)
    given = OrdinalPredictionSets(FixedMarginClassifier(kernel="precomputed", tol=1e-9), random_state=0).fit(K, y)
    assert given.n_features_in_ == 80
    np.testing.assert_allclose(given.score_samples(K), named.score_samples(X), atol=1e-4)
    np.testing.assert_allclose(given.predict_proba(K), named.predict_proba(X), atol=1e-4)
    assert given.growth_ == pytest.approx(named.growth_, abs=1e-4)
