"""``hullrank explain``: errors of the weights on the training table, influences of kernel models."""

import json

import numpy as np
import polars as pl
import pytest
from commands import ORDER, WORDS

from hullrank import summarise
from hullrank.io import load


def test_the_training_table_gives_errors_of_the_weights(run_here, fitted):
    done = run_here("explain", fitted / "model.hull", fitted / "data.csv", "--resamples", 8, "--json")
    assert done.code == 0, done.err
    facts = json.loads(done.out)
    frame = pl.read_csv(fitted / "data.csv")
    table = summarise(load(fitted / "model.hull"), frame, frame["grade"].to_numpy(), n_resamples=8).to_frame()
    assert facts["training_rows"] is True
    assert facts["resamples"] == 8
    for name in ("weight", "standard_error", "low", "high"):
        found = [row[name] for row in facts["weights"]]
        np.testing.assert_allclose(found, table[name.replace("_", " ")], rtol=1e-6)
    for row in facts["weights"]:
        assert row["low"] <= row["high"]
    assert facts["grades"][0]["margin_above"] == pytest.approx(1)
    shown = run_here("explain", fitted / "model.hull", fitted / "data.csv", "--resamples", 8).out
    assert "95% intervals of 8 bootstrap resamples" in shown


def test_another_table_gives_none(run_here, fitted):
    done = run_here("explain", fitted / "model.hull", fitted / "test.csv", "--json")
    assert "not the rows of the fit" in done.err
    facts = json.loads(done.out)
    assert facts["training_rows"] is False
    assert facts["resamples"] == 0
    assert set(facts["weights"][0]) == {"feature", "weight"}


def test_weights_and_queries_of_the_fit_are_found_again(run_here, csv, tmp_path):
    drop = ("--drop", "grade", "--weights", "weight", "--qid", "query", "--no-cv", "--out", tmp_path / "m.hull")
    assert run_here("fit", csv, "-t", "number", "-m", "swapped-pairs", *drop).code == 0
    facts = json.loads(run_here("explain", tmp_path / "m.hull", csv, "--resamples", 3, "--json").out)
    assert facts["training_rows"] is True
    assert facts["resamples"] == 3


@pytest.mark.parametrize("method", ["prank", "rankboost", "exact"])
def test_methods_with_their_own_ways(run_here, csv, tmp_path, method):
    limit = ("--set", "time_limit=1") if method == "exact" else ()
    names = ("fit", csv, "-t", "number", "--drop", "grade", "--drop", "colour", "--no-cv", "-m", method, *limit)
    assert run_here(*names, "--out", tmp_path / "m.hull").code == 0
    done = run_here("explain", tmp_path / "m.hull", csv, "--resamples", 2, "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["resamples"] == (0 if method == "exact" else 2)
    assert ("search of its own" in done.err) == (method == "exact")


def test_kernel_models_show_the_influence_of_the_columns_of_the_table(run_here, csv, tmp_path):
    names = ("--target", "grade", "--order", ORDER, *WORDS, "--set", "kernel=rbf", "--no-cv")
    assert run_here("fit", csv, *names, "--out", tmp_path / "m.hull").code == 0
    facts = json.loads(run_here("explain", tmp_path / "m.hull", csv, "--json").out)
    assert facts["weights"] == []
    told = {row["feature"]: row["influence"] for row in facts["influences"]}
    assert set(told) == {"size", "age", "colour"}
    assert max(told, key=told.get) == "size"
    assert "when a feature is shuffled" in run_here("explain", tmp_path / "m.hull", csv).out


@pytest.mark.slow
def test_a_scoring_system_shows_its_card_for_the_values_of_the_table(run_here, tmp_path):
    """Points times the cells of the table, added up by hand, give the totals of the card."""
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {"age": rng.integers(3, 9, 150), "smoker": rng.choice(["yes", "no"], 150), "fever": rng.integers(0, 2, 150)}
    )
    risk = 0.5 * frame["age"].to_numpy() + (frame["smoker"] == "yes").to_numpy() + frame["fever"].to_numpy()
    frame = frame.with_columns(ill=(risk + rng.logistic(size=150) > 3.5).astype(int))
    frame.write_csv(tmp_path / "d.csv")
    settings = ("--set", "weights=integer", "--set", "max_weight=2", "--no-cv", "--out", tmp_path / "m.hull")
    assert run_here("fit", tmp_path / "d.csv", "-t", "ill", "-m", "exact", *settings).code == 0
    card = json.loads(run_here("explain", tmp_path / "m.hull", "--json").out)["card"]
    cells = {"age": frame["age"], "fever": frame["fever"]}
    cells |= {f"smoker={word}": (frame["smoker"] == word).cast(int) for word in ("yes", "no")}
    total = sum(row["points"] * cells[row["feature"]].to_numpy() for row in card["points"])
    for row in card["totals"]:
        inside = total == float(row["total"])
        assert (row["samples"], row["positive"]) == (inside.sum(), frame["ill"].to_numpy()[inside].sum())
    assert sum(row["samples"] for row in card["totals"]) == 150
    shown = run_here("explain", tmp_path / "m.hull").out
    assert "Points, per unit of a feature" in shown
    assert "Training rows by their total of points" in shown
    assert "Weights" not in shown
