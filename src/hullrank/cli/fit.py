"""``hullrank fit``: from a table to a model file."""

from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from hullrank._pipelines import unwrap
from hullrank.cli.columns import column_facts, tell_columns
from hullrank.cli.console import note, working
from hullrank.cli.data import Columns, Data, Reading, coded, load_data, recognised, target_values
from hullrank.cli.folds import Task
from hullrank.cli.grades import declared_order
from hullrank.cli.groups import check_every_group, refuse_beside_groups
from hullrank.cli.methods import build, check_method, fit_parameters, known_methods, parse_settings, prepared, takes
from hullrank.cli.order import AUTO, suggest_order
from hullrank.cli.output import check_model_place, placed
from hullrank.cli.parts import Placed, larger_than_memory
from hullrank.cli.result import tell_result
from hullrank.cli.tuning import check_tunable, tuned, words
from hullrank.exceptions import FoldsStopped, HullrankError
from hullrank.order import OrderGraph

_MANY_GRADES = 20
_MOST_PROBABLE = 50  # grades with a probability each


@dataclass(frozen=True)
class Wishes:
    """What the user asked of a fit, beside the data."""

    method: str = "hull"
    order: str | None = None
    edges: Path | None = None
    settings: tuple[str, ...] = ()
    cv: bool = True
    show_columns: bool = False
    force: bool = False
    as_json: bool = False
    probabilities: bool = False
    memory: int | None = None  # bytes
    tune: bool = False


def run_fit(path: Path, columns: Columns, reading: Reading, model_file: Path, wishes: Wishes) -> None:
    """Fit a method to a table, say how good it is, and save it."""
    read = {"table": path, "file of edges": wishes.edges}
    check_model_place(model_file, as_json=wishes.as_json, overwrite=wishes.force, read=read)
    check_method(wishes.method)
    parameters = parse_settings(wishes.settings)
    if wishes.tune:
        check_tunable(wishes.method, parameters)
    refuse_beside_groups(
        columns, {"--probabilities": wishes.probabilities, "--tune": wishes.tune, "--order auto": wishes.order == AUTO}
    )
    if columns.groups is not None and not takes(wishes.method, "groups"):
        able = ", ".join(name for name in known_methods() if takes(name, "groups"))
        raise HullrankError(f"method {wishes.method} has no thresholds per group; use one of {able}")
    tables = larger_than_memory(path, wishes.memory, columns.qid if takes(wishes.method, "qid") else None)
    if tables is not None:
        from hullrank.cli.fit_parts import run_fit_in_parts

        run_fit_in_parts(tables, columns, reading, model_file, wishes)
        return
    data = load_data(path, columns, reading)
    if wishes.order == AUTO and wishes.edges is None:
        suggest_order(data, reading, wishes.method, parameters, as_json=wishes.as_json)
        return
    graph = declared_order(data.y, wishes.order, wishes.edges)
    from hullrank.io import save

    check_every_group(data, graph, columns)
    forms = recognised(data, reading)
    settings, y, grades = arrange(wishes.method, parameters, data, graph)
    advise(wishes.method, data, y, graph)
    if wishes.probabilities:
        _check_grades(wishes.method, data, y, graph)
    order = None if graph is None or grades else graph.closure()
    task = Task(wishes.method, data, y, settings, order, forms, wishes.probabilities, wishes.tune)
    if wishes.tune:
        settings = _tuned_settings(task)
    pipeline = build(wishes.method, settings, sparse=data.sparse, forms=forms, probabilities=wishes.probabilities)
    start = perf_counter()
    Z = _fit_in_stages(pipeline, data, y, f"fitting {wishes.method} to {len(data):,} rows")
    seconds = perf_counter() - start
    tell_columns(data, pipeline[0])
    facts = column_facts(data, pipeline[0]) if wishes.show_columns else None
    notes = about_fit(wishes.method, columns, data, grades)
    with placed(model_file) as place:
        save(pipeline, place, about=notes)
        model = unwrap(pipeline).model
        try:
            with working(f"scoring {len(data):,} rows", keep=True):
                rows = Placed(y, model.score_samples(Z), None, data.weights, data.qid, data.groups)
            held_out = tell_result(model, rows, task, seconds, model_file, wishes.cv, wishes.as_json, facts)
            if held_out is not None:
                save(pipeline, place, about={**notes, "held_out": held_out})
        except KeyboardInterrupt:
            note(f"stopped by Ctrl-C; the model is saved in {model_file}")


