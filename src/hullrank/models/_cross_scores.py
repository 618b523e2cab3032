"""Scores that models fitted to the other folds gave to each fold, on one scale."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags, indexable
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from hullrank._sklearn import num_samples, safe_indexing
from hullrank.data import check_target, check_weights, encode_labels
from hullrank.exceptions import FoldsStopped, HullrankError, LabelError, ScaleWarning
from hullrank.problem.certificate import Status

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class CrossScores:
    """An estimator fitted on all rows, and what models fitted to the other folds say of each row.

    ``scores`` are standardised by mean and standard deviation of a model's own training scores, so that folds can be
    put together; ``mean`` and ``scale`` do the same for the estimator. ``codes`` are places in ``classes`` (lowest
    first). Rows without weight, or in no test fold, are left out.
    """

    estimator: Any
    classes: NDArray[Any]
    scores: Floats
    codes: NDArray[np.intp]
    weights: Floats
    mean: float
    scale: float


def cross_validated_scores(estimator: Any, X: Any, y: Any, sample_weight: Any, cv: Any) -> CrossScores:
    """Fit the estimator on all rows and on every fold, and score every row by a model that has not seen it.

    ``cv="prefit"`` takes the estimator as it is, which must have been fitted to other rows. Ctrl-C raises FoldsStopped
    with the estimator on all rows, as far as it was fitted.
    """
    X, y = indexable(X, y)
    rows = np.empty((num_samples(X), 0))  # only the estimator looks into X
    weights = check_weights(sample_weight, rows)
    given = None if sample_weight is None else weights
    prefit = isinstance(cv, str) and cv == "prefit"
    fitted = _fitted(estimator) if prefit else _fit_part(estimator, X, y, given)
    if not prefit and _interrupted(fitted):
        raise FoldsStopped(fitted)
    values = check_target(rows, y)
    used = np.flatnonzero(weights)
    labels = encode_labels(safe_indexing(y, used), values[used], _total_order(fitted))
    if len(labels.classes) < 2:
        raise LabelError(f"only one class has samples: {labels.classes.tolist()}; probabilities need two or more")
    codes = np.full(len(weights), -1)
    codes[used] = labels.codes
    location = _location(fitted, safe_indexing(X, used), weights[used])
    if prefit:
        scores = (fitted.score_samples(safe_indexing(X, used)) - location[0]) / location[1]
        return CrossScores(fitted, labels.classes, scores, labels.codes, weights[used], *location)
    scores = np.empty(len(weights))
    tested = np.zeros(len(weights), dtype=bool)
    for train, test in _splits(cv, X, codes, used, labels.classes):
        try:
            # The fit on all rows has already warned of scales.
            with warnings.catch_warnings(action="ignore", category=ScaleWarning):
                model = _fit_part(estimator, X, y, given, train)
        except KeyboardInterrupt as stop:
            raise FoldsStopped(fitted) from stop
        if _interrupted(model):
            raise FoldsStopped(fitted)
        mean, scale = _location(model, rows_of(model, X, train, train), weights[train])
        scores[test] = (model.score_samples(rows_of(model, X, test, train)) - mean) / scale
        tested[test] = True
    return CrossScores(fitted, labels.classes, scores[tested], codes[tested], weights[tested], *location)


def _fit_part(estimator: Any, X: Any, y: Any, weights: Any, rows: NDArray[np.intp] | None = None) -> Any:
    if weights is not None and not has_fit_parameter(estimator, "sample_weight"):
        raise HullrankError(f"{type(estimator).__name__}.fit takes no sample_weight; fit the calibrator without it")
    given = {} if weights is None else {"sample_weight": weights if rows is None else weights[rows]}
    if rows is not None:
        X, y = rows_of(estimator, X, rows, rows), safe_indexing(y, rows)
    return clone(estimator).fit(X, y, **given)


def _interrupted(model: Any) -> bool:
    """Whether the model is the estimator's answer to Ctrl-C: its best so far."""
    return getattr(getattr(model, "certificate_", None), "status", None) == Status.INTERRUPTED


def _fitted(estimator: Any) -> Any:
    """The estimator itself, which must have been fitted."""
    try:
        check_is_fitted(estimator)
    except NotFittedError as error:
        raise HullrankError(
            f'cv="prefit" takes a fitted estimator, and this {type(estimator).__name__} is not; fit it on other rows '
            "first, or choose another cv"
        ) from error
    return estimator


def _total_order(estimator: Any) -> Any:
    """The estimator's classes, lowest first, or None if it has none; they must be in one line."""
    order = getattr(estimator, "order_", None)
    if order is not None and not order.is_total:
        raise HullrankError(
            "probabilities of being at or below a class need a total order, and the estimator's order graph is "
            "partial; use order='chain' or order='full'"
        )
    classes = getattr(estimator, "classes_", None)
    return None if classes is None else classes.tolist()


def _splits(cv: Any, X: Any, codes: NDArray[np.intp], used: NDArray[np.intp], classes: NDArray[Any]) -> Any:
    """Train and test rows; rows without weight never take part."""
    from sklearn.model_selection import check_cv  # takes longer than everything that a fitted model does

    if not isinstance(cv, int):
        weighted = codes >= 0
        for train, test in check_cv(cv, codes, classifier=True).split(X, codes):
            train, test = np.arange(len(codes))[train], np.arange(len(codes))[test]
            yield train[weighted[train]], test[weighted[test]]
        return
    smallest = int(np.bincount(codes[used]).min())
    if smallest < 2:
        alone = classes.tolist()[np.bincount(codes[used]).argmin()]
        raise HullrankError(
            f"class {alone!r} has one sample, so no fold can both learn and test it; add a sample, drop the class, or "
            "pass cv as explicit splits"
        )
    for train, test in check_cv(min(cv, smallest), codes[used], classifier=True).split(used, codes[used]):
        yield used[train], used[test]


def _location(model: Any, X: Any, weights: Floats) -> tuple[float, float]:
    """Mean and standard deviation of the scores on the training rows."""
    scores = model.score_samples(X)
    mean = np.average(scores, weights=weights)
    return float(mean), float(np.sqrt(np.average((scores - mean) ** 2, weights=weights))) or 1.0


def rows_of(estimator: Any, X: Any, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Any:
    """Some rows of X; where the estimator takes kernel values between rows, those against the rows ``columns``."""
    part = safe_indexing(X, rows)
    return safe_indexing(part, columns, axis=1) if get_tags(estimator).input_tags.pairwise else part
