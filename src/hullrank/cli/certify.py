"""``hullrank certify``: a model against its own proof."""

from pathlib import Path

from hullrank._pipelines import unwrap
from hullrank.cli.console import out, print_json, table, working
from hullrank.cli.data import Columns
from hullrank.cli.model import Model
from hullrank.exceptions import HullrankError


def run_certify(
    model_path: Path,
    path: Path,
    columns: Columns,
    decimal: str | None,
    *,
    tol: float,
    time_limit: float | None,
    as_json: bool,
) -> None:
    """Recompute the objective of a model from its file and its training data, and bound it by a new solve."""
    model = Model.load(model_path, path)
    data = model.load_data(path, model.named(columns, weights_of_fit=True), decimal)
    from hullrank.reports.certifying import certify

    inside = unwrap(model.pipeline)
    step, X = inside.model, inside.transform(data.X)
    given = data.fit_parameters(step)
    with working(f"certifying {type(step).__name__} on {len(data):,} rows"):
        verdict = certify(step, X, model.target(data), tol=tol, time_limit=time_limit, **given)
    facts = {**verdict.facts, "certified": verdict.holds}
    if as_json:
        print_json(facts)
    else:
        rows = [(key, f"{value:.10g}" if isinstance(value, float) else str(value)) for key, value in facts.items()]
        out.print(table(f"{type(step).__name__} on {len(data):,} rows", ("quantity", "value"), rows))
    if not verdict.holds:
        raise HullrankError(f"the certificate does not hold for these rows: {verdict.reason}")
