"""The page without a network: requests go to the application in this process, which runs the command as always."""

from contextlib import ExitStack

import pytest
from visitors import HERE, PORT, TOKEN, WINE, Visitor


def new_client(limits=None):
    testclient = pytest.importorskip("starlette.testclient", reason="pip install 'hullrank[app]' httpx")
    from hullrank.app.server import make_app

    return testclient.TestClient(make_app(TOKEN, PORT, limits), base_url=HERE)


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
        visitor.facts = visitor.send("wine.csv", WINE).json()
        yield visitor
