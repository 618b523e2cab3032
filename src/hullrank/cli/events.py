"""What the command tells while it works, for programs that run it: with HULLRANK_EVENTS=1, JSON objects on stderr.

Every line is one object. ``{"note": …}``, ``{"warning": …}`` and ``{"error": …}`` are sentences; ``{"working": …}``
names what begins, ``{"share": …, "remark": …}`` says how far that is, and ``{"gap": …, "tol": …}`` is the relative gap
of a fit on its way down to the tolerance.
"""

import json
import os
import sys
from time import monotonic
from typing import Any

VARIABLE = "HULLRANK_EVENTS"
_PAUSE = 0.04  # seconds between two gaps that are told, after the first ones; solvers have thousands
_FIRST = 50


def wanted() -> bool:
    """Whether events take the place of sentences and bars on stderr."""
    return os.environ.get(VARIABLE) == "1"


def tell(**event: Any) -> None:
    """One event."""
    sys.stderr.write(json.dumps(event, ensure_ascii=True) + "\n")
    sys.stderr.flush()


class Gaps:
    """Tells the gaps of a fit, not more often than anyone can see, but always the last of those below the tolerance."""

    def __init__(self, tol: float) -> None:
        self.tol, self.told, self.last = tol, 0, float("-inf")

    def __call__(self, gap: float) -> None:
        """Hear one gap."""
        now = monotonic()
        if 0 <= gap < float("inf") and (self.told < _FIRST or now - self.last > _PAUSE or gap <= self.tol):
            self.told, self.last = self.told + 1, now
            tell(gap=float(gap), tol=self.tol)
