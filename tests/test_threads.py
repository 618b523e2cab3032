"""BLAS runs on one thread inside the context, and on as many as before outside of it."""

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from hullrank import FixedMarginClassifier
from hullrank._threads import one_blas_thread


def blas_threads():
    return [library["num_threads"] for library in ThreadpoolController().select(user_api="blas").info()]


def test_one_thread_inside_and_the_old_number_outside():
    with threadpool_limits(limits=2, user_api="blas"):
        before = blas_threads()
        with one_blas_thread():
            assert set(blas_threads()) <= {1}
        assert blas_threads() == before


def test_threads_come_back_after_an_error():
    with threadpool_limits(limits=2, user_api="blas"):
        before = blas_threads()
        with pytest.raises(ValueError, match="inside"), one_blas_thread():
            raise ValueError("inside")
        assert blas_threads() == before


def test_it_nests():
    with threadpool_limits(limits=2, user_api="blas"):
        before = blas_threads()
        with one_blas_thread():
            with one_blas_thread():
                pass
            assert set(blas_threads()) <= {1}
        assert blas_threads() == before


class Watching(FixedMarginClassifier):
    """Notes the threads of BLAS in the midst of a fit."""

    def _problem(self, order, samples, space):
        self.seen = blas_threads()
        return super()._problem(order, samples, space)


@pytest.mark.parametrize("options", [{}, {"kernel": "rbf"}, {"kernel": "rbf", "approximation": 5}])
def test_a_fit_runs_on_one_thread_and_leaves_the_number_as_it_was(options):
    X = np.random.default_rng(0).normal(size=(30, 2))
    with threadpool_limits(limits=2, user_api="blas"):
        before = blas_threads()
        model = Watching(**options).fit(X, X[:, 0] > 0)
        assert set(model.seen) <= {1}
        assert blas_threads() == before
