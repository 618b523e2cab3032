"""How far a table is from the one that a model was fitted to: columns without a cell, and words that are new."""

from collections import Counter, defaultdict

import polars as pl

from hullrank.cli.console import note
from hullrank.cli.data import Data
from hullrank.cli.model import Model
from hullrank.cli.wording import counted
from hullrank.io.forms import few, marked


class Drift:
    """Missing cells and new words of the columns of a model, counted part by part."""

    def __init__(self, model: Model) -> None:
        self.columns = [column for column in model.columns if column["kind"] != "left out"]
        self.rows = 0
        self.missing = Counter[str]()  # cells, by column
        self.new: dict[str, Counter[str]] = defaultdict(Counter)  # words, by column

    def add(self, data: Data) -> None:
        """Take in another part of the table."""
        self.rows += len(data)
        for column in self.columns:
            name = column["name"]
            cells = data.X[name]
            known = _known(cells, column.get("words", []))
            self.missing[name] += len(cells) - len(known)
            if column["kind"] == "word":
                words = known.cast(pl.String).alias("word")
                counts = words.filter(~words.is_in(column["words"])).value_counts()
                self.new[name].update(dict(counts.iter_rows()))

    def tell(self) -> None:
        """A note about every column of which nothing is left, or in which most words are new."""
        for column in self.columns:
            name, new = column["name"], self.new[column["name"]]
            known, unseen = self.rows - self.missing[name], new.total()
            all_rows = f"all {self.rows:,} rows" if self.rows > 1 else "the only row"
            if not known:
                instead = "the median of the training rows is used" if column["kind"] == "number" else "no word is used"
                note(f"{name!r} is missing in {all_rows}; {instead}")
            elif unseen == known or (2 * unseen > known and not column.get("n_others")):  # rare words are not kept
                words = few([word for word, _ in new.most_common()])
                note(
                    f"{name!r}: {unseen:,} of {counted(self.rows, 'rows')} hold words that the model has not seen "
                    f"({words}); they count as none of those it knows"
                )


def tell_drift(model: Model, data: Data) -> None:
    """The notes about a table in memory."""
    drift = Drift(model)
    drift.add(data)
    drift.tell()


def _known(cells: pl.Series, words: list[str]) -> pl.Series:
    """The cells that say something: all but marks of what is missing that are none of the model's words."""
    known = cells.drop_nulls()
    if known.dtype == pl.String:
        return known.filter(~marked(known) | known.is_in(words))
    return known.drop_nans() if known.dtype.is_float() else known
