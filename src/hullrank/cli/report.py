"""``hullrank report``: one HTML file about a model and a table."""

from pathlib import Path

from hullrank.cli.console import print_json, say, working
from hullrank.cli.data import Columns
from hullrank.cli.model import Model
from hullrank.cli.output import REPORT, STDOUT, check_place, placed
from hullrank.cli.wording import counted


def run_report(
    model_path: Path, path: Path, report_file: Path, columns: Columns, decimal: str | None, *, title: str, as_json: bool
) -> None:
    """Write the report of a model on a table with grades."""
    check_place(report_file, is_a=REPORT, as_json=as_json, read={"model": model_path, "table": path})
    from hullrank.reports.html import write_report

    model = Model.load(model_path, path)
    data = model.load_data(path, model.named(columns), decimal)
    with working(f"writing {report_file}"), placed(report_file) as place:
        write_report(
            place,
            model.pipeline,
            model.known_columns(data.X),
            model.target(data),
            title=title,
            names=model.feature_names(),
            labels=model.about.get("grades"),
            sample_weight=data.weights,
            qid=data.qid,
            groups=data.groups,
            numbers=data.numbers,
            table=data.rows,
            held_out=model.held_out,
        )
    if as_json:
        print_json({"report": report_file, "rows": len(data)})
    elif str(report_file) != STDOUT:
        say(f"The report on {counted(len(data), 'rows')} is in {report_file}")
