"""Documents of every query from first to last place, with tied scores kept together."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hullrank.metrics.pair_counts import sum_by

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


@dataclass(frozen=True)
class Ranked:
    """Documents sorted by query and falling score; all arrays but ``order`` itself follow that order.

    A *run* is the documents of one query with one score.
    """

    order: Ints
    query: Ints
    place: Ints  # 0 for the first document of its query
    run: Ints  # number of the run, over all queries
    run_end: Ints  # position of the last document of the run, over all queries

    @classmethod
    def of(cls, queries: Ints, scores: Floats) -> "Ranked":
        """Sort the documents of every query 0..Q-1 by score, highest first."""
        order = np.lexsort((-scores, queries))
        query, score = queries[order], scores[order]
        new_query = np.append(True, query[1:] != query[:-1])
        new_run = new_query | np.append(True, score[1:] != score[:-1])
        position = np.arange(len(order))
        run = np.cumsum(new_run) - 1
        run_end = np.append(np.flatnonzero(new_run)[1:], len(order))[run] - 1
        return cls(order, query, position - np.flatnonzero(new_query)[query], run, run_end)

    @property
    def first_place(self) -> Ints:
        """Place of the first document tied with each."""
        return self.place[np.flatnonzero(np.diff(self.run, prepend=-1))][self.run]

    @property
    def last_place(self) -> Ints:
        """Place of the last document tied with each."""
        return self.place + self.run_end - np.arange(len(self.place))

    def share_ties(self, values: NDArray[Any]) -> Floats:
        """Every value replaced by the mean over its run."""
        return (sum_by(self.run, values.astype(np.float64)) / np.bincount(self.run))[self.run]

    def relevant_down_to(self, relevant: NDArray[np.bool_]) -> Ints:
        """How many documents of the query scored as high as each one or higher are relevant."""
        so_far = np.cumsum(relevant)
        query_start = np.arange(len(relevant)) - self.place
        return so_far[self.run_end] - (so_far - relevant)[query_start]
