"""``hullrank columns``: what a table looks like to the other commands; and the events that programs can ask for."""

import json
import re

import polars as pl
import pytest
from commands import ORDER, WORDS, table

from hullrank.io import load


def columns_of(run_here, path, *options):
    done = run_here("columns", path, *options, "--json")
    assert done.code == 0, done.err
    return {column["column"]: column for column in json.loads(done.out)["columns"]}


def test_kinds_missing_cells_and_values_with_their_rows(run_here, csv):
    found = columns_of(run_here, csv)
    frame = table()
    assert {name: column["kind"] for name, column in found.items()} == {
        "size": "numbers", "age": "numbers", "colour": "words", "grade": "words", "number": "numbers",
        "weight": "numbers", "query": "numbers",
    }  # fmt: skip
    assert found["age"]["missing"] == frame["age"].null_count() > 0
    assert found["size"]["values"] is None
    assert found["size"]["distinct"] == 120
    assert not found["grade"]["ordered"]
    counted = dict(frame["grade"].value_counts().iter_rows())
    assert {value["value"]: value["rows"] for value in found["grade"]["values"]} == counted
    assert [value["value"] for value in found["number"]["values"]] == ["1", "2", "3"]


def test_numbers_in_words_are_in_the_order_of_their_values(run_here, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("price;x\n" + "\n".join(f"{price} €;{i}" for i, price in enumerate(["10,5", "9,5", "100,0"] * 4)))
    found = columns_of(run_here, path)["price"]
    assert found["kind"] == "numbers, written as text"
    assert [value["value"] for value in found["values"]] == ["9,5 €", "10,5 €", "100,0 €"]


def test_enumerations_keep_their_order(run_here, tmp_path):
    grades = pl.Enum(["low", "mid", "high"])
    pl.DataFrame({"g": pl.Series(["high", "low", "mid"] * 3, dtype=grades)}).write_parquet(tmp_path / "t.parquet")
    found = columns_of(run_here, tmp_path / "t.parquet")["g"]
    assert found["ordered"]
    assert [value["value"] for value in found["values"]] == ["low", "mid", "high"]


def test_on_a_terminal_and_without_columns(run_here, csv, tmp_path):
    shown = run_here("columns", csv).out
    assert "colour" in shown
    assert "120 rows, separated by commas, with a decimal point" in shown
    (tmp_path / "t.svm").write_text("1 qid:1 1:0.5 3:2\n0 qid:1 2:1\n1 qid:2 1:1\n")
    facts = json.loads(run_here("columns", tmp_path / "t.svm", "--json").out)
    assert facts["columns"] is None
    assert (facts["rows"], facts["features"], facts["queries"]) == (3, 3, True)
    assert facts["target"]["values"] == [{"value": "0.0", "rows": 1}, {"value": "1.0", "rows": 2}]


def test_events_tell_stages_gaps_and_notes(run_here, csv, tmp_path, monkeypatch):
    monkeypatch.setenv("HULLRANK_EVENTS", "1")
    options = ("-t", "grade", "--order", ORDER, *WORDS, "--method", "fixed-margin", "-o", tmp_path / "m.hull", "--json")
    done = run_here("fit", csv, *options)
    assert done.code == 0
    events = [json.loads(line) for line in done.err.splitlines()]
    assert [event["working"] for event in events if "working" in event][1:3] == [
        "encoding 3 columns", "fitting fixed-margin to 120 rows",
    ]  # fmt: skip
    gaps = [event for event in events if "gap" in event]
    assert gaps[-1]["gap"] <= gaps[-1]["tol"]
    assert {"share": 0.8, "remark": "fold 5 of 5"} in events
    assert json.loads(done.out)["model"] == str(tmp_path / "m.hull")


@pytest.mark.parametrize("wrong", [("fit", "nowhere.csv", "-t", "grade"), ("rank", "nowhere.hull", "nowhere.csv")])
def test_errors_are_events_too(run_here, wrong, monkeypatch):
    monkeypatch.setenv("HULLRANK_EVENTS", "1")
    done = run_here(*wrong)
    assert done.code == 1
    assert "nowhere" in json.loads(done.err.splitlines()[-1])["error"]


def test_a_table_of_one_column_is_noted(run_here, tmp_path):
    only = "there is only one column; if there should be more, separate cells by commas"
    (tmp_path / "d.txt").write_text("size grade\n1 a\n2 b\n2 b\n")
    done = run_here("columns", tmp_path / "d.txt")
    assert only in done.err
    assert done.out.rstrip().endswith("3 rows")
    (tmp_path / "d.txt").write_text("size grade\n1 a\n2 b\n")
    done = run_here("columns", tmp_path / "d.txt")
    assert only in done.err
    assert done.code == 1
    assert "no column is left to learn from" in done.err


def test_words_that_say_that_something_is_missing(run_here, tmp_path):
    path = tmp_path / "t.csv"
    cells = ["red", "-", "blue", "k.A.", "red", "none"]
    path.write_text("x,colour,g\n" + "".join(f"{i},{cell},{i % 2}\n" for i, cell in enumerate(cells)))
    done = run_here("columns", path)
    note = "column 'colour': 2 cells are taken as missing: '-', 'k.A.' (--words 'colour' if words like others)"
    assert note in done.err
    assert re.search(r"colour +words +2 +.* 3 columns of 0 and 1, one a word, '-', 'k.A.' as missing", done.out)
    done = run_here("columns", path, "--words", "colour")
    assert "as missing" not in done.err + done.out
    options = ("-t", "g", "--no-cv", "--drop", "x", "-o")
    assert note in run_here("fit", path, *options, tmp_path / "m.hull").err
    assert load(tmp_path / "m.hull")[0].get_feature_names_out().tolist() == ["colour=red", "colour=blue", "colour=none"]
    assert "as missing" not in run_here("fit", path, *options, tmp_path / "w.hull", "--words", "colour").err
    assert "colour=-" in load(tmp_path / "w.hull")[0].get_feature_names_out()
    assert run_here("rank", tmp_path / "m.hull", path).code == 0
