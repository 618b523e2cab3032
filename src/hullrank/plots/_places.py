"""What stands around the rows of the score line: the band of every class, and the pairs of neighbours ranked right."""

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hullrank.plots._style import ink, quiet, short
from hullrank.plots.pair_matrix import pair_matrix
from hullrank.plots.placement import Placement

_LETTER = 0.075  # inches that a letter of a small name takes
_WITHIN = 0.75  # share of a figure's width that its axes have


def draw_bands(ax: Any, classes: NDArray[Any], edges: NDArray[np.float64], colours: NDArray[np.float64]) -> None:
    """Tint the part of the score line that belongs to every class, and name it.

    A name may be wider than a narrow band, but not reach another name; the widest bands are named first.
    """
    letter = _LETTER * (edges[-1] - edges[0]) / (_WITHIN * ax.figure.get_figwidth())
    for colour, (start, stop) in zip(colours, pairwise(edges), strict=True):
        ax.axvspan(start, stop, color=colour, alpha=0.07, lw=0, zorder=0)
    middles, widths = (edges[1:] + edges[:-1]) / 2, np.diff(edges)
    named: list[tuple[float, float]] = []
    for code in np.argsort(-widths, kind="stable")[: np.count_nonzero(widths > 0)]:
        name = short(classes[code], 14)
        low, high = (middles[code] + side * letter * len(name) / 2 for side in (-1, 1))
        if widths[code] > high - low or all(high < start or stop < low for start, stop in named):
            named.append((low, high))
            ax.annotate(
                name, (middles[code], 1), (0, -3), ("data", "axes fraction"), "offset points",
                ha="center", va="top", fontsize="small", color=ink(ax), alpha=0.7,
            )  # fmt: skip


def draw_pairs(ax: Any, placed: Placement) -> None:
    """Write between two rows, on the right, how many pairs of their samples are ranked right."""
    shares = pair_matrix(placed)
    comparable = None if placed.order is None else _above(placed)
    beside = ("axes fraction", "data")
    for code in range(len(placed.classes) - 1):
        if np.isfinite(shares[code + 1, code]) and (comparable is None or (code, code + 1) in comparable):
            ax.annotate(
                f"}} {shares[code + 1, code]:.0%}", (1, code + 0.5), (4, 0), beside, "offset points",
                va="center", fontsize="small", color=ink(ax), annotation_clip=False,
            )  # fmt: skip
    ax.annotate(
        "right pairs\nof neighbours", (1, len(placed.classes) - 0.35), (6, 0), beside, "offset points",
        va="bottom", fontsize="small", color=quiet(ax), annotation_clip=False,
    )  # fmt: skip


def _above(placed: Placement) -> set[tuple[int, int]]:
    """Codes (lo, hi) of all classes of which one lies above the other."""
    assert placed.order is not None
    low, high = placed.order.closure().codes_edges(placed.classes.tolist()).T.tolist()
    return set(zip(low, high, strict=True))
