"""The grade of weights: their value counted from the scores they predict, beside the bound that a search claims."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hullrank.exact.arrangement import TOLERANCE
from hullrank.exact.direction import predicted
from hullrank.exact.statement import Statement
from hullrank.problem.certificate import Status
from hullrank.problem.exact_certificate import ExactCertificate

Floats = NDArray[np.float64]

_READ = "; columns are read as decimals or evenly spaced levels to within the rounding of their numbers"


@dataclass(frozen=True)
class Claim:
    """What a search says about the optimum: F is at most ``bound``.

    ``stopped`` is why it ended, and what the status will be unless the value attains the bound; a method that cannot
    prove anything sets ``final`` to have it in any case. ``step`` is the smallest difference of two values, less a bit
    (0: values are not whole numbers, and count as equal to 1e-9 of ``top``, the largest conceivable one).
    """

    bound: float
    stopped: Status
    step: float
    top: float
    allowed_gap: float
    cells: int
    seconds: float
    solver: str
    statistic: str
    guarantee: str
    rigorous: bool = False
    remarks: tuple[str, ...] = ()
    final: bool = False


def grade(statement: Statement, w: Floats, claim: Claim) -> ExactCertificate:
    """The certificate of weights w: the value is what they predict, and proven only if it attains the bound."""
    value, total = predicted(statement, w), statement.total
    bound = float(np.floor(claim.bound + 0.01)) if claim.step else claim.bound
    slack = 0.0 if claim.step else 1e-9 * max(1.0, abs(claim.top))
    attained = statement.rule.allows(w) and float(value) >= bound - slack
    status = claim.stopped
    if attained and not claim.final:
        status = Status.PROVEN_OPTIMAL
    elif bound - float(value) <= claim.allowed_gap and not claim.final:
        status = Status.CONVERGED
    return ExactCertificate(
        value=float(value / total),
        upper_bound=float(value / total) if attained else float(Fraction(bound) / total),
        status=status,
        statistic=claim.statistic,
        cells=claim.cells,
        seconds=claim.seconds,
        solver=claim.solver,
        n_order_constraints=len(statement.above),
        tolerance=TOLERANCE,
        guarantee=claim.guarantee + (_READ if statement.grid.read else ""),
        rigorous=claim.rigorous,
        remarks=claim.remarks,
    )
