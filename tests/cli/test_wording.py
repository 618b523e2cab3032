"""Messages speak of files, columns and options; places are checked first; stdout carries whatever goes to ``-``."""

import io
import json
import os
import re
import signal
import subprocess
import sys
import time
import zipfile

import polars as pl
import pytest
from commands import COMMAND, ORDER, WORDS, run_inside, table
from typer.testing import CliRunner

from hullrank.cli import completion
from hullrank.cli.described import parameters_of
from hullrank.cli.methods import METHODS
from hullrank.cli.output import defused
from hullrank.cli.wording import TERMS, in_command_terms
from hullrank.io import load
from hullrank.io.meant import did_you_mean

GRADED = ("-t", "grade", "--order", ORDER, *WORDS)


@pytest.mark.parametrize(
    ("word", "known", "meant"),
    [
        ("excelent", ["poor", "excellent"], "excellent"),
        ("Grade", ["grade", "size"], "grade"),
        ("c", ["C", "loss"], "C"),
        ("colour ", ["colour"], "colour"),
        ("zebra", ["grade", "size"], None),
    ],
)
def test_did_you_mean(word, known, meant):
    assert did_you_mean(word, known) == ("" if meant is None else f"; did you mean {meant!r}?")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("-t", "Grade"), "no column 'Grade'; did you mean 'grade'?"),
        (("-t", "grade", "--order", "poor < fair < goood"), "names 'goood', .*; did you mean 'good'?"),
        (("-t", "grade", "--order", "poor < fair"), "says nothing about 'good'"),
        (("-t", "grade", "--order", "poor < fair <= good"), "has '<='"),
        (("-t", "grade", "--order", "poor"), "has no <; write it like --order 'fair < good < poor', put into"),
        (("-t", "grade", "--order", ORDER, "--qid", "querry"), "no column 'querry'; did you mean 'query'?"),
        (("-t", "grade", "--order", ORDER, "-m", "fixed-margins"), "no method .*; did you mean 'fixed-margin'?"),
        (("-t", "grade", "--order", ORDER, "--set", "c=3"), "no parameter 'c'; did you mean 'C'?"),
        (
            ("-t", "grade", "--order", ORDER, "--set", "loss=hing"),
            "'loss' must be one of 'hinge', .*not 'hing'; did you mean 'hinge'?",
        ),
        (("-t", "grade", "--order", ORDER, "--set", "C=-1"), "'C' must be a number above 0 and .*, and not -1"),
        (("-t", "grade", "--order", ORDER, "--set", "max_iter=0.5"), "must be a whole number from 1, and not 0.5"),
        (("-t", "grade", "--order", ORDER, "--set", "warm_start=7"), "must be true or false, and not 7"),
        ((), r"--target COLUMN \(.*grade.*\)"),
        (("-t", "size", "-m", "fixed-margin"), "needs grades, .* use --method swapped-pairs"),
        (("-t", "grade", "--order", ORDER, *WORDS, "--set", "C=inf"), r"for instance row \d+ \(class"),
    ],
)
def test_errors_name_what_was_meant_and_no_python(run_here, csv, tmp_path, options, message):
    done = run_here("fit", csv, *options, "-o", tmp_path / "m.hull")
    assert done.code == 1
    assert re.search(message, done.err), done.err
    assert not re.search(
        r"classes=|sample_weight|OrderGraph|Classifier|Ranker|\bself\b|\[\.\.\.\]|\bstr\b|\bfloat\b", done.err
    )


def test_rows_of_a_hard_margin_are_counted_from_one(run_here, tmp_path):
    pl.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "g": [1, 2, 1, 2]}).write_csv(tmp_path / "d.csv")
    done = run_here("fit", tmp_path / "d.csv", "-t", "g", "--set", "C=inf", "-o", tmp_path / "m.hull")
    assert "row 3 (class 1) cannot be placed below row 2 (class 2)" in done.err


