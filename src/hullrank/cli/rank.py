"""``hullrank rank``: new rows with their scores, grades and ranks, best first."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from rich.text import Text

from hullrank.cli.console import cell, note, out, print_json, say, table, working
from hullrank.cli.data import Columns, Data
from hullrank.cli.drift import tell_drift
from hullrank.cli.model import Model
from hullrank.cli.output import STDOUT, check_table_place, is_text, write_tables
from hullrank.cli.parts import Parts, larger_than_memory
from hullrank.cli.wording import counted, listed
from hullrank.exceptions import HullrankError, TableError

_SHOWN = 20
_SHOWN_IN_QUERIES = 100
_SHOWN_COLUMNS = 4  # of the table itself on the terminal
_SHOWN_CHANCES = 6  # columns of probabilities on the terminal; files have all
MOST_SHOWN = 1000  # rows in JSON


@dataclass(frozen=True)
class RankWishes:
    """What the user asked of a ranking, beside the data."""

    top: int | None = None
    whole: bool = False  # all rows together, whatever their query
    thresholds: Path | None = None
    raw: bool = False  # cells that a spreadsheet would run stay as they are
    memory: int | None = None  # bytes
    as_json: bool = False


def run_rank(
    model_path: Path, path: Path, target_file: Path | None, columns: Columns, decimal: str | None, wishes: RankWishes
) -> None:
    """Rank the rows of a table by a model."""
    read = {"model": model_path, "table": path, "file of thresholds": wishes.thresholds}
    check_table_place(target_file, as_json=wishes.as_json, read=read)
    model = Model.load(model_path, path, wishes.thresholds)
    cuts = None if wishes.thresholds is None else read_thresholds(wishes.thresholds, model)
    named = model.named(columns)
    columns = Columns(qid=None if wishes.whole else named.qid, groups=named.groups)
    tables = larger_than_memory(path, wishes.memory)
    if tables is not None:
        from hullrank.cli.rank_parts import rank_in_parts

        parts = Parts(tables, columns, model.reading(decimal), need_target=False)
        rank_in_parts(model, parts, target_file, cuts, wishes)
        return
    verbatim = target_file is not None and is_text(target_file)
    data = _load(model, path, columns, decimal, verbatim)
    model.tell_new_groups(data.groups)
    with working(f"scoring {len(data):,} rows"):
        result, names = ranked_rows(model, data, None if wishes.whole else data.qid, cuts)
    tell_drift(model, data)
    query = names.get("query") if data.sparse else columns.qid
    if wishes.top is not None:
        result = result.filter(pl.col(names["rank"]) <= wishes.top)
    if target_file is not None:
        write_tables([_as_written(result, names, data)], target_file, raw=wishes.raw, style=data.style)
    decimal_sign = "." if data.style is None else data.style.decimal
    tell_ranking(Ranking(result, names, query, len(data), decimal_sign), target_file, wishes)


@dataclass(frozen=True)
class Ranking:
    """The best rows of a table, in order."""

    best: pl.DataFrame
    names: dict[str, str]  # of the columns that the model added
    query: str | None  # the column with the queries
    rows: int  # of the table
    decimal: str = "."  # the sign that the table has


def tell_ranking(ranking: Ranking, target_file: Path | None, wishes: RankWishes) -> None:
    """Say where the ranked rows are, or show the best of them."""
    result, rows = ranking.best, ranking.rows
    ranked = rows if wishes.top is None else result.height
    if wishes.as_json:
        shown = result.head(MOST_SHOWN).to_dicts()
        print_json({"rows": ranked, "shown": len(shown), "ranked": shown})
    elif target_file is None:
        _show(ranking)
        if ranked > _most(ranking.query):
            note(f"use --out FILE for all {ranked:,} of them")
    elif str(target_file) != STDOUT:
        say(f"{_share(ranked, rows)}, best first{_within(ranking.query)}, in {target_file}")


def ranked_rows(
    model: Model, data: Data, qid: Any | None, cuts: Any | None = None
) -> tuple[pl.DataFrame, dict[str, str]]:
    """The rows with rank, score, grade, row and probabilities, best first (within queries); the new columns' names."""
    from hullrank.metrics import rank_within

    scores = model.pipeline.score_samples(data.X)
    places = rank_within(scores, qid)
    result, names = answered_rows(model, data, scores, places, np.arange(1, len(data) + 1), cuts)
    by = (np.zeros(len(data)) if qid is None else np.asarray(qid), places)
    return result[np.lexsort(by[::-1])], names


