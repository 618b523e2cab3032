"""``hullrank rank``: new rows with their scores, grades and ranks, best first."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from hullrank.cli.console import note, out, print_json, say, table, working
from hullrank.cli.data import Data
from hullrank.cli.model import Model, ranks
from hullrank.exceptions import TableError
from hullrank.io import replacing

_SHOWN = 20


def run_rank(
    model_path: Path,
    path: Path,
    target_file: Path | None,
    *,
    top: int | None,
    qid: str | None,
    whole: bool,
    as_json: bool,
) -> None:
    """Rank the rows of a table by a model."""
    model = Model.load(model_path)
    data = _load(model, path, model.qid_column(qid, whole))
    with working(f"scoring {len(data):,} rows"):
        result, names = ranked_rows(model, data, None if whole else data.qid)
    if top is not None:
        result = result.filter(pl.col(names["rank"]) <= top)
    _deliver(result, target_file, list(names.values()), len(data), as_json)


def ranked_rows(model: Model, data: Data, qid: Any | None) -> tuple[pl.DataFrame, dict[str, str]]:
    """The rows with score, grade, rank and row number, best first (within queries), and the names of those columns."""
    result = pl.DataFrame() if data.rows is None else data.rows
    scores = model.pipeline.score_samples(data.X)
    new = {
        "rank": ranks(scores, qid),
        "score": scores,
        "grade": model.grades(data.X),
        "query": qid if data.sparse else None,
        "row": np.arange(1, len(data) + 1),
    }
    names = {name: _free(name, result.columns) for name, values in new.items() if values is not None}
    result = pl.concat([result, pl.DataFrame([pl.Series(names[name], new[name]) for name in names])], how="horizontal")
    by = (np.zeros(len(data)) if qid is None else np.asarray(qid), result[names["rank"]].to_numpy())
    return result[np.lexsort(by[::-1])], names


def _load(model: Model, path: Path, column: str | None) -> Any:
    try:
        return model.load_data(path, qid=column)
    except TableError as error:
        if column is not None and f"no column {column!r}" in str(error):
            raise TableError(
                f"{error}; the model ranks within queries: name their column by --qid, or rank all together by --whole"
            ) from error
        raise


def _deliver(result: pl.DataFrame, target_file: Path | None, names: list[str], rows: int, as_json: bool) -> None:
    if target_file is not None:
        write_table(result, target_file)
        if not as_json and str(target_file) != "-":
            say(f"{_share(result.height, rows)}, best first, in {target_file}")
    if as_json:
        print_json({"rows": result.height, "ranked": result.head(1000).to_dicts()})
    elif target_file is None:
        shown = [*names, *[name for name in result.columns if name not in names][:4]]
        title = f"{_share(min(_SHOWN, result.height), rows)}, best first"
        out.print(table(title, shown, result.select(shown).head(_SHOWN).rows(), left=0))
        if result.height > _SHOWN:
            note(f"use --out FILE for all {result.height:,} of them")


def _share(part: int, whole: int) -> str:
    return f"{whole:,} rows" if part == whole else f"{part:,} of {whole:,} rows"


def write_table(frame: pl.DataFrame, path: Path) -> None:
    """Write in the format of the ending (CSV if there is none); the old file stays whole if that fails."""
    if str(path) == "-":
        import sys

        sys.stdout.write(frame.write_csv())
        return
    ending = path.suffix.lower()
    with replacing(path) as stream:
        if ending in (".parquet", ".pq"):
            frame.write_parquet(stream)
        elif ending in (".arrow", ".feather", ".ipc"):
            frame.write_ipc(stream)
        elif ending in (".jsonl", ".ndjson"):
            frame.write_ndjson(stream)
        else:
            frame.write_csv(stream, separator="\t" if ending in (".tsv", ".tab") else ",")


def _free(name: str, taken: list[str]) -> str:
    while name in taken:
        name += "_"
    return name
