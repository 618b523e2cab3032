"""``hullrank evaluate``: how good a model is on a table with grades."""

from pathlib import Path
from typing import Any

import numpy as np

from hullrank.cli.console import out, print_json, table
from hullrank.cli.data import Data
from hullrank.cli.model import Model, pair_accuracies, total_order
from hullrank.cli.retrieval import Lists, list_measures

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
    data = model.load_data(
        path, target=target or model.about.get("target") or "", qid=column, weights=weights, decimal=decimal
    )
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
