"""``hullrank columns``: a table as the other commands would understand it, before anything is learned."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from hullrank.cli.columns import column_facts, columns_table, tell_columns
from hullrank.cli.console import note, out, print_json, say, working
from hullrank.cli.data import Columns, Data, Reading, load_data, recognised
from hullrank.cli.wording import counted
from hullrank.io.forms import Form, read_cells

_MOST_VALUES = 40  # different values of a column that may be grades, each with its number of rows


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

    forms = recognised(data, reading)
    encoder = TableEncoder(forms=forms)
    with working(f"looking at {data.X.width:,} columns"):
        encoder.fit(data.X)
        tell_columns(data, encoder)
        found = column_facts(data, encoder)
    return {
        "columns": [{**fact, **_counted(data.X[fact["column"]], (forms or {}).get(fact["column"]))} for fact in found]
    }


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
    values = [{"value": str(value[int(i)]), "rows": int(rows[int(i)])} for i in places]
    return {"distinct": distinct, "ordered": ordered, "values": values}
