"""What long work tells of itself: printed where ``verbose`` asks for it, and heard by whoever listens."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[float], None]
BlockListener = Callable[[int, int, int], None]
BoundsListener = Callable[[float, float, float], None]
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)
_on_block: ContextVar[BlockListener | None] = ContextVar("on_block", default=None)
_on_bounds: ContextVar[BoundsListener | None] = ContextVar("on_bounds", default=None)


@contextmanager
def listening(listener: Listener, on_block: BlockListener | None = None) -> Iterator[None]:
    """While this lasts, hand the relative gap of every report to ``listener``.

    ``on_block(pass_number, blocks_done, n_blocks)`` hears of every block of rows that a pass over the data has done;
    passes are counted from 1.
    """
    token, block_token = _listener.set(listener), _on_block.set(on_block)
    try:
        yield
    finally:
        _listener.reset(token)
        _on_block.reset(block_token)


@contextmanager
def recording() -> Iterator[list[float]]:
    """While this lasts, collect the relative gaps in a list; whoever listens already still hears them."""
    heard: list[float] = []
    before = _listener.get()

    def hear(gap: float) -> None:
        heard.append(float(gap))
        if before is not None:
            before(gap)

    token = _listener.set(hear)
    try:
        yield heard
    finally:
        _listener.reset(token)


@contextmanager
def listening_to_bounds(listener: BoundsListener) -> Iterator[None]:
    """While this lasts, hand value and bound of an exact search, and the share of its time, to ``listener``."""
    token = _on_bounds.set(listener)
    try:
        yield
    finally:
        _on_bounds.reset(token)


def tell(relative_gap: float, text: Callable[[], str], verbose: int) -> None:
    """Report how far a solver is."""
    if verbose:
        print(text())
    listener = _listener.get()
    if listener is not None:
        listener(relative_gap)


def tell_block(pass_number: int, done: int, n_blocks: int) -> None:
    """Report that a pass over the data has done one more of its blocks."""
    listener = _on_block.get()
    if listener is not None:
        listener(pass_number, done, n_blocks)


def tell_bounds(value: float, bound: float, share: float) -> None:
    """Report the best value and the bound of an exact search, and the share of its time limit that is used up."""
    listener = _on_bounds.get()
    if listener is not None:
        listener(value, bound, share)
