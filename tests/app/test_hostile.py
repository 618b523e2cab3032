"""Hostile requests, files and names change nothing; two visitors at once do not see each other."""

import asyncio
import gzip
import io
import json
import struct
import sys
import threading
import zipfile

import polars as pl
import pytest
from visitors import PORT, TOKEN, WINE, Visitor

from chromium import wait_for

pytest.importorskip("starlette", reason="pip install 'hullrank[app]'")
from hullrank.app.limits import MB, Limits
from hullrank.app.uploads import RefusedError, check_unpacked, harmless_name, receive

SCRIPT = "<img src=x onerror=alert(1)>"


def below(folder):
    return sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())


# ------------------------------------------------------------------ requests


@pytest.mark.parametrize(
    "path", ["/", "/wrong/", "/s/", f"/{TOKEN}x/", f"/{TOKEN[:-1]}/", "/favicon.ico", "//", f"/x/{TOKEN}/"]
)
def test_nothing_without_the_token(client, path):
    answer = client.get(path)
    assert answer.status_code == 403
    assert "the token is missing or wrong" in answer.text
    assert below(client.app.state.sessions.folder) == []


@pytest.mark.parametrize(
    "host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1", "127.0.0.1:1", f"127.0.0.1.evil:{PORT}", ""]
)
def test_nothing_for_another_host(client, host):
    answer = client.get(f"/{TOKEN}/", headers={"host": host}, follow_redirects=False)
    assert answer.status_code == 403
    assert "answers only at 127.0.0.1" in answer.text


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"}, {"origin": "null"}, {"origin": f"https://127.0.0.1:{PORT}"},
        {"origin": "http://127.0.0.1:1"}, {"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"},
    ],
)  # fmt: skip
def test_nothing_from_another_page(client, headers):
    visitor = Visitor(client)
    answer = visitor.post("table", params={"name": "wine.csv"}, content=WINE, headers=headers)
    assert answer.status_code == 403
    assert visitor.get("state").json()["table"] is None
    assert below(client.app.state.sessions.folder) == []


def test_every_answer_forbids_what_the_page_does_not_need(visitor):
    for path in ("", "state", "../../static/app.js", "files/none", "../../../wrong/"):
        headers = visitor.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'; script-src 'self';" in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert "access-control-allow-origin" not in headers


def test_only_results_can_be_fetched(with_wine):
    for name in ("../in/wine.csv", "..%2fin%2fwine.csv", "%2e%2e/in/wine.csv", "/etc/passwd", "x%00.csv", "wine.csv"):
        answer = with_wine.client.get(f"{with_wine.path}files/{name}")
        assert answer.status_code == 404, name


def test_static_files_are_those_of_the_page(client):
    assert client.get(f"/{TOKEN}/static/app.js").status_code == 200
    for name in ("..%2fserver.py", "server.py", "%2e%2e%2fserver.py", "app.html"):
        assert client.get(f"/{TOKEN}/static/{name}").status_code == 404


# ------------------------------------------------------------------ names and cells


HARMLESS = {
    "wine.csv": "wine.csv",
    "a.csv.gz": "a.csv.gz",
    "Übersicht 2024.xlsx": "Übersicht 2024.xlsx",
    "../../etc/passwd": "passwd",
    "..\\..\\boot.ini": "boot_ini",
    "/abs/x.tsv": "x.tsv",
    "model.hull": "model_hull",
    "x.py": "x_py",
    "-": "table",
    "": "table",
    "...": "table",
    "--force.csv": "force.csv",
    ".hidden": "hidden",
    "a\0b\n.csv": "a_b_.csv",
    "$(id).csv": "id_.csv",
    f"{SCRIPT}.csv": "img src_x onerror_alert_1__.csv",
    "x" * 300 + ".csv": "x" * 56 + ".csv",
}


@pytest.mark.parametrize("name", HARMLESS)
def test_names_are_made_harmless(name):
    assert harmless_name(name) == HARMLESS[name]


