"""The certificate of an exact search: the recounted value, the upper bound, and what is rigorous about them."""

from dataclasses import dataclass

from hullrank.problem.certificate import Status


@dataclass(frozen=True)
class ExactCertificate:
    """Value of a maximised rank statistic and an upper bound on it.

    ``value`` is counted from the scores that the final weights predict, so ``score`` gives it again. The status is
    ``proven_optimal`` only if that value attains the bound. ``guarantee`` says how the bound was found, and
    ``rigorous`` whether every step of it was checked in integers; otherwise its cells are padded floating point, not
    split below the width ``tolerance``. ``remarks`` names what a solver claimed and the recount did not confirm.
    """

    value: float
    upper_bound: float
    status: Status
    statistic: str
    cells: int
    seconds: float
    solver: str
    n_order_constraints: int
    tolerance: float
    guarantee: str
    remarks: tuple[str, ...] = ()
    rigorous: bool = False

    @property
    def gap(self) -> float:
        """How far the value may be from the optimum; 0 when proven."""
        return self.upper_bound - self.value

    def __repr__(self) -> str:
        lines = [
            f"ExactCertificate: {self.status} ({self.solver}, {self.cells:,} cells, {self.seconds:.3g} s)",
            f"  {self.statistic:<12} {self.value:.10g} (recounted exactly)",
            f"  upper bound  {self.upper_bound:.10g}{' (checked in integers)' if self.rigorous else ''}",
            f"  gap          {self.gap:.3g}",
            f"  stands for   {self.n_order_constraints:,} pairs",
            f"  guarantee    {self.guarantee}",
        ]
        return "\n".join([*lines, *(f"  remark       {remark}" for remark in self.remarks)])
