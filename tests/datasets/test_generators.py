import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from hullrank.datasets import discretize, make_conic_classes, make_ordinal, make_ratings, ratings_to_features
from hullrank.exceptions import HullrankError

targets = st.lists(st.integers(-20, 20), min_size=1, max_size=60)


@given(targets, st.integers(1, 7))
def test_grades_follow_the_target_and_never_split_equal_values(y, bins):
    y = np.array(y)
    grades = discretize(y, bins)
    above = y[:, None] > y[None, :]
    assert (grades[:, None] >= grades[None, :])[above].all()
    assert all(len(set(grades[y == value])) == 1 for value in y)
    assert set(grades) == set(range(grades.max() + 1))
    assert grades.max() < bins


@given(st.integers(1, 80), st.integers(1, 9), st.randoms())
def test_without_ties_the_grades_have_equal_frequency(m, bins, random):
    y = list(range(m))
    random.shuffle(y)
    counts = np.bincount(discretize(y, bins))
    assert counts.max() - counts.min() <= 1
    assert len(counts) == min(m, bins)


@given(targets, st.integers(1, 7))
def test_only_the_order_of_the_target_matters(y, bins):
    y = np.array(y, dtype=float)
    np.testing.assert_array_equal(discretize(y, bins), discretize(np.exp(y / 10), bins))


@pytest.mark.parametrize("y", [[1.0, np.nan], [1.0, np.inf], [[1.0], [2.0]]])
def test_discretize_refuses_bad_targets(y):
    with pytest.raises(ValueError, match=r"NaN|infinity|shape"):
        discretize(y)


def test_discretize_refuses_no_bins():
    with pytest.raises(HullrankError, match="at least one grade"):
        discretize([1, 2], bins=0)


def test_ordinal_without_noise_is_ordered_by_its_coefficients():
    X, y, coef = make_ordinal(200, 6, n_informative=3, noise=0.0, return_coef=True, random_state=1)
    scores = X @ coef
    assert np.count_nonzero(coef) == 3
    assert np.linalg.norm(coef) == pytest.approx(1.0)
    assert all(scores[y == c].max() < scores[y == c + 1].min() for c in range(4))
    np.testing.assert_array_equal(np.bincount(y), [40] * 5)


def test_saddle_without_noise_is_ordered_by_the_product():
    X, y = make_ordinal(300, 2, surface="saddle", noise=0.0, random_state=0)
    product = (X[:, 0] - 0.5) * (X[:, 1] - 0.5)
    assert all(product[y == c].max() < product[y == c + 1].min() for c in range(4))


@pytest.mark.parametrize(
    "arguments", [{"n_informative": 0}, {"n_informative": 21}, {"surface": "saddle", "return_coef": True}]
)
def test_ordinal_says_what_is_wrong(arguments):
    with pytest.raises(HullrankError, match=r"n_informative|saddle"):
        make_ordinal(**arguments)


@pytest.mark.parametrize("make", [make_ordinal, make_conic_classes])
def test_the_seed_fixes_the_data(make):
    first, again, other = (make(50, random_state=seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first[0], again[0])
    np.testing.assert_array_equal(first[1], again[1])
    assert not np.array_equal(first[0], other[0])


def test_conic_classes_are_ordered_by_radius_and_by_no_line():
    X, y = make_conic_classes(600, noise=0.05, random_state=0)
    radius = np.linalg.norm(X, axis=1)
    assert radius[y == 0].max() < radius[y == 1].min()
    assert radius[y == 1].max() < radius[y == 2].min()
    assert abs(np.corrcoef(X[:, 0], y)[0, 1]) < 0.1
    np.testing.assert_array_equal(np.bincount(y), [200] * 3)


def test_ratings_have_low_rank_levels_and_gaps():
    table = make_ratings(60, 80, density=0.3, random_state=0)
    rated = ~np.isnan(table)
    assert set(table[rated]) == {1, 2, 3, 4, 5}
    assert rated.any(axis=1).all()
    assert 0.25 < rated.mean() < 0.4
    full = make_ratings(60, 80, rank=2, density=1.0, noise=0.0, random_state=0)
    spectrum = np.linalg.svd(full - full.mean(), compute_uv=False) ** 2
    assert spectrum[:2].sum() > 0.8 * spectrum.sum()


def test_features_of_an_item_are_the_other_users_shifted_ratings():
    table = make_ratings(8, 12, density=0.6, random_state=2)
    X, y, items = ratings_to_features(table, user=3)
    assert sp.issparse(X)
    np.testing.assert_array_equal(y, table[3, items])
    np.testing.assert_array_equal(items, np.flatnonzero(~np.isnan(table[3])))
    others = np.delete(table, 3, axis=0)[:, items].T
    expected = np.where(np.isnan(others), 0.0, others - 2.5)
    np.testing.assert_array_equal(X.toarray(), expected)
    assert X.nnz == np.count_nonzero(~np.isnan(others))


def test_even_scales_are_shifted_by_their_middle():
    X, _, _ = ratings_to_features([[1, 2, 4], [1, 2, 4]], user=0)
    np.testing.assert_array_equal(X.toarray().ravel(), [-1.5, -0.5, 1.5])


def test_sparse_and_dense_tables_agree():
    table = make_ratings(8, 12, random_state=2)
    rows, columns = np.nonzero(~np.isnan(table))
    sparse = sp.coo_array((table[rows, columns], (rows, columns)), shape=table.shape)
    for dense_part, sparse_part in zip(ratings_to_features(table, -1), ratings_to_features(sparse, -1), strict=True):
        difference = dense_part - sparse_part
        assert abs(difference).max() == 0


@pytest.mark.parametrize(
    ("table", "user", "message"),
    [([[1.0, 2.0]], 5, "1 users"), ([1.0, 2.0], 0, "users x items"), ([[3.0, 3.0]], 0, "nothing to rank")],
)
def test_rating_tables_that_cannot_be_used(table, user, message):
    with pytest.raises(HullrankError, match=message):
        ratings_to_features(table, user)


def test_density_outside_the_unit_interval():
    with pytest.raises(HullrankError, match="density"):
        make_ratings(density=0.0)
