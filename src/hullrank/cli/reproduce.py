"""``hullrank reproduce``: the tables and figures of a paper, with our numbers beside the published ones."""

import sys
from datetime import UTC, datetime
from pathlib import Path

from hullrank.cli.console import err, note, out, table
from hullrank.exceptions import HullrankError
from hullrank.experiments.base import PAPERS, Results, load_experiment
from hullrank.experiments.pages import write_report
from hullrank.experiments.runner import Outcome, run_experiment


def run_reproduce(paper: str, *, quick: bool, jobs: int, folder: Path | None) -> None:
    """Run one paper's experiment, or all four, and write what came out."""
    if paper != "all" and paper not in PAPERS:
        raise HullrankError(f"there is no paper {paper!r}; choose all, {', '.join(PAPERS)}")
    base = Path("reproduction-quick" if quick else "reproduction") if folder is None else folder
    failed = 0
    for name in PAPERS if paper == "all" else (paper,):
        outcome = _reproduce(name, base / name if paper == "all" or folder is None else base, quick, jobs)
        if outcome.interrupted:
            sys.exit(130)
        failed += len(outcome.failures)
    if failed:
        raise HullrankError(f"{failed} cells failed; the same command tries them again")


def _reproduce(name: str, folder: Path, quick: bool, jobs: int) -> Outcome:
    experiment = load_experiment(name)
    outcome = run_experiment(experiment, folder, quick=quick, jobs=jobs, console=err)
    for dataset, reason in outcome.missing.items():
        note(f"{dataset} left out: {reason}", "warning: ", "yellow")
    if not outcome.wanted:
        raise HullrankError(f"none of the data sets of {name} can be had; set HULLRANK_DATA to a folder that has them")
    for failure in outcome.failures:
        note(failure, "failed: ", "red")
    if outcome.reused:
        note(f"{outcome.reused} of {outcome.wanted} cells were done before and were kept")
    if outcome.interrupted:
        note(f"Stopped with {len(outcome.records)} of {outcome.wanted} cells done; the same command goes on from there")
        return outcome
    report = experiment.report(Results(outcome.records), quick)
    command = f"hullrank reproduce {name}{' --quick' if quick else ''} --jobs {jobs}"
    files = write_report(report, folder, command=command, date=datetime.now(UTC).strftime("%d %B %Y"))
    for grid in report.tables:
        out.print(table(grid.title, grid.columns, [[c.replace("**", "") for c in row] for row in grid.rows]))
    for finding in report.findings:
        out.print(finding, markup=False, highlight=False)
    out.print(f"Written: {', '.join(str(path) for path in files)}", markup=False, highlight=False)
    return outcome
