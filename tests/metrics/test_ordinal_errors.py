"""Rank errors and the margin bound."""

from itertools import combinations
from math import inf, log, sqrt

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, mean_absolute_error

from hullrank.exceptions import HullrankError, LabelError, UndeclaredOrderWarning
from hullrank.metrics import accuracy_within, margin_risk_bound, mean_absolute_rank_error

GRADES = ["low", "mid", "high"]

label_pairs = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 3)), min_size=1).filter(
    lambda rows: any(weight for _, _, weight in rows)
)


@given(label_pairs)
def test_numbers_are_ranks_as_in_scikit_learn(rows):
    y, pred, weights = np.array(rows).T
    assert mean_absolute_rank_error(y, pred, sample_weight=weights) == pytest.approx(
        mean_absolute_error(y, pred, sample_weight=weights)
    )
    assert accuracy_within(y, pred, k=0, sample_weight=weights) == pytest.approx(
        accuracy_score(y, pred, sample_weight=weights)
    )
    assert accuracy_within(y, pred, k=4) == 1.0


@given(label_pairs, st.integers(0, 4))
def test_declared_classes_count_places_whatever_the_labels_are(rows, k):
    y, pred, _ = np.array(rows).T
    names = np.array(["e", "b", "d", "a", "c"])
    expected = np.mean(np.abs(y - pred) <= k)
    assert accuracy_within(names[y], names[pred], k=k, classes=names) == expected
    assert accuracy_within(10.0**y, 10.0**pred, k=k, classes=10.0 ** np.arange(5)) == expected


def test_categories_give_the_order_even_of_labels_that_do_not_occur():
    y = pd.Categorical(["low", "low"], GRADES, ordered=True)
    assert mean_absolute_rank_error(y, ["high", "low"]) == 1.0
    assert mean_absolute_rank_error(["low", "low"], pd.Series(["high", "low"], dtype=y.dtype)) == 1.0


def test_undeclared_strings_are_ranked_alphabetically_with_a_warning():
    with pytest.warns(UndeclaredOrderWarning):
        assert mean_absolute_rank_error(["low", "mid"], ["high", "mid"]) == 0.5


def test_bad_input_is_named():
    with pytest.raises(LabelError, match="'huge' is not among the classes"):
        mean_absolute_rank_error(["huge"], ["low"], classes=GRADES)
    with pytest.raises(HullrankError, match="k=-1"):
        accuracy_within([1], [1], k=-1)
    with pytest.raises(ValueError, match="inconsistent numbers"):
        mean_absolute_rank_error([1, 2], [1])


def test_margin_bound_is_the_printed_formula():
    m, n, k, dimension, eta = 30, 5000, 4, 17, 0.1  # (2 * 1 / 0.5)^2 + 1 = 17
    eps = 4 * (dimension * (log(2 * n / dimension) + 1) - log(eta / 4)) / n
    expected = m / n + eps * (k - 1) / 2 * (1 + sqrt(1 + 4 * m / (n * eps * (k - 1))))
    assert margin_risk_bound(m, n, k, margin=0.5, radius=1.0, confidence=0.9) == pytest.approx(expected, rel=1e-12)


def test_margin_bound_improves_with_margin_samples_and_few_features():
    base = {"margin": 0.1, "radius": 1.0}
    bound = margin_risk_bound(0, 10_000, 3, **base)
    assert margin_risk_bound(0, 10_000, 3, margin=0.2, radius=1.0) < bound
    assert margin_risk_bound(0, 20_000, 3, **base) < bound
    assert margin_risk_bound(0, 10_000, 3, **base, n_features=5) < bound
    assert margin_risk_bound(10, 10_000, 3, **base) > bound
    assert margin_risk_bound(0, 10_000, 4, **base) > bound
    assert margin_risk_bound(0, 300, 3, **base) == inf


def test_half_the_margin_is_what_bounds_the_dimension():
    """A regular tetrahedron is shattered with the margin at which the bound on h is 4, and not 1."""
    corners = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]) / np.sqrt(3)
    margins = []
    for size in (1, 2):
        for chosen in combinations(range(4), size):
            inside = np.isin(np.arange(4), chosen)
            normal = corners[inside].mean(axis=0) - corners[~inside].mean(axis=0)
            scores = corners @ normal / np.linalg.norm(normal)
            margins.append(scores[inside].min() - scores[~inside].max())
    margin = min(margins)
    assert int((1 / (margin / 2)) ** 2 + 1e-9) + 1 == 4
    assert int((1 / margin) ** 2) + 1 == 1


@pytest.mark.parametrize("wrong", [{"margin": 0.0}, {"radius": -1.0}, {"confidence": 1.0}, {"n_features": 0}])
def test_margin_bound_refuses_what_is_no_geometry(wrong):
    with pytest.raises(HullrankError, match="must be positive"):
        margin_risk_bound(0, 100, 3, **{"margin": 1.0, "radius": 1.0, **wrong})
    with pytest.raises(HullrankError, match="two classes"):
        margin_risk_bound(0, 100, 1, margin=1.0, radius=1.0)
