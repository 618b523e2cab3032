"""The order of the grades as the options state it, checked against the grades of the table."""

import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from hullrank.cli.wording import listed
from hullrank.exceptions import TableError
from hullrank.io import SparseTable, read_table
from hullrank.io.meant import did_you_mean
from hullrank.order import OrderGraph, resolve_order
from hullrank.order.builders import quoted

_SHOWN = 30
_MOST_GRADES = 20  # beyond, words may be ids
_MOST_DIFFERENT = 0.9  # the share of rows with a word of their own, above which they are
_SIGN = re.compile(r"(?<![-=])>|<")  # an arrow is none


def declared_order(y: Any, order: str | None, edges: Path | None, rows: int | None = None) -> OrderGraph | None:
    """The order that the options state for the grades of y; None where numbers speak for themselves.

    ``rows`` is the number of rows that have them, if y is not the grades of all rows.
    """
    if order is not None and edges is not None:
        raise TableError("give the order by --order or by --edges, not by both")
    grades = _grades(y)
    if len(grades) < 2:
        raise TableError(f"all rows have the grade {grades[0]!r}; ranking needs at least two grades")
    if edges is not None:
        return _edges_file(edges, grades)
    if order is not None:
        return _parsed(order, grades)
    if isinstance(y, pl.Series) and isinstance(y.dtype, pl.Enum):
        return OrderGraph.chain([grade for grade in y.dtype.categories.to_list() if grade in set(grades)])
    if isinstance(grades[0], str):
        _refuse_ids(len(grades), len(y) if rows is None else rows)
        raise TableError(
            f"the grades are words, so say which is higher: {_to_arrange(grades)}; "
            "`hullrank fit --order auto` finds one"
        )
    return None


def _refuse_ids(words: int, rows: int) -> None:
    """Words that differ in almost every row are no grades."""
    if words > _MOST_GRADES and words > _MOST_DIFFERENT * rows:
        raise TableError(
            f"the target has {words:,} different words in {rows:,} rows: is this an id? Give the column that holds the "
            "grades by --target"
        )


def _example(grades: list[Any]) -> str:
    """An option that parses, with the grades as they come, as far as they fit on a line."""
    shown = " < ".join(map(quoted, grades[:_SHOWN])) + (" < ..." if len(grades) > _SHOWN else "")
    return f"--order {shlex.quote(shown)}"


def _to_arrange(grades: list[Any]) -> str:
    """The same for grades that are only sorted, so that nobody takes that for their order."""
    sort = "alphabetical" if isinstance(grades[0], str) else "by size"
    return f"{_example(grades)}, put into the right order, lowest first (here it is {sort})"


def _parsed(order: str, grades: list[Any]) -> OrderGraph:
    if order in ("chain", "full"):
        return resolve_order(order, grades)
    if order == "auto":
        raise TableError("--order auto is for `hullrank fit`, which prints the order that it finds; state it here")
    if not _SIGN.search(order):
        meant = _in_their_order(order, grades)
        if meant is not None:
            raise TableError(f"--order {order!r} has no <; did you mean {_example(meant)}, lowest first?")
        raise TableError(f"--order {order!r} has no <; write it like {_to_arrange(grades)}")
    return _checked(OrderGraph.parse(order), grades, "--order")


def _in_their_order(order: str, grades: list[Any]) -> list[Any] | None:
    """The grades as someone wrote them with other signs between them, whatever their case; None if they are others."""
    named = {str(grade).casefold(): grade for grade in grades}
    for signs in (r"[,;|/\n]|[-=]>", r"[,;|/\s]|[-=]>"):  # grades of several words first
        words = [word.strip(" \t\"'").casefold() for word in re.split(signs, order)]
        if sorted(filter(None, words)) == sorted(named) and len(named) == len(grades):
            return [named[word] for word in words if word]
    return None


def _edges_file(path: Path, grades: list[Any]) -> OrderGraph:
    table = read_table(path)
    if isinstance(table, SparseTable) or table.width != 2:
        raise TableError(f"{path} must have two columns, the lower and the higher grade of every edge")
    return _checked(OrderGraph.from_edges([tuple(map(str, row)) for row in table.rows()]), grades, str(path))


def _checked(graph: OrderGraph, grades: list[Any], where: str) -> OrderGraph:
    """The graph between the grades, which print as its labels; every label must be a grade and every grade a label."""
    printed = {str(grade): grade for grade in grades}
    unknown = [label for label in map(str, graph.labels) if label not in printed]
    if unknown:
        hint = did_you_mean(unknown[0], printed) or f"; they are {listed(grades)}"
        raise TableError(f"{where} names {unknown[0]!r}, which no row has as its grade{hint}")
    missing = [grade for grade in printed if grade not in set(map(str, graph.labels))]
    if missing:
        folded = {str(label).casefold(): str(label) for label in graph.labels}
        twin = next(((grade, folded[grade.casefold()]) for grade in missing if grade.casefold() in folded), None)
        hint = "; add it, or leave out its rows" if twin is None else f"; write {twin[0]!r} and {twin[1]!r} alike"
        raise TableError(f"{where} says nothing about {listed(map(repr, missing))}{hint}")
    return resolve_order(graph.relabel({label: printed[str(label)] for label in graph.labels}), grades)


def _grades(y: Any) -> list[Any]:
    if isinstance(y, pl.Series):
        return y.unique().sort().to_list()
    return [int(value) if float(value).is_integer() else value for value in np.unique(y).tolist()]
