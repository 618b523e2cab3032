"""The report tells the truth in one file, needs no network, and lets nothing in."""

import json
import re

import numpy as np
import polars as pl
import pytest

from hullrank import ConvexHullRanker, ExactRanker, FixedMarginClassifier, OrderGraph, RankBoost, SwappedPairsRanker
from hullrank.exceptions import LabelError, UndefinedMetricWarning
from hullrank.metrics import wmw_score
from hullrank.models.influence import permutation_influence
from hullrank.reports.details import worst_pairs
from hullrank.reports.facts import gather
from hullrank.reports.html import embedded, render, write_report
from hullrank.reports.words import in_words

HOSTILE = "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=1>'\"&{}"


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    codes = np.digitize(X @ [1.0, -1, 0] + rng.normal(size=150), [-1, 0.5])
    names = ["low", "middle", "high"]
    y = np.array(names)[codes]
    return ConvexHullRanker(classes=names).fit(X, y), X, y


def test_facts_are_those_of_the_model(fitted):
    model, X, y = fitted
    facts = gather(model, X, y, names=["a", "b", "c"])
    assert facts["pair_accuracy"] == pytest.approx(wmw_score(y, model.score_samples(X), order=model.order_.closure()))
    assert facts["grades"] == ["low", "middle", "high"]
    np.testing.assert_allclose(facts["points"]["score"], model.score_samples(X))
    assert facts["intervals"][0][0] is None
    assert facts["weights"]["shown"][0]["name"] in "ab"
    assert facts["certificate"]["status"] == "converged"
    json.dumps(facts, allow_nan=False)


def test_the_card_of_a_scoring_system_has_the_names_of_its_features(fitted):
    assert gather(*fitted)["card"] is None
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(80, 3))
    y = (X @ [1, 2, -1] + rng.logistic(size=80) > 1).astype(int)
    ranker = ExactRanker(weights="integer", max_weight=2).fit(X, y)
    card = gather(ranker, X, y, names=["a", HOSTILE, "c"])["card"]
    points = {row["feature"]: row["points"] for row in card["points"]}
    total = sum(points.get(name, 0) * X[:, j] for j, name in enumerate(["a", HOSTILE, "c"]))
    assert {row["total"]: (row["samples"], row["positive"]) for row in card["totals"]} == {
        f"{value:g}": ((total == value).sum(), y[total == value].sum()) for value in np.unique(total)
    }
    assert [row["feature"] for row in gather(ranker, X, y)["card"]["points"]] == list(ranker.score_table_.features)


def test_worst_pairs_by_brute_force(fitted):
    model, X, y = fitted
    scores, rank = model.score_samples(X), {"low": 0, "middle": 1, "high": 2}
    codes = np.array([rank[label] for label in y])
    excess = np.where(codes[:, None] < codes, scores[:, None] - scores, -np.inf)
    best = np.sort(excess[excess > 0])[::-1][:12]
    facts = gather(model, X, y)
    np.testing.assert_allclose([pair["excess"] for pair in facts["pairs"]], best)


def test_queries_by_brute_force(fitted):
    model, X, y = fitted
    scores, codes = model.score_samples(X), np.searchsorted(["high", "low", "middle"], y)
    codes, qid = np.array([2, 0, 1])[codes], np.arange(150) // 6 * 7 % 25
    pair = (codes[:, None] < codes) & (qid[:, None] == qid)
    excess = scores[:, None] - scores
    facts = gather(model, X, y, qid=qid)
    assert facts["pair_accuracy"] == pytest.approx(np.mean(excess[pair] < 0))
    np.testing.assert_allclose([p["excess"] for p in facts["pairs"]], np.sort(excess[pair & (excess > 0)])[:-13:-1])
    for edge in facts["edges"]:
        own = pair & (codes[:, None] == edge["lo"]) & (codes == edge["hi"])
        assert edge["accuracy"] == pytest.approx(np.mean(excess[own] < 0))
    assert "of pairs within queries right" in in_words(facts)[0]


