"""How far a fit is: the relative gap, on its way down to the tolerance, from what the solvers report."""

import io
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from math import log
from typing import Any

from hullrank.cli.console import err

_OBJECTIVE = re.compile(r"objective (-?[\d.]+(?:e[-+]?\d+)?)")
_RELATIVE = re.compile(r"relative gap ([\d.]+(?:e[-+]?\d+)?)")
_ABSOLUTE = re.compile(r"(?:complementarity|gap) ([\d.]+(?:e[-+]?\d+)?)")


@contextmanager
def watching(model: Any, advance: Callable[[float, str], None]) -> Iterator[None]:
    """While the model is fitted, hand the share of the way to its tolerance to ``advance`` (on terminals only).

    The solvers report to stdout if ``verbose`` asks for it; what they say is read here instead of being printed.
    """
    if not err.is_terminal or getattr(model, "verbose", True) or not hasattr(model, "tol"):
        yield
        return
    model.verbose = 1
    try:
        with redirect_stdout(GapWatcher(model.tol, advance)):
            yield
    finally:
        model.verbose = 0


class GapWatcher(io.TextIOBase):
    """A text stream that reads gaps from reports; the share done is log(first / gap) / log(first / tol)."""

    def __init__(self, tol: float, advance: Callable[[float, str], None]) -> None:
        self.tol, self.advance = tol, advance
        self.largest, self.share = 0.0, 0.0

    def write(self, text: str) -> int:
        """Read one report."""
        gap = self._gap(text)
        if gap is not None and gap > 0:
            self.largest = max(self.largest, gap, 2 * self.tol)
            share = log(self.largest / gap) / log(self.largest / self.tol)
            self.share = max(self.share, min(share, 1.0))
            self.advance(self.share, f"gap {gap:.0e} of {self.tol:.0e}")
        return len(text)

    @staticmethod
    def _gap(text: str) -> float | None:
        relative, absolute, objective = (p.search(text) for p in (_RELATIVE, _ABSOLUTE, _OBJECTIVE))
        if relative:
            return float(relative[1])
        if absolute and objective and float(objective[1]):
            return float(absolute[1]) / abs(float(objective[1]))
        return None
