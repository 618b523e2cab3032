"""The score line: every sample at its score, in the row of its class, with the bounds the model learned."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hullrank.exceptions import HullrankError
from hullrank.plots._places import draw_bands, draw_pairs
from hullrank.plots._ridges import FEWEST, MOST_ROWS, draw_ridge, rain
from hullrank.plots._style import FAINT, axes_or_new, class_colours, ink, plain, short
from hullrank.plots.placement import Placement, place, place_by

_FEW_ROWS = 60  # up to so many rows, their dots are larger


class ScoreLineDisplay:
    """Samples on the score line, class by class, with the place of every class and the share of pairs ranked right.

    Every class has a row with the distribution of its scores (solid within the bounds of the class, pale beyond them)
    and, below, its samples (hollow beyond the bounds). Bounds are the thresholds, drawn dashed with a band in the
    colour of the class between them; in partial orders the midpoints between intervals. The bar on the ground line is
    the interval that was learned (open where nothing lies beyond). The figures on the right are the shares of pairs of
    two neighbouring classes that are ranked right. With queries every query has a row instead, and colour shows the
    class. Use ``from_estimator`` or ``from_predictions``.

    Parameters
    ----------
    placement : Placement
        Scores, classes and bounds of the samples.
    qid : ndarray of shape (n_samples,), default=None
        The query of every sample.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    points_ : list of matplotlib collections: samples within their bounds, then samples beyond them
    pair_accuracy_ : float
        The share of comparable pairs that are ranked right; 0.5 is chance.

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

    def plot(self, *, ax: Any = None, max_points: int = 1500, max_queries: int = 12, seed: int = 0) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure if None.
        max_points : int, default=1500
            With more samples, classes of twelve samples or more are shown by their distribution alone, and of the other
            samples a random choice of this number is drawn.
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
        step = 0.62 if self.qid is None else 0.34
        self.figure_, self.ax_ = axes_or_new(ax, 7.4, float(np.clip(1.6 + step * n_rows, 3.0, 9.2)))
        self.pair_accuracy_ = p.pair_accuracy(self.qid)
        rng = np.random.default_rng(seed)
        if self.qid is None:
            self._name_rows("", p.classes)
            ridged = self._draw_ridges()
            shown = _thinned(np.arange(len(p.scores)), ridged[p.codes], max_points, rng)
            self._draw_points(shown, rain(p.codes[shown].astype(float), rng, below=bool(ridged.any())))
            self._draw_bounds()
            if 1 < len(p.classes) <= MOST_ROWS:
                draw_pairs(self.ax_, p)
        else:
            queries, row = np.unique(self.qid, return_inverse=True)
            shown = np.flatnonzero(row < max_queries)
            shown = _thinned(shown, np.zeros(len(shown), dtype=bool), max_points, rng)
            self._name_rows("query", queries[:max_queries])
            self._draw_points(shown, row[shown] + rng.uniform(-0.12, 0.12, len(shown)))
            self._name_colours()
        self.ax_.set_xlabel("score  (higher = ranked higher)", loc="left")
        if np.isfinite(self.pair_accuracy_):
            self.ax_.set_title(self.sentence(), loc="left", fontsize="medium")
        plain(self.ax_)
        return self

    def sentence(self) -> str:
        """How many pairs are ranked right, in words."""
        where = "of different classes" if self.qid is None else "of different grades within a query"
        return f"{self.pair_accuracy_:.0%} of pairs {where} are ranked right  (50% is chance)"

    def _draw_ridges(self) -> NDArray[np.bool_]:
        """Draw the distribution of every class that is large enough; returns which classes these are."""
        p = self.placement
        ridged = np.bincount(p.codes, minlength=len(p.classes)) >= FEWEST
        if len(p.classes) > MOST_ROWS:
            ridged[:] = False
        colours = class_colours(len(p.classes), self.ax_)
        for code in np.flatnonzero(ridged):
            own = p.codes == code
            draw_ridge(self.ax_, float(code), p.scores[own], p.weights[own], p.bounds[code], colours[code])
        return ridged

    def _draw_points(self, shown: NDArray[np.intp], height: NDArray[np.float64]) -> None:
        p = self.placement
        colours, size = class_colours(len(p.classes), self.ax_)[p.codes], p.weights / p.weights.mean()
        size = size * (22 if self.qid is not None or len(p.scores) <= _FEW_ROWS else 9)
        wrong = (p.violation[shown] != 0) & (self.qid is None)
        right, bad = shown[~wrong], shown[wrong]
        self.points_ = [
            self.ax_.scatter(p.scores[right], height[~wrong], size[right], colours[right], linewidths=0, zorder=3)
        ]
        if wrong.any():
            hollow = {"facecolors": "none", "edgecolors": colours[bad], "linewidths": 0.6, "zorder": 3}
            self.points_.append(self.ax_.scatter(p.scores[bad], height[wrong], size[bad], **hollow))

    def _name_colours(self) -> None:
        classes = self.placement.classes
        self.ax_.scatter([], [], 0, label="grade")  # a word before the colours, not a mark
        choice = np.unique(np.linspace(0, len(classes) - 1, 6).astype(int))
        for code, colour in zip(choice, class_colours(len(classes), self.ax_)[choice], strict=True):
            self.ax_.scatter([], [], 14, [colour], label=short(classes[code], 12))
        self._legend(ncols=7)

    def _legend(self, **options: Any) -> None:
        """A legend below the name of the axis, also where the axes are one of several in the figure."""
        inches = self.ax_.get_position().height * self.figure_.get_figheight()
        self.ax_.legend(
            loc="upper right", bbox_to_anchor=(1.01, -0.47 / inches), frameon=False,
            fontsize="small", handletextpad=0.4, columnspacing=1.2, **options,
        )  # fmt: skip

    def _draw_bounds(self) -> None:
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        p = self.placement
        left, right = self.ax_.get_xlim()
        colours = class_colours(len(p.classes), self.ax_)
        if p.thresholds is not None and len(p.classes) <= MOST_ROWS:
            draw_bands(self.ax_, p.classes, np.clip([left, *p.thresholds, right], left, right), colours)
        for code, (low, high) in enumerate(p.intervals if p.intervals is not None else ()):
            start, stop = max(low, left), min(high, right)
            if start < stop:
                self.ax_.barh(code, stop - start, left=start, height=0.07, color=colours[code], zorder=2)
            for end in (low, high):
                if np.isfinite(end):
                    self.ax_.plot([end, end], [code - 0.1, code + 0.1], color=colours[code], lw=1.6, zorder=2)
        for threshold in p.thresholds if p.thresholds is not None else ():
            self.ax_.axvline(threshold, color=FAINT, lw=0.8, ls=(0, (4, 3)), zorder=1)
        self.ax_.set_xlim(left, right)
        if np.any(p.violation != 0):
            shades = zip((0.9, 0.3), self._shares(), strict=True)
            handles: list[Any] = [Patch(color=FAINT, alpha=alpha, lw=0, label=words) for alpha, words in shades]
            if p.intervals is not None:
                handles.append(Line2D([], [], color=FAINT, lw=2, marker="|", label="interval learned"))
            self._legend(handles=handles, ncols=len(handles) - 1)

    def _shares(self) -> tuple[str, str]:
        """How many samples lie within the bounds of their class, and how many beyond, in words.

        A share of exact hits is told beside that of guessing: it looks low where neighbouring classes overlap.
        """
        p = self.placement
        beyond = p.violation != 0
        share = np.average(beyond, weights=p.weights)
        if p.thresholds is None:
            what = "neighbour" if p.order is not None else "end"
            return f"in its place ({1 - share:.0%})", f"beyond a {what} ({share:.0%})"
        bands = np.searchsorted(p.thresholds, p.scores, side="left")
        near = np.average(beyond & (np.abs(bands - p.codes) == 1), weights=p.weights)
        return (
            f"in the band of its own class: {1 - share:.0%}  (guessing: {1 / len(p.classes):.0%})",
            f"in another band: {share:.0%}  (in the next one: {near:.0%})",
        )

    def _name_rows(self, title: str, names: NDArray[Any]) -> None:
        step = max(1, int(np.ceil(len(names) / MOST_ROWS)))
        ticks = np.arange(0, len(names), step)
        self.ax_.set_yticks(ticks, [short(names[i]) for i in ticks], color=ink(self.ax_))
        self.ax_.set_ylim(-0.5, len(names) - 0.1)
        self.ax_.set_ylabel(title)
        self.ax_.tick_params(axis="y", length=0)


def _thinned(
    shown: NDArray[np.intp], ridged: NDArray[np.bool_], most: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """All samples, or, if they are too many, at most so many of those whose class has no ridge."""
    if len(shown) <= most:
        return shown
    rest = shown[~ridged]
    return rest if len(rest) <= most else np.sort(rng.choice(rest, most, replace=False))


def _queries(qid: Any, placement: Placement) -> NDArray[Any] | None:
    if qid is None:
        return None
    queries = np.asarray(qid)
    if queries.shape != placement.scores.shape:
        raise HullrankError(f"qid has shape {queries.shape}, and there are {len(placement.scores)} samples")
    return queries
