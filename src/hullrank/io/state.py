"""Fitted estimators as plain trees (JSON) and arrays, and back, without running anything that the tree names.

A tree is made of JSON values; what JSON does not know is an object with the key ``$``:

    {"$": "array", "n": 3}                        the array number 3
    {"$": "scalar", "n": 3}                       its only element, as a NumPy scalar
    {"$": "objects", "items": [...]}              a one-dimensional array of Python values
    {"$": "sparse", "kind": "csr_matrix", ...}    a sparse matrix of arrays
    {"$": "float", "value": "inf"}                a float that is not finite
    {"$": "date", "value": "2024-12-31"}          a date, or (with a T) a date with its time, as ISO 8601 writes it
    {"$": "dates", "unit": "D", "n": 3}           an array of dates, in units since 1970
    {"$": "tuple", "items": [...]}  {"$": "dict", "items": [[key, value], ...]}
    {"$": "order", "labels": [...], "edges": ...} an OrderGraph
    {"$": "record", "class": ..., "fields": ...}  a certificate, or another record of this library
    {"$": "estimator", "class": ..., "params": {...}, "state": {...}}

Only the classes of a fixed list are ever made, through their constructors, and attributes only get names that the
class does not use itself.
"""

import math
import re
from collections.abc import Callable
from datetime import date, datetime
from enum import Enum
from importlib import import_module
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

import hullrank
from hullrank.exceptions import ModelFileError
from hullrank.order import OrderGraph

_FOREIGN = {"Pipeline": Pipeline, "StandardScaler": StandardScaler}
_RECORDS = {
    "Certificate": "hullrank.problem.certificate",
    "Status": "hullrank.problem.certificate",
    "ExactCertificate": "hullrank.problem.exact_certificate",
    "RankStatistic": "hullrank.problem.statistics",
    "ScoreTable": "hullrank.problem.score_table",
    "LinearState": "hullrank.baselines._perceptron",
    "KernelState": "hullrank.baselines._perceptron",
    "LinearMap": "hullrank.problem.laplacian",
    "KernelMap": "hullrank.problem.laplacian",
}
_RETIRED = {"Certificate": {"scope"}}  # fields that older files still hold
_ONLY_FOR_REFITTING = ("_warm",)
_UNITS = ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns")
_SPARSE = ("csr_matrix", "csc_matrix", "csr_array", "csc_array")
_ATTRIBUTE = re.compile(r"_?[A-Za-z][A-Za-z0-9_]{0,80}\Z", re.ASCII)


