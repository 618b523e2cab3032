"""One pass over blocks of rows at a given point: what it costs there, what pulls at it, and who is near a kink."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hullrank.problem.block_rows import Block, BlockRows, Sums
from hullrank.problem.certificate import EPSILON
from hullrank.problem.charges import Charge
from hullrank.problem.intervals import IntervalProblem
from hullrank.problem.rows import ArrayRows
from hullrank.problem.statement import Point

Floats = NDArray[np.float64]
PIECE = 16384  # most rows that are worked on at a time, so that they and what is computed for them stay in cache
NUMBERS = 2_000_000  # most numbers of those rows


@dataclass(frozen=True)
class Frame:
    """What a task has to know of the problem besides the point: small, and the same in every pass.

    ``mean`` is subtracted from the rows (None: 0), which changes no product but keeps its digits; ``spread`` is rms|x|
    about it, and ``longest`` about the largest |x| in units of it.
    """

    problem: IntervalProblem
    n_classes: int
    mean: Floats | None = None
    spread: float = 1.0
    longest: float = 1.0

    @cached_property
    def bundle_order(self) -> NDArray[np.intp]:
        """The numbers of the bundles, class by class."""
        return np.argsort(self._bundle_class, kind="stable")

    @cached_property
    def bundles_by_class(self) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
        """The first bundle of every class, (K + 1,), the bundles class by class, and the most bundles of a class."""
        order = self.bundle_order
        first = np.searchsorted(self._bundle_class[order], np.arange(self.n_classes + 1))
        return first, self.problem.bundles[order], int(np.diff(first).max(initial=1))

    @property
    def _bundle_class(self) -> NDArray[np.int64]:
        return self.problem.group_class[self.problem.bundles[:, 0]]

    @cached_property
    def is_far_off(self) -> bool:
        """Whether the mean is so far from 0 that products with a view lose digits which a centred copy keeps."""
        return self.mean is not None and ArrayRows(np.empty((0, 0)), None, self.mean, self.spread or 1.0).is_far_off

    def rows(self, X: Any) -> ArrayRows:
        """Rows of a block, centred; those far off are copied."""
        return ArrayRows(X - self.mean) if self.is_far_off else ArrayRows(X, None, self.mean, 1.0, self.spread)


class Window(NamedTuple):
    """Which rows count as near their kink, and what a pass sums besides the charge.

    ``fetch`` near rows, or (hinge) smooth their kink over the ``width``; ``model`` asks for the quadratic model of the
    charges, which a pass that is expected to be the last does without.
    """

    width: float = 0.0
    fetch: bool = True
    model: bool = False


class Near(NamedTuple):
    """Rows near their kink: the bundle of every slack, the row of X, the cost of the slack, the row's number."""

    bundle: NDArray[np.int32]
    X: Any
    cost: Floats
    number: NDArray[np.int32]