def test_every_phrase_of_the_library_is_still_one():
    """Each pattern that is translated occurs in the library, or is scikit-learn's."""
    told = [
        "The 'C' parameter of ConvexHullRanker must be a float in the range (0.0, inf). Got -1 instead.",
        "The 'loss' parameter of X must be a str among {'a', 'b'}. Got 'c' instead.",
        "y has labels that are not in the declared order: 'x'; add them to the order or drop the samples",
        "the declared order has classes without a sample (of positive weight): 'x'; remove them from the order",
        "string labels were ordered alphabetically (a < b); declare the order by classes=['a'], or an OrderGraph",
        "sample_weight is zero everywhere, so no sample is left; give some rows a positive weight",
        "Unknown label type: continuous. A classifier needs discrete grades, and y contains 1.5; pass the grades",
        "the interval is crossed; use intervals='proper' or slack='edge'",
        "no other value gives a ranking of them; use class_weight='balanced', a kernel, or FixedMarginClassifier",
        "use 0.1 < nu <= 0.8, or nu='auto' with a fraction",
        "use SwappedPairsRanker",
        "for instance row 0 (class 'a') cannot be placed below row 1 (class 'b')",
        "features that say something about y",
        "day or month first cannot be told; taken as day first (dates='mdy' if not)",
        "has leading zeros and is taken as numbers (words=['zip'] if they are codes)",
    ]
    for phrase, _ in TERMS:
        assert any(re.search(phrase, text) for text in told), phrase
    for text in told:
        assert in_command_terms(text) != text


def test_the_order_that_is_proposed_parses(run_here, tmp_path):
    grades = ['< 5, "low"', "5;6", " best", "it's"]
    frame = pl.DataFrame({"x": range(40), "grade": grades * 10})
    frame.write_csv(tmp_path / "d.csv")
    done = run_here("fit", tmp_path / "d.csv", "-t", "grade", "-o", tmp_path / "m.hull")
    proposed = re.search(r"say which is higher: (--order .*), put into the right order", done.err)[1]
    words = subprocess.run(["sh", "-c", f'printf "%s\\0" {proposed}'], capture_output=True, check=True).stdout
    option, order, _ = words.decode().split("\0")
    done = run_here("fit", tmp_path / "d.csv", "-t", "grade", option, order, "-o", tmp_path / "m.hull")
    assert done.code == 0, done.err
    assert load(tmp_path / "m.hull")[-1].classes_.tolist() == sorted(grade.strip() for grade in grades)


def test_a_file_that_is_not_there_is_answered_by_the_one_that_was_meant(run_here, csv):
    done = run_here("columns", csv.parent / "dta.csv")
    assert done.code == 1
    assert f"there is no file {csv.parent / 'dta.csv'}; did you mean 'data.csv'?" in done.err
    assert "there is no file /no/where.csv\n" in run_here("columns", "/no/where.csv").err


def test_a_table_in_the_place_of_the_model_is_named(run_here, fitted):
    model, data = fitted / "model.hull", fitted / "test.csv"
    done = run_here("rank", data, model)
    assert done.code == 1
    assert "test.csv is no model file; give the model first, and then the table" in done.err
    assert "test.csv is no model file; `hullrank fit` makes one" in run_here("evaluate", data, data).err


def test_compare_says_which_method_failed(run_here, tmp_path):
    pl.DataFrame({"x": [1, 2] * 20, "g": [1, 1, 2, 2] * 10}).write_csv(tmp_path / "d.csv")
    chosen = ("--methods", "hull,sum-of-margins", "--set", "C=1e-9")
    done = run_here("compare", tmp_path / "d.csv", "-t", "g", *chosen)
    assert done.code == 1
    assert "method sum-of-margins: C=1e-09 is too small" in done.err


def test_one_of_a_thing_is_not_many(run_here, tmp_path):
    (tmp_path / "d.csv").write_text("x,kind,grade\n1,a,1\n4,a,2\n2,a,\n9,a,3\n")
    done = run_here("fit", tmp_path / "d.csv", "-t", "grade", "--columns", "--no-cv", "-o", tmp_path / "m.hull")
    assert "1 row of" in done.err
    assert "has no 'grade' and is left out" in done.err
    assert "1 column of 0 and 1" in done.out


