"""The page as a web application: routes, and what each of them answers."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from hullrank.app import work
from hullrank.app.guard import Guard
from hullrank.app.jobs import Job, Work
from hullrank.app.limits import Limits
from hullrank.app.sessions import FILES, Session, Sessions
from hullrank.app.uploads import RefusedError, receive, too_large
from hullrank.app.wishes import Wishes
from hullrank.models.catalogue import commands
from hullrank.reports.html import SCRIPTS, resource

SAMPLE = "wine.csv"
SAMPLE_GRADES = ("poor", "fair", "good", "excellent")  # from lowest to highest
_OWN = ("app.css", "order.js", "columns.js", "live.js", "results.js", "app.js")
_KINDS = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}


def make_app(token: str, port: int, limits: Limits | None = None) -> Starlette:
    """The application; everything it holds lies in a temporary folder that goes with it."""
    limits = limits or Limits()

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        with TemporaryDirectory(prefix="hullrank-app-") as folder:
            app.state.sessions = Sessions(Path(folder), limits)
            try:
                yield
            finally:
                await app.state.sessions.close()

    inside = "/{token}/s/{session}"
    routes = [
        Route("/{token}/", _enter),
        Route("/{token}/static/{name}", _static),
        Route(f"{inside}/", _page),
        Route(f"{inside}/state", _state),
        Route(f"{inside}/table", _table, methods=["POST"]),
        Route(f"{inside}/sample", _sample, methods=["POST"]),
        Route(f"{inside}/fit", _fit, methods=["POST"]),
        Route(f"{inside}/compare", _compare, methods=["POST"]),
        Route(f"{inside}/rank", _rank, methods=["POST"]),
        Route(f"{inside}/stop", _stop, methods=["POST"]),
        Route(f"{inside}/jobs/{{number:int}}", _events),
        Route(f"{inside}/files/{{name}}", _file),
    ]
    guard = Middleware(Guard, token=token, port=port)
    app = Starlette(routes=routes, middleware=[guard], exception_handlers={RefusedError: _refused}, lifespan=lifespan)
    app.state.limits = limits
    return app


def _session(request: Request) -> Session:
    sessions: Sessions = request.app.state.sessions
    return sessions.get(request.path_params["session"])


async def _refused(_: Request, error: Exception) -> Response:
    return JSONResponse({"error": str(error)}, getattr(error, "status", 400))


async def _enter(request: Request) -> Response:
    name = await request.app.state.sessions.create()
    return RedirectResponse(f"s/{name}/", 303)


async def _page(request: Request) -> Response:
    _session(request)
    return Response((files("hullrank.app") / "page" / "app.html").read_bytes(), media_type="text/html; charset=utf-8")


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name in _OWN:
        text = (files("hullrank.app") / "page" / name).read_text(encoding="utf-8")
    elif name in (*SCRIPTS, "report.css"):
        text = resource(name)
    else:
        raise RefusedError("there is no such file", 404)
    return Response(text, media_type=_KINDS[Path(name).suffix])


async def _state(request: Request) -> Response:
    """All that a page needs that was just opened: limits, methods, and what the session has so far."""
    session = _session(request)
    last = {job.kind: number for number, job in enumerate(session.jobs, 1)}
    methods = [{"name": name, "for": method.purpose} for name, method in commands().items()]
    held = {"table": session.table, "wishes": session.wishes, "jobs": last}
    return JSONResponse({**held, "methods": methods, "upload": session.limits.upload, "sample": SAMPLE})


async def _table(request: Request) -> Response:
    session = _session(request)
    with session.job_done("columns") as job:
        return await _look(session, job, await _received(request, session.arriving))


async def _sample(request: Request) -> Response:
    session = _session(request)
    with session.job_done("columns") as job:
        table = session.arriving / SAMPLE
        table.write_bytes((files("hullrank") / "datasets" / "tables" / SAMPLE).read_bytes())
        return await _look(session, job, table, levels=[[grade] for grade in SAMPLE_GRADES])


async def _received(request: Request, folder: Path) -> Path:
    """The table that is sent as the body of a request, whose name is in the query."""
    limits, length = request.app.state.limits, request.headers.get("content-length", "0")
    if length.isdigit() and int(length) > limits.upload:
        raise too_large(limits)
    try:
        return await receive(request.stream(), folder, request.query_params.get("name", ""), limits)
    except ClientDisconnect as error:
        raise RefusedError("the upload was broken off") from error


async def _look(session: Session, job: Job, table: Path, **known: Any) -> Response:
    """Let the command look at a table that has just arrived; the one before it stays if this one is refused.

    ``known`` is what we know of it beside what the command says.
    """
    outcome = await work.look(job, session, table)
    if outcome.code:
        table.unlink()
        raise RefusedError(outcome.error or "the table cannot be read")
    notes = [event["note"] for _, event in job.events if "note" in event]
    session.take_table(table, {**outcome.document, "notes": notes, **known})
    return JSONResponse(session.table)


async def _wishes(request: Request, session: Session) -> Wishes:
    session.facts()
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > request.app.state.limits.request:
            raise RefusedError("the request is too large", 413)
    wishes = Wishes.read(body, session.facts())
    session.wishes = {"roles": wishes.roles, "levels": wishes.levels}
    return wishes


def _start(session: Session, kind: str, whole: Work) -> Response:
    session.new_job(kind).start(whole)
    return JSONResponse({"job": len(session.jobs)}, 202)


async def _fit(request: Request) -> Response:
    session = _session(request)
    return _start(session, "fit", work.learn(session, await _wishes(request, session)))


async def _compare(request: Request) -> Response:
    session = _session(request)
    return _start(session, "compare", work.compare(session, await _wishes(request, session)))


async def _rank(request: Request) -> Response:
    session = _session(request)
    if session.file("model.hull") is None:
        raise RefusedError("there is no model yet; fit one first", 409)
    with session.job_done("rank"):
        table = await _received(request, session.new)
    return _start(session, "rank", work.rank(session, table))


async def _stop(request: Request) -> Response:
    for job in _session(request).jobs:
        if not job.done:
            job.stop()
    return JSONResponse({})


async def _events(request: Request) -> Response:
    """The events of a job as they come (server-sent events), from the start or after the last one heard."""
    job = _session(request).job(request.path_params["number"])
    if job is None:
        raise RefusedError("there is no such job", 404)
    last = request.headers.get("last-event-id", "0")

    async def lines() -> AsyncIterator[str]:
        async for number, event in job.hear(int(last) if last.isdigit() else 0):
            yield f"id: {number}\ndata: {json.dumps(event)}\n\n"

    return StreamingResponse(lines(), media_type="text/event-stream")


async def _file(request: Request) -> Response:
    name: Any = request.path_params["name"]
    path = _session(request).file(name)
    if path is None:
        raise RefusedError("there is no such file", 404)
    return FileResponse(path, media_type=FILES[name], filename=name)
