"""``hullrank evaluate``: how good a model is on a table with grades."""

from pathlib import Path
from typing import Any

import numpy as np

from hullrank.cli.console import out, print_json, table
from hullrank.cli.data import Columns
from hullrank.cli.model import Model, pair_accuracies, total_order
from hullrank.cli.parts import Placed
from hullrank.cli.retrieval import MOST_GRADES, Lists, list_measures
from hullrank.cli.wording import counted


def run_evaluate(
    model_path: Path,
    path: Path,
    columns: Columns,
    decimal: str | None,
    *,
    lists: Lists,
    memory: int | None,
    as_json: bool,
) -> None:
    """Compare the ranking of a table with its grades."""
    model = Model.load(model_path, path)
    rows = Placed.read(model, path, model.named(columns), decimal, memory)
    model.tell_new_groups(rows.groups)
    measures = measure(model, rows, lists)
    if as_json:
        print_json({"rows": len(rows), **measures})
        return
    out.print(table(_title(rows), ("measure", "value"), measures.items()))


def _title(rows: Placed) -> str:
    queries = "" if rows.qid is None else f" in {len(np.unique(rows.qid)):,} queries"
    groups = "" if rows.groups is None else f" of {len(np.unique(rows.groups)):,} groups"
    return f"{counted(len(rows), 'rows')}{queries}{groups}"


def measure(model: Model, rows: Placed, lists: Lists) -> dict[str, float]:
    """Pair accuracy; figures of lists if there are queries; and grade errors where the model predicts grades."""
    from hullrank.metrics import accuracy_within, mean_absolute_rank_error

    measures = pair_accuracies(model.step, rows.y, rows.scores, rows.qid, rows.weights, rows.groups)
    if rows.qid is not None or lists.asked_for:
        measures |= list_measures(model, rows.y, rows.scores, rows.qid, rows.weights, lists)
    classes = total_order(model.step)
    if rows.grades is not None and classes is not None and len(classes) <= MOST_GRADES:
        options: dict[str, Any] = {"classes": classes, "sample_weight": rows.weights}
        measures["mean rank error"] = mean_absolute_rank_error(rows.y, rows.grades, **options)
        measures["accuracy"] = accuracy_within(rows.y, rows.grades, 0, **options)
        measures["accuracy within 1"] = accuracy_within(rows.y, rows.grades, 1, **options)
    return measures
