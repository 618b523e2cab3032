"""``hullrank fit``: from a table to a model file."""

from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import hullrank
from hullrank.cli.console import note, print_json, say, working
from hullrank.cli.data import Columns, Data, declared_order, load_data, target_values
from hullrank.exceptions import HullrankError, TableError
from hullrank.order import OrderGraph


def run_fit(
    path: Path,
    columns: Columns,
    model_file: Path,
    *,
    method: str,
    order: str | None,
    edges: Path | None,
    settings: list[str],
    as_json: bool,
) -> None:
    """Fit a method to a table, say how good it is, and save it."""
    data = load_data(path, columns)
    graph = declared_order(data.y, order, edges)
    from hullrank.cli.methods import build, parse_settings, takes
    from hullrank.io import save

    if data.qid is not None and not takes(method, "qid"):
        note(f"method {method} ranks all rows together; the queries only matter for ranking and evaluation")
    parameters, y, grades = arrange(method, parse_settings(settings), data, graph)
    pipeline = build(method, parameters, sparse=data.sparse)
    start = perf_counter()
    Z = _fit_in_stages(pipeline, data, y, f"fitting {method} to {len(data):,} rows")
    seconds = perf_counter() - start
    left_out = [c["name"] for c in getattr(pipeline[0], "columns_", ()) if c["kind"] == "left out"]
    if left_out:
        note(f"left out, because empty or different in every row: {', '.join(left_out)}")
    for name in _counters(data):
        note(f"column {name!r} only counts the rows; leave it out by --drop {name}")
    about = {
        "method": method,
        "rows": len(data),
        "target": columns.target,
        "qid": columns.qid or ("" if data.qid is not None else None),
        "weights": columns.weights,
        "grades": grades,
    }
    save(pipeline, model_file, about=about)
    _report(pipeline.steps[-1][1], Z, y, data, seconds, model_file, about, as_json)


def _counters(data: Data) -> list[str]:
    """Columns of features that are n, n + 1, n + 2, ... in the order of the file."""
    if data.sparse or len(data) < 3:
        return []
    steps = np.diff(data.numbers)
    return [c.name for c in data.X if c.dtype.is_integer() and np.array_equal(np.diff(c.to_numpy()), steps)]


def arrange(
    method: str, parameters: dict[str, Any], data: Data, graph: OrderGraph | None
) -> tuple[dict[str, Any], Any, list[Any] | None]:
    """Parameters and target as the method wants them, and the grades by name where it only sees their numbers."""
    from hullrank.cli.methods import takes

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
    place = {label: code for code, label in enumerate(labels)}
    unknown = next((value for value in y.tolist() if value not in place), None)
    if unknown is not None:
        raise TableError(f"grade {unknown!r} is not in the declared order")
    return parameters, np.array([place[value] for value in y.tolist()]), labels


def fit_pipeline(pipeline: Any, data: Data, y: Any) -> None:
    """Fit, handing weights and queries to the model."""
    extra = _fit_parameters(pipeline.steps[-1][1], data)
    pipeline.fit(data.X, y, **{f"model__{name}": values for name, values in extra.items()})


def _fit_in_stages(pipeline: Any, data: Data, y: Any, title: str) -> Any:
    """The same step by step, with progress; gives what the model was fitted on."""
    from hullrank.cli.progress import watching

    (_, prepare), (_, model) = pipeline.steps
    extra = _fit_parameters(model, data)
    with working(f"encoding {data.X.shape[1]:,} columns"):
        Z = prepare.fit_transform(data.X)
    with working(title) as advance, watching(model, advance):
        model.fit(Z, y, **extra)
    return Z


def _fit_parameters(model: Any, data: Data) -> dict[str, Any]:
    """Weights, and queries if the model takes them."""
    from sklearn.utils.validation import has_fit_parameter

    given = {"sample_weight": data.weights, "qid": data.qid}
    taken = {name: values for name, values in given.items() if values is not None and has_fit_parameter(model, name)}
    if data.weights is not None and "sample_weight" not in taken:
        raise HullrankError(f"{type(model).__name__} takes no weights of rows; leave out --weights")
    return taken


def _report(
    model: Any, Z: Any, y: Any, data: Data, seconds: float, model_file: Path, about: dict[str, Any], as_json: bool
) -> None:
    from hullrank.cli.model import pair_accuracies

    rows = about["rows"]
    with working(f"scoring {rows:,} rows"):
        measures = pair_accuracies(model, y, model.score_samples(Z), data.qid, data.weights)
    certificate = getattr(model, "certificate_", None)
    if as_json:
        print_json(
            {
                "model": str(model_file),
                "method": about["method"],
                "rows": rows,
                **measures,
                "certificate": certificate_fields(certificate),
                "seconds": seconds,
                "library": hullrank.__version__,
            }
        )
        return
    if certificate is not None:
        say(str(certificate))
    name, accuracy = list(measures.items())[-1]
    say(f"\n{name.capitalize()} on these {rows:,} rows: {accuracy:.4f}  ({seconds:.2f} s)")
    say(f"Saved to {model_file}")


def certificate_fields(certificate: Any) -> dict[str, Any] | None:
    """What a certificate states, for JSON."""
    if certificate is None:
        return None
    names = ("status", "primal", "dual", "value", "upper_bound", "gap", "relative_gap", "iterations", "seconds")
    more = ("solver", "n_order_constraints", "cause")
    return {name: getattr(certificate, name) for name in (*names, *more) if hasattr(certificate, name)}
