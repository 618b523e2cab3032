"""The methods by the names they have on the command line, as data."""

import inspect
import json
from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

import hullrank
from hullrank.exceptions import HullrankError
from hullrank.io import TableEncoder

METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "hull": ("ConvexHullRanker", {}),
    "hull-edges": ("ConvexHullRanker", {"slack": "edge"}),
    "hull-l1": ("ConvexHullRanker", {"penalty": "l1"}),
    "fixed-margin": ("FixedMarginClassifier", {}),
    "all-thresholds": ("FixedMarginClassifier", {"thresholds": "all"}),
    "nu-margin": ("NuMarginClassifier", {}),
    "sum-of-margins": ("SumOfMarginsClassifier", {}),
    "swapped-pairs": ("SwappedPairsRanker", {}),
    "sampled-pairs": ("SampledPairsRanker", {}),
    "exact": ("ExactRanker", {}),
    "prank": ("PRank", {}),
    "rankboost": ("RankBoost", {}),
}


def known_methods() -> list[str]:
    """Methods that this installation has."""
    return [name for name, (cls, _) in METHODS.items() if cls in hullrank._HOME]


def takes(method: str, name: str) -> bool:
    """Whether the method's constructor or ``fit`` takes a parameter of that name."""
    estimator = _class(method)
    return name in inspect.signature(estimator).parameters or name in inspect.signature(estimator.fit).parameters


def build(method: str, settings: dict[str, Any], *, sparse: bool) -> Pipeline:
    """A pipeline from a table (or a sparse matrix) to a model, unfitted; what is random has the seed 0 unless set."""
    estimator = _class(method)
    known = inspect.signature(estimator).parameters
    seed = {"random_state": 0} if "random_state" in known else {}
    parameters = {**seed, **METHODS[method][1], **settings}
    unknown = next((name for name in parameters if name not in known), None)
    if unknown is not None:
        raise HullrankError(f"method {method} has no parameter {unknown!r}; it has {', '.join(known)}")
    prepare = StandardScaler(with_mean=False) if sparse else TableEncoder()
    return Pipeline([("prepare", prepare), ("model", estimator(**parameters))])


def parse_settings(texts: list[str]) -> dict[str, Any]:
    """``name=value`` pairs; values are JSON where they can be, else words."""
    settings: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.isidentifier():
            raise HullrankError(f"--set {text!r} is not of the form name=value, as in --set C=0.1")
        settings[name] = _value(value)
    return settings


def _value(text: str) -> Any:
    if text in ("inf", "infinity"):
        return float("inf")
    try:
        return json.loads(text)
    except ValueError:
        return text


def _class(method: str) -> Any:
    if method not in known_methods():
        raise HullrankError(f"there is no method {method!r}; choose from {', '.join(known_methods())}")
    return getattr(hullrank, METHODS[method][0])
