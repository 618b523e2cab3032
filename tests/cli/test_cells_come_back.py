"""`rank` writes the cells of a CSV file back as they stand in it, for the program that they came from."""

import json
from codecs import BOM_UTF8

import polars as pl
import pytest
from commands import run_inside

GERMAN = (
    "Nr;Preis;Menge;Anteil;Datum;Sorte;Note\n"
    "007;703,20;1.086,21;81,20;31.12.2024;rot;1\n"
    "008;5,00;12,00;n/a;01.02.2024;weiß;2\n"
    "009;+8,50;2.000,00;3,0;02.02.2024;NA;2\n"
    '010;-1,10;7;?;03.02.2024;"a;b";1\n'
)


@pytest.fixture
def german(tmp_path):
    """A table with decimal commas and a model of it."""
    (tmp_path / "t.csv").write_text(GERMAN)
    run_inside("fit", tmp_path / "t.csv", "-t", "Note", "--no-cv", "-o", tmp_path / "m.hull")
    return tmp_path


def rows_of(path):
    """The cells of the table that was ranked, in its own order."""
    rows = pl.read_csv(path, separator=";", infer_schema=False, null_values=[]).sort(pl.col("row").cast(pl.Int64))
    return rows.select("Nr", "Preis", "Menge", "Anteil", "Datum", "Sorte", "Note")


@pytest.mark.parametrize("extra", [(), ("--json",), ("--raw",), ("--top", "4")])
def test_numbers_dates_and_missing_cells_are_as_they_were(run_here, german, extra):
    done = run_here("rank", german / "m.hull", german / "t.csv", "--out", german / "r.csv", *extra)
    assert done.code == 0, done.err
    given = pl.read_csv(german / "t.csv", separator=";", infer_schema=False, null_values=[])
    assert rows_of(german / "r.csv").equals(given)
    assert "," in (german / "r.csv").read_text().splitlines()[1].split(";")[-3]  # the score, with the table's sign


def test_points_and_signs_too(run_here, fitted, tmp_path):
    (tmp_path / "t.csv").write_text("size,age,colour,when,done\n1.50,030,red,1e3,True\n+2.0,4,NA,-0.50,false\n")
    assert run_here("rank", fitted / "model.hull", tmp_path / "t.csv", "--out", tmp_path / "r.csv").code == 0
    lines = sorted(line.rsplit(",", 4)[0] for line in (tmp_path / "r.csv").read_text().splitlines()[1:])
    assert lines == ["+2.0,4,NA,-0.50,false", "1.50,030,red,1e3,True"]


def test_blank_lines_and_columns_without_a_name(run_here, fitted, tmp_path):
    (tmp_path / "t.csv").write_text("size,age,,colour,\n1.50,3,,red,x\n,,,,\n2.50,4,,blue,y\n")
    assert run_here("rank", fitted / "model.hull", tmp_path / "t.csv", "--out", tmp_path / "r.csv").code == 0
    lines = sorted(line.rsplit(",", 4)[0] for line in (tmp_path / "r.csv").read_text().splitlines())
    assert lines == ["1.50,3,red,x", "2.50,4,blue,y", "size,age,colour,column 5"]


def test_other_formats_and_json_have_numbers(run_here, german):
    done = run_here("rank", german / "m.hull", german / "t.csv", "--out", german / "r.parquet", "--json")
    assert sorted(row["Menge"] for row in json.loads(done.out)["ranked"]) == [7.0, 12.0, 1086.21, 2000.0]
    assert pl.read_parquet(german / "r.parquet")["Menge"].dtype == pl.Float64


def test_the_terminal_has_one_decimal_sign(run_here, german):
    shown = run_here("rank", german / "m.hull", german / "t.csv").out
    assert "703,2" in shown
    assert "703.2" not in shown
    assert not any("." in line.split()[1] for line in shown.splitlines()[2:])  # the scores


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_programs_that_need_a_byte_order_mark_get_one(run_here, german, encoding):
    mark = b"" if encoding == "utf-8" else BOM_UTF8
    (german / "t.csv").write_text(GERMAN, encoding=encoding)
    assert run_here("rank", german / "m.hull", german / "t.csv", "--out", german / "r.csv").code == 0
    written = (german / "r.csv").read_bytes()
    assert written.startswith(mark + b"Nr;")
    assert ";weiß;" in written.decode()
    assert run_here("rank", german / "m.hull", german / "r.csv").code == 0
