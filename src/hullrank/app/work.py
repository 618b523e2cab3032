"""The jobs of the page: what the command is run with, and what of its answers the page is told."""

from pathlib import Path
from typing import Any

from hullrank.app.jobs import Job, Work
from hullrank.app.runs import Outcome, Run
from hullrank.app.sessions import FILES, Session
from hullrank.app.wishes import Wishes, typed

_SHOWN = 20  # rows of a ranked table


def learn(session: Session, wishes: Wishes) -> Work:
    """Fit, then draw the report and rank the table."""
    table = session.facts()["file"]
    arguments = wishes.fit(table)
    weights = [f"--weights={name}" for name in wishes.named("weights")]
    model = str(session.made / "model.hull")

    async def work(job: Job) -> None:
        for old in FILES:
            (session.made / old).unlink(missing_ok=True)
        job.tell(command=typed([*arguments, "--out=model.hull"]))
        fitted = await _run(job, session.inbox, [*arguments, f"--out={model}", "--json"])
        if fitted is None:
            return
        job.tell(fitted=fitted.document)
        report = ["report", model, table, f"--out={session.made / 'report.html'}", f"--title={table}", *weights]
        if await _extra(job, session.inbox, report, "drawing the report"):
            job.tell(ready="report.html")
        ranked = ["rank", model, table, f"--out={session.made / 'ranked.csv'}"]
        outcome = await _extra(job, session.inbox, ranked, "ranking the rows")
        if outcome:
            job.tell(ready="ranked.csv", ranked=_first(outcome))
        job.tell(ended="done")

    return work


def rank(session: Session, table: Path) -> Work:
    """Rank another table by the model of the session."""

    async def work(job: Job) -> None:
        made = session.made / "new-ranked.csv"
        made.unlink(missing_ok=True)
        job.tell(command=typed(["rank", "model.hull", table.name, "--out=new-ranked.csv"]))
        arguments = ["rank", str(session.made / "model.hull"), table.name, f"--out={made}", "--json"]
        outcome = await _run(job, session.new, arguments)
        if outcome is not None:
            job.tell(ready=made.name, ranked=_first(outcome))
            job.tell(ended="done")

    return work


def compare(session: Session, wishes: Wishes) -> Work:
    """Compare methods in folds."""
    arguments = wishes.compare(session.facts()["file"])

    async def work(job: Job) -> None:
        job.tell(command=typed(arguments))
        outcome = await _run(job, session.inbox, [*arguments, "--json"])
        if outcome is not None:
            job.tell(compared=outcome.document)
            job.tell(ended="done")

    return work


async def look(job: Job, session: Session, table: Path) -> Outcome:
    """What the columns of a table are."""
    return await job.run(Run(["columns", table.name, "--json"], table.parent, session.limits))


async def _run(job: Job, folder: Path, arguments: list[str]) -> Outcome | None:
    """The outcome if all went well; if not, the job ends with the reason."""
    outcome = await job.run(Run(arguments, folder, job.limits))
    if outcome.code == 0:
        return outcome
    if outcome.code == 130:
        job.tell(ended="stopped")
    else:
        job.tell(ended="error", sentence=outcome.error)
    return None


async def _extra(job: Job, folder: Path, arguments: list[str], doing: str) -> Outcome | None:
    """The outcome of a run that the job can do without, which is then said."""
    outcome = await job.run(Run([*arguments, "--json"], folder, job.limits), doing)
    if outcome.code == 0:
        return outcome
    job.tell(warning=f"{doing} failed: {outcome.error}")
    return None


def _first(outcome: Outcome) -> dict[str, Any]:
    """The best rows of a ranked table, without the rest."""
    return {"rows": outcome.document["rows"], "best": outcome.document["ranked"][:_SHOWN]}
