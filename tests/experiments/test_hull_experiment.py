"""Convex-hull ranking meets its rivals on equal terms: the same grid, and every pair of grades counts alike."""

import numpy as np
import pytest

from hullrank.datasets import discretize
from hullrank.experiments import hull
from hullrank.experiments.base import Cell
from hullrank.experiments.data import load_sheet, standardise


@pytest.fixture(scope="module")
def rows():
    sheet = load_sheet("diabetes")
    return *standardise(sheet.X), discretize(sheet.y, 5)


@pytest.mark.parametrize("loss", hull.LOSSES)
@pytest.mark.parametrize("method", hull.OURS)
def test_repeating_all_samples_of_a_grade_changes_nothing(rows, method, loss):
    X, y = rows
    often = np.concatenate([np.arange(len(y)), *[np.flatnonzero(y == 3)] * 2])
    coefs = []
    for index in (np.arange(len(y)), often):
        point = hull.Point(loss, 0.1 * len(y) / len(index))
        model = hull.build(method, "linear", point, y[index], X.shape[1], 1e-9)
        coefs.append(model.fit(X[index], y[index]).coef_)
    np.testing.assert_allclose(*coefs, atol=1e-4)


def test_weights_have_mean_1_and_an_interval_with_two_ends_halves_them(rows):
    y = rows[1]
    for method in hull.OURS:
        weights = hull.grade_weights(method, y)
        counts = np.bincount(y)
        totals = np.array([weights[grade] for grade in range(5)]) * counts
        assert totals.sum() == pytest.approx(len(y))
        expected = [2, 1, 1, 1, 2] if method == "proper" else [1, 1, 1, 1, 1]
        np.testing.assert_allclose(totals / totals[1], expected)
    assert all(hull.grade_weights(method, y) is None for method in hull.FREE)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_every_method_chooses_from_the_same_grid_and_rows(rows, kernel, monkeypatch):
    seen = {}

    def choose(grid, fit, X, y, loss, *, folds, seed, most):
        seen[method] = (tuple(grid), folds, seed, most)
        return hull.Point()

    monkeypatch.setattr(hull, "choose", choose)
    for method in (*hull.OURS, hull.PAIRS):
        hull._chosen(method, kernel, *rows, Cell("diabetes", 4, f"{kernel}: {method}"))
    assert len(set(seen.values())) == 1
    grid = seen[hull.PAIRS][0]
    assert {p.loss for p in grid} == set(hull.LOSSES)
    assert len(grid) == (10 if kernel == "linear" else 40)
    method = hull.FREE[0]
    hull._chosen(method, kernel, *rows, Cell("diabetes", 4, f"{kernel}: {method}"))
    assert seen[method][0] == tuple(p for p in grid if p.loss == "squared_hinge")
