"""Figures say on which rows they are; what collapsed, never happens or was not asked for is said."""

import json
import re

import numpy as np
import polars as pl
import pytest
from commands import ORDER, WORDS, table

from hullrank import ConvexHullRanker, FixedMarginClassifier
from hullrank.cli import result
from hullrank.cli.folds import Remarks
from hullrank.io import TableEncoder, read_model, save
from hullrank.metrics import mean_average_precision, mean_reciprocal_rank, ndcg_score, precision_at_k, wmw_score
from hullrank.order import OrderGraph
from hullrank.reports.comparison import compare, folds

GRADED = ("-t", "grade", "--order", ORDER, *WORDS)


class TestFit:
    def test_the_figures_are_named_by_their_rows(self, run_here, csv, tmp_path):
        done = run_here("fit", csv, *GRADED, "-o", tmp_path / "m.hull")
        assert re.search(r"^Pair accuracy on the 120 training rows: 0\.\d{4} ", done.out, re.MULTILINE)
        held_out = r"^Pair accuracy on rows left out, 5 quick folds: (0\.\d{4})  \(95% interval (\S+) to (\S+)\)"
        mean, low, high = map(float, re.search(held_out, done.out, re.MULTILINE).groups())
        assert 0 <= low <= mean <= high <= 1
        done = run_here("fit", csv, *GRADED, "--no-cv", "-o", tmp_path / "n.hull")
        assert "left out" not in done.out
        assert "rows it has not seen" in done.out

    def test_the_held_out_figure_is_that_of_folds_by_hand(self, run_here, csv, tmp_path):
        done = run_here("fit", csv, *GRADED, "-o", tmp_path / "m.hull", "--json")
        told = json.loads(done.out)["cross_validated"]
        frame = pl.read_csv(csv)
        X, y = frame.drop("grade", "number", "query", "weight"), frame["grade"].to_numpy()
        order = OrderGraph.full(["poor", "fair", "good"])
        expected = []
        for train, test in folds(y, None, 5):
            encoder = TableEncoder().fit(X[train])
            model = ConvexHullRanker(ORDER).fit(encoder.transform(X[train]), y[train])
            expected.append(wmw_score(y[test], model.score_samples(encoder.transform(X[test])), order=order))
        assert told["folds"] == pytest.approx(expected)
        assert told["mean"] == pytest.approx(np.mean(expected))

    def test_the_model_carries_its_held_out_figure_to_the_report(self, run_here, csv, tmp_path):
        model, page = tmp_path / "m.hull", tmp_path / "r.html"
        told = json.loads(run_here("fit", csv, *GRADED, "-o", model, "--json").out)["cross_validated"]
        held = read_model(model)
        assert held.about["held_out"] == {name: told[name] for name in ("figure", "rows", "mean", "low", "high")}
        run_here("report", model, csv, "-o", page)
        assert f"left out in turn by the fit, {told['mean']:.1%} of pairs were right" in page.read_text("utf-8")
        for other in ({}, {"held_out": "high"}, {"held_out": {**held.about["held_out"], "mean": "high"}}):
            kept = {name: value for name, value in held.about.items() if name != "held_out"}
            save(held.estimator, model, about={**kept, **other})  # as older files, and as hostile ones
            assert run_here("report", model, csv, "-o", page).code == 0
            assert "left out" not in page.read_text("utf-8").split("<main>")[0]

    @pytest.mark.slow
    def test_within_queries_is_in_the_name(self, run_here, csv, tmp_path):
        options = ("-t", "number", "--drop", "grade", "--qid", "query", "-m", "swapped-pairs")
        done = run_here("fit", csv, *options, "-o", tmp_path / "m.hull")
        assert "Pair accuracy within queries on the 120 training rows" in done.out
        assert "Pair accuracy within queries on rows left out" in done.out
        done = run_here("compare", csv, *options[:-2], "--methods", "swapped-pairs,rankboost")
        assert done.out.startswith("Pair accuracy within queries on held-out rows, 5 folds of 120 rows")

    def test_large_tables_are_measured_on_a_part_which_is_said(self, run_here, csv, tmp_path, monkeypatch):
        monkeypatch.setattr(result, "_MOST_ROWS", 60)
        done = run_here("fit", csv, *GRADED, "-o", tmp_path / "m.hull")
        assert "5 quick folds of 60 of them" in done.out
        rows = result._sample(np.repeat(np.arange(30), 4), 120, 60)
        assert len(rows) <= 60
        assert all(count == 4 for count in np.unique(rows // 4, return_counts=True)[1])

    def test_grades_too_rare_for_folds_leave_the_model_and_say_so(self, run_here, tmp_path):
        frame = table().with_columns(
            grade=pl.when(pl.int_range(120) == 5).then(pl.lit("good")).otherwise(pl.lit("poor"))
        )
        frame.write_csv(tmp_path / "d.csv")
        options = ("-t", "grade", "--order", "poor < good", *WORDS, "-o", tmp_path / "m.hull")
        done = run_here("fit", tmp_path / "d.csv", *options)
        assert done.code == 0, done.err
        assert "no held-out figure: " in done.err
        assert (tmp_path / "m.hull").exists()

    def test_real_targets_point_to_the_method_for_them(self, run_here, csv, tmp_path):
        options = ("-t", "size", "--drop", "grade", "--drop", "number", "--no-cv", "-o", tmp_path / "m.hull")
        assert "--method swapped-pairs is made for targets" in run_here("fit", csv, *options).err
        assert "made for targets" not in run_here("fit", csv, *options, "-m", "swapped-pairs", "--force").err

    def test_a_grade_that_can_never_be_given_is_named(self, run_here, tmp_path):
        rng = np.random.default_rng(0)
        x = rng.normal(size=90)
        grade = np.where(x > 0, 3, 1)
        grade[:20] = 2
        pl.DataFrame({"x": x, "grade": grade}).write_csv(tmp_path / "d.csv")
        done = run_here(
            "fit", tmp_path / "d.csv", "-t", "grade", "-m", "immediate-thresholds", "--set", "C=1",
            "-o", tmp_path / "m.hull", "--no-cv",
        )  # fmt: skip
        model = FixedMarginClassifier(1.0, loss="hinge", thresholds="immediate")
        model.fit((x[:, None] - x.mean()) / x.std(), grade)
        assert np.ptp(model.thresholds_) == pytest.approx(0, abs=1e-7)
        assert "warning: no row is ever given the grade '2'" in done.err


class TestCompare:
    def test_a_collapsed_method_has_no_figure(self, run_here, csv):
        options = ("--methods", "hull,swapped-pairs", "--set", "C=1e-9", "--cv", "3")
        done = run_here("compare", csv, *GRADED, *options)
        assert done.code == 0, done.err
        last = done.out.splitlines()[-1].split()
        assert last[:2] == ["hull", "collapsed"]
        assert len(last) == 3
        [weak, warning] = sorted(line for line in done.err.splitlines() if line.startswith("warning"))[::-1]
        assert warning.startswith("warning: hull, folds 1, 2 and 3: the ranking has collapsed")
        assert weak.startswith("warning: swapped-pairs, folds 1, 2 and 3: no weights are better than 0")
        rows = json.loads(run_here("compare", csv, *GRADED, *options, "--json").out)["methods"]
        assert rows[-1]["collapsed"] == 3
        assert rows[-1]["mean"] is None
        assert rows[-1]["p_value"] is None

    def test_scores_and_intervals_stay_in_zero_to_one(self):
        values = {"a": iter([1.0, 0.7, 1.0, 0.98, 1.0]), "b": iter([0.0, 0.3, 0.0, 0.02, 0.0])}
        splits = folds(np.tile([0, 1], 30), None, 5)
        rows = compare({name: lambda train, test, v=v: next(v) for name, v in values.items()}, splits)
        assert rows[0].high == 1.0
        assert rows[1].low == 0.0

    def test_methods_that_collapse_in_some_folds_come_last(self):
        values = {"a": iter([0.9, float("nan"), 0.9]), "b": iter([0.2, 0.3, 0.2]), "c": iter([float("nan")] * 3)}
        heard = []
        splits = folds(np.tile([0, 1], 30), None, 3)
        runs = {name: lambda train, test, v=v: next(v) for name, v in values.items()}
        rows = compare(runs, splits, lambda share, *what: heard.append((round(share * 9), *what)))
        assert [(row.name, row.collapsed) for row in rows] == [("b", 0), ("a", 1), ("c", 3)]
        assert rows[0].p_value == 1
        assert [done for done, *_ in heard] == list(range(9))
        assert heard[4][1:] == ("b", 2)

    def test_warnings_come_once_with_method_and_folds(self, capsys):
        import warnings

        remarks = Remarks()
        for fold, gap in ((1, 0.1), (2, 0.25), (4, 1e-3)):
            remarks.fold = fold
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                warnings.warn(f"ended at a relative gap of {gap:g}", UserWarning, stacklevel=1)
            remarks.hear("hull", told)
        remarks.tell()
        assert capsys.readouterr().err.splitlines() == [
            "warning: hull, folds 1, 2 and 4: ended at a relative gap of 0.1"
        ]


class TestQueries:
    @pytest.fixture
    def model(self, run_here, csv, tmp_path):
        out = tmp_path / "q.hull"
        options = ("-t", "number", "--drop", "grade", "--drop", "weight", "--qid", "query", "-m", "swapped-pairs")
        assert run_here("fit", csv, *options, "--no-cv", "-o", out).code == 0
        return out

    def test_lists_are_measured_as_the_library_does(self, run_here, csv, model):
        told = json.loads(run_here("evaluate", model, csv, "--at", "1,3,7", "--json").out)
        frame = pl.read_csv(csv)
        from hullrank.io import load

        y, qid = frame["number"].to_numpy(), frame["query"].to_numpy()
        scores = load(model).score_samples(frame)
        for k in (1, 3, 7):
            assert told[f"NDCG@{k}"] == pytest.approx(ndcg_score(y, scores, k=k, qid=qid))
            assert told[f"P@{k}"] == pytest.approx(precision_at_k(y, scores, k, qid=qid, relevant_above=1))
        assert told["MAP"] == pytest.approx(mean_average_precision(y, scores, qid=qid, relevant_above=1))
        assert told["MRR"] == pytest.approx(mean_reciprocal_rank(y, scores, qid=qid, relevant_above=1))
        options = ("--at", "3", "--relevant", "3", "--gain", "exponential", "--json")
        told = json.loads(run_here("evaluate", model, csv, *options).out)
        assert told["NDCG@3"] == pytest.approx(ndcg_score(y, scores, k=3, qid=qid, gain="exponential"))
        assert told["MAP"] == pytest.approx(mean_average_precision(y, scores, qid=qid, relevant_above=2))

    def test_numbers_are_relevant_only_where_that_is_said(self, run_here, csv, tmp_path):
        """All but the lowest of many numbers are not the relevant ones, nor are those of targets below 0."""
        path, model = tmp_path / "t.csv", tmp_path / "m.hull"
        frame = pl.read_csv(csv).drop("grade", "weight", "number")
        targets = {"below 0": pl.col("size") - 1, "many": pl.int_range(frame.height) + 0.5}
        for name, target in targets.items():
            frame.with_columns(target=target).write_csv(path)
            options = ("-t", "target", "--qid", "query", "-m", "swapped-pairs", "--no-cv", "--force", "-o", model)
            assert run_here("fit", path, *options).code == 0
            done = run_here("evaluate", model, path, "--json")
            told = json.loads(done.out)
            assert not {"P@5", "MAP", "MRR"} & set(told)
            assert ("NDCG@5" in told) == (name == "many")
            assert "no P, MAP and MRR: the targets are numbers" in " ".join(done.err.split())
            told = json.loads(run_here("evaluate", model, path, "--relevant", "0.5", "--json").out)
            assert 0 < told["MAP"] <= 1

    def test_words_count_by_their_place_in_the_order(self, run_here, fitted):
        from hullrank.io import load

        model, data = fitted / "model.hull", fitted / "test.csv"
        done = run_here("evaluate", model, data, "--at", "10", "--relevant", "good", "--json")
        frame = pl.read_csv(data)
        scores = load(model).score_samples(frame)
        places = frame["grade"].replace_strict({"poor": 0, "fair": 1, "good": 2}).to_numpy()
        told = json.loads(done.out)
        assert told["NDCG@10"] == pytest.approx(ndcg_score(places, scores, k=10))
        assert told["P@10"] == pytest.approx(precision_at_k(places, scores, 10, relevant_above=1))
        assert "relevant for P, MAP and MRR: good and above" in done.err
        assert "NDCG@5" not in json.loads(run_here("evaluate", model, data, "--json").out)
        assert "did you mean 'good'" in run_here("evaluate", model, data, "--relevant", "godo").err
        assert "no list of places" in run_here("evaluate", model, data, "--at", "0").err

    def test_partial_orders_have_no_gains(self, run_here, csv, tmp_path):
        out = tmp_path / "p.hull"
        options = ("-t", "grade", "--order", "poor, fair < good", *WORDS, "--no-cv", "-o", out)
        assert run_here("fit", csv, *options).code == 0
        done = run_here("evaluate", out, csv, "--at", "5", "--json")
        assert "order of the grades is partial" in done.err
        assert not any(name.startswith("NDCG") for name in json.loads(done.out))

    def test_every_query_has_a_heading_and_its_best_rows(self, run_here, csv, model, tmp_path):
        done = run_here("rank", model, csv, "--top", "2")
        assert done.out.startswith("20 of 120 rows, best first within queries\n")
        headings = [line for line in done.out.splitlines() if line.startswith("query ")]
        assert headings == [f"query {q}" for q in range(10)]
        out = tmp_path / "ranked.csv"
        assert "within queries" in run_here("rank", model, csv, "--top", "2", "-o", out).out
        ranked = pl.read_csv(out)
        assert ranked["query"].to_list() == sorted(ranked["query"].to_list())
        assert (ranked["rank"] <= 2).all()

    def test_queries_in_words_keep_the_order_of_the_file(self, run_here, csv, tmp_path):
        frame = pl.read_csv(csv).with_columns(query="q" + (9 - pl.col("query")).cast(pl.String))
        frame.write_csv(tmp_path / "w.csv")
        out = tmp_path / "w.hull"
        options = ("-t", "number", "--drop", "grade", "--qid", "query", "-m", "swapped-pairs", "--no-cv", "-o", out)
        assert run_here("fit", tmp_path / "w.csv", *options).code == 0
        done = run_here("rank", out, tmp_path / "w.csv", "--top", "1")
        headings = [line for line in done.out.splitlines() if line.startswith("query ")]
        assert headings == [f"query q{9 - q}" for q in range(10)]

    def test_a_column_that_looks_like_queries_is_named(self, run_here, csv, tmp_path):
        done = run_here("fit", csv, "-t", "number", "--drop", "grade", "--no-cv", "-o", tmp_path / "m.hull")
        assert "column 'query' is taken as a feature" in done.err
        assert "--qid query" in done.err
