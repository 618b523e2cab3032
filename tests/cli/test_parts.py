"""Tables larger than memory: Parquet folders and patterns, with the same answers as of the whole table."""

import json
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from commands import ORDER, run_inside, table

from hullrank.cli.parts import memory_in_bytes
from hullrank.exceptions import HullrankError


@pytest.fixture(scope="module")
def grades(tmp_path_factory):
    """A table of 30,000 rows with gaps and words, in five files of unequal size; and the same in one file."""
    folder = tmp_path_factory.mktemp("grades")
    frame = (
        table(n=30_000)
        .drop("number", "weight", "query")
        .with_columns(age=pl.when(pl.col("age") > 85).then(None).otherwise(pl.col("age")))
    )
    edges = [0, 100, 10_000, 17_000, 29_999, 30_000]
    for i, (start, stop) in enumerate(pairwise(edges)):
        frame[start:stop].write_parquet(folder / f"part-{i}.parquet", row_group_size=2_500)
    whole = folder.parent / "whole.parquet"
    frame.write_parquet(whole)
    return folder, whole, frame


@pytest.fixture(scope="module")
def model(grades, tmp_path_factory):
    """A model of the whole table."""
    path = tmp_path_factory.mktemp("model") / "one.hull"
    run_inside("fit", grades[1], "--target", "grade", "--order", ORDER, "--no-cv", "--out", path)
    return path


@pytest.mark.slow
def test_fits_ranks_and_evaluates_like_the_whole_table(run_here, grades, tmp_path):
    folder, whole, frame = grades
    one, parts = tmp_path / "one.hull", tmp_path / "parts.hull"
    options = ("--target", "grade", "--order", ORDER, "--no-cv", "--json")
    first = run_here("fit", whole, *options, "--out", one)
    second = run_here("fit", folder, *options, "--out", parts, "--memory", "1MiB")
    assert first.code == second.code == 0, second.err
    assert "warning" not in second.err
    costs = [json.loads(done.out)["certificate"]["primal"] for done in (first, second)]
    assert costs[0] == pytest.approx(costs[1], rel=1e-2)  # the median of age is that of quantiles
    figures = [
        json.loads(run_here("evaluate", one, whole, "--json").out),
        json.loads(run_here("evaluate", one, folder, "--json", "--memory", "1MiB").out),
        json.loads(run_here("evaluate", parts, folder / "part-*.parquet", "--json", "--memory", "1MiB").out),
    ]
    assert figures[0] == pytest.approx(figures[1])
    assert figures[2]["rows"] == len(frame)
    assert figures[0] == pytest.approx(figures[2], abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl", "json", "arrow"])
def test_ranked_rows_are_sorted_through_files(run_here, grades, model, tmp_path, ending):
    folder, whole, _ = grades
    one, parts = tmp_path / f"one.{ending}", tmp_path / f"parts.{ending}"
    assert run_here("rank", model, whole, "--out", one).code == 0
    done = run_here("rank", model, folder, "--out", parts, "--memory", "1MiB")
    assert done.code == 0, done.err
    assert "30,000 rows, best first, in" in done.out
    read = {"csv": pl.read_csv, "parquet": pl.read_parquet, "json": pl.read_json, "arrow": pl.read_ipc}
    a, b = (read.get(ending, pl.read_ndjson)(file) for file in (one, parts))
    assert a["rank"].to_list() == b["rank"].to_list()
    by_row = [frame.sort("row").drop("score", "rank") for frame in (a, b)]
    assert by_row[0].equals(by_row[1])
    assert not list(tmp_path.glob(".hullrank-*"))


@pytest.mark.slow
def test_only_the_best_rows_are_shown(run_here, grades, model):
    folder, whole, _ = grades
    one, parts = (
        json.loads(run_here("rank", model, *which, "--top", "5", "--json").out)
        for which in ((whole,), (folder, "--memory", "1MiB"))
    )
    assert one == parts
    assert len(parts["ranked"]) == 5
    assert "20 of 30,000 rows, best first" in run_here("rank", model, folder, "--memory", "1MiB").out


def test_a_folder_that_fits_is_a_table_like_any_other(run_here, grades, tmp_path):
    folder, _, _ = grades
    done = run_here("fit", folder, "--target", "grade", "--order", ORDER, "--out", tmp_path / "m.hull")
    assert done.code == 0, done.err
    assert "rows left out" in done.out


@pytest.mark.slow
def test_rows_without_a_grade_are_left_out_once(run_here, tmp_path):
    frame = table(n=40_000).drop("number", "weight", "query")
    holes = np.arange(len(frame)) % 10 == 0
    frame = frame.with_columns(grade=pl.when(~pl.Series(holes)).then(pl.col("grade")))
    frame.write_parquet(tmp_path / "t.parquet")
    done = run_here(
        "fit",
        tmp_path / "t.parquet",
        "--target",
        "grade",
        "--order",
        ORDER,
        "--out",
        tmp_path / "m.hull",
        "--memory",
        "1MiB",
    )
    assert done.code == 0, done.err
    assert done.err.count("4,000 rows of") == 1
    assert "36,000 training rows" in done.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--method", "sampled-pairs"), "draws a row's partners from the whole table; --method swapped-pairs"),
        (("--method", "exact"), "which is for small tables; give more --memory"),
        (("--method", "prank"), "one row after the other in random order"),
        (("--method", "rankboost"), "sorts all rows by every column"),
        (("--set", "kernel=rbf"), "a kernel compares every row with every other; leave out --set kernel=..."),
        (("--set", 'monotonic_cst={"size": 1}'), "leave out --set monotonic_cst=..."),
        (("--method", "swapped-pairs", "--set", "pair_weight=ndcg"), "leave out --set pair_weight=..."),
        (("--set", "C=inf"), "a hard margin (C=inf) needs all rows at once; set a finite C"),
        (("--groups", "colour"), "--groups need all rows in memory"),
        (("--tune",), "--tune needs all rows in memory; set C by --set C=..."),
        (("--probabilities",), "--probabilities needs all rows in memory; leave it out"),
        (("--order", "auto"), "--order auto needs all rows in memory"),
        (("--memory", "lots"), "write it like --memory 2GiB"),
    ],
)
def test_what_needs_all_rows_is_refused_before_they_are_read(run_here, grades, tmp_path, arguments, said):
    folder, _, _ = grades
    options = ("--target", "grade", "--order", ORDER, "--out", tmp_path / "m.hull", "--memory", "1MiB", *arguments)
    done = run_here("fit", folder, *options)
    assert done.code == 1
    assert said in done.err
    assert not (tmp_path / "m.hull").exists()


