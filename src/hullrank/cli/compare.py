"""``hullrank compare``: methods against each other."""

from pathlib import Path
from typing import Any

import numpy as np

from hullrank.cli.console import note, out, print_json, table, working
from hullrank.cli.data import Columns, Data, declared_order, load_data
from hullrank.cli.fit import arrange, fit_pipeline
from hullrank.cli.methods import build, known_methods, parse_settings, takes
from hullrank.exceptions import HullrankError
from hullrank.reports.comparison import compare, folds

_SLOW = "exact"  # searches for up to a minute a fold


def run_compare(
    path: Path,
    columns: Columns,
    *,
    methods: str,
    cv: int,
    order: str | None,
    edges: Path | None,
    settings: list[str],
    as_json: bool,
) -> None:
    """Cross-validate methods on one table and say which differ from the best."""
    data = load_data(path, columns)
    graph = declared_order(data.y, order, edges)
    chosen = [m for m in known_methods() if m != _SLOW] if methods == "all" else methods.replace(" ", "").split(",")
    parameters = parse_settings(settings)
    runs: dict[str, Any] = {}
    for method in chosen:
        own = {name: value for name, value in parameters.items() if takes(method, name)}
        try:
            arranged = arrange(method, own, data, graph)
        except HullrankError as error:
            if methods != "all":
                raise
            note(f"{method} left out: {error}")
            continue
        runs[method] = _run(method, data, arranged, graph)
    with working(f"comparing {len(runs)} methods in {cv} folds of {len(data):,} rows"):
        splits = folds(np.asarray(data.y), data.qid, cv)
        rows = compare(runs, splits)
    if as_json:
        print_json({"rows": len(data), "cv": cv, "methods": [vars(row) for row in rows]})
        return
    cells = [
        (r.name, f"{r.mean:.4f}", f"{r.low:.4f} to {r.high:.4f}", f"{r.p_value:.2g}", f"{r.seconds:.3f}") for r in rows
    ]
    title = f"Pair accuracy on held-out rows, {cv} folds of {len(data):,} rows (p: same as the best)"
    out.print(table(title, ("method", "mean", "95% interval", "p", "seconds a fold"), cells))


def _run(method: str, data: Data, arranged: Any, graph: Any) -> Any:
    """Train rows, test rows -> pair accuracy of the method on the test rows (within queries if there are any)."""
    from hullrank.metrics import swapped_pairs, wmw_score

    parameters, y, numbered = arranged
    order = None if graph is None or numbered else graph.closure()

    def run(train: Any, test: Any) -> float:
        pipeline = build(method, parameters, sparse=data.sparse)
        fit_pipeline(pipeline, data.take(train), y[train])
        truth, scores = y[test], pipeline.score_samples(data.X[test])
        weights = None if data.weights is None else data.weights[test]
        seen = None if order is None else order.restrict(np.unique(truth).tolist())
        if data.qid is None or (seen is not None and not seen.is_total):
            return wmw_score(truth, scores, order="full" if seen is None else seen, sample_weight=weights)
        classes = None if seen is None else list(seen.labels)
        return 1 - swapped_pairs(truth, scores, qid=data.qid[test], classes=classes, sample_weight=weights)

    return run
