"""The bootstrap (Efron 1979): how much weights and thresholds vary when a model is fitted to resampled rows."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from hullrank._sklearn import num_samples, safe_indexing
from hullrank.exceptions import HullrankError
from hullrank.models._cross_scores import rows_of

Floats = NDArray[np.float64]
Heard = Callable[[float], None]


@dataclass(frozen=True)
class Spread:
    """Weights (n_resamples, n_features) and thresholds (n_resamples, n_classes - 1) of the refitted models.

    Either is None where the model has none. ``n_failed`` counts resamples whose fit raised an error; they are left out.
    """

    coefs: Floats | None
    thresholds: Floats | None
    n_failed: int


def bootstrap(
    model: Any, X: Any, y: Any, *, n_resamples: int, seed: int, fit_params: dict[str, Any], heard: Heard | None = None
) -> Spread:
    """Refit copies of a fitted model to resampled rows.

    Whole queries are drawn where there are any (each draw is a query of its own); else rows within every class, so that
    no class is lost; else, if most classes have a single row, rows from all.
    """
    rng = np.random.default_rng(seed)
    values, qid = np.asarray(y), fit_params.get("qid")
    others = {name: value for name, value in fit_params.items() if name != "qid"}
    groups = _groups(model, values, num_samples(X))
    found: list[tuple[Any, Any]] = []
    for k in range(n_resamples):
        rows, queries = _draw_rows(rng, groups) if qid is None else _draw_queries(rng, np.asarray(qid))
        given = {name: np.asarray(value)[rows] for name, value in others.items()}
        given |= {} if queries is None else {"qid": queries}
        fitted = _refit(model, rows_of(model, X, rows, rows), safe_indexing(y, rows), given)
        if fitted is not None:
            found.append((getattr(fitted, "coef_", None), getattr(fitted, "thresholds_", None)))
        if heard is not None:
            heard((k + 1) / n_resamples)
    if len(found) < max(2, n_resamples // 2):
        raise HullrankError(
            f"only {len(found)} of {n_resamples} resamples could be fitted, too few for errors; the classes or queries "
            "are too small to be resampled"
        )
    coefs, thresholds = (_stacked([pair[i] for pair in found]) for i in (0, 1))
    return Spread(coefs, thresholds, n_resamples - len(found))


def _groups(model: Any, values: NDArray[Any], n: int) -> list[NDArray[np.intp]]:
    """The rows within which is drawn."""
    classes, codes = np.unique(values, return_inverse=True)
    if getattr(model, "classes_", None) is None or len(classes) > n // 2:
        return [np.arange(n)]
    return [np.flatnonzero(codes == c) for c in range(len(classes))]


def _draw_rows(rng: np.random.Generator, groups: list[NDArray[np.intp]]) -> tuple[NDArray[np.intp], None]:
    return np.concatenate([rng.choice(group, len(group)) for group in groups]), None


def _draw_queries(rng: np.random.Generator, qid: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    _, codes = np.unique(qid, return_inverse=True)
    by_query = np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1])
    drawn = [by_query[q] for q in rng.integers(len(by_query), size=len(by_query))]
    return np.concatenate(drawn), np.repeat(np.arange(len(drawn)), [len(rows) for rows in drawn])


def _refit(model: Any, X: Any, y: Any, given: dict[str, Any]) -> Any | None:
    """A copy of the model on other rows, its classes in the order of the model; None if they cannot be fitted."""
    copy = clone(model)
    classes = getattr(model, "classes_", None)
    order = getattr(copy, "order", "chain")
    if (
        classes is not None
        and "classes" in copy.get_params(deep=False)
        and isinstance(order, str)
        and order in ("chain", "full")
    ):
        present = set(np.asarray(y).tolist())
        copy.set_params(classes=[label for label in classes.tolist() if label in present])
    with warnings.catch_warnings(action="ignore"):
        try:
            return copy.fit(X, y, **given)
        except HullrankError:
            return None


def _stacked(parts: list[Any]) -> Floats | None:
    """One row per resample, of those with as many numbers as most have."""
    arrays = [np.asarray(part) for part in parts if part is not None]
    if not arrays:
        return None
    sizes = [len(part) for part in arrays]
    usual = max(set(sizes), key=sizes.count)
    return np.array([part for part in arrays if len(part) == usual], dtype=np.float64)