class TestPlaces:
    def test_model_files_are_replaced_only_by_force(self, run_here, csv, tmp_path):
        out = tmp_path / "m.hull"
        out.write_text("old")
        done = run_here("fit", csv, *GRADED, "-o", out)
        assert done.code == 1
        assert "exists already; give --force" in done.err
        assert out.read_text() == "old"
        assert run_here("fit", csv, *GRADED, "-o", out, "--force", "--no-cv").code == 0
        load(out)

    @pytest.mark.parametrize("command", ["fit", "rank", "report", "export", "demo"])
    def test_a_missing_folder_is_found_before_anything_is_read(self, run_here, tmp_path, command):
        junk, out = tmp_path / "junk.csv", tmp_path / "no" / "such" / "file"
        junk.write_bytes(b"\0")
        option = ("--onnx" if command == "export" else "-o", out)
        files = {"fit": (junk,), "demo": (), "export": (junk,)}.get(command, (junk, junk))
        done = run_here(command, *files, *option)
        assert done.code == 1
        assert "there is no folder" in done.err

    @pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="a folder that takes no files")
    def test_a_folder_that_takes_no_files_is_found_before_the_work(self, run_here, csv):
        done = run_here("fit", csv, *GRADED, "-o", "/proc/m.hull")
        assert done.code == 1
        assert "/proc/m.hull cannot be written: " in done.err
        assert ".part" not in done.err

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
    def test_a_folder_without_permission(self, run_here, csv, tmp_path):
        tmp_path.chmod(0o500)
        assert "no permission" in run_here("fit", csv, *GRADED, "-o", tmp_path / "m.hull").err

    @pytest.mark.parametrize("ending", ["xlsx", "xls", "ods", "hull", "html"])
    def test_endings_that_promise_something_else(self, run_here, fitted, tmp_path, ending):
        out = tmp_path / f"ranked.{ending}"
        done = run_here("rank", fitted / "model.hull", fitted / "test.csv", "-o", out)
        assert done.code == 1
        assert f"does not write tables as .{ending}" in done.err
        assert not out.exists()

    def test_reports_and_pictures_never_replace_a_model(self, run_here, fitted):
        model = fitted / "model.hull"
        before = model.read_bytes()
        commands = {
            ("report", model, fitted / "data.csv", "-o", model): "is the model that is read; give --out another name",
            ("export", model, "--onnx", model): "is the model that is read; give --onnx another name",
            ("demo", "--out", model): "the picture is a PNG file; give a name that ends in .png",
        }
        for arguments, message in commands.items():
            done = run_here(*arguments)
            assert done.code == 1
            assert message in done.err
        assert model.read_bytes() == before

    def test_a_model_is_no_table(self, run_here, csv, tmp_path):
        done = run_here("fit", csv, *GRADED, "-o", tmp_path / "m.csv")
        assert "ends in .hull" in done.err

    def test_a_json_array_is_written_as_one(self, run_here, fitted, tmp_path):
        out = tmp_path / "ranked.json"
        assert run_here("rank", fitted / "model.hull", fitted / "test.csv", "-o", out, "--top", "3").code == 0
        assert [row["rank"] for row in json.loads(out.read_text())] == [1, 2, 3]


