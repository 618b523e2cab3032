"""A job: some runs of the command, one after the other, whose events can be heard from the start at any time."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from itertools import count
from typing import Any

from hullrank.app.limits import Limits
from hullrank.app.runs import Event, Outcome, Run

Work = Callable[["Job"], Awaitable[None]]


class Job:
    """Events with a number each, and a way to stop what is running."""

    def __init__(self, kind: str, limits: Limits, room: asyncio.Semaphore) -> None:
        self.kind, self.limits, self.room = kind, limits, room
        self.events: list[tuple[int, Event]] = []
        self.done, self.stopped = False, False
        self._numbers = count(1)
        self._changed = asyncio.Event()
        self._run: Run | None = None
        self._task: asyncio.Task[None] | None = None

    def start(self, work: Work) -> None:
        """Begin; the last event says how it ended."""
        self._task = asyncio.create_task(self._whole(work))

    async def _whole(self, work: Work) -> None:
        try:
            await work(self)
        except asyncio.CancelledError:
            self.tell(ended="stopped")
            raise
        except Exception as error:
            self.tell(ended="error", sentence=f"unexpected {type(error).__name__}: {error}")
        finally:
            self.done = True
            self._wake()

    async def run(self, run: Run, doing: str | None = None) -> Outcome:
        """Run the command as soon as there is room; what it does is told by its events, or by ``doing``."""
        if self.room.locked():
            self.tell(working="waiting until another job has ended")
        async with self.room:
            if self.stopped:
                return Outcome(130, error="stopped")
            self._run = run
            if doing is not None:
                self.tell(working=doing)
            try:
                return await run(lambda event: None if doing and "working" in event else self.tell(**event))
            finally:
                self._run = None

    def tell(self, **event: Any) -> None:
        """Add an event; when there are too many, every second of those that only say how far it is goes."""
        self.events.append((next(self._numbers), event))
        if len(self.events) > self.limits.events:
            passing = count()
            self.events = [(n, e) for n, e in self.events if not ("gap" in e or "share" in e) or next(passing) % 2]
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def hear(self, after: int) -> AsyncIterator[tuple[int, Event]]:
        """The events with a number above ``after``, and those to come, until the end."""
        while True:
            changed, done = self._changed, self.done
            for number, event in [pair for pair in self.events if pair[0] > after]:
                after = number
                yield number, event
            if done:
                return
            await changed.wait()

    def stop(self) -> None:
        """Stop what is running with what it has; asked again, at once."""
        if self._run is not None:
            self._run.stop()
        else:
            self.stopped = True

    async def end(self) -> None:
        """End everything and wait for it."""
        if self._run is not None:
            self._run.end()
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
