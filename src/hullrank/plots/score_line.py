"""The score line: every sample at its score, in the row of its class, with the bounds the model learned."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hullrank.exceptions import HullrankError
from hullrank.plots._style import FAINT, INK, VIOLATOR, axes_or_new, class_colours, plain, short
from hullrank.plots.placement import Placement, place, place_by


class ScoreLineDisplay:
    """Samples on the score line with intervals, thresholds and violators.

    Every class has a row; a shaded bar is the interval of the class (open where nothing lies beyond), dashed lines are
    thresholds, and crosses are samples beyond a threshold (without thresholds: outside of their
    interval). With queries every query has a row instead, and
    colour shows the class. Use ``from_estimator`` or ``from_predictions``.

    Parameters
    ----------
    placement : Placement
        Scores, classes and bounds of the samples.
    qid : ndarray of shape (n_samples,), default=None
        The query of every sample.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    points_ : list of matplotlib collections: samples within their bounds, then violators

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from hullrank import ScoreLineDisplay
    >>> display = ScoreLineDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.9, 0.6, 2.0], thresholds=[0.5])
    >>> display.placement.violators.tolist()
    [1]
    """

    def __init__(self, *, placement: Placement, qid: NDArray[Any] | None = None) -> None:
        self.placement = placement
        self.qid = qid

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        qid: Any = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw where a fitted estimator, or a pipeline that ends in one, puts the samples.

        Parameters
        ----------
        estimator : fitted estimator with ``score_samples``
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            Shown as the area of the points.
        qid : array-like of shape (n_samples,), default=None
            Queries; each gets a row.
        ax : matplotlib Axes, default=None
        **options : passed to ``plot``
        """
        placement = place_by(estimator, X, y, sample_weight=sample_weight)
        return cls(placement=placement, qid=_queries(qid, placement)).plot(ax=ax, **options)

    @classmethod
    def from_predictions(
        cls,
        y: Any,
        scores: Any,
        *,
        classes: Any = None,
        thresholds: Any = None,
        intervals: Any = None,
        sample_weight: Any = None,
        qid: Any = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw given scores.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
        scores : array-like of shape (n_samples,)
        classes : array-like of shape (n_classes,), default=None
            Lowest first; the order of y itself if None.
        thresholds : array-like of shape (n_classes - 1,), default=None
        intervals : array-like of shape (n_classes, 2), default=None
        sample_weight, qid, ax, **options : as in ``from_estimator``
        """
        placement = place(
            y, scores, classes=classes, thresholds=thresholds, intervals=intervals, sample_weight=sample_weight
        )
        return cls(placement=placement, qid=_queries(qid, placement)).plot(ax=ax, **options)

    def plot(self, *, ax: Any = None, max_points: int = 5000, max_queries: int = 12, seed: int = 0) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure if None.
        max_points : int, default=5000
            Draw a random choice of the samples beyond this number; violators are chosen like all others.
        max_queries : int, default=12
            Draw the first queries only.
        seed : int, default=0
            Of the jitter and of the choice.

        Returns
        -------
        self : ScoreLineDisplay
        """
        p = self.placement
        n_rows = len(p.classes) if self.qid is None else min(max_queries, len(np.unique(self.qid)))
        self.figure_, self.ax_ = axes_or_new(ax, 8.0, float(np.clip(1.2 + 0.62 * n_rows, 2.6, 9.0)))
        rng = np.random.default_rng(seed)
        shown = np.arange(len(p.scores))
        if len(shown) > max_points:
            shown = np.sort(rng.choice(shown, max_points, replace=False))
        if self.qid is None:
            self._name_rows("class", p.classes)
            self._draw_points(shown, p.codes[shown] + rng.uniform(-0.22, 0.22, len(shown)))
            self._draw_bounds()
        else:
            queries, row = np.unique(self.qid, return_inverse=True)
            shown = shown[row[shown] < max_queries]
            self._name_rows("query", queries[:max_queries])
            self._draw_points(shown, row[shown] + rng.uniform(-0.12, 0.12, len(shown)))
            self._name_colours()
        self.ax_.set_xlabel("score  (higher = ranked higher)")
        plain(self.ax_)
        return self

    def _draw_points(self, shown: NDArray[np.intp], height: NDArray[np.float64]) -> None:
        p = self.placement
        colours, size = class_colours(len(p.classes))[p.codes], 14 * p.weights / p.weights.mean()
        wrong = (p.violation[shown] != 0) & (self.qid is None)
        right, bad = shown[~wrong], shown[wrong]
        self.points_ = [
            self.ax_.scatter(p.scores[right], height[~wrong], size[right], colours[right], alpha=0.75, linewidths=0)
        ]
        if wrong.any():
            share = np.average(p.violation != 0, weights=p.weights)
            label = f"{'beyond a threshold' if p.thresholds is not None else 'outside of its interval'} ({share:.0%})"
            crosses = self.ax_.scatter(
                p.scores[bad], height[wrong], 1.3 * size[bad], VIOLATOR, marker="x", linewidths=1.0, label=label
            )
            self.points_.append(crosses)
            self.ax_.legend(loc="lower right", bbox_to_anchor=(1, 1), frameon=False, fontsize="small")

    def _name_colours(self) -> None:
        classes = self.placement.classes
        choice = np.unique(np.linspace(0, len(classes) - 1, 6).astype(int))
        for code, colour in zip(choice, class_colours(len(classes))[choice], strict=True):
            self.ax_.scatter([], [], 14, [colour], label=short(classes[code], 12))
        self.ax_.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=6, frameon=False, fontsize="small")

    def _draw_bounds(self) -> None:
        p = self.placement
        left, right = self.ax_.get_xlim()
        colours = class_colours(len(p.classes))
        for code, (low, high) in enumerate(p.intervals if p.intervals is not None else ()):
            start, stop = max(low, left), min(high, right)
            if start < stop:
                self.ax_.barh(code, stop - start, left=start, height=0.66, color=colours[code], alpha=0.16, zorder=0)
            for end in (low, high):
                if np.isfinite(end):
                    self.ax_.plot([end, end], [code - 0.33, code + 0.33], color=colours[code], lw=1.8, zorder=1)
        for threshold in p.thresholds if p.thresholds is not None else ():
            self.ax_.axvline(threshold, color=FAINT, lw=1.0, ls=(0, (4, 3)), zorder=0)
        self.ax_.set_xlim(left, right)

    def _name_rows(self, title: str, names: NDArray[Any]) -> None:
        step = max(1, int(np.ceil(len(names) / 15)))
        ticks = np.arange(0, len(names), step)
        self.ax_.set_yticks(ticks, [short(names[i]) for i in ticks], color=INK)
        self.ax_.set_ylim(-0.6, len(names) - 0.4)
        self.ax_.set_ylabel(title)
        self.ax_.tick_params(axis="y", length=0)


def _queries(qid: Any, placement: Placement) -> NDArray[Any] | None:
    if qid is None:
        return None
    queries = np.asarray(qid)
    if queries.shape != placement.scores.shape:
        raise HullrankError(f"qid has shape {queries.shape}, and there are {len(placement.scores)} samples")
    return queries
