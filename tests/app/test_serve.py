"""Starting the page: when its address is told, a browser may come at once."""

import socket

import pytest

pytest.importorskip("uvicorn", reason="pip install 'hullrank[app]'")

from hullrank.app.serve import HOST, serve


def test_a_browser_that_comes_before_the_server_has_started_is_not_refused(monkeypatch):
    came = []

    def come(address):
        port = int(address.split(":")[2].partition("/")[0])
        with socket.create_connection((HOST, port), timeout=5):
            came.append(port)

    monkeypatch.setattr("uvicorn.Server.run", lambda server, sockets: sockets[0].close())
    serve(0, 1, open_browser=False, say=come)
    assert len(came) == 1
