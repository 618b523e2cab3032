"""A table that has drifted from the training table is ranked all the same, and a line says how."""

import polars as pl
import pytest
from commands import table

MISSING = "'age' is missing in all 40 rows; the median of the training rows is used\n"
NEW = "'colour': 40 of 40 rows hold words that the model has not seen ('moon'); they count as none of those it knows\n"


@pytest.fixture
def told(run_here, fitted, tmp_path):
    """The notes of `rank` (or another command) about a table."""

    def command(frame, *options, name="rank", ending="csv"):
        path = tmp_path / f"t.{ending}"
        frame.write_parquet(path) if ending == "parquet" else frame.write_csv(path)
        done = run_here(name, fitted / "model.hull", path, *options)
        assert done.code == 0, done.err
        return done.err

    return command


@pytest.mark.parametrize("name", ["rank", "evaluate"])
def test_a_column_without_a_cell_and_one_with_other_words(told, name):
    rows = table(1, n=40)
    assert told(rows, "--json", name=name) == ""
    assert told(rows.with_columns(age=None), "--json", name=name) == MISSING
    assert told(rows.with_columns(age=pl.lit("k.A.")), "--json", name=name) == MISSING
    assert told(rows.with_columns(colour=pl.lit("moon")), "--json", name=name) == NEW
    assert "'colour' is missing in all 40 rows; no word is used" in told(rows.with_columns(colour=None), name=name)


def test_a_few_new_words_are_not_worth_a_line(told):
    rows = table(1, n=40)
    new = rows.with_columns(colour=pl.when(pl.int_range(40) < 20).then(pl.lit("moon")).otherwise(pl.lit("red")))
    assert told(new) == "use --out FILE for all 40 of them\n"
    most = rows.with_columns(colour=pl.when(pl.int_range(40) < 21).then(pl.lit("moon")).otherwise(pl.lit("red")))
    assert "'colour': 21 of 40 rows hold words" in told(most)


def test_one_row(told):
    assert "'age' is missing in the only row" in told(table(1, n=1).with_columns(age=None))


@pytest.mark.parametrize("name", ["rank", "evaluate"])
def test_parts_of_a_large_table_are_counted_together(told, name):
    rows = table(1, n=20_000).with_columns(age=pl.lit(None, pl.Int64), colour=pl.lit("moon"))
    notes = told(rows, "--memory", "2MiB", "--json", name=name, ending="parquet")
    assert notes == (MISSING + NEW).replace("40", "20,000")


def test_words_of_the_model_are_no_marks_of_what_is_missing(run_here, tmp_path):
    (tmp_path / "t.csv").write_text("size,extra,grade\n1,none,1\n2,nuts,2\n3,none,3\n4,nuts,2\n")
    assert run_here("fit", tmp_path / "t.csv", "-t", "grade", "--no-cv", "-o", tmp_path / "m.hull").code == 0
    (tmp_path / "new.csv").write_text("size,extra\n1,none\n2,none\n")
    assert run_here("rank", tmp_path / "m.hull", tmp_path / "new.csv").err == ""
