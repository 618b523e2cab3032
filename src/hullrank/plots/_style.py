"""Colours and axes that all pictures share: one palette, told apart without red and green, on light and dark ground."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

INK = "#30343b"
FAINT = "#9aa0a8"
# Blue and vermilion of Okabe and Ito (2008): people who confuse red with green tell them apart, and so does grey print.
RAISES = "#0072b2"
LOWERS = "#d55e00"
# Where the classes lie on Matplotlib's viridis, from low to high: its ends would vanish on white or on black.
_ON_LIGHT, _ON_DARK = (0.05, 0.75), (0.3, 0.97)


def is_dark(ax: Any) -> bool:
    """Whether the ground of the axes is dark; of transparent axes the figure's, of both the text's opposite."""
    from matplotlib import rcParams
    from matplotlib.colors import to_rgba

    for ground in (ax.get_facecolor(), ax.figure.get_facecolor()):
        red, green, blue, alpha = to_rgba(ground)
        if alpha > 0.5:
            return 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
    return sum(to_rgba(rcParams["text.color"])[:3]) > 1.5


def ink(ax: Any) -> str:
    """The colour of words and lines that can be read on the ground of these axes."""
    return "#e8eaed" if is_dark(ax) else INK


def quiet(ax: Any) -> str:
    """The colour of small words beside the picture: quieter than ink, and easy to read on the ground of these axes."""
    return "#b4bac2" if is_dark(ax) else "#5b626c"


def class_colours(n: int, ax: Any = None) -> NDArray[np.float64]:
    """(n, 4) colours from low to high, told apart also by lightness, for the ground of ``ax`` (light if None)."""
    from matplotlib import colormaps

    low, high = _ON_DARK if ax is not None and is_dark(ax) else _ON_LIGHT
    return np.asarray(colormaps["viridis"](np.linspace(low, high, n) if n > 1 else [(low + high) / 2]))


def on_colour(colour: Any) -> str:
    """Black or white, whichever can be read on a colour (WCAG's relative luminance, without its gamma's toe)."""
    from matplotlib.colors import to_rgb

    luminance = np.array([0.2126, 0.7152, 0.0722]) @ np.array(to_rgb(colour)) ** 2.2
    return "black" if luminance > 0.18 else "white"


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
