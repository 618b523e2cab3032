"""The one way to compile loops: Numba with a disk cache where the cache directory is writable.

Modules of loops (``_loops.py``) import this one, and are themselves imported only when a solver runs, so that
``import hullrank`` never loads Numba.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

import numba
import numpy as np
from llvmlite import ir
from numba.core import options, types
from numba.core.caching import FunctionCache
from numba.extending import intrinsic

# Type of an index that is never negative: Numba then does not test whether it counts from the end of the array, and the
# loop can be vectorised.
place: Any = np.uint64
Function = TypeVar("Function", bound=Callable[..., Any])
# Options of loops that allocate nothing. Numba then does not count references to their arrays; the ablation of
# benchmarks/bench_kernel.py measures what this saves. The option is private: a Numba without it counts, and is right.
_NO_COUNTING = {"_nrt": False} if hasattr(options.DefaultOptions, "_nrt") else {}
UNCOUNTED: dict[str, Any] = {"error_model": "numpy", **_NO_COUNTING}
# Options of functions that only such loops call: they need no entry from Python, and become part of the loop that calls
# them, since a call passes seven numbers for each of its arrays.
INNER: dict[str, Any] = {**UNCOUNTED, "no_cpython_wrapper": True, "no_cfunc_wrapper": True, "forceinline": True}


def njit(**options: Any) -> Callable[[Function], Function]:
    """Compile in nopython mode without the GIL; cached on disk unless no cache directory can be written."""

    def compile_lazily(function: Function) -> Function:
        dispatcher = numba.njit(nogil=True, **options)(function)
        with suppress(RuntimeError):  # Numba's answer to "no locator available": read-only installation and home
            dispatcher._cache = _MendingCache(function)
        return dispatcher

    return compile_lazily


class _MendingCache(FunctionCache):
    """Numba's cache on disk, which forgets files that cannot be read, so that the function is compiled anew.

    A process that is killed, or a disk that is full, can leave index and data files cut short, and unpickling them can
    raise any exception.
    """

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled function for a signature, or None if it is not in the cache."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:
            try:
                self.flush()
            except OSError:  # the cache may be read but not written
                self.disable()
            return None


def _intrinsic(name: str, plain: Callable[..., Any], doc: str) -> Any:
    if numba.config.DISABLE_JIT:
        return plain

    def typed(_context: Any, a: Any, b: Any) -> Any:
        kind, real = (types.float32, ir.FloatType()) if a == types.float32 else (types.float64, ir.DoubleType())

        def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            function = builder.module.declare_intrinsic(name, [real], ir.FunctionType(real, [real, real]))
            return builder.call(function, arguments, fastmath=("nnan", "nsz"))

        return kind(kind, kind), build

    typed.__doc__ = doc
    return intrinsic(typed)


fmax = _intrinsic("llvm.maxnum", max, "The larger of two floats, neither NaN; a running maximum is vectorised.")
fmin = _intrinsic("llvm.minnum", min, "The smaller of two floats, neither NaN; a running minimum is vectorised.")
