"""The statement of a class-based model: an interval problem over samples, linear or with a kernel."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hullrank.data import Samples
from hullrank.order import OrderGraph
from hullrank.problem.block_rows import Block, HeldBlocks
from hullrank.problem.block_statement import BlockEvidence, BlockStatement
from hullrank.problem.certificate import (
    EPSILON,
    CertifiedPoint,
    certify_intervals,
    charge_and_rise,
    paying_violations,
    total_charge,
)
from hullrank.problem.charges import Charge
from hullrank.problem.column_moments import ColumnMoments
from hullrank.problem.grouped_classes import GroupedClasses
from hullrank.problem.intervals import IntervalProblem
from hullrank.problem.kernel_space import KernelSpace
from hullrank.problem.layout import RowLayout, lay_out
from hullrank.problem.measured_rows import rounding_unit, sorted_rows, sparse_spread
from hullrank.problem.rows import ArrayRows, columns_of, linear_scores
from hullrank.problem.sampling import draw
from hullrank.problem.signs import Signs
from hullrank.problem.statement import Grade, Point, Size

Floats = NDArray[np.float64]
HARD_MARGIN_DIGITS = 1e-9  # share of a hard margin by which a row may miss it


class Multipliers(NamedTuple):
    """Multipliers of the rows, divided by the cost of their slack, and of the order constraints."""

    rows: Floats
    order: Floats


@dataclass(frozen=True)
class IntervalStatement:
    """An interval problem over samples in the order of the data.

    ``positions`` are the samples' numbers in the data as given (samples without weight are left out), ``classes`` their
    labels from lowest to highest, ``space`` the space of a kernel's functions, or None for a linear score, and
    ``signs`` those that the weights of a linear score must have, or None. With ``grouped`` classes the samples' codes
    are those of cells, a class within a group each.
    """

    problem: IntervalProblem
    samples: Samples
    positions: NDArray[np.intp]
    classes: NDArray[Any]
    order: OrderGraph
    space: KernelSpace | None = None
    signs: Signs | None = None
    grouped: GroupedClasses | None = None

    @property
    def family(self) -> str:
        """Which solvers take it."""
        if self.signs is not None:
            return "signed intervals"
        return "intervals" if self.space is None else "kernel intervals"

    def on_columns(self, columns: NDArray[np.intp]) -> "IntervalStatement":
        """The problem without signs in which only the weights of some columns are not 0."""
        return replace(self, samples=replace(self.samples, X=columns_of(self.samples.X, columns)), signs=None)

    @property
    def size(self) -> Size:
        """Samples, columns and classes."""
        return Size(len(self.samples.codes), self.samples.X.shape[1], self.samples.n_classes)

    @property
    def is_sparse(self) -> bool:
        """Whether the rows are sparse, and so is the score's way through them."""
        return self.space is None and sp.issparse(self.samples.X)

    @property
    def n_order_constraints(self) -> int:
        """Pairs of samples (of one group) whose classes are comparable."""
        counts = np.diff(self.samples.starts)
        return self.order.comparable_pairs(
            counts if self.grouped is None else self.grouped.table(counts, len(self.order))
        )

    @property
    def class_samples(self) -> Samples:
        """The samples with the codes of their classes, whatever their groups."""
        return self.samples if self.grouped is None else self.grouped.by_class(self.samples, len(self.classes))

    @cached_property
    def layout(self) -> RowLayout:
        """Where the rows of the problem stand, over class-sorted samples."""
        return lay_out(self.problem, self.samples.starts, self.samples.weights[self.samples.rows])

    @cached_property
    def features(self) -> Samples:
        """The samples in coordinates in which the score is linear: X itself, or those of the kernel's space."""
        if self.space is None:
            return self.samples
        return replace(self.samples, X=self.space.coordinates)

    @cached_property
    def view(self) -> ArrayRows:
        """The features, class by class, centred (sparse ones: near 0) and scaled to rms|x| = 1."""
        return sorted_rows(self.features)

    @property
    def moments(self) -> ColumnMoments | None:
        """Mean and standard deviation of the columns of X, weighted; None where X is sparse or behind a kernel."""
        return self.view.moments if self.space is None else None

    @cached_property
    def _rows(self) -> ArrayRows:
        """The features, class by class, with their mean taken out: thresholds absorb it."""
        rows = replace(self.view, scale=1.0)
        return rows.take(np.arange(rows.n_rows)) if rows.is_far_off else rows

    def scores(self, point: Point) -> Floats:
        """The samples' scores as the model predicts them, in the order of the data."""
        if self.space is not None:
            return self.space.scores(point.coef)
        return linear_scores(self.samples.X, point.coef)

    def objective(self, point: Point, scores: Floats | None = None) -> float:
        """The objective of a point; infinite where it breaks an order constraint or a hard margin."""
        s = self.scores(point) if scores is None else scores
        lost = total_charge(self.problem, self.layout, point.thresholds, s[self.samples.rows])
        return self._objective(point, s, lost, self.digits(point, s))

    def _objective(self, point: Point, s: Floats, lost: float, digits: float) -> float:
        """The objective of a point, from the total charge of its rows; rounding may move a score by ``digits``."""
        problem, theta, digits = self.problem, point.thresholds, 8 * digits
        if np.any(problem.order_gaps(theta) < problem.gap - digits):
            return float("inf")
        if self.signs is not None and not self.signs.allow(point.coef):
            return float("inf")
        if problem.charge is Charge.HARD:
            lost = 0.0 if lost <= HARD_MARGIN_DIGITS + digits else float("inf")
        return self._penalty(point, s) + float(problem.linear @ theta) + lost

    def in_blocks(self, n_drawn: int) -> BlockStatement:
        """The same statement over one block of rows, of which about ``n_drawn`` are drawn to begin with."""
        samples, view = self.samples, self.view
        spread = view.spread
        if view.origin is not None:  # blocks are sparse rows as they stand
            spread = sparse_spread(samples.X, samples.rows, samples.weights[samples.rows])
        return BlockStatement(
            self.problem, HeldBlocks([Block(samples.X, samples.codes, samples.weights)]),
            draw(samples, n_drawn, np.random.default_rng(0)), np.diff(samples.starts), view.mean, spread,
            self.classes, self.order, room=len(samples.codes), cheap=True,
        )  # fmt: skip

    def grade(self, point: Point, evidence: Multipliers | BlockEvidence, scores: Floats | None = None) -> Grade:
        """Objective of the point, and the dual objective of the multipliers, repaired to be feasible.

        The lower bound is lowered by what the last digits of the scores may add to the charge: a row at its kink begins
        to pay.
        """
        if isinstance(evidence, BlockEvidence):
            return self.in_blocks(self.size.n_samples).grade(point, evidence)
        s = self._checked_scores(point, scores)
        sorted_scores, digits = s[self.samples.rows], self.digits(point, s)
        lost, rounding = charge_and_rise(self.problem, self.layout, point.thresholds, sorted_scores, digits)
        primal = self._objective(point, s, lost, digits)
        graded = self._certified(point, evidence, s, lost)
        if self.problem.charge is Charge.HARD:  # the optimum is lower where margins may be missed by a few digits
            rounding = 4 * (lost + 16 * digits) * abs(graded.dual)
        grade = Grade(primal, graded.dual - rounding, graded.noise + rounding, graded.floor, graded.residuals)
        if self.space is None or not self.space.is_approximate:
            return grade
        whole = grade.dual - self.space.remainder(self.problem.penalty, self._by_sample(graded.coef))
        return replace(grade, dual=whole, span_dual=grade.dual, span=self.space.span)

    def by_row(self, evidence: Multipliers | BlockEvidence) -> Multipliers:
        """The multipliers of all rows: a dual point over blocks knows those of settled rows by what settled them."""
        if not isinstance(evidence, BlockEvidence):
            return evidence
        layout, problem = self.layout, self.problem
        s = self.scores(evidence.settled_at)[self.samples.rows]
        a = problem.charge.derivative(paying_violations(problem, layout, evidence.settled_at.thresholds, s))
        if evidence.near is not None and evidence.multipliers is not None:
            place = np.empty(len(s), dtype=np.intp)
            place[self.samples.rows] = np.arange(len(s))
            evidence.near.spread(layout, place, evidence.multipliers, a)
        return Multipliers(a, evidence.order)

    def pull(self, point: Point, evidence: Multipliers) -> Floats:
        """X'(sign alpha) by column: to which side, and how hard, the rows pull the weights of a linear score."""
        s = self.scores(point)
        lost = total_charge(self.problem, self.layout, point.thresholds, s[self.samples.rows])
        return self._rows.adjoint(self._certified(point, evidence, s, lost).coef)

    def _certified(self, point: Point, evidence: Multipliers, s: Floats, lost: float) -> CertifiedPoint:
        return certify_intervals(
            self.problem, self.layout, s[self.samples.rows], self._penalty(point, s),
            lambda coef: self._dual_penalty(coef, point, s), point.thresholds, evidence.rows, evidence.order,
            self._unit, lost, centred=self.space is None and self.view.mean is not None,
        )  # fmt: skip

    def digits(self, point: Point, s: Floats) -> float:
        """How far rounding may move a score, about."""
        largest = max(float(np.abs(s).max(initial=0.0)), float(np.abs(point.thresholds).max(initial=0.0)))
        return EPSILON * (largest + self._reach(point.coef))

    def _reach(self, coef: Floats) -> float:
        """How large the parts are that add up to a score, about."""
        if self.space is not None:
            return self.space.reach(coef)
        mean = self.view.taken_out
        far = 0.0 if mean is None else float(np.abs(mean) @ np.abs(coef))
        return far + self.view.scale * float(np.linalg.norm(coef))

    @cached_property
    def _unit(self) -> float:
        """rms|x| of the samples about their mean; 0 where a kernel's own rounding is already counted."""
        if self.space is not None and not self.space.coefficient_norm:
            exact = not self.problem.homogeneous and not self.space.has_coordinates
            return 0.0 if exact else self.space.typical_length
        return rounding_unit(self.problem, self.view.X, self.samples.weights, self.view.spread)

    def _penalty(self, point: Point, s: Floats) -> float:
        if self.space is None:
            return self.problem.penalty.of(point.coef)
        return self.space.penalty(self.problem.penalty, point.coef, s)

    def _dual_penalty(self, coef: Floats, point: Point, s: Floats) -> float:
        """That of X'coef, coef by class-sorted sample."""
        if self.space is None or self.space.has_coordinates:
            if self.view.spread == 0.0:  # all rows are equal, and coef sums to 0
                return 0.0
            pull = self._rows.adjoint(coef)
            return self.problem.penalty.dual_of(pull if self.signs is None else self.signs.nearest(pull))
        if self.problem.homogeneous and self.space.is_point:
            return 0.0
        return self.space.dual_penalty(self.problem.penalty, self._by_sample(coef), point.coef, s)

    def _by_sample(self, coef: Floats) -> Floats:
        out = np.empty_like(coef)
        out[self.samples.rows] = coef
        return out

    def _checked_scores(self, point: Point, scores: Floats | None) -> Floats:
        """Scores that a solver computed are believed if a few of them, computed here, agree."""
        if scores is None or self.space is None:
            return self.scores(point)
        some, known = self.space.some_scores(point.coef)
        size = float(np.abs(known).max(initial=0.0))
        agree = np.abs(scores[some] - known).max(initial=0.0) <= 1e-10 * size
        return scores if agree else self.scores(point)
