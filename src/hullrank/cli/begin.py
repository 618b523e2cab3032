"""Commands to begin with, and about hullrank itself: names, options and help."""

from pathlib import Path
from typing import Annotated

import typer

from hullrank.cli.options import DataFile, Dates, Decimal, Json, MethodName, Words


def demo(
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Where to draw the score line (PNG); - is standard output.")
    ] = Path("hullrank-demo.png"),
    json: Json = False,
) -> None:
    """Fit four models to bundled data, compare them, and draw the score line.

    Example: `hullrank demo --out score-line.png`
    """
    from hullrank.cli.demo import run_demo

    run_demo(out, as_json=json)


def sample(
    name: Annotated[str | None, typer.Argument(help="The table to write; without a name they are listed.")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="File to write, if not of the same name; - is standard output.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", "-f", help="Replace a file that exists.")] = False,
    json: Json = False,
) -> None:
    """Write a small table to try the other commands on.

    Example: `hullrank sample wine.csv`
    """
    from hullrank.cli.sample import run_sample

    run_sample(name, out, overwrite=force, as_json=json)


def columns(
    data: DataFile, words: Words = None, decimal: Decimal = None, dates: Dates = None, json: Json = False
) -> None:
    """Show a table as the other commands understand it: kind, missing cells and examples of every column.

    Example: `hullrank columns data.csv`
    """
    from hullrank.cli.columns import run_columns
    from hullrank.cli.data import Reading

    run_columns(data, Reading(decimal, dates, tuple(words or ())), as_json=json)


def page(
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port of the page; 0 is any free one.")] = 0,
    max_upload: Annotated[int, typer.Option("--max-upload", min=1, help="Largest table to take, in MB.")] = 200,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")] = True,
) -> None:
    """Rank on a page in the browser: drop a table, order its grades, fit, look, download.

    The page is on this machine only, and nothing leaves it.

    Example: `hullrank app`
    """
    from hullrank.app.serve import serve
    from hullrank.cli.console import say

    serve(port, max_upload, browser, lambda address: say(f"The page is at {address}\nCtrl-C ends it."))


def methods(method: MethodName = None, json: Json = False) -> None:
    """List the methods that `fit` and `compare` know, or show the parameters of one.

    Example: `hullrank methods hull`
    """
    from hullrank.cli.described import run_methods

    run_methods(method, as_json=json)


def doctor(json: Json = False) -> None:
    """Show versions, threads and caches."""
    from hullrank.cli.doctor import run_doctor

    run_doctor(as_json=json)


def reproduce(
    paper: Annotated[str, typer.Argument(help="hull, margins, pairs, exact, or all.")],
    quick: Annotated[bool, typer.Option("--quick", help="Two trials on bundled data, without network.")] = False,
    jobs: Annotated[int, typer.Option(min=1, help="Processes to run at once.")] = 1,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Folder for the results.")] = None,
) -> None:
    """Repeat a paper's experiment, our numbers beside the published ones; run again to go on after a stop.

    Example: `hullrank reproduce pairs --jobs 2 --out results/pairs`
    """
    from hullrank.cli.reproduce import run_reproduce

    run_reproduce(paper, quick=quick, jobs=jobs, folder=out)
