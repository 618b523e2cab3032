"""``hullrank fit`` for tables larger than memory: one pass to learn the columns, then the passes of the fit."""

from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import polars as pl

from hullrank.cli.columns import column_facts, tell_columns
from hullrank.cli.console import note, working
from hullrank.cli.data import Columns, Data, Reading, recognised, target_values, tell_missing_targets
from hullrank.cli.fit import Wishes, about_fit, arrange
from hullrank.cli.folds import Task
from hullrank.cli.grades import declared_order
from hullrank.cli.methods import METHODS, build, parse_settings, takes_blocks
from hullrank.cli.model import Model
from hullrank.cli.output import placed
from hullrank.cli.parts import USUAL_MEMORY, Parts, Placed
from hullrank.cli.progress import watching_passes
from hullrank.cli.result import tell_result
from hullrank.exceptions import HullrankError
from hullrank.io.parquet_parts import ParquetParts

_SAMPLE = 20_000  # rows that stay in memory, for figures on rows left out


def run_fit_in_parts(
    tables: ParquetParts, columns: Columns, reading: Reading, model_file: Path, wishes: Wishes
) -> None:
    """Fit a method to a table in parts, say how good it is, and save it."""
    settings = parse_settings(list(wishes.settings))
    _check(columns, wishes, settings)
    from hullrank.io import Blocks, save

    parts = Parts(tables, columns, reading)
    forms = recognised(parts[0], reading)
    look = _FirstLook(parts)
    pipeline = build(wishes.method, settings, sparse=False, forms=forms)
    encoder = pipeline[0].fit_blocks(look.frames())
    tell_missing_targets(look.without, look.rows, columns, tables.name)
    graph = declared_order(look.grades(), wishes.order, wishes.edges)
    settings, y, grades = arrange(wishes.method, settings, look.sample(), graph)
    model = build(wishes.method, settings, sparse=False)[-1]
    pipeline.steps[-1] = ("model", model)

    def read(part: int) -> tuple[Any, Any, Any, None]:
        data = parts[part]
        return encoder.transform(data.X), target_values(data.y), data.weights, None

    blocks = Blocks(read, len(parts), memory=wishes.memory or USUAL_MEMORY)
    start = perf_counter()
    title = f"fitting {wishes.method} to {look.rows:,} rows"
    with working(title, keep=True) as advance, watching_passes(advance):
        model.fit(blocks)
    seconds = perf_counter() - start
    tell_columns(look.sample(), encoder)
    facts = column_facts(look.sample(), encoder) if wishes.show_columns else None
    notes = {**about_fit(wishes.method, columns, look.sample(), grades), "rows": look.rows}
    with placed(model_file) as place:
        save(pipeline, place, about=notes)
    task = Task(wishes.method, look.sample(), y, settings, None if graph is None else graph.closure(), forms)
    try:
        rows = Placed.of_parts(Model(pipeline, notes, ""), parts, told=True)
        tell_result(model, rows, task, seconds, model_file, wishes.cv, wishes.as_json, facts)
    except KeyboardInterrupt:
        note(f"stopped by Ctrl-C; the model is saved in {model_file}")


def _check(columns: Columns, wishes: Wishes, settings: dict[str, Any]) -> None:
    """Refuse what needs all rows at once, before any is read."""
    if not takes_blocks(wishes.method) or settings.get("kernel", "linear") != "linear":
        able = ", ".join(method for method in METHODS if takes_blocks(method))
        raise HullrankError(
            f"the table is larger than --memory allows, and only {able} without a kernel are fitted in parts; choose "
            "one of them, or give more --memory"
        )
    if columns.groups is not None:
        raise HullrankError(
            "--groups need all rows in memory, because blocks of rows carry grades and weights only; give more "
            "--memory, or leave it out"
        )
    if wishes.probabilities:
        raise HullrankError("--probabilities need all rows in memory; leave it out, or give more --memory")


class _FirstLook:
    """What the first pass over a table finds beside its columns: the grades, and a random sample of the rows."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.rows = self.without = 0
        self._grades: list[pl.Series] = []
        self._kept: list[Data] = []
        self._keys: Any = np.zeros(0)
        self._rng = np.random.default_rng(0)

    def frames(self) -> Iterator[pl.DataFrame]:
        """The features of the parts in turn; what else a part tells is noted."""
        for data in self.parts.walk(f"reading {self.parts.tables.rows:,} rows"):
            self.rows += len(data)
            self.without += data.without_target
            if len(data):
                self._grades = [pl.concat([*self._grades, data.y.unique()]).unique()]
                self._keep(data)
            yield data.X

    def grades(self) -> pl.Series:
        """The different values of the target."""
        return self._grades[0]

    def sample(self) -> Data:
        """Rows drawn at random, at most 20,000."""
        return self._kept[0]

    def _keep(self, data: Data) -> None:
        """Every row draws a key; those with the lowest keys of all parts so far are the sample."""
        self._keys = np.concatenate([self._keys, self._rng.random(len(data))])
        joined = _joined([*self._kept, data])
        rows = np.sort(np.argpartition(self._keys, min(_SAMPLE, len(self._keys)) - 1)[:_SAMPLE])
        self._keys, self._kept = self._keys[rows], [joined.take(rows)]


def _joined(parts: list[Data]) -> Data:
    if len(parts) == 1:
        return parts[0]
    X, y = pl.concat([part.X for part in parts], how="vertical_relaxed"), pl.concat([part.y for part in parts])
    weights = None if parts[0].weights is None else np.concatenate([part.weights for part in parts])
    return Data(X, y, weights)
