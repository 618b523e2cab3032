"""Colours and axes that all pictures share."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

VIOLATOR = "#d1495b"
INK = "#30343b"
FAINT = "#9aa0a8"


def class_colours(n: int) -> NDArray[np.float64]:
    """(n, 4) colours from low to high, told apart also by lightness."""
    from matplotlib import colormaps

    return np.asarray(colormaps["viridis"](np.linspace(0.05, 0.82, n) if n > 1 else [0.35]))


def axes_or_new(ax: Any, width: float = 7.0, height: float = 4.0) -> tuple[Any, Any]:
    """The figure and axes to draw on, made if ``ax`` is None."""
    if ax is not None:
        return ax.figure, ax
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(width, height), layout="constrained")


def plain(ax: Any) -> None:
    """No box around the picture."""
    ax.spines[["top", "right"]].set_visible(False)


def short(label: Any, most: int = 24) -> str:
    """A label fit for an axis: cut when long, and with nothing that Matplotlib reads as mathematics."""
    text = str(label)
    text = text if len(text) <= most else text[: most - 1] + "…"
    return text.replace("$", r"\$")
