"""The columns of a table as the commands understand them: ``hullrank columns``, and what a fit says of them."""

import shlex
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from hullrank.cli.console import note, out, print_json, say, table, working
from hullrank.cli.data import Columns, Data, Reading, load_data, recognised
from hullrank.cli.wording import counted
from hullrank.io.forms import Form, few, read_cells

_EXAMPLES = 3
_MOST_VALUES = 40  # different values of a column that may be grades, each with its number of rows
_ORDERS = {"dmy": "day first", "mdy": "month first", "ymd": "year first"}


def run_columns(path: Path, reading: Reading, *, as_json: bool) -> None:
    """Show kind, missing cells, examples and values of every column."""
    data = load_data(path, Columns(), reading, need_target=False)
    if data.title is not None:
        note(data.title)
    elif data.X.shape[1] == 1 and data.style is not None:
        note("there is only one column; if there should be more, separate cells by commas, semicolons, tabs or bars")
    facts = _sparse_facts(data) if data.sparse else _facts(data, reading)
    style = None if data.style is None or data.X.width == 1 else str(data.style)
    if as_json:
        print_json({"file": path, "rows": len(data), "style": style, **facts})
        return
    if not data.sparse:
        out.print(columns_table(facts["columns"], "as a feature"))
        say("")
    said = f", {style}" if style else f", {facts['features']:,} features in SVMlight format" if data.sparse else ""
    say(f"{counted(len(data), 'rows')}{said}")


def _sparse_facts(data: Data) -> dict[str, Any]:
    values = _counted(pl.Series("target", data.y), None)
    return {"columns": None, "features": data.X.shape[1], "queries": data.qid is not None, "target": values}


def _facts(data: Data, reading: Reading) -> dict[str, Any]:
    from hullrank.io import TableEncoder

    forms = recognised(data, reading) or {}
    with working(f"looking at {data.X.width:,} columns"):
        encoder = TableEncoder(forms=forms).fit(data.X)
        tell_columns(data, encoder)
        found = column_facts(data, encoder)
    return {"columns": [{**fact, **_counted(data.X[fact["column"]], forms.get(fact["column"]))} for fact in found]}


def _counted(series: pl.Series, found: Form | None) -> dict[str, Any]:
    """How many values a column has and, if they are few, each with its rows, in the order of numbers, dates or words.

    ``ordered`` says whether the values have an order of their own, as numbers, dates and enumerations have.
    """
    form = None if found is None or found["kind"] == "word" else found
    known = series.drop_nulls()
    distinct = known.n_unique()
    ordered = form is not None or series.dtype.is_numeric() or series.dtype.is_temporal() or series.dtype == pl.Enum
    if distinct > _MOST_VALUES:
        return {"distinct": distinct, "ordered": ordered, "values": None}
    counts = known.alias("value").value_counts(name="rows")
    value, rows = counts.get_columns()
    by = value if form is None else read_cells(value, form)
    places = np.argsort(by.to_physical().rank("min").fill_null(0).to_numpy(), kind="stable")
    lines = zip(value.gather(places).to_list(), rows.gather(places).to_list(), strict=True)
    return {"distinct": distinct, "ordered": ordered, "values": [{"value": str(v), "rows": n} for v, n in lines]}


def tell_columns(data: Data, encoder: Any, rows: int | None = None) -> None:
    """Notes about columns that were left out, cut or only count the rows; ``data`` may be a sample of ``rows`` rows."""
    if data.sparse:
        return
    left_out = [c["name"] for c in encoder.columns_ if c["kind"] == "left out"]
    if left_out:
        note(f"left out, because empty or different in every row: {', '.join(left_out)}")
    for column in encoder.columns_:
        if column.get("n_others"):
            kept, others, theirs = len(column["words"]), column["n_others"], column["rows_of_others"]
            note(
                f"column {column['name']!r} has {kept + others:,} different words; the {kept} most frequent are used, "
                f"the others ({theirs:,} of {rows or len(data):,} rows) count as none of them"
            )
    for name in _counters(data):
        note(f"column {name!r} only counts the rows; leave it out by --drop {shlex.quote(name)}")


def column_facts(data: Data, encoder: Any, missing: dict[str, int] | None = None) -> list[dict[str, Any]]:
    """Kind, missing cells, examples and what was done, for every column of features.

    ``data`` may be a sample of a table that is read in parts; ``missing`` are then the empty cells of the whole table.
    """
    empty = missing or {}
    lines = () if data.sparse else encoder.columns_
    return [_line(column, data.X[column["name"]], empty.get(column["name"])) for column in lines]


def _line(column: dict[str, Any], series: pl.Series, empty: int | None) -> dict[str, Any]:
    known = series.drop_nulls()
    shown = ", ".join(str(value) for value in known.unique(maintain_order=True).head(_EXAMPLES))
    odd = (column.get("form") or {}).get("strays", [])
    missing = (series.null_count() if empty is None else empty) + (int(series.is_in(odd).sum()) if odd else 0)
    facts = {"column": column["name"], "kind": _kind(column, series), "missing": missing, "examples": shown}
    return {**facts, "done": _done(column, known, missing)}


def _kind(column: dict[str, Any], series: pl.Series) -> str:
    if column["kind"] != "number":
        return "words" if column["kind"] == "word" else "left out"
    kind = "dates" if column["dates"] else "yes or no" if series.dtype == pl.Boolean else "numbers"
    return f"{kind}, written as text" if column.get("form") else kind


def _done(column: dict[str, Any], known: pl.Series, missing: int) -> str:
    form = column.get("form")
    if column["kind"] == "left out":
        return "empty" if not len(known) else "different in every row, so nothing can be learned from it"
    if column["kind"] == "word":
        others = f", {column['n_others']:,} rarer ones are none of them" if column["n_others"] else ""
        marks = f", {few(form['strays'])} as missing" if form is not None else ""
        return f"{counted(len(column['words']), 'columns')} of 0 and 1, one a word{others}{marks}"
    parts = []
    if form is not None:
        parts += _signs(form, known)
        parts += [f"{few(form['strays'])} as missing"] if form["strays"] else []
    if not missing:
        return ", ".join([*parts, "standardised"])
    fill = str(np.datetime64(int(column["fill"]), "D")) if column["dates"] else f"{column['fill']:.6g}"
    return ", ".join([*parts, f"missing ones the median {fill}, standardised"])


def _signs(form: Form, known: pl.Series) -> list[str]:
    """The decimal sign, or the order of day and month where it matters."""
    if form["kind"] == "number":
        return ["decimal comma" if form["decimal"] == "," else "decimal point"]
    matters = "%" in form["dates"] or known.str.contains(r"^\s*\d{1,2}[-/.]\d{1,2}[-/.]").any()
    return [_ORDERS.get(form["dates"]) or str(form["dates"])] if matters else []


def columns_table(facts: list[dict[str, Any]], last: str = "what was done") -> Any:
    """The facts as lines for a terminal."""
    shown = ("column", "kind", "missing", "examples")
    rows = [[fact[name] for name in (*shown, "done")] for fact in facts]
    return table("Columns", (*shown, last), rows, right=(2,))


def _counters(data: Data) -> list[str]:
    """Columns of features that are n, n + 1, n + 2, ... in the order of the file."""
    if len(data) < 3:
        return []
    steps = np.diff(data.numbers)
    return [c.name for c in data.X if c.dtype.is_integer() and np.array_equal(np.diff(c.to_numpy()), steps)]
