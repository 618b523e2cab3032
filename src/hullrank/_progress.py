"""What long work tells of itself: printed where ``verbose`` asks for it, and heard by whoever listens."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import TypeVar

Value = TypeVar("Value")
Listener = Callable[[float], None]
BlockListener = Callable[[int, int, int], None]
BoundsListener = Callable[[float, float, float], None]


def _nobody(*_: float) -> None:
    """Hear nothing."""


_listener: ContextVar[Listener] = ContextVar("listener", default=_nobody)
_on_block: ContextVar[BlockListener] = ContextVar("on_block", default=_nobody)
_on_bounds: ContextVar[BoundsListener] = ContextVar("on_bounds", default=_nobody)


@contextmanager
def _holding(variable: ContextVar[Value], value: Value) -> Iterator[None]:
    """Give the variable a value while this lasts."""
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


@contextmanager
def listening(listener: Listener, on_block: BlockListener = _nobody) -> Iterator[None]:
    """While this lasts, hand the relative gap of every report to ``listener``.

    ``on_block(pass_number, blocks_done, n_blocks)`` hears of every block of rows that a pass over the data has done;
    passes are counted from 1.
    """
    with _holding(_listener, listener), _holding(_on_block, on_block):
        yield


@contextmanager
def recording() -> Iterator[list[float]]:
    """While this lasts, collect the relative gaps in a list; whoever listens already still hears them."""
    heard: list[float] = []
    before = _listener.get()

    def hear(gap: float) -> None:
        heard.append(float(gap))
        before(gap)

    with _holding(_listener, hear):
        yield heard


def listening_to_bounds(listener: BoundsListener) -> AbstractContextManager[None]:
    """While this lasts, hand value and bound of an exact search, and the share of its time, to ``listener``."""
    return _holding(_on_bounds, listener)


def tell(relative_gap: float, text: Callable[[], str], verbose: int) -> None:
    """Report how far a solver is."""
    if verbose:
        print(text())
    _listener.get()(relative_gap)


def tell_block(pass_number: int, done: int, n_blocks: int) -> None:
    """Report that a pass over the data has done one more of its blocks."""
    _on_block.get()(pass_number, done, n_blocks)


def tell_bounds(value: float, bound: float, share: float) -> None:
    """Report the best value and the bound of an exact search, and the share of its time limit that is used up."""
    _on_bounds.get()(value, bound, share)
