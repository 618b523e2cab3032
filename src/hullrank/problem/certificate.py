"""The certificate: how good an answer is, proved by a feasible point of the dual problem."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import splu

from hullrank.problem.intervals import Charge, IntervalProblem
from hullrank.problem.layout import RowLayout
from hullrank.problem.pairs import PairCharge, PairProblem

Floats = NDArray[np.float64]


class Status(StrEnum):
    """How a solve ended."""

    CONVERGED = "converged"
    MAX_ITER = "max_iter"
    STALLED = "stalled"
    INTERRUPTED = "interrupted"
    NOT_SEPARABLE = "not_separable"
    PROVEN_OPTIMAL = "proven_optimal"
    TIME_LIMIT = "time_limit"
    MAX_CELLS = "max_cells"


@dataclass(frozen=True)
class Certificate:
    """Objective, lower bound, and the gap between them.

    ``relative_gap`` = (primal - dual) / max(|primal|, |dual|, floor); ``floor`` is what counts as zero where both
    vanish. ``scope`` says which problem the bound is for, where that is not the one stated.
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
    scope: str = "the stated problem"

    @property
    def gap(self) -> float:
        """Upper bound on how far the objective is from the optimum."""
        return self.primal - self.dual

    @property
    def relative_gap(self) -> float:
        """The gap as a share of the objective."""
        return relative_gap(self.primal, self.dual, self.floor)

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
        if self.scope != "the stated problem":
            lines.append(f"  scope        {self.scope}")
        return "\n".join(lines)


def relative_gap(primal: float, dual: float, floor: float = 0.0) -> float:
    """(P - D) / max(|P|, |D|, floor); infinite when either is not finite, 0 when all are 0."""
    if not (abs(primal) < float("inf") and abs(dual) < float("inf")):
        return float("inf")
    scale = max(abs(primal), abs(dual), floor)
    return (primal - dual) / scale if scale > 0 else 0.0


@dataclass(frozen=True)
class CertifiedPoint:
    """Both objectives of an interval problem at a repaired point.

    ``coef`` holds sum of sign * alpha per (class-sorted) sample, so that w = X'coef at the optimum; ``scale`` is what
    the weights and thresholds of a hard margin must be multiplied by to be feasible (1 otherwise).
    """

    primal: float
    dual: float
    floor: float
    thresholds: Floats
    multipliers: Floats
    order_multipliers: Floats
    coef: Floats
    scale: float
    residuals: Mapping[str, float]

    @property
    def relative_gap(self) -> float:
        """The gap as a share of the objective."""
        return relative_gap(self.primal, self.dual, self.floor)


def total_charge(problem: IntervalProblem, layout: RowLayout, theta: Floats, scores: Floats) -> float:
    """Sum of cost * charge(violation) over the slacks; for a hard margin the largest violation."""
    sign = layout.spread(problem.sign)
    violation = layout.spread(problem.offsets(theta)) - sign * scores[layout.row_sample]
    slack = np.maximum(violation, 0.0)
    if layout.shares_slacks:
        slack = np.zeros(layout.n_slacks)
        np.maximum.at(slack, layout.row_slack, violation)
    if problem.charge is Charge.HARD:
        return float(slack.max(initial=0.0))
    return float(layout.cost @ (slack if problem.charge is Charge.HINGE else slack * slack))


