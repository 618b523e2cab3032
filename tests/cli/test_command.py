"""The command does on files what the library does on arrays."""

import json
import re

import numpy as np
import polars as pl
import pytest
from commands import ORDER, WORDS, table
from sklearn.datasets import dump_svmlight_file

from hullrank.cli.methods import METHODS
from hullrank.io import load, read_model, read_table, save


@pytest.mark.slow
def test_from_stdin_to_stdout(run, fitted):
    """The installed program, in a process of its own."""
    ranked = run(
        "rank", fitted / "model.hull", "-", "--top", "2", "--out", "-", stdin=(fitted / "test.csv").read_bytes()
    )
    assert ranked.code == 0, ranked.err
    assert ranked.out.splitlines()[0].endswith("rank,score,grade_,row")
    assert len(ranked.out.splitlines()) == 3


@pytest.mark.parametrize("command", ["fit", "rank", "evaluate", "compare", "explain", "certify", "demo", "doctor"])
def test_help_has_an_example(run_here, command):
    shown = run_here(command, "--help")
    assert shown.code == 0
    assert command == "doctor" or f"hullrank {command}" in shown.out.replace("\n", " ")


def test_usage_errors_have_code_2(run_here, csv):
    assert run_here("fit").code == 2
    assert run_here("nonsense").code == 2
    assert run_here("rank", "model.hull", csv, "--top", "0").code == 2
    assert run_here("--version").out.startswith("hullrank ")


@pytest.mark.slow
@pytest.mark.parametrize("method", ["hull", "swapped-pairs", "sampled-pairs", "prank", "rankboost"])
def test_every_method_sees_the_declared_order(run_here, csv, tmp_path, method):
    out = tmp_path / "m.hull"
    done = run_here("fit", csv, "-t", "grade", "--order", ORDER, *WORDS, "-m", method, "-o", out, "--json")
    assert done.code == 0, done.err
    accuracy = json.loads(done.out)["training"]["pair_accuracy"]
    assert accuracy > 0.8
    assert json.loads(run_here("evaluate", out, csv, "--json").out)["pair_accuracy"] == pytest.approx(accuracy)
    ranked = tmp_path / "r.csv"
    assert run_here("rank", out, csv, "-o", ranked).code == 0
    places = pl.read_csv(ranked).group_by("grade").agg(pl.col("rank").mean()).sort("rank")["grade"].to_list()
    assert places == ["good", "fair", "poor"]


@pytest.mark.parametrize("method", ["hull", "hull-l1", "fixed-margin", "all-thresholds", "nu-margin", "sum-of-margins"])
def test_fit_saves_what_the_library_would_fit(run_here, csv, tmp_path, method):
    out = tmp_path / "m.hull"
    options = ("-t", "grade", "--order", ORDER, *WORDS, "-m", method, "-o", out, "--no-cv", "--json")
    done = run_here("fit", csv, *options)
    assert done.code == 0, done.err
    facts = json.loads(done.out)
    assert facts["training"]["pair_accuracy"] > 0.9
    assert facts["certificate"]["relative_gap"] <= 1e-6
    model = load(out)
    assert model[-1].classes_.tolist() == ["poor", "fair", "good"]
    frame = table()
    again = type(model[-1])(**model[-1].get_params()).fit(model[0].transform(frame), frame["grade"].to_numpy())
    np.testing.assert_allclose(again.coef_, model[-1].coef_, rtol=1e-6, atol=1e-9)


def test_weights_reach_the_model(run_here, csv, tmp_path):
    out = tmp_path / "m.hull"
    drop = ("--drop", "number", "--drop", "query", "--no-cv")
    assert run_here("fit", csv, "-t", "grade", "--order", ORDER, "--weights", "weight", *drop, "-o", out).code == 0
    model, frame = load(out), table()
    assert "weight" not in model.feature_names_in_
    again = type(model[-1])(**model[-1].get_params())
    again.fit(model[0].transform(frame), frame["grade"].to_numpy(), sample_weight=frame["weight"].to_numpy())
    np.testing.assert_allclose(again.coef_, model[-1].coef_, rtol=1e-6, atol=1e-9)


