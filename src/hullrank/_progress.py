"""What long work tells of itself: printed where ``verbose`` asks for it, and heard by whoever listens."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[float], None]
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """While this lasts, hand the relative gap of every report to ``listener``."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def tell(relative_gap: float, text: Callable[[], str], verbose: int) -> None:
    """Report how far a solver is."""
    if verbose:
        print(text())
    listener = _listener.get()
    if listener is not None:
        listener(relative_gap)
