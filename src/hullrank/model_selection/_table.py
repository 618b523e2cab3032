"""The table of a grid search: scores of points in folds, which points can still win, and which one did."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from hullrank.exceptions import HullrankError

Floats = NDArray[np.float64]
Params = dict[str, Any]
_DIGITS = 1e-9  # by which a point must miss the leader; less may be rounding


@dataclass
class Table:
    """Scores and seconds of every point of the grid (rows) in every fold (columns).

    ``ran`` tells which of them were rated, ``most`` is the largest score that a fold can give, ``bounds`` what is
    known of the scores beyond that, from above, and ``leader`` the highest mean of a point that was rated in all folds.
    """

    points: list[Params]
    scores: Floats
    fit_seconds: Floats
    score_seconds: Floats
    ran: NDArray[np.bool_]
    bounds: Floats
    most: float = np.inf
    leader: float = -np.inf

    @classmethod
    def empty(cls, points: list[Params], n_folds: int, most: float = np.inf) -> "Table":
        """Nothing known yet: no score, no time."""
        shape = len(points), n_folds
        unknown = np.full(shape, np.nan), np.zeros(shape), np.zeros(shape), np.zeros(shape, bool)
        return cls(points, *unknown, np.full(shape, most), most)

    @property
    def means(self) -> Floats:
        """Mean scores; NaN where some fold is missing or has no score."""
        return np.asarray(self.scores.mean(axis=1))

    def record(self, k: int, column: int, score: float = np.nan, seconds: tuple[float, float] = (0.0, 0.0)) -> None:
        """Note the score of a point in a fold (NaN: it has none), and the seconds of the fit and of the score."""
        self.ran[k, column], self.scores[k, column] = True, score
        self.fit_seconds[k, column], self.score_seconds[k, column] = seconds
        if self.ran[k].all():
            self.leader = max(self.leader, np.nan_to_num(self.scores[k].mean(), nan=-np.inf))

    def is_hopeless(self, k: int) -> bool:
        """Whether another point has a higher mean than this one can reach, whatever the folds to come give it."""
        if self.most == np.inf or self.leader == -np.inf:
            return False
        return bool(self.reach(k).mean() < self.leader - _DIGITS * max(1.0, abs(self.leader)))

    def reach(self, k: int) -> Floats:
        """The scores of a point in all folds, or what they can be at most."""
        return np.where(self.ran[k], self.scores[k], self.bounds[k])

    def enough(self, k: int, column: int) -> float:
        """The bound of a point's score in a fold below which it need not be known for now.

        With such bounds in all folds the point could not win. What it is behind the leader in other folds is shared
        among those to come. While there is no leader, the best point of a fold stands for it, but what was best in the
        first fold may lead and is rated.
        """
        if self.leader == -np.inf:
            rated = np.nan_to_num(self.scores, nan=-np.inf)
            return -np.inf if k == rated[:, 0].argmax() else float(rated[:, column].max())
        ahead = self.scores[int(np.nanargmax(self.means))] - self.reach(k)
        seen = self.ran[k] | (self.bounds[k] < self.most)
        seen[column] = False
        return float(ahead[column] + self.reach(k)[column] + ahead[seen].sum() / (~seen).sum())

    def unsettled(self) -> int | None:
        """Of the points that were not rated in all folds and yet may win, the one that can reach most; None if all is
        settled."""
        left = [k for k in np.flatnonzero(~self.ran.all(axis=1)).tolist() if not self.is_hopeless(k)]
        return max(left, key=lambda k: float(self.reach(k).mean()), default=None)

    def hardest_first(self, columns: Iterable[int]) -> list[int]:
        """Some folds, the one in which the leader has the least score first; as they are while there is no leader."""
        if self.leader == -np.inf:
            return list(columns)
        scores = self.scores[int(np.nanargmax(self.means))]
        return sorted(columns, key=lambda column: float(scores[column]))

    def results(self) -> dict[str, Any]:
        """The table under the names of GridSearchCV's ``cv_results_``; times are those of the folds that were rated."""
        found: dict[str, Any] = {}
        for name, seconds in (("fit_time", self.fit_seconds), ("score_time", self.score_seconds)):
            rated = np.ma.array(seconds, mask=~self.ran)
            found[f"mean_{name}"], found[f"std_{name}"] = rated.mean(axis=1).filled(0), rated.std(axis=1).filled(0)
        for name in self.points[0]:
            found[f"param_{name}"] = _masked([point[name] for point in self.points])
        found["params"] = self.points
        for k, column in enumerate(self.scores.T):
            found[f"split{k}_test_score"] = column
        found["mean_test_score"], found["std_test_score"] = self.means, self.scores.std(axis=1)
        found["rank_test_score"] = self.ranks()
        return found

    def ranks(self) -> NDArray[np.int32]:
        """1 for the highest mean; equal means share the lowest rank, and points without a mean come last."""
        means = self.means
        lowest = np.nanmin(means) - 1 if np.isfinite(means).any() else 0.0
        return rankdata(-np.nan_to_num(means, nan=lowest), method="min").astype(np.int32)

    def best(self) -> int:
        """The first point with the highest mean."""
        if not np.isfinite(self.means).any():
            raise HullrankError(
                "no point of the grid has a score in every fold: classes cannot be separated (C=inf), or some fold has "
                "nothing to compare; use finite Cs, fewer folds, or other splits"
            )
        return int(self.ranks().argmin())

    def simplest(self) -> int:
        """The smallest C whose mean is within one standard error of the best, with gamma and loss of the best."""
        best = self.best()
        n, means = self.scores.shape[1], self.means
        error = float(self.scores[best].std(ddof=1)) / n**0.5 if n > 1 else 0.0
        other = {name: value for name, value in self.points[best].items() if name != "C"}
        near = [
            k
            for k, point in enumerate(self.points)
            if means[k] >= means[best] - error and all(point[name] == value for name, value in other.items())
        ]
        return min(near, key=lambda k: (self.points[k]["C"], k))


def _masked(values: list[Any]) -> Any:
    kinds = {type(value) for value in values}
    same = kinds <= {int, float} or kinds == {str}
    return np.ma.MaskedArray(np.array(values, dtype=None if same else object), mask=False)
