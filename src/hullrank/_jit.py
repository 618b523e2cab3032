"""The one way to compile loops: Numba with a disk cache where the cache directory is writable.

Modules of loops (``_loops.py``) import this one, and are themselves imported only when a solver runs, so that
``import hullrank`` never loads Numba.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


def njit(**options: Any) -> Callable[[Function], Function]:
    """Compile in nopython mode without the GIL; cached on disk unless no cache directory can be written."""

    def compile_lazily(function: Function) -> Function:
        try:
            return numba.njit(cache=True, nogil=True, **options)(function)
        except RuntimeError:  # Numba's answer to "no locator available": read-only installation and home
            return numba.njit(nogil=True, **options)(function)

    return compile_lazily
