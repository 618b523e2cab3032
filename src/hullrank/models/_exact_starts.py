"""Directions that the exact search starts from: logistic regression, the swapped-pairs SVM, the linear relaxation."""

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hullrank.exact.grid import column_scale
from hullrank.exact.relaxation import RelaxationStatement, relax
from hullrank.exact.rows import Rows
from hullrank.models.pairs import SwappedPairsRanker
from hullrank.problem.certificate import Status
from hullrank.solvers.base import Options

Floats = NDArray[np.float64]

_FAR = 30.0  # spreads from the median at which columns are clipped, so that outliers do not own a start
_SVM_WORK = 3e6  # rows times squared columns up to which the SVM is a matter of a second or two
_SHARE = 0.2  # share of the time limit that starts may take


def directions(rows: Rows, epsilon: float, time_limit: float | None) -> Sequence[Floats]:
    """Weights for the raw columns, as many as a share of the time limit allows."""
    deadline = time.perf_counter() + (np.inf if time_limit is None else _SHARE * time_limit)
    scale = column_scale(rows.X)
    Z = np.clip((rows.X - np.median(rows.X, axis=0)) / scale, -_FAR, _FAR)
    basis, turned = np.linalg.qr(Z.T) if Z.shape[1] > len(Z) else (None, Z.T)
    reduced = replace(rows, X=np.ascontiguousarray(turned.T))
    starts: list[Callable[[], Floats]] = [
        lambda: _regression(reduced),
        lambda: _svm(reduced),
        lambda: _relaxation(reduced, epsilon, deadline - time.perf_counter()),
    ]
    found = []
    for start in starts:
        if time.perf_counter() < deadline:
            v = start()
            found.append((v if basis is None else basis @ v) / scale * scale.min())
    return found


def _regression(rows: Rows) -> Floats:
    from sklearn.linear_model import LogisticRegression, Ridge  # long to load, and only used by a search

    model = LogisticRegression() if rows.codes.max() <= 1 else Ridge()
    with warnings.catch_warnings(action="ignore"):
        return np.asarray(model.fit(rows.X, rows.codes, sample_weight=rows.weights).coef_).ravel()


def _svm(rows: Rows) -> Floats:
    if rows.X.size * rows.X.shape[1] > _SVM_WORK:
        return np.zeros(rows.X.shape[1])
    with warnings.catch_warnings(action="ignore"):
        model = SwappedPairsRanker(C=100.0).fit(rows.X, rows.codes, sample_weight=rows.weights, qid=rows.query)
    if model.certificate_.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    return np.asarray(model.coef_)


def _relaxation(rows: Rows, epsilon: float, seconds: float) -> Floats:
    answer = relax(RelaxationStatement(rows, epsilon), Options(1e-6, 500), seconds=seconds)
    if answer.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    return answer.point.coef
