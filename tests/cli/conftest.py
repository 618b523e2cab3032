"""The installed command, run on files made for the occasion."""

import io
import sys
from types import SimpleNamespace

import pytest
from commands import ORDER, WORDS, run_inside, run_installed, table

from hullrank.cli import main


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
    run_inside("fit", folder / "data.csv", "-t", "grade", "--order", ORDER, *WORDS, "-o", folder / "model.hull")
    return folder


@pytest.fixture(scope="session")
def fitted_within_queries(tmp_path_factory):
    """A folder with data.csv and model.hull, which ranks within queries."""
    folder = tmp_path_factory.mktemp("queries")
    table().write_csv(folder / "data.csv")
    drop = ("--drop", "number", "--drop", "weight", "--out", folder / "model.hull")
    run_inside("fit", folder / "data.csv", "-t", "grade", "--order", ORDER, "--qid", "query", *drop)
    return folder
