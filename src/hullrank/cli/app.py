"""The command line: names, options and help; every command hands over to a function of its own."""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    name="hullrank",
    help="Learn to rank from any order between groups of examples, with a certificate for every answer.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)

Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


def _version(show: bool) -> None:
    if show:
        import hullrank

        typer.echo(f"hullrank {hullrank.__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Where to draw the score line (PNG).")] = Path("hullrank-demo.png"),
    json: Json = False,
) -> None:
    """Fit four models to bundled data, compare them, and draw the score line.

    Example: `hullrank demo --out score-line.png`
    """
    from hullrank.cli.demo import run_demo

    run_demo(out, as_json=json)
