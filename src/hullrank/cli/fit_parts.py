"""``hullrank fit`` for tables larger than memory: one pass to learn the columns, then the passes of the fit."""

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import polars as pl

from hullrank.cli.arranged import DataInParts, arranged
from hullrank.cli.columns import column_facts, tell_columns
from hullrank.cli.console import note, working
from hullrank.cli.data import Columns, Reading, coded, query_values, recognised, target_values, tell_missing
from hullrank.cli.first_look import FirstLook
from hullrank.cli.fit import Wishes, about_fit, advise, arrange
from hullrank.cli.folds import Task
from hullrank.cli.grades import declared_order
from hullrank.cli.methods import METHODS, build, known_methods, parse_settings, takes, takes_blocks
from hullrank.cli.model import Model
from hullrank.cli.order import AUTO
from hullrank.cli.output import STDOUT, placed
from hullrank.cli.parts import Parts, Placed
from hullrank.cli.progress import watching_passes
from hullrank.cli.result import tell_result
from hullrank.exceptions import HullrankError
from hullrank.io.parquet_parts import ParquetParts
from hullrank.order import OrderGraph

_FEWER = "give more --memory, or fit it to some of the files"
# By estimator: why its fit needs all rows at once, and what does not.
_REASONS = {
    "SampledPairsRanker": "draws a row's partners from the whole table; --method swapped-pairs takes all pairs instead",
    "ExactRanker": f"searches all rows again and again, which is for small tables; {_FEWER}",
    "PRank": f"learns from one row after the other in random order; {_FEWER}, or use --method fixed-margin",
    "RankBoost": f"sorts all rows by every column; {_FEWER}, or use --method swapped-pairs",
}


def run_fit_in_parts(
    tables: ParquetParts, columns: Columns, reading: Reading, model_file: Path, wishes: Wishes
) -> None:
    """Fit a method to a table in parts, say how good it is, and save it."""
    settings = parse_settings(wishes.settings)
    asked = {"--probabilities": wishes.probabilities, "--tune": wishes.tune, "--order auto": wishes.order == AUTO}
    _refuse_in_parts(wishes.method, settings, columns, asked)
    from hullrank.io import save

    parts = Parts(tables, columns, reading)
    forms = recognised(parts[0], reading)
    pairs = takes(wishes.method, "qid")
    look = FirstLook(parts, keep_targets=pairs and columns.qid is None)
    pipeline = build(wishes.method, settings, sparse=False, forms=forms)
    encoder = pipeline[0].fit_blocks(look.frames())
    tell_missing(look.without, look.rows, columns, tables.name)
    graph, sample = _order(look, wishes), look.sample()
    settings, y, grades = arrange(wishes.method, settings, sample, graph)
    advise(wishes.method, sample, y, graph)
    model = build(wishes.method, settings, sparse=False)[-1]
    pipeline.steps[-1] = ("model", model)
    folder = None if str(model_file) == STDOUT else model_file.parent
    start = perf_counter()
    # A method that compares rows with each other needs them in order; any other takes the parts as they are.
    in_order: AbstractContextManager[DataInParts] = (
        arranged(parts, look, grades, folder) if pairs else nullcontext(parts)
    )
    title = f"fitting {wishes.method} to {look.rows:,} rows"
    with in_order as rows, working(title, keep=True) as advance, watching_passes(advance):
        model.fit(_blocks(rows, encoder, grades, columns.qid if pairs else None, wishes.memory))
    seconds = perf_counter() - start
    tell_columns(sample, encoder, look.rows)
    facts = column_facts(sample, encoder, look.missing) if wishes.show_columns else None
    notes = {**about_fit(wishes.method, columns, sample, grades), "rows": look.rows}
    order = None if graph is None or grades else graph.closure()
    task = Task(wishes.method, sample, y, settings, order, forms)
    with placed(model_file) as place:
        save(pipeline, place, about=notes)
        try:
            trained = Placed.of_parts(Model(pipeline, notes, ""), parts, told=True)
            held_out = tell_result(model, trained, task, seconds, model_file, wishes.cv, wishes.as_json, facts)
            if held_out is not None:
                save(pipeline, place, about={**notes, "held_out": held_out})
        except KeyboardInterrupt:
            note(f"stopped by Ctrl-C; the model is saved in {model_file}")


def _refuse_in_parts(method: str, settings: dict[str, Any], columns: Columns, options: dict[str, bool]) -> None:
    """Refuse what needs all rows at once, before any is read; ``options`` says which of them were given."""
    head = "the table is larger than --memory allows, and"
    if not takes_blocks(method):
        able = ", ".join(name for name in known_methods() if takes_blocks(name))
        why = _REASONS.get(METHODS[method].estimator, f"needs all rows at once; {_FEWER}")
        raise HullrankError(f"{head} method {method} {why} (fitted in parts are {able})")
    for name, usual, why in (
        ("kernel", "linear", "a kernel compares every row with every other"),
        ("approximation", None, "an approximated kernel chooses its samples among all rows"),
        ("norm", "rkhs", "this norm belongs to a kernel"),
        ("monotonic_cst", None, "required signs are met with all rows at hand"),
        ("pair_weight", None, "pairs are weighted by the places of all rows of a list"),
    ):
        if settings.get(name, usual) != usual:
            raise HullrankError(f"{head} {why}; leave out --set {name}=..., or {_FEWER}")
    if settings.get("C") == float("inf"):
        raise HullrankError(f"{head} a hard margin (C=inf) needs all rows at once; set a finite C, or {_FEWER}")
    if columns.groups is not None:
        raise HullrankError(
            f"{head} --groups need all rows in memory, because parts carry grades and weights only; leave it out, or "
            f"{_FEWER}"
        )
    cures = {
        "--probabilities": "leave it out",
        "--tune": "set C by --set C=...",
        "--order auto": "state the order that it finds on some of the files",
    }
    for option, given in options.items():
        if given:
            raise HullrankError(f"{head} {option} needs all rows in memory; {cures[option]}, or {_FEWER}")


def _order(look: FirstLook, wishes: Wishes) -> OrderGraph | None:
    """The order of the grades; of numbers that speak for themselves two are enough, for there may be millions."""
    grades = look.grades()
    stated = wishes.order is not None or wishes.edges is not None
    needed = grades.head(2) if grades.dtype.is_numeric() and not stated else grades
    return declared_order(needed, wishes.order, wishes.edges, look.rows)


def _blocks(rows: DataInParts, encoder: Any, grades: list[Any] | None, qid: str | None, memory: int | None) -> Any:
    """The parts as a fit reads them."""
    from hullrank.io import Blocks

    def read(part: int) -> tuple[Any, Any, Any, Any]:
        data = rows[part]
        query = None if qid is None else _queries(data.rows[qid])
        return encoder.transform(data.X), coded(target_values(data.y), grades), data.weights, query

    return Blocks(read, len(rows), memory=memory)


def _queries(series: pl.Series) -> Any:
    values = query_values(series)
    return values.to_numpy() if values.dtype.is_integer() else np.array(values.to_list(), dtype=str)
