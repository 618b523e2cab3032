"""How far a fit is: the relative gap, on its way down to the tolerance, or value and bound of an exact search."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import log
from typing import Any

from hullrank._progress import listening, listening_to_bounds
from hullrank.cli import events
from hullrank.cli.console import err


@contextmanager
def watching(model: Any, advance: Callable[[float, str], None]) -> Iterator[None]:
    """While the model is fitted, hand the share of the way to its tolerance (an exact search: of its time) to
    ``advance``, or tell it as events."""
    if not (err.is_terminal or events.wanted()):
        yield
    elif hasattr(model, "tol"):
        with listening(events.Gaps(model.tol) if events.wanted() else DigitsDone(model.tol, advance)):
            yield
    else:
        with listening_to_bounds(lambda value, bound, share: advance(share, f"value {value:.4f}, bound {bound:.4f}")):
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
