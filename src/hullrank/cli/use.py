"""Commands that use a model: names, options and help."""

from pathlib import Path
from typing import Annotated

import typer

from hullrank.cli.options import DataFile, Decimal, Groups, Json, Memory, ModelPath, Qid, Target, Weights


def rank(
    model: ModelPath,
    data: DataFile,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Table to write; - is standard output.")] = None,
    top: Annotated[int | None, typer.Option(min=1, help="Only the best rows (of every query).")] = None,
    qid: Qid = None,
    groups: Groups = None,
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
    from hullrank.cli.data import Columns
    from hullrank.cli.parts import memory_in_bytes
    from hullrank.cli.rank import RankWishes, run_rank

    wanted = RankWishes(top, whole, thresholds, raw, memory_in_bytes(memory), json)
    run_rank(model, data, out, Columns(qid=qid, groups=groups), decimal, wanted)


def evaluate(
    model: ModelPath,
    data: DataFile,
    target: Target = None,
    qid: Qid = None,
    groups: Groups = None,
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
    from hullrank.cli.data import Columns
    from hullrank.cli.evaluate import run_evaluate
    from hullrank.cli.parts import memory_in_bytes
    from hullrank.cli.retrieval import Lists

    columns = Columns(target, qid, weights, groups=groups)
    lists, room = Lists(at, relevant, gain), memory_in_bytes(memory)
    run_evaluate(model, data, columns, decimal, lists=lists, memory=room, as_json=json)


def explain(
    model: ModelPath,
    data: Annotated[
        Path | None, typer.Argument(help="The training table, for errors; any table with grades, for contradictions.")
    ] = None,
    target: Target = None,
    qid: Qid = None,
    groups: Groups = None,
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
    from hullrank.cli.data import Columns
    from hullrank.cli.explain import run_explain

    columns = Columns(target, qid, weights, groups=groups)
    run_explain(model, data, columns, decimal, resamples=resamples, as_json=json)


def certify(
    model: ModelPath,
    data: DataFile,
    target: Target = None,
    qid: Qid = None,
    groups: Groups = None,
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
    from hullrank.cli.data import Columns

    columns = Columns(target, qid, weights, groups=groups)
    run_certify(model, data, columns, decimal, tol=tol, time_limit=time_limit, as_json=json)


def report(
    model: ModelPath,
    data: DataFile,
    out: Annotated[Path, typer.Option("--out", "-o", help="HTML file to write; - is standard output.")] = Path(
        "report.html"
    ),
    target: Target = None,
    qid: Qid = None,
    groups: Groups = None,
    weights: Weights = None,
    decimal: Decimal = None,
    title: Annotated[str, typer.Option(help="Headline of the report.")] = "Ranking report",
    json: Json = False,
) -> None:
    """Write a report that opens in any browser, without network: one HTML file.

    Example: `hullrank report model.hull data.csv --out report.html`
    """
    from hullrank.cli.data import Columns
    from hullrank.cli.report import run_report

    columns = Columns(target, qid, weights, groups=groups)
    run_report(model, data, out, columns, decimal, title=title, as_json=json)


def export(
    model: ModelPath,
    onnx: Annotated[Path, typer.Option("--onnx", help="ONNX file to write; - is standard output.")],
    json: Json = False,
) -> None:
    """Write a model in a form that other programs run.

    Example: `hullrank export model.hull --onnx model.onnx`
    """
    from hullrank.cli.console import print_json, say
    from hullrank.cli.output import GRAPH, STDOUT, check_place, placed

    check_place(onnx, is_a=GRAPH, as_json=json, read={"model": model}, option="--onnx")
    from hullrank.io import export_onnx, load

    with placed(onnx) as place:
        export_onnx(load(model), place)
    if json:
        print_json({"onnx": onnx})
    elif str(onnx) != STDOUT:
        say(f"Exported to {onnx}")
