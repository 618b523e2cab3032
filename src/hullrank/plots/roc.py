"""A ROC curve for every edge of the order."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import auc, roc_curve

from hullrank._pipelines import unwrap
from hullrank.order import OrderGraph, resolve_order
from hullrank.plots._style import FAINT, axes_or_new, class_colours, plain, short
from hullrank.plots.placement import place

Curve = tuple[str, NDArray[np.float64], NDArray[np.float64], float]


def edge_curves(y: Any, scores: Any, order: OrderGraph, sample_weight: Any = None) -> list[Curve]:
    """For every edge with samples on both sides: its name, false and true positive rates, and the area under them."""
    placed = place(y, scores, classes=list(order.labels), sample_weight=sample_weight)
    curves = []
    for lo, hi in order.codes.tolist():
        pair = (placed.codes == lo) | (placed.codes == hi)
        above = placed.codes[pair] == hi
        if above.any() and not above.all():
            false, true, _ = roc_curve(above, placed.scores[pair], sample_weight=placed.weights[pair])
            name = f"{short(order.labels[lo], 12)} < {short(order.labels[hi], 12)}"
            curves.append((name, false, true, float(auc(false, true))))
    return curves


class RocDisplay:
    """How the higher class of every edge is found, against how often the lower one is mistaken for it.

    Parameters
    ----------
    curves : list of (name, false positive rates, true positive rates, area)

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    lines_ : list of matplotlib lines, one per edge

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from hullrank.plots import RocDisplay
    >>> display = RocDisplay.from_predictions([0, 0, 1, 1, 2], [0.1, 0.5, 0.3, 0.9, 1.0])
    >>> [(name, area) for name, _, _, area in display.curves]
    [('0 < 1', 0.75), ('1 < 2', 1.0)]
    """

    def __init__(self, *, curves: list[Curve]) -> None:
        self.curves = curves

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, order: Any = None, sample_weight: Any = None, ax: Any = None
    ) -> Self:
        """Draw the curves of a fitted estimator along its own order, or another one."""
        model = unwrap(estimator).model
        if order is None:
            order = getattr(model, "order_", "chain")
        if isinstance(order, str) and hasattr(model, "classes_"):
            order = resolve_order(order, model.classes_)
        return cls.from_predictions(y, estimator.score_samples(X), order=order, sample_weight=sample_weight, ax=ax)

    @classmethod
    def from_predictions(
        cls, y: Any, scores: Any, *, order: Any = "chain", sample_weight: Any = None, ax: Any = None
    ) -> Self:
        """Draw the curves of given scores along an order (as ``ConvexHullRanker`` takes it)."""
        graph = order if isinstance(order, OrderGraph) else resolve_order(order, place(y, scores).classes)
        return cls(curves=edge_curves(y, scores, graph, sample_weight)).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the picture on ``ax``, or on a new figure."""
        self.figure_, self.ax_ = axes_or_new(ax, 5.2, 5.0)
        self.ax_.plot([0, 1], [0, 1], color=FAINT, lw=1, ls=(0, (4, 3)))
        colours = class_colours(len(self.curves), self.ax_)
        self.lines_ = [
            self.ax_.plot(false, true, color=colour, lw=1.8, label=f"{name}  ({area:.3f})")[0]
            for (name, false, true, area), colour in zip(self.curves, colours, strict=True)
        ]
        self.ax_.set_xlabel("share of the lower class above the cut")
        self.ax_.set_ylabel("share of the higher class above the cut")
        self.ax_.set_aspect("equal")
        if len(self.curves) <= 12:
            self.ax_.legend(title="edge  (AUC)", loc="lower right", frameon=False, fontsize="small")
        plain(self.ax_)
        return self
