"""Drawing that the experiments share; figures are made without a window system."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hullrank.plots import CriticalDifferenceDisplay

# Okabe and Ito (2008), without yellow, which vanishes on white; shapes tell apart what colours alone might not.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#30343b")
MARKERS = "os^Dv<>Pp"


def new_figure(width: float, height: float) -> Any:
    """An empty Matplotlib figure."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def rank_figure(scores: ArrayLike, names: Sequence[str]) -> Any:
    """Average ranks over data sets (rows) with their critical difference; higher scores are better."""
    figure = new_figure(8.5, 1.6 + 0.28 * len(names))
    CriticalDifferenceDisplay.from_predictions(scores, names=names, ax=figure.add_subplot())
    return figure


def with_deviation(values: Any) -> tuple[float, float, float]:
    """The mean, and the mean less and plus the standard deviation of a sample, as the tables print it."""
    mean, deviation = float(np.mean(values)), float(np.std(values, ddof=1))
    return mean, mean - deviation, mean + deviation


def bars_with_ranges(ax: Any, groups: Sequence[str], series: Mapping[str, Sequence[tuple[float, ...]]]) -> None:
    """Points (middle, low, high) of every series side by side, one group after the other; NaN is left out."""
    width = 0.8 / max(len(series), 1)
    for i, (name, values) in enumerate(series.items()):
        middle, low, high = np.array(values, dtype=np.float64).T
        x = np.arange(len(groups)) - 0.4 + width * (i + 0.5)
        ax.errorbar(
            x, middle, yerr=np.maximum([middle - low, high - middle], 0.0),
            fmt=MARKERS[i % len(MARKERS)], ms=4, lw=1.2, capsize=2, color=COLOURS[i % len(COLOURS)], label=name,
        )  # fmt: skip
    ax.set_xticks(range(len(groups)), groups, rotation=25, ha="right")
    ax.spines[["top", "right"]].set_visible(False)
