"""A quick start: what scikit-learn imports for cases that the command does not have is left out, or loaded when used.

Of the time that `import sklearn` takes, two thirds go to SciPy's statistics and, where it is installed, to pandas.
scikit-learn names both in one module and uses neither for what most commands do.
"""

import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from threading import RLock
from types import ModuleType
from typing import Any

_IMPORTER = "sklearn.utils.fixes"
_USED_LATER = "scipy.stats"
_NOT_USED = "pandas"  # the command's tables are Polars frames


def start_quickly() -> None:
    """From now on, scikit-learn's own import takes less; all other imports stay as they are."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Nothing for most modules, which leaves them to the usual finders."""
        if fullname not in (_USED_LATER, _NOT_USED) or not _is_being_imported(_IMPORTER):
            return None
        if fullname == _NOT_USED:
            raise ModuleNotFoundError(f"{_NOT_USED} is not used by the hullrank command", name=fullname)
        spec = PathFinder.find_spec(fullname, path)
        if spec is not None and spec.loader is not None:
            spec.loader = _Later(spec.loader)
        return spec


def _is_being_imported(name: str) -> bool:
    return bool(getattr(getattr(sys.modules.get(name), "__spec__", None), "_initializing", False))


class _Later(Loader):
    """Leaves a module empty until one of its names is asked for."""

    def __init__(self, loader: Any) -> None:
        self.loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """An empty module."""
        return _Deferred(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing yet."""


_lock = RLock()


class _Deferred(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        with _lock:
            if type(self) is _Deferred:
                self.__class__ = ModuleType  # type: ignore[assignment]
                loader: Any = self.__loader__
                self.__loader__ = loader.loader
                loader.loader.exec_module(self)
        return getattr(self, name)
