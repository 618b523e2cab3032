"""The command line: names, options and help; every command hands over to a function of its own."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from hullrank.cli import begin, use
from hullrank.cli.options import (
    DataFile,
    Dates,
    Decimal,
    Drop,
    Edges,
    Groups,
    Json,
    Memory,
    Method,
    MethodList,
    Order,
    Qid,
    Set,
    Target,
    Tune,
    Weights,
    Words,
)

app = typer.Typer(
    name="hullrank",
    help="Learn to rank from any order between groups of examples, with a certificate for every answer.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


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


def _add(*commands: Callable[..., None]) -> None:
    for command in commands:
        app.command()(command)


_add(begin.demo, begin.sample, begin.columns)
app.command("app")(begin.page)


@app.command()
def fit(
    data: DataFile,
    out: Annotated[Path, typer.Option("--out", "-o", help="Model file to write; - is standard output.")] = Path(
        "model.hull"
    ),
    target: Target = None,
    order: Order = None,
    edges: Edges = None,
    method: Method = "hull",
    qid: Qid = None,
    groups: Groups = None,
    weights: Weights = None,
    drop: Drop = None,
    words: Words = None,
    set_: Set = None,
    decimal: Decimal = None,
    dates: Dates = None,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Learn the probability of every grade too; `rank` then adds them.")
    ] = False,
    columns: Annotated[bool, typer.Option("--columns", help="Show what became of every column.")] = False,
    cv: Annotated[bool, typer.Option("--cv/--no-cv", help="Measure on rows left out, in five quick folds.")] = True,
    tune: Tune = False,
    memory: Memory = None,
    force: Annotated[bool, typer.Option("--force", "-f", help="Replace a model file that exists.")] = False,
    pairs: Annotated[
        Path | None,
        typer.Option("--pairs", help="File of comparisons: ids of the row preferred and the other, perhaps a weight."),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option("--id", metavar="COLUMN", help="Column with the ids that --pairs uses (else row numbers from 1)."),
    ] = None,
    json: Json = False,
) -> None:
    """Learn a ranking from a table and save it.

    Example: `hullrank fit data.csv --target grade --order "poor < fair < good" --out model.hull`
    """
    from hullrank.cli.data import Columns, Reading
    from hullrank.cli.fit import Wishes, run_fit
    from hullrank.cli.parts import memory_in_bytes

    named = Columns(target, qid, weights, tuple(drop or ()), groups)
    reading = Reading(decimal, dates, tuple(words or ()), find_target=order is None and edges is None)
    room = memory_in_bytes(memory)
    wishes = Wishes(method, order, edges, tuple(set_ or ()), cv, columns, force, json, probabilities, room, tune)
    if pairs is not None or key is not None:
        from hullrank.cli.pairs import run_fit_pairs

        if pairs is None:
            raise typer.BadParameter("--id names the rows that --pairs compares; add --pairs FILE")
        run_fit_pairs(data, named, reading, out, wishes, pairs, key)
        return
    run_fit(data, named, reading, out, wishes)


@app.command()
def compare(
    data: DataFile,
    target: Target = None,
    methods: MethodList = "all",
    cv: Annotated[int, typer.Option(min=2, help="Number of folds.")] = 5,
    order: Order = None,
    edges: Edges = None,
    qid: Qid = None,
    groups: Groups = None,
    weights: Weights = None,
    drop: Drop = None,
    words: Words = None,
    set_: Set = None,
    decimal: Decimal = None,
    dates: Dates = None,
    tune: Tune = False,
    json: Json = False,
) -> None:
    """Compare methods by cross-validation, with intervals and significance.

    Example: `hullrank compare data.csv --target grade --order "poor < fair < good" --methods all --cv 5`
    """
    from hullrank.cli.compare import run_compare
    from hullrank.cli.data import Columns, Reading

    columns = Columns(target, qid, weights, tuple(drop or ()), groups)
    reading = Reading(decimal, dates, tuple(words or ()), find_target=order is None and edges is None)
    run_compare(
        data, columns, reading, methods=methods, cv=cv, order=order, edges=edges, settings=set_ or [], tune=tune,
        as_json=json,
    )  # fmt: skip


_add(use.rank, use.evaluate, use.explain, use.certify, use.report, use.export)
_add(begin.methods, begin.doctor, begin.reproduce)
