"""``hullrank compare``: methods against each other."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from hullrank.cli.console import note, out, print_json, stopped, table, working
from hullrank.cli.data import Columns, Data, Reading, load_data, recognised
from hullrank.cli.folds import Remarks, Run, Task, runner
from hullrank.cli.grades import declared_order
from hullrank.cli.groups import check_every_group, refuse_beside_groups
from hullrank.cli.methods import check_method, is_slow, known_methods, parse_settings, takes
from hullrank.cli.tuning import is_tunable, what_is_tuned
from hullrank.exceptions import HullrankError


def run_compare(
    path: Path,
    columns: Columns,
    reading: Reading,
    *,
    methods: str,
    cv: int,
    order: str | None,
    edges: Path | None,
    settings: list[str],
    tune: bool,
    as_json: bool,
) -> None:
    """Cross-validate methods on one table and say which differ from the best."""
    from hullrank.reports.comparison import compare, folds

    chosen = [m for m in known_methods() if not is_slow(m)] if methods == "all" else methods.replace(" ", "").split(",")
    for method in chosen:
        check_method(method)
    refuse_beside_groups(columns, {"--tune": tune})
    data = load_data(path, columns, reading)
    graph = declared_order(data.y, order, edges)
    check_every_group(data, graph, columns)
    tasks = _tasks(chosen, data, graph, reading, parse_settings(settings), methods != "all")
    if data.groups is not None:
        _note_groups(list(tasks))
    if tune:
        tasks = _to_tune(tasks)
    remarks = Remarks()
    runs = {method: _naming(method, runner(task, remarks)) for method, task in tasks.items()}
    with working(f"comparing {len(runs)} methods", keep=True) as advance:

        def hear(share: float, method: str, fold: int) -> None:
            remarks.fold = fold
            advance(share, f"{method}, fold {fold} of {cv}")

        rows = compare(runs, folds(np.asarray(data.y), data.qid, cv), hear)
    remarks.tell()
    figure = next(iter(tasks.values())).figure
    if as_json:
        shown = [{**vars(row), "collapsed": row.collapsed} for row in rows]
        print_json({"rows": len(data), "cv": cv, "figure": figure, "methods": shown, "of": len(runs)})
    else:
        title = f"{figure.capitalize()} on held-out rows, {cv} folds of {len(data):,} rows (p: same as the best)"
        out.print(
            table(title, ("method", "mean", "95% interval", "p", "seconds a fold"), [_cells(row, cv) for row in rows])
        )
    if len(rows) < len(runs):
        note(f"stopped by Ctrl-C; {len(rows)} of {len(runs)} methods")
        raise KeyboardInterrupt


def _tasks(
    methods: list[str], data: Data, graph: Any, reading: Reading, parameters: dict[str, Any], strict: bool
) -> dict[str, Task]:
    """What every method is to do; one that does not fit the data is an error if ``strict``, else left out."""
    from hullrank.cli.fit import arrange

    for name in parameters:
        if not any(takes(method, name) for method in methods):
            raise HullrankError(f"none of these methods has a parameter {name!r}")
    forms, tasks = recognised(data, reading), {}
    for method in methods:
        own = {name: value for name, value in parameters.items() if takes(method, name)}
        try:
            settings, y, numbered = arrange(method, own, data, graph)
        except HullrankError as error:
            if strict:
                raise
            note(f"{method} left out: {error}")
            continue
        order = None if graph is None or numbered else graph.closure()
        tasks[method] = Task(method, data, y, settings, order, forms)
    return tasks


def _note_groups(methods: list[str]) -> None:
    """Say which methods learn as if there were no groups; their pairs are counted within groups all the same."""
    blind = [method for method in methods if not takes(method, "groups")]
    if blind:
        note(f"{', '.join(blind)}: learned as if a grade meant the same in all groups, measured within groups")


def _naming(method: str, run: Run) -> Run:
    """The same, and errors say which method they come from; after Ctrl-C they come from it."""

    def named(train: Any, test: Any) -> float:
        try:
            figure = run(train, test)
        except Exception as error:
            if stopped():
                raise KeyboardInterrupt from error
            if not isinstance(error, ValueError):
                raise
            raise HullrankError(f"method {method}: {error}; or leave it out of --methods") from error
        if stopped():  # a fit that hears Ctrl-C keeps its best answer so far, whose figure is not to be compared
            raise KeyboardInterrupt
        return figure

    return named


def _to_tune(tasks: dict[str, Task]) -> dict[str, Task]:
    """The tasks of methods that choose their own C in every fold; others stay as they are, with a note."""
    unable = [method for method in tasks if not is_tunable(method)]
    settled = [method for method, task in tasks.items() if is_tunable(method) and "C" in task.parameters]
    for methods, reason in ((unable, what_is_tuned()), (settled, "C is set by --set")):
        if methods:
            note(f"{', '.join(methods)} {'is' if len(methods) == 1 else 'are'} not tuned: {reason}")
    left = {*unable, *settled}
    return {method: task if method in left else replace(task, tune=True) for method, task in tasks.items()}


def _cells(row: Any, cv: int) -> tuple[str, ...]:
    if row.collapsed:
        where = "" if row.collapsed == cv else f" in {row.collapsed} of {cv} folds"
        return row.name, f"collapsed{where}", "", "", f"{row.seconds:.3f}"
    ends = f"{row.low:.4f} to {row.high:.4f}"
    return row.name, f"{row.mean:.4f}", ends, f"{row.p_value:.2g}", f"{row.seconds:.3f}"
