"""Everything the HTML report shows, as plain values that JSON can carry; writing it down is done elsewhere."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import has_fit_parameter

from hullrank._pipelines import unwrap
from hullrank.metrics import swapped_pairs, wmw_score
from hullrank.order import OrderGraph
from hullrank.plots.order_graph import edge_accuracies, layout
from hullrank.plots.placement import Placement, place_by
from hullrank.reports.details import cells, influences, names_of_rows, trend, worst_pairs
from hullrank.reports.whose import holds_training_rows

_MOST_POINTS = 3000
_MOST_PAIRS = 12
_MOST_WEIGHTS = 25
_MOST_GRADES = 40
CERTIFICATE_FIELDS = (
    "status", "primal", "dual", "value", "upper_bound", "gap", "relative_gap", "iterations", "seconds", "solver",
    "n_order_constraints",
)  # fmt: skip


def gather(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    names: Any = None,
    sample_weight: Any = None,
    labels: Any = None,
    qid: Any = None,
    groups: Any = None,
    numbers: Any = None,
    table: Any = None,
    held_out: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Facts about a fitted estimator on samples.

    Parameters
    ----------
    estimator : fitted estimator, or a pipeline that ends in one
    X, y : samples, in the terms of the estimator
    names : names of the weights, default=None
    labels : names of the classes where the estimator only knows their numbers, default=None
    numbers : what the rows are called, default=None: 1, 2, ...
    table : data frame of the same rows, whose cells are shown with every row, default=None: X
    qid : queries, within which pairs are counted (if the order is total), default=None
    groups : groups of a model that was fitted with groups, within which pairs are counted, default=None
    held_out : what the fit found on rows left out (figure, rows, mean, low and high), default=None
    """
    inside = unwrap(estimator)
    model = inside.model
    placed = place_by(estimator, X, y, sample_weight=sample_weight, groups=groups)
    order = OrderGraph.chain(placed.classes.tolist()) if placed.order is None else placed.order
    grades = _names(placed.classes.tolist() if labels is None else list(labels))
    numbers = np.arange(1, len(placed.scores) + 1) if numbers is None else np.asarray(numbers)
    given = {"qid": qid if has_fit_parameter(model, "qid") else None, "groups": groups}
    training = holds_training_rows(model, inside.transform(X), y, sample_weight=sample_weight, **given)
    within, qid = ("queries", qid) if groups is None else ("groups", groups)
    qid = np.asarray(qid) if qid is not None and order.is_total else None
    shown = _shown(len(placed.scores))
    few = len(grades) <= _MOST_GRADES
    naming, called = names_of_rows(table, names)
    edges = _edges(y, placed, order, qid) if len(order) <= _MOST_GRADES else []
    return {
        "model": type(model).__name__,
        "rows": len(placed.scores),
        "training": training,
        "held_out": held_out,
        "grades": grades if few else [],
        "n_grades": len(grades),
        "pair_accuracy": _number(_pair_accuracy(y, placed, order, qid)),
        "within": within if qid is not None else None,
        "points": _points(placed, numbers, shown) if few else None,
        "trend": None if few else trend(placed, shown),
        "shown": {"row": numbers[shown].tolist(), **cells(X if table is None else table, names, shown)},
        "thresholds": _numbers(placed.thresholds),
        "intervals": _numbers(placed.intervals),
        "edges": edges,
        "places": layout(order).tolist() if edges else [],
        "total": bool(order.is_total),
        "pairs": _worst_pairs(placed, order, grades, qid, numbers, called),
        "naming": naming,
        "weights": _weights(model, names),
        "card": card(model, names),
        "influences": influences(estimator, X, y, names, qid, sample_weight)[:_MOST_WEIGHTS],
        "certificate": _certificate(model),
    }


def _pair_accuracy(y: Any, placed: Placement, order: OrderGraph, qid: Any) -> float:
    if qid is not None:
        return 1 - swapped_pairs(placed.codes, placed.scores, qid=qid, sample_weight=placed.weights)
    return wmw_score(y, placed.scores, order=order.closure(), sample_weight=placed.weights)


def _shown(n: int) -> NDArray[np.intp]:
    """The rows that are drawn: all, or a random choice with the seed 0."""
    return np.arange(n) if n <= _MOST_POINTS else np.sort(np.random.default_rng(0).choice(n, _MOST_POINTS, False))


def _points(placed: Placement, numbers: Any, rows: NDArray[np.intp]) -> dict[str, Any]:
    return {
        "row": numbers[rows].tolist(),
        "score": _numbers(placed.scores[rows]),
        "grade": placed.codes[rows].tolist(),
        "weight": _numbers(placed.weights[rows]),
    }


