"""Thresholds that the report saves decide about the grades that ``hullrank rank`` gives."""

import json

import numpy as np
import polars as pl
import pytest

from hullrank.io import load

GRADES = ["poor", "fair", "good"]


def saved(path, thresholds, grades=GRADES):
    path.write_text(json.dumps({"hullrank": "thresholds", "grades": grades, "thresholds": thresholds}))
    return path


def test_saved_thresholds_decide_about_grades(run_here, fitted, tmp_path):
    scores = load(fitted / "model.hull").score_samples(pl.read_csv(fitted / "test.csv"))
    cuts = np.quantile(scores, [0.1, 0.2]).tolist()
    path = saved(tmp_path / "t.json", cuts)
    done = run_here(
        "rank", fitted / "model.hull", fitted / "test.csv", "--thresholds", path, "--out", tmp_path / "r.csv"
    )
    assert done.code == 0, done.err
    ranked = pl.read_csv(tmp_path / "r.csv").sort("row")
    assert ranked["grade_"].to_list() == [GRADES[int((s > np.array(cuts)).sum())] for s in scores]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"thresholds": [1, 2]}', "holds no thresholds"),
        ("nothing", "holds no thresholds"),
        ('{"grades": ["a", "b", "c"], "thresholds": [1, 2]}', "is for the grades a, b, c"),
        ('{"grades": ["poor", "fair", "good"], "thresholds": [2, 1]}', "2 numbers that do not fall"),
        ('{"grades": ["poor", "fair", "good"], "thresholds": [1]}', "2 numbers that do not fall"),
        ('{"grades": ["poor", "fair", "good"], "thresholds": [1, NaN]}', "2 numbers that do not fall"),
    ],
)
def test_other_files_are_refused(run_here, fitted, tmp_path, content, words):
    (tmp_path / "t.json").write_text(content)
    done = run_here("rank", fitted / "model.hull", fitted / "test.csv", "--thresholds", tmp_path / "t.json")
    assert done.code == 1
    assert words in done.err