def test_numeric_grades_need_no_order_and_edges_may_state_one(run_here, csv, tmp_path):
    done = run_here("fit", csv, "-t", "number", "--drop", "grade", "--no-cv", "-o", tmp_path / "n.hull")
    assert done.code == 0, done.err
    assert load(tmp_path / "n.hull")[-1].classes_.tolist() == [1, 2, 3]
    (tmp_path / "edges.csv").write_text("lower,higher\n1,3\n2,3\n")
    edges = ("--edges", tmp_path / "edges.csv", "--drop", "grade", "--no-cv", "-o", tmp_path / "e.hull")
    done = run_here("fit", csv, "-t", "number", *edges)
    assert done.code == 0, done.err
    assert load(tmp_path / "e.hull")[-1].order_.edges == [(1, 3), (2, 3)]


@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_a_column_that_carries_its_order_needs_no_option(run_here, tmp_path, ending):
    path, out = tmp_path / f"data.{ending}", tmp_path / "m.hull"
    frame = table().cast({"grade": pl.Enum(["poor", "fair", "good"])})
    (frame.write_parquet if ending == "parquet" else frame.write_ipc)(path)
    done = run_here("fit", path, "-t", "grade", *WORDS, "-o", out, "--no-cv", "--json")
    assert done.code == 0, done.err
    assert load(out)[-1].classes_.tolist() == ["poor", "fair", "good"]


def test_rank_writes_every_row_once_best_first(run_here, fitted, tmp_path):
    for ending in ("csv", "parquet", "jsonl", "tsv", "feather"):
        out = tmp_path / f"ranked.{ending}"
        done = run_here("rank", fitted / "model.hull", fitted / "test.csv", "-o", out)
        assert done.code == 0, done.err
        ranked = read_table(out)
        assert ranked["row"].sort().to_list() == list(range(1, 121))
        assert ranked["score"].is_sorted(descending=True)
        assert ranked["rank"].is_sorted()
        frame = pl.read_csv(fitted / "test.csv")
        np.testing.assert_allclose(ranked.sort("row")["score"], load(fitted / "model.hull").score_samples(frame))


def test_rank_says_how_many_of_how_many(run_here, fitted, tmp_path):
    model, data = fitted / "model.hull", fitted / "test.csv"
    assert run_here("rank", model, data, "--top", "5").out.startswith("5 of 120 rows, best first")
    assert run_here("rank", model, data).out.startswith("20 of 120 rows, best first")
    assert run_here("rank", model, data, "-o", tmp_path / "r.csv").out.startswith("120 rows, best first, in ")


@pytest.mark.parametrize("method", ["prank", "sampled-pairs"])
def test_the_same_fit_gives_the_same_model(run_here, csv, tmp_path, method):
    for name in ("a", "b"):
        options = ("-t", "number", "--drop", "grade", "-m", method, "--no-cv", "-o", tmp_path / f"{name}.hull")
        done = run_here("fit", csv, *options)
        assert done.code == 0, done.err
    np.testing.assert_array_equal(*(load(tmp_path / f"{name}.hull")[-1].coef_ for name in ("a", "b")))


def test_rank_within_queries_and_top(run_here, fitted_within_queries, tmp_path):
    model, data = fitted_within_queries / "model.hull", fitted_within_queries / "data.csv"
    done = run_here("rank", model, data, "--top", "3", "-o", tmp_path / "r.csv")
    assert done.code == 0, done.err
    ranked = pl.read_csv(tmp_path / "r.csv")
    assert ranked["query"].to_list() == sorted(list(range(10)) * 3)
    best = table().with_columns(score=load(model).score_samples(table())).sort("score", descending=True)
    expected = best.group_by("query").head(3).sort("query", "score", descending=[False, True])
    np.testing.assert_allclose(ranked["score"], expected["score"])
    done = run_here("evaluate", model, data, "--json")
    assert "pair_accuracy_within_queries" in json.loads(done.out)


