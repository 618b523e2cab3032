"""Places inside queries."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hullrank.data import check_queries
from hullrank.metrics.ranked import Ranked
from hullrank.metrics.scored import check_scores


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
