"""``hullrank fit --probabilities``: what ``rank`` adds is what the calibrator says, and nonsense is refused."""

import json
import os
import signal

import numpy as np
import polars as pl
import pytest
from commands import ORDER, WORDS, table

from hullrank import ExactRanker, OrdinalCalibrator
from hullrank.exact import portfolio
from hullrank.io import load


def test_rank_adds_the_probability_of_every_grade(run_here, fitted, tmp_path):
    names = ("--target", "grade", "--order", ORDER, *WORDS, "--probabilities", "--out", tmp_path / "m.hull")
    done = run_here("fit", fitted / "data.csv", *names)
    assert done.code == 0, done.err
    assert "Certificate: converged" in done.out
    assert "rows left out" in done.out
    done = run_here("rank", tmp_path / "m.hull", fitted / "test.csv", "--out", tmp_path / "ranked.csv")
    assert done.code == 0, done.err
    ranked, table = pl.read_csv(tmp_path / "ranked.csv"), pl.read_csv(fitted / "test.csv")
    pipeline = load(tmp_path / "m.hull")
    assert isinstance(pipeline[-1], OrdinalCalibrator)
    expected = pipeline.predict_proba(table)
    found = ranked.sort("row").select("P(poor)", "P(fair)", "P(good)").to_numpy()
    np.testing.assert_allclose(found, expected)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    plain = load(fitted / "model.hull").score_samples(table)
    np.testing.assert_allclose(ranked.sort("row")["score"], plain)  # the ranking is the one without probabilities


@pytest.mark.parametrize("width", [80, 60, 30])
def test_on_a_narrow_terminal_columns_of_the_table_make_room(run_here, fitted, tmp_path, monkeypatch, width):
    from hullrank.cli import console

    names = ("--target", "grade", "--order", ORDER, *WORDS, "--probabilities", "--no-cv", "--out", tmp_path / "m.hull")
    assert run_here("fit", fitted / "data.csv", *names).code == 0
    wide = run_here("rank", tmp_path / "m.hull", fitted / "test.csv", "--top", "3").out.splitlines()
    assert wide[1].split()[-4:] == ["size", "age", "colour", "grade"]
    monkeypatch.setattr(console.out, "width", width)
    lines = run_here("rank", tmp_path / "m.hull", fitted / "test.csv", "--top", "3").out.splitlines()
    if width > 50:
        assert len(lines) == 5  # no cell is folded
        assert wide[1].startswith(lines[1].rstrip())
        assert len(lines[1].split()) == {80: 10, 60: 7}[width]


def test_other_commands_take_such_models(run_here, fitted, tmp_path):
    names = ("--target", "grade", "--order", ORDER, *WORDS, "--probabilities", "--no-cv", "--out", tmp_path / "m.hull")
    assert run_here("fit", fitted / "data.csv", *names).code == 0
    plain = json.loads(run_here("evaluate", fitted / "model.hull", fitted / "test.csv", "--json").out)
    assert json.loads(run_here("evaluate", tmp_path / "m.hull", fitted / "test.csv", "--json").out) == plain
    facts = json.loads(run_here("explain", tmp_path / "m.hull", fitted / "data.csv", "--resamples", 2, "--json").out)
    assert facts["training_rows"] is True
    assert facts["model"] == "ConvexHullRanker"
    assert run_here("certify", tmp_path / "m.hull", fitted / "data.csv").code == 0
    assert run_here("report", tmp_path / "m.hull", fitted / "data.csv", "-o", tmp_path / "r.html").code == 0
    assert "P(poor)" in run_here("rank", tmp_path / "m.hull", fitted / "test.csv").out


def test_a_method_that_only_knows_numbers_of_grades(run_here, csv, tmp_path):
    names = ("--target", "grade", "--order", ORDER, *WORDS, "-m", "swapped-pairs", "--no-cv", "--probabilities")
    assert run_here("fit", csv, *names, "--out", tmp_path / "m.hull").code == 0
    ranked = json.loads(run_here("rank", tmp_path / "m.hull", csv, "--json").out)["ranked"]
    assert ranked[0]["P(good)"] > ranked[0]["P(fair)"] > ranked[0]["P(poor)"]
    assert ranked[-1]["P(poor)"] > ranked[-1]["P(good)"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("-t", "size"), "120 different values"),
        (("-t", "number", "--drop", "grade", "-m", "swapped-pairs", "--qid", "query"), "within queries only"),
        (("-t", "grade", "--order", "poor, fair < good"), "partial"),
    ],
)
def test_probabilities_that_mean_nothing_are_refused(run_here, csv, tmp_path, options, words):
    done = run_here("fit", csv, *options, "--probabilities", "--out", tmp_path / "m.hull")
    assert done.code == 1
    assert words in done.err
    assert not (tmp_path / "m.hull").exists()


