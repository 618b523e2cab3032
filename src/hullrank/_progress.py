"""What long work tells of itself: printed where ``verbose`` asks for it, and heard by whoever listens."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[float], None]
BlockListener = Callable[[int, int, int], None]
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)
_on_block: ContextVar[BlockListener | None] = ContextVar("on_block", default=None)


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