class Writer:
    """Turns values into trees; the arrays they refer to collect in ``arrays``."""

    def __init__(self) -> None:
        self.arrays: list[NDArray[Any]] = []

    def encode(self, value: Any, where: str = "model") -> Any:
        """The tree of a value; ``where`` is its place, for messages."""
        if value is None or isinstance(value, bool | str) or (isinstance(value, int) and not isinstance(value, Enum)):
            return str(value) if isinstance(value, np.str_) else value
        if isinstance(value, np.generic):
            return {"$": "scalar", "n": self._keep(np.asarray(value))}
        if isinstance(value, float):
            return value if math.isfinite(value) else {"$": "float", "value": str(value)}
        if type(value) in (date, datetime):
            return {"$": "date", "value": value.isoformat()}
        if isinstance(value, list):
            return [self.encode(item, f"{where}[{i}]") for i, item in enumerate(value)]
        if isinstance(value, tuple):
            return {"$": "tuple", "items": self.encode(list(value), where)}
        if isinstance(value, dict):
            items = [[self.encode(k, where), self.encode(v, f"{where}[{k!r}]")] for k, v in value.items()]
            return {"$": "dict", "items": items}
        if isinstance(value, np.ndarray):
            return self._array(value, where)
        if sp.issparse(value) and type(value).__name__ in _SPARSE:
            parts = {part: self._keep(getattr(value, part)) for part in ("data", "indices", "indptr")}
            return {"$": "sparse", "kind": type(value).__name__, "shape": list(value.shape), **parts}
        if isinstance(value, OrderGraph):
            edges = "full" if value.is_full else self._keep(value.codes)
            return {"$": "order", "labels": self.encode(list(value.labels), where), "edges": edges}
        return self._object(value, where)

    def _keep(self, array: NDArray[Any]) -> int:
        self.arrays.append(np.ascontiguousarray(array) if array.ndim else array)
        return len(self.arrays) - 1

    def _array(self, array: NDArray[Any], where: str) -> Any:
        if array.dtype.kind in "biufUS":
            return {"$": "array", "n": self._keep(array)}
        if array.dtype.kind == "M" and np.datetime_data(array.dtype)[0] in _UNITS:
            unit = np.datetime_data(array.dtype)[0]
            return {"$": "dates", "unit": unit, "n": self._keep(array.astype(f"datetime64[{unit}]").astype(np.int64))}
        if array.dtype.kind in "OT" and array.ndim == 1:
            return {"$": "objects", "items": self.encode(array.tolist(), where)}
        raise ModelFileError(f"{where} is an array of {array.dtype}, which model files do not carry")

    def _object(self, value: Any, where: str) -> Any:
        name = type(value).__name__
        if isinstance(value, BaseEstimator) and estimator_class(name) is type(value):
            params = value.get_params(deep=False)
            state = {k: v for k, v in vars(value).items() if k not in params and k not in _ONLY_FOR_REFITTING}
            return {
                "$": "estimator",
                "class": name,
                "params": {key: self.encode(item, f"{where}.{key}") for key, item in params.items()},
                "state": {key: self.encode(item, f"{where}.{key}") for key, item in state.items()},
            }
        if name in _RECORDS and type(value).__module__ == _RECORDS[name]:
            fields = {"value": value.value} if isinstance(value, Enum) else vars(value)
            tree = {key: self.encode(item, f"{where}.{key}") for key, item in fields.items()}
            return {"$": "record", "class": name, "fields": tree}
        if hasattr(value, "to_local"):
            raise ModelFileError(f"{where} is a {name}, which is bound to a cluster; save {where}.to_local()")
        raise ModelFileError(
            f"{where} is a {type(value).__module__}.{name}, which model files do not carry; they hold estimators of "
            "hullrank, Pipeline and StandardScaler with plain parameters (for anything else use skops)"
        )


class Reader:
    """Turns trees back into values; raises ModelFileError, or what the constructors raise, and runs nothing else."""

    def __init__(self, arrays: list[NDArray[Any]]) -> None:
        self.arrays = arrays

    def decode(self, tree: Any) -> Any:
        """The value of a tree."""
        if isinstance(tree, list):
            return [self.decode(item) for item in tree]
        if not isinstance(tree, dict):
            return tree
        kinds: dict[Any, Callable[[Any], Any]] = {
            "array": lambda t: self._get(t["n"]),
            "scalar": lambda t: self._get(t["n"])[()],
            "objects": self._objects,
            "sparse": self._sparse,
            "float": lambda t: float(t["value"]),
            "date": lambda t: (datetime if "T" in t["value"] else date).fromisoformat(t["value"]),
            "dates": self._dates,
            "tuple": lambda t: tuple(self.decode(t["items"])),
            "dict": lambda t: {self.decode(key): self.decode(value) for key, value in t["items"]},
            "order": self._order,
            "record": self._record,
            "estimator": self._estimator,
        }
        kind = tree.get("$")
        if not isinstance(kind, str) or kind not in kinds:
            raise ModelFileError(f"it holds a value of the unknown kind {str(kind)[:40]!r}")
        return kinds[kind](tree)

    def _get(self, n: Any) -> NDArray[Any]:
        if type(n) is not int or not 0 <= n < len(self.arrays):
            raise ModelFileError(f"it refers to array {str(n)[:40]}, and holds {len(self.arrays)}")
        return self.arrays[n]

    def _dates(self, tree: Any) -> NDArray[Any]:
        if tree["unit"] not in _UNITS:
            raise ModelFileError("it holds dates of an unknown unit")
        return self._get(tree["n"]).astype(np.int64).astype(f"datetime64[{tree['unit']}]")

    def _objects(self, tree: Any) -> NDArray[Any]:
        items = self.decode(tree["items"])
        array = np.empty(len(items), dtype=object)
        array[:] = items
        return array

    def _sparse(self, tree: Any) -> Any:
        if tree["kind"] not in _SPARSE:
            raise ModelFileError("it holds a sparse matrix of an unknown kind")
        parts = tuple(self._get(tree[part]) for part in ("data", "indices", "indptr"))
        matrix = getattr(sp, tree["kind"])(parts, shape=tuple(tree["shape"]))
        matrix.check_format(full_check=True)
        return matrix

    def _order(self, tree: Any) -> OrderGraph:
        labels = self.decode(tree["labels"])
        if tree["edges"] == "full":
            return OrderGraph.full(labels)
        edges = self._get(tree["edges"])
        if edges.ndim != 2 or edges.shape[1] != 2 or edges.dtype.kind != "i" or not _within(edges, len(labels)):
            raise ModelFileError("the edges of its order graph do not fit the labels")
        return OrderGraph.from_edges([(labels[lo], labels[hi]) for lo, hi in edges.tolist()], labels=labels)

    def _record(self, tree: Any) -> Any:
        if tree["class"] not in _RECORDS:
            raise ModelFileError(f"it holds a record of the unknown class {str(tree['class'])[:40]!r}")
        kind = getattr(import_module(_RECORDS[tree["class"]]), tree["class"])
        kept = tree["fields"].keys() - _RETIRED.get(tree["class"], set())
        return kind(**{key: self.decode(tree["fields"][key]) for key in sorted(kept)})

    def _estimator(self, tree: Any) -> Any:
        kind = estimator_class(tree["class"])
        if kind is None:
            raise ModelFileError(f"it holds an estimator of the unknown class {str(tree['class'])[:40]!r}")
        params = {key: self.decode(value) for key, value in tree["params"].items()}
        unknown = params.keys() - set(kind._get_param_names())
        if unknown:
            raise ModelFileError(f"{tree['class']} has no parameter {sorted(unknown)[0][:40]!r}; upgrade hullrank")
        if params.get("memory") is not None:
            raise ModelFileError("its pipeline names a cache folder, from which scikit-learn would load pickles")
        estimator = kind(**params)
        for key, value in tree["state"].items():
            if not _ATTRIBUTE.match(key) or hasattr(kind, key):
                raise ModelFileError(f"it sets the attribute {key[:40]!r} of {tree['class']}, which is not allowed")
            setattr(estimator, key, self.decode(value))
        check_fitted_shapes(estimator)
        return estimator