def test_queries_reach_the_model_and_its_proof(run_here, csv, tmp_path):
    out = tmp_path / "m.hull"
    drop = ("--drop", "grade", "--drop", "weight", "--no-cv", "-o", out, "--json")
    done = run_here("fit", csv, "-t", "number", "-m", "swapped-pairs", "--qid", "query", *drop)
    assert done.code == 0, done.err
    told, measured = json.loads(done.out)["training"], json.loads(run_here("evaluate", out, csv, "--json").out)
    assert told["pair_accuracy_within_queries"] == pytest.approx(measured["pair_accuracy_within_queries"])
    assert told["pair_accuracy"] == pytest.approx(measured["pair_accuracy"]) != told["pair_accuracy_within_queries"]
    share = f"It ranks {told['pair_accuracy_within_queries']:.1%} of pairs within queries right"
    done = run_here("report", out, csv, "-o", tmp_path / "r.html", "--json")
    assert json.loads(done.out) == {"report": str(tmp_path / "r.html"), "rows": 120}
    assert share in (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "`hullrank report`" in run_here("explain", out, csv, "--resamples", 2).err
    model, frame = load(out), table()
    again = type(model[-1])(**model[-1].get_params())
    again.fit(model[0].transform(frame), frame["number"].to_numpy(), qid=frame["query"].to_numpy())
    np.testing.assert_allclose(again.coef_, model[-1].coef_, rtol=1e-6, atol=1e-9)
    done = run_here("certify", out, csv, "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["certified"] is True


def test_evaluate_agrees_with_the_metrics(run_here, fitted):
    from hullrank.metrics import wmw_score
    from hullrank.order import OrderGraph

    done = run_here("evaluate", fitted / "model.hull", fitted / "test.csv", "--json")
    assert done.code == 0, done.err
    frame = pl.read_csv(fitted / "test.csv")
    scores = load(fitted / "model.hull").score_samples(frame)
    expected = wmw_score(frame["grade"].to_list(), scores, order=OrderGraph.full(["poor", "fair", "good"]))
    assert json.loads(done.out)["pair_accuracy"] == pytest.approx(expected)


@pytest.mark.parametrize("query", [(), ("--qid", "query")])
def test_evaluate_takes_numbers_that_the_fit_has_not_seen(run_here, tmp_path, query):
    """Numbers order themselves, also for a method that places every one of them on the score line."""
    from hullrank.metrics import swapped_pairs

    data, test, model = tmp_path / "data.csv", tmp_path / "test.csv", tmp_path / "model.hull"
    for seed, path in enumerate((data, test)):
        table(seed, n=60).select("age", "size", "query", value=pl.col("size").round(2)).write_csv(path)
    assert run_here("fit", data, "-t", "value", "--no-cv", *query, "-o", model).code == 0
    done = run_here("evaluate", model, test, *query, "--json")
    assert done.code == 0, done.err
    frame = pl.read_csv(test)
    qid = frame["query"] if query else None
    expected = 1 - swapped_pairs(frame["value"], load(model).score_samples(frame), qid=qid)
    assert json.loads(done.out)["pair_accuracy_within_queries" if query else "pair_accuracy"] == pytest.approx(expected)


def test_explain_names_features_grades_and_violators(run_here, fitted):
    done = run_here("explain", fitted / "model.hull", fitted / "test.csv", "--json")
    assert done.code == 0, done.err
    facts = json.loads(done.out)
    assert facts["weights"][0]["feature"] == "size"
    assert [row["grade"] for row in facts["grades"]] == ["poor", "fair", "good"]
    assert facts["grades"][0]["from"] == "-infinity"
    beyond = [abs(v["beyond"]) for v in facts["violators"]]
    assert beyond == sorted(beyond, reverse=True)
    assert run_here("explain", fitted / "model.hull").code == 0


def test_rows_keep_their_numbers_where_some_have_no_grade(run_here, fitted, tmp_path):
    holes = table(1).with_columns(grade=pl.when(pl.int_range(120) % 7 == 0).then(None).otherwise(pl.col("grade")))
    holes.write_csv(tmp_path / "holes.csv")
    done = run_here("explain", fitted / "model.hull", tmp_path / "holes.csv", "--json")
    assert "18 rows" in done.err
    violators = json.loads(done.out)["violators"]
    scores = load(fitted / "model.hull").score_samples(holes)
    assert len(violators) > 3
    for found in violators:
        assert found["grade"] == holes["grade"][found["row"] - 1]
        assert found["score"] == pytest.approx(scores[found["row"] - 1])
    assert run_here("report", fitted / "model.hull", tmp_path / "holes.csv", "-o", tmp_path / "r.html").code == 0
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    facts = json.loads(re.search(r'id="facts">(.*?)</script>', page)[1])
    points = facts["points"]
    np.testing.assert_allclose(points["score"], scores[np.array(points["row"]) - 1])
    for side in ("lower", "higher"):
        assert all(p[side]["score"] == pytest.approx(scores[p[side]["row"] - 1]) for p in facts["pairs"])
    holes.with_row_index("n", 7).write_csv(tmp_path / "counted.csv")
    done = run_here("fit", tmp_path / "counted.csv", "-t", "grade", "--order", ORDER, "-o", tmp_path / "m.hull")
    assert "column 'n' only counts the rows" in done.err
    assert done.err.count("only counts") == 1
    odd = holes.with_columns(weight=pl.when(pl.int_range(120) == 50).then(pl.lit("much")).otherwise(pl.lit("1")))
    odd.write_csv(tmp_path / "odd.csv")
    done = run_here("fit", tmp_path / "odd.csv", "-t", "grade", "--order", ORDER, "--weights", "weight")
    assert "row 51 of" in done.err


def test_certify_accepts_the_truth_and_refuses_other_rows(run_here, fitted):
    done = run_here("certify", fitted / "model.hull", fitted / "data.csv", "--json")
    assert done.code == 0, done.err
    facts = json.loads(done.out)
    assert facts["objective_recomputed"] == pytest.approx(facts["objective_in_the_file"], rel=1e-9)
    assert facts["relative_gap_recomputed"] <= 2e-6
    assert facts["relative_gap_recomputed"] <= 1e-6
    done = run_here("certify", fitted / "model.hull", fitted / "test.csv")
    assert done.code == 1
    assert "does not hold" in done.err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "setting"),
    [
        ("hull-edges", "loss=hinge"), ("hull", "kernel=rbf"), ("fixed-margin", "approximation=30"),
        ("nu-margin", "kernel=rbf"), ("sum-of-margins", "C=auto"), ("swapped-pairs", "kernel=rbf"),
        ("sampled-pairs", "C=10"), ("exact", "max_cells=50"),
    ],
)  # fmt: skip
def test_certify_covers_every_family(run_here, csv, tmp_path, method, setting):
    out, words = tmp_path / "m.hull", (*WORDS, "--drop", "colour") if method == "exact" else WORDS
    options = ("-t", "grade", "--order", ORDER, *words, "-m", method, "--set", setting, "--no-cv", "-o", out)
    done = run_here("fit", csv, *options)
    assert done.code == 0, done.err
    done = run_here("certify", out, csv, "--json")
    assert done.code == 0, (done.err, done.out)
    assert json.loads(done.out)["certified"] is True
    model = load(out)
    name = "coef_" if hasattr(model[-1], "coef_") else "dual_coef_"
    setattr(model[-1], name, getattr(model[-1], name)[::-1] * 0.9)
    about = {"target": "grade", "grades": read_model(out).about["grades"]}
    save(model, tmp_path / "forged.hull", about=about)
    done = run_here("certify", tmp_path / "forged.hull", csv)
    assert done.code == 1
    assert "does not hold" in done.err


