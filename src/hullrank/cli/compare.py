"""``hullrank compare`` and ``hullrank certify``: methods against each other, a model against its own proof."""

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from hullrank.cli.console import note, out, print_json, table, working
from hullrank.cli.data import Columns, Data, declared_order, load_data
from hullrank.cli.fit import arrange, fit_pipeline
from hullrank.cli.methods import build, known_methods, parse_settings, takes
from hullrank.cli.model import Model
from hullrank.exceptions import HullrankError
from hullrank.reports.comparison import compare, folds
from hullrank.reports.objective import recomputed_objective

_QUICK = (
    "hull", "hull-edges", "fixed-margin", "all-thresholds", "nu-margin", "sum-of-margins", "swapped-pairs", "prank",
)  # fmt: skip


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
    chosen = [m for m in _QUICK if m in known_methods()] if methods == "all" else methods.replace(" ", "").split(",")
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


def run_certify(model_path: Path, path: Path, *, target: str | None, weights: str | None, as_json: bool) -> None:
    """Recompute the objective of a model from its file and its training data, and bound it by a new solve."""
    model = Model.load(model_path)
    step = model.step
    data = model.load_data(
        path,
        target=target or model.about.get("target") or "",
        qid=model.qid_column(None, False),
        weights=weights or model.about.get("weights"),
    )
    y = model.target(data)
    Z = model.pipeline[:-1].transform(data.X) if hasattr(model.pipeline, "steps") else data.X
    queries = {"qid": data.qid} if data.qid is not None and has_fit_parameter(step, "qid") else {}
    objective = recomputed_objective(step, Z, y, data.weights, **queries)
    with working("solving again for a lower bound"):
        again = clone(step).fit(Z, y, sample_weight=data.weights, **queries)
    bound = again.certificate_.dual
    claimed = step.certificate_
    scale = max(abs(objective), abs(bound), claimed.floor)
    gap = (objective - bound) / scale if scale > 0 else 0.0
    agrees = abs(objective - claimed.primal) <= 1e-6 * max(scale, abs(claimed.primal))
    holds = bool(agrees and gap <= 10 * max(step.tol, claimed.relative_gap))
    facts = {
        "objective in the file": claimed.primal,
        "objective recomputed": objective,
        "lower bound in the file": claimed.dual,
        "lower bound recomputed": bound,
        "relative gap": gap,
        "certified": holds,
    }
    if as_json:
        print_json(facts)
    else:
        out.print(table(f"{type(step).__name__} on {len(data):,} rows", ("quantity", "value"), _precise(facts)))
    if not holds:
        raise HullrankError(
            "the certificate does not hold for these rows; the data or the model differ from those of the fit"
        )


def _precise(facts: dict[str, Any]) -> list[tuple[str, str]]:
    return [(key, f"{value:.10g}" if isinstance(value, float) else str(value)) for key, value in facts.items()]
