"""The command in a process of its own: its events as they come, its JSON at the end, and a stop that it understands."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hullrank.app.limits import MB, Limits

Event = dict[str, Any]
_LONGEST_LINE = 4 * MB


@dataclass(frozen=True)
class Outcome:
    """What a run of the command left: its JSON document, or the sentence that says why there is none."""

    code: int
    document: Any = None
    error: str | None = None


class Run:
    """One run of the command in a folder."""

    def __init__(self, arguments: list[str], folder: Path, limits: Limits) -> None:
        self.arguments, self.folder, self.limits = arguments, folder, limits
        self.process: asyncio.subprocess.Process | None = None
        self.asked = 0  # how often it was asked to stop
        self.error: str | None = None

    async def __call__(self, hear: Callable[[Event], None]) -> Outcome:
        """Run it to its end; ``hear`` is called with every event."""
        self.process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "hullrank", *self.arguments,
            cwd=self.folder, env=_environment(), limit=_LONGEST_LINE, start_new_session=True,
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        _limit_memory(self.process.pid, self.limits.memory)
        if self.asked:  # to stop, while the process was being started
            self.end()
        late = asyncio.get_running_loop().call_later(self.limits.seconds, self.stop)
        try:
            assert self.process.stdout is not None
            printed, _ = await asyncio.gather(self.process.stdout.read(), self._listen(hear))
            code = await self.process.wait()
        finally:
            late.cancel()
            self.end()
            await self.process.wait()
        return self._outcome(code, printed)

    async def _listen(self, hear: Callable[[Event], None]) -> None:
        assert self.process is not None
        assert self.process.stderr is not None
        async for line in self.process.stderr:
            try:
                event = json.loads(line)
            except ValueError:  # not one of ours: a library that prints
                continue
            if isinstance(event, dict):
                self.error = event.pop("error", self.error)
                if event:
                    hear(event)

    def _outcome(self, code: int, printed: bytes) -> Outcome:
        if code == 0:
            try:
                return Outcome(0, json.loads(printed))
            except ValueError:
                return Outcome(1, error="the command printed nothing that can be read")
        if self.asked or code == 130:
            return Outcome(130, error="stopped")
        if self.error is None:
            self.error = (
                f"the work ended without an answer (code {code}); it may have needed more memory than the "
                f"{self.limits.memory // MB:,} MB that this page gives it. Try fewer rows, or the command line"
            )
        return Outcome(code, error=self.error)

    def stop(self) -> None:
        """Ask it to stop with what it has, as Ctrl-C does; asked again, it ends at once."""
        self.asked += 1
        if self.process is None or self.process.returncode is not None:
            return
        if self.asked > 1 or sys.platform == "win32":
            self.end()
        else:
            self.process.send_signal(signal.SIGINT)

    def end(self) -> None:
        """End it, whatever it does."""
        if self.process is not None and self.process.returncode is None:
            self.process.kill()


def _environment() -> dict[str, str]:
    return {**os.environ, "HULLRANK_EVENTS": "1", "PYTHONUNBUFFERED": "1", "PYTHONIOENCODING": "utf-8"}


def _limit_memory(pid: int, size: int) -> None:
    """Let a process have so many bytes of data; where the system cannot, only the size of uploads is limited."""
    if sys.platform != "linux":
        return
    import resource

    try:
        resource.prlimit(pid, resource.RLIMIT_DATA, (size, size))
    except (ProcessLookupError, PermissionError, ValueError):  # it has ended already, or has less than that
        return