def _edges(y: Any, placed: Placement, order: OrderGraph, qid: Any) -> list[dict[str, Any]]:
    values = edge_accuracies(y, placed.scores, order, placed.weights, qid)
    return [
        {"lo": lo, "hi": hi, "accuracy": _number(value)}
        for (lo, hi), value in zip(order.codes.tolist(), values.tolist(), strict=True)
    ]


def _worst_pairs(
    placed: Placement, order: OrderGraph, grades: list[str], qid: Any, numbers: Any, called: list[str]
) -> list[dict[str, Any]]:
    """Pairs along comparable classes (of one query) whose lower sample lies furthest above the higher one.

    Rows are told by their numbers, and by what they are ``called`` where the table has names.
    """
    queries = np.zeros(len(placed.codes), dtype=int) if qid is None else np.unique(qid, return_inverse=True)[1]
    if order.is_total:
        found = worst_pairs(placed.scores, placed.codes, queries, _MOST_PAIRS)
    else:
        found = _worst_along_edges(placed, order, queries)

    def told(row: int) -> dict[str, Any]:
        name = {"name": called[row]} if called else {}
        grade, score = grades[placed.codes[row]], float(placed.scores[row])
        return {"row": int(numbers[row]), **name, "grade": grade, "score": score}

    return [{"lower": told(low), "higher": told(high), "excess": excess} for excess, low, high in found]


def _worst_along_edges(placed: Placement, order: OrderGraph, queries: Any) -> list[tuple[float, int, int]]:
    """The worst pairs under a partial order; beyond 40 classes along the edges of the graph only."""
    by_score = np.argsort(placed.scores, kind="stable")
    members = [by_score[placed.codes[by_score] == c] for c in range(len(placed.classes))]
    found: list[tuple[float, int, int]] = []
    edges = order.closure().codes if len(order) <= _MOST_GRADES else order.codes
    for lo, hi in edges.tolist():
        for query in _worst_queries(placed.scores, queries, members[lo], members[hi]):
            low, high = (rows[queries[rows] == query] for rows in (members[lo], members[hi]))
            top, bottom = low[-_MOST_PAIRS:], high[:_MOST_PAIRS]
            excess = placed.scores[top][:, None] - placed.scores[bottom]
            found += [(float(excess[i, j]), int(top[i]), int(bottom[j])) for i, j in np.argwhere(excess > 0)]
    return sorted(found, reverse=True)[:_MOST_PAIRS]


def _worst_queries(scores: Any, queries: Any, low: Any, high: Any) -> list[int]:
    """Queries with the largest excess of the best of ``low`` over the worst of ``high``, as many as pairs are shown."""
    best, worst = np.full(queries.max() + 1, -np.inf), np.full(queries.max() + 1, np.inf)
    np.maximum.at(best, queries[low], scores[low])
    np.minimum.at(worst, queries[high], scores[high])
    return [int(q) for q in np.argsort(worst - best, kind="stable")[:_MOST_PAIRS] if best[q] > worst[q]]


def _weights(model: Any, names: Any) -> dict[str, Any]:
    coef = getattr(model, "coef_", None)
    if coef is None:
        return {"total": 0, "shown": []}
    labels = [f"x{i}" for i in range(len(coef))] if names is None or len(names) != len(coef) else list(names)
    largest = np.argsort(-np.abs(coef), kind="stable")[:_MOST_WEIGHTS]
    return {"total": len(coef), "shown": [{"name": str(labels[i]), "weight": float(coef[i])} for i in largest]}


def card(model: Any, names: Any) -> dict[str, Any] | None:
    """Points of the features and what every total meant in the training data, if the model is a scoring system."""
    table = getattr(model, "score_table_", None)
    if table is None:
        return None
    if names is not None and len(names) == len(model.coef_):
        table = table.named(names, model.coef_)
    return {
        "points": [{"feature": f, "points": p} for f, p in zip(table.features, table.points, strict=True)],
        "totals": [
            {"total": total, "samples": count, "positive": positive, "share": share}
            for total, count, positive, share in zip(
                table.totals, table.count, table.positive, table.share, strict=True
            )
        ],
    }


def _names(labels: list[Any]) -> list[str]:
    """Classes in words; where there are so many that they are numbers, with six digits."""
    many = len(labels) > _MOST_GRADES
    return [f"{label:.6g}" if many and isinstance(label, float) else str(label) for label in labels]


def _certificate(model: Any) -> dict[str, Any]:
    certificate = getattr(model, "certificate_", None)
    values = {name: getattr(certificate, name, None) for name in CERTIFICATE_FIELDS}
    known = {name: value for name, value in values.items() if value is not None}
    return {name: _number(value) if isinstance(value, float) else value for name, value in known.items()}


def _numbers(values: NDArray[np.float64] | None) -> Any:
    """Lists with None where a number is not finite, as JSON has none of those."""
    if values is None:
        return None
    return [_numbers(row) for row in values] if values.ndim == 2 else [_number(v) for v in values.tolist()]


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
