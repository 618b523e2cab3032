"""``--tune``: the choice of the cross-validated estimators, in every fit for itself."""

import json

import numpy as np
import pytest
from commands import ORDER, WORDS, table

from hullrank import ConvexHullRanker, ConvexHullRankerCV, SwappedPairsRanker, SwappedPairsRankerCV
from hullrank.cli.folds import Remarks, Task, runner
from hullrank.cli.tuning import tuned
from hullrank.io import TableEncoder, load

OPTIONS = ("-t", "grade", "--order", ORDER, *WORDS)


def columns():
    frame = table().drop("number", "query", "weight")
    return frame.drop("grade"), np.array(frame["grade"].to_list())


@pytest.mark.slow
def test_fit_takes_the_choice_of_the_cross_validated_estimator(run_here, csv, tmp_path):
    done = run_here("fit", csv, *OPTIONS, "--tune", "-o", tmp_path / "m.hull")
    assert done.code == 0, done.err
    X, y = columns()
    Z = TableEncoder().fit_transform(X)
    order = "poor < fair < good"
    search = ConvexHullRankerCV(estimator=ConvexHullRanker(order)).fit(Z, y)
    model = load(tmp_path / "m.hull")[-1]
    assert isinstance(model, ConvexHullRanker)
    assert pytest.approx(search.best_params_["C"]) == model.C
    assert f"Chosen by cross-validation: C={model.C:.3g}" in done.err
    np.testing.assert_allclose(model.score_samples(Z), search.score_samples(Z), atol=1e-8)


def test_a_kernel_tunes_its_width_too(run_here, csv, tmp_path):
    tune = ("--tune", "--no-cv", "--set", "kernel=rbf", "-m", "fixed-margin")
    done = run_here("fit", csv, *OPTIONS, *tune, "-o", tmp_path / "m.hull")
    assert done.code == 0, done.err
    model = load(tmp_path / "m.hull")[-1]
    assert "gamma=" in done.err
    assert isinstance(model.gamma, float)


@pytest.mark.slow
def test_rows_left_out_take_no_part_in_the_choice():
    """Nested: a fold's choice is that of its training rows alone, so other test rows do not change it."""
    frame = table(n=60).drop("grade", "query", "weight")
    from hullrank.cli.data import Data

    y = frame["number"].to_numpy()
    data = Data(frame.drop("number"), frame["number"])
    task = Task("swapped-pairs", data, y, {}, None, None, tune=True)
    train, test = np.arange(40), np.arange(40, 60)
    chosen = tuned(task.take(train))
    Z = TableEncoder().fit_transform(frame.drop("number")[:40])
    assert chosen["C"] == pytest.approx(SwappedPairsRankerCV().fit(Z, y[:40]).best_params_["C"])
    figure = runner(task, Remarks())(train, test)
    encoder = TableEncoder().fit(frame.drop("number")[:40])
    model = SwappedPairsRanker(**chosen).fit(encoder.transform(frame.drop("number")[:40]), y[:40])
    assert figure == pytest.approx(model.score(encoder.transform(frame.drop("number")[40:]), y[40:]))


@pytest.mark.slow
def test_compare_tunes_what_can_be_tuned(run_here, csv):
    methods = ("--methods", "hull,nu-margin", "--cv", "2", "--json", "--tune")
    done = run_here("compare", csv, *OPTIONS, *methods)
    assert done.code == 0, done.err
    assert "nu-margin is not tuned: --tune chooses the C of hull, " in done.err
    assert {row["name"] for row in json.loads(done.out)["methods"]} == {"hull", "nu-margin"}


def test_methods_that_are_not_tuned_are_named_with_the_reason(run_here, csv):
    methods = ("--methods", "prank,sampled-pairs,hull", "--cv", "2", "--tune", "--set", "C=1")
    told = " ".join(run_here("compare", csv, *OPTIONS, *methods).err.split())
    assert "prank, sampled-pairs are not tuned: --tune chooses the C of hull, " in told
    assert "hull is not tuned: C is set by --set" in told


def test_what_cannot_be_tuned_is_refused(run_here, csv, tmp_path):
    done = run_here("fit", csv, *OPTIONS, "--tune", "-m", "prank", "-o", tmp_path / "m.hull")
    assert done.code != 0
    assert "method prank is not tuned: --tune chooses the C of hull, " in done.err
    for method, own in (("sampled-pairs", "C"), ("nu-margin", "fraction"), ("sum-of-margins", "fraction")):
        done = run_here("fit", csv, *OPTIONS, "--tune", "-m", method, "-o", tmp_path / "m.hull")
        assert f"method {method} is not tuned" in done.err
        assert f"set its {own} by --set {own}=..." in " ".join(done.err.split())
    done = run_here("fit", csv, *OPTIONS, "--tune", "--set", "C=1", "-o", tmp_path / "m.hull")
    assert "both choose C" in done.err
    assert not (tmp_path / "m.hull").exists()


def test_tuning_is_named_where_it_may_help(run_here, tmp_path):
    rng = np.random.default_rng(0)
    rows = [["y", *(f"x{j}" for j in range(20))]]
    rows += [[rng.integers(0, 3), *rng.normal(size=20).round(3)] for _ in range(60)]
    path = tmp_path / "noise.csv"
    path.write_text("\n".join(",".join(map(str, row)) for row in rows))
    done = run_here("fit", path, "-t", "y", "-o", tmp_path / "m.hull")
    assert "--tune may find" in done.err
    done = run_here("fit", path, "-t", "y", "--set", "C=0.1", "-o", tmp_path / "n.hull")
    assert "--tune" not in done.err
