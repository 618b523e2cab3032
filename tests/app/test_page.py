"""What the page answers, from a table to a model, ranked rows and a report."""

import io
import json

import polars as pl
import pytest
from visitors import TABLES, WINE

from hullrank.cli.sample import SAMPLES
from hullrank.io import load

LEVELS = [["poor"], ["fair"], ["good"], ["excellent"]]
ROLES = {"grade": "target", "wine": "left out"}


def last(events):
    return next(event for event in reversed(events) if "ended" in event)


def one(events, name):
    (found,) = [event[name] for event in events if name in event]
    return found


def test_a_table_is_understood(with_wine):
    facts = with_wine.facts
    assert (facts["file"], facts["rows"]) == ("wine.csv", 300)
    kinds = {column["column"]: column["kind"] for column in facts["columns"]}
    assert kinds["region"] == "words"
    assert kinds["alcohol"] == "numbers"
    assert facts["notes"] == ["left out, because empty or different in every row: wine"]
    assert with_wine.get("state").json()["table"] == facts


def test_the_sample_brings_its_order(command_here, visitor):
    facts = visitor.post("sample").json()
    assert facts["levels"] == LEVELS
    assert " < ".join(level[0] for level in LEVELS) in SAMPLES[facts["file"]]
    assert "levels" not in visitor.send("wine.csv", WINE).json()  # of somebody's own table nothing is known


@pytest.mark.slow
def test_from_a_table_past_a_stop_to_a_model_a_report_and_ranked_rows(visitor, tmp_path):
    visitor.send("wine.csv", WINE)
    stopped = visitor.post("fit", content=json.dumps({"roles": ROLES, "levels": LEVELS})).json()["job"]
    visitor.post("stop")  # before there is a model
    assert last(visitor.events(stopped)) == {"ended": "stopped"}
    assert visitor.get("files/model.hull").status_code == 404
    events = visitor.work("fit", roles=ROLES, levels=LEVELS)
    assert last(events) == {"ended": "done"}
    job = visitor.get("state").json()["jobs"]["fit"]
    assert visitor.events(job) == events  # they can be heard again, from any place
    assert visitor.events(job, headers={"last-event-id": "3"}) == events[3:]
    assert visitor.get("jobs/99").status_code == 404
    assert one(events, "command") == (
        "hullrank fit wine.csv --target=grade --drop=wine '--order=poor < fair < good < excellent' --method=hull "
        "--out=model.hull"
    )
    gaps = [event["gap"] for event in events if "gap" in event]
    assert gaps[-1] < gaps[0]
    fitted = one(events, "fitted")
    assert fitted["certificate"]["status"] == "converged"
    assert 0.9 < fitted["cross_validated"]["mean"] < fitted["training"]["pair_accuracy"]
    (tmp_path / "model.hull").write_bytes(visitor.get("files/model.hull").content)
    assert load(tmp_path / "model.hull").named_steps["model"].classes_.tolist() == [level[0] for level in LEVELS]
    ranked = pl.read_csv(io.BytesIO(visitor.get("files/ranked.csv").content))
    assert ranked["rank"].to_list() == sorted(ranked["rank"])
    assert ranked.height == 300
    report = visitor.get("files/report.html")
    assert report.headers["content-disposition"] == 'attachment; filename="report.html"'
    assert '"rows": 300' in report.text
    other = visitor.post("rank", params={"name": "new-wine.csv"}, content=(TABLES / "new-wine.csv").read_bytes())
    events = visitor.events(other.json()["job"])
    assert one(events, "ranked")["rows"] == 40
    assert pl.read_csv(io.BytesIO(visitor.get("files/new-ranked.csv").content)).height == 40


