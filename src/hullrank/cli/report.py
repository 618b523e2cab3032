"""``hullrank report``: one HTML file about a model and a table."""

from pathlib import Path

from hullrank.cli.console import print_json, say, working
from hullrank.cli.model import Model


def run_report(
    model_path: Path,
    path: Path,
    report_file: Path,
    *,
    target: str | None,
    qid: str | None,
    weights: str | None,
    title: str,
    as_json: bool,
) -> None:
    """Write the report of a model on a table with grades."""
    from hullrank.reports.html import write_report

    model = Model.load(model_path)
    column = target or model.about.get("target") or ""
    data = model.load_data(path, target=column, qid=model.qid_column(qid, False), weights=weights)
    with working(f"writing {report_file}"):
        write_report(
            report_file,
            model.pipeline,
            data.X,
            model.target(data),
            title=title,
            names=model.feature_names(),
            labels=model.about.get("grades"),
            sample_weight=data.weights,
            qid=data.qid,
            numbers=data.numbers,
        )
    if as_json:
        print_json({"report": report_file, "rows": len(data)})
    else:
        say(f"The report on {len(data):,} rows is in {report_file}")