def test_files_that_do_not_belong_together_are_named(run_here, tmp_path):
    pl.DataFrame({"a": [1.0], "grade": [1]}).write_parquet(tmp_path / "1.parquet")
    pl.DataFrame({"b": [1.0], "grade": [1]}).write_parquet(tmp_path / "2.parquet")
    done = run_here("fit", tmp_path, "--target", "grade", "--out", tmp_path / "m.hull")
    assert done.code == 1
    assert "2.parquet lacks the column 'a'" in done.err
    (tmp_path / "2.parquet").write_text("a,grade\n1,2\n")
    assert "2.parquet is no Parquet file" in run_here("fit", tmp_path, "--out", tmp_path / "m.hull").err
    assert "no file has a name like" in run_here("fit", tmp_path / "x*.parquet", "--out", tmp_path / "m.hull").err


def test_files_that_give_a_column_different_types(run_here, grades, model, tmp_path):
    """As in memory, a column that is whole, real, empty or words is read as what holds them all."""
    frame = grades[2][:12_000]
    parts = [frame[i : i + 3000] for i in range(0, 12_000, 3000)]
    parts[0] = parts[0].with_columns(pl.col("age").round().cast(pl.Int32))
    parts[1] = parts[1].with_columns(age=pl.lit(None))
    for i, part in enumerate(parts):
        part.write_parquet(tmp_path / f"{i}.parquet")
    done = run_here("rank", model, tmp_path, "--memory", "1MiB", "--out", tmp_path / "parts.csv")
    assert done.code == 0, done.err
    assert run_here("rank", model, tmp_path, "--out", tmp_path / "whole.csv").code == 0
    assert (tmp_path / "parts.csv").read_text() == (tmp_path / "whole.csv").read_text()
    parts[2].with_columns(age=pl.concat_list("age")).write_parquet(tmp_path / "2.parquet")
    done = run_here("rank", model, tmp_path, "--memory", "1MiB", "--out", tmp_path / "lists.csv")
    assert done.code == 1
    assert "2.parquet has a column of another type than files before it" in done.err


def test_the_row_of_an_infinite_number_is_counted_from_the_beginning(run_here, grades, model, tmp_path):
    frame = grades[2][:20_000]
    ages = frame["age"].cast(pl.Float64).to_list()
    ages[15_002] = float("inf")
    frame.with_columns(age=pl.Series(ages)).write_parquet(tmp_path / "t.parquet")
    done = run_here("evaluate", model, tmp_path, "--memory", "1MiB")
    assert done.code == 1
    assert "column 'age' is infinite in row 15,003" in done.err


@pytest.mark.parametrize(("text", "size"), [("2GiB", 2 << 30), ("1.5 MB", 3 << 19), ("2097152", 2 << 20)])
def test_sizes(text, size):
    assert memory_in_bytes(text) == size


@pytest.mark.parametrize("text", ["", "2 apples", "-1GiB", "12", "nan"])
def test_sizes_that_are_none(text):
    with pytest.raises(HullrankError, match="write it like"):
        memory_in_bytes(text)