@pytest.mark.slow
def test_methods_are_compared_on_a_partial_order(command_here, visitor):
    visitor.send("wine.csv", WINE)
    levels = [["poor"], ["fair", "good"], ["excellent"]]
    events = visitor.work("compare", roles=ROLES, levels=levels, methods=["hull", "hull-edges"], folds=3)
    assert "'--order=poor < fair, good < excellent'" in one(events, "command")
    compared = one(events, "compared")
    assert {row["name"] for row in compared["methods"]} == {"hull", "hull-edges"}
    assert compared["cv"] == 3
    assert {"share": 0.5, "remark": "hull-edges, fold 1 of 3"} in events


@pytest.mark.slow
def test_queries_and_svmlight(command_here, visitor):
    visitor.send("searches.csv", (TABLES / "searches.csv").read_bytes())
    roles = {"relevance": "target", "query": "query", "result": "left out"}
    fitted = one(visitor.work("fit", roles=roles, method="swapped-pairs"), "fitted")
    assert "pair_accuracy_within_queries" in fitted["training"]
    facts = visitor.send("t.svm", b"\n".join(b"%d 1:%d 2:%d" % (i % 3, i % 3 + i % 2, i % 5) for i in range(40))).json()
    assert facts["columns"] is None
    assert last(visitor.work("fit", roles={})) == {"ended": "done"}


@pytest.mark.slow
def test_what_is_wrong_is_said_and_earlier_work_stays(command_here, visitor):
    assert visitor.post("fit", content="{}").json() == {"error": "there is no table yet; drop one first"}
    bad = visitor.send("t.csv", b"a,b\n1,2\n3\n")
    assert bad.status_code == 400
    assert bad.json()["error"] == "t.csv, line 3: 1 fields where the header has 2"
    visitor.send("wine.csv", WINE)
    events = visitor.work("fit", roles=ROLES, levels=LEVELS[:2])
    assert last(events)["sentence"] == "--order says nothing about 'excellent', 'good'; add it, or leave out its rows"
    assert visitor.get("files/model.hull").status_code == 404
    assert visitor.send("empty.csv", b"").status_code == 400
    assert visitor.send("odd.csv", b"a,a\n1,2\n").json() == {
        "error": "odd.csv has two columns named 'a'; rename one of them"
    }
    assert visitor.get("state").json()["table"]["file"] == "wine.csv"
    assert visitor.post("rank", params={"name": "x.csv"}, content=b"a\n1\n").status_code == 409


ODD_WISHES = [
    ({"roles": {"nothing": "target"}}, "a column that the table does not have"),
    ({"roles": {"grade": "king"}}, "a part that does not exist"),
    ({"roles": {}}, "choose one column as the target"),
    ({"roles": {"grade": "target"}, "levels": "poor < fair"}, "the order of the grades cannot be read"),
    ({"roles": {"grade": "target"}, "levels": [["poor"], [3]]}, "the order of the grades cannot be read"),
    ({"roles": {"grade": "target"}, "levels": [["poor"], ["a\0b"]]}, "a sign that no command line takes"),
    ({"roles": {"grade": "target"}, "levels": [["poor"], ["x" * 200_000]]}, "too long"),
    ({"roles": {"grade": "target"}, "method": "--help"}, "a method that does not exist"),
    ({"roles": {"grade": "target"}, "method": ["hull"]}, "a method that does not exist"),
    ({"roles": {"grade": "target"}, "methods": "all"}, "a method that does not exist"),
    ({"roles": {"grade": "target"}, "folds": 1e9}, "choose 2 to 20 folds"),
    ({"roles": {"grade": "target"}, "surprise": 1}, "cannot be read"),
    ({"roles": "grade"}, "a column that the table does not have"),
    ([], "cannot be read"),
]


def test_requests_that_no_page_of_ours_makes(with_wine):
    for wishes, sentence in ODD_WISHES:
        for kind in ("fit", "compare"):
            answer = with_wine.post(kind, content=json.dumps(wishes))
            assert answer.status_code == 400, wishes
            assert sentence in answer.json()["error"]
    assert with_wine.get("state").json()["jobs"] == {}
