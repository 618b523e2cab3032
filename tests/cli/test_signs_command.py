"""Required signs by the names of a table's columns."""

import json

import numpy as np
import polars as pl
import pytest

from hullrank.io import load


@pytest.fixture
def table(tmp_path):
    """Grades that fall with ``age``, though it is asked to raise them; ``colour`` is a word, ``open`` yes or no."""
    rng = np.random.default_rng(0)
    size, age = rng.normal(size=(2, 200))
    value = size - 0.5 * age + 0.3 * rng.normal(size=200)
    columns = {
        "colour": rng.choice(["red", "blue"], 200), "size": size, "age": 40 + 10 * age,
        "open": rng.choice([True, False], 200), "grade": np.digitize(value, [-0.5, 0.5]),
    }  # fmt: skip
    pl.DataFrame(columns).write_csv(tmp_path / "t.csv")
    return tmp_path / "t.csv"


def fit(run_here, table, signs, *more):
    out = table.parent / "m.hull"
    return run_here("fit", table, "-t", "grade", "--set", f"monotonic_cst={signs}", "-o", out, "--force", *more), out


@pytest.mark.parametrize("method", ["hull", "fixed-margin", "swapped-pairs"])
def test_names_of_columns_are_enough(run_here, table, method):
    done, file = fit(run_here, table, '{"age": 1, "open": -1}', "-m", method, "--no-cv")
    assert done.code == 0, done.err
    pipeline = load(file)
    weights = dict(zip(pipeline[0].get_feature_names_out(), pipeline[-1].coef_, strict=True))
    assert weights["age"] == pytest.approx(0, abs=1e-9)  # it would be negative
    assert weights["open"] <= 1e-9
    assert weights["size"] > 0
    assert pipeline[-1].monotonic_cst == [{"age": 1, "open": -1}.get(name, 0) for name in weights]
    free, _ = fit(run_here, table, "null", "-m", method, "--no-cv")
    assert free.code == 0
    assert dict(zip(weights, load(file)[-1].coef_, strict=True))["age"] < -0.1


@pytest.mark.slow
def test_they_serve_tuning_probabilities_and_the_proof(run_here, table):
    done, file = fit(run_here, table, '{"age": 1}', "-m", "fixed-margin", "--tune", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["cross_validated"]["mean"] > 0.5
    assert json.loads(run_here("certify", file, table, "--json").out)["certified"]
    done, file = fit(run_here, table, '{"age": 1}', "--probabilities", "--no-cv")
    assert done.code == 0, done.err


@pytest.mark.parametrize(
    ("signs", "words"),
    [
        ('{"colour": 1}', "'colour', whose words become a column of 0 and 1 each"),
        ('{"agee": 1}', "'agee', which is no column of features; did you mean 'age'?"),
        ('{"grade": 1}', "'grade', which is no column of features"),
        ('{"age": 2}', "signs are 1, -1 and 0"),
    ],
)
def test_mistakes_are_named(run_here, table, signs, words):
    done, _ = fit(run_here, table, signs)
    assert done.code != 0
    assert words in " ".join(done.err.split())
