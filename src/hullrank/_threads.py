"""Threads: one for BLAS while a fit multiplies small matrices, all of them for long compiled loops.

By default BLAS starts a thread per core for every product. For the products of a solver, of tens of microseconds each,
waking threads costs more than they save, and beside other work they wait for each other. So a fit takes the threads
from BLAS and gives them to work that consists of a few compiled loops of milliseconds each, which run without Python's
lock. Whoever limits BLAS (``OMP_NUM_THREADS``, threadpoolctl, the processes of joblib) thereby limits these threads
too, and a fit that runs in a thread of somebody's pool keeps to that thread.
"""

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import cache
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

Part = TypeVar("Part")
Result = TypeVar("Result")
_spare: ContextVar[int] = ContextVar("spare", default=1)  # threads that were taken from BLAS, this one included


@cache
def _blas_libraries() -> list[Any]:
    """The BLAS libraries of this process; finding them takes milliseconds, so it is done once."""
    return list(ThreadpoolController().select(user_api="blas").lib_controllers)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread, and restore the number of threads in the end."""
    threads = [(library, library.num_threads) for library in _blas_libraries()]
    limited = [(library, number) for library, number in threads if number is not None and number > 1]
    token = None
    if limited and threading.current_thread() is threading.main_thread():
        token = _spare.set(max(number for _, number in limited))
    try:
        for library, _ in limited:
            library.set_num_threads(1)
        yield
    finally:
        for library, number in limited:
            library.set_num_threads(number)
        if token is not None:
            _spare.reset(token)


def in_threads(task: Callable[[Part], Result], parts: Iterable[Part]) -> Iterator[Result]:
    """The results of ``task(part)``, in the order of the parts, computed on the threads that were taken from BLAS.

    An exception, Ctrl-C among them, ends the parts that have not begun and waits for those that have.
    """
    parts = list(parts)
    threads = min(_spare.get(), len(parts))
    if threads <= 1:
        yield from map(task, parts)
        return

    def alone(part: Part) -> Result:
        _spare.set(1)
        return task(part)

    with ThreadPoolExecutor(threads) as pool:
        # Every part has a context of its own, which knows what the caller's does: NumPy's errstate, for one.
        waiting = [pool.submit(copy_context().run, alone, part) for part in parts]
        try:
            for future in waiting:
                yield future.result()
        finally:
            for future in waiting:
                future.cancel()
