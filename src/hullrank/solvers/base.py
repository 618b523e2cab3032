"""What a solver says of itself, and the registry that estimators and tests walk."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hullrank.exceptions import HullrankError
from hullrank.problem.charges import Charge
from hullrank.problem.intervals import Penalty


@dataclass(frozen=True)
class Options:
    """How far and how long a solver works.

    ``tol`` is the relative gap to reach, ``max_iter`` the most iterations, ``verbose`` whether to report them, and
    ``cache_size`` the megabytes of kernel rows that may be kept. ``watch`` is told, step by step, the centre and the
    radius of a ball that holds the solution; what it raises ends the solve. Only solvers over pairs ask for it.
    """

    tol: float = 1e-6
    max_iter: int = 200
    verbose: int = 0
    cache_size: float = 500.0
    watch: Callable[[NDArray[np.float64], float], None] | None = None


@dataclass(frozen=True)
class Solver:
    """A named way to solve the problems of a family, with what it accepts as data.

    ``family`` is the kind of problem: "intervals" (class-based, linear), "kernel intervals", "pairs", "relaxation" or
    "exact"; the last two have no ``charges`` to choose from. ``shared_slacks`` tells whether two rows may share a
    slack, ``sparse`` whether the solver is for sparse rows with many columns. ``limits`` adds what sizes it is meant
    for: None, or the reason against.
    """

    name: str
    family: str
    solve: Callable[..., Any]
    charges: tuple[Charge, ...] = ()
    penalties: tuple[Penalty, ...] = (Penalty.L2,)
    shared_slacks: bool = True
    sparse: bool = False
    limits: Callable[[Any], str | None] = lambda statement: None

    def refuses(self, statement: Any) -> str | None:
        """None, or the reason why this solver does not take the statement."""
        if statement.family != self.family:
            return f"{self.name} solves problems of the family {self.family}, not {statement.family}"
        if not self.charges:
            return self.limits(statement)
        problem = statement.problem
        if problem.charge not in self.charges:
            return f"{self.name} takes the charges {_listed(c.name for c in self.charges)}, not {problem.charge.name}"
        if problem.penalty not in self.penalties:
            return f"{self.name} takes the penalties {_listed(self.penalties)}, not {problem.penalty}"
        if problem.shares_slacks and not self.shared_slacks:
            return f"{self.name} cannot tell apart two rows that share a slack"
        return self.limits(statement)


REGISTRY: dict[str, Solver] = {}


def register(*solvers: Solver) -> None:
    """Add solvers, each under its name; those of a family are tried in the order in which they were registered."""
    for solver in solvers:
        REGISTRY[solver.name] = solver


def of_family(family: str) -> list[Solver]:
    """The registered solvers of a family, in the order in which they are tried."""
    return [solver for solver in REGISTRY.values() if solver.family == family]


def able(statement: Any) -> list[Solver]:
    """The solvers of its family that take the statement; an error with their reasons where there is none."""
    solvers = of_family(statement.family)
    reasons = [solver.refuses(statement) for solver in solvers]
    taking = [solver for solver, reason in zip(solvers, reasons, strict=True) if reason is None]
    if not taking:
        raise HullrankError("no solver takes this problem: " + "; ".join(str(reason) for reason in reasons))
    return taking


def _listed(names: Any) -> str:
    return ", ".join(str(name) for name in names)
