"""The methods by the names they have on the command line, as data."""

import inspect
import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import hullrank
from hullrank.cli.signs import translate_signs
from hullrank.exceptions import HullrankError
from hullrank.io.meant import did_you_mean
from hullrank.models.catalogue import commands

if TYPE_CHECKING:
    from hullrank.cli.data import Data

METHODS = commands()


def known_methods() -> list[str]:
    """Methods that this installation has."""
    return [name for name, method in METHODS.items() if method.estimator in hullrank._HOME]


def check_method(method: str) -> None:
    """Refuse a name that is no method, with the one that was meant."""
    if method not in known_methods():
        hint = did_you_mean(method, known_methods()) or f"; choose from {', '.join(known_methods())}"
        raise HullrankError(f"there is no method {method!r}{hint}")


def is_slow(method: str) -> bool:
    """Whether a fit may take a minute on data of any size."""
    return METHODS[method].estimator == "ExactRanker"


def takes_blocks(method: str) -> bool:
    """Whether the method can be fitted to rows that are read in blocks, as long as it has no kernel."""
    from hullrank.models.intervals import IntervalEstimator
    from hullrank.models.pairs import SwappedPairsRanker

    return issubclass(estimator_class(method), IntervalEstimator | SwappedPairsRanker)


def takes(method: str, name: str) -> bool:
    """Whether the method's constructor or ``fit`` takes a parameter of that name."""
    estimator = estimator_class(method)
    return name in inspect.signature(estimator).parameters or name in inspect.signature(estimator.fit).parameters


def build(
    method: str,
    settings: dict[str, Any],
    *,
    sparse: bool,
    forms: dict[str, Any] | None = None,
    probabilities: bool = False,
) -> Any:
    """A pipeline from a table (or a sparse matrix) to a model, unfitted; what is random has the seed 0 unless set."""
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler

    from hullrank.io import TableEncoder

    estimator = estimator_class(method)
    known = inspect.signature(estimator).parameters
    seed = {"random_state": 0} if "random_state" in known else {}
    parameters = {**seed, **METHODS[method].parameters, **settings}
    unknown = next((name for name in parameters if name not in known), None)
    if unknown is not None:
        hint = did_you_mean(unknown, known) or f"; it has {', '.join(known)}"
        raise HullrankError(f"method {method} has no parameter {unknown!r}{hint}")
    raw = parameters.get("weights") == "integer"  # points are given for the values as they stand in the table
    prepare = (
        StandardScaler(with_mean=False, with_std=not raw) if sparse else TableEncoder(forms=forms, standardise=not raw)
    )
    model = estimator(**parameters)
    return Pipeline([("prepare", prepare), ("model", hullrank.OrdinalCalibrator(model) if probabilities else model)])


def prepared(pipeline: Any, X: Any) -> Any:
    """Fit the step before the model to the rows, give the model its signs by column, and return the encoded rows."""
    Z = pipeline[0].fit_transform(X)
    translate_signs(pipeline[-1], pipeline[0])
    return Z


def fit_parameters(model: Any, data: "Data") -> dict[str, Any]:
    """Weights, and queries and groups if the model takes them."""
    taken = data.fit_parameters(model)
    if data.weights is not None and "sample_weight" not in taken:
        raise HullrankError("this method takes no weights of rows; leave out --weights")
    return taken


def parse_settings(texts: Iterable[str]) -> dict[str, Any]:
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


def estimator_class(method: str) -> Any:
    """The class of the method's estimator."""
    check_method(method)
    return getattr(hullrank, METHODS[method].estimator)
