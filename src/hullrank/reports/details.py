"""What the report adds to scores: the cells of the rows, the picture of real-valued targets, influences."""

from heapq import heappush, heappushpop, nlargest
from typing import Any

import narwhals as nw
import numpy as np

from hullrank._pipelines import unwrap
from hullrank._sklearn import safe_indexing
from hullrank.models.influence import permutation_influence
from hullrank.plots.placement import Placement

_MOST_COLUMNS = 12
_MOST_LETTERS = 40
_MOST_SHUFFLED = 200  # columns; beyond, shuffling each takes too long for a report
_SHUFFLED_ROWS = 1000


def cells(table: Any, names: Any, shown: Any) -> dict[str, Any]:
    """Names of the first columns of a table, those that differ in every row first, and their cells in some rows.

    Arrays have the names of the features; sparse matrices show nothing.
    """
    frame = nw.from_native(table, eager_only=True, pass_through=True)
    if isinstance(frame, np.ndarray) and frame.ndim == 2:
        known = (
            names if names is not None and len(names) == frame.shape[1] else map("x{}".format, range(frame.shape[1]))
        )
        labels = [str(name) for name in known][:_MOST_COLUMNS]
        rows = frame[shown, : len(labels)].tolist()
        return {"columns": labels, "cells": [[_text(value) for value in row] for row in rows]}
    if not isinstance(frame, nw.DataFrame):
        return {"columns": [], "cells": []}
    own = _naming(frame)
    first = [*own, *[name for name in frame.columns if name not in own]][:_MOST_COLUMNS]
    columns = [[_text(value) for value in frame[name][shown.tolist()].to_list()] for name in first]
    return {"columns": [str(name) for name in first], "cells": list(map(list, zip(*columns, strict=True)))}


def _naming(frame: Any) -> list[str]:
    """The columns of a data frame whose words differ in every row, and so name it."""
    return [name for name in frame.columns if frame[name].dtype == nw.String and frame[name].is_unique().all()]


def names_of_rows(table: Any, features: Any) -> tuple[str | None, list[str]]:
    """The first column of a table that names its rows and is no feature, with its cells; (None, []) without one."""
    frame = nw.from_native(table, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return None, []
    used = set() if features is None else set(map(str, features))
    first = next((name for name in _naming(frame) if name not in used), None)
    return first, [] if first is None else [_text(value) for value in frame[first].to_list()]


def _text(value: Any) -> str:
    if value is None:
        return "missing"
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= _MOST_LETTERS else text[: _MOST_LETTERS - 1] + "…"


def trend(placed: Placement, shown: Any) -> dict[str, Any] | None:
    """Target and predicted rank (1 is the highest) of some rows, where the target is a number."""
    if np.asarray(placed.classes).dtype.kind not in "iuf":
        return None
    rank = np.empty(len(placed.scores), dtype=int)
    rank[np.argsort(-placed.scores, kind="stable")] = np.arange(1, len(rank) + 1)
    targets = np.asarray(placed.classes, dtype=np.float64)[placed.codes]
    return {"target": targets[shown].tolist(), "rank": rank[shown].tolist(), "score": placed.scores[shown].tolist()}


def worst_pairs(scores: Any, codes: Any, queries: Any, most: int) -> list[tuple[float, int, int]]:
    """The pairs (excess, lower row, higher row) of a total order, of one query each, that are ranked most wrongly.

    Rows are gone through from the lowest class to the highest; the ``most`` highest scores among lower classes are all
    that can be part of a worst pair, so that the work is linear in the rows after sorting them.
    """
    worst: list[tuple[float, int, int]] = []
    highest: list[tuple[float, int]] = []
    waiting: list[tuple[float, int]] = []
    before = (-1, -1)
    for row in np.lexsort((codes, queries)).tolist():
        now, score = (int(queries[row]), int(codes[row])), float(scores[row])
        if now[0] != before[0]:
            highest, waiting = [], []
        elif now != before:
            highest, waiting = nlargest(most, highest + waiting), []
        for above, low in highest:
            if above <= score or (len(worst) == most and above - score <= worst[0][0]):
                break
            (heappush if len(worst) < most else heappushpop)(worst, (above - score, low, row))
        waiting.append((score, row))
        before = now
    return sorted(worst, reverse=True)


def influences(estimator: Any, X: Any, y: Any, names: Any, qid: Any, sample_weight: Any) -> list[dict[str, Any]]:
    """The influence of every column on a model without weights, on a random choice of the rows; largest first."""
    model = unwrap(estimator).model
    precomputed = getattr(model, "kernel", None) == "precomputed"
    X = X if hasattr(X, "shape") else np.asarray(X)
    if getattr(model, "coef_", None) is not None or precomputed or X.shape[1] > _MOST_SHUFFLED:
        return []
    rows = np.arange(X.shape[0])
    if len(rows) > _SHUFFLED_ROWS:
        rows = np.sort(np.random.default_rng(0).choice(rows, _SHUFFLED_ROWS, replace=False))
    given = {"qid": qid, "sample_weight": sample_weight}
    taken: dict[str, Any] = {name: None if part is None else np.asarray(part)[rows] for name, part in given.items()}
    fall, deviation = permutation_influence(estimator, safe_indexing(X, rows), np.asarray(y)[rows], **taken)
    known = list(getattr(X, "columns", names if names is not None else []))
    labels = known if len(known) == len(fall) else [f"x{i}" for i in range(len(fall))]
    return [
        {"name": str(labels[i]), "fall": float(fall[i]), "deviation": float(deviation[i])}
        for i in np.argsort(-fall, kind="stable")
    ]
