"""Value and bound over time: how an anytime search closed its gap."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from hullrank._pipelines import unwrap
from hullrank.exceptions import HullrankError
from hullrank.plots._style import FAINT, LOWERS, RAISES, axes_or_new, plain


class AnytimeDisplay:
    """The value found and the upper bound proven, as steps over the seconds of a search.

    Use ``from_estimator`` with any fitted estimator that has a ``trace_`` of (seconds, value, bound).

    Parameters
    ----------
    trace : sequence of (seconds, value, bound)
    statistic : str, default="value"
        What is maximised, for the axis.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    lines_ : list of the two lines, value and bound

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from hullrank.plots import AnytimeDisplay
    >>> display = AnytimeDisplay(trace=[(0.0, 0.7, 1.0), (0.5, 0.8, 0.9), (2.0, 0.8, 0.8)]).plot()
    >>> [line.get_label() for line in display.lines_]
    ['value', 'upper bound']
    """

    def __init__(self, *, trace: Sequence[tuple[float, float, float]], statistic: str = "value") -> None:
        self.trace = trace
        self.statistic = statistic

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Draw how the fit of an exact ranker went.

        Parameters
        ----------
        estimator : fitted estimator with ``trace_``, or a pipeline that ends in one
        ax : matplotlib Axes, default=None
        """
        last = unwrap(estimator).model
        if not hasattr(last, "trace_"):
            raise HullrankError(
                f"{type(last).__name__} has no trace_ of value and bound; fit an ExactRanker and pass that"
            )
        certificate = getattr(last, "certificate_", None)
        return cls(trace=last.trace_, statistic=getattr(certificate, "statistic", "value")).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw value and bound on ``ax``, or on new axes.

        Parameters
        ----------
        ax : matplotlib Axes, default=None

        Returns
        -------
        display : AnytimeDisplay
        """
        seconds, value, bound = np.array(self.trace, dtype=np.float64).reshape(-1, 3).T
        if not len(seconds):
            raise HullrankError("the trace is empty; fit first")
        self.figure_, self.ax_ = axes_or_new(ax)
        style = {"where": "post", "linewidth": 1.8}
        (low,) = self.ax_.step(seconds, value, color=RAISES, label="value", **style)
        (high,) = self.ax_.step(seconds, bound, color=LOWERS, label="upper bound", **style)
        self.ax_.fill_between(seconds, value, bound, step="post", color=FAINT, alpha=0.15, linewidth=0)
        self.lines_ = [low, high]
        self.ax_.set(xlabel="seconds", ylabel=self.statistic)
        self.ax_.legend(frameon=False)
        plain(self.ax_)
        return self
