"""Whatever is wrong with a file is said in one sentence on stderr, with exit code 1, and nothing is overwritten."""

import os
import re
import signal
import subprocess
import time

import pytest
from commands import COMMAND, ORDER, table

GOOD = b"size,grade,w\n1,poor,1\n2,fair,1\n3,good,1\n1.5,poor,2\n2.5,fair,1\n3.5,good,1\n"


@pytest.mark.parametrize(
    ("data", "extra", "message"),
    [
        (b"", [], "is empty"),
        (b"size,grade\n", [], "no rows"),
        (GOOD + b"1,poor\n", [], "line 8: 2 fields where the header has 3"),
        (GOOD + b"1,poor,1,9\n", [], "line 8: 4 fields where the header has 3"),
        (GOOD.replace(b"poor", b"p\x81or"), [], "neither UTF-8 nor Windows-1252"),
        (GOOD.replace(b"w\n", b"size\n", 1), [], "two columns named 'size'"),
        (GOOD.replace(b"grade", b"level"), [], "no column 'grade'"),
        (b"A title,,\n" + GOOD, [], "no column 'grade'.*; line 2 looks like the header; delete the lines above it"),
        (GOOD.replace(b"3.5,good", b"3.5,Good "), [], "says nothing about 'Good'; write 'Good' and 'good' alike"),
        (GOOD.replace(b"fair", b"poor").replace(b"good", b"poor"), [], "all rows have the grade 'poor'"),
        (GOOD + b"4,superb,1\n", [], "superb"),
        (GOOD.replace(b",1\n", b",heavy\n"), ["--weights", "w"], "'heavy'.*no number"),
        (GOOD.replace(b",2\n", b",-2\n"), ["--weights", "w"], "negative"),
        (GOOD, ["--weights", "nowhere"], "no column 'nowhere'"),
        (GOOD, ["--qid", "nowhere"], "no column 'nowhere'"),
        (GOOD, ["--drop", "nowhere"], "no column 'nowhere'"),
        (GOOD, ["--method", "magic"], "no method 'magic'"),
        (GOOD, ["--set", "C"], "name=value"),
        (GOOD, ["--set", "nonsense=1"], "no parameter 'nonsense'"),
        (GOOD, ["--set", "C=-1"], "^error: parameter 'C' must be"),
        (GOOD, ["--drop", "size", "--drop", "w"], "no column left"),
        (GOOD.replace(b"1.5", b"inf"), [], "infinite"),
    ],
)
def test_fit_refuses(run_here, tmp_path, data, extra, message):
    path, out = tmp_path / "data.csv", tmp_path / "m.hull"
    path.write_bytes(data)
    out.write_bytes(b"old")
    done = run_here("fit", path, "--target", "grade", "--order", ORDER, "--out", out, "--force", *extra)
    assert done.code == 1
    assert done.err.startswith("error: ")
    assert len(done.err.strip().splitlines()) == 1
    assert not done.out
    assert re.search(message, done.err), done.err
    assert out.read_bytes() == b"old"


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ("lo,hi\npoor,fair\nfair,good\ngood,poor\n", "cycle"),
        ("lo,hi\npoor,fair\n", "good"),
        ("lo,hi,x\n1,2,3\n", "two columns"),
        ("lo,hi\npoor,superb\n", "superb|fair"),
    ],
)
def test_bad_orders(run_here, tmp_path, edges, message):
    (tmp_path / "data.csv").write_bytes(GOOD)
    (tmp_path / "edges.csv").write_text(edges)
    done = run_here(
        "fit", tmp_path / "data.csv", "-t", "grade", "--edges", tmp_path / "edges.csv", "-o", tmp_path / "m.hull"
    )
    assert done.code == 1
    assert re.search(message, done.err), done.err


def test_words_without_an_order_and_a_missing_target(run_here, tmp_path):
    (tmp_path / "data.csv").write_bytes(GOOD)
    out = ("-o", tmp_path / "m.hull")
    assert "--order 'fair < good < poor'" in run_here("fit", tmp_path / "data.csv", "-t", "grade", *out).err
    assert "--target" in run_here("fit", tmp_path / "data.csv", *out).err


def test_a_byte_order_mark_and_blank_cells_are_fine(run_here, tmp_path):
    (tmp_path / "data.csv").write_bytes(b"\xef\xbb\xbf" + GOOD + b",good,1\n7,,1\n")
    done = run_here("fit", tmp_path / "data.csv", "-t", "grade", "--order", ORDER, "-o", tmp_path / "m.hull")
    assert done.code == 0, done.err
    assert "1 row of" in done.err


