"""The best point and the best lower bound of a search over blocks, which need not come from the same round."""

from dataclasses import replace

import numpy as np

from hullrank.problem.block_statement import BlockEvidence, BlockStatement
from hullrank.problem.block_survey import Survey, nothing_charged
from hullrank.problem.certificate import relative_gap
from hullrank.problem.charges import Charge
from hullrank.problem.settled_dual import settled_dual
from hullrank.problem.statement import Grade
from hullrank.solvers._block_terms import Units
from hullrank.solvers.interior_point import Iterate


class Record:
    """What is known of the optimum so far; ``pending`` is the evidence of the last step, not graded yet."""

    best: Survey
    iterate: Iterate
    grade: Grade
    evidence: BlockEvidence
    pending: BlockEvidence | None = None

    def __init__(self, statement: BlockStatement, units: Units, tol: float) -> None:
        self.statement, self.units, self.tol = statement, units, tol
        self.primal, self.bound, self.is_empty = np.inf, -np.inf, True

    def note(self, found: Survey, iterate: Iterate) -> bool:
        """Keep what is better: the point, or the lower bound; tells whether the point is worse than the best one."""
        problem = self.statement.problem
        primal = self.statement.objective(found.point, found)
        worse = not (self.is_empty or primal <= self.primal + 1e-12 * abs(self.primal))
        if self.is_empty or primal < self.primal:
            self.primal, self.best, self.iterate = primal, found, iterate
        hinge = problem.charge is Charge.HINGE
        new = self.pending
        if new is None and (self.is_empty or not hinge):
            t = self.units.back * iterate.order_multipliers
            new = BlockEvidence(t, found, settled_dual(problem, found), found.point)
        if hinge and self.pending is None and self.bound == -np.inf:  # a hinge proves nothing by settled rows alone
            self.grade, self.evidence = Grade(self.primal, -np.inf), new or self.evidence
        else:
            self._take(new)
        self.is_empty = False
        if problem.homogeneous and self.bound > -np.inf:
            # The bound is higher at 0 by its rounding at most, so that a point clearly below 0 is not compared with 0.
            clearly_below = -(self.grade.dual + self.grade.noise) > self.tol * self.grade.floor
            if not clearly_below:
                self.prove_zero(self.evidence)
        return worse

    def _take(self, new: BlockEvidence | None) -> None:
        """Grade the best point by new evidence, or by the old where that has the better bound."""
        if new is not None:
            grade = self._graded(new)
            if self.is_empty or grade.dual >= self.bound:
                self.grade, self.evidence, self.bound = grade, new, grade.dual
                return
        self.grade = self._graded(self.evidence)

    @property
    def gap(self) -> float:
        """The relative gap between point and bound."""
        return relative_gap(self.grade.primal, self.grade.dual, self.grade.floor)

    @property
    def is_closed(self) -> bool:
        """Whether the gap is at most the tolerance, and not negative by more than rounding can explain."""
        grade = self.grade
        sound = grade.dual <= grade.primal + max(10 * grade.noise, 1e-12 * abs(grade.primal))
        return sound and self.gap <= self.tol

    def _graded(self, evidence: BlockEvidence) -> Grade:
        return self.statement.grade(self.best.point, replace(evidence, survey=self.best))

    def prove_zero(self, evidence: BlockEvidence) -> None:
        """Take 0 as the point of a homogeneous problem, if the evidence proves that nothing is better.

        There all scores, thresholds and charges are 0, so that no pass is needed.
        """
        zero = nothing_charged(self.statement.problem, self.statement.size.n_features)
        grade = self.statement.grade(zero.point, replace(evidence, survey=zero))
        if -grade.dual <= self.tol * grade.floor:
            self.best, self.grade, self.evidence, self.bound = zero, grade, evidence, grade.dual

    def leave_at_zero(self) -> None:
        """Where a homogeneous problem was found nothing better than 0, the point is 0, proven or not."""
        if self.statement.problem.homogeneous and self.primal > 0:
            self.best = nothing_charged(self.statement.problem, self.statement.size.n_features)
