"""The pair accuracy of every pair of classes."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hullrank.exceptions import HullrankError
from hullrank.plots._style import axes_or_new, on_colour, short
from hullrank.plots.placement import Placement, place, place_by

Floats = NDArray[np.float64]
_MOST = 200


def pair_matrix(placed: Placement) -> Floats:
    """(K, K): in row hi, column lo the share of pairs with score(hi) > score(lo); NaN elsewhere."""
    n_classes = len(placed.classes)
    if n_classes > _MOST:
        raise HullrankError(f"a matrix of {n_classes} classes cannot be read; bin the target by datasets.discretize")
    matrix = np.full((n_classes, n_classes), np.nan)
    members = [np.flatnonzero(placed.codes == c) for c in range(n_classes)]
    for lo in range(n_classes):
        below = members[lo][np.argsort(placed.scores[members[lo]])]
        weight = np.concatenate([[0.0], np.cumsum(placed.weights[below])])
        for hi in range(lo + 1, n_classes):
            own = members[hi]
            if not (len(below) and len(own)):
                continue
            beaten = weight[np.searchsorted(placed.scores[below], placed.scores[own], side="left")]
            matrix[hi, lo] = placed.weights[own] @ beaten / (placed.weights[own].sum() * weight[-1])
    return matrix


class PairMatrixDisplay:
    """How well every pair of classes is told apart: the share of their sample pairs that are ranked right.

    Parameters
    ----------
    matrix : ndarray of shape (n_classes, n_classes)
    classes : ndarray of shape (n_classes,)

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    image_ : matplotlib image

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from hullrank.plots import PairMatrixDisplay
    >>> display = PairMatrixDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.5, 0.3, 0.9])
    >>> float(display.matrix[1, 0])
    0.75
    """

    def __init__(self, *, matrix: Floats, classes: NDArray[Any]) -> None:
        self.matrix = matrix
        self.classes = classes

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, sample_weight: Any = None, ax: Any = None) -> Self:
        """Draw the matrix of a fitted estimator's scores on X."""
        return cls._from_placement(place_by(estimator, X, y, sample_weight=sample_weight), ax)

    @classmethod
    def from_predictions(
        cls, y: Any, scores: Any, *, classes: Any = None, sample_weight: Any = None, ax: Any = None
    ) -> Self:
        """Draw the matrix of given scores; ``classes`` lowest first, or the order of y itself."""
        return cls._from_placement(place(y, scores, classes=classes, sample_weight=sample_weight), ax)

    @classmethod
    def _from_placement(cls, placed: Placement, ax: Any) -> Self:
        return cls(matrix=pair_matrix(placed), classes=placed.classes).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the picture on ``ax``, or on a new figure."""
        n = len(self.classes)
        side = float(np.clip(2.2 + 0.55 * n, 3.2, 9))
        self.figure_, self.ax_ = axes_or_new(ax, side + 1, side)
        shown = self.matrix[1:, :-1]
        low = min(0.5, float(np.nanmin(shown, initial=0.5)))
        self.image_ = self.ax_.imshow(shown, cmap="viridis", vmin=low, vmax=1, origin="lower")
        if n <= 16:
            for i, j in np.argwhere(~np.isnan(shown)):
                self.ax_.text(j, i, f"{shown[i, j]:.2f}", ha="center", va="center", fontsize="small",
                              color=on_colour(self.image_.to_rgba(shown[i, j])))  # fmt: skip
        step = max(1, n // 16)
        names = [short(label, 14) for label in self.classes]
        self.ax_.set_xticks(range(0, n - 1, step), names[:-1:step], rotation=30, ha="right")
        self.ax_.set_yticks(range(0, n - 1, step), names[1::step])
        self.ax_.set(xlabel="lower class", ylabel="higher class")
        self.ax_.spines[:].set_visible(False)
        self.figure_.colorbar(self.image_, ax=self.ax_, label="share of pairs ranked right", shrink=0.8)
        return self
