"""What long work tells of itself: printed where ``verbose`` asks for it, and heard by whoever listens."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[float], None]
BoundsListener = Callable[[float, float, float], None]
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)
_bounds_listener: ContextVar[BoundsListener | None] = ContextVar("bounds_listener", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """While this lasts, hand the relative gap of every report to ``listener``."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def listening_to_bounds(listener: BoundsListener) -> Iterator[None]:
    """While this lasts, hand value and bound of an exact search, and the share of its time, to ``listener``."""
    token = _bounds_listener.set(listener)
    try:
        yield
    finally:
        _bounds_listener.reset(token)


def tell(relative_gap: float, text: Callable[[], str], verbose: int) -> None:
    """Report how far a solver is."""
    if verbose:
        print(text())
    listener = _listener.get()
    if listener is not None:
        listener(relative_gap)


def tell_bounds(value: float, bound: float, share: float) -> None:
    """Report the best value and the bound of an exact search, and the share of its time limit that is used up."""
    listener = _bounds_listener.get()
    if listener is not None:
        listener(value, bound, share)