class TestPrediction:
    def test_columns_that_are_missing_are_named_and_extra_ones_ignored(self, run_here, fitted, tmp_path):
        path = tmp_path / "new.csv"
        table(2).drop("size").write_csv(path)
        done = run_here("rank", fitted / "model.hull", path)
        assert done.code == 1
        assert "'size'" in done.err
        table(2).select("colour", "age", "size").with_columns(extra=table(2)["size"]).write_csv(path)
        assert run_here("rank", fitted / "model.hull", path).code == 0

    @pytest.mark.parametrize("command", ["rank", "evaluate"])
    def test_columns_with_other_letters_are_found(self, run_here, fitted, tmp_path, command):
        path = tmp_path / "new.csv"
        table(2).rename({"size": "Size"}).write_csv(path)
        done = run_here(command, fitted / "model.hull", path)
        assert done.code == 1
        assert done.err == (
            "error: the table lacks columns that the model was fitted on: 'size'; did you mean 'Size'?\n"
        )
        table(2).rename({"size": "sizes", "colour": "color"}).write_csv(path)
        assert "'size', 'colour'; did you mean 'sizes', 'color'?" in run_here(command, fitted / "model.hull", path).err

    def test_new_categories_and_missing_values_are_handled(self, run_here, fitted, tmp_path):
        path = tmp_path / "new.csv"
        path.write_text("size,age,colour\n1.0,,purple\n,30,\n")
        assert run_here("rank", fitted / "model.hull", path).code == 0

    def test_words_where_numbers_were(self, run_here, fitted, tmp_path):
        path = tmp_path / "new.csv"
        path.write_text("size,age,colour\nhuge,30,red\n")
        done = run_here("rank", fitted / "model.hull", path)
        assert done.code == 1
        assert "'huge'" in done.err

    def test_a_missing_query_column(self, run_here, fitted_within_queries, tmp_path):
        model = fitted_within_queries / "model.hull"
        table().drop("query").write_csv(tmp_path / "new.csv")
        done = run_here("rank", model, tmp_path / "new.csv")
        assert done.code == 1
        assert "--whole" in done.err
        assert run_here("rank", model, tmp_path / "new.csv", "--whole").code == 0

    def test_no_model(self, run_here, csv, tmp_path):
        done = run_here("rank", csv, csv)
        assert done.code == 1
        assert "model file" in done.err
        assert run_here("rank", tmp_path / "nowhere.hull", csv).code == 1

    def test_unwritable_places(self, run_here, fitted, tmp_path):
        done = run_here("rank", fitted / "model.hull", fitted / "test.csv", "--out", tmp_path / "no" / "folder.csv")
        assert done.code == 1
        assert "there is no folder" in done.err
        assert run_here("rank", fitted / "model.hull", fitted / "test.csv", "--out", tmp_path).code == 1


FULL_DISK = ("sh", "-c", 'trap "" XFSZ; ulimit -f 2; exec "$@"', "sh", COMMAND)  # no file may exceed 1 kB


@pytest.mark.slow
@pytest.mark.parametrize("command", ["fit", "rank"])
def test_a_full_disk_leaves_the_old_file_whole(fitted, tmp_path, command):
    out = tmp_path / "out"
    out.write_text("old and whole")
    if command == "fit":
        options = ("fit", fitted / "data.csv", "-t", "grade", "--order", ORDER, "--out", out, "--force")
    else:
        options = ("rank", fitted / "model.hull", fitted / "test.csv", "--out", out)
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}  # compiled functions could not be cached
    done = subprocess.run([*FULL_DISK, *options], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 1
    assert "File too large" in done.stderr
    assert "Traceback" not in done.stderr
    assert out.read_text() == "old and whole"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def ended_while_writing(command, folder, end):
    """Exit code and stderr of a program that gets a signal while its temporary file grows; None if it was faster."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        while process.poll() is None and not any(size_of(path) for path in folder.glob("*.part")):
            time.sleep(0.002)
        process.send_signal(end)
        _, err = process.communicate(timeout=60)
    return (process.returncode, err) if process.returncode else None


def size_of(path):
    try:
        return path.stat().st_size
    except FileNotFoundError:  # it has just got its final name
        return 0


@pytest.mark.slow
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL], ids=["Ctrl-C", "killed"])
def test_an_interrupted_write_leaves_the_old_file_whole(fitted, tmp_path, end):
    table(3, n=200_000).write_csv(tmp_path / "many.csv")
    out = tmp_path / "out" / "ranked.jsonl"
    out.parent.mkdir()
    command = [COMMAND, "rank", fitted / "model.hull", tmp_path / "many.csv", "--out", out]
    for _ in range(5):
        out.write_text("old and whole")
        ended = ended_while_writing(command, out.parent, end)
        if ended is not None:
            break
    assert ended is not None, "it was never writing when it was looked at"
    code, err = ended
    assert code == (-end if end == signal.SIGKILL else 130)
    assert out.read_text() == "old and whole"
    if end == signal.SIGINT:
        assert b"Traceback" not in err
        assert [path.name for path in out.parent.iterdir()] == ["ranked.jsonl"]


@pytest.mark.slow
def test_a_reader_that_leaves_early_is_no_error_to_speak_of(fitted):
    command = f"{COMMAND} rank {fitted / 'model.hull'} {fitted / 'test.csv'} --out - | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, check=True, text=True)
    assert "Traceback" not in done.stderr
    assert done.stdout.count("\n") == 1
