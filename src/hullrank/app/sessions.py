"""Sessions: what one visitor has sent and made, in a folder that nobody else is led to."""

import asyncio
import secrets
import shutil
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hullrank.app.jobs import Job
from hullrank.app.limits import Limits
from hullrank.app.uploads import RefusedError

# What can be fetched, and how a browser is told to take it.
FILES = {
    "model.hull": "application/octet-stream",
    "report.html": "text/html; charset=utf-8",
    "ranked.csv": "text/csv; charset=utf-8",
    "new-ranked.csv": "text/csv; charset=utf-8",
}


class Session:
    """A table, the files made of it, and the jobs that make them, one at a time."""

    def __init__(self, folder: Path, limits: Limits, room: asyncio.Semaphore) -> None:
        self.folder, self.limits, self.room = folder, limits, room
        self.arriving, self.inbox = folder / "arriving", folder / "in"  # tables on their way, the table
        self.new, self.made = folder / "new", folder / "made"  # other tables to be ranked, results
        for part in (self.arriving, self.inbox, self.new, self.made):
            part.mkdir(parents=True)
        self.table: dict[str, Any] | None = None  # what `hullrank columns` said of the table
        self.wishes: dict[str, Any] = {}  # roles and levels of the last fit or comparison
        self.jobs: list[Job] = []

    def facts(self) -> dict[str, Any]:
        """What `hullrank columns` said of the table; refused until one was sent."""
        if self.table is None:
            raise RefusedError("there is no table yet; drop one first", 409)
        return self.table

    @property
    def busy(self) -> bool:
        """Whether a job is running."""
        return any(not job.done for job in self.jobs)

    def new_job(self, kind: str) -> Job:
        """A job that has not begun."""
        if self.busy:
            raise RefusedError("something is still running in this session; stop it, or wait for it", 409)
        job = Job(kind, self.limits, self.room)
        self.jobs.append(job)
        return job

    @contextmanager
    def job_done(self, kind: str) -> Iterator[Job]:
        """A job that lasts as long as the block, and is forgotten then; meanwhile no other can begin."""
        job = self.new_job(kind)
        try:
            yield job
        finally:
            job.done = True
            if job in self.jobs:
                self.jobs.remove(job)

    def job(self, number: int) -> Job | None:
        """A job by its number, from 1."""
        return self.jobs[number - 1] if 1 <= number <= len(self.jobs) else None

    def file(self, name: str) -> Path | None:
        """One of the files that were made, by a name that is known beforehand."""
        path = self.made / name if name in FILES else None
        return path if path is not None and path.is_file() else None

    def take_table(self, table: Path, facts: dict[str, Any]) -> None:
        """Begin anew with a table that has arrived: forget jobs, and remove what they made."""
        self.table, self.wishes = facts, {}
        self.jobs.clear()
        for path in (*self.inbox.iterdir(), *self.made.iterdir(), *self.new.iterdir()):
            path.unlink()
        table.rename(self.inbox / table.name)

    async def close(self) -> None:
        """End the jobs and remove the folder."""
        await asyncio.gather(*(job.end() for job in self.jobs))
        shutil.rmtree(self.folder, ignore_errors=True)


class Sessions:
    """All sessions by their names, which cannot be guessed."""

    def __init__(self, folder: Path, limits: Limits) -> None:
        self.folder, self.limits = folder, limits
        self.room = asyncio.Semaphore(limits.runs)
        self._held: OrderedDict[str, Session] = OrderedDict()

    async def create(self) -> str:
        """A new session; if there are too many, the one that was idle longest goes, and with all busy none is made."""
        while len(self._held) >= self.limits.sessions:
            idle = next((name for name, session in self._held.items() if not session.busy), None)
            if idle is None:
                raise RefusedError("too many people are at work on this page; try again later", 503)
            await self._held.pop(idle).close()
        name = secrets.token_urlsafe(24)
        self._held[name] = Session(self.folder / name, self.limits, self.room)
        return name

    def get(self, name: str) -> Session:
        """The session of that name, which is then the last that was used."""
        if name not in self._held:
            raise RefusedError("this session has ended; open the address that `hullrank app` printed", 404)
        self._held.move_to_end(name)
        return self._held[name]

    async def close(self) -> None:
        """End all of them."""
        while self._held:
            await self._held.popitem()[1].close()
