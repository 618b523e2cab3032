"""``hullrank rank`` for tables larger than memory: scores in one pass, then rows put in order through files."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from hullrank.cli.model import Model
from hullrank.cli.output import write_tables
from hullrank.cli.parts import Parts, Placed
from hullrank.cli.rank import MOST_SHOWN, Ranking, RankWishes, answered_rows, tell_ranking
from hullrank.io.row_files import row_files

_PLACE = "\0place"  # a name that no column of a table has


def rank_in_parts(model: Model, parts: Parts, target_file: Path | None, cuts: Any | None, wishes: RankWishes) -> None:
    """Rank the rows of a table in parts; all of them are sorted only if they are to be written."""
    ranked = RankedParts(model, parts, wishes.whole, cuts)
    best, names = ranked.best(wishes.top or MOST_SHOWN)
    if target_file is not None and wishes.top is None:
        ranked.write(target_file, raw=wishes.raw)
    elif target_file is not None:
        write_tables([best], target_file, raw=wishes.raw)
    tell_ranking(Ranking(best, names, parts.columns.qid, len(ranked)), target_file, wishes)


class RankedParts:
    """The rows of a table in parts with their ranks; the order of all rows is held, their cells are not."""

    def __init__(self, model: Model, parts: Parts, whole: bool, cuts: Any | None) -> None:
        self.model, self.parts, self.cuts = model, parts, cuts
        from hullrank.metrics import rank_within

        rows = Placed.of_parts(model, parts)
        model.tell_new_groups(rows.groups)
        qid = None if whole else rows.qid
        self.scores, self.ranks = rows.scores, rank_within(rows.scores, qid)
        order = np.lexsort((self.ranks, np.zeros(len(rows)) if qid is None else qid))
        self.places = np.empty(len(rows), dtype=np.int64)  # of the rows in the result, from 0
        self.places[order] = np.arange(len(rows))

    def __len__(self) -> int:
        return len(self.scores)

    def best(self, top: int) -> tuple[pl.DataFrame, dict[str, str]]:
        """The best rows (of every query), in order; and the names of the new columns."""
        found, places = [], []
        for rows, names, where in self._answered("collecting the best rows"):
            kept = rows[names["rank"]].to_numpy() <= top
            found.append(rows.filter(kept))
            places.append(where[kept])
        return pl.concat(found, how="vertical_relaxed")[np.argsort(np.concatenate(places))], names

    def write(self, path: Path, *, raw: bool) -> None:
        """All rows in order: sorted into files by place, each of which fits into memory, and written file by file."""
        rows = max(1, len(self) // max(1, len(self.parts)))
        folder = None if str(path) == "-" else path.parent
        with row_files(folder, self.parts.tables.memory) as files:
            for answered, _, where in self._answered("putting rows in order"):
                files.add(answered.with_columns(pl.Series(_PLACE, where)), where // rows)
            in_order = (files.read(i).sort(_PLACE).drop(_PLACE) for i in range(-(-len(self) // rows)))
            write_tables(in_order, path, raw=raw)

    def _answered(self, title: str) -> Iterator[tuple[pl.DataFrame, dict[str, str], Any]]:
        """The rows of every part with what the model says of them, and their places in the result."""
        start = 0
        for data in self.parts.walk(title):
            part = slice(start, start + len(data))
            numbers = np.arange(part.start + 1, part.stop + 1)
            rows, names = answered_rows(self.model, data, self.scores[part], self.ranks[part], numbers, self.cuts)
            yield rows, names, self.places[part]
            start = part.stop