class TestStdout:
    @pytest.mark.slow
    def test_a_fit_writes_its_model_to_stdout(self, fitted):
        arguments = ("fit", fitted / "data.csv", *GRADED, "-o", "-")
        done = subprocess.run([COMMAND, *arguments], capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
        assert zipfile.ZipFile(io.BytesIO(done.stdout)).testzip() is None
        assert done.stdout.count(b"PK\x05\x06") == 1  # once, though the figure on rows left out came later
        assert b"Pair accuracy on the 120 training rows" in done.stderr

    @pytest.mark.slow
    def test_other_commands_write_their_file_to_stdout(self, fitted, capfdbinary):
        model, data = fitted / "model.hull", fitted / "data.csv"
        commands = {
            ("report", model, data, "-o", "-"): b"<!",
            ("export", model, "--onnx", "-"): b"\x08",
            ("demo", "--out", "-"): b"\x89PNG",
        }
        for arguments, start in commands.items():
            capfdbinary.readouterr()
            run_inside(*arguments)
            assert capfdbinary.readouterr().out.startswith(start), arguments

    def test_json_and_a_file_do_not_share_it(self, run_here, fitted):
        done = run_here("rank", fitted / "model.hull", fitted / "test.csv", "-o", "-", "--json")
        assert done.code == 1
        assert not done.out


class TestMethods:
    def test_each_says_what_it_is_for(self, run_here):
        assert all(method.purpose for method in METHODS.values())
        listed = json.loads(run_here("methods", "--json").out)
        assert [row["method"] for row in listed] == list(METHODS)
        assert all(row["for"] for row in listed)

    @pytest.mark.parametrize("estimator", sorted({method.estimator for method in METHODS.values()}))
    def test_parameters_are_those_of_the_constructor(self, estimator):
        import hullrank

        told = parameters_of(estimator)
        expected = getattr(hullrank, estimator)().get_params()
        assert {row["parameter"] for row in told} == expected.keys()
        for row in told:
            value = expected[row["parameter"]]
            assert row["default"] == (value if isinstance(value, str) else repr(value)), row
            assert row["meaning"], row
            assert not re.search(r"callable|[{}`]", row["values"] + row["meaning"]), row
            if row["parameter"] not in ("order", "classes"):  # given by --order
                assert not re.search(r"\b(bool|int|float|str|dict|None|array-like|list of edges)\b", row["values"]), row

    def test_one_is_shown_with_its_parameters(self, run_here):
        shown = run_here("methods", "hull").out
        assert re.search(r"^C +scale +number", shown, re.MULTILINE)
        assert "by --order or --edges" in shown
        assert "did you mean 'hull'" in run_here("methods", "hul").err
        assert "slack" not in {
            row["parameter"] for row in json.loads(run_here("methods", "hull-edges", "--json").out)["parameters"]
        }


def test_cells_that_spreadsheets_run():
    cells = ["=1+1", "+49 (170)", "-5,3 €", "-12.5", "@x", "a=b", "-", None, "-a"]
    frame = defused(pl.DataFrame({"=c": cells, "n": range(9)}))
    assert frame.columns == ["'=c", "n"]
    assert frame["'=c"].to_list() == ["'=1+1", "'+49 (170)", "-5,3 €", "-12.5", "'@x", "a=b", "-", None, "'-a"]


class TestCompletion:
    def complete(self, line):
        """What bash is offered after the line."""
        from hullrank.cli.app import app

        words = line.split(" ")
        environment = {"_HULLRANK_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
        return CliRunner().invoke(app, [], env=environment, prog_name="hullrank").output.split()

    def test_methods_columns_and_parameters(self, csv):
        assert "swapped-pairs" in self.complete("hullrank fit x.csv --method swa")
        assert self.complete(f"hullrank fit {csv} --target gr") == ["grade"]
        assert self.complete(f"hullrank compare {csv} --qid qu") == ["query"]
        assert "C=" in self.complete("hullrank fit x.csv --set C")
        assert self.complete("hullrank methods hull-") == ["hull-edges", "hull-l1"]
        assert "hull,prank" in self.complete("hullrank compare x.csv --methods hull,pr")

    def test_files_that_cannot_be_read_offer_nothing(self, tmp_path):
        (tmp_path / "empty.csv").write_text("")
        (tmp_path / "bad.parquet").write_text("PAR1")
        for name in ("empty.csv", "bad.parquet", "nowhere.csv"):
            assert completion.header(tmp_path / name) == []
        table().write_parquet(tmp_path / "t.parquet")
        assert "grade" in completion.header(tmp_path / "t.parquet")


class TestStart:
    @pytest.mark.slow
    def test_nothing_slow_is_loaded_before_a_command_has_looked_at_its_files(self):
        commands = "app", "fit", "rank", "evaluate", "compare", "certify", "report", "described", "doctor", "demo"
        modules = ", ".join(f"hullrank.cli.{name}" for name in commands)
        slow = "sklearn", "scipy.stats", "matplotlib", "numba", "pandas"
        code = f"import sys, {modules}; print([m for m in {slow} if m in sys.modules])"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "[]"

    @pytest.mark.slow
    def test_lists_and_wrong_files_are_answered_within_a_second_of_work(self):
        """CPU seconds, which do not depend on what else the machine is doing."""
        for arguments in (
            ("methods",),
            ("methods", "hull"),
            ("doctor",),
            ("rank", "no.hull", "no.csv"),
            ("fit", "no.csv"),
        ):
            before = os.times()
            subprocess.run([COMMAND, *arguments], capture_output=True, check=False)
            after = os.times()
            spent = after.children_user + after.children_system - before.children_user - before.children_system
            assert spent < 1.0, (arguments, spent)


@pytest.mark.slow
class TestInterrupts:
    """Ctrl-C is sent when the events on stderr, or the folder, show how far the command is."""

    def interrupted(self, folder, command, started):
        """Exit code, stdout and stderr of a command that gets Ctrl-C once ``started``, which is given its stderr."""
        told = folder / "stderr"
        environment = {**os.environ, "HULLRANK_EVENTS": "1"}
        with (
            told.open("wb") as stderr,
            subprocess.Popen(
                list(map(str, command)), stdout=subprocess.PIPE, stderr=stderr, env=environment
            ) as process,
        ):
            deadline = time.monotonic() + 60
            while process.poll() is None and not started(told.read_text()) and time.monotonic() < deadline:
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            out, _ = process.communicate(timeout=60)
        return process.returncode, out.decode(), told.read_text()

    def test_once_a_model_is_saved_it_stays_and_the_end_is_a_good_one(self, tmp_path):
        table(3, n=6000).write_csv(tmp_path / "d.csv")
        out = tmp_path / "m.hull"
        options = ("-t", "number", "--drop", "grade", "-m", "fixed-margin", "--set", "kernel=rbf", "-o", out)
        command = [COMMAND, "fit", tmp_path / "d.csv", *options]
        code, said, told = self.interrupted(tmp_path, command, lambda _: out.exists())
        assert code == 0, told
        assert "stopped by Ctrl-C" in told or "rows left out" in said
        assert "lower C" not in told
        load(out)

    def test_nothing_saved_is_130(self, tmp_path):
        table(3, n=6000).write_csv(tmp_path / "d.csv")
        options = ("-t", "number", "--drop", "grade", "--set", "kernel=rbf", "--methods", "fixed-margin,all-thresholds")
        command = [COMMAND, "compare", tmp_path / "d.csv", *options]
        code, said, told = self.interrupted(tmp_path, command, lambda told: "comparing 2 methods" in told)
        assert code == 130
        assert not said
        assert "Traceback" not in told


def test_ctrl_c_in_the_folds_keeps_the_model(run_here, csv, tmp_path, monkeypatch):
    def interrupted(*_, **__):
        monkeypatch.setattr("hullrank.cli.console._Stop.asked", True)
        raise KeyboardInterrupt

    monkeypatch.setattr("hullrank.cli.result._in_folds", interrupted)
    done = run_here("fit", csv, *GRADED, "-o", tmp_path / "m.hull")
    assert done.code == 0, done.err
    assert "the model is complete; only the check on rows left out was skipped" in done.err
    load(tmp_path / "m.hull")


def test_ctrl_c_before_anything_is_saved_has_code_130(run_here, csv, tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("hullrank.cli.fit._fit_in_stages", interrupted)
    done = run_here("fit", csv, *GRADED, "-o", tmp_path / "m.hull")
    assert done.code == 130
    assert "Traceback" not in done.err
    assert not (tmp_path / "m.hull").exists()
