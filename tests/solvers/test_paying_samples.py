"""Systems over the samples that pay are those of a fresh factor, however the samples change."""

import numpy as np
import pytest

from hullrank.solvers._paying_samples import PayingSamples


def kernel(n, seed):
    X = np.random.default_rng(seed).normal(size=(n, 3))
    return np.exp(-0.3 * ((X[:, None] - X[None]) ** 2).sum(axis=2))


def directly(K, D, right):
    x, some = np.zeros_like(right), np.flatnonzero(D)
    x[some] = np.linalg.solve(K[np.ix_(some, some)] + np.diag(1 / D[some]), right[some])
    return x


@pytest.mark.parametrize("share", [0.0, 0.02, 0.08, 0.5])
def test_changes_of_every_kind(share):
    """Samples leave, come back, weigh more and less, and come anew."""
    rng, n = np.random.default_rng(7), 100
    K, D = kernel(n, 0), np.where(rng.random(n) < 0.7, 20.0, 0.0)
    paying, right = PayingSamples(K), rng.normal(size=(n, 3))
    for _ in range(12):
        np.testing.assert_allclose(paying.solve(D, right), directly(K, D, right), rtol=1e-9, atol=1e-9)
        moved = rng.random(n) < share
        D = np.where(moved, rng.choice([0.0, 10.0, 20.0, 40.0], n), D)


def test_one_factor_serves_few_changes():
    K, D, right = kernel(60, 1), np.full(60, 5.0), np.ones((60, 1))
    paying = PayingSamples(K)
    paying.solve(D, right)
    factor = paying._L
    D[:4] = 0.0
    paying.solve(D, right)
    assert paying._L is factor
    D[:30] = 0.0
    paying.solve(D, right)
    assert paying._L is not factor


def test_a_matrix_that_is_not_definite_has_no_factor_and_the_next_one_starts_afresh():
    K, right = -np.eye(5), np.ones((5, 1))
    paying = PayingSamples(K)
    assert paying.solve(np.full(5, 2.0), right) is None
    np.testing.assert_allclose(paying.solve(np.full(5, 0.5), right), right)
