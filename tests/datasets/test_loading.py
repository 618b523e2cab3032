import hashlib
import io
import json
import os
import tarfile
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pandas as pd
import pytest

from cases import slow_after
from hullrank.datasets import dataset_names, download, load_dataset, loading
from hullrank.datasets.catalogue import CATALOGUE, Entry, Facts, Source
from hullrank.exceptions import DatasetError

TABLE = [[1.5, 2.0, 3], [0.5, 4.0, 1], [2.5, 6.0, 2]]
FACTS = Facts(3, 2, 2.0, 2.75)


@pytest.fixture
def server():
    """A web server of the files put into ``server.files``; it counts what is asked for."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.server.asked.append(self.path)
            body = self.server.files.get(self.path)
            self.send_response(200 if body is not None else 404)
            self.send_header("Content-Length", str(len(body or b"") + self.server.promised_too_much))
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *arguments):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.files, server.asked, server.promised_too_much = {}, [], 0
    server.url = f"http://127.0.0.1:{server.server_port}/"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def known(monkeypatch, tmp_path):
    """Adds a data set to the catalogue, and keeps the cache and the user's folder in ``tmp_path``."""
    monkeypatch.delenv(loading.FOLDER, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def add(source, facts=FACTS, **options):
        monkeypatch.setitem(CATALOGUE, "tiny", Entry("A tiny set", facts, source, **options))

    return add


def serve(server, name, content):
    server.files[f"/{name}"] = content if isinstance(content, bytes) else content.encode()
    return server.url + name


def zipped(member, text):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(member, text)
    return stream.getvalue()


def tarred(member, text):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        info = tarfile.TarInfo(member)
        info.size = len(text)
        archive.addfile(info, io.BytesIO(text.encode()))
    return stream.getvalue()


COMMA = "1.5,2.0,3\n0.5,4.0,1\n2.5,6.0,2\n"
QUOTED = '3 1.5 2. "ford x"\n1 .5 4. "b"\n2 2.5 6. "c"\n'
HEADED = '"a";"b";"q"\n' + COMMA.replace(",", ";")
ARFF = "% c\n@RELATION r\n@attribute 'a' real\n@ATTRIBUTE b numeric\n@attribute y real\n@data\n% x\n" + COMMA
FORMATS = {
    "comma": (COMMA, {"format": "comma", "fields": "a b target"}),
    "comma with missing": (COMMA + "?,1,1\n", {"format": "comma", "fields": "a b target"}),
    "target first, name dropped": (QUOTED, {"format": "blank", "fields": "target a b -"}),
    "semicolon": (HEADED, {"format": "semicolon", "fields": "a b target", "header": True}),
    "arff": (ARFF, {"format": "arff"}),
    "svmlight": ("3 1:1.5 2:2\n1 1:.5 2:4\n2 1:2.5 2:6\n", {"format": "svmlight"}),
    "zip": (zipped("in/t", COMMA.replace(",", "\t")), {"format": "tab", "fields": "a b target", "member": "in/t"}),
    "tar": (tarred("in/t", COMMA), {"format": "comma", "fields": "a b target", "member": "in/t"}),
}


@pytest.mark.parametrize("case", FORMATS)
def test_public_formats_are_downloaded_once_and_read_alike(case, server, known, tmp_path):
    content, options = FORMATS[case]
    known(Source(serve(server, "t.data", content), **options))
    first, again = load_dataset("tiny"), load_dataset("tiny")
    np.testing.assert_array_equal(first.data, np.array(TABLE)[:, :2])
    np.testing.assert_array_equal(first.target, [3, 1, 2])
    assert len(first.feature_names) == 2
    assert server.asked == ["/t.data"]
    assert again.filename == str(tmp_path / "cache/hullrank/t.data")
    assert os.listdir(tmp_path / "cache/hullrank") == ["t.data"]


def test_string_levels_and_grades_become_numbers(server, known):
    url = serve(server, "t.data", "a,x,low\nb,y,top\na,y,mid\n")
    known(Source(url, "comma", "f g target"), Facts(3, 2, 2.0), levels=("low", "mid", "top"), nominal=("f", "g"))
    bunch = load_dataset("tiny")
    assert bunch.target.tolist() == [1, 3, 2]
    assert bunch.data.tolist() == [["a", "x"], ["b", "y"], ["a", "y"]]
    assert bunch.nominal == ["f", "g"]
    known(Source(url, "comma", "f g target"), Facts(3, 4, 2.0, 0.5), levels=("low", "mid", "top"), one_hot=True)
    assert load_dataset("tiny").data.tolist() == [[1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 0, 1]]
    url = serve(server, "g.data", "1,3\n2,8\n3,5\n")
    known(Source(url, "comma", "f target"), Facts(3, 1, 2.0, 2.0), grades=True)
    assert load_dataset("tiny").target.tolist() == [1, 3, 2]


@pytest.mark.parametrize("sizes", [True, False])
def test_queries_come_from_the_file_or_from_their_sizes(sizes, server, known):
    rows = "0 qid:7 1:1 3:2 # doc\n1 qid:7 2:1\n2 qid:9 1:4 # doc\n"
    url = serve(server, "rank.train", rows.replace("qid:7 ", "").replace("qid:9 ", "") if sizes else rows)
    extra = {"sizes": serve(server, "rank.train.query", "2\n1\n"), "first_query": 5} if sizes else {}
    known(Source(url, "queries", **extra), Facts(3, 3, 1.0, 8 / 9))
    bunch = load_dataset("tiny")
    assert bunch.qid.tolist() == ([5, 5, 6] if sizes else [7, 7, 9])
    np.testing.assert_array_equal(bunch.data.toarray(), [[1, 0, 2], [0, 1, 0], [4, 0, 0]])
    frame = load_dataset("tiny", as_frame=True).frame
    assert frame["target"].tolist() == [0, 1, 2]


def test_openml_is_asked_for_the_address_and_the_checksum(server, known, monkeypatch):
    monkeypatch.setattr(download, "OPENML", server.url)
    arff = ARFF.encode()
    listed = {"data": {"dataset": [{"did": 42}]}}
    described = {"url": serve(server, "file.arff", arff), "md5_checksum": hashlib.md5(arff).hexdigest()}
    serve(server, "list/data_name/small/data_version/1", json.dumps(listed))
    serve(server, "42", json.dumps({"data_set_description": described}))
    known(Source("openml:small", "arff"))
    assert load_dataset("tiny").filename.endswith("small.arff")
    described["md5_checksum"] = "0" * 32
    serve(server, "42", json.dumps({"data_set_description": described}))
    known(Source("openml:small", "arff"))
    os.remove(load_dataset("tiny").filename)
    with pytest.raises(DatasetError, match="md5 checksum"):
        load_dataset("tiny")


@pytest.mark.parametrize("broken", ["checksum", "length", "absent"])
def test_a_failed_download_leaves_nothing_and_says_what_to_do(broken, server, known, tmp_path):
    url = serve(server, "t.data", COMMA)
    good = hashlib.sha256(COMMA.encode()).hexdigest()
    server.promised_too_much = 10 if broken == "length" else 0
    if broken == "absent":
        server.files.clear()
    known(Source(url, "comma", "a b target", checksum=f"sha256:{'0' * 64 if broken == 'checksum' else good}"))
    message = {"checksum": "sha256 checksum", "length": "cut short", "absent": "404"}[broken]
    with pytest.raises(DatasetError, match=message) as caught:
        load_dataset("tiny")
    assert "Put tiny.csv" in str(caught.value)
    assert loading.FOLDER in str(caught.value)
    assert f"save {url} as {tmp_path / 'cache/hullrank/t.data'}" in str(caught.value)
    assert os.listdir(tmp_path / "cache/hullrank") == []


def test_an_interrupted_download_leaves_nothing(server, known, tmp_path, monkeypatch):
    known(Source(serve(server, "t.data", COMMA), "comma", "a b target"))

    class Interrupting:
        def update(self, chunk):
            raise KeyboardInterrupt

    monkeypatch.setattr(download.hashlib, "new", lambda *arguments, **options: Interrupting())
    with pytest.raises(KeyboardInterrupt):
        load_dataset("tiny")
    assert os.listdir(tmp_path / "cache/hullrank") == []


def test_the_own_folder_comes_first_then_the_cache_then_the_source(server, known, tmp_path, monkeypatch):
    known(Source(serve(server, "t.data", COMMA), "comma", "a b target"))
    own, cache = tmp_path / "own", tmp_path / "cache/hullrank"
    own.mkdir()
    cache.mkdir(parents=True)
    text = "p,r,target\n1.5,2,3\n0.5,4,1\n2.5,6,2\n"
    (cache / "tiny.csv").write_text(text)
    monkeypatch.setenv(loading.FOLDER, str(own))
    assert load_dataset("tiny").filename == str(cache / "tiny.csv")
    (own / "tiny.csv").write_text(text.replace("p,r", "P,R"))
    assert load_dataset("tiny").feature_names == ["P", "R"]
    assert server.asked == []
    other = load_dataset("tiny", data_home=tmp_path / "elsewhere")
    assert other.filename == str(own / "tiny.csv")


def test_without_download_the_file_is_named(known, tmp_path):
    known(Source("http://127.0.0.1:9/t.data", "comma", "a b target"))
    with pytest.raises(DatasetError, match=r"download_if_missing=False.*Put tiny\.csv"):
        load_dataset("tiny", download_if_missing=False)
    known(None)
    with pytest.raises(DatasetError, match="no public source"):
        load_dataset("tiny")


@pytest.mark.parametrize(
    ("facts", "what"),
    [
        (Facts(4, 2, 2.0, 2.75), "rows is 3"),
        (Facts(3, 3, 2.0, 2.75), "features is 2"),
        (Facts(3, 2, 2.1, 2.75), "mean target is 2"),
        (Facts(3, 2, 2.0, 2.8), "mean of numeric features is 2.75"),
    ],
)
def test_a_file_that_is_something_else_is_refused(facts, what, server, known):
    known(Source(serve(server, "t.data", COMMA), "comma", "a b target"), facts)
    with pytest.raises(DatasetError, match=f"is not tiny: {what}"):
        load_dataset("tiny")


def test_an_unreadable_file_is_named(server, known):
    known(Source(serve(server, "t.data", "nonsense\n"), "comma", "a b target"))
    with pytest.raises(DatasetError, match=r"t\.data does not read as tiny"):
        load_dataset("tiny")


def test_returns_as_scikit_learn_does(server, known):
    known(Source(serve(server, "t.data", "u,2,3\nv,4,1\nu,6,2\n"), "comma", "a b target"), Facts(3, 2, 2.0, 4.0))
    X, y = load_dataset("tiny", return_X_y=True)
    assert X.dtype == object
    frame, series = load_dataset("tiny", return_X_y=True, as_frame=True)
    assert isinstance(frame["a"].dtype, pd.CategoricalDtype)
    assert frame["b"].dtype == np.float64
    assert series.tolist() == y.tolist() == [3, 1, 2]
    bunch = load_dataset("tiny", as_frame=True)
    assert list(bunch.frame.columns) == ["a", "b", "target"]
    assert bunch.DESCR == "A tiny set"


def test_unknown_names_are_refused_with_the_known_ones():
    with pytest.raises(DatasetError, match=r"no data set 'abalon'.*abalone"):
        load_dataset("abalon")


@pytest.mark.skipif(not os.environ.get(loading.FOLDER), reason=f"{loading.FOLDER} names no folder of data sets")
@pytest.mark.parametrize("name", slow_after(9, (n for n in dataset_names() if n != "movielens_100k")))
def test_the_data_sets_are_what_is_on_record(name):
    bunch = load_dataset(name, download_if_missing=False)
    assert bunch.data.shape == (CATALOGUE[name].facts.rows, CATALOGUE[name].facts.features)
    assert bunch.target.shape == (CATALOGUE[name].facts.rows,)
    assert (bunch.qid is not None) == name.startswith(("mq2008", "lightgbm"))