def certify_intervals(
    problem: IntervalProblem,
    layout: RowLayout,
    scores: Floats,
    penalty: float,
    dual_penalty: Callable[[Floats], float],
    thresholds: Floats,
    multipliers: Floats,
    order_multipliers: Floats,
    unit: float = 1.0,
) -> CertifiedPoint:
    """Grade a candidate of an interval problem; X enters through the scores and two penalties only.

    ``penalty`` is that of the weights (1/2 |w|^2, or |w|_1), ``dual_penalty(coef)`` that of X'coef (1/2 |X'coef|^2, or
    |X'coef|_inf). ``multipliers`` are divided by the row's cost. They are first repaired to satisfy the flow on the
    thresholds: group factors tau with linear + N'((F, t) + (W, t) tau) = 0, least in the metric of the room W, which
    is (N' diag(W, t) N) lam = residual, tau = -N lam. Thresholds are repaired to satisfy the order constraints.
    ``unit`` is rms|x|: where the optimum is 0 the gap is measured against 1/2 1e-12 (sum alpha * unit)^2.
    """
    from hullrank.problem._loops import move_multipliers

    theta = problem.raise_thresholds(thresholds)
    lost = total_charge(problem, layout, theta, scores)
    scale = 1.0
    if problem.charge is Charge.HARD:
        scale = 1 / (1 - 2 * lost) if lost < 0.5 else float("inf")
        primal = penalty * (scale if problem.l1 else scale * scale)
    else:
        primal = penalty + float(problem.linear @ theta) + lost
    a, t = multipliers.copy(), order_multipliers.copy()
    coef = np.empty(layout.n_samples)
    totals, room = per_group = np.empty((2, problem.n_groups))
    tau = np.zeros(problem.n_groups)
    for turn in range(4):
        conjugate = move_multipliers(
            layout.table, problem.sign, int(problem.charge), layout.cost, a, tau, coef, per_group
        )
        residual = problem.linear + problem.flow(totals) - problem.order_adjoint(t)
        size = max(totals.max(initial=0.0), np.abs(problem.linear).max(initial=0.0))
        off = float(np.abs(residual).max(initial=0.0))
        if turn == 3 or off <= 1e-14 * size:
            break
        move = np.clip(_least_repair(problem, np.concatenate([room, t]), residual), -1, 1)
        tau, t = move[: problem.n_groups], t * (1 + move[problem.n_groups :])
    dual_size = dual_penalty(coef)
    gain = float(problem.offset @ totals + problem.gap @ t)
    shrink = 1 / max(1.0, dual_size) if problem.l1 else 1.0
    loss = conjugate if problem.l1 else conjugate + dual_size
    dual = shrink * gain - shrink**2 * loss if off <= 1e-9 * size else -float("inf")
    floor = 1e-12 * float(layout.cost.sum())
    if problem.homogeneous:  # w = 0 has objective 0; what rounding puts below the bound is no better
        floor = 0.5e-12 * (float(totals.sum()) * unit) ** 2
        primal = primal if primal < -1e-3 * floor and dual < 0.5 * primal else 0.0
    residuals = {
        "flow": off / size if size else 0.0,
        "violation": float(lost) if problem.charge is Charge.HARD else 0.0,
    }
    return CertifiedPoint(float(primal), float(dual), floor, theta, a, t, coef, float(scale), residuals)


def _least_repair(problem: IntervalProblem, room: Floats, residual: Floats) -> Floats:
    """tau = -N lam with (N' diag(room) N) lam = residual; zeros where the system is singular."""
    N = problem.incidence
    M = (N.T * room) @ N
    ridge = 1e-15 * M.diagonal() + 1e-300
    try:
        if sp.issparse(M):
            lam = splu((M + sp.diags_array(ridge)).tocsc()).solve(residual)
        else:
            lam = np.linalg.solve(M + np.diag(ridge), residual)
    except (np.linalg.LinAlgError, RuntimeError):
        return np.zeros(len(room))
    tau = -(N @ lam)
    return tau if np.isfinite(tau).all() else np.zeros(len(room))


def pair_bounds(problem: PairProblem, w: Floats, charge: PairCharge) -> tuple[float, float]:
    """Objective of a pair problem at w, and a lower bound from the multipliers that ``charge`` gives to the pairs.

    They are feasible by construction, and with u = sum alpha_ij (x_i - x_j) = -X'coef the duality gap is
    1/2 |w - u|^2 plus the complementarity of the pairs: a sum without cancellation, rounding errors of u included.
    """
    apart = float(np.linalg.norm(w + problem.X.T @ charge.coef)) + charge.noise
    primal = 0.5 * float(w @ w) + problem.exact_charge(charge)
    return primal, primal - 0.5 * apart**2 - charge.complementarity


def kernel_remainder(multipliers: Floats, residual: Floats) -> float:
    """How much lower the dual objective may lie for a kernel matrix K than for its factor L L'.

    With E = K - L L' >= 0 that is 1/2 v'Ev <= 1/2 (sum |v_i| sqrt(E_ii))^2, where w(alpha) = L'v.
    """
    return 0.5 * float(np.abs(multipliers) @ np.sqrt(residual)) ** 2
