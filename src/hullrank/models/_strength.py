"""How much a graph of neighbouring rows shall say beside the norm, chosen by folds of the labelled rows."""

import warnings
from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils import get_tags

from hullrank._sklearn import safe_indexing
from hullrank.data import check_queries, declared_categories
from hullrank.data.labels import unique_inverse
from hullrank.exceptions import CollapsedRankingWarning, HullrankError, ScaleWarning, UndefinedMetricWarning
from hullrank.metrics import scoring_order, wmw_score

Floats = NDArray[np.float64]

STRENGTHS = (0.0, 0.1, 1.0, 10.0, 100.0, 1000.0)  # what strength="auto" tries
_FOLDS, _REPEATS = 4, 3
_DEMANDED = 0.5  # standard errors by which a strength must be better than 0; a whole one hid gains (docs/unlabelled.md)


def choose_strength(
    unfitted: Callable[[], Any],
    learned: Callable[[float], Floats],
    y: Any,
    values: NDArray[Any],
    weights: Floats,
    given: dict[str, Any],
) -> tuple[float, dict[str, Floats]]:
    """The strength by folds of the labelled rows, 0 within half a standard error of the best, and all means.

    ``learned(strength)`` are the rows as estimators learn from them, or the kernel values between all rows.
    The figure is the mean of pair accuracy, which says more about few rows than accuracy does, and the estimator's
    own score; within queries, which folds keep whole, it is the estimator's own pair accuracy. Folds are dealt
    several times, which lowers the noise of the mean but not the standard error that is demanded, since all share
    the same rows.
    """
    counted = np.flatnonzero(weights)
    queries = check_queries(given.get("qid"), len(values))[counted]
    codes = unique_inverse(values)[1][counted]
    folds = [(counted[train], counted[test]) for train, test in _folds(codes, queries)]
    pairwise = get_tags(unfitted()).input_tags.pairwise
    target = values if declared_categories(y) is None else y
    scores = np.empty((len(STRENGTHS), len(folds)))
    for k, strength in enumerate(STRENGTHS):
        rows = learned(strength)
        for f, (train, test) in enumerate(folds):
            known = rows[:, train] if pairwise else rows
            scores[k, f] = _rated(unfitted(), known, target, train, test, given)
    scores = scores[:, np.isfinite(scores).all(axis=0)]  # a fold without two classes has no pair accuracy
    if not scores.size:
        raise HullrankError("labels are too few to choose strength by cross-validation; set it to a number")
    means = scores.mean(axis=1)
    table = {"strength": np.array(STRENGTHS), "mean_test_score": means, "std_test_score": scores.std(axis=1)}
    best = int(means.argmax())
    difference = scores[best] - scores[0]
    error = float(difference.std(ddof=1)) / (len(folds) / _REPEATS) ** 0.5 if len(difference) > 1 else np.inf
    return (STRENGTHS[best] if difference.mean() > _DEMANDED * error else 0.0), table


def _rated(model: Any, rows: Floats, y: Any, train: Any, test: Any, given: dict[str, Any]) -> float:
    target, known = safe_indexing(y, train), safe_indexing(y, test)  # both declare the order that y declares
    part = {name: np.asarray(values)[train] for name, values in given.items()}
    apart = {name: np.asarray(values)[test] for name, values in given.items()}
    with warnings.catch_warnings():
        for category in (CollapsedRankingWarning, UndefinedMetricWarning, ScaleWarning):
            warnings.simplefilter("ignore", category)
        model.fit(rows[train], target, **part)
        takes = signature(model.score).parameters
        own = model.score(rows[test], known, **{name: apart[name] for name in apart if name in takes})
        if "qid" in given:
            return float(own)
        pairs = wmw_score(
            known, model.score_samples(rows[test]), order=scoring_order(model, known), ties="half",
            sample_weight=apart.get("sample_weight"),
        )  # fmt: skip
        return float((pairs + own) / 2)


def _folds(codes: NDArray[np.intp], queries: NDArray[np.intp]) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Folds of the labelled rows, dealt several times: whole queries, or by class where every class has two rows."""
    several, number = np.unique(queries, return_inverse=True)
    sizes = np.bincount(codes)
    rarest = int(sizes[sizes > 0].min())
    found: list[Any] = []
    for seed in range(_REPEATS):
        dealt: dict[str, Any] = {"shuffle": True, "random_state": seed}
        if len(several) > 1:
            parts = KFold(min(_FOLDS, len(several)), **dealt).split(several)
            found += [tuple(np.flatnonzero(np.isin(number, part)) for part in parted) for parted in parts]
        elif rarest >= 2:
            found += StratifiedKFold(min(_FOLDS, rarest), **dealt).split(codes, codes)
        else:
            found += KFold(min(_FOLDS, len(codes)), **dealt).split(codes)
    return found
