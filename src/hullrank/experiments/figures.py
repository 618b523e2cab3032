"""Drawing that the experiments share; figures are made without a window system."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hullrank.plots import CriticalDifferenceDisplay

COLOURS = ("#346aa1", "#d1495b", "#29968a", "#e0a030", "#7a4cb0", "#5c6b73", "#a0522d", "#b0b000", "#e377c2")


def new_figure(width: float, height: float) -> Any:
    """An empty Matplotlib figure."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def rank_figure(scores: ArrayLike, names: Sequence[str]) -> Any:
    """Average ranks over data sets (rows) with their critical difference; higher scores are better."""
    figure = new_figure(8.5, 1.6 + 0.28 * len(names))
    CriticalDifferenceDisplay.from_predictions(scores, names=names, ax=figure.add_subplot())
    return figure


def bars_with_ranges(ax: Any, groups: Sequence[str], series: Mapping[str, Sequence[tuple[float, ...]]]) -> None:
    """Points (middle, low, high) of every series side by side, one group after the other; NaN is left out."""
    width = 0.8 / max(len(series), 1)
    for i, ((name, values), colour) in enumerate(zip(series.items(), COLOURS * 2, strict=False)):
        middle, low, high = np.array(values, dtype=np.float64).T
        x = np.arange(len(groups)) - 0.4 + width * (i + 0.5)
        ax.errorbar(
            x, middle, yerr=np.maximum([middle - low, high - middle], 0.0),
            fmt="o", ms=4, lw=1.2, capsize=2, color=colour, label=name,
        )  # fmt: skip
    ax.set_xticks(range(len(groups)), groups, rotation=25, ha="right")
    ax.spines[["top", "right"]].set_visible(False)
