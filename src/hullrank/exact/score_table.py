"""From whole-number weights and the samples to the card of a scoring system."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hullrank.exact.rows import Rows
from hullrank.problem.score_table import ScoreTable, by_points

Floats = NDArray[np.float64]

_MOST_ROWS = 25
_RANGES = 10


def score_table(names: Sequence[str], w: Floats, scores: Floats, rows: Rows) -> ScoreTable:
    """The card of weights w; more totals than fit on it are joined to ranges of about equal numbers of samples."""
    used = by_points(w)
    totals, at = np.unique(scores, return_inverse=True)
    if len(totals) > _MOST_ROWS:
        below = np.cumsum(np.bincount(at.ravel(), rows.weights))
        group = np.minimum((below - 0.5 * np.diff(below, prepend=0.0)) / below[-1] * _RANGES, _RANGES - 1).astype(int)
        at = np.unique(group, return_inverse=True)[1][at.ravel()]
    at = at.ravel()
    n = int(at.max()) + 1
    low, high = np.full(n, np.inf), np.full(n, -np.inf)
    np.minimum.at(low, at, scores)
    np.maximum.at(high, at, scores)
    return ScoreTable(
        tuple(str(names[j]) for j in used),
        tuple(int(w[j]) for j in used),
        tuple(low.tolist()),
        tuple(high.tolist()),
        tuple(np.bincount(at, rows.weights, n).tolist()),
        tuple(np.bincount(at, rows.weights * (rows.codes > 0), n).tolist()),
    )
