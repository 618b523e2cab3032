"""How the slacks of a piece of rows are charged at a given point: row by row, or threshold by threshold."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hullrank.problem.block_rows import Block
from hullrank.problem.certificate import EPSILON
from hullrank.problem.charges import Charge, require_known
from hullrank.problem.intervals import IntervalProblem
from hullrank.problem.rows import FAR_OFF, ArrayRows
from hullrank.problem.statement import Point

Floats = NDArray[np.float64]
SMALL_PRODUCT = 1_000_000  # multiplications up to which OpenBLAS multiplies matrices in place


@dataclass(frozen=True)
class Frame:
    """What a task has to know of the problem besides the point: small, and the same in every pass.

    ``mean`` is subtracted from the rows (None: 0), which changes no product but keeps its digits; ``spread`` is rms|x|
    about it, and ``longest`` about the largest |x| in units of it. A pass that ``merges`` fetches equal rows as one.
    """

    problem: IntervalProblem
    n_classes: int
    mean: Floats | None = None
    spread: float = 1.0
    longest: float = 1.0
    merges: bool = False

    def __post_init__(self) -> None:
        require_known(
            self.problem.charge, (Charge.HINGE, Charge.SQUARED_HINGE, Charge.LOGISTIC), "passes over blocks of rows"
        )

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

    @cached_property
    def alike(self) -> NDArray[np.int32]:
        """For every bundle the first one whose slacks cost the same at the same score, whatever their class."""
        problem = self.problem
        kinds = np.stack([problem.threshold, problem.sign, problem.offset], 1)
        kind = np.append(np.unique(kinds, axis=0, return_inverse=True)[1].ravel(), -1)  # the last is that of no partner
        _, first, same = np.unique(kind[problem.bundles], axis=0, return_index=True, return_inverse=True)
        return first[same.ravel()].astype(np.int32)

    @cached_property
    def outer_groups(self) -> NDArray[np.int64]:
        """(2, n_thresholds): the groups of the lowest and of the highest class, threshold by threshold."""
        q = self.problem.n_thresholds
        groups = self.bundles_by_class[1][:, 0]
        return np.stack([groups[:q], groups[len(groups) - q :]])

    @cached_property
    def pays_everywhere(self) -> bool:
        """Whether every row pays a hinge or its square at every threshold, at the same distance from it."""
        problem, bundles = self.problem, self.bundles_by_class[1]
        each, codes = np.arange(problem.n_thresholds), np.arange(self.n_classes)
        groups = bundles[:, 0]
        return (
            not problem.charge.smooth
            and not (problem.shares_slacks or problem.has_rho)
            and np.array_equal(problem.threshold[groups], np.tile(each, self.n_classes))
            and np.array_equal(problem.sign[groups], np.where(codes[:, None] > each, 1.0, -1.0).ravel())
            and float(np.ptp(problem.offset)) == 0.0
        )

    @property
    def _bundle_class(self) -> NDArray[np.int64]:
        return self.problem.group_class[self.problem.bundles[:, 0]]

    @cached_property
    def is_far_off(self) -> bool:
        """Whether the mean is so far from 0 that products with a view lose digits which a centred copy keeps."""
        return self.mean is not None and float(np.abs(self.mean).max(initial=0.0)) > FAR_OFF * (self.spread or 1.0)

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


def frame_digits(frame: Frame, point: Point, size: float) -> float:
    """How far rounding may move scores up to ``size``, about."""
    far = 0.0 if frame.mean is None else float(np.abs(frame.mean) @ np.abs(point.coef))
    reach = far + (frame.spread or 1.0) * float(np.linalg.norm(point.coef))
    return EPSILON * (max(size, float(np.abs(point.thresholds).max(initial=0.0))) + reach)


class Charged(NamedTuple):
    """Total charge and rise of a piece, sums of sign * alpha and of d by sample, (sample, bundle) of near slacks."""

    charge: float
    rise: float
    per_sample: Floats
    near: NDArray[np.int64]


def charge_slacks(
    frame: Frame, rows: ArrayRows, block: Block, s: Floats, theta: Floats, window: Window, digits: float,
    lines: NDArray[np.int64], per_group: Floats, group_rows: Floats,
) -> Charged:  # fmt: skip
    """Charge every slack of a piece, row by row, and add up by group."""
    from hullrank.problem import _block_loops

    problem, m, sparse = frame.problem, len(s), sp.issparse(rows.X)
    first, bundles, slots = frame.bundles_by_class
    per_sample, near = np.empty((2, m)), np.empty((2, m * slots), dtype=np.int64)
    if problem.charge is Charge.HINGE and not (sparse or problem.shares_slacks):
        charge, rise, n_near = _block_loops.survey_hinges(
            *_measures(frame, rows), block.codes, block.weights, s, first, bundles,
            np.stack([problem.sign, problem.offsets(theta)]), problem.cost, window.width, not window.fetch, digits,
            group_rows, per_sample, near, per_group,
        )  # fmt: skip
        return Charged(charge, rise, per_sample, near[:, :n_near])
    groups, growth = _growth(problem, theta, s)
    cross = np.zeros((2, m if sparse else 0, slots))  # a class with fewer bundles leaves its last entries at 0
    charge, rise, n_near = _block_loops.survey_rows(
        *_measures(frame, rows), block.codes, block.weights, s, growth, first, bundles, groups,
        problem.charge.code, problem.cost, window.width, not window.fetch, digits, lines,
        per_sample, cross, near, per_group, group_rows,
    )  # fmt: skip
    if sparse:
        _add_group_rows(rows.X, block.codes, frame, cross, lines, group_rows)
    return Charged(charge, rise, per_sample, near[:, :n_near])


def charge_thresholds(
    frame: Frame, rows: ArrayRows, block: Block, s: Floats, theta: Floats, window: Window, digits: float,
    lines: NDArray[np.int64], per_group: Floats, group_rows: Floats,
) -> Charged:  # fmt: skip
    """Charge every slack of a piece whose rows all pay at every threshold; sums stand at the outermost groups."""
    from hullrank.problem import _threshold_loops

    problem, m, smoothed = frame.problem, len(s), not window.fetch
    ends = frame.outer_groups
    offsets, code, q = problem.offsets(theta)[ends], problem.charge.code, ends.shape[1]
    cross, per_sample, per_side = np.empty((3, q, m)), np.empty((2, m)), np.zeros((2, 4, q))
    charge, rise = _threshold_loops.charge_thresholds(
        block.codes, problem.cost * block.weights, s, offsets, code, window.width, smoothed, digits, cross, per_sample,
        per_side,
    )  # fmt: skip
    measures = _measures(frame, rows)
    reach = window.width * (1.0 if smoothed or sp.issparse(rows.X) else frame.longest)
    near = np.stack(np.divmod(np.flatnonzero(cross[2] < reach), m))
    n_near = _threshold_loops.sift_near(
        *measures, block.codes, code, window.width, smoothed, near, cross, per_sample, per_side
    )
    for side, groups in zip(per_side, ends, strict=True):
        per_group[:, groups] += side
    if len(lines):
        values = cross[lines[0] : lines[-1] + 1]
        group_rows[:, ends[0]] += _products(values.reshape(-1, m), rows.X).reshape(len(lines), q, -1)
    threshold, sample = near[:, :n_near]
    return Charged(charge, rise, per_sample, np.stack([sample, q * block.codes[sample] + threshold]))


def _measures(frame: Frame, rows: ArrayRows) -> tuple[Floats, Floats, tuple[float, float]]:
    """What tells how long rows are: the rows (none if sparse), their centre, and the usual and the largest length."""
    X = rows.X[:0].toarray() if sp.issparse(rows.X) else rows.X
    return X, np.zeros(rows.n_features) if rows.mean is None else rows.mean, (frame.spread or 1.0, frame.longest)


def _products(values: Floats, X: Any) -> Floats:
    """Values by row times X; of dense rows in parts that OpenBLAS multiplies without copying them: half the time."""
    if sp.issparse(X):
        return np.asarray(X.T @ values.T).T
    step = max(256, SMALL_PRODUCT // (len(values) * max(X.shape[1], 1)))
    out = np.zeros((len(values), X.shape[1]))
    for low in range(0, len(X), step):
        out += values[:, low : low + step] @ X[low : low + step]
    return out


def _growth(problem: IntervalProblem, theta: Floats, s: Floats) -> tuple[Floats, Floats]:
    """(sign, offset, exp(offset)) of the groups, and exp(s) where a logistic charge can be had from these products."""
    from hullrank.problem._block_loops import STEEP

    offsets = problem.offsets(theta)
    if problem.charge is not Charge.LOGISTIC or not _size(s) + _size(offsets) < STEEP / 2:
        return np.stack([problem.sign, offsets, offsets]), np.empty(0)
    return np.stack([problem.sign, offsets, np.exp(offsets)]), np.exp(s)


def _size(values: Floats) -> float:
    return float(np.abs(values).max(initial=0.0))


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
