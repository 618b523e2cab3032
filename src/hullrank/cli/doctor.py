"""``hullrank doctor``: what is installed, how many threads there are, and what is cached."""

import importlib.metadata
import importlib.util
import os
import platform
import sys
from pathlib import Path
from typing import Any

import hullrank
from hullrank.cli.console import out, print_json, table

REQUIRED = (
    "numpy", "scipy", "scikit-learn", "numba", "highspy", "narwhals", "polars", "typer", "rich", "matplotlib",
)  # fmt: skip
OPTIONAL = ("onnx", "onnxruntime", "skops", "pandas", "pyarrow", "fastexcel", "networkx", "dask")
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "POLARS_MAX_THREADS")


def run_doctor(*, as_json: bool) -> None:
    """Print what a maintainer would ask for first."""
    facts = findings()
    if as_json:
        print_json(facts)
        return
    for title, values in facts.items():
        out.print(table(f"\n{title}", ("", ""), values.items()))


def findings() -> dict[str, dict[str, Any]]:
    """Versions, threads and caches."""
    from threadpoolctl import threadpool_info

    pools = {f"{pool['internal_api']} ({pool.get('version')})": pool["num_threads"] for pool in threadpool_info()}
    return {
        "hullrank": {
            "version": hullrank.__version__,
            "python": f"{platform.python_version()} ({sys.executable})",
            "platform": platform.platform(),
        },
        "required": {name: _version(name) or "missing: pip install hullrank" for name in REQUIRED},
        "optional": {name: _version(name) or "not installed" for name in OPTIONAL},
        "threads": {
            "cores": os.cpu_count(),
            **pools,
            **{name: os.environ[name] for name in _THREADS if name in os.environ},
        },
        "caches": {
            "compiled functions": compiled_functions(),
            "cache folder": os.environ.get("NUMBA_CACHE_DIR", "beside the installed files"),
            "writable": os.access(os.path.dirname(hullrank.__file__), os.W_OK),
        },
    }


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def compiled_functions() -> int:
    """How many compiled functions of this library lie in Numba's cache."""
    own = os.environ.get("NUMBA_CACHE_DIR")
    places = [Path(own)] if own else [Path(hullrank.__file__).parent, Path.home() / ".cache" / "numba"]
    return sum(1 for place in places for _ in place.rglob("*.nbc"))
