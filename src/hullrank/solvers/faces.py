"""Weights of required signs: problems without signs, on one face of the allowed weights after another.

A face leaves some of the columns with a sign out. Its problem has no signs, so that the solvers of its family take it,
and its optimum solves the signed problem if all weights have their signs and no column left out is pulled to its
allowed side. Otherwise columns of a wrong sign leave and columns that are pulled enter, all at once (block pivoting:
Portugal, Judice and Vicente 1994, Kim and Park 2011). Where that stops paying, columns enter one at a time and leave
where the way to the optimum of the face meets its border (Lawson and Hanson 1974): the objective falls from face to
face, so that none comes twice.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hullrank.problem.block_statement import BlockEvidence
from hullrank.problem.certificate import Status
from hullrank.problem.charges import Charge
from hullrank.problem.interval_statement import IntervalStatement
from hullrank.problem.intervals import Penalty
from hullrank.problem.pair_statement import Window
from hullrank.problem.statement import Point, Solution
from hullrank.solvers.base import Options, Solver, able, register
from hullrank.solvers.solve import solve

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
PATIENCE = 3  # faces in a row with no fewer columns on the wrong side, before columns move one at a time
SHARE = 0.5  # share of the tolerance for the solver of a face; the rest is for weights of a wrong sign made 0

PRICES = (1.0, 1e3, 1e6, 1e10)  # prices of the hinge that stands for a hard margin, in units of 1 / (rows' scale)^2
ABSURD = 1e6  # half the square of a separator's norm, in the same units, at which classes count as inseparable


@dataclass(frozen=True)
class Face:
    """The solution on a face: its weights as they are, and the allowed point next to it with its relative gap."""

    free: Mask
    solution: Solution
    allowed: Point
    gap: float
    wrong: Mask
    wanted: Mask


class FaceSearch:
    """Goes from face to face; ``best`` is the one of the smallest gap."""

    def __init__(self, statement: Any, options: Options) -> None:
        self.statement, self.signs, self.options = statement, statement.signs, options
        self.iterations = 0
        self.best: Face | None = None

    def visit(self, free: Mask, start: Point | None) -> Face:
        """Solve on a face and look beyond it."""
        columns = np.flatnonzero(free)
        start = None if start is None else replace(start, coef=start.coef[columns] if len(columns) else np.zeros(1))
        face = self.statement.on_columns(columns)
        solution = solve(face, replace(self.options, tol=SHARE * self.options.tol), start)
        self.iterations += solution.iterations
        if isinstance(solution.evidence, BlockEvidence):
            solution = replace(solution, evidence=face.by_row(solution.evidence))
        solution = _lifted(solution, columns, len(free))
        w = solution.point.coef
        allowed = replace(solution.point, coef=self.signs.nearest(w))
        pull = self.signs.values * self.statement.pull(solution.point, solution.evidence)
        push = 1.0 if getattr(self.statement.problem, "l1", False) else 0.0  # what the penalty holds against a pull
        gap = self.statement.grade(allowed, solution.evidence).span_gap
        visited = Face(free, solution, allowed, gap, self.signs.values * w < 0, ~free & (pull > push))
        if self.best is None or not gap >= self.best.gap:
            self.best = visited
        return visited

    def ended(self, face: Face) -> bool:
        """Whether the face solves the problem, or its solver was stopped."""
        return face.gap <= self.options.tol or face.solution.status in (Status.INTERRUPTED, Status.NOT_SEPARABLE)

    def by_blocks(self, free: Mask, start: Point | None) -> bool:
        """Move all columns on the wrong side at once; False where their number stops falling."""
        fewest, patience = len(free) + 1, PATIENCE
        while True:
            face = self.visit(free, start)
            if self.ended(face):
                return True
            moved = face.wrong | face.wanted
            patience = PATIENCE if moved.sum() < fewest else patience - 1
            fewest = min(fewest, int(moved.sum()))
            if patience == 0 or not moved.any():
                return False
            free, start = face.free ^ moved, face.allowed

    def one_by_one(self) -> None:
        """Let the objective fall from face to face, from the best allowed point."""
        assert self.best is not None
        point = self.best.allowed
        free = (self.signs.values == 0) | (point.coef != 0)
        for _ in range(3 * len(free)):
            face = self.visit(free, point)
            if self.ended(face):
                return
            if face.wrong.any():
                point = _up_to_border(point, face)
                free = free & ~(face.wrong & (point.coef == 0))
            elif face.wanted.any():
                point, free = face.allowed, free.copy()
                pull = self.signs.values * self.statement.pull(point, face.solution.evidence)
                free[np.argmax(np.where(face.wanted, pull, -np.inf))] = True
            else:
                return

    def result(self) -> Solution:
        """The allowed point of the best face."""
        assert self.best is not None
        solution = self.best.solution
        return replace(
            solution, point=self.best.allowed, scores=None, start=None, iterations=self.iterations,
            solver=f"{solution.solver}, face by face",
        )  # fmt: skip


def solve_on_faces(statement: Any, options: Options, *, start: Any = None) -> Solution:
    """Solve a statement whose weights have required signs."""
    able(statement)
    if statement.problem.charge is Charge.HARD:
        return _with_hard_margin(statement, options)
    search = _searched(statement, options, start if isinstance(start, Point) else None)
    return search.result()


def _searched(statement: Any, options: Options, start: Point | None = None) -> FaceSearch:
    """The search, ended at an optimum or where nothing is left to try."""
    search, signs = FaceSearch(statement, options), statement.signs
    free = np.ones(len(signs.values), dtype=bool)
    if start is not None:
        start = replace(start, coef=signs.nearest(start.coef))
        free = (signs.values == 0) | (start.coef != 0)
    if not search.by_blocks(free, start):
        search.one_by_one()
    return search


def _with_hard_margin(statement: IntervalStatement, options: Options) -> Solution:
    """Few faces separate the classes, so a hinge finds the face, at a price that rises until its optimum pays nothing.

    A huge price proves that any separator of allowed signs would have an absurd norm.
    """
    search, signs = FaceSearch(statement, options), statement.signs
    assert signs is not None
    if search.ended(search.visit(np.ones(len(signs.values), dtype=bool), None)):
        return search.result()
    start, unit = None, statement.view.scale**-2
    for price in PRICES:
        problem = replace(statement.problem, charge=Charge.HINGE, cost=price * unit)
        soft = _searched(replace(statement, problem=problem), options, start).result()
        start = soft.point
        face = search.visit((signs.values == 0) | (start.coef != 0), None)
        if face.gap <= options.tol or Status.INTERRUPTED in (soft.status, face.solution.status):
            return search.result()
    proven = replace(statement, problem=problem).grade(soft.point, soft.evidence).dual / unit
    return replace(soft, status=Status.NOT_SEPARABLE) if proven > ABSURD else search.result()


def _up_to_border(point: Point, face: Face) -> Point:
    """The last point with allowed weights on the way from an allowed point to the solution of the face."""
    here, there = point.coef, face.solution.point.coef
    steps = np.divide(here, here - there, out=np.full(len(here), np.inf), where=face.wrong)
    step = float(steps.min())
    coef = np.where(steps == step, 0.0, here + step * (there - here))
    return Point(coef, point.thresholds + step * (face.solution.point.thresholds - point.thresholds))


def _lifted(solution: Solution, columns: NDArray[np.intp], n: int) -> Solution:
    """The solution on a face in all columns."""

    def lift(coef: Floats) -> Floats:
        out = np.zeros(n)
        out[columns] = coef[: len(columns)]
        return out

    coef, evidence = lift(solution.point.coef), solution.evidence
    if isinstance(evidence, Window):
        evidence = replace(evidence, coef=coef if evidence.coef is None else lift(evidence.coef))
    return replace(solution, point=replace(solution.point, coef=coef), evidence=evidence)


register(
    Solver(
        "intervals face by face", "signed intervals", solve_on_faces,
        charges=(Charge.HINGE, Charge.SQUARED_HINGE, Charge.LOGISTIC, Charge.HARD), penalties=tuple(Penalty),
    ),
    Solver(
        "pairs face by face", "signed pairs", solve_on_faces,
        charges=(Charge.HINGE, Charge.SQUARED_HINGE, Charge.LOGISTIC),
    ),
)  # fmt: skip
