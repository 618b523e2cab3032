"""Average ranks of methods over data sets, and which of them cannot be told apart (Demsar 2006)."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import friedmanchisquare, rankdata, studentized_range
from sklearn.model_selection import cross_val_score

from hullrank.exceptions import HullrankError
from hullrank.plots._style import axes_or_new, ink, short

Floats = NDArray[np.float64]


def critical_difference(n_methods: int, n_datasets: int, alpha: float = 0.05) -> float:
    """Nemenyi: q sqrt(k (k + 1) / (6 N)), with q the quantile of the studentised range divided by sqrt 2."""
    q = studentized_range.ppf(1 - alpha, n_methods, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6 * n_datasets)))


def cliques(ranks: Floats, difference: float) -> list[tuple[int, int]]:
    """Maximal runs (first, last) of sorted ranks that lie within the critical difference."""
    runs: list[tuple[int, int]] = []
    for first in range(len(ranks)):
        last = int(np.searchsorted(ranks, ranks[first] + difference, side="right")) - 1
        if last > first and (not runs or last > runs[-1][1]):
            runs.append((first, last))
    return runs


class CriticalDifferenceDisplay:
    """Average ranks on a line (1 is best); bars join methods that do not differ significantly.

    Parameters
    ----------
    scores : ndarray of shape (n_datasets, n_methods)
        Higher is better.
    names : list of str
    alpha : float, default=0.05

    Attributes
    ----------
    ranks_ : ndarray of shape (n_methods,), average ranks
    difference_ : float, the critical difference
    p_value_ : float, of Friedman's test that all methods are alike
    ax_, figure_ : matplotlib Axes and Figure

    References
    ----------
    J. Demsar: Statistical comparisons of classifiers over multiple data sets. JMLR 7, 2006.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from hullrank.plots import CriticalDifferenceDisplay
    >>> scores = [[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.7, 0.6, 0.8], [0.9, 0.5, 0.4]]  # data sets by methods
    >>> display = CriticalDifferenceDisplay.from_predictions(scores, names=["ours", "theirs", "chance"])
    >>> display.ranks_.tolist(), round(display.difference_, 2)
    ([1.25, 2.25, 2.5], 1.66)
    """

    def __init__(self, *, scores: Floats, names: list[str], alpha: float = 0.05) -> None:
        self.scores = scores
        self.names = names
        self.alpha = alpha

    @classmethod
    def from_estimator(
        cls,
        estimator: Mapping[str, Any],
        data: Sequence[tuple[Any, Any]],
        *,
        cv: Any = 5,
        scoring: Any = None,
        alpha: float = 0.05,
        ax: Any = None,
    ) -> Self:
        """Cross-validate estimators (by name) on several data sets (X, y) and draw their ranks."""
        scores = [
            [cross_val_score(model, X, y, cv=cv, scoring=scoring).mean() for model in estimator.values()]
            for X, y in data
        ]
        return cls.from_predictions(scores, names=list(estimator), alpha=alpha, ax=ax)

    @classmethod
    def from_predictions(cls, scores: ArrayLike, *, names: Sequence[str], alpha: float = 0.05, ax: Any = None) -> Self:
        """Draw given scores: a row for every data set, a column for every method; higher is better."""
        table = np.asarray(scores, dtype=np.float64)
        if table.ndim != 2 or table.shape[1] != len(names) or table.shape[1] < 2 or not np.isfinite(table).all():
            raise HullrankError(
                f"scores of shape {table.shape} for {len(names)} methods; pass a finite number for every data set (row)"
                " and at least two methods (columns)"
            )
        return cls(scores=table, names=[str(name) for name in names], alpha=alpha).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the picture on ``ax``, or on a new figure."""
        n_datasets, k = self.scores.shape
        self.ranks_ = rankdata(-self.scores, axis=1).mean(axis=0)
        self.difference_ = critical_difference(k, n_datasets, self.alpha)
        self.p_value_ = float(friedmanchisquare(*self.scores.T).pvalue) if k > 2 and n_datasets > 1 else float("nan")
        self.figure_, self.ax_ = axes_or_new(ax, 7.5, 1.6 + 0.28 * k)
        colour = ink(self.ax_)
        order = np.argsort(self.ranks_, kind="stable")
        groups = cliques(self.ranks_[order], self.difference_)
        floor = 0.35 * len(groups) + 0.5
        self.ax_.hlines(0, 1, k, color=colour, lw=1.2)
        for tick in range(1, k + 1):
            self.ax_.vlines(tick, -0.12, 0.12, color=colour, lw=1.2)
            self.ax_.text(tick, 0.25, str(tick), ha="center", va="bottom", fontsize="small", color=colour)
        for level, (first, last) in enumerate(groups):
            ends = self.ranks_[order[[first, last]]]
            self.ax_.hlines(-0.35 * (level + 1), ends[0] - 0.03, ends[1] + 0.03, color=colour, lw=4)
        half = (k + 1) // 2
        for place, method in enumerate(order):
            left = place < half
            depth = -floor - 0.55 * (place if left else k - 1 - place)
            edge = 0.7 if left else k + 0.3
            self.ax_.plot([self.ranks_[method]] * 2 + [edge], [0, depth, depth], color=colour, lw=0.9)
            text = f"{short(self.names[method], 28)}  {self.ranks_[method]:.2f}"
            self.ax_.text(edge, depth, f"{text} " if left else f" {text}", ha="right" if left else "left", va="center")
        self.ax_.hlines(0.95, 1, 1 + self.difference_, color=colour, lw=1.2)
        title = f"critical difference {self.difference_:.2f}"
        self.ax_.text(1, 1.1, title, ha="left", va="bottom", fontsize="small", color=colour)
        self.ax_.set_ylim(-floor - 0.55 * half, 1.8)
        self.ax_.set_xlim(0.4 - 0.35 * k, max(1.35 * k + 0.6, 1 + self.difference_))
        self.ax_.set_axis_off()
        return self