def _tuned_settings(task: Task) -> dict[str, Any]:
    """The settings of the best model of a grid, said in a note."""
    with working(f"tuning {task.method} in five folds of {len(task.data):,} rows"):
        settings = tuned(task)
    note(words(task.parameters, settings))
    return settings


def about_fit(method: str, columns: Columns, data: Data, grades: list[Any] | None) -> dict[str, Any]:
    """What other commands need to know to read tables as this one was read."""
    return {
        "method": method,
        "rows": len(data),
        "target": columns.target,
        "target_form": data.target_form,
        "decimal": None if data.style is None else data.style.decimal,
        "qid": columns.qid or ("" if data.qid is not None else None),
        "weights": columns.weights,
        "groups": columns.groups,
        "grades": grades,
    }


def advise(method: str, data: Data, y: Any, graph: OrderGraph | None) -> None:
    """Notes about a method that is not made for the data."""
    if data.qid is not None and not takes(method, "qid"):
        note(f"method {method} ranks all rows together; the queries only matter for ranking and evaluation")
    values = len(np.unique(y))
    if graph is None and not takes(method, "qid") and values > max(_MANY_GRADES, len(y) // 10):
        note(
            f"the target has {values:,} different values, and method {method} places every one on the score line; "
            "--method swapped-pairs is made for targets that are numbers"
        )


def _check_grades(method: str, data: Data, y: Any, graph: OrderGraph | None) -> None:
    """Refuse probabilities where they mean nothing: of numbers, within queries, of grades not in one line."""
    grades, sizes = np.unique(y, return_counts=True)
    if len(grades) > _MOST_PROBABLE:
        raise HullrankError(
            f"--probabilities are of grades, and the target has {len(grades):,} different values; leave it out, "
            "or join values to grades"
        )
    if data.qid is not None and takes(method, "qid"):
        raise HullrankError(
            f"method {method} compares rows within queries only, so its scores say nothing about grades across them; "
            "leave out --probabilities, or --qid"
        )
    if graph is not None and not graph.is_total:
        raise HullrankError("--probabilities need grades in one line, and this order is partial")
    if sizes.min() < 2:
        raise HullrankError(
            f"only one row has the grade {grades.tolist()[sizes.argmin()]!r}, too few for --probabilities; join it "
            "with a neighbour, or leave it out"
        )


def arrange(
    method: str, parameters: dict[str, Any], data: Data, graph: OrderGraph | None
) -> tuple[dict[str, Any], Any, list[Any] | None]:
    """Parameters and target as the method wants them, and the grades by name where it only sees their numbers."""
    y = target_values(data.y)
    if graph is None:
        return parameters, y, None
    if takes(method, "order"):
        return {**parameters, "order": graph}, y, None
    if not graph.is_total:
        raise HullrankError(f"method {method} needs a total order, and this one is partial; use --method hull")
    labels = list(graph.labels)
    if takes(method, "classes"):
        return {**parameters, "classes": labels}, y, None
    return parameters, coded(y, labels), labels


def _fit_in_stages(pipeline: Any, data: Data, y: Any, title: str) -> Any:
    """Fit with progress, handing weights, queries and groups to the model; gives what the model was fitted on."""
    from hullrank.cli.progress import watching

    model = pipeline[-1]
    extra = fit_parameters(model, data)
    with working(f"encoding {data.X.shape[1]:,} columns"):
        Z = prepared(pipeline, data.X)
    with working(title, keep=True) as advance, watching(model, advance):
        try:
            model.fit(Z, y, **extra)
        except FoldsStopped as stop:
            pipeline.steps[-1] = ("model", stop.estimator)
            note("no probabilities: Ctrl-C came before they were learned, and the model is kept without them")
    return Z