@pytest.mark.slow
def test_probabilities_are_measured_on_rows_left_out(run_here, csv, tmp_path):
    """Against the same folds by hand, with scikit-learn's log loss and the score written out for three grades."""
    from sklearn.metrics import log_loss
    from sklearn.model_selection import StratifiedKFold

    names = ("-t", "grade", "--order", ORDER, *WORDS, "--probabilities", "-o", tmp_path / "m.hull", "--force")
    done = run_here("fit", csv, *names, "--json")
    found = json.loads(done.out)["cross_validated"]["probabilities"]
    table = pl.read_csv(csv)
    y = np.array([("poor", "fair", "good").index(grade) for grade in table["grade"]])
    P, shares = np.empty((len(y), 3)), np.empty((len(y), 3))
    folds = StratifiedKFold(5, shuffle=True, random_state=0).split(y, np.unique(table["grade"], return_inverse=True)[1])
    for train, test in folds:
        part = tmp_path / "part.csv"
        table[train].write_csv(part)
        assert run_here("fit", part, *names[:-3], "-o", tmp_path / "p.hull", "--force", "--no-cv").code == 0
        P[test] = load(tmp_path / "p.hull").predict_proba(table[test])
        shares[test] = np.bincount(y[train]) / len(train)
    for name, told in (("", P), ("_of_shares", shares)):
        assert found[f"log_loss{name}"] == pytest.approx(log_loss(y, told))
        below = np.column_stack([told[:, 0] - (y == 0), told[:, 0] + told[:, 1] - (y <= 1)])
        assert found[f"ranked_probability_score{name}"] == pytest.approx(np.mean(below**2))
    assert found["log_loss"] < found["log_loss_of_shares"]
    told = run_here("fit", csv, *names).out
    assert f"log loss {found['log_loss']:.4f} (the shares of the grades: {found['log_loss_of_shares']:.4f})" in told


def test_too_few_rows_of_a_grade_leave_the_figure_out(run_here, csv, tmp_path):
    table = pl.read_csv(csv)
    few = pl.concat([table.filter(pl.col("grade") != "poor"), table.filter(pl.col("grade") == "poor").head(6)])
    few.write_csv(csv)
    names = ("-t", "grade", "--order", ORDER, *WORDS, "--probabilities", "-o", tmp_path / "m.hull")
    done = run_here("fit", csv, *names, "--json")
    assert done.code == 0, done.err
    assert "only 6 rows have the grade 'poor', and 10 are needed" in done.err
    assert "probabilities" not in json.loads(done.out)["cross_validated"]


@pytest.mark.parametrize(("search", "status"), [(1, "interrupted"), (2, "max_cells")], ids=["all rows", "a fold"])
def test_ctrl_c_keeps_the_exact_ranking_without_probabilities(run_here, tmp_path, monkeypatch, search, status):
    table(n=60).write_csv(tmp_path / "d.csv")
    out, searches, original = tmp_path / "m.hull", [], portfolio._use_starts

    def stopped(*arguments):
        searches.append(None)
        if len(searches) == search:
            os.kill(os.getpid(), signal.SIGINT)
        original(*arguments)

    monkeypatch.setattr(portfolio, "_use_starts", stopped)
    names = ("--target", "grade", "--order", ORDER, *WORDS, "--probabilities", "--out", out)
    done = run_here("fit", tmp_path / "d.csv", *names, "-m", "exact", "--set", "max_cells=200")
    assert done.code == 0, done.err
    assert len(searches) == search
    assert "no probabilities: Ctrl-C came before they were learned" in done.err
    model = load(out)[-1]
    assert isinstance(model, ExactRanker)
    assert model.certificate_.status == status
    ranked = run_here("rank", out, tmp_path / "d.csv", "--out", tmp_path / "r.csv")
    assert ranked.code == 0, ranked.err
    assert not [name for name in pl.read_csv(tmp_path / "r.csv").columns if name.startswith("P(")]
