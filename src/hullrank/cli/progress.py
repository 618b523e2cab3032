"""How far a fit is: the relative gap, on its way down to the tolerance, or value and bound of an exact search."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import log
from time import monotonic
from typing import Any

from hullrank._progress import listening, listening_to_bounds
from hullrank.cli import events
from hullrank.cli.console import err

_PAUSE = 0.04  # seconds between two gaps that are told, after the first ones; solvers have thousands
_FIRST = 50


@contextmanager
def watching(model: Any, advance: Callable[[float, str], None]) -> Iterator[None]:
    """While the model is fitted, hand the share of the way to its tolerance (an exact search: of its time) to
    ``advance``, or tell it as events."""
    if not (err.is_terminal or events.wanted()):
        yield
    elif hasattr(model, "tol"):
        with listening(Gaps(model.tol) if events.wanted() else DigitsDone(model.tol, advance)):
            yield
    else:
        with listening_to_bounds(lambda value, bound, share: advance(share, f"value {value:.4f}, bound {bound:.4f}")):
            yield


@contextmanager
def watching_passes(advance: Callable[[float, str], None]) -> Iterator[None]:
    """While a model is fitted to rows in blocks, show which pass over them this is and how far it got."""

    def hear(pass_number: int, done: int, blocks: int) -> None:
        advance(done / blocks, f"pass {pass_number}, block {done:,} of {blocks:,}")

    with listening(lambda gap: None, hear):
        yield


class DigitsDone:
    """From gaps to the share of their digits: log(first / gap) / log(first / tol), never falling."""

    def __init__(self, tol: float, advance: Callable[[float, str], None]) -> None:
        self.tol, self.advance = tol, advance
        self.largest, self.share = 0.0, 0.0

    def __call__(self, gap: float) -> None:
        """Hear one gap."""
        if not 0 < gap < float("inf"):
            return
        self.largest = max(self.largest, gap, 2 * self.tol)
        share = log(self.largest / gap) / log(self.largest / self.tol)
        self.share = max(self.share, min(share, 1.0))
        self.advance(self.share, f"gap {gap:.0e} of {self.tol:.0e}")


class Gaps:
    """Tells the gaps of a fit, not more often than anyone can see, but always the last of those below the tolerance."""

    def __init__(self, tol: float) -> None:
        self.tol, self.told, self.last = tol, 0, float("-inf")

    def __call__(self, gap: float) -> None:
        """Hear one gap."""
        now = monotonic()
        if 0 <= gap < float("inf") and (self.told < _FIRST or now - self.last > _PAUSE or gap <= self.tol):
            self.told, self.last = self.told + 1, now
            events.tell(gap=float(gap), tol=self.tol)
