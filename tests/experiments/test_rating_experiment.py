"""The rating experiment on a MovieLens-shaped table, without MovieLens."""

import numpy as np
import pytest
from sklearn.utils import Bunch

from hullrank.datasets import make_ratings, ratings_to_features
from hullrank.experiments import margins
from hullrank.experiments.base import Cell


@pytest.fixture
def movielens(monkeypatch):
    table = make_ratings(30, 500, density=0.8, random_state=0)
    table[:10, 100:] = np.nan  # users who rated too little
    user, item = np.nonzero(~np.isnan(table))
    rng = np.random.default_rng(0)
    shuffled = rng.permutation(len(user))
    data = np.column_stack([user + 1, item + 1, rng.integers(10**9, size=len(user))])[shuffled]
    target = table[user, item][shuffled]
    bunch = Bunch(data=data, target=target, feature_names=["user_id", "item_id", "timestamp"])
    monkeypatch.setattr(margins, "load_dataset", lambda name: bunch)
    margins._movielens.cache_clear()
    yield table
    margins._movielens.cache_clear()


def test_the_table_is_rebuilt_from_its_triples(movielens):
    stored = margins._movielens()
    rated = ~np.isnan(movielens)
    assert (stored.toarray()[rated] == movielens[rated]).all()
    assert stored.nnz == rated.sum()


def test_users_with_few_ratings_take_no_part(movielens):
    record = margins.run(Cell(margins.MOVIELENS, 23, f"{margins.FIXED}, 50"))
    assert record["features"] == 29
    assert 0 <= record["error"] < 1.5


def test_the_trivial_rival_is_an_items_mean_plus_the_users_offset():
    table = make_ratings(20, 60, density=0.6, random_state=1)
    X, y, items = ratings_to_features(table, 3)
    others = np.delete(table, 3, axis=0)
    means = np.nanmean(others, axis=0)[items]
    offset = (y[:20] - means[:20]).mean()
    expected = np.clip(np.rint(means[20:] + offset), y[:20].min(), y[:20].max())
    np.testing.assert_array_equal(margins.item_mean_plus_offset(X[:20], y[:20])(X[20:]), expected)
