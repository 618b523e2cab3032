"""The stated problem: what an estimator minimises on given data, as one frozen object that everything shares.

An estimator's ``state(X, y, ...)`` makes a statement, a solver answers it with a `Solution`, the estimator stores the
answer in its attributes, ``candidate(statement)`` reads them back as a `Point`, and the statement grades that point.
Certifying, warm starts, reports and tests go the same way.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from hullrank.problem.certificate import Certificate, Status, relative_gap

Floats = NDArray[np.float64]


class Size(NamedTuple):
    """What decides between solvers."""

    n_samples: int
    n_features: int
    n_classes: int


@dataclass(frozen=True)
class Point:
    """What a model predicts with: weights (or one kernel coefficient per sample) and the thresholds of the problem."""

    coef: Floats
    thresholds: Floats = field(default_factory=lambda: np.empty(0))


@dataclass(frozen=True)
class Solution:
    """The answer of a solver to a statement.

    ``evidence`` is what proves the answer (multipliers, in a form that the statement's ``grade`` understands),
    ``scores`` those of the samples if the solver knows them in float64, and ``start`` what a next solve may begin from.
    ``status`` is the solver's own word, which decides nothing (see ``certificate``); so are the relative ``gaps`` that
    it reported on its way.
    """

    point: Point
    evidence: Any
    status: Status
    iterations: int
    solver: str
    scores: Floats | None = None
    start: Any = None
    gaps: tuple[float, ...] = ()


@dataclass(frozen=True)
class Grade:
    """Objective of a point, a lower bound of the stated problem, and an estimate of what rounding may do to them.

    ``floor`` is what counts as zero beside them. Where functions are restricted to a span, ``span_dual`` is the lower
    bound among those functions and ``span`` says which they are.
    """

    primal: float
    dual: float
    noise: float = 0.0
    floor: float = 0.0
    residuals: Mapping[str, float] = field(default_factory=dict)
    span_dual: float | None = None
    span: str = ""

    @property
    def span_gap(self) -> float:
        """The relative gap among the functions of the span, or of the stated problem where there is none."""
        return relative_gap(self.primal, self.dual if self.span_dual is None else self.span_dual, self.floor)


class Statement(Protocol):
    """A stated problem."""

    @property
    def family(self) -> str:
        """The kind of problem, which solvers name too (see `hullrank.solvers.base.Solver`)."""

    @property
    def n_order_constraints(self) -> int:
        """How many pairs of samples the problem orders."""

    def grade(self, point: Point, evidence: Any, scores: Floats | None = None) -> Grade:
        """Objective of the point on the data as given, and the lower bound that the evidence proves.

        ``scores`` are those of the samples at the point where they are known in float64; they are spot-checked.
        """


_MOST_GAPS = 100  # most gaps on the way that a certificate keeps


def _thinned(gaps: tuple[float, ...]) -> tuple[float, ...]:
    """The gaps that are numbers; of very many, the last and others at equal distances."""
    known = [gap for gap in gaps if 0 <= gap < np.inf]
    step = -(-len(known) // _MOST_GAPS) or 1
    return tuple(known[::-step][::-1])


def certificate(statement: Statement, grade: Grade, solution: Solution, tol: float, seconds: float) -> Certificate:
    """The certificate of a graded point: its status follows from the gap and the tolerance, not from the solver."""
    primal, dual = grade.primal, grade.dual
    size = max(abs(primal), abs(dual), grade.floor)
    status, cause = solution.status, ""
    if not np.isfinite(primal):
        status = Status.FAILED if status is Status.CONVERGED else status
        cause, dual = "the point found so far does not satisfy the constraints", -np.inf
    elif dual > primal + max(10 * grade.noise, 1e-12 * size):
        status, cause, dual = Status.FAILED, "the lower bound lies above the objective", -np.inf
    dual = min(dual, 2 * primal - dual)  # a bound above the objective shows that rounding is at least so large
    closed = np.isfinite(dual) and primal - dual <= tol * max(abs(primal), abs(dual), grade.floor)
    if closed:
        status = Status.CONVERGED
    elif status is not Status.FAILED and grade.span_dual is not None and grade.span_gap <= tol:
        status, cause = Status.APPROXIMATED, f"{grade.span}, within which the relative gap is {grade.span_gap:.2g}"
    elif status is Status.CONVERGED or (
        status in (Status.STALLED, Status.MAX_ITER) and np.isfinite(primal) and grade.noise > tol * size
    ):
        status = Status.PRECISION
        cause = "rounding in the scores of the data as given is larger than the tolerance allows"
    return Certificate(
        primal=float(primal), dual=float(dual), status=status, iterations=solution.iterations, seconds=seconds,
        solver=solution.solver, n_order_constraints=statement.n_order_constraints, residuals=grade.residuals,
        floor=float(grade.floor), cause=cause, gaps=_thinned(solution.gaps),
        passes=getattr(statement, "passes", None),
    )  # fmt: skip
