"""``--groups``: own thresholds for every panel, from the table to ranked rows."""

import json

import numpy as np
import polars as pl
import pytest

from cases import slow_after
from hullrank import FixedMarginClassifier
from hullrank.io import load

METHODS = ("hull", "fixed-margin", "nu-margin", "sum-of-margins")


@pytest.fixture
def files(tmp_path):
    """Grades of three panels, of which each is stricter than the one before; and the same of new rows."""
    rng = np.random.default_rng(0)
    for name, n in (("train", 240), ("new", 120)):
        X = rng.normal(size=(n, 2))
        panel = np.arange(n) % 3
        value = X @ [2.0, -1.0] + 0.2 * rng.normal(size=n) - 2.0 * (panel - 1)
        grade = np.array(["bad", "fair", "good"])[np.digitize(value, [-1.0, 1.0])]
        table = {"size": X[:, 0], "age": X[:, 1], "grade": grade, "panel": np.array(["ann", "bob", "cy"])[panel]}
        pl.DataFrame(table).write_csv(tmp_path / f"{name}.csv")
    return tmp_path


ASKED = ("-t", "grade", "--order", "bad < fair < good", "--groups", "panel")


@pytest.mark.parametrize("method", slow_after(1, METHODS))
def test_grades_are_cut_at_the_thresholds_of_the_panel(run_here, files, method):
    train, new, model = files / "train.csv", files / "new.csv", files / "m.hull"
    done = run_here("fit", train, *ASKED, "-m", method, "-o", model, "--json")
    assert done.code == 0, done.err
    facts = json.loads(done.out)
    assert facts["training"]["pair_accuracy_within_groups"] > 0.9
    assert facts["cross_validated"]["figure"] == "pair accuracy within groups"
    assert facts["certificate"]["status"] == "converged"
    ranked = files / "r.csv"
    assert run_here("rank", model, new, "-o", ranked).code == 0
    table, step = pl.read_csv(ranked), load(model)[-1]
    assert step.groups_.tolist() == ["ann", "bob", "cy"]
    cuts = step.thresholds_for(table["panel"].to_numpy())
    grades = np.array(["bad", "fair", "good"])[(table["score"].to_numpy()[:, None] > cuts).sum(axis=1)]
    assert table["grade_"].to_list() == grades.tolist()
    measured = json.loads(run_here("evaluate", model, new, "--json").out)
    assert measured["accuracy"] == pytest.approx((table["grade"] == table["grade_"]).mean())
    assert measured["accuracy"] > 0.75
    assert "pair accuracy" not in measured
    common = files / "c.hull"
    plain = ("-t", "grade", "--order", "bad < fair < good", "--drop", "panel", "-m", method, "--no-cv")
    assert run_here("fit", train, *plain, "-o", common).code == 0
    assert json.loads(run_here("evaluate", common, new, "--json").out)["accuracy"] < measured["accuracy"] - 0.1


