"""The statement of a class-based model with a linear score over rows in blocks, graded by sums over the blocks."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hullrank.data import Samples
from hullrank.order import OrderGraph
from hullrank.problem.block_charges import Frame, Window
from hullrank.problem.block_rows import BlockRows
from hullrank.problem.block_survey import Survey, survey
from hullrank.problem.certificate import certify_intervals
from hullrank.problem.intervals import IntervalProblem
from hullrank.problem.layout import LENGTH, PARTNER_ROW, ROW, SLACK, START, RowLayout, bundle_table, lay_out
from hullrank.problem.measured_rows import rounding_unit
from hullrank.problem.rows import ArrayRows, linear_scores
from hullrank.problem.settled_dual import SettledDual
from hullrank.problem.statement import Grade, Point, Size

Floats = NDArray[np.float64]
ENOUGH = 5000  # drawn rows by which the largest distance of a row from the mean is estimated


@dataclass(frozen=True)
class NearRows:
    """Rows that were fetched, bundle by bundle: centred and divided by ``unit``, with the layout of their slacks.

    ``number`` is where a row stands in its block.
    """

    rows: ArrayRows
    layout: RowLayout
    number: NDArray[np.integer]
    unit: float = 1.0

    def spread(self, layout: RowLayout, place: NDArray[np.intp], multipliers: Floats, values: Floats) -> None:
        """Write multipliers of the fetched rows into those of all rows of one block, laid out at ``place``."""
        for mine, whole in zip(self.layout.table, layout.table, strict=True):
            held = place[self.number[mine[SLACK] : mine[SLACK] + mine[LENGTH]]] - whole[START]
            for side in (ROW, PARTNER_ROW):
                if mine[side] >= 0:
                    values[whole[side] + held] = multipliers[mine[side] : mine[side] + mine[LENGTH]]


@dataclass(frozen=True)
class BlockEvidence:
    """A dual point of a statement in blocks.

    It consists of multipliers of fetched rows (over their cost), ``settled`` rows known by their sums, and multipliers
    of the order constraints. Settled rows have the multipliers that their charges have at ``settled_at``. ``survey`` is
    the last pass over all rows: it serves the grade, if that is of the same point.
    """

    order: Floats
    survey: Survey
    settled: SettledDual
    settled_at: Point
    near: NearRows | None = None
    multipliers: Floats | None = None


@dataclass(frozen=True)
class BlockStatement:
    """An interval problem over rows in blocks.

    ``samples`` are some of them, drawn evenly from every class and weighted so that every class keeps its weight;
    ``counts`` are the numbers of all rows by class, ``mean`` (None: not centred) and ``spread`` = rms|x| about it
    their moments, and ``classes`` the labels from lowest to highest. ``room`` is the number of rows that may be held
    at a time, and ``cheap`` tells that a pass costs little beside what it spares. Where a row ``repeats`` others as a
    rule, equal ones are held as one.
    """

    problem: IntervalProblem
    rows: BlockRows
    samples: Samples
    counts: NDArray[np.int64]
    mean: Floats | None
    spread: float
    classes: NDArray[Any]
    order: OrderGraph
    room: int
    cheap: bool = False
    repeats: bool = False
    family = "intervals in blocks"
    space = None
    grouped = None

    @property
    def passes(self) -> int:
        """How often all rows were gone through."""
        return self.rows.passes

    @property
    def class_samples(self) -> Samples:
        """The drawn samples with the codes of their classes."""
        return self.samples

    @property
    def size(self) -> Size:
        """Rows, columns and classes."""
        return Size(int(self.counts.sum()), self.samples.X.shape[1], self.samples.n_classes)

    @property
    def n_order_constraints(self) -> int:
        """Pairs of rows whose classes are comparable."""
        return self.order.comparable_pairs(self.counts)

    @cached_property
    def layout(self) -> RowLayout:
        """Where the rows of the problem stand over the drawn samples, class by class."""
        return lay_out(self.problem, self.samples.starts, self.samples.weights[self.samples.rows])

    @cached_property
    def view(self) -> ArrayRows:
        """The drawn samples, class by class, centred (if dense) and scaled as all rows are."""
        return ArrayRows(self.samples.X, self.samples.rows, self.mean, self.spread or 1.0, self.spread)

    @cached_property
    def frame(self) -> Frame:
        """What the passes have to know."""
        return Frame(self.problem, self.samples.n_classes, self.mean, self.spread, self._longest, self.repeats)

    @property
    def _longest(self) -> float:
        """The largest distance of some drawn samples from the mean, in units of the usual one."""
        if self.mean is None or self.spread == 0.0:
            return 1.0
        apart = self.samples.X[:: -(-len(self.samples.codes) // ENOUGH)] - self.mean
        return max(float(np.sqrt(np.einsum("ij,ij->i", apart, apart).max(initial=0.0))) / self.spread, 1.0)

    @cached_property
    def n_slacks(self) -> int:
        """The number of slacks of all rows."""
        return int(self.counts @ np.diff(self.frame.bundles_by_class[0]))

    def scores(self, point: Point) -> Floats:
        """The scores of the drawn samples."""
        return linear_scores(self.samples.X, point.coef)

    def survey(self, point: Point, window: Window | None = None) -> Survey:
        """One pass over all rows, as the model predicts them."""
        return survey(self.rows, self.frame, point, window or Window())

    def objective(self, point: Point, found: Survey) -> float:
        """The objective of a surveyed point; infinite where it breaks an order constraint."""
        problem, theta = self.problem, point.thresholds
        if np.any(problem.order_gaps(theta) < problem.gap - 8 * found.digits):
            return float("inf")
        return problem.penalty.of(point.coef) + float(problem.linear @ theta) + found.charge

    def grade(self, point: Point, evidence: BlockEvidence, scores: Floats | None = None) -> Grade:
        """Objective of the point, and the dual objective of the evidence, repaired to be feasible.

        The lower bound is lowered by what the last digits of the scores may add to the charge.
        """
        problem, found = self.problem, evidence.survey
        if not _same(point, found.point):
            found = self.survey(point)
        near = evidence.near or no_rows(problem, len(point.coef))
        graded = certify_intervals(
            problem, near.layout, np.array([found.least, found.largest]), problem.penalty.of(point.coef),
            lambda coef, pull: self._dual_penalty(near.unit * near.rows.adjoint(coef) + pull), point.thresholds,
            np.empty(0) if evidence.multipliers is None else evidence.multipliers, evidence.order,
            rounding_unit(problem, self.samples.X, self.samples.weights, self.spread), found.charge,
            evidence.settled, centred=self.mean is not None,
        )  # fmt: skip
        primal = self.objective(point, found)
        return Grade(primal, graded.dual - found.rise, graded.noise + found.rise, graded.floor, graded.residuals)

    def _dual_penalty(self, pull: Floats) -> float:
        """That of X'(sign alpha); 0 where all rows are equal, since sign * alpha sums to 0."""
        return self.problem.penalty.dual_of(pull) if self.spread > 0 else 0.0


def no_rows(problem: IntervalProblem, n_features: int) -> NearRows:
    """No rows at all, with their layout."""
    none = np.zeros(len(problem.bundles), dtype=np.int64)
    layout = RowLayout(*bundle_table(problem, none, none), none[:0], np.empty(0), 0)
    return NearRows(ArrayRows(np.empty((0, n_features))), layout, none[:0].astype(np.intp))


def _same(a: Point, b: Point) -> bool:
    return np.array_equal(a.coef, b.coef) and np.array_equal(a.thresholds, b.thresholds)
