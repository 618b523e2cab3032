"""``hullrank fit --order auto`` finds the order of the grades, and fits nothing before it is confirmed."""

import json
import shlex

import numpy as np
import polars as pl
from commands import WORDS


def test_the_order_that_is_found_can_be_confirmed(run_here, csv, tmp_path):
    model = tmp_path / "m.hull"
    options = ("-t", "grade", *WORDS, "-o", model)
    told = run_here("fit", csv, *options, "--order", "auto")
    assert told.code == 0, told.err
    assert not model.exists()
    offered = [line for line in told.out.splitlines() if line.strip().startswith("--order")]
    texts = [shlex.split(line)[1] for line in offered]
    assert {"poor < fair < good", "good > fair > poor"} & set(texts)
    assert "decide the whole order" in told.out
    assert run_here("fit", csv, *options, *shlex.split(offered[1]), "--no-cv").code == 0
    assert model.exists()


def test_undecided_grades_are_named(run_here, tmp_path):
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(4), 80)
    size = rng.normal(size=320) + 2.0 * np.array([0, 1, 1, 2])[codes]
    path = tmp_path / "d.csv"
    grade = np.array(["low", "left, or so", "right", "top"])[codes]
    pl.DataFrame({"size": size, "other": rng.normal(size=320), "grade": grade}).write_csv(path)
    found = json.loads(run_here("fit", path, "-t", "grade", "--order", "auto", "--json").out)
    assert [set(pair) for pair in found["undecided"]] == [{"left, or so", "right"}]
    confirmed = shlex.split(found["confirm"])
    done = run_here("fit", path, "-t", "grade", *confirmed, "-o", tmp_path / "m.hull", "--no-cv")
    assert done.code == 0, done.err
    told = run_here("fit", path, "-t", "grade", "--order", "auto").out
    assert "do not decide the order of" in told


def test_every_method_hands_on_the_settings_that_the_search_shares(run_here, tmp_path):
    """Grades that lie in rings have an order for squares of the columns, and none for a linear score."""
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(3), 60)
    angle, radius = rng.uniform(0, 2 * np.pi, 180), 1.0 + 2 * codes + 0.2 * rng.normal(size=180)
    path = tmp_path / "rings.csv"
    grade = np.array(["inner", "middle", "outer"])[codes]
    pl.DataFrame({"a": radius * np.cos(angle), "b": radius * np.sin(angle), "grade": grade}).write_csv(path)

    def found(method, *settings):
        options = [part for setting in settings for part in ("--set", setting)]
        return run_here("fit", path, "-t", "grade", "--order", "auto", "-m", method, *options, "--json")

    for method in ("hull", "fixed-margin", "swapped-pairs", "nu-margin"):
        assert json.loads(found(method, "kernel=poly", "degree=2").out)["undecided"] == [], method
    told = found("fixed-margin", "kernel=poly", "degree=2", "thresholds=immediate", "C=2")
    assert told.code == 0
    assert "leaves out thresholds" in told.err
    assert "leaves out C" in found("swapped-pairs", "C=2").err
    refused = found("fixed-margin", "kernl=rbf")
    assert refused.code == 1
    assert "did you mean 'kernel'" in refused.err


def test_only_fit_takes_auto(run_here, csv):
    told = run_here("compare", csv, "-t", "grade", "--order", "auto")
    assert told.code == 1
    assert "hullrank fit" in told.err
    many = run_here("fit", csv, "-t", "size", "--drop", "grade", "--order", "auto")
    assert many.code == 1
    assert "up to 20 grades" in many.err
