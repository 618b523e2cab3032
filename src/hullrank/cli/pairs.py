"""``hullrank fit --pairs``: learning from comparisons of rows, with or without grades."""

import shlex
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

import hullrank
from hullrank.cli.columns import tell_columns
from hullrank.cli.console import note, print_json, say, working
from hullrank.cli.data import Columns, Data, Reading, load_data, recognised
from hullrank.cli.fit import Wishes, about_fit, arrange
from hullrank.cli.grades import declared_order
from hullrank.cli.methods import build, parse_settings, prepared
from hullrank.cli.output import STDOUT, check_model_place, placed
from hullrank.cli.parts import larger_than_memory
from hullrank.cli.result import certificate_fields
from hullrank.cli.wording import listed
from hullrank.exceptions import HullrankError, TableError
from hullrank.io import SparseTable, read_table, save
from hullrank.io.meant import did_you_mean

METHOD = "swapped-pairs"
_DEFAULT = "hull"  # the method where none is named
_FOLDS = 5


def run_fit_pairs(
    path: Path, columns: Columns, reading: Reading, model_file: Path, wishes: Wishes, pairs: Path, key: str | None
) -> None:
    """Fit a ranking to comparisons (and grades, if a target is named), say how good it is, and save it."""
    read = {"table": path, "file of comparisons": pairs, "file of edges": wishes.edges}
    check_model_place(model_file, as_json=wishes.as_json, overwrite=wishes.force, read=read)
    if wishes.method not in (METHOD, _DEFAULT):
        raise HullrankError(f"method {wishes.method} does not learn from comparisons; use --method {METHOD}")
    if wishes.method == _DEFAULT:
        note(f"comparisons of rows are learned by --method {METHOD}, and not by {_DEFAULT}, which places grades")
    if wishes.probabilities:
        raise HullrankError("--probabilities are of grades, and comparisons have none; leave it out")
    if columns.groups is not None:
        raise HullrankError("--groups are of grades, and comparisons have none; leave it out")
    if wishes.tune:
        raise HullrankError("--tune chooses by folds of graded rows, and comparisons have none; set C by --set C=...")
    if larger_than_memory(path, wishes.memory) is not None:
        raise HullrankError(
            "the table is larger than --memory allows, and --pairs may compare any two of its rows; give more "
            "--memory, or a table of the rows that are compared"
        )
    columns = replace(columns, drop=(*columns.drop, key)) if key else columns
    data = load_data(path, columns, reading, need_target=columns.target is not None)
    table = _comparisons(pairs, _places(data, path, key), path, data)
    settings, y, grades = _target(data, columns, wishes)
    forms = recognised(data, reading)
    pipeline = build(METHOD, settings, sparse=data.sparse, forms=forms)
    start = perf_counter()
    with working(f"fitting {METHOD} to {len(table):,} comparisons of {len(data):,} rows", keep=True):
        Z = prepared(pipeline, data.X)
        given = data.fit_parameters(pipeline[-1])
        model = pipeline[-1].fit(Z, y, pairs=table, **given)
    seconds = perf_counter() - start
    tell_columns(data, pipeline[0])
    with placed(model_file) as place:
        save(pipeline, place, about=about_fit(METHOD, columns, data, grades))
    held_out = _left_out(model, Z, y, table, given) if wishes.cv else None
    _tell(model, model.score(Z, pairs=table), held_out, (len(data), len(table)), seconds, model_file, wishes.as_json)


def _target(data: Data, columns: Columns, wishes: Wishes) -> tuple[dict[str, Any], Any, list[Any] | None]:
    """Parameters, the target (None where there is no column for it), and the grades by name."""
    parameters = parse_settings(wishes.settings)
    if columns.target is None:
        if wishes.order is not None or wishes.edges is not None:
            raise TableError("an order of grades needs the column that holds them: --target COLUMN")
        return parameters, None, None
    return arrange(METHOD, parameters, data, declared_order(data.y, wishes.order, wishes.edges))


