"""One thread for BLAS while a solver multiplies small matrices.

By default BLAS starts a thread per core for every product. For the products of a kernel solver, of tens of microseconds
each, waking threads costs more than they save, and beside other work they wait for each other.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


@cache
def _blas_libraries() -> list[Any]:
    """The BLAS libraries of this process; finding them takes milliseconds, so it is done once."""
    return list(ThreadpoolController().select(user_api="blas").lib_controllers)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread, and restore the number of threads in the end."""
    threads = [(library, library.num_threads) for library in _blas_libraries()]
    limited = [(library, number) for library, number in threads if number is not None and number > 1]
    try:
        for library, _ in limited:
            library.set_num_threads(1)
        yield
    finally:
        for library, number in limited:
            library.set_num_threads(number)
