"""Points exactly on the central path of an interval problem (conventions as in ``_loops``)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hullrank.problem.charges import Charge
from hullrank.problem.layout import LENGTH, PARTNER_ROW, ROW, SLACK, RowLayout, concatenated_ranges

Floats = NDArray[np.float64]


def central_point(charge: Charge, layout: RowLayout, margins: Floats, mu: float) -> tuple[Floats, Floats]:
    """(a, z) per row and (v, xi) per slack with all products at mu, for the margins g of the rows.

    One row: hinge a = 2 mu / (g + 2 mu + sqrt(g^2 + 4 mu^2)), squared a = sqrt(g^2 + 2 mu) - g. Two rows: xi solves
    sum mu / (g_i + xi) + mu / xi = 1 (hinge), sum mu / (g_i + xi) = 2 xi (squared). Hard: z = max(g, mu).
    """
    slack = np.ones((2, layout.n_slacks))
    if charge is Charge.HARD:
        slack[1] = 0.0
        return hard_rows(margins, mu), slack
    point = np.empty((2, layout.n_rows))
    own: Any = slice(None)
    slacks: Any = slice(None)
    if layout.shares_slacks:
        own, slacks = _rows_of(layout, layout.table[:, PARTNER_ROW] < 0)
    g = margins[own]
    if charge is Charge.HINGE:
        root = np.sqrt(g * g + 4 * mu * mu)
        a = 2 * mu / (g + 2 * mu + root)
        slack[0, slacks] = v = 2 * mu / (2 * mu - g + root)
        slack[1, slacks] = mu / v
    else:
        root = np.sqrt(g * g + 2 * mu)
        a = np.where(g > 0, 2 * mu / (np.abs(g) + root), root - g)
        slack[1, slacks] = 0.5 * a
    point[0, own], point[1, own] = a, mu / a
    if layout.shares_slacks:
        _share_slacks(charge, layout, margins, mu, point, slack)
    return point, slack


def hard_rows(margins: Floats, mu: float) -> Floats:
    """(a, z) of rows without slack."""
    z = np.maximum(margins, mu)
    return np.stack([mu / z, z])


def _share_slacks(charge: Charge, layout: RowLayout, margins: Floats, mu: float, point: Floats, slack: Floats) -> None:
    """Pairs of rows with one slack, by bisection for all at once."""
    shared = layout.table[:, PARTNER_ROW] >= 0
    first, slacks = _rows_of(layout, shared)
    second = concatenated_ranges(layout.table[shared, PARTNER_ROW], layout.table[shared, LENGTH])
    g, h = margins[first], margins[second]
    low = np.maximum(0.0, np.maximum(-g, -h))
    high = low + (3 * mu if charge is Charge.HINGE else np.sqrt(mu))
    for _ in range(50):
        xi = 0.5 * (low + high)
        with np.errstate(divide="ignore"):
            excess = mu / (g + xi) + mu / (h + xi) + (mu / xi - 1 if charge is Charge.HINGE else -2 * xi)
        low, high = np.where(excess > 0, xi, low), np.where(excess > 0, high, xi)
    slack[1, slacks] = high
    point[1, first], point[1, second] = g + high, h + high
    point[0, first], point[0, second] = mu / point[1, first], mu / point[1, second]
    if charge is Charge.HINGE:
        slack[0, slacks] = np.maximum(1 - point[0, first] - point[0, second], 0.5 * mu / high)


def _rows_of(layout: RowLayout, held: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """First rows of the bundles that are held, and their slacks."""
    table = layout.table[held]
    return concatenated_ranges(table[:, ROW], table[:, LENGTH]), concatenated_ranges(table[:, SLACK], table[:, LENGTH])
