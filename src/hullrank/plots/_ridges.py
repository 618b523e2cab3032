"""The distribution of scores in one row of the score line: a ridge above its ground line, samples below it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
FEWEST = 12  # samples of a class that have a distribution worth drawing
_STEPS = 400  # points of a ridge over the width of the picture
_TALL = 0.66  # height of a ridge, of the distance between two rows
_RAIN = (0.12, 0.34)  # how far below the ground line of a row its samples lie


def density(scores: Floats, weights: Floats, grid: Floats) -> Floats:
    """A smoothed histogram on an even grid, at most 1: Gaussian of Silverman's width 0.9 min(sd, iqr / 1.34) n^(-1/5).

    Equal scores have the width of three steps of the grid, so that they can be seen.
    """
    step = grid[1] - grid[0]
    mean = np.average(scores, weights=weights)
    deviation = np.sqrt(np.average((scores - mean) ** 2, weights=weights))
    quarters = np.subtract(*np.percentile(scores, [75, 25])) / 1.34
    spread = min(deviation, quarters) if quarters > 0 else deviation
    width = max(0.9 * spread * len(scores) ** -0.2, 3 * step)
    counts, _ = np.histogram(scores, bins=np.append(grid - step / 2, grid[-1] + step / 2), weights=weights)
    reach = np.arange(-int(4 * width / step) - 1, int(4 * width / step) + 2) * step
    padded = np.pad(counts, len(reach) // 2)
    smooth = np.convolve(padded, np.exp(-0.5 * (reach / width) ** 2), mode="valid")
    return smooth / smooth.max()


def draw_ridge(ax: Any, row: float, scores: Floats, weights: Floats, bounds: Any, colour: Any) -> None:
    """Draw the distribution of a class above its ground line: solid within its bounds, pale beyond them."""
    room = 0.06 * float(np.ptp(scores)) or 1.0
    grid = np.linspace(scores.min() - room, scores.max() + room, _STEPS)
    height = row + _TALL * density(scores, weights, grid)
    ax.fill_between(grid, row, height, color=colour, alpha=0.25, linewidth=0, zorder=2)
    inside = (grid >= bounds[0]) & (grid <= bounds[1])
    ax.fill_between(grid, row, height, where=inside, color=colour, alpha=0.75, linewidth=0, zorder=2)


def rain(rows: Floats, rng: np.random.Generator, *, below: bool) -> Floats:
    """Heights at which the samples of rows are drawn: below the ground line, or (no ridge above) around it."""
    if below:
        return rows - rng.uniform(*_RAIN, len(rows))
    return rows + rng.uniform(-_RAIN[1] / 1.5, _RAIN[1] / 1.5, len(rows))
