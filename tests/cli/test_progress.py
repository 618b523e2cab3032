"""Progress shows on terminals, and nowhere else."""

import os
import pty
import re
import select
import subprocess

import numpy as np
import pytest
from commands import COMMAND, ORDER, WORDS, table

from hullrank import ConvexHullRanker, FixedMarginClassifier, SwappedPairsRanker
from hullrank._progress import listening
from hullrank.cli.progress import DigitsDone


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


@pytest.mark.slow
def test_stages_and_the_falling_gap_show_on_a_terminal(many):
    options = ("-t", "grade", "--order", ORDER, *WORDS, "-m", "fixed-margin", "--no-cv", "-o", many.parent / "m.hull")
    shown, out = on_a_terminal([COMMAND, "fit", many, *options])
    for stage in ("reading", "encoding 3 columns", "fitting fixed-margin to 100,000 rows"):
        assert stage in shown
    assert re.search(r"gap \de-\d\d of 1e-06", shown)
    assert re.search(r"\d:\d\d:\d\d", shown)
    assert "━" in shown
    assert "complementarity" not in out
    assert "Certificate" in out


@pytest.mark.slow
def test_value_and_bound_of_an_exact_search_show_on_a_terminal(tmp_path):
    table(1, n=150).write_csv(tmp_path / "d.csv")
    options = ("-t", "grade", "--order", ORDER, *WORDS, "--no-cv", "-m", "exact", "--set", "time_limit=1")
    shown, _ = on_a_terminal([COMMAND, "fit", tmp_path / "d.csv", *options, "-o", tmp_path / "m.hull"])
    assert re.search(r"value 0\.\d{4}, bound [01]\.\d{4}", shown)


@pytest.mark.slow
def test_nothing_shows_in_pipes(run, fitted, tmp_path):
    options = ("-t", "grade", "--order", ORDER, *WORDS, "-o", tmp_path / "m.hull")
    done = run("fit", fitted / "data.csv", *options)
    assert done.code == 0
    assert done.err == ""
    assert "\x1b" not in done.out


def test_the_share_done_is_that_of_the_digits():
    shares = []
    heard = DigitsDone(1e-6, lambda share, remark: shares.append(round(share, 9)))
    for gap in (1.0, float("inf"), 0.0, 1e-3, 1e-5, 1e-2, 1e-8):
        heard(gap)
    assert shares == pytest.approx([0, 0.5, 5 / 6, 5 / 6, 1])


@pytest.mark.parametrize(
    "model",
    [ConvexHullRanker(loss="hinge"), FixedMarginClassifier(1.0, loss="hinge", kernel="rbf"), SwappedPairsRanker()],
    ids=lambda model: type(model).__name__,
)
def test_solvers_tell_their_gap(model):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    gaps = []
    with listening(gaps.append):
        model.fit(X, np.round(X[:, 0] + rng.normal(size=200)).clip(-1, 1))
    assert len(gaps) > 1
    assert 0 <= gaps[-1] < gaps[0]
    heard = len(gaps)
    model.fit(X, np.round(X[:, 0]).clip(-1, 1))
    assert len(gaps) == heard
