"""The card of a scoring system: points per feature, and the share of positives for every total."""

from typing import Any, Self

import numpy as np

from hullrank._pipelines import unwrap
from hullrank.exceptions import HullrankError
from hullrank.plots._style import FAINT, LOWERS, RAISES, ink, plain, short


class ScoringSystemDisplay:
    """Points of the features beside the share of positives, and the samples, for every total of points.

    Use ``from_estimator`` with any fitted estimator that has a ``score_table_``, such as
    ``ExactRanker(weights="integer")``.

    Parameters
    ----------
    table : ScoreTable
        Features, points, and samples and positives for every total.

    Attributes
    ----------
    axes_ : ndarray of two matplotlib Axes, points and totals
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from hullrank import ExactRanker
    >>> from hullrank.plots import ScoringSystemDisplay
    >>> X = [[0, 0, 1], [0, 1, 0], [1, 0, 1], [1, 1, 0], [1, 1, 1]]
    >>> ranker = ExactRanker(weights="integer", max_weight=2).fit(X, [0, 0, 1, 1, 1])
    >>> ScoringSystemDisplay.from_estimator(ranker).axes_[0].get_title()
    'points'
    """

    def __init__(self, *, table: Any) -> None:
        self.table = table

    @classmethod
    def from_estimator(cls, estimator: Any, *, axes: Any = None) -> Self:
        """Draw the card of a fitted scoring system.

        Parameters
        ----------
        estimator : fitted estimator with ``score_table_``, or a pipeline that ends in one
        axes : sequence of two matplotlib Axes, default=None
        """
        last = unwrap(estimator).model
        if not hasattr(last, "score_table_"):
            raise HullrankError(
                f"{type(last).__name__} has no score_table_; fit an ExactRanker(weights='integer') and pass that"
            )
        return cls(table=last.score_table_).plot(axes=axes)

    def plot(self, *, axes: Any = None) -> Self:
        """Draw the card on two ``axes``, or on a new figure.

        Parameters
        ----------
        axes : sequence of two matplotlib Axes, default=None

        Returns
        -------
        display : ScoringSystemDisplay
        """
        if axes is None:
            import matplotlib.pyplot as plt

            rows = max(len(self.table.features) + 1, 0.7 * len(self.table.count))
            height = float(np.clip(1.2 + 0.36 * rows, 2.6, 9.0))
            self.figure_, self.axes_ = plt.subplots(
                1, 2, figsize=(9.0, height), layout="constrained", width_ratios=[1.0, 1.7]
            )
        else:
            self.axes_ = np.asarray(axes, dtype=object)
            self.figure_ = self.axes_[0].figure
        self._draw_points(self.axes_[0])
        self._draw_totals(self.axes_[1])
        return self

    def _draw_points(self, ax: Any) -> None:
        points = np.array(self.table.points)
        rows = np.arange(len(points))
        colours = np.where(points > 0, RAISES, LOWERS)
        ax.barh(rows, points, color=colours, alpha=0.85, height=0.7)
        reach = max(1, int(np.abs(points).max(initial=1)))
        for row, value in zip(rows, points, strict=True):
            beyond = 0.06 * reach if value > 0 else -0.06 * reach
            ax.text(value + beyond, row, f"{value:+d}", va="center", ha="left" if value > 0 else "right", color=ink(ax))
        ax.set_yticks(rows, [short(name) for name in self.table.features])
        ax.set_xlim(min(0, points.min(initial=0)) - 0.3 * reach, max(0, points.max(initial=0)) + 0.3 * reach)
        ax.axvline(0, color=FAINT, lw=1)
        ax.invert_yaxis()
        ax.set_xticks([])
        ax.set_title("points")
        plain(ax)
        ax.spines["bottom"].set_visible(False)

    def _draw_totals(self, ax: Any) -> None:
        share = 100 * np.array(self.table.share)
        rows = np.arange(len(share))
        ax.barh(rows, share, color=RAISES, alpha=0.35, height=0.8)
        for row, value, count in zip(rows, share, self.table.count, strict=True):
            ax.text(value + 1.5, row, f"{value:.0f}%  of {count:g}", va="center", color=ink(ax), fontsize=9)
        ax.set_yticks(rows, self.table.totals)
        ax.set_xlim(0, 130)
        ax.set_xticks([0, 25, 50, 75, 100])
        ax.set(xlabel="positives (%) of the samples with this total", ylabel="total", title="total of points")
        plain(ax)
