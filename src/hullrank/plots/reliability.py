"""Whether probabilities of ordered classes come true: predicted against observed, at every threshold."""

from collections.abc import Hashable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hullrank.data import check_target, check_weights, encode_labels
from hullrank.exceptions import HullrankError
from hullrank.plots._style import FAINT, axes_or_new, class_colours, plain, short

Floats = NDArray[np.float64]


class ReliabilityDisplay:
    """The share of samples above each class against its predicted probability, in bins of equally many samples.

    For ordered classes the question is not how often a class occurs, but how often it is exceeded: there is a curve for
    every class but the highest, and reliable probabilities lie on the diagonal.

    Parameters
    ----------
    curves : dict of label to ndarray of shape (n_bins, 3)
        For every class but the highest: mean predicted probability of lying above it, observed share, and weight, bin
        by bin.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    lines_ : list of the lines, one for every curve
    errors_ : dict of label to float
        The mean distance of predicted and observed, weighted by bin (expected calibration error).

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from hullrank.plots import ReliabilityDisplay
    >>> P = [[0.8, 0.2], [0.8, 0.2], [0.2, 0.8], [0.2, 0.8]]
    >>> display = ReliabilityDisplay.from_predictions([0, 0, 0, 1], P, n_bins=2)
    >>> display.curves[0][:, :2].tolist()  # predicted and observed
    [[0.2, 0.0], [0.8, 0.5]]
    """

    def __init__(self, *, curves: dict[Any, Floats]) -> None:
        self.curves = curves

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, n_bins: int = 10, sample_weight: Any = None, ax: Any = None
    ) -> Self:
        """Draw the curves of a fitted estimator with ``predict_proba`` and ordered ``classes_``."""
        if not hasattr(estimator, "predict_proba"):
            raise HullrankError(f"{type(estimator).__name__} has no predict_proba; put it into an OrdinalCalibrator")
        return cls.from_predictions(
            y, estimator.predict_proba(X), classes=estimator.classes_.tolist(), n_bins=n_bins,
            sample_weight=sample_weight, ax=ax,
        )  # fmt: skip

    @classmethod
    def from_predictions(
        cls,
        y: Any,
        probabilities: ArrayLike,
        *,
        classes: Sequence[Hashable] | None = None,
        n_bins: int = 10,
        sample_weight: Any = None,
        ax: Any = None,
    ) -> Self:
        """Draw the curves of given probabilities, one column per class from lowest to highest."""
        table = np.asarray(probabilities, dtype=np.float64)
        values = check_target(table, y)
        known = encode_labels(y, values).classes.tolist() if classes is None else list(classes)
        if table.ndim != 2 or table.shape[1] != len(known):
            raise HullrankError(
                f"the probabilities have shape {table.shape}, but there are {len(known)} classes; pass one column each"
            )
        if not ((table >= 0) & (table <= 1)).all():
            raise HullrankError("the probabilities must lie between 0 and 1, and some do not or are NaN")
        place = {label: k for k, label in enumerate(known)}
        unknown = [label for label in values.tolist() if label not in place]
        if unknown:
            raise HullrankError(f"{unknown[0]!r} is not among the classes {known}; add it to classes")
        codes = np.array([place[label] for label in values.tolist()])
        weights = check_weights(sample_weight, table)
        curves = {
            label: reliability(codes > k, table[:, k + 1 :].sum(axis=1), weights, n_bins)
            for label, k in place.items()
            if k < len(known) - 1
        }
        return cls(curves=curves).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw on ``ax``, or on a new figure."""
        self.figure_, self.ax_ = axes_or_new(ax, 5.0 if len(self.curves) <= 6 else 6.6, 5.0)
        self.ax_.plot([0, 1], [0, 1], color=FAINT, lw=1, ls="--")
        self.lines_, self.errors_ = [], {}
        for colour, (label, curve) in zip(class_colours(len(self.curves), self.ax_), self.curves.items(), strict=True):
            predicted, observed, weight = curve.T
            self.errors_[label] = float(np.average(np.abs(predicted - observed), weights=weight))
            self.lines_ += self.ax_.plot(
                predicted, observed, color=colour, marker="o", ms=4, label=f"above {short(label)}"
            )
        self.ax_.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
        self.ax_.set(xlabel="predicted probability", ylabel="observed share")
        beside = {"loc": "center left", "bbox_to_anchor": (1, 0.5)} if len(self.curves) > 6 else {}
        self.ax_.legend(frameon=False, fontsize="small", **beside)
        plain(self.ax_)
        return self


def reliability(happened: NDArray[np.bool_], predicted: Floats, weights: Floats, n_bins: int) -> Floats:
    """(n_bins, 3) mean prediction, observed share and weight in bins of equally many samples, lowest first.

    Samples of equal prediction may lie in different bins; samples without weight are left out.
    """
    if n_bins < 1:
        raise HullrankError(f"n_bins={n_bins} leaves no bin; use at least 1")
    order = np.argsort(predicted, kind="stable")
    order = order[weights[order] > 0]
    rows = []
    for part in np.array_split(order, n_bins):
        if len(part):
            w = weights[part]
            rows.append((np.average(predicted[part], weights=w), np.average(happened[part], weights=w), w.sum()))
    return np.array(rows, dtype=np.float64)
