"""The installed command, run on files made for the occasion."""

import io
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from hullrank.cli import main

COMMAND = Path(sys.executable).parent / "hullrank"


def run_installed(*arguments, stdin=b"", **options):
    """Run the installed ``hullrank`` in a process of its own; gives the exit code and what it printed."""
    done = subprocess.run([COMMAND, *map(str, arguments)], input=stdin, capture_output=True, check=False, **options)
    return SimpleNamespace(code=done.returncode, out=done.stdout.decode(), err=done.stderr.decode())


def run_inside(*arguments):
    """Run ``hullrank`` in this process, for what tests share; an error fails them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["hullrank", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
    assert not end.value.code


@pytest.fixture
def run(monkeypatch):
    """The installed program."""
    monkeypatch.setenv("COLUMNS", "200")
    return run_installed


@pytest.fixture
def run_here(monkeypatch, capsys):
    """The same in this process, for tests that walk through many methods: starting the program takes a second."""
    from hullrank.cli import console

    for shown in (console.out, console.err):  # made when first imported, with the width of the terminal at that time
        monkeypatch.setattr(shown, "width", 200)

    def command(*arguments, stdin=b""):
        monkeypatch.setattr(sys, "argv", ["hullrank", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        monkeypatch.setenv("COLUMNS", "200")
        capsys.readouterr()
        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code or 0
        printed = capsys.readouterr()
        return SimpleNamespace(code=code, out=printed.out, err=printed.err)

    return command


def table(seed=0, n=120):
    rng = np.random.default_rng(seed)
    size, age = rng.normal(size=n), rng.integers(1, 90, n)
    colour = rng.choice(["red", "blue", "green"], n)
    value = 2 * size - 0.02 * age + (colour == "red") + 0.4 * rng.normal(size=n)
    grade = np.array(["poor", "fair", "good"])[np.digitize(value, np.quantile(value, [1 / 3, 2 / 3]))]
    frame = pl.DataFrame({"size": size, "age": age, "colour": colour, "grade": grade})
    return frame.with_columns(
        pl.when(pl.int_range(n) % 17 == 3).then(None).otherwise(pl.col("age")).alias("age"),
        number=pl.col("grade").replace_strict({"poor": 1, "fair": 2, "good": 3}),
        weight=1.0 + pl.int_range(n) % 3,
        query=pl.int_range(n) // 12,
    )


ORDER = "poor < fair < good"
WORDS = ("--drop", "number", "--drop", "query", "--drop", "weight")


@pytest.fixture
def csv(tmp_path):
    path = tmp_path / "data.csv"
    table().write_csv(path)
    return path


@pytest.fixture(scope="session")
def fitted(tmp_path_factory):
    """A folder with data.csv, test.csv and model.hull, made by the command itself."""
    folder = tmp_path_factory.mktemp("fitted")
    table().write_csv(folder / "data.csv")
    table(1).write_csv(folder / "test.csv")
    options = ("--target", "grade", "--order", ORDER, *WORDS, "--out", str(folder / "model.hull"))
    done = run_installed("fit", folder / "data.csv", *options)
    assert done.code == 0, done.err
    return folder


@pytest.fixture(scope="session")
def fitted_within_queries(tmp_path_factory):
    """A folder with data.csv and model.hull, which ranks within queries."""
    folder = tmp_path_factory.mktemp("queries")
    table().write_csv(folder / "data.csv")
    drop = ("--drop", "number", "--drop", "weight", "--out", folder / "model.hull")
    run_inside("fit", folder / "data.csv", "-t", "grade", "--order", ORDER, "--qid", "query", *drop)
    return folder
