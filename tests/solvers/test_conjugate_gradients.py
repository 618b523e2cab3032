"""Conjugate gradients against a direct solve, and their ends."""

import numpy as np
import pytest

from hullrank.solvers._conjugate_gradients import conjugate_gradients

RNG = np.random.default_rng(0)
A = RNG.normal(size=(60, 30))
MATRIX = A.T @ A * np.outer(d := np.logspace(-3, 3, 30), d)
R = RNG.normal(size=30)


def inverse(residual):
    return residual / MATRIX.diagonal()


def unchanged(residual):
    return residual


def test_the_solution_is_that_of_a_direct_solve():
    x = conjugate_gradients(lambda v: MATRIX @ v, R, inverse, tol=1e-13)
    np.testing.assert_allclose(x, np.linalg.solve(MATRIX, R), rtol=1e-8)


@pytest.mark.parametrize("tol", [0.5, 1e-2, 1e-6])
def test_the_residual_is_as_small_as_asked_for_and_no_product_more_is_made(tol):
    products = []

    def product(v):
        products.append(v)
        return MATRIX @ v

    def length(x):
        residual = R - MATRIX @ x
        return float(residual @ inverse(residual)) ** 0.5

    x = conjugate_gradients(product, R, inverse, tol=tol)
    assert length(x) <= tol * length(0 * x) * (1 + 1e-6)
    earlier = conjugate_gradients(product, R, inverse, tol=0.0, max_iter=len(products) - 1)
    assert length(earlier) > tol * length(0 * x)


def test_nothing_is_done_where_there_is_nothing_to_solve_or_no_curvature():
    np.testing.assert_array_equal(conjugate_gradients(lambda v: MATRIX @ v, 0 * R, unchanged), 0.0)
    np.testing.assert_array_equal(conjugate_gradients(lambda v: -v, R, unchanged), 0.0)
