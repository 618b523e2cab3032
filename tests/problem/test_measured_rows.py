"""Sparse rows far from 0 are moved near it, and stay sparse; problems on them are solved as if they were dense."""

import numpy as np
import pytest
import scipy.sparse as sp

from hullrank import ConvexHullRanker, NuMarginClassifier, SumOfMarginsClassifier, SwappedPairsRanker
from hullrank.problem.measured_rows import centred_rows


def far_rows(m=60, distance=1e5, seed=0):
    """Rows of two full columns far from 0 and three sparse ones, and their classes."""
    rng = np.random.default_rng(seed)
    X = np.hstack([rng.normal(size=(m, 2)), rng.normal(size=(m, 3)) * (rng.random((m, 3)) < 0.3)])
    signal = X @ [1.0, 2.0, 1.0, -1.0, 0.5] + rng.normal(size=m)
    X[:, :2] += [distance, -2 * distance]
    return X, np.digitize(signal, [-1.0, 1.0])


def view_of(X):
    return centred_rows(sp.csr_array(X), np.arange(len(X)), np.ones(len(X)))


def test_only_full_columns_lose_their_means():
    X, _ = far_rows()
    view = view_of(X)
    assert view.is_sparse
    assert view.X.nnz == np.count_nonzero(X)
    np.testing.assert_allclose(view.origin, [X[:, 0].mean(), X[:, 1].mean(), 0, 0, 0])
    np.testing.assert_allclose(view.X.toarray(), X - view.origin, atol=1e-9)
    np.testing.assert_allclose(view.spread, np.sqrt(((X - view.origin) ** 2).sum(axis=1).mean()))


def test_rows_near_zero_equal_rows_and_repeated_entries_stay_as_they_are():
    near = far_rows(distance=10.0)[0]
    assert view_of(near).origin is None
    assert view_of(np.full((5, 2), 1e6 / 3)).origin is None
    twice = sp.csr_array((np.full(4, 1e6), [0, 0, 0, 0], [0, 2, 3, 4, 4]), shape=(4, 1))
    assert centred_rows(twice, np.arange(4), np.ones(4)).origin is None  # as many entries as rows, but one row has none


@pytest.mark.parametrize(
    "model",
    [
        SumOfMarginsClassifier(),
        NuMarginClassifier(),
        ConvexHullRanker(C=1.0, loss="hinge"),
        ConvexHullRanker(C=0.1, loss="squared_hinge"),
        SwappedPairsRanker(C=100.0, loss="hinge"),
        SwappedPairsRanker(C=100.0, loss="squared_hinge"),
    ],
    ids=lambda model: f"{type(model).__name__} {getattr(model, 'loss', '')}",
)
def test_sparse_rows_far_from_zero_are_ranked_as_dense_ones(model):
    X, y = far_rows()
    dense = model.fit(X, y).certificate_
    sparse = model.fit(sp.csr_array(X), y).certificate_
    assert dense.status == sparse.status == "converged"
    assert sparse.primal == pytest.approx(dense.primal, rel=3e-6)
