"""The weights of a linear model, largest first, with their spread where there are several models."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hullrank._pipelines import unwrap
from hullrank.exceptions import HullrankError
from hullrank.plots._style import FAINT, LOWERS, RAISES, axes_or_new, ink, plain, short


class CoefficientDisplay:
    """Bars of the largest weights; a line shows their interval, or the range over several models, such as folds.

    Parameters
    ----------
    coefs : ndarray of shape (n_models, n_features)
    names : list of str
    intervals : ndarray of shape (n_features, 2), default=None
        Ends of the lines; the range over the models if None.
    level : float, default=None
        Of the intervals, for the label.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    shown_ : ndarray of the features drawn, largest first

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from hullrank.plots import CoefficientDisplay
    >>> display = CoefficientDisplay.from_predictions([0.5, -2.0, 0.1], names=["size", "age", "price"], top=2)
    >>> [display.names[i] for i in display.shown_]
    ['age', 'size']
    """

    def __init__(
        self,
        *,
        coefs: NDArray[np.float64],
        names: list[str],
        intervals: NDArray[np.float64] | None = None,
        level: float | None = None,
    ) -> None:
        self.coefs = coefs
        self.names = names
        self.intervals = intervals
        self.level = level

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: Any = None,
        *,
        names: Any = None,
        top: int = 20,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw the weights of a fitted linear estimator, or of a pipeline that ends in one.

        With the training data, lines are bootstrap intervals; ``options`` are those of the estimator's ``summary``.
        """
        inside = unwrap(estimator)
        model = inside.model
        if getattr(model, "coef_", None) is None:
            raise HullrankError(f"{type(model).__name__} has no weights (coef_): it is not linear, or not fitted")
        names = _names(estimator, model) if names is None else names
        if X is None:
            return cls.from_predictions(model.coef_, names=names, top=top, ax=ax)
        return cls.from_summary(model.summary(inside.transform(X), y, names=names, **options), top=top, ax=ax)

    @classmethod
    def from_summary(cls, summary: Any, *, top: int = 20, ax: Any = None) -> Self:
        """Draw the weights and intervals of what an estimator's ``summary`` returned."""
        table = summary.coefficients
        if not table:
            raise HullrankError(f"this summary of a {summary.model} has no weights: the model is not linear")
        lines = np.column_stack([table["low"], table["high"]]) if "low" in table else None
        coefs = np.atleast_2d(np.asarray(table["weight"], dtype=np.float64))
        return cls(coefs=coefs, names=table["feature"], intervals=lines, level=summary.level).plot(top=top, ax=ax)

    @classmethod
    def from_predictions(cls, coefs: ArrayLike, *, names: Any = None, top: int = 20, ax: Any = None) -> Self:
        """Draw given weights: a vector, or one row per model."""
        table = np.atleast_2d(np.asarray(coefs, dtype=np.float64))
        labels = [f"x{i}" for i in range(table.shape[1])] if names is None else [str(name) for name in names]
        if len(labels) != table.shape[1]:
            raise HullrankError(f"there are {len(labels)} names for {table.shape[1]} weights")
        return cls(coefs=table, names=labels).plot(top=top, ax=ax)

    def plot(self, *, top: int = 20, ax: Any = None) -> Self:
        """Draw the ``top`` largest weights on ``ax``, or on a new figure."""
        mean = self.coefs.mean(axis=0)
        self.shown_ = np.argsort(-np.abs(mean), kind="stable")[:top]
        n = len(self.shown_)
        self.figure_, self.ax_ = axes_or_new(ax, 6.5, float(np.clip(1.0 + 0.28 * n, 2.2, 9)))
        rows, values = np.arange(n), mean[self.shown_]
        colours = np.where(values > 0, RAISES, LOWERS)
        self.ax_.barh(rows, values, color=colours, alpha=0.85, height=0.7)
        label = ""
        if self.intervals is not None:
            self.ax_.hlines(rows, *self.intervals[self.shown_].T, color=ink(self.ax_), lw=1)
            label = f", with {self.level:.0%} intervals" if self.level is not None else ", with intervals"
        elif len(self.coefs) > 1:
            shown = self.coefs[:, self.shown_]
            self.ax_.hlines(rows, shown.min(axis=0), shown.max(axis=0), color=ink(self.ax_), lw=1)
        self.ax_.axvline(0, color=FAINT, lw=1)
        self.ax_.set_yticks(rows, [short(self.names[i]) for i in self.shown_])
        self.ax_.invert_yaxis()
        more = f" (largest {n} of {len(mean)})" if n < len(mean) else ""
        self.ax_.set_xlabel(f"weight{label}{more}")
        plain(self.ax_)
        return self


def _names(estimator: Any, model: Any) -> Any:
    if hasattr(estimator, "steps") and len(estimator.steps) > 1:
        try:
            return estimator[:-1].get_feature_names_out()
        except (AttributeError, ValueError):
            return None
    return getattr(model, "feature_names_in_", None)
