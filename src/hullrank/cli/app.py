"""The command line: names, options and help; every command hands over to a function of its own."""

from pathlib import Path
from typing import Annotated

import typer

from hullrank.cli.options import (
    DataFile,
    Dates,
    Decimal,
    Drop,
    Edges,
    Json,
    Memory,
    Method,
    MethodList,
    MethodName,
    ModelPath,
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


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Where to draw the score line (PNG); - is standard output.")] = Path(
        "hullrank-demo.png"
    ),
    json: Json = False,
) -> None:
    """Fit four models to bundled data, compare them, and draw the score line.

    Example: `hullrank demo --out score-line.png`
    """
    from hullrank.cli.demo import run_demo

    run_demo(out, as_json=json)


@app.command()
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


@app.command()
def columns(
    data: DataFile,
    words: Words = None,
    decimal: Decimal = None,
    dates: Dates = None,
    json: Json = False,
) -> None:
    """Show a table as the other commands understand it: kind, missing cells and examples of every column.

    Example: `hullrank columns data.csv`
    """
    from hullrank.cli.data import Reading
    from hullrank.cli.table_facts import run_columns

    run_columns(data, Reading(decimal, dates, tuple(words or ())), as_json=json)


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
    json: Json = False,
) -> None:
    """Learn a ranking from a table and save it.

    Example: `hullrank fit data.csv --target grade --order "poor < fair < good" --out model.hull`
    """
    from hullrank.cli.data import Columns, Reading
    from hullrank.cli.fit import Wishes, run_fit
    from hullrank.cli.parts import memory_in_bytes

    named = Columns(target, qid, weights, tuple(drop or ()))
    reading = Reading(decimal, dates, tuple(words or ()), find_target=order is None and edges is None)
    room = memory_in_bytes(memory)
    wishes = Wishes(method, order, edges, tuple(set_ or ()), cv, columns, force, json, probabilities, room, tune)
    run_fit(data, named, reading, out, wishes)


@app.command()
def rank(
    model: ModelPath,
    data: DataFile,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Table to write; - is standard output.")] = None,
    top: Annotated[int | None, typer.Option(min=1, help="Only the best rows (of every query).")] = None,
    qid: Qid = None,
    whole: Annotated[bool, typer.Option("--whole", help="Rank all rows together, whatever their query.")] = False,
    thresholds: Annotated[
        Path | None, typer.Option("--thresholds", help="JSON file with thresholds, as the report saves them.")
    ] = None,
    decimal: Decimal = None,
    raw: Annotated[
        bool, typer.Option("--raw", help="Write cells that begin with = + - @ as they are; spreadsheets may run them.")
    ] = False,
    memory: Memory = None,
    json: Json = False,
) -> None:
    """Rank the rows of a table: score, grade and rank, best first.

    Example: `hullrank rank model.hull new.csv --top 20 --out ranked.csv`
    """
    from hullrank.cli.parts import memory_in_bytes
    from hullrank.cli.rank import RankWishes, run_rank

    wanted = RankWishes(top, whole, thresholds, raw, memory_in_bytes(memory), json)
    run_rank(model, data, out, qid, decimal, wanted)


@app.command()
def evaluate(
    model: ModelPath,
    data: DataFile,
    target: Target = None,
    qid: Qid = None,
    weights: Weights = None,
    at: Annotated[
        str | None, typer.Option("--at", help="Places for NDCG and precision, as in 1,5,10 (with queries: 5,10).")
    ] = None,
    relevant: Annotated[
        str | None, typer.Option("--relevant", help="Lowest relevant grade, for P, MAP and MRR (all but the lowest).")
    ] = None,
    gain: Annotated[str, typer.Option("--gain", help="Gain of a grade in NDCG: linear, or exponential.")] = "linear",
    decimal: Decimal = None,
    memory: Memory = None,
    json: Json = False,
) -> None:
    """Compare a model's ranking with the grades of a table.

    Example: `hullrank evaluate model.hull test.csv`
    """
    from hullrank.cli.evaluate import run_evaluate
    from hullrank.cli.parts import memory_in_bytes
    from hullrank.cli.retrieval import Lists

    options = {"target": target, "qid": qid, "weights": weights, "decimal": decimal}
    lists, room = Lists(at, relevant, gain), memory_in_bytes(memory)
    run_evaluate(model, data, **options, lists=lists, memory=room, as_json=json)


