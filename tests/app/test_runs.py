"""The command in a process of its own."""

import asyncio

import pytest

pytest.importorskip("starlette", reason="pip install 'hullrank[app]'")

from hullrank.app.limits import Limits
from hullrank.app.runs import Run


def test_a_stop_that_comes_while_the_process_is_being_started_is_not_lost(tmp_path):
    run = Run(["methods", "--json"], tmp_path, Limits())
    run.stop()
    outcome = asyncio.run(run(lambda event: None))
    assert (outcome.code, outcome.error) == (130, "stopped")
