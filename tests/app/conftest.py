"""The page without a network: requests go to the application in this process, which runs the command as always."""

import pytest
from visitors import HERE, PORT, TOKEN, Visitor


@pytest.fixture
def make_client():
    """Applications with the limits that a test wants."""
    testclient = pytest.importorskip("starlette.testclient", reason="pip install 'hullrank[app]' httpx")
    from hullrank.app.server import make_app

    running = []

    def make(limits=None):
        client = testclient.TestClient(make_app(TOKEN, PORT, limits), base_url=HERE)
        running.append(client.__enter__())
        return client

    yield make
    for client in running:
        client.__exit__(None, None, None)


@pytest.fixture
def client(make_client):
    return make_client()


@pytest.fixture
def visitor(client):
    return Visitor(client)