@app.command()
def explain(
    model: ModelPath,
    data: Annotated[
        Path | None, typer.Argument(help="The training table, for errors; any table with grades, for contradictions.")
    ] = None,
    target: Target = None,
    qid: Qid = None,
    weights: Weights = None,
    resamples: Annotated[
        int, typer.Option("--resamples", min=0, help="Refits for the errors of the weights; 0 is none.")
    ] = 100,
    decimal: Decimal = None,
    json: Json = False,
) -> None:
    """Show what a model learned: weights with errors, the place of every grade, and the rows that contradict it.

    Example: `hullrank explain model.hull train.csv`
    """
    from hullrank.cli.explain import run_explain

    options = {"target": target, "qid": qid, "weights": weights, "decimal": decimal}
    run_explain(model, data, **options, resamples=resamples, as_json=json)


@app.command()
def compare(
    data: DataFile,
    target: Target = None,
    methods: MethodList = "all",
    cv: Annotated[int, typer.Option(min=2, help="Number of folds.")] = 5,
    order: Order = None,
    edges: Edges = None,
    qid: Qid = None,
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

    columns = Columns(target, qid, weights, tuple(drop or ()))
    reading = Reading(decimal, dates, tuple(words or ()), find_target=order is None and edges is None)
    run_compare(
        data, columns, reading, methods=methods, cv=cv, order=order, edges=edges, settings=set_ or [], tune=tune,
        as_json=json,
    )  # fmt: skip


@app.command()
def certify(
    model: ModelPath,
    data: DataFile,
    target: Target = None,
    qid: Qid = None,
    weights: Weights = None,
    decimal: Decimal = None,
    tol: Annotated[float, typer.Option(min=0, help="Relative gap that must hold, whatever the file says.")] = 1e-6,
    time_limit: Annotated[float | None, typer.Option(min=0, help="Seconds for the proof of an exact model.")] = None,
    json: Json = False,
) -> None:
    """Recompute a model's objective from its file and its training data, and bound it by a solve that starts there.

    Example: `hullrank certify model.hull train.csv`
    """
    from hullrank.cli.certify import run_certify

    options = {"target": target, "qid": qid, "weights": weights, "decimal": decimal}
    run_certify(model, data, **options, tol=tol, time_limit=time_limit, as_json=json)


@app.command()
def methods(
    method: MethodName = None,
    json: Json = False,
) -> None:
    """List the methods that `fit` and `compare` know, or show the parameters of one.

    Example: `hullrank methods hull`
    """
    from hullrank.cli.described import run_methods

    run_methods(method, as_json=json)


@app.command()
def doctor(json: Json = False) -> None:
    """Show versions, threads and caches."""
    from hullrank.cli.doctor import run_doctor

    run_doctor(as_json=json)


@app.command()
def report(
    model: ModelPath,
    data: DataFile,
    out: Annotated[Path, typer.Option("--out", "-o", help="HTML file to write; - is standard output.")] = Path(
        "report.html"
    ),
    target: Target = None,
    qid: Qid = None,
    weights: Weights = None,
    decimal: Decimal = None,
    title: Annotated[str, typer.Option(help="Headline of the report.")] = "Ranking report",
    json: Json = False,
) -> None:
    """Write a report that opens in any browser, without network: one HTML file.

    Example: `hullrank report model.hull data.csv --out report.html`
    """
    from hullrank.cli.report import run_report

    options = {"target": target, "qid": qid, "weights": weights, "decimal": decimal}
    run_report(model, data, out, **options, title=title, as_json=json)


@app.command()
def export(
    model: ModelPath,
    onnx: Annotated[Path, typer.Option("--onnx", help="ONNX file to write; - is standard output.")],
    json: Json = False,
) -> None:
    """Write a model in a form that other programs run.

    Example: `hullrank export model.hull --onnx model.onnx`
    """
    from hullrank.cli.console import print_json, say
    from hullrank.cli.output import STDOUT, check_place, placed

    check_place(onnx, as_json=json)
    from hullrank.io import export_onnx, load

    with placed(onnx) as place:
        export_onnx(load(model), place)
    if json:
        print_json({"onnx": onnx})
    elif str(onnx) != STDOUT:
        say(f"Exported to {onnx}")


@app.command()
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
