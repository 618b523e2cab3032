"""Progress shows on terminals, and nowhere else."""

import os
import pty
import re
import select
import subprocess

import pytest

from conftest import COMMAND, ORDER, WORDS, table
from hullrank.cli.progress import GapWatcher


def on_a_terminal(command):
    """What the program writes to a terminal on its stderr, and its stdout."""
    leader, follower = pty.openpty()
    environment = {**os.environ, "COLUMNS": "160", "TERM": "xterm"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=follower, env=environment) as process:
        os.close(follower)
        shown = b""
        while select.select([leader], [], [], 60)[0]:
            try:
                shown += os.read(leader, 65536)
            except OSError:  # the program has closed its end
                break
        out = process.stdout.read()
    os.close(leader)
    assert process.returncode == 0
    return shown.decode(), out.decode()


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    path = tmp_path_factory.mktemp("many") / "many.csv"
    table(5, n=100_000).write_csv(path)
    return path


def test_stages_and_the_falling_gap_show_on_a_terminal(many):
    options = ("-t", "grade", "--order", ORDER, *WORDS, "-m", "fixed-margin", "-o", many.parent / "m.hull")
    shown, out = on_a_terminal([COMMAND, "fit", many, *options])
    for stage in ("reading", "encoding 3 columns", "fitting fixed-margin to 100,000 rows"):
        assert stage in shown
    assert re.search(r"gap \de-\d\d of 1e-06", shown)
    assert re.search(r"\d:\d\d:\d\d", shown)
    assert "━" in shown
    assert "complementarity" not in out
    assert "Certificate" in out


def test_nothing_shows_in_pipes(run, fitted, tmp_path):
    options = ("-t", "grade", "--order", ORDER, *WORDS, "-o", tmp_path / "m.hull")
    done = run("fit", fitted / "data.csv", *options)
    assert done.code == 0
    assert done.err == ""
    assert "\x1b" not in done.out


def test_the_share_done_is_that_of_the_digits():
    shares = []
    watcher = GapWatcher(1e-6, lambda share, remark: shares.append(round(share, 9)))
    for line in (
        "   0  objective 10  complementarity 1.00e+01",
        "a line about nothing",
        "round 3: 5 steps, violation 0.2, objective 3.5, relative gap 0.001",
        "pairs    2  objective 2.0  gap 2e-05 (gradient 7.9e-06, window 0.0069 of width 0.4)",
        "   0  objective 10  complementarity 1.00e-01",
        "round 9: objective 3.5, relative gap 1e-08 (float64)",
    ):
        print(line, file=watcher)
    assert shares == pytest.approx([0, 0.5, 5 / 6, 5 / 6, 1])