def test_queries_without_pairs_and_partial_orders(fitted):
    model, X, y = fitted
    with pytest.warns(UndefinedMetricWarning):
        facts = gather(model, X, y, qid=np.arange(150))
    assert facts["pair_accuracy"] is None
    assert facts["pairs"] == []
    assert all(edge["accuracy"] is None for edge in facts["edges"])
    partial = ConvexHullRanker("low < middle, high").fit(X, y)
    assert gather(partial, X, y, qid=np.arange(150)) == gather(partial, X, y)


def test_words_say_what_matters(fitted):
    model, X, y = fitted
    text = " ".join(in_words(gather(model, X, y, names=["a", "b", "c"])))
    assert "3 grades, from “low” up to “high”" in text
    assert "“a” raises the score" in text
    assert "“b” lowers the score" in text
    assert "order constraints" in text


def test_partial_orders_and_real_targets(fitted):
    _, X, y = fitted
    partial = ConvexHullRanker(order=OrderGraph.from_edges([("low", "high"), ("middle", "high")])).fit(X, y)
    facts = gather(partial, X, y)
    assert facts["thresholds"] is None
    assert not facts["total"]
    target = X @ [1.0, -1, 0]
    facts = gather(ConvexHullRanker().fit(X, target), X, target)
    assert facts["points"] is None
    assert facts["n_grades"] == 150
    assert "150 values" in in_words(facts)[0]


def test_many_rows_are_thinned():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 2))
    y = (X[:, 0] + rng.normal(size=5000) > 0).astype(int)
    facts = gather(FixedMarginClassifier().fit(X, y), X, y)
    assert len(facts["points"]["row"]) == 3000
    assert facts["rows"] == 5000
    assert len(render(facts, "t")) < 300_000


def test_nothing_is_fetched_and_only_the_own_script_may_run(fitted, tmp_path):
    model, X, y = fitted
    write_report(tmp_path / "r.html", model, X, y)
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "default-src 'none'" in page
    addresses = set(re.findall(r"https?://[^\"'\s]+", page))
    assert addresses <= {"http://www.w3.org/2000/svg"}
    assert not re.search(r"innerHTML|outerHTML|document\.write|eval\(|insertAdjacent", page)


def test_hostile_names_stay_text(fitted, tmp_path):
    _, X, y = fitted
    grades = [HOSTILE, "b" + HOSTILE, "c" + HOSTILE]
    labels = np.array(grades)[np.searchsorted(["high", "low", "middle"], y)]
    model = ConvexHullRanker(classes=grades).fit(X, labels)
    write_report(tmp_path / "r.html", model, X, labels, names=[HOSTILE, "x", "y"], title=HOSTILE)
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert page.count("<script") == 2
    assert page.count("</script>") == 2
    assert "<img" not in page
    assert json.loads(re.search(r'id="facts">(.*?)</script>', page, re.S)[1])["grades"][0] == HOSTILE


def test_embedded_json_has_no_brackets():
    text = embedded({"<b>": "&</script><!--"})
    assert not set("<>&") & set(text)
    assert json.loads(text) == {"<b>": "&</script><!--"}


def test_the_report_says_whose_rows_it_shows(fitted):
    model, X, y = fitted
    facts = gather(model, X, y)
    assert facts["training"] is True
    assert "rows that it was fitted to, so the figures flatter it" in " ".join(in_words(facts))
    facts = gather(model, X[:100], y[:100])
    assert facts["training"] is False
    assert "not the rows" in " ".join(in_words(facts))
    codes = np.searchsorted(["low", "middle", "high"], y, sorter=[1, 2, 0])
    boosted = gather(RankBoost(n_rounds=3).fit(X, codes), X, codes)
    assert boosted["training"] is None
    assert "fitted to" not in " ".join(in_words(boosted))


