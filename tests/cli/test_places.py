"""What a command writes never takes the place of what it reads, and its name promises what is in it."""

import shutil

import pytest
from commands import ORDER, table


@pytest.fixture
def files(fitted, tmp_path):
    """A model and a table of one's own, of which nothing may be lost."""
    for name in ("model.hull", "test.csv"):
        shutil.copy(fitted / name, tmp_path / name)
    return tmp_path


@pytest.mark.parametrize("command", ["rank", "report"])
@pytest.mark.parametrize("name", ["test.csv", "../{}/test.csv", "link.csv", "model.hull"])
def test_what_is_read_is_not_replaced(run_here, files, command, name):
    model, data = files / "model.hull", files / "test.csv"
    (files / "link.csv").symlink_to(data)
    before = model.read_bytes(), data.read_bytes()
    out = files / name.format(files.name)
    done = run_here(command, model, data, "--out", out)
    assert done.code == 1
    what = "model" if name == "model.hull" else "table"
    assert done.err == f"error: {out} is the {what} that is read; give --out another name\n"
    assert (model.read_bytes(), data.read_bytes()) == before


def test_a_fit_by_force_replaces_no_table(run_here, tmp_path):
    data, edges = tmp_path / "data", tmp_path / "edges"
    table().write_csv(data)
    edges.write_text("low,high\npoor,fair\nfair,good\n")
    options = ("-t", "grade", "--force", "--out")
    done = run_here("fit", data, "--order", ORDER, *options, data)
    assert "data is the table that is read" in done.err
    done = run_here("fit", data, "--edges", edges, *options, edges)
    assert "edges is the file of edges that is read" in done.err
    done = run_here("fit", data, "--pairs", edges, *options, edges)
    assert "edges is the file of comparisons that is read" in done.err


def test_a_file_of_a_folder_that_is_read_is_not_replaced(run_here, files):
    folder = files / "parts"
    folder.mkdir()
    for i in range(2):
        table(i).write_parquet(folder / f"{i}.parquet")
    for source in (folder, folder / "*.parquet"):
        done = run_here("rank", files / "model.hull", source, "--out", folder / "1.parquet")
        assert done.code == 1
        assert "1.parquet is part of the table that is read" in done.err
    assert run_here("rank", files / "model.hull", folder, "--out", files / "ranked.parquet").code == 0


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (("report", "model.hull", "test.csv", "--out"), "a report is an HTML page; give a name that ends in .html"),
        (("export", "model.hull", "--onnx"), "an exported model is an ONNX file; give a name that ends in .onnx"),
        (("demo", "--out"), "the picture is a PNG file; give a name that ends in .png"),
    ],
    ids=lambda value: value[0],
)
@pytest.mark.parametrize("name", ["wine.csv", "wine", "other.hull"])
def test_a_name_promises_what_is_in_the_file(run_here, files, monkeypatch, command, message, name):
    monkeypatch.chdir(files)
    done = run_here(*command, name)
    assert done.code == 1
    assert done.err == f"error: {message}, and not {name}\n"
    assert not (files / name).exists()
