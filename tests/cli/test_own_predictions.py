"""A table that `rank` wrote has the model's own grades in it, and is no test of the model."""

import pytest
from commands import table

NOTE = "column 'grade' of {} holds what this model predicted"


@pytest.mark.parametrize("command", ["evaluate", "report", "explain"])
def test_figures_on_its_own_grades_mean_nothing(run_here, fitted, tmp_path, command):
    model, new, ranked = fitted / "model.hull", tmp_path / "new.csv", tmp_path / "ranked.csv"
    table(1).drop("grade").write_csv(new)
    assert run_here("rank", model, new, "--out", ranked).code == 0
    options = ("--out", tmp_path / "r.html") if command == "report" else ()
    done = run_here(command, model, ranked, *options)
    assert done.code == 0, done.err
    assert f"warning: {NOTE.format(ranked)}" in done.err
    assert "mean nothing" in done.err


def test_grades_that_the_table_brought_are_honest(run_here, fitted, tmp_path):
    model, ranked = fitted / "model.hull", tmp_path / "ranked.csv"
    assert run_here("rank", model, fitted / "test.csv", "--out", ranked).code == 0
    done = run_here("evaluate", model, ranked)
    assert done.code == 0
    assert done.err == ""


def test_columns_named_like_those_of_a_ranking_are_honest_too(run_here, fitted, tmp_path):
    rows = table(1).with_columns(rank=table(1)["age"], score=table(1)["size"], row=table(1)["age"])
    rows.write_csv(tmp_path / "t.csv")
    done = run_here("evaluate", fitted / "model.hull", tmp_path / "t.csv")
    assert done.code == 0
    assert done.err == ""


def test_parts_of_a_large_table(run_here, fitted, tmp_path):
    new, ranked = tmp_path / "new.parquet", tmp_path / "ranked.parquet"
    table(1, n=20_000).drop("grade").write_parquet(new)
    assert run_here("rank", fitted / "model.hull", new, "--out", ranked).code == 0
    done = run_here("evaluate", fitted / "model.hull", ranked, "--memory", "2MiB")
    assert done.code == 0, done.err
    assert done.err.count(NOTE.format(ranked)) == 1
