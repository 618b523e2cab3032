"""What the first pass over a table in parts finds beside its columns: grades, queries, and a random sample of rows."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from hullrank.cli.data import Data, query_numbers, query_values
from hullrank.cli.parts import Parts

SAMPLE = 20_000  # rows that stay in memory, for figures on rows left out
_QUERIES = 5  # fewest queries of the sample, whatever their size: one for every fold


class FirstLook:
    """One pass over the parts of a table, for whoever learns its columns; what else a part tells is noted.

    ``targets`` are those of every part, if ``keep_targets`` asks for them.
    """

    def __init__(self, parts: Parts, *, keep_targets: bool = False) -> None:
        self.parts, self.keep_targets = parts, keep_targets
        self.targets: list[pl.Series] = []
        self.rows = self.without = 0
        self.missing: dict[str, int] = {}  # cells without a value, by column
        self._grades: list[pl.DataFrame] = []
        self._queries: list[pl.DataFrame] = []
        self._sample = _Sample(whole_queries=parts.columns.qid is not None)

    def frames(self) -> Iterator[pl.DataFrame]:
        """The features of the parts in turn."""
        for number, data in enumerate(self.parts.walk(f"reading {self.parts.tables.rows:,} rows")):
            self.rows += len(data)
            self.without += data.without_target
            if self.keep_targets:
                self.targets.append(data.y)
            if len(data):
                self._grades = _joined(self._grades, data.y.unique().to_frame("grade"))
                self._sample.add(data, self._note_queries(data, number))
                for column in data.X:
                    self.missing[column.name] = self.missing.get(column.name, 0) + column.null_count()
            yield data.X

    def grades(self) -> pl.Series:
        """The different values of the target."""
        return pl.concat(self._grades, how="vertical_relaxed")["grade"].unique()

    def queries(self) -> pl.DataFrame:
        """A row for every query: ``query``, its number of ``rows``, and the ``first`` and ``last`` part with a row."""
        return (
            pl.concat(self._queries, how="vertical_relaxed")
            .group_by("query", maintain_order=True)
            .agg(pl.col("rows").sum(), pl.col("first").min(), pl.col("last").max())
        )

    def sample(self) -> Data:
        """At most 20,000 rows drawn at random, or whole queries of about as many."""
        return self._sample.data(self.parts.columns.qid)

    def _note_queries(self, data: Data, part: int) -> pl.Series | None:
        column = self.parts.columns.qid
        if column is None:
            return None
        values = query_values(data.rows[column])
        found = values.alias("query").to_frame().group_by("query", maintain_order=True).agg(pl.len().alias("rows"))
        self._queries.append(found.with_columns(first=pl.lit(part), last=pl.lit(part)))
        return values


def _joined(uniques: list[pl.DataFrame], more: pl.DataFrame) -> list[pl.DataFrame]:
    """Different values with those of one more part; joined when as many have come as there were, so that it is cheap
    also where all rows differ."""
    uniques = [*uniques, more]
    if len(uniques) > 1 and sum(map(len, uniques[1:])) > len(uniques[0]):
        return [pl.concat(uniques, how="vertical_relaxed").unique()]
    return uniques


class _Sample:
    """Rows with the lowest of random keys; rows of a query share one, so that whole queries are drawn."""

    def __init__(self, *, whole_queries: bool) -> None:
        self._kept: Data | None = None
        self._whole, self._keys, self._limit = whole_queries, np.zeros(0), np.inf
        self._rng = np.random.default_rng(0)

    def add(self, data: Data, queries: pl.Series | None) -> None:
        """Take rows of one more part into account."""
        keys = self._rng.random(len(data)) if queries is None else queries.hash(seed=0).to_numpy() / 2.0**64
        low = np.flatnonzero(keys < self._limit)
        if len(low) < len(data):
            data, keys = _take(data, low), keys[low]
        self._kept = data if self._kept is None else _both(self._kept, data)
        self._keys = np.concatenate([self._keys, keys])
        if len(self._keys) > SAMPLE:
            self._cut()

    def data(self, qid: str | None) -> Data:
        """The rows that were drawn."""
        assert self._kept is not None
        kept = self._kept
        if qid is not None:
            kept = replace(kept, qid=query_numbers(kept.rows[qid]))
        return replace(kept, rows=None, left=None)

    def _cut(self) -> None:
        keys, sizes = np.unique(self._keys, return_counts=True)
        fewest = _QUERIES if self._whole else 1
        most = max(fewest, int(np.searchsorted(np.cumsum(sizes), SAMPLE, side="right")))
        if most >= len(keys):
            return
        self._limit = keys[most]
        rows = np.flatnonzero(self._keys < self._limit)
        assert self._kept is not None
        self._keys, self._kept = self._keys[rows], _take(self._kept, rows)


def _take(data: Data, rows: Any) -> Data:
    """Some rows, with the table as it was read."""
    return replace(data.take(rows), rows=data.rows[rows], target_form=data.target_form)


def _both(one: Data, other: Data) -> Data:
    X, rows = (pl.concat([getattr(one, name), getattr(other, name)], how="vertical_relaxed") for name in ("X", "rows"))
    weights = None if one.weights is None else np.concatenate([one.weights, other.weights])
    y = pl.concat([one.y.to_frame(), other.y.to_frame()], how="vertical_relaxed").to_series()
    return replace(one, X=X, y=y, weights=weights, qid=None, rows=rows)
