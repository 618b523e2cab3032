"""``hullrank fit --pairs`` learns from comparisons of rows what the library learns."""

import json

import numpy as np
import polars as pl
import pytest

from hullrank.io import load


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    value = X @ [2.0, -1.0]
    names = [f"wine {k}" for k in range(60)]
    one, other = rng.integers(0, 60, 150), rng.integers(0, 59, 150)
    other += other >= one
    won = value[one] + 0.3 * rng.normal(size=150) > value[other]
    hi, lo = np.where(won, one, other), np.where(won, other, one)
    items = pl.DataFrame({"name": names, "size": X[:, 0], "age": X[:, 1], "grade": np.digitize(value, [-1, 1])})
    items.write_csv(tmp_path / "items.csv")
    named = pl.DataFrame({"winner": [names[k] for k in hi], "loser": [names[k] for k in lo]})
    named.write_csv(tmp_path / "named.csv")
    numbered = pl.DataFrame({"winner": hi + 1, "loser": lo + 1, "weight": np.ones(150)})
    numbered.write_csv(tmp_path / "numbered.csv")
    return tmp_path, value


def test_comparisons_alone_make_a_model_that_ranks(run_here, files):
    folder, value = files
    items, model = folder / "items.csv", folder / "m.hull"
    done = run_here(
        "fit", items, "--pairs", folder / "named.csv", "--id", "name", "--drop", "grade", "--set", "C=100", "-o", model,
        "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    facts = json.loads(done.out)
    assert "learned by --method swapped-pairs, and not by hull" in done.err
    assert facts["pairs"] == 150
    assert facts["training"] > 0.85
    assert facts["left_out"]["mean"] > 0.8
    assert facts["certificate"]["status"] == "converged"
    ranked = folder / "r.csv"
    assert run_here("rank", model, items, "-o", ranked).code == 0
    table = pl.read_csv(ranked)
    order = [int(name.split()[1]) for name in table.sort("rank")["name"].to_list()]
    assert np.corrcoef(np.argsort(order), value)[0, 1] < -0.85  # the best rank is 1
    by_number = folder / "n.hull"
    options = ("--drop", "grade", "--drop", "name", "--set", "C=100", "-o", by_number, "--no-cv")
    assert run_here("fit", items, "--pairs", folder / "numbered.csv", *options).code == 0
    np.testing.assert_allclose(load(by_number)[-1].coef_, load(model)[-1].coef_)


def test_comparisons_beside_grades(run_here, files):
    folder, _ = files
    options = ("--pairs", folder / "named.csv", "--id", "name", "-t", "grade", "-o", folder / "m.hull")
    told = run_here("fit", folder / "items.csv", *options, "-m", "swapped-pairs")
    assert told.code == 0, told.err
    assert "and not by" not in told.err
    assert "Of comparisons left out" in told.out
    alone = load(folder / "m.hull")[-1].certificate_.n_order_constraints
    assert alone > 150


def test_bad_comparisons_are_named(run_here, files):
    folder, _ = files
    items = folder / "items.csv"

    def told(text, *options):
        (folder / "bad.csv").write_text(text)
        done = run_here("fit", items, "--pairs", folder / "bad.csv", "-o", folder / "x.hull", *options)
        assert done.code in (1, 2)
        assert not (folder / "x.hull").exists()
        return done.err

    assert "line 3 of" in told("a,b\nwine 1,wine 2\nwine 1,wine 99x\n", "--id", "name")
    assert "did you mean" in told("a,b\nwine 1,Wine 2\n", "--id", "name")
    said = told("a,b\np1,2\n")  # names that resemble numbers of rows
    assert "did you mean '1'?" in said
    assert "name their column by --id" in said
    assert "column 'name' has it: add --id name" in told("a,b\nwine 1,wine 2\n")
    assert "compares a row with itself" in told("a,b\n1,2\n3,3\n")
    assert "two columns" in told("a\n1\n")
    assert "no weight" in told("a,b,w\n1,2,-3\n")
    assert "has no column 'nam'" in told("a,b\n1,2\n", "--id", "nam")
    assert "--method swapped-pairs" in told("a,b\n1,2\n", "-m", "prank")
    assert "--target" in told("a,b\n1,2\n", "--order", "1 < 2")
    assert run_here("fit", items, "--id", "name").code == 2
