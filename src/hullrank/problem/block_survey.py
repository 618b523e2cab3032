"""One pass over blocks of rows at a given point: what it costs there, what pulls at it, and who is near a kink."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hullrank.problem.block_charges import Frame, Window, charge_slacks, charge_thresholds, frame_digits
from hullrank.problem.block_rows import Block, BlockRows, Sums
from hullrank.problem.charges import Charge
from hullrank.problem.intervals import IntervalProblem
from hullrank.problem.near_rows import Near, merge_equal
from hullrank.problem.rows import linear_scores
from hullrank.problem.statement import Point

Floats = NDArray[np.float64]
PIECE = 16384  # most rows that are worked on at a time, so that they and what is computed for them stay in cache
NUMBERS = 2_000_000  # most entries of X, and of what is computed for its rows, that are worked on at a time
FEWER = 4  # rows with curvature are copied for their product where they are fewer than one in so many of all rows


@dataclass(frozen=True)
class Survey:
    """Sums over all rows at a point: see ``survey_rows`` for those by group.

    ``charge`` and by how much it ``rise``s if rounding moves all scores; least and largest score; ``pull`` = sum of
    sign * alpha * x, by group the sums of alpha (``totals``), of d (``weight``), of alpha * v (``paid``), of d * v, of
    alpha x (``pull_rows``, squared hinge only) and d x (``weight_rows``), H = sum of d x x'; the rows ``near`` a kink
    and their number, which counts equal ones that are held as one once. Where every row pays at every threshold, sums
    of all groups of a threshold and sign stand at one of them, and sums of rows at one group of the threshold: nothing
    more is asked of them.
    """

    point: Point
    window: Window
    charge: float
    rise: float
    digits: float
    least: float
    largest: float
    n_near: int
    pull: Floats
    totals: Floats
    weight: Floats
    paid: Floats
    slope: Floats
    pull_rows: Any = 0.0
    weight_rows: Any = 0.0
    H: Any = 0.0
    near: list[Near] = field(default_factory=list)


def nothing_charged(problem: IntervalProblem, n_features: int) -> Survey:
    """What a pass would find at 0 in a homogeneous problem: every row is at its kink and pays nothing."""
    none = np.zeros(problem.n_groups)
    return Survey(
        Point(np.zeros(n_features), np.zeros(len(problem.linear))), Window(), 0.0, 0.0, 0.0, 0.0, 0.0, 0,
        np.zeros(n_features), none, none, none, none,
    )  # fmt: skip


def survey(rows: BlockRows, frame: Frame, point: Point, window: Window) -> Survey:
    """One pass over all blocks."""
    sums = rows.sum(survey_block, frame, point.coef, point.thresholds, window)
    if frame.merges:
        _merge_near(sums)
    by_group = sums.pop("per_group")
    ranges = np.array(sums.pop("range")).reshape(-1, 2)
    least, largest = float(ranges[:, 0].min(initial=np.inf)), float(ranges[:, 1].max(initial=-np.inf))
    digits = frame_digits(frame, point, max(abs(least), abs(largest)))
    return Survey(point, window, digits=digits, least=least, largest=largest, totals=by_group[0], weight=by_group[1],
                  paid=by_group[2], slope=by_group[3], **sums)  # fmt: skip


def survey_block(block: Block, frame: Frame, coef: Floats, theta: Floats, window: Window) -> Sums:
    """The sums of one block (a task: see ``block_rows``), piece by piece."""
    problem, n = frame.problem, len(coef)
    _, _, slots = frame.bundles_by_class
    step = min(max(NUMBERS // max(n, 4 * slots), 256), PIECE)
    sums: Sums = {"charge": 0.0, "rise": 0.0, "n_near": 0, "pull": np.zeros(n), "range": [], "near": []}
    sums["per_group"] = np.zeros((4, problem.n_groups))
    lines = _group_lines(problem.charge, window)
    group_rows = np.zeros((len(lines), problem.n_groups, n))
    H = np.zeros((n, n)) if window.model and (problem.charge is not Charge.HINGE or not window.fetch) else None
    point = Point(coef, theta)
    for low in range(0, len(block.codes), step):
        part = slice(low, low + step)
        piece = Block(block.X[part], block.codes[part], block.weights[part])
        _survey_piece(piece, low, frame, point, window, sums, lines, group_rows, H)
    if frame.merges:
        _merge_near(sums)
    sums["range"] = [(min(r[0] for r in sums["range"]), max(r[1] for r in sums["range"]))] if sums["range"] else []
    if frame.mean is not None and not frame.is_far_off:
        group_rows -= sums["per_group"][lines][:, :, None] * frame.mean
    for line, values in zip(lines, group_rows, strict=True):
        sums["pull_rows" if line == 0 else "weight_rows"] = values
    if H is not None:
        sums["H"] = H
    return sums


def _group_lines(charge: Charge, window: Window) -> NDArray[np.int64]:
    """Which sums of rows by group are needed: of alpha x (0) for a squared hinge, of d x (1) for smooth models."""
    if charge is Charge.HINGE:
        return np.arange(1, 2 if window.model and not window.fetch else 1)
    if charge is Charge.SQUARED_HINGE:
        return np.arange(2 if window.model else 1)
    return np.arange(1, 2)


def _survey_piece(
    block: Block, low: int, frame: Frame, point: Point, window: Window, sums: Sums, lines: NDArray[np.int64],
    group_rows: Floats, H: Floats | None,
) -> None:  # fmt: skip
    """Add one piece, which begins at row ``low`` of its block, to the sums."""
    problem = frame.problem
    X = block.X if sp.issparse(block.X) else np.ascontiguousarray(block.X, dtype=np.float64)
    s = linear_scores(X, point.coef)
    rows = frame.rows(X)
    charge = charge_thresholds if frame.pays_everywhere else charge_slacks
    least, largest = float(s.min()), float(s.max())
    digits = frame_digits(frame, point, max(-least, largest))
    found = charge(frame, rows, block, s, point.thresholds, window, digits, lines, sums["per_group"], group_rows)
    sums["charge"] += found.charge
    sums["rise"] += found.rise
    sums["n_near"] += found.near.shape[1]
    sums["range"].append((least, largest))
    sums["pull"] += rows.adjoint(found.per_sample[0])
    if H is not None:
        d = found.per_sample[1]
        bent = np.flatnonzero(d)
        few = FEWER * len(bent) < len(d)
        H += frame.rows(X[bent]).gram(d[bent]) if few else rows.gram(d)
    if window.fetch and window.model and found.near.size:
        sample, bundle = found.near
        named, number = frame.bundle_order[bundle].astype(np.int32), (low + sample).astype(np.int32)
        named = frame.alike[named] if frame.merges else named
        near = [Near(named, X[sample], problem.cost * block.weights[sample], number)]
        sums["near"] += merge_equal(near) if frame.merges else near


def _merge_near(sums: Sums) -> None:
    """Hold equal rows of several pieces or blocks as one, and count them so, where rows were fetched."""
    if sums["near"]:
        sums["near"] = merge_equal(sums["near"])
        sums["n_near"] = sum(len(near.cost) for near in sums["near"])