def test_baselines_have_nothing_to_certify(run_here, csv, tmp_path):
    out = tmp_path / "m.hull"
    assert run_here("fit", csv, "-t", "number", "--drop", "grade", "-m", "prank", "--no-cv", "-o", out).code == 0
    done = run_here("certify", out, csv)
    assert done.code == 1
    assert "carries no certificate" in done.err


def test_compare_ranks_methods(run_here, csv):
    done = run_here(
        "compare", csv, "-t", "grade", "--order", ORDER, *WORDS, "--methods", "hull,fixed-margin", "--cv", "3", "--json"
    )
    assert done.code == 0, done.err
    rows = json.loads(done.out)["methods"]
    assert {row["name"] for row in rows} == {"hull", "fixed-margin"}
    assert rows[0]["mean"] >= rows[1]["mean"]
    assert all(row["low"] <= row["mean"] <= row["high"] for row in rows)
    assert rows[0]["p_value"] == 1


def test_compare_walks_through_all_methods(run_here, csv):
    done = run_here("compare", csv, "-t", "grade", "--order", ORDER, *WORDS, "--cv", "2", "--json")
    assert done.code == 0, done.err
    assert {row["name"] for row in json.loads(done.out)["methods"]} == set(METHODS) - {"exact"}


def test_svmlight_files(run_here, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 5)) * (rng.random((80, 5)) < 0.6)
    y = np.digitize(X @ rng.normal(size=5), [-0.5, 0.5])
    dump_svmlight_file(X, y, str(tmp_path / "train.svm"), query_id=np.arange(80) // 10, zero_based=False)
    done = run_here("fit", tmp_path / "train.svm", "-o", tmp_path / "m.hull", "-m", "fixed-margin", "--no-cv")
    assert done.code == 0, done.err
    done = run_here("rank", tmp_path / "m.hull", tmp_path / "train.svm", "-o", tmp_path / "r.csv")
    assert done.code == 0, done.err
    ranked = pl.read_csv(tmp_path / "r.csv")
    assert ranked["query"].to_list() == sorted(ranked["query"].to_list())
    assert run_here("evaluate", tmp_path / "m.hull", tmp_path / "train.svm").code == 0


def test_doctor_and_methods(run_here):
    facts = json.loads(run_here("doctor", "--json").out)
    assert facts["required"]["numpy"] == np.__version__
    assert "hull" in run_here("methods").out


@pytest.mark.slow
def test_demo_fits_four_models_and_draws(run_here, tmp_path, monkeypatch):
    picture = tmp_path / "line.png"
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    done = run_here("demo", "--out", picture, "--json")
    assert done.code == 0, done.err
    facts = json.loads(done.out)
    assert "compiles" in done.err
    assert len(facts["models"]) == 4
    assert all(row["pair_accuracy"] > 0.75 and row["relative_gap"] <= 1e-6 for row in facts["models"])
    assert picture.read_bytes()[:4] == b"\x89PNG"
    assert str(picture) in run_here("demo", "--out", picture).out


@pytest.mark.parametrize("option", ["--weights", "--groups"])
def test_svmlight_files_have_no_columns_to_name(run_here, tmp_path, option):
    (tmp_path / "train.svm").write_text("1 1:0.5\n0 2:1\n1 1:1\n")
    done = run_here("fit", tmp_path / "train.svm", option, "w", "-o", tmp_path / "m.hull", "-m", "fixed-margin")
    assert done.code == 1
    assert f"SVMlight, which has no column for {option}" in " ".join(done.err.split())