def estimator_class(name: Any) -> Any:
    """The class that model files may hold under this name, or None."""
    if name in _FOREIGN:
        return _FOREIGN[name]
    if name == "TableEncoder":
        return import_module("hullrank.io.encoder").TableEncoder
    if isinstance(name, str) and name in hullrank._HOME:
        kind = getattr(hullrank, name)
        return kind if isinstance(kind, type) and issubclass(kind, BaseEstimator) else None
    return None


def check_fitted_shapes(estimator: Any) -> None:
    """Refuse fitted attributes that do not belong together."""
    if hasattr(estimator, "_validate_params"):
        estimator._validate_params()
    for column in getattr(estimator, "columns_", ()):
        from hullrank.io.forms import is_form  # loads Polars, which only a TableEncoder needs

        if column.get("form") is not None and not is_form(column["form"]):
            raise ModelFileError(f"the form of column {str(column.get('name'))[:40]!r} is none")
    linear = getattr(estimator, "kernel", "linear") == "linear"  # an approximated one has coefficients of rows
    weights = ("coef_", "dual_coef_") if linear else ("dual_coef_",)
    if "estimator" in estimator.get_params(deep=False):  # it predicts by what is inside, which was looked at before
        weights = ("estimator_",)
    if hasattr(estimator, "certificate_") and not any(hasattr(estimator, name) for name in weights):
        raise ModelFileError(f"its {type(estimator).__name__} has a certificate, but no {weights[0]} to predict with")
    if isinstance(estimator, Pipeline):  # its steps were looked at before
        return
    n, classes = getattr(estimator, "n_features_in_", None), getattr(estimator, "classes_", None)
    k = None if classes is None else len(classes)
    expected = {"coef_": (n,), "thresholds_": (None if k is None else k - 1,), "intervals_": (k, 2), "cuts_": (None,)}
    for name, shape in expected.items():
        value = getattr(estimator, name, None)
        if value is None:
            continue
        fits = isinstance(value, np.ndarray) and value.ndim == len(shape) and value.dtype.kind == "f"
        if not fits or any(want is not None and have != want for have, want in zip(value.shape, shape, strict=True)):
            raise ModelFileError(f"{name} of its {type(estimator).__name__} does not fit the features and classes")


def _within(codes: NDArray[Any], n: int) -> bool:
    return bool((codes >= 0).all() and (codes < n).all())
