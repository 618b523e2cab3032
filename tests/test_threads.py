"""BLAS runs on one thread inside the context, and on as many as before outside of it; long passes get the others."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from hullrank import FixedMarginClassifier, SwappedPairsRanker
from hullrank._threads import in_threads, one_blas_thread
from hullrank.problem import all_pairs, pairs_at_scores


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


def threads_of_parts(n_parts):
    """The threads that run parts which begin only once two of them have begun, if two can."""
    meet = threading.Barrier(2)

    def part(_):
        try:
            meet.wait(0.2)
        except threading.BrokenBarrierError:
            meet.reset()
        return threading.get_ident()

    with one_blas_thread():
        return set(in_threads(part, range(n_parts)))


def test_parts_run_on_the_threads_that_blas_had_in_their_order():
    with threadpool_limits(limits=2, user_api="blas"), one_blas_thread():
        assert list(in_threads(lambda part: part**2, range(20))) == [part**2 for part in range(20)]
    with threadpool_limits(limits=2, user_api="blas"):
        assert len(threads_of_parts(2)) == 2
        assert threads_of_parts(1) == {threading.get_ident()}
    with threadpool_limits(limits=1, user_api="blas"):
        assert threads_of_parts(2) == {threading.get_ident()}


def test_a_thread_of_somebody_elses_pool_keeps_to_itself():
    with threadpool_limits(limits=2, user_api="blas"), ThreadPoolExecutor(1) as pool:
        assert len(pool.submit(threads_of_parts, 2).result()) == 1


def test_parts_know_what_the_caller_ignores_and_do_not_divide_again():
    def part(_):
        assert np.geterr()["over"] == "ignore"
        return threads_of_parts(2)

    with threadpool_limits(limits=2, user_api="blas"), one_blas_thread(), np.errstate(over="ignore"):
        assert all(len(threads) == 1 for threads in in_threads(part, range(2)))


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_in_a_part_is_raised_and_ends_those_to_come(error):
    begun = []

    def part(number):
        begun.append(number)
        if number == 0:
            raise error("inside")
        threading.Event().wait(0.01)

    with threadpool_limits(limits=2, user_api="blas"), one_blas_thread(), pytest.raises(error, match="inside"):
        list(in_threads(part, range(1000)))
    assert len(begun) < 900


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("many_ranks", [100, 1000])
def test_pairs_have_the_same_solution_on_any_number_of_threads(loss, many_ranks, monkeypatch):
    monkeypatch.setattr(pairs_at_scores, "ROWS_FOR_THREADS", 0)
    monkeypatch.setattr(all_pairs, "MANY_RANKS", many_ranks)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = X @ [1.0, 2.0, 0.0] + rng.normal(size=300)
    found = []
    for threads in (1, 2):
        with threadpool_limits(limits=threads, user_api="blas"):
            found.append(SwappedPairsRanker(loss=loss).fit(X, y).coef_)
    np.testing.assert_array_equal(*found)
