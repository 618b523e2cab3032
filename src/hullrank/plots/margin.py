"""The decision picture of two features: grades as areas, thresholds and margins as curves, support vectors edged."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from hullrank._pipelines import unwrap
from hullrank.exceptions import HullrankError
from hullrank.plots._style import axes_or_new, class_colours, ink, plain, short
from hullrank.plots.placement import Placement, place, place_by

Floats = NDArray[np.float64]


def _grid_over(X: Floats, resolution: int) -> tuple[Floats, Floats]:
    """Coordinates of a grid that covers the samples with some room around them."""
    low, high = X.min(axis=0), X.max(axis=0)
    room = 0.08 * np.where(high > low, high - low, 1.0)
    first, second = np.meshgrid(*np.linspace(low - room, high + room, resolution).T)
    return first, second


class MarginDisplay:
    """Two features with the score as a landscape: thresholds are its solid contours, interval ends its dashed ones.

    The interval ends are the a_j and b_j of Shashua and Levin: class j lies below a_j, class j + 1 above b_j. Samples
    with a dark edge are support vectors: those of the model if it names them, else those on or beyond an end of their
    interval; the others are drawn smaller. Beyond ``max_points`` samples a random choice is drawn.

    Parameters
    ----------
    X : ndarray of shape (n_samples, 2)
    placement : Placement
    grid : (first, second, scores), each of shape (r, r)
    support : ndarray of sample numbers
    names : (str, str)

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from hullrank import FixedMarginClassifier
    >>> from hullrank.datasets import make_conic_classes
    >>> from hullrank.plots import MarginDisplay
    >>> X, y = make_conic_classes(60, random_state=0)
    >>> model = FixedMarginClassifier(kernel="poly", degree=2, coef0=1.0).fit(X, y)
    >>> display = MarginDisplay.from_estimator(model, X, y)
    >>> len(display.support) == len(model.support_)
    True
    """

    def __init__(
        self,
        *,
        X: Floats,
        placement: Placement,
        grid: tuple[Floats, Floats, Floats],
        support: NDArray[np.intp],
        names: tuple[str, str],
    ) -> None:
        self.X, self.placement, self.grid, self.support, self.names = X, placement, grid, support, names

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, resolution: int = 150, names: Any = None, ax: Any = None
    ) -> Self:
        """Draw a fitted estimator of two features with its training samples."""
        points = _two_features(X)
        first, second = _grid_over(points, resolution)
        rows: Any = np.column_stack([first.ravel(), second.ravel()])
        columns = getattr(X, "columns", None)
        if columns is not None:
            rows = type(X)(dict(zip(columns, rows.T, strict=True)))
        scores = np.asarray(estimator.score_samples(rows)).reshape(first.shape)
        placed = place_by(estimator, X, y)
        support = getattr(unwrap(estimator).model, "support_", None)
        return cls(
            X=points,
            placement=placed,
            grid=(first, second, scores),
            support=_at_an_end(placed) if support is None else np.asarray(support),
            names=_axis_names(columns if names is None else names),
        ).plot(ax=ax)

    @classmethod
    def from_predictions(
        cls,
        X: Any,
        y: Any,
        scores: Any,
        grid: tuple[Any, Any, Any],
        *,
        classes: Any = None,
        thresholds: Any = None,
        intervals: Any = None,
        names: Any = None,
        ax: Any = None,
    ) -> Self:
        """Draw given scores of the samples and of a grid (first, second, scores)."""
        placed = place(y, scores, classes=classes, thresholds=thresholds, intervals=intervals)
        first, second, height = (np.asarray(part, dtype=np.float64) for part in grid)
        if not first.shape == second.shape == height.shape or first.ndim != 2:
            raise HullrankError("the grid must be three arrays of one two-dimensional shape: first, second, scores")
        return cls(
            X=_two_features(X),
            placement=placed,
            grid=(first, second, height),
            support=_at_an_end(placed),
            names=_axis_names(names),
        ).plot(ax=ax)

    def plot(self, *, ax: Any = None, max_points: int = 2000) -> Self:
        """Draw the picture on ``ax``, or on a new figure; of more than ``max_points`` samples a random choice."""
        self.figure_, self.ax_ = axes_or_new(ax, 6.2, 5.2)
        p, (first, second, height) = self.placement, self.grid
        colours = class_colours(len(p.classes), self.ax_)
        if p.thresholds is not None:
            levels = np.concatenate([[-np.inf], p.thresholds, [np.inf]])
            area = np.clip(np.searchsorted(p.thresholds, height, side="left"), 0, len(levels) - 2)
            self.ax_.imshow(
                colours[area], origin="lower", aspect="auto", alpha=0.18, zorder=0,
                extent=(first.min(), first.max(), second.min(), second.max()),
            )  # fmt: skip
            self._contours(p.thresholds, {"linestyles": "solid", "linewidths": 1.6})
        if p.intervals is not None:
            ends = np.unique(p.intervals[np.isfinite(p.intervals)])
            self._contours(ends, {"linestyles": "dashed", "linewidths": 0.9})
        self._points(colours, max_points)
        self.ax_.set(xlabel=self.names[0], ylabel=self.names[1])
        plain(self.ax_)
        return self

    def _points(self, colours: Floats, most: int) -> None:
        p, n = self.placement, len(self.X)
        shown = np.arange(n) if n <= most else np.random.default_rng(0).choice(n, most, replace=False)
        supports = np.zeros(n, dtype=bool)
        supports[self.support] = True
        size = 30.0 if n <= 200 else 14.0
        for edged in (False, True):
            own = shown[supports[shown] == edged]
            style = {"edgecolors": ink(self.ax_), "linewidths": 0.9} if edged else {"alpha": 0.8, "linewidths": 0}
            area = size if edged else size / 2
            self.ax_.scatter(*self.X[own].T, s=area, c=colours[p.codes[own]], zorder=3 + edged, **style)
        if len(colours) <= 12:
            for code, colour in enumerate(colours):
                self.ax_.scatter([], [], s=size, color=[colour], label=short(p.classes[code], 12))
            if supports.any():
                label = f"support vectors ({supports.sum()} of {n})"
                self.ax_.scatter([], [], s=size, facecolors="none", edgecolors=ink(self.ax_), label=label)
            place = {
                "loc": "lower right",
                "bbox_to_anchor": (1.02, 1),
                "ncols": len(colours) + 1 if len(colours) < 6 else 4,
            }
            self.ax_.legend(frameon=False, fontsize="small", handletextpad=0.2, columnspacing=1.0, **place)

    def _contours(self, values: Floats, style: dict[str, Any]) -> None:
        height = self.grid[2]
        inside = np.unique(values[(values > height.min()) & (values < height.max())])
        if len(inside):
            self.ax_.contour(*self.grid, levels=inside, colors=ink(self.ax_), **style)


def _two_features(X: Any) -> Floats:
    points = check_array(X)
    if points.shape[1] != 2:
        raise HullrankError(f"a decision picture needs two features, and X has {points.shape[1]}; pass two columns")
    return points


def _at_an_end(placed: Placement) -> NDArray[np.intp]:
    """Samples on or beyond a finite end of their interval."""
    if placed.intervals is None:
        return np.empty(0, dtype=np.intp)
    low, high = placed.intervals[placed.codes].T
    slack = 1e-6 * max(float(np.ptp(placed.scores)), 1e-300)
    return np.flatnonzero((placed.scores <= low + slack) | (placed.scores >= high - slack))


def _axis_names(names: Any) -> tuple[str, str]:
    first, second = ("first feature", "second feature") if names is None else list(names)
    return short(first), short(second)
