"""The order graph from low (left) to high (right), with the pair accuracy along every edge."""

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hullrank._pipelines import unwrap
from hullrank.exceptions import HullrankError, UndefinedMetricWarning
from hullrank.metrics import swapped_pairs
from hullrank.order import OrderGraph, resolve_order
from hullrank.plots._style import axes_or_new, class_colours, ink, is_dark, on_colour, quiet, short
from hullrank.plots.placement import place

Floats = NDArray[np.float64]
_LONGEST = 7  # classes of a chain in one line
_STEP = 1.7  # from level to level; classes of one level are 1 apart, and boxes are about 0.8 wide


def layout(order: OrderGraph) -> Floats:
    """(K, 2) places: x grows with the longest way up from the bottom; classes of one x spread out over y.

    A chain too long for one line turns back and goes on below.
    """
    x = np.zeros(len(order), dtype=int)
    for lo, hi in order.codes.tolist():  # sorted by lo in topological order, so x[lo] is final
        x[hi] = max(x[hi], x[lo] + 1)
    y = np.zeros(len(order))
    if len(order) > _LONGEST and order.n_edges == len(order) - 1 == x.max():
        line, place = np.divmod(x, _LONGEST)
        return np.column_stack([_STEP * np.where(line % 2, _LONGEST - 1 - place, place), -1.1 * line])
    for level in np.unique(x):
        own = np.flatnonzero(x == level)
        y[own] = np.arange(len(own)) - (len(own) - 1) / 2
    return np.column_stack([_STEP * x, y])


def edge_accuracies(y: Any, scores: Any, order: OrderGraph, sample_weight: Any = None, qid: Any = None) -> Floats:
    """Pair accuracy (within queries if there are any) along every edge; NaN where it has no pairs."""
    placed = place(y, scores, classes=list(order.labels), sample_weight=sample_weight)
    values = np.full(order.n_edges, np.nan)
    for e, (lo, hi) in enumerate(order.codes.tolist()):
        pair = (placed.codes == lo) | (placed.codes == hi)
        above = (placed.codes[pair] == hi).astype(int)
        queries = None if qid is None else np.asarray(qid)[pair]
        if above.any() and not above.all():
            with warnings.catch_warnings(action="ignore", category=UndefinedMetricWarning):
                swapped = swapped_pairs(above, placed.scores[pair], qid=queries, sample_weight=placed.weights[pair])
            values[e] = 1 - swapped
    return values


class OrderGraphDisplay:
    """The order graph, drawn from low to high.

    Parameters
    ----------
    order : OrderGraph
    accuracies : ndarray of shape (n_edges,), default=None
        Written on the edges, which are drawn the stronger the more pairs are ranked right.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from hullrank.plots import OrderGraphDisplay
    >>> y, scores = ["low", "mild", "acute", "high"], [0.1, 0.6, 0.3, 0.4]
    >>> display = OrderGraphDisplay.from_predictions(y, scores, order="low < mild, acute < high")
    >>> dict(zip(display.order.edges, display.accuracies.tolist()))[("mild", "high")]
    0.0
    """

    def __init__(self, *, order: OrderGraph, accuracies: Floats | None = None) -> None:
        self.order = order
        self.accuracies = accuracies

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any = None, y: Any = None, *, sample_weight: Any = None, ax: Any = None
    ) -> Self:
        """Draw the order of a fitted estimator; with X and y also how well it is kept along every edge."""
        order = getattr(unwrap(estimator).model, "order_", None)
        if order is None:
            raise HullrankError(f"{type(unwrap(estimator).model).__name__} has no order graph; use from_predictions")
        if X is None:
            return cls(order=order).plot(ax=ax)
        return cls.from_predictions(y, estimator.score_samples(X), order=order, sample_weight=sample_weight, ax=ax)

    @classmethod
    def from_predictions(
        cls, y: Any, scores: Any, *, order: Any = "chain", sample_weight: Any = None, ax: Any = None
    ) -> Self:
        """Draw an order (as ``ConvexHullRanker`` takes it) and how well scores keep it along every edge."""
        graph = order if isinstance(order, OrderGraph) else resolve_order(order, place(y, scores).classes)
        return cls(order=graph, accuracies=edge_accuracies(y, scores, graph, sample_weight)).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the picture on ``ax``, or on a new figure."""
        places = layout(self.order)
        curves = [_curve(places[lo], places[hi], lo) for lo, hi in self.order.codes.tolist()]
        hull = np.concatenate([places, *curves])
        room = np.array([0.7, 0.5])
        low, high = hull.min(axis=0) - room, hull.max(axis=0) + room
        width, height = high - low
        self.figure_, self.ax_ = axes_or_new(ax, 0.6 + 0.95 * width, 0.5 + 0.8 * height)
        for e, curve in enumerate(curves):
            self._draw_edge(curve, np.nan if self.accuracies is None else self.accuracies[e])
        colours = class_colours(len(places), self.ax_)
        for spot, label, colour in zip(places, self.order.labels, colours, strict=True):
            box = {"boxstyle": "round,pad=0.5", "facecolor": colour, "edgecolor": "none"}
            word = {"ha": "center", "va": "center", "color": on_colour(colour)}
            self.ax_.text(*spot, short(label, 16), zorder=3, bbox=box, **word)
        self.ax_.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
        self.ax_.set_axis_off()
        self.ax_.set_title("lower  →  higher", color=quiet(self.ax_), fontsize="small")
        return self

    def _draw_edge(self, curve: Floats, value: float) -> None:
        from matplotlib.patches import FancyArrowPatch
        from matplotlib.path import Path

        codes = [Path.MOVETO, *[Path.LINETO] * (len(curve) - 1)]
        alpha = 0.5 if np.isnan(value) else float(np.clip(2 * value - 1, 0.35, 1.0))
        self.ax_.add_patch(
            FancyArrowPatch(
                path=Path(curve, codes), arrowstyle="-|>", mutation_scale=13, color=ink(self.ax_), alpha=alpha, lw=1.5
            )
        )
        if not np.isnan(value):
            ground = "black" if is_dark(self.ax_) else "white"
            box = {"boxstyle": "round,pad=0.15", "facecolor": ground, "edgecolor": "none"}
            word = {"ha": "center", "va": "center", "fontsize": "small", "color": ink(self.ax_)}
            self.ax_.text(*curve[len(curve) // 2], f"{value:.3f}", bbox=box, **word)


def _curve(start: Floats, stop: Floats, lo: int) -> Floats:
    """Points of an edge between the boxes of its classes; one that passes a level bends around what lies there."""
    levels = max(abs(float(stop[0] - start[0])) / _STEP, 1.0)
    away = np.sign(start[1] + stop[1]) or (1.0 if lo % 2 else -1.0)
    control = (start + stop) / 2 + np.array([0.0, away * (levels - 1) * 0.8])
    t = np.linspace(0.0, 1.0, 61)[:, None]
    curve = (1 - t) ** 2 * start + 2 * t * (1 - t) * control + t**2 * stop
    clear = (np.abs(curve - start) > [0.48, 0.22]).any(axis=1) & (np.abs(curve - stop) > [0.5, 0.22]).any(axis=1)
    return curve[clear]
