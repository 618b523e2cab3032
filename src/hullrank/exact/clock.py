"""The limits of an exact search, and what it has reached so far."""

import time
from dataclasses import dataclass, field

from hullrank._progress import tell_bounds


@dataclass
class Clock:
    """Time and cell limits, shared by everything that one fit runs; ``until`` ends a turn of one method earlier.

    ``base`` is what values and bounds hold beside the statistic (rewards for required signs), and ``total`` the largest
    conceivable statistic; the trace of (seconds, value, bound) leaves out the base and gives shares of the total.
    """

    seconds: float = float("inf")
    max_cells: float = float("inf")
    allowed_gap: float = 0.0
    verbose: int = 0
    cells: int = 0
    until: float = float("inf")
    base: float = 0.0
    total: float = 1.0
    trace: list[tuple[float, float, float]] = field(default_factory=list)
    begin: float = field(default_factory=time.perf_counter)

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self.begin

    @property
    def left(self) -> float:
        """Cells that may still be looked at."""
        return self.max_cells - self.cells

    @property
    def expired(self) -> bool:
        """Whether a limit is met."""
        return not self.allows(0.0)

    @property
    def remaining(self) -> float:
        """Seconds left of the turn."""
        return max(0.0, min(self.seconds, self.until) - self.elapsed)

    def allows(self, seconds: float) -> bool:
        """Whether something that takes so many seconds can still be begun."""
        return self.left > 0 and self.remaining > seconds

    @property
    def over(self) -> bool:
        """Whether the limit of the whole search is met, not only the turn."""
        return self.left <= 0 or self.elapsed >= self.seconds

    def record(self, value: float, bound: float) -> None:
        """Add to the trace if value or bound changed."""
        value, bound = float(value - self.base) / self.total, float(bound - self.base) / self.total
        if not self.trace or self.trace[-1][1:] != (value, bound):
            self.trace.append((self.elapsed, value, bound))
            tell_bounds(value, bound, min(self.elapsed / self.seconds, 1.0))
            if self.verbose:
                print(f"{self.elapsed:8.2f} s  {self.cells:>12,} cells  value {value:.10g}  bound {bound:.10g}")