def _places(data: Data, path: Path, key: str | None) -> dict[str, int]:
    """Where the row with an id stands among the rows that are learned from."""
    if key is None:
        return {str(number): row for row, number in enumerate(data.numbers)}
    if data.rows is None or key not in data.rows.columns:
        raise TableError(f"{path} has no column {key!r} with the ids of the rows")
    ids = data.rows[key].cast(pl.String).to_list()
    places = {name: row for row, name in enumerate(ids) if name is not None}
    if len(places) < len(ids):
        odd = next((name for name in ids if name is None or ids.count(name) > 1), None)
        what = "a row without an id" if odd is None else f"the id {odd!r} twice"
        raise TableError(f"column {key!r} of {path} has {what}; every row needs an id of its own")
    return places


def _comparisons(path: Path, places: dict[str, int], rows_path: Path, data: Data) -> NDArray[np.float64]:
    """(n, 3): numbers of the rows that win and lose, and weights."""
    table = read_table(path)
    if isinstance(table, SparseTable) or table.width not in (2, 3) or not table.height:
        raise TableError(
            f"{path} must have two columns with the ids of rows, the one preferred and the other, and may have a third "
            "with weights"
        )
    found = np.ones((table.height, 3))
    for k, name in enumerate(table.columns[:2]):
        for line, cell in enumerate(table[name].cast(pl.String).to_list(), start=2):
            if cell not in places:
                hint = _hint(cell, places, data)
                raise TableError(f"line {line} of {path} names {cell!r}, which is no row of {rows_path}; {hint}")
            found[line - 2, k] = places[cell]
    if table.width == 3:
        weights = table[table.columns[2]].cast(pl.Float64, strict=False)
        bad = weights.is_null() | ~weights.is_finite().fill_null(False) | (weights < 0).fill_null(False)
        if bad.any():
            line = int(bad.arg_true()[0]) + 2
            raise TableError(f"line {line} of {path} has no weight that is a number of at least 0")
        found[:, 2] = weights.to_numpy()
    same = np.flatnonzero(found[:, 0] == found[:, 1])
    if len(same):
        raise TableError(f"line {same[0] + 2} of {path} compares a row with itself")
    return found


def _hint(cell: str | None, places: dict[str, int], data: Data) -> str:
    """Where the id of a row may have been meant to be found: in another column, or among the ids there are."""
    for column in [] if data.rows is None else data.rows.get_columns():
        if cell is not None and cell in column.cast(pl.String).to_list():
            return f"column {column.name!r} has it: add --id {shlex.quote(column.name)}"
    return f"ids are {listed(places, 3)}, or name their column by --id{did_you_mean(cell, places)}"


def _left_out(model: Any, Z: Any, y: Any, table: NDArray[np.float64], given: dict[str, Any]) -> dict[str, float] | None:
    """The share of comparisons ranked right that the model did not learn from, in folds of comparisons."""
    from sklearn.base import clone

    if len(table) < 2 * _FOLDS:
        note(f"no held-out figure: {len(table)} comparisons are too few for {_FOLDS} folds")
        return None
    fold = np.random.default_rng(0).permutation(len(table)) % _FOLDS
    shares = []
    with working(f"leaving out comparisons in {_FOLDS} folds"):
        for k in range(_FOLDS):
            part = clone(model).fit(Z, y, pairs=table[fold != k], **given)
            shares.append(part.score(Z, pairs=table[fold == k]))
    return {"mean": float(np.mean(shares)), "error": float(np.std(shares, ddof=1)) / _FOLDS**0.5}


def _tell(
    model: Any, share: float, held_out: Any, sizes: tuple[int, int], seconds: float, model_file: Path, as_json: bool
) -> None:
    rows, pairs = sizes
    if as_json:
        facts = {"model": str(model_file), "method": METHOD, "rows": rows, "pairs": pairs, "training": share}
        more = {"certificate": certificate_fields(model.certificate_), "seconds": seconds}
        print_json({**facts, "left_out": held_out, **more, "library": hullrank.__version__})
        return
    to_stderr = str(model_file) == STDOUT
    say(f"{model.certificate_}\n", to_stderr=to_stderr)
    say(f"Ranked right of the {pairs:,} comparisons: {share:.4f}  ({seconds:.2f} s)", to_stderr=to_stderr)
    if held_out is not None:
        figures = f"{held_out['mean']:.4f}  (standard error {held_out['error']:.4f})"
        say(f"Of comparisons left out, {_FOLDS} quick folds: {figures}", to_stderr=to_stderr)
    if not to_stderr:
        say(f"Saved to {model_file}")