@dataclass(frozen=True)
class Survey:
    """Sums over all rows at a point: see ``survey_rows`` for those by group.

    ``charge`` and by how much it ``rise``s if rounding moves all scores; least and largest score; ``pull`` = sum of
    sign * alpha * x, by group the sums of alpha (``totals``), of d (``weight``), of alpha * v (``paid``), of d * v, of
    alpha x (``pull_rows``, squared hinge only) and d x (``weight_rows``), H = sum of d x x'; the rows ``near`` a kink
    and their number.
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
    by_group = sums.pop("per_group")
    ranges = np.array(sums.pop("range")).reshape(-1, 2)
    least, largest = float(ranges[:, 0].min(initial=np.inf)), float(ranges[:, 1].max(initial=-np.inf))
    digits = frame_digits(frame, point, max(abs(least), abs(largest)))
    return Survey(point, window, digits=digits, least=least, largest=largest, totals=by_group[0], weight=by_group[1],
                  paid=by_group[2], slope=by_group[3], **sums)  # fmt: skip


def frame_digits(frame: Frame, point: Point, size: float) -> float:
    """How far rounding may move scores up to ``size``, about."""
    far = 0.0 if frame.mean is None else float(np.abs(frame.mean) @ np.abs(point.coef))
    reach = far + (frame.spread or 1.0) * float(np.linalg.norm(point.coef))
    return EPSILON * (max(size, float(np.abs(point.thresholds).max(initial=0.0))) + reach)


def survey_block(block: Block, frame: Frame, coef: Floats, theta: Floats, window: Window) -> Sums:
    """The sums of one block (a task: see ``block_rows``), piece by piece."""
    problem, n = frame.problem, len(coef)
    _, _, slots = frame.bundles_by_class
    step = int(np.clip(NUMBERS // max(n, 4 * slots), 256, PIECE))
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
    from hullrank.problem import _block_loops

    problem = frame.problem
    first, bundles, slots = frame.bundles_by_class
    m, sparse = len(block.codes), sp.issparse(block.X)
    X = block.X if sparse else np.ascontiguousarray(block.X, dtype=np.float64)
    s = np.asarray(X @ point.coef).ravel()
    size = float(np.abs(s).max(initial=0.0))
    groups, growth = _growth(problem, point.thresholds, s, size)
    rows = frame.rows(X)
    per_sample, near = np.empty((2, m)), np.empty((2, m * slots), dtype=np.int64)
    cross = np.zeros((2, m if sparse else 0, slots))  # classes may have fewer slots than these
    charge, rise, n_near = _block_loops.survey_rows(
        rows.X[:0].toarray() if sparse else rows.X, np.zeros(rows.n_features) if rows.mean is None else rows.mean,
        (frame.spread or 1.0, frame.longest), block.codes, block.weights, s, growth, first, bundles, groups,
        problem.charge.code, problem.cost, window.width, not window.fetch, frame_digits(frame, point, size), lines,
        per_sample, cross, near, sums["per_group"], group_rows,
    )  # fmt: skip
    sums["charge"] += charge
    sums["rise"] += rise
    sums["n_near"] += n_near
    sums["range"].append((float(s.min()), float(s.max())))
    sums["pull"] += rows.adjoint(per_sample[0])
    if sparse:
        _add_group_rows(rows.X, block.codes, frame, cross, lines, group_rows)
    if H is not None:
        H += rows.gram(per_sample[1])
    if window.fetch and window.model and n_near:
        sample, bundle = near[:, :n_near]
        named, number = frame.bundle_order[bundle].astype(np.int32), (low + sample).astype(np.int32)
        sums["near"].append(Near(named, X[sample], problem.cost * block.weights[sample], number))


def _growth(problem: IntervalProblem, theta: Floats, s: Floats, size: float) -> tuple[Floats, Floats]:
    """(sign, offset, exp(offset)) of the groups, and exp(s) where a logistic charge can be had from these products."""
    from hullrank.problem._block_loops import STEEP

    offsets = problem.offsets(theta)
    if problem.charge is not Charge.LOGISTIC or not size + np.abs(offsets).max(initial=0.0) < STEEP / 2:
        return np.stack([problem.sign, offsets, offsets]), np.empty(0)
    return np.stack([problem.sign, offsets, np.exp(offsets)]), np.exp(s)


def _add_group_rows(
    X: Any, codes: NDArray[np.intp], frame: Frame, cross: Floats, lines: NDArray[np.int64], sums: Floats
) -> None:
    """Sums of sparse rows by the group that pays for their slack."""
    first, bundles, _ = frame.bundles_by_class
    for k, line in enumerate(lines):
        sample, slot = np.nonzero(cross[line])
        value = cross[line, sample, slot]
        group = np.where(value > 0, *bundles[first[codes[sample]] + slot].T)
        members = sp.coo_array((np.abs(value), (group, sample)), shape=(sums.shape[1], X.shape[0]))
        sums[k] += (members.tocsr() @ X).toarray()
