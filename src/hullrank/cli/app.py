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


Target = Annotated[str | None, typer.Option("--target", "-t", help="Column with the grades or values to rank by.")]
Qid = Annotated[str | None, typer.Option("--qid", help="Column with the query; rows are ranked within queries.")]
Weights = Annotated[str | None, typer.Option("--weights", help="Column with the weights of the rows.")]
Drop = Annotated[list[str] | None, typer.Option("--drop", help="Column to leave out (repeat for more).")]
Order = Annotated[str | None, typer.Option("--order", help="The order of the grades, as in 'poor < fair < good'.")]
Edges = Annotated[Path | None, typer.Option("--edges", help="File with two columns: lower grade, higher grade.")]
Set = Annotated[list[str] | None, typer.Option("--set", help="A parameter of the method, as in --set C=0.1.")]
DataFile = Annotated[Path, typer.Argument(help="CSV, TSV, Parquet, Arrow, JSON lines or SVMlight; - reads stdin.")]
ModelPath = Annotated[Path, typer.Argument(help="Model file (.hull).")]


@app.command()
def fit(
    data: DataFile,
    out: Annotated[Path, typer.Option("--out", "-o", help="Model file to write.")] = Path("model.hull"),
    target: Target = None,
    order: Order = None,
    edges: Edges = None,
    method: Annotated[str, typer.Option("--method", "-m", help="See `hullrank methods`.")] = "hull",
    qid: Qid = None,
    weights: Weights = None,
    drop: Drop = None,
    set_: Set = None,
    json: Json = False,
) -> None:
    """Learn a ranking from a table and save it.

    Example: `hullrank fit data.csv --target grade --order "poor < fair < good" --out model.hull`
    """
    from hullrank.cli.data import Columns
    from hullrank.cli.fit import run_fit

    columns = Columns(target, qid, weights, tuple(drop or ()))
    run_fit(data, columns, out, method=method, order=order, edges=edges, settings=set_ or [], as_json=json)


@app.command()
def rank(
    model: ModelPath,
    data: DataFile,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Table to write; - is standard output.")] = None,
    top: Annotated[int | None, typer.Option(min=1, help="Only the best rows (of every query).")] = None,
    qid: Qid = None,
    whole: Annotated[bool, typer.Option("--whole", help="Rank all rows together, whatever their query.")] = False,
    json: Json = False,
) -> None:
    """Rank the rows of a table: score, grade and rank, best first.

    Example: `hullrank rank model.hull new.csv --top 20 --out ranked.csv`
    """
    from hullrank.cli.rank import run_rank

    run_rank(model, data, out, top=top, qid=qid, whole=whole, as_json=json)


@app.command()
def evaluate(
    model: ModelPath,
    data: DataFile,
    target: Target = None,
    qid: Qid = None,
    weights: Weights = None,
    json: Json = False,
) -> None:
    """Compare a model's ranking with the grades of a table.

    Example: `hullrank evaluate model.hull test.csv`
    """
    from hullrank.cli.evaluate import run_evaluate

    run_evaluate(model, data, target=target, qid=qid, weights=weights, as_json=json)


@app.command()
def explain(
    model: ModelPath,
    data: Annotated[Path | None, typer.Argument(help="A table with grades, to see which rows contradict.")] = None,
    target: Target = None,
    json: Json = False,
) -> None:
    """Show what a model learned: weights, the place of every grade, and the rows that contradict it.

    Example: `hullrank explain model.hull train.csv`
    """
    from hullrank.cli.evaluate import run_explain

    run_explain(model, data, target=target, as_json=json)


@app.command()
def compare(
    data: DataFile,
    target: Target = None,
    methods: Annotated[str, typer.Option(help="Names of methods, separated by commas; or all (but exact).")] = "all",
    cv: Annotated[int, typer.Option(min=2, help="Number of folds.")] = 5,
    order: Order = None,
    edges: Edges = None,
    qid: Qid = None,
    weights: Weights = None,
    drop: Drop = None,
    set_: Set = None,
    json: Json = False,
) -> None:
    """Compare methods by cross-validation, with intervals and significance.

    Example: `hullrank compare data.csv --target grade --order "poor < fair < good" --methods all --cv 5`
    """
    from hullrank.cli.compare import run_compare
    from hullrank.cli.data import Columns

    columns = Columns(target, qid, weights, tuple(drop or ()))
    run_compare(data, columns, methods=methods, cv=cv, order=order, edges=edges, settings=set_ or [], as_json=json)


@app.command()
def certify(
    model: ModelPath,
    data: DataFile,
    target: Target = None,
    qid: Qid = None,
    weights: Weights = None,
    time_limit: Annotated[float | None, typer.Option(min=0, help="Seconds for the proof of an exact model.")] = None,
    json: Json = False,
) -> None:
    """Recompute a model's objective from its file and its training data, and bound it by a solve that starts there.

    Example: `hullrank certify model.hull train.csv`
    """
    from hullrank.cli.certify import run_certify

    run_certify(model, data, target=target, qid=qid, weights=weights, time_limit=time_limit, as_json=json)


@app.command()
def methods(json: Json = False) -> None:
    """List the methods that `fit` and `compare` know."""
    from hullrank.cli.console import out, print_json, table
    from hullrank.cli.methods import METHODS, known_methods

    known = {name: METHODS[name] for name in known_methods()}
    rows = [(name, cls, ", ".join(f"{k}={v}" for k, v in extra.items())) for name, (cls, extra) in known.items()]
    if json:
        print_json([{"method": name, "estimator": estimator} for name, estimator, _ in rows])
    else:
        out.print(table("Methods", ("name", "estimator", "with"), rows, left=3))


@app.command()
def doctor(json: Json = False) -> None:
    """Show versions, threads and caches."""
    from hullrank.cli.doctor import run_doctor

    run_doctor(as_json=json)


@app.command()
def report(
    model: ModelPath,
    data: DataFile,
    out: Annotated[Path, typer.Option("--out", "-o", help="HTML file to write.")] = Path("report.html"),
    target: Target = None,
    qid: Qid = None,
    weights: Weights = None,
    title: Annotated[str, typer.Option(help="Headline of the report.")] = "Ranking report",
    json: Json = False,
) -> None:
    """Write a report that opens in any browser, without network: one HTML file.

    Example: `hullrank report model.hull data.csv --out report.html`
    """
    from hullrank.cli.report import run_report

    run_report(model, data, out, target=target, qid=qid, weights=weights, title=title, as_json=json)


@app.command()
def export(
    model: ModelPath,
    onnx: Annotated[Path, typer.Option("--onnx", help="ONNX file to write.")],
    json: Json = False,
) -> None:
    """Write a model in a form that other programs run.

    Example: `hullrank export model.hull --onnx model.onnx`
    """
    from hullrank.cli.console import print_json, say
    from hullrank.io import export_onnx, load

    export_onnx(load(model), onnx)
    if json:
        print_json({"onnx": onnx})
    else:
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