def test_the_fit_is_that_of_the_library(run_here, files):
    model = files / "m.hull"
    assert run_here("fit", files / "train.csv", *ASKED, "-m", "fixed-margin", "-o", model, "--no-cv").code == 0
    frame, pipeline = pl.read_csv(files / "train.csv"), load(model)
    Z = pipeline[0].transform(frame.select("size", "age"))
    own = FixedMarginClassifier(**pipeline[-1].get_params())
    own.fit(Z, frame["grade"].to_numpy(), groups=frame["panel"].to_numpy())
    np.testing.assert_allclose(pipeline[-1].coef_, own.coef_, rtol=1e-6)
    done = run_here("certify", model, files / "train.csv", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["certified"]


def test_explain_shows_thresholds_by_group(run_here, files):
    model = files / "m.hull"
    assert run_here("fit", files / "train.csv", *ASKED, "-o", model, "--no-cv").code == 0
    facts = json.loads(run_here("explain", model, files / "train.csv", "--resamples", "3", "--json").out)
    assert [line["group"] for line in facts["groups"]] == ["ann", "bob", "cy"]
    cuts = [line["bad | fair"] for line in facts["groups"]]
    assert cuts[0] < cuts[1] < cuts[2]
    assert facts["training_rows"] is True
    assert facts["resamples"] == 3
    step, frame = load(model)[-1], pl.read_csv(files / "train.csv")
    predicted = step.predict_class(load(model)[0].transform(frame.select("size", "age")), groups=frame["panel"])
    wrong = set((np.flatnonzero(predicted != frame["grade"].to_numpy()) + 1).tolist())
    assert {line["row"] for line in facts["violators"]} <= wrong
    shown = run_here("explain", model).out
    assert "Thresholds between two grades, by group" in shown
    assert "cy" in shown
    report = files / "r.html"
    assert run_here("report", model, files / "train.csv", "-o", report).code == 0
    page = report.read_text()
    assert "pairs within groups" in page
    assert "These are the rows that it was fitted to" in page


def test_panels_that_were_not_seen_get_the_mean(run_here, files):
    model = files / "m.hull"
    assert run_here("fit", files / "train.csv", *ASKED, "-o", model, "--no-cv").code == 0
    new = pl.read_csv(files / "new.csv").with_columns(
        panel=pl.when(pl.int_range(pl.len()) < 30).then(pl.lit("dee")).when(pl.int_range(pl.len()) < 40).then(None)
        .otherwise("panel")
    )  # fmt: skip
    new.write_csv(files / "odd.csv")
    done = run_here("rank", model, files / "odd.csv", "-o", files / "r.csv")
    assert done.code == 0, done.err
    assert "40 of 120 rows are of groups that the model has not seen (no group, 'dee')" in " ".join(done.err.split())
    table, step = pl.read_csv(files / "r.csv"), load(model)[-1]
    unseen = table.filter(pl.col("row") <= 40)
    expected = step.classes_[np.searchsorted(step.thresholds_, unseen["score"].to_numpy())]
    assert unseen["grade_"].to_list() == expected.tolist()


def test_numbers_name_panels_too(run_here, files):
    frame = pl.read_csv(files / "train.csv").with_columns(panel=pl.col("panel").replace({"ann": 1, "bob": 2, "cy": 3}))
    frame.write_csv(files / "numbers.csv")
    model = files / "m.hull"
    assert run_here("fit", files / "numbers.csv", *ASKED, "-o", model, "--no-cv").code == 0
    frame.with_columns(panel=pl.col("panel").cast(pl.Float64)).write_parquet(files / "floats.parquet")
    done = run_here("rank", model, files / "floats.parquet", "-o", files / "r.csv")
    assert done.code == 0
    assert "not seen" not in done.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("-m", "swapped-pairs"), "swapped-pairs has no thresholds per group; use one of"),
        (("--qid", "size"), "rows are compared within queries, or within groups"),
        (("--probabilities",), "a grade has another probability in every group"),
        (("--tune",), "its folds count pairs across groups"),
    ],
)
def test_what_cannot_be_had_with_groups_says_why(run_here, files, options, words):
    done = run_here("fit", files / "train.csv", *ASKED, *options, "-o", files / "m.hull")
    assert done.code != 0
    assert words in " ".join(done.err.split())


def test_methods_are_compared_within_panels_and_those_that_ignore_them_are_named(run_here, files):
    methods = ("hull", "fixed-margin", "swapped-pairs")
    done = run_here("compare", files / "train.csv", *ASKED, "--methods", ",".join(methods), "--json")
    assert done.code == 0, done.err
    assert "swapped-pairs: learned as if a grade meant the same in all groups" in " ".join(done.err.split())
    facts = json.loads(done.out)
    assert facts["figure"] == "pair accuracy within groups"
    mean = {row["name"]: row["mean"] for row in facts["methods"]}
    assert min(mean["hull"], mean["fixed-margin"]) > 0.9
    fitted = json.loads(run_here("fit", files / "train.csv", *ASKED, "-o", files / "m.hull", "--json").out)
    assert mean["hull"] == pytest.approx(fitted["cross_validated"]["mean"], rel=1e-12)
    refused = run_here("compare", files / "train.csv", *ASKED, "--tune")
    assert "its folds count pairs across groups" in " ".join(refused.err.split())


def test_rows_without_a_panel_and_other_mistakes(run_here, files):
    frame, model = pl.read_csv(files / "train.csv"), files / "m.hull"
    frame.with_columns(panel=pl.when(pl.int_range(pl.len()) == 6).then(None).otherwise("panel")).write_csv(
        files / "gap.csv"
    )
    done = run_here("fit", files / "gap.csv", *ASKED, "-o", model)
    assert done.code != 0
    assert "row 7 has no group in column 'panel'" in done.err
    partial = ("-t", "grade", "--order", "bad < fair, good", "--groups", "panel")
    assert "a partial order has none" in " ".join(
        run_here("fit", files / "train.csv", *partial, "-o", model).err.split()
    )
    assert run_here("fit", files / "train.csv", *ASKED, "-o", model, "--no-cv").code == 0
    frame.drop("panel").write_csv(files / "none.csv")
    assert "name the column by --groups" in " ".join(run_here("rank", model, files / "none.csv").err.split())
    plain = files / "p.hull"
    assert run_here("fit", files / "train.csv", *ASKED[:-2], "-o", plain, "--no-cv").code == 0
    refused = run_here("rank", plain, files / "new.csv", "--groups", "panel")
    assert "fitted without --groups" in " ".join(refused.err.split())
