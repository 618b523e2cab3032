"""The certificate: how good an answer is, proved by a feasible point of the dual problem."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import lapack
from scipy.sparse.linalg import splu

from hullrank.problem.charges import Charge
from hullrank.problem.intervals import IntervalProblem, Penalty
from hullrank.problem.layout import RowLayout

if TYPE_CHECKING:
    from hullrank.problem.settled_dual import SettledDual

Floats = NDArray[np.float64]
EPSILON = float(np.finfo(np.float64).eps)


class Status(StrEnum):
    """How a fit ended: ``converged`` exactly where the graded gap is at most the tolerance.

    ``precision``: the solver came to its end, but the last digits of the data do not allow the tolerance.
    ``approximated``: what is left of the gap is what restricting the functions to the span of some samples may cost.
    ``failed``: the two sides of the certificate contradict each other, so that the lower bound is not shown.
    """

    CONVERGED = "converged"
    MAX_ITER = "max_iter"
    STALLED = "stalled"
    PRECISION = "precision"
    APPROXIMATED = "approximated"
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    NOT_SEPARABLE = "not_separable"
    PROVEN_OPTIMAL = "proven_optimal"
    TIME_LIMIT = "time_limit"
    MAX_CELLS = "max_cells"


@dataclass(frozen=True)
class Certificate:
    """Objective, lower bound, and the gap between them.

    ``relative_gap`` = (primal - dual) / max(|primal|, |dual|, floor); ``floor`` is what counts as zero where both
    vanish, and ``cause`` says why the gap was not closed. ``gaps`` are relative gaps that the solver reported on its
    way, at most 100 of them; they are its own word, and prove nothing. ``passes`` counts how often all blocks of rows
    were gone through, where rows were not in memory as a whole.
    """

    primal: float
    dual: float
    status: Status
    iterations: int
    seconds: float
    solver: str
    n_order_constraints: int
    residuals: Mapping[str, float] = field(default_factory=dict)
    floor: float = 0.0
    cause: str = ""
    gaps: tuple[float, ...] = ()
    passes: int | None = None

    @property
    def gap(self) -> float:
        """Upper bound on how far the objective is from the optimum."""
        return self.primal - self.dual

    @property
    def relative_gap(self) -> float:
        """The gap as a share of the objective."""
        return relative_gap(self.primal, self.dual, self.floor)

    def in_words(self) -> str:
        """What is proven, in one sentence."""
        gap = self.relative_gap
        if not gap < 1:
            return "Nothing is proven about how good this model is."
        part = f"one part in {_two_digits(1 / gap):,}" if 1e-15 <= gap < 1e-3 else f"{gap:.1%}"
        within = "rounding" if gap < 1e-15 else part
        return f"Proven: no other model of its kind has a training objective lower by more than {within}."

    def __repr__(self) -> str:
        lines = [
            f"Certificate: {self.status} ({self.solver}, {self.iterations} iterations, {self.seconds:.3g} s)",
            f"  objective    {self.primal:.10g}",
            f"  lower bound  {self.dual:.10g}",
            f"  gap          {self.gap:.3g} (relative {self.relative_gap:.2g})",
            f"  stands for   {self.n_order_constraints:,} order constraints",
        ]
        if self.residuals:
            lines.append("  residuals    " + ", ".join(f"{name} {value:.1g}" for name, value in self.residuals.items()))
        if self.cause:
            lines.append(f"  cause        {self.cause}")
        if self.passes is not None:
            lines.append(f"  passes       {self.passes} over all rows")
        return "\n".join(lines)


def _two_digits(value: float) -> int:
    """A number from 10 on, rounded down so that nothing more is claimed; further digits differ from run to run."""
    unit = 10 ** (int(np.log10(value)) - 1)
    return int(value * (1 + 1e-9)) // unit * unit


def relative_gap(primal: float, dual: float, floor: float = 0.0) -> float:
    """(P - D) / max(|P|, |D|, floor); infinite when either is not finite, 0 when all are 0."""
    if not (abs(primal) < float("inf") and abs(dual) < float("inf")):
        return float("inf")
    scale = max(abs(primal), abs(dual), floor)
    return (primal - dual) / scale if scale > 0 else 0.0


@dataclass(frozen=True)
class CertifiedPoint:
    """Both objectives of an interval problem at a repaired point.

    ``coef`` holds sum of sign * alpha per (class-sorted) sample, so that w = X'coef at the optimum; ``noise`` estimates
    what rounding may do to the two objectives (the dual one has already been lowered by it); ``violation`` is the
    largest slack of a hard margin (0 otherwise), and ``scale`` what weights and thresholds must be multiplied by
    for the primal objective to hold: more than 1 for a hard margin, 0 where a homogeneous problem has nothing better
    than 0.
    """

    primal: float
    dual: float
    floor: float
    noise: float
    thresholds: Floats
    multipliers: Floats
    order_multipliers: Floats
    coef: Floats
    violation: float
    scale: float
    residuals: Mapping[str, float]

    @property
    def relative_gap(self) -> float:
        """The gap as a share of the objective; infinite where the bound lies above it beyond rounding."""
        gap = relative_gap(self.primal, self.dual, self.floor)
        return gap if gap >= -1e-6 or self.dual - self.primal <= 10 * self.noise else float("inf")


def total_charge(problem: IntervalProblem, layout: RowLayout, theta: Floats, scores: Floats) -> float:
    """Sum of cost * charge(violation) over the slacks; for a hard margin the largest violation."""
    return charge_and_rise(problem, layout, theta, scores, 0.0)[0]


def violations(problem: IntervalProblem, layout: RowLayout, theta: Floats, scores: Floats) -> Floats:
    """For each row by how much it is violated; negative where it is kept."""
    return layout.spread(problem.offsets(theta)) - layout.spread(problem.sign) * scores[layout.row_sample]


def paying_violations(problem: IntervalProblem, layout: RowLayout, theta: Floats, scores: Floats) -> Floats:
    """``violations``, but -inf for the row that is violated less of two that share a slack: it has no multiplier."""
    violation = violations(problem, layout, theta, scores)
    if not layout.shares_slacks:
        return violation
    return np.where(violation == layout.most_by_slack(violation)[layout.row_slack], violation, -np.inf)


def charge_and_rise(
    problem: IntervalProblem, layout: RowLayout, theta: Floats, scores: Floats, digits: float
) -> tuple[float, float]:
    """``total_charge``, and how much more it is if every violation is larger by ``digits``."""
    violation = layout.most_by_slack(violations(problem, layout, theta, scores))
    if problem.charge is Charge.HARD:
        return max(float(violation.max(initial=0.0)), 0.0), 0.0
    charge = problem.charge
    total = float(layout.cost @ charge.value(violation))
    if digits == 0.0:
        return total, 0.0
    if charge.smooth and np.isfinite(charge.largest):  # the slope of the charge is nowhere larger
        return total, digits * charge.largest * float(layout.cost.sum())
    return total, float(layout.cost @ charge.value(violation + digits)) - total


def certify_intervals(
    problem: IntervalProblem,
    layout: RowLayout,
    scores: Floats,
    penalty: float,
    dual_penalty: Callable[..., float],
    thresholds: Floats,
    multipliers: Floats,
    order_multipliers: Floats,
    unit: float = 1.0,
    lost: float | None = None,
    settled: "SettledDual | None" = None,
    centred: bool = True,
) -> CertifiedPoint:
    """Grade a candidate of an interval problem; X enters through the scores and two penalties only.

    ``penalty`` is that of the weights, ``dual_penalty(coef)`` that of X'coef (see ``Penalty``; with ``settled`` rows
    it is given their part of X'coef too). ``multipliers`` are divided by the row's cost.

    They are first repaired to satisfy the flow on the thresholds: group factors tau with
    linear + N'((F, t) + (W, t) tau) = 0, least in the metric of the room W, which is (N' diag(W, t) N) lam = residual,
    tau = -N lam. What the repair leaves lowers the dual by at most its size times the reach of the thresholds and,
    unless the rows behind X'coef are ``centred``, its sum times their distance from 0. Thresholds are repaired to
    satisfy the order constraints.

    ``lost`` is the total charge, if it is known; ``unit`` is rms|x|, by which the rounding of X'coef is estimated;
    where the optimum is 0 the gap is measured against 1/2 1e-12 (sum alpha * unit)^2. Rows beyond those of the layout
    are known by the sums ``settled`` alone.
    """
    from hullrank.problem._loops import move_multipliers

    theta = problem.raise_thresholds(thresholds)
    lost = total_charge(problem, layout, theta, scores) if lost is None else lost
    hard = problem.charge is Charge.HARD
    scale, violation = 1.0, lost if hard else 0.0
    if hard:
        scale = 1 / (1 - 2 * lost) if lost < 0.5 else float("inf")
        primal = penalty * (scale if problem.l1 else scale * scale)
    else:
        primal = penalty + float(problem.linear @ theta) + lost
    a, t = multipliers.copy(), order_multipliers.copy()
    coef = np.empty(layout.n_samples)
    totals, room = per_group = np.empty((2, problem.n_groups))
    tau, shift = np.zeros(problem.n_groups), np.zeros(problem.n_groups)
    drive = float(np.abs(problem.linear).max(initial=0.0))
    for turn in range(4):
        move_multipliers(layout.table, problem.sign, problem.charge.largest, layout.cost, a, tau, coef, per_group)
        if settled is not None:
            shift += tau
            totals += settled.total(shift)
            room += settled.room
        residual = problem.linear + problem.incidence.T @ np.concatenate([totals, t])
        off = float(np.abs(residual).max(initial=0.0))
        size = max(totals.max(initial=0.0), drive)
        if turn == 3 or not off > 1e-14 * size:
            break
        move = np.maximum(np.minimum(least_repair(problem, np.concatenate([room, t]), residual), 1.0), -1.0)
        tau, t = move[: problem.n_groups], t * (1 + move[problem.n_groups :])
    conjugate = float(layout.cost @ problem.charge.conjugate(layout.by_slack(a)))
    if settled is not None:
        conjugate += settled.moved_conjugate(shift)
    dual_size = dual_penalty(coef) if settled is None else dual_penalty(coef, settled.moved_pull(problem, shift))
    gain = float(problem.offset @ totals + problem.gap @ t)
    shrink = 1 / max(1.0, dual_size) if problem.l1 else 1.0
    loss = conjugate if problem.l1 else conjugate + dual_size
    floor = 0.0
    if problem.homogeneous:
        pull = float(totals.sum()) * unit
        floor = 1e-6 * pull if problem.penalty is Penalty.BALL else 0.5e-12 * pull**2
        digits = 8 * EPSILON * (lost + float(np.abs(problem.linear) @ np.abs(theta)))
        if not primal < -max(1e-3 * floor, digits):  # no better than w = 0 with all thresholds at 0
            primal, scale = 0.0, 0.0
    slope = 2 * abs(penalty) if problem.l1 else 1.0
    if problem.penalty is Penalty.L2:
        slope = max(2 * dual_size, 0.0) ** 0.5
    rounding = abs(gain) + abs(conjugate) + abs(dual_size) * (not problem.l1)
    rounding += slope * unit * float(totals.sum()) / 8  # the rounding of X'coef, times the slope of the dual in it
    reach, far = _reach(problem, theta, scores) if scale > 0 else (0.0, 0.0)
    unbalanced = reach * float(np.abs(residual).sum())
    if not centred:
        unbalanced += far * abs(float(residual[: problem.n_thresholds].sum()))
    dual = shrink * (gain - unbalanced) - shrink**2 * loss - EPSILON * rounding
    if not (np.isfinite(dual) and off <= 1e-9 * size):
        dual = -float("inf")
    if problem.homogeneous and not dual < 0.5 * primal:  # a primal below the bound is rounding: take w = 0
        primal, scale = 0.0, 0.0
    noise = unbalanced + EPSILON * rounding
    noise += EPSILON * (abs(penalty) + lost * (not hard) + float(np.abs(problem.linear) @ np.abs(theta)))
    residuals = {"flow": off / size if size else 0.0, "violation": violation}
    return CertifiedPoint(
        float(primal), float(dual), floor, float(noise), theta, a, t, coef, violation, scale, residuals
    )


def _reach(problem: IntervalProblem, theta: Floats, scores: Floats) -> tuple[float, float]:
    """How far from their middle, and from 0, the thresholds of an optimum may lie: about as scores and they do here."""
    inner = theta[: problem.n_thresholds]
    ends = [scores.min(initial=np.inf), scores.max(initial=-np.inf), inner.min(), inner.max()]
    rho = abs(theta[-1]) if problem.has_rho else 0.0
    reach = float(max(ends) - min(ends) + rho + problem.gap.max(initial=0.0))
    return reach, reach + float(max(np.abs(inner)))


def least_repair(problem: IntervalProblem, room: Floats, residual: Floats) -> Floats:
    """tau = -N lam with (N' diag(room) N) lam = residual; zeros where the system is singular."""
    N = problem.incidence
    M = (N.T * room) @ N
    if sp.issparse(M):
        try:
            lam = splu((M + sp.diags_array(1e-15 * M.diagonal() + 1e-300)).tocsc()).solve(residual)
        except RuntimeError:
            return np.zeros(len(room))
    else:
        M.flat[:: len(M) + 1] += 1e-15 * M.diagonal() + 1e-300
        _, lam, singular = lapack.dposv(M, residual)
        if singular:
            return np.zeros(len(room))
    tau = -(N @ lam)
    return tau if np.isfinite(tau).all() else np.zeros(len(room))