def answered_rows(
    model: Model, data: Data, scores: Any, places: Any, numbers: Any, cuts: Any | None
) -> tuple[pl.DataFrame, dict[str, str]]:
    """The rows of a table with what the model says of them, in the order of the table; the new columns' names.

    Parameters
    ----------
    scores, places, numbers : the score, the rank and the number in the table of every row
    cuts : thresholds that are taken instead of the model's, or None
    """
    result = pl.DataFrame() if data.rows is None else data.rows
    new = {
        "rank": places,
        "score": scores,
        "grade": model.grades(data) if cuts is None else _between(model, scores, cuts),
        "query": data.qid if data.sparse else None,
        "row": numbers,
        **model.probabilities(data.X),
    }
    names = {name: _free(name, result.columns) for name, values in new.items() if values is not None}
    added = pl.DataFrame([pl.Series(names[name], new[name]) for name in names])
    return pl.concat([result, added], how="horizontal"), names


def read_thresholds(path: Path, model: Model) -> Any:
    """Thresholds between the grades of the model, from a JSON file that the report saved."""
    grades = model.classes
    if grades is None or not hasattr(model.step, "thresholds_"):
        raise HullrankError("this model has no thresholds between grades; leave out --thresholds")
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
        cuts, named = np.asarray(held["thresholds"], dtype=np.float64), [str(grade) for grade in held["grades"]]
    except (ValueError, TypeError, KeyError) as error:
        raise HullrankError(f"{path} holds no thresholds; 'Save thresholds' in a report writes them") from error
    if named != [str(grade) for grade in grades]:
        raise HullrankError(f"{path} is for the grades {listed(named)}, and the model has {listed(grades)}")
    if cuts.shape != (len(grades) - 1,) or not np.isfinite(cuts).all() or (np.diff(cuts) < 0).any():
        raise HullrankError(f"{path} must hold {len(grades) - 1} numbers that do not fall, one between two grades")
    return cuts


def _between(model: Model, scores: Any, cuts: Any) -> Any:
    return np.asarray(model.classes)[np.searchsorted(cuts, scores, side="left")]


def _as_written(result: pl.DataFrame, names: dict[str, str], data: Data) -> pl.DataFrame:
    """The ranked rows with the cells of the table as they stand in its file, where they were kept."""
    if data.style is None or data.style.cells is None:
        return result
    return result.with_columns(data.style.cells[result[names["row"]].to_numpy() - 1])


def _load(model: Model, path: Path, columns: Columns, decimal: str | None, verbatim: bool) -> Data:
    try:
        return model.load_data(path, columns, decimal, need_target=False, verbatim=verbatim)
    except TableError as error:
        if columns.qid is not None and f"no column {columns.qid!r}" in str(error):
            raise TableError(
                f"{error}; the model ranks within queries: name their column by --qid, or rank all together by --whole"
            ) from error
        if columns.groups is not None and f"no column {columns.groups!r}" in str(error):
            raise TableError(
                f"{error}; the model cuts grades by group: name the column by --groups (an empty one gives every row "
                "the grades of the mean)"
            ) from error
        raise


def _show(ranking: Ranking) -> None:
    """The best rows on the terminal, under a heading for every query."""
    result, query = ranking.best, ranking.query
    names = [name for name in ranking.names.values() if name != query]
    chances = [name for name in names if name.startswith("P(")]
    head = result.head(_most(query)).with_columns(pl.col(chances).round(4))
    names = [name for name in names if name not in chances[_SHOWN_CHANCES:]]
    others = [name for name in head.columns if name not in ranking.names.values() and name != query]
    shown = _that_fit(head, names, others[:_SHOWN_COLUMNS])
    right = tuple(i for i, name in enumerate(shown) if result[name].dtype.is_numeric())
    out.print(Text(f"{_share(head.height, ranking.rows)}, best first{_within(query)}", style="bold"))
    groups = [(None, head)] if query is None else head.partition_by(query, maintain_order=True, as_dict=True).items()
    for key, part in groups:
        heading = "" if key is None else f"\n{query} {key[0]}"
        rows = [[_with_sign(value, ranking.decimal) for value in row] for row in part.select(shown).rows()]
        out.print(table(heading, shown, rows, right=right))


def _with_sign(value: Any, decimal: str) -> str:
    """A value for the terminal, a fraction with the decimal sign of the table."""
    text = cell(value)
    return text.replace(".", decimal) if isinstance(value, float) else text


def _that_fit(rows: pl.DataFrame, names: list[str], others: list[str]) -> list[str]:
    """All of the names, and of the others as many as the terminal has room for beside them."""
    wide = [max([len(name), *(len(cell(value)) for value in rows[name])]) + 2 for name in (*names, *others)]
    most = int(np.searchsorted(np.cumsum(wide) - 2, out.width, side="right"))
    return [*names, *others][: max(len(names), most)]


def _most(query: str | None) -> int:
    """How many rows are shown on the terminal."""
    return _SHOWN if query is None else _SHOWN_IN_QUERIES


def _within(query: str | None) -> str:
    return "" if query is None else " within queries"


def _share(part: int, whole: int) -> str:
    return counted(whole, "rows") if part == whole else f"{part:,} of {whole:,} rows"


def _free(name: str, taken: list[str]) -> str:
    while name in taken:
        name += "_"
    return name
