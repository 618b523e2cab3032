"""A title above the names of the columns is seen as one, and whoever wrote it is told which line is the header."""

import importlib.util
from pathlib import Path

import pytest
from commands import ORDER

from hullrank.io.csv_style import header_of
from hullrank.io.header import line_below_title

TABLES = Path(__file__).parent / "tables"
BODY = "name,size,grade\n" + "".join(f"w{i},{i}.5,{('poor', 'fair', 'good')[i % 3]}\n" for i in range(12))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("My wines 2024\n" + BODY, 2),
        ("My wines 2024\n\n" + BODY, 3),
        ("My wines 2024,,\n,,\n" + BODY, 3),
        ("My wines 2024\nfrom the cellar\n\n" + BODY, 4),
        ("My wines 2024\n\n" + BODY.replace(",", ";").replace(".5", ",5"), 3),
        ('"My wines\nof 2024"\n' + BODY, 3),
        ("\n\n" + BODY, 3),
    ],
)
def test_the_line_of_the_header(run_here, fitted, tmp_path, text, line):
    path = tmp_path / "t.csv"
    path.write_text(text)
    told = f"line {line} looks like the header; delete the lines above it"
    commands = {
        "fit": ("fit", path, "-t", "grade", "--order", ORDER, "-o", tmp_path / "m.hull"),
        "rank": ("rank", fitted / "model.hull", path),
        "evaluate": ("evaluate", fitted / "model.hull", path),
        "columns": ("columns", path),
    }
    for name, arguments in commands.items():
        done = run_here(*arguments)
        assert told in done.err, name
        assert name == "columns" or done.code == 1


@pytest.mark.parametrize(
    "text",
    [
        BODY,
        "x\n1,5\n2,5\n3,5\n4,5\n",  # decimal commas in one column
        ",value\n0,1\n1,2\n2,3\n",
        "a,b,c\nx,y,z\nu,v,w\nx,y,w\n",
        "a,,c\n1,2,3\n4,5,6\n7,8,9\n",
        "one\ntwo\nthree\n",
        "name;price;grade\nw0;1.086,21;poor\nw1;1,20;good\nw2;2,20;fair\n",
    ],
)
def test_tables_without_a_title(text):
    assert line_below_title(text) is None


def test_no_table_of_many_countries_has_a_title():
    texts = {path.name: path.read_bytes() for path in TABLES.iterdir() if path.suffix in (".csv", ".tsv")}
    assert len(texts) > 10
    assert not [name for name, data in texts.items() if header_of(data, name)[1].title]


@pytest.mark.parametrize("title", [["My wines 2024"], ["My wines 2024", "", ""]])
def test_spreadsheets(run_here, tmp_path, title):
    pytest.importorskip("fastexcel")
    spec = importlib.util.spec_from_file_location("make", TABLES / "make.py")
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    rows = [title, [], *(line.split(",") for line in BODY.splitlines())]
    (tmp_path / "t.xlsx").write_bytes(make.workbook(rows))
    done = run_here("fit", tmp_path / "t.xlsx", "-t", "grade", "--order", ORDER, "-o", tmp_path / "m.hull")
    assert done.code == 1
    assert "the row that begins with 'name', 'size' looks like the header; delete the rows above it" in done.err
