"""The rating experiment on a MovieLens-shaped table, without MovieLens."""

import numpy as np
import pytest
from sklearn.utils import Bunch

from hullrank.datasets import make_ratings
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