# ------------------------------------------------------------------ sizes


@pytest.mark.slow
def test_large_uploads_are_refused_and_leave_nothing(command_here, make_client):
    client = make_client(Limits(upload=10_000))
    visitor = Visitor(client)
    pieces = (b"x" * 1000 for _ in range(100))  # sent in pieces, without a length
    for content in (b"x" * 10_001, pieces):
        answer = visitor.post("table", params={"name": "big.csv"}, content=content)
        assert answer.status_code == 413
        assert "larger than" in answer.json()["error"]
    assert below(client.app.state.sessions.folder) == []
    visitor.send("small.csv", b"a,g\n1,2\n2,1\n")
    assert visitor.post("fit", content=b" " * (2 * MB)).status_code == 413


def bomb_zip(declared):
    """An archive that looks like a spreadsheet, whose sheet unpacks to 5 MB and declares another size."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "")
        archive.writestr("xl/worksheets/sheet1.xml", b"0" * (5 * MB))
    data = packed.getvalue()
    assert data.count(struct.pack("<I", 5 * MB)) == 2
    return data.replace(struct.pack("<I", 5 * MB), struct.pack("<I", declared))


@pytest.mark.parametrize(
    "content", [gzip.compress(b"0" * (5 * MB)), bomb_zip(5 * MB), bomb_zip(10)], ids=["gzip", "zip", "lying zip"]
)
def test_bombs_are_refused_before_anything_reads_them(tmp_path, content):
    async def pieces():
        yield content

    assert len(content) < MB // 10
    with pytest.raises(RefusedError, match="unpacks to more than 2 MB"):
        asyncio.run(receive(pieces(), tmp_path, "bomb.xlsx", Limits(unpacked=2 * MB)))
    assert list(tmp_path.iterdir()) == []


def test_archives_within_the_limit_pass_and_damaged_ones_do_not(tmp_path):
    path = tmp_path / "t"
    for content in (gzip.compress(WINE), bomb_zip(5 * MB)):
        path.write_bytes(content)
        check_unpacked(path, Limits())
    for content in (gzip.compress(WINE)[:-200], b"PK\x03\x04" + b"x" * 100):
        path.write_bytes(content)
        with pytest.raises(RefusedError, match="damaged or cut short"):
            check_unpacked(path, Limits())


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of a process from outside")
def test_a_table_that_needs_too_much_memory_ends_its_own_process_only(make_client):
    rows = pl.DataFrame(
        {"a": pl.zeros(60_000_000, dtype=pl.Int64, eager=True), "g": pl.zeros(60_000_000, pl.Int64, eager=True)}
    )
    held = io.BytesIO()
    rows.write_parquet(held, compression="zstd")
    assert len(held.getvalue()) < MB
    visitor = Visitor(make_client(Limits(memory=700 * MB)))
    answer = visitor.send("bomb.parquet", held.getvalue())
    assert answer.status_code == 400
    assert visitor.send("wine.csv", WINE).status_code == 200


# ------------------------------------------------------------------ visitors


GRADES = ["--force", "$(touch elsewhere)", "a < b", f'"{SCRIPT}']
NAMES = ["--out=elsewhere", "=1+1", SCRIPT]
HOSTILE = pl.DataFrame(
    [(i % 4 + i % 3 / 3, f"=cmd|'/c calc'!A{i % 7}", GRADES[i % 4]) for i in range(80)], schema=NAMES, orient="row"
)


@pytest.mark.slow
def test_two_visitors_do_not_see_each_other_and_hostile_names_and_cells_go_through(client):
    """Column names that are options, HTML or formulas; grades with signs of orders and shells; formula cells."""
    one, other = Visitor(client), Visitor(client)
    assert one.path != other.path
    one.send("wine.csv", WINE)
    facts = other.send("../../evil.csv", HOSTILE.write_csv().encode()).json()
    assert facts["file"] == "evil.csv"
    assert [column["column"] for column in facts["columns"]] == NAMES
    jobs = {}

    def fit(visitor, name, target, levels):
        jobs[name] = visitor.work("fit", roles={target: "target"}, levels=[[level] for level in levels])

    threads = [
        threading.Thread(target=fit, args=(one, "one", "grade", ["poor", "fair", "good", "excellent"])),
        threading.Thread(target=fit, args=(other, "other", SCRIPT, GRADES)),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(jobs[name][-1] == {"ended": "done"} for name in ("one", "other"))
    assert "evil" not in json.dumps(jobs["one"])
    assert "wine" not in json.dumps(jobs["other"])
    assert one.get("files/model.hull").content != other.get("files/model.hull").content
    assert one.get("state").json()["table"]["file"] == "wine.csv"
    assert other.get("state").json()["table"]["file"] == "evil.csv"
    own = one.path.split("/")[-2]
    stolen = client.get(f"/{TOKEN}/s/{own[:-1]}x/files/model.hull")
    assert stolen.status_code == 404
    assert client.get(f"/{TOKEN}/s/../s/").status_code in (403, 404)
    ranked = other.get("files/ranked.csv").text
    assert "'=cmd|" in ranked
    assert ",=cmd|" not in ranked
    assert SCRIPT not in other.get("files/report.html").text
    found = sorted(path.name for path in below(client.app.state.sessions.folder))
    assert found == sorted(["evil.csv", "wine.csv", *2 * ["model.hull", "ranked.csv", "report.html"]])


@pytest.mark.slow
def test_one_job_at_a_time_and_stop_keeps_what_there_is(visitor):
    numbers = pl.Series("x", range(20_000))
    frame = pl.DataFrame({f"x{i}": numbers.shuffle(seed=i) for i in range(8)}).with_columns(g=(numbers * 7919) % 5)
    visitor.send("noise.csv", frame.write_csv().encode())
    body = json.dumps({"roles": {"g": "target"}, "method": "fixed-margin"})
    job = visitor.post("fit", content=body).json()["job"]
    again = visitor.post("fit", content=body)
    assert again.status_code == 409
    assert "still running" in again.json()["error"]
    assert visitor.send("wine.csv", WINE).status_code == 409
    (running,) = visitor.session.jobs
    wait_for(lambda: any("cross-validating" in event.get("working", "") for _, event in running.events))
    visitor.post("stop")
    events = visitor.events(job)
    assert events[-1] == {"ended": "done"}
    (fitted,) = [event["fitted"] for event in events if "fitted" in event]
    assert fitted["cross_validated"] is None
    assert visitor.get("files/model.hull").status_code == 200
    assert visitor.get("state").json()["table"]["file"] == "noise.csv"


@pytest.mark.slow
def test_the_idle_session_makes_room_and_its_files_go(command_here, make_client):
    client = make_client(Limits(sessions=2))
    first = Visitor(client)
    first.send("t.csv", b"a,g\n1,2\n2,1\n3,2\n")
    second = Visitor(client)
    folder = client.app.state.sessions.folder
    assert [path.name for path in below(folder)] == ["t.csv"]
    Visitor(client)
    assert below(folder) == []
    assert first.get("state").status_code == 404
    assert second.get("state").status_code == 200


@pytest.mark.slow
def test_nothing_is_left_at_the_end(make_client):
    client = make_client()
    visitor = Visitor(client)
    visitor.send("wine.csv", WINE)
    visitor.post(
        "fit",
        content=json.dumps({"roles": {"grade": "target"}, "levels": [["poor"], ["fair"], ["good"], ["excellent"]]}),
    )
    folder = client.app.state.sessions.folder
    assert folder.is_dir()
    client.__exit__(None, None, None)
    assert not folder.exists()
    client.__enter__()  # the fixture leaves it once more
