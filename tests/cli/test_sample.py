"""``hullrank sample``: the tables of the package, written as they are, never over another file."""

import json
import runpy
from pathlib import Path

import pytest

from hullrank.cli.sample import SAMPLES

FOLDER = Path(__file__).parents[2] / "src/hullrank/datasets/tables"
MAKE = Path(__file__).parents[1] / "datasets/make_samples.py"


def test_the_tables_are_those_of_their_recipe():
    made = runpy.run_path(str(MAKE))["TABLES"]
    assert set(made) == set(SAMPLES) == {path.name for path in FOLDER.iterdir()}
    for name, make in made.items():
        assert (FOLDER / name).read_text(encoding="utf-8") == make()


@pytest.mark.parametrize("name", SAMPLES)
def test_it_is_written_once_and_replaced_only_by_force(run_here, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    assert run_here("sample", name).code == 0
    assert Path(name).read_bytes() == (FOLDER / name).read_bytes()
    Path(name).write_text("mine")
    again = run_here("sample", name)
    assert again.code == 1
    assert "exists already; give --force" in again.err
    assert Path(name).read_text() == "mine"
    assert run_here("sample", name, "--force").code == 0
    assert Path(name).read_bytes() == (FOLDER / name).read_bytes()


def test_names_places_and_lists(run_here, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "did you mean 'wine.csv'?" in run_here("sample", "wines.csv").err
    assert "there is no sample '../../etc/passwd'" in run_here("sample", "../../etc/passwd").err
    assert all(name in run_here("sample").out for name in SAMPLES)
    assert [row["sample"] for row in json.loads(run_here("sample", "--json").out)] == list(SAMPLES)
    assert "samples are CSV files" in run_here("sample", "wine.csv", "--out", "wine.parquet").err
    assert json.loads(run_here("sample", "wine.csv", "--out", "w.csv", "--json").out)["file"] == "w.csv"
    assert [path.name for path in tmp_path.iterdir()] == ["w.csv"]


@pytest.mark.slow
def test_standard_output_feeds_another_command(run, run_here, tmp_path):
    written = run("sample", "wine.csv", "--out", "-")
    assert written.code == 0
    order = ("--target", "grade", "--order", "poor < fair < good < excellent", "--no-cv")
    done = run("fit", "-", *order, "--out", tmp_path / "m.hull", "--json", stdin=written.out.encode())
    assert done.code == 0, done.err
    assert json.loads(done.out)["training"]["pair_accuracy"] > 0.95
    assert run_here("rank", tmp_path / "m.hull", FOLDER / "new-wine.csv", "--top", "3").out.startswith("3 of 40 rows")