def test_the_figure_on_rows_left_out_stands_beside_the_one_that_flatters(fitted):
    model, X, y = fitted
    held_out = {"figure": "pair accuracy within queries", "rows": 150, "mean": 0.8123, "low": 0.78, "high": 0.84}
    told = " ".join(in_words(gather(model, X, y, held_out=held_out)))
    assert "flatter it. On rows left out in turn by the fit, 81.2% of pairs within queries were right" in told
    assert "(95% interval 78.0% to 84.0%): expect that of new rows." in told
    assert "left out" not in " ".join(in_words(gather(model, X, y)))
    assert "left out" not in " ".join(in_words(gather(model, X[:100], y[:100], held_out=held_out)))


def test_rows_come_with_their_cells_and_what_names_them_first(fitted):
    model, X, y = fitted
    table = pl.DataFrame({"size": X[:, 0], "kind": ["a", None] * 75, "id": [f"row-{i}" for i in range(150)]})
    shown = gather(model, X, y, table=table)["shown"]
    assert shown["columns"] == ["id", "size", "kind"]
    assert shown["cells"][1] == ["row-1", f"{X[1, 0]:.6g}", "missing"]


def test_violated_pairs_are_called_by_what_names_their_rows(fitted):
    model, X, y = fitted
    table = pl.DataFrame({"day": [f"2024-{i}" for i in range(150)], "id": [f"row-{i}" for i in range(150)]})
    facts = gather(model, X, y, names=["day", "b", "c"], table=table)
    assert facts["naming"] == "id"
    for pair in facts["pairs"]:
        assert all(pair[end]["name"] == f"row-{pair[end]['row'] - 1}" for end in ("lower", "higher"))
    facts = gather(model, X, y, table=table.select("day").with_columns(day=pl.lit("one")))
    assert facts["naming"] is None
    assert "name" not in facts["pairs"][0]["lower"]
    assert gather(model, X, y, names=["a", "b", "c"])["shown"]["columns"] == ["a", "b", "c"]


def test_real_targets_have_a_picture_of_ranks(fitted):
    _, X, _ = fitted
    target = X @ [1.0, -1, 0.5] + 3
    model = SwappedPairsRanker().fit(X, target)
    trend = gather(model, X, target)["trend"]
    np.testing.assert_allclose(trend["target"], target)
    scores = model.score_samples(X)
    assert trend["rank"] == [int((scores > s).sum()) + 1 for s in scores]


def test_numbers_that_a_ranker_has_not_seen_order_themselves():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    model = ConvexHullRanker().fit(X[:30], y[:30])
    facts = gather(model, X[30:], y[30:])
    assert facts["pair_accuracy"] == pytest.approx(wmw_score(y[30:], model.score_samples(X[30:])))
    assert (facts["n_grades"], facts["total"], facts["intervals"]) == (30, True, None)
    with pytest.raises(LabelError, match="not in the declared order"):
        gather(FixedMarginClassifier().fit(X, np.arange(60) % 3), X, np.arange(60) % 4)


@pytest.mark.parametrize("n_values", [3, 60, 150])
def test_worst_pairs_of_total_orders_by_brute_force(n_values):
    rng = np.random.default_rng(n_values)
    codes, scores, qid = rng.integers(0, n_values, 150), rng.normal(size=150).round(1), rng.integers(0, 4, 150)
    excess = np.where((codes[:, None] < codes) & (qid[:, None] == qid), scores[:, None] - scores, -1)
    found = worst_pairs(scores, codes, qid, 12)
    np.testing.assert_allclose([pair[0] for pair in found], np.sort(excess[excess > 0])[::-1][:12])
    assert all(excess[i, j] == value for value, i, j in found)
    assert worst_pairs(codes.astype(float), codes, qid, 12) == []


def test_kernel_models_have_influences(fitted):
    _, X, y = fitted
    codes = np.searchsorted(["low", "middle", "high"], y, sorter=[1, 2, 0])
    model = FixedMarginClassifier(kernel="rbf").fit(X, codes)
    facts = gather(model, X, codes, names=["a", "b", "c"])
    fall, _ = permutation_influence(model, X, codes)
    assert [each["name"] for each in facts["influences"]] == [["a", "b", "c"][i] for i in np.argsort(-fall)]
    assert "most influential features: “" in " ".join(in_words(facts))
