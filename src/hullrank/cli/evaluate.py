"""``hullrank evaluate`` and ``hullrank explain``: how good a model is, and what it learned."""

from pathlib import Path
from typing import Any

import numpy as np

import hullrank
from hullrank.cli.console import note, out, print_json, say, table
from hullrank.cli.data import Data
from hullrank.cli.model import Model, pair_accuracies, total_order
from hullrank.cli.result import certificate_fields
from hullrank.cli.retrieval import Lists, list_measures

_MOST = 15
_MOST_GRADES = 50  # beyond, the target is a number rather than a grade


def run_evaluate(
    model_path: Path,
    path: Path,
    *,
    target: str | None,
    qid: str | None,
    weights: str | None,
    decimal: str | None,
    lists: Lists,
    as_json: bool,
) -> None:
    """Compare the ranking of a table with its grades."""
    model = Model.load(model_path, path)
    column = model.qid_column(qid, False)
    data = model.load_data(path, target=_target(model, target), qid=column, weights=weights, decimal=decimal)
    measures = measure(model, data, lists)
    if as_json:
        print_json({"rows": len(data), **measures})
        return
    out.print(table(_title(data), ("measure", "value"), measures.items()))


def _title(data: Data) -> str:
    queries = "" if data.qid is None else f" in {len(np.unique(data.qid)):,} queries"
    return f"{len(data):,} rows{queries}"


def measure(model: Model, data: Data, lists: Lists) -> dict[str, float]:
    """Pair accuracy; figures of lists if there are queries; and grade errors where the model predicts grades."""
    from hullrank.metrics import accuracy_within, mean_absolute_rank_error

    y, scores = model.target(data), model.pipeline.score_samples(data.X)
    measures = pair_accuracies(model.step, y, scores, data.qid, data.weights)
    if data.qid is not None or lists.asked_for:
        measures |= list_measures(model, y, scores, data.qid, data.weights, lists)
    predicted, classes = model.grades(data.X), total_order(model.step)
    if predicted is not None and classes is not None and len(classes) <= _MOST_GRADES:
        options: dict[str, Any] = {"classes": classes, "sample_weight": data.weights}
        measures["mean rank error"] = mean_absolute_rank_error(y, predicted, **options)
        measures["accuracy"] = accuracy_within(y, predicted, 0, **options)
        measures["accuracy within 1"] = accuracy_within(y, predicted, 1, **options)
    return measures


def _target(model: Model, given: str | None) -> str:
    return given or model.about.get("target") or ""


def run_explain(model_path: Path, path: Path | None, *, target: str | None, decimal: str | None, as_json: bool) -> None:
    """Print what the model learned, and which rows of a table contradict it most."""
    model = Model.load(model_path, path)
    facts: dict[str, Any] = {
        "model": type(model.step).__name__,
        "method": model.about.get("method"),
        "library": model.library or hullrank.__version__,
        "parameters": model.step.get_params(deep=False),
        "certificate": certificate_fields(getattr(model.step, "certificate_", None)),
        "weights": weights_by_size(model),
        "grades": _grades(model),
    }
    if path is not None:
        data = model.load_data(path, target=_target(model, target), qid=None, decimal=decimal)
        facts["violators"] = _violators(model, data)
    if as_json:
        print_json(facts)
        return
    _print(model, facts)


def weights_by_size(model: Model) -> list[dict[str, Any]]:
    """Weights of the features, largest first; empty for kernel models."""
    coef = getattr(model.step, "coef_", None)
    if coef is None or len(coef) != len(names := model.feature_names()):
        return []
    return [{"feature": names[i], "weight": float(coef[i])} for i in np.argsort(-np.abs(coef), kind="stable")]


def _grades(model: Model) -> list[dict[str, Any]]:
    classes, intervals = model.classes, getattr(model.step, "intervals_", None)
    thresholds = getattr(model.step, "thresholds_", None)
    if classes is None or intervals is None:
        return []
    rows = []
    for c, grade in enumerate(classes):
        row = {"grade": grade, "from": float(intervals[c, 0]), "to": float(intervals[c, 1])}
        if thresholds is not None:
            row["threshold above"] = float(thresholds[c]) if c < len(thresholds) else None
        rows.append(row)
    return rows


def _violators(model: Model, data: Data) -> list[dict[str, Any]]:
    from hullrank.plots.placement import bounds_of, place

    y, scores = model.target(data), model.pipeline.score_samples(data.X)
    placed = place(y, scores, **bounds_of(model.step))
    return [
        {"row": int(data.numbers[i]), "grade": y[i], "score": float(scores[i]), "beyond": float(placed.violation[i])}
        for i in placed.violators[:_MOST]
    ]


def _print(model: Model, facts: dict[str, Any]) -> None:
    say(f"{facts['model']} (hullrank {facts['library']})", "bold")
    certificate = getattr(model.step, "certificate_", None)
    if certificate is not None:
        say(str(certificate))
    weights = facts["weights"]
    if weights:
        shown = [(w["feature"], w["weight"]) for w in weights[:_MOST]]
        more = f", the largest {_MOST} of {len(weights)}" if len(weights) > _MOST else ""
        out.print(table(f"\nWeights{more}", ("feature", "weight"), shown))
    if 0 < len(facts["grades"]) <= _MOST_GRADES:
        columns = list(facts["grades"][0])
        out.print(table("\nScore line", columns, ([row[c] for c in columns] for row in facts["grades"])))
    if facts.get("violators"):
        rows = [tuple(v.values()) for v in facts["violators"]]
        out.print(table("\nRows that contradict the model most", ("row", "grade", "score", "beyond"), rows, left=0))
    elif "violators" in facts and not facts["grades"]:
        note("this model has no place for every grade; `hullrank report` shows the pairs it ranks most wrongly")
