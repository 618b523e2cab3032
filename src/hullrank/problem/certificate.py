"""The certificate: how good an answer is, proved by a feasible point of the dual problem."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Status(StrEnum):
    """How a solve ended."""

    CONVERGED = "converged"
    MAX_ITER = "max_iter"
    STALLED = "stalled"
    INTERRUPTED = "interrupted"


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
