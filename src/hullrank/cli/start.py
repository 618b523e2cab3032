"""A quick start: what libraries import for cases that the command does not have is left out, or loaded when used.

Two thirds of the time that `import sklearn` takes go to parts of SciPy, and to pandas where it is installed, that
scikit-learn names at the head of its modules and that most commands never use.
"""

import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from threading import RLock
from types import ModuleType
from typing import Any

# SciPy's copy of NumPy's names: until SciPy 1.17, and since.
_NUMPY_AGAIN = ("scipy._lib.array_api_compat.numpy", "scipy._external.array_api_compat.numpy")
# Modules, and those whose import of them can wait until they are used.
_USED_LATER = {
    "scipy.stats": ("sklearn.utils.fixes",),
    "scipy.optimize": ("sklearn.utils.fixes",),  # scikit-learn 1.7
    "scipy.interpolate": ("sklearn.preprocessing._polynomial",),
    "scipy.special": ("sklearn.utils._array_api", "sklearn.preprocessing._data", "sklearn.preprocessing._polynomial"),
    "scipy.sparse.linalg": ("sklearn.utils.fixes", "sklearn.utils.sparsefuncs"),
    "numpy.f2py": _NUMPY_AGAIN,
    "numpy.testing": _NUMPY_AGAIN,
    "asyncio": ("joblib.memory",),
}
_NOT_USED = {"pandas": ("sklearn.utils.fixes",)}  # the command's tables are Polars frames


def start_quickly() -> None:
    """From now on, scikit-learn's own import takes less; all other imports stay as they are."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Nothing for most modules, which leaves them to the usual finders."""
        if _is_being_imported(*_NOT_USED.get(fullname, ())):
            raise ModuleNotFoundError(f"{fullname} is not used by the hullrank command", name=fullname)
        if not _is_being_imported(*_USED_LATER.get(fullname, ())):
            return None
        spec = PathFinder.find_spec(fullname, path)
        if spec is not None and spec.loader is not None:
            spec.loader = _Later(spec.loader)
        return spec


def _is_being_imported(*names: str) -> bool:
    specs = (getattr(sys.modules.get(name), "__spec__", None) for name in names)
    return any(getattr(spec, "_initializing", False) for spec in specs)


class _Later(Loader):
    """Leaves a module empty until one of its names is used."""

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
        if _head_that_asks() in _USED_LATER[self.__name__]:
            return _Name(self, name)
        with _lock:
            if type(self) is _Deferred:
                self.__class__ = ModuleType  # type: ignore[assignment]
                loader: Any = self.__loader__
                self.__loader__ = loader.loader
                loader.loader.exec_module(self)
        return getattr(self, name)


def _head_that_asks() -> str | None:
    """The module that asks for an attribute by `from ... import ...` outside of its functions, if one does."""
    frame = sys._getframe(2)
    while frame.f_back is not None and frame.f_globals.get("__name__") == "importlib._bootstrap":
        frame = frame.f_back
    return frame.f_globals.get("__name__") if frame.f_code.co_name == "<module>" else None


class _Name:
    """A function or class of a deferred module, which is loaded when it is called or asked for an attribute."""

    def __init__(self, module: ModuleType, name: str) -> None:
        self._module, self._name = module, name

    def __call__(self, *args: Any, **options: Any) -> Any:
        return getattr(self._module, self._name)(*args, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(getattr(self._module, self._name), name)
