"""Documents of every query from first to last place, with tied scores kept together; and their places."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hullrank.data import check_queries
from hullrank.metrics.pair_counts import sum_by
from hullrank.metrics.scored import check_scores

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


def rank_within(scores: ArrayLike, qid: Any = None) -> NDArray[np.int64]:
    """Place of every sample in its query by score: 1 for the highest; equal scores share the better place.

    Parameters
    ----------
    scores : array-like of shape (n_samples,)
        Higher means ranked higher.
    qid : array-like of shape (n_samples,), default=None
        Query ids in any order and of any type; None is one query.

    Returns
    -------
    places : ndarray of shape (n_samples,)

    Examples
    --------
    >>> from hullrank.metrics import rank_within
    >>> rank_within([0.3, 0.9, 0.9, 0.1, 0.7], qid=["a", "a", "a", "b", "b"])
    array([3, 1, 1, 2, 1])
    """
    points = check_scores(scores)
    ranked = Ranked.of(check_queries(qid, len(points)), points)
    places = np.empty(len(points), dtype=np.int64)
    places[ranked.order] = ranked.first_place + 1
    return places
