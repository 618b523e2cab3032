"""The options that several commands share."""

from glob import has_magic
from pathlib import Path
from typing import Annotated, Any

import typer

from hullrank.cli import completion
from hullrank.exceptions import HullrankError
from hullrank.io.meant import did_you_mean


def _is_there(context: typer.Context, path: Path | None) -> Path | None:
    """Ask for the file before any library is loaded that reads it, so that a wrong name is answered at once."""
    if path is None or str(path) == "-" or has_magic(str(path)) or context.resilient_parsing or path.exists():
        return path
    try:
        beside = [file.name for file in path.parent.iterdir()]
    except OSError:
        beside = []
    raise HullrankError(f"there is no file {path}{did_you_mean(path.name, beside)}")


def _is_decimal(text: str | None) -> str | None:
    if text not in (None, ".", ","):
        raise typer.BadParameter("the decimal sign is a point or a comma: --decimal . or --decimal ,")
    return text


def _is_date_order(text: str | None) -> str | None:
    if text not in (None, "dmy", "mdy", "ymd") and "%" not in str(text):
        raise typer.BadParameter("dates are dmy, mdy, ymd, or a format such as '%d %b %Y'")
    return text


def _column_option(*names: str, help: str) -> Any:
    return typer.Option(*names, help=help, metavar="COLUMN", autocompletion=completion.columns)


Target = Annotated[str | None, _column_option("--target", "-t", help="Column with the grades or values to rank by.")]
Qid = Annotated[str | None, _column_option("--qid", help="Column with the query; rows are ranked within queries.")]
Groups = Annotated[
    str | None,
    _column_option("--groups", help="Column with raters, panels or sites whose grades cannot be compared."),
]
Weights = Annotated[str | None, _column_option("--weights", help="Column with the weights of the rows.")]
Drop = Annotated[list[str] | None, _column_option("--drop", help="Column to leave out (repeat for more).")]
Words = Annotated[
    list[str] | None,
    _column_option("--words", help="Column to take as words, whatever it looks like (repeat for more)."),
]
Order = Annotated[
    str | None,
    typer.Option(
        "--order",
        metavar="ORDER",
        help="The order of the grades, as in 'poor < fair < good'; 'a, b < c' is partial; `fit` finds it by 'auto'.",
    ),
]
Edges = Annotated[Path | None, typer.Option("--edges", help="File with two columns: lower grade, higher grade.")]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="A parameter of the method, as in --set C=0.1.",
        autocompletion=completion.settings,
    ),
]
Decimal = Annotated[
    str | None,
    typer.Option(
        "--decimal",
        metavar="SIGN",
        callback=_is_decimal,
        help="The decimal sign of the file, . or , (found out if not given).",
    ),
]
Dates = Annotated[
    str | None,
    typer.Option(
        "--dates",
        metavar="FORM",
        callback=_is_date_order,
        help="How dates are written: dmy, mdy, ymd, or a format such as '%d %b %Y'.",
    ),
]
DataFile = Annotated[
    Path,
    typer.Argument(
        callback=_is_there,
        help="CSV, TSV, Parquet (or a folder of it), Arrow, JSON, .xlsx (extra) or SVMlight; - is stdin.",
    ),
]
Memory = Annotated[
    str | None,
    typer.Option(
        "--memory", metavar="SIZE", help="Memory for rows, as in 2GiB; Parquet files that take more are read in parts."
    ),
]
ModelPath = Annotated[Path, typer.Argument(callback=_is_there, help="Model file (.hull).")]
Tune = Annotated[
    bool,
    typer.Option("--tune", help="Choose C (and the width of a kernel) by cross-validation, inside every fit."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Method = Annotated[
    str,
    typer.Option("--method", "-m", metavar="NAME", help="See `hullrank methods`.", autocompletion=completion.methods),
]
MethodName = Annotated[
    str | None, typer.Argument(help="A method, to see its parameters.", autocompletion=completion.methods)
]
MethodList = Annotated[
    str,
    typer.Option(
        "--methods",
        help="Names of methods, separated by commas; or all (but exact).",
        autocompletion=completion.lists_of_methods,
    ),
]
