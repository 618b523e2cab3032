"""All four papers in their quick form: bundled data only, no data folder, no network."""

import socket
import sys

import pytest

from hullrank.cli import main
from hullrank.experiments.base import PAPERS


def command(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["hullrank", "reproduce", *map(str, arguments)])
    monkeypatch.setenv("COLUMNS", "200")
    try:
        main()
    except SystemExit as end:
        return end.code or 0
    return 0


def no_network(*_, **__):
    raise AssertionError("a quick run must not use the network")


@pytest.mark.slow
def test_all_papers_run_quickly_and_a_second_run_has_nothing_to_do(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("HULLRANK_DATA", raising=False)
    monkeypatch.setattr(socket, "create_connection", no_network)
    assert command(monkeypatch, "all", "--quick", "--out", tmp_path) == 0
    sizes = {}
    for paper in PAPERS:
        folder = tmp_path / paper
        assert {"results.jsonl", "report.md", "report.html"} <= {path.name for path in folder.iterdir()}
        assert list(folder.glob("*.csv"))
        assert list(folder.glob("*.png"))
        sizes[paper] = (folder / "results.jsonl").read_bytes()
    capsys.readouterr()
    assert command(monkeypatch, "all", "--quick", "--out", tmp_path) == 0
    assert capsys.readouterr().err.count("were done before and were kept") == len(PAPERS)
    assert {paper: (tmp_path / paper / "results.jsonl").read_bytes() for paper in PAPERS} == sizes


def test_an_unknown_paper_is_named(monkeypatch, capsys):
    assert command(monkeypatch, "hell") == 1
    assert "choose all, hull, margins, pairs, exact" in capsys.readouterr().err


@pytest.mark.parametrize("bad", [("pairs", "--jobs", 0), ()])
def test_wrong_usage(bad, monkeypatch, capsys):
    assert command(monkeypatch, *bad) == 2
    capsys.readouterr()
