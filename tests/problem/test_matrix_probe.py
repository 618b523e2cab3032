"""What a product with a random vector tells of a matrix: its symmetry, and whether it was seen before."""

import numpy as np
import pytest

from hullrank import ConvexHullRanker
from hullrank.exceptions import KernelError
from hullrank.problem.kernels import kernel_matrix
from hullrank.problem.matrix_probe import is_known_definite, looks_symmetric, product, remember_definite


def made(m=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 3))
    return kernel_matrix(X, None, "rbf", gamma=0.3), np.searchsorted([-0.5, 0.5], X[:, 0] + 0.3 * rng.normal(size=m))


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_skew_entries_are_seen_and_rounding_is_not(scale):
    K = scale * made()[0]
    assert looks_symmetric(K, product(K))
    for size in (1e-9, 1e-6, 1.0):
        skew = K.copy()
        skew[17, 150] += size * scale
        assert not looks_symmetric(skew, product(skew))


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
def test_entries_that_are_not_finite_do_not_look_symmetric(odd):
    K = made()[0]
    K[3, 5] = K[5, 3] = odd
    assert not np.isfinite(product(K)).all()
    assert not looks_symmetric(K, product(K))


def test_a_matrix_is_known_by_its_values_not_by_its_place_in_memory():
    K = made(seed=1)[0]
    assert not is_known_definite(product(K))
    remember_definite(product(K))
    assert is_known_definite(product(K.copy()))
    changed = K.copy()
    changed[5, 7] += 1e-9
    assert not is_known_definite(product(changed))


def test_a_matrix_that_was_changed_since_its_last_fit_is_tested_again():
    K, y = made()
    model = ConvexHullRanker(C=1.0, kernel="precomputed")
    model.fit(K, y).fit(K, y)
    K[np.diag_indices(len(K))] -= 0.5
    with pytest.raises(KernelError, match="not positive semi-definite"):
        model.fit(K, y)
    K[np.diag_indices(len(K))] += 0.5
    K[2, 9] += 0.1
    with pytest.raises(KernelError, match=r"not symmetric: entry \(2, 9\)"):
        model.fit(K, y)
