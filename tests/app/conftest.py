"""The page without a network: requests go to the application in this process, which runs the command as always.

Where the process of the command does not matter, ``command_here`` runs it in this one: starting it takes a second.
"""

import asyncio
import io
import signal
import sys
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from types import SimpleNamespace

import pytest
from visitors import HERE, PORT, TOKEN, WINE, Visitor

from hullrank.cli import main


def new_client(limits=None):
    testclient = pytest.importorskip("starlette.testclient", reason="pip install 'hullrank[app]' httpx")
    from hullrank.app.server import make_app

    return testclient.TestClient(make_app(TOKEN, PORT, limits), base_url=HERE)


async def start_here(*program, cwd, env, **_):
    """In place of ``asyncio.create_subprocess_exec``: what the command prints is there at once, and it has ended."""
    printed, told, code = io.StringIO(), io.StringIO(), 0
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(printed), redirect_stderr(told):
        patch.chdir(cwd)
        patch.setenv("HULLRANK_EVENTS", env["HULLRANK_EVENTS"])
        patch.setattr(sys, "argv", ["hullrank", *program[3:]])  # after the interpreter and its -m hullrank
        patch.setattr(signal, "signal", lambda *_: None)  # the server is no main thread, and nobody presses Ctrl-C
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
    process = SimpleNamespace(pid=None, returncode=code, wait=lambda: asyncio.sleep(0, code))
    for name, text in (("stdout", printed), ("stderr", told)):
        stream = asyncio.StreamReader()
        stream.feed_data(text.getvalue().encode())
        stream.feed_eof()
        setattr(process, name, stream)
    return process


@contextmanager
def commands_in_this_process():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hullrank.app.runs.asyncio.create_subprocess_exec", start_here)
        patch.setattr("hullrank.app.runs._limit_memory", lambda pid, size: None)
        yield


@pytest.fixture
def command_here():
    with commands_in_this_process():
        yield


@pytest.fixture
def make_client():
    """Applications with the limits that a test wants."""
    with ExitStack() as running:
        yield lambda limits=None: running.enter_context(new_client(limits))


@pytest.fixture
def client(make_client):
    return make_client()


@pytest.fixture
def visitor(client):
    return Visitor(client)


@pytest.fixture(scope="session")
def with_wine():
    """A visitor whose table is there, for tests that leave it as it is; ``facts`` is what was answered to it."""
    with new_client() as client:
        visitor = Visitor(client)
        with commands_in_this_process():
            visitor.facts = visitor.send("wine.csv", WINE).json()
        yield visitor
