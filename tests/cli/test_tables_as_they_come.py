"""Tables of many countries and programs give the same model as the clean one, and whatever is doubtful is said."""

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from commands import COMMAND, ORDER

from hullrank.io import load, read_model, read_table

TABLES = Path(__file__).parent / "tables"
FILES = sorted(path.name for path in TABLES.iterdir() if path.suffix not in (".py", ".pyc", ""))
SAME = ["german.csv", "excel_sep.csv", "french.csv", "american.csv", "swiss.csv", "tabs.tsv", "quoted.csv", "zones.csv",
        "months.csv", "array.json", "accounts.csv", "currencies.csv", "half_percent.csv", "signs.csv",
        "padded.csv"]  # fmt: skip


def order_of(name):
    return '"< 5" < "5, or 6" < "the ""best"""' if name == "signs.csv" else ORDER


@pytest.fixture
def fit(run_here, tmp_path):
    """Fit a table of the folder; gives what was printed, as JSON and as notes, and the path of the model."""

    def command(name, *options, order=None, folds=False):
        out = tmp_path / f"{name}.hull"
        given = (*(("--order", order or order_of(name)) if order != "" else ()), *(() if folds else ("--no-cv",)))
        done = run_here("fit", TABLES / name, "-t", "grade", *given, *options, "-o", out, "--json", "--columns")
        assert done.code == 0, done.err
        facts = json.loads(done.out)
        kinds = {column["column"]: column["kind"] for column in facts["columns"]}
        return facts, done.err.splitlines(), kinds, out

    return command


CLEAN = {}


@pytest.fixture
def clean(fit):
    """What was printed of the clean table, and its weights; fitted once."""
    if not CLEAN:
        facts, *_, model = fit("clean.csv", folds=True)
        CLEAN.update(facts, coef=load(model)[-1].coef_)
    return CLEAN


def test_the_folder_holds_what_its_script_makes():
    spec = importlib.util.spec_from_file_location("make", TABLES / "make.py")
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    made = make.tables()
    assert sorted(made) == FILES
    for name, data in made.items():
        assert (TABLES / name).read_bytes() == data, name


# The installed program for one table after the other, in one process, because most of its time is its start. Its
# streams are the process's own, with the encoding that Python gives them.
EVERY_TABLE = """
import os, runpy, sys
command, folder, *tables = sys.argv[1:]
for table in tables:
    for stream, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(f"{folder}/{os.path.basename(table)}.{name}", os.O_CREAT | os.O_WRONLY), stream)
    sys.argv = [command, "columns", table]
    try:
        runpy.run_path(command, run_name="__main__")
    except SystemExit as end:
        assert not end.code, table
    sys.stdout.flush()
"""


@pytest.mark.slow
def test_the_installed_program_says_the_same_of_every_table_as_the_tests_see(run_here, tmp_path):
    program = [sys.executable, "-c", EVERY_TABLE, COMMAND, tmp_path, *(TABLES / name for name in FILES)]
    subprocess.run(program, check=True, env={**os.environ, "COLUMNS": "200"})
    for name in FILES:
        here = run_here("columns", TABLES / name)
        installed = [(tmp_path / f"{name}.{stream}").read_text("utf-8") for stream in ("out", "err")]
        assert installed == [here.out, here.err], name


@pytest.mark.slow
@pytest.mark.parametrize("name", SAME)
def test_the_accuracies_are_those_of_the_clean_table(fit, clean, name):
    facts, _, kinds, model = fit(name, folds=True)
    assert {kind.removesuffix(", written as text") for kind in kinds.values()} == {"numbers", "dates", "words"}
    assert kinds["region"] == "words"
    assert facts["training"] == pytest.approx(clean["training"], abs=1e-12)
    assert facts["cross_validated"]["folds"] == pytest.approx(clean["cross_validated"]["folds"], abs=1e-12)
    if name != "accounts.csv":  # its turnover is less 3,000
        np.testing.assert_allclose(load(model)[-1].coef_, clean["coef"], rtol=1e-6)


def test_spreadsheets_are_read_or_answered_with_advice(fit, clean, run_here, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    done = run_here("fit", TABLES / "book.xlsx", "-t", "grade", "--order", ORDER, "-o", tmp_path / "m.hull")
    assert done.code == 1
    assert "save it as CSV" in done.err
    assert "pip install 'hullrank[excel]'" in done.err
    monkeypatch.undo()
    pytest.importorskip("fastexcel")
    monkeypatch.setenv("COLUMNS", "200")
    assert fit("book.xlsx")[0]["training"] == pytest.approx(clean["training"], abs=1e-12)


@pytest.mark.slow
def test_stray_words_among_numbers_are_missing_and_named(fit):
    facts, notes, kinds, _ = fit("words.csv", folds=True)
    blank, quiet, *_ = fit("words_blank.csv", folds=True)
    assert notes == ["column 'turnover': 4 cells are no numbers ('closed', '-', 'unknown') and taken as missing"]
    assert not quiet
    assert kinds["turnover"] == "numbers, written as text"
    assert facts["training"] == blank["training"]
    assert facts["cross_validated"] == blank["cross_validated"]
    assert facts["columns"][0]["missing"] == blank["columns"][0]["missing"] == 4


def test_one_unknown_among_numbers_costs_nothing(fit, clean):
    facts, notes, *_ = fit("unknown.csv")
    assert notes == ["column 'turnover': 1 cell is no number ('unknown') and taken as missing"]
    assert facts["training"] == pytest.approx(clean["training"], abs=1e-12)


def test_a_column_that_looks_like_numbers_becomes_words_only_with_a_note(fit):
    _, notes, kinds, _ = fit("half_words.csv")
    assert notes[0].startswith("column 'turnover' looks like numbers, but too many cells are none ('shop 0', ")
    assert notes[0].endswith("it is taken as words")
    assert kinds["turnover"] == "words"
    _, notes, kinds, _ = fit("units.csv")
    assert "leave out the unit" in notes[0]
    assert kinds["turnover"] == "words"


@pytest.mark.parametrize(
    ("cells", "note"),
    [
        ([f"{i % 30}kg" for i in range(60)], "('0kg', '10kg', '11kg' and 27 more); leave out the unit or sign"),
        ([f"{i % 30}{'kM'[i % 2]}" for i in range(60)], "leave out the unit or sign"),
        ([f"~{i % 30}" for i in range(60)], "leave out the unit or sign"),
        ([f"{i % 30 + 24}:{i:02}:00" for i in range(60)], "write durations as numbers"),
        ([f"{i}{'abcdef'[i % 6]}" for i in range(60)], None),
        ([f"P-{i % 30}" for i in range(60)], None),
    ],
)
def test_numbers_with_something_beside_them_are_words_with_a_note(run_here, tmp_path, cells, note):
    path = tmp_path / "d.csv"
    path.write_text("x,c\n" + "".join(f"{i % 7},{cell}\n" for i, cell in enumerate(cells)))
    told = [line for line in run_here("columns", path).err.splitlines() if "column 'c'" in line]
    assert len(told) == (note is not None), told
    assert note is None or note in told[0]


def test_leading_zeros_stay_in_the_ranked_table(run_here, tmp_path):
    path, model = tmp_path / "d.csv", tmp_path / "m.hull"
    rows = [f"{i},0{1000 + 7 * i % 50},{i % 12:02},{i // 20}" for i in range(60)]
    path.write_text("\n".join(["size,zip,month,grade", *rows]))
    done = run_here("fit", path, "-t", "grade", "--no-cv", "--columns", "-o", model)
    assert "column 'zip' has leading zeros and is taken as numbers (--words 'zip' if they are codes)" in done.err
    assert "month" not in done.err
    assert {column["kind"] for column in load(model)[0].columns_} == {"number"}
    assert run_here("rank", model, path, "-o", tmp_path / "ranked.csv").code == 0
    written = {line.rsplit(",", 4)[0] for line in (tmp_path / "ranked.csv").read_text().splitlines()}
    assert written >= set(rows)
    comma = tmp_path / "comma.csv"
    comma.write_text("size;zip\n1,5;01234\n2,5;00234\n")
    assert read_table(comma)["zip"].to_list() == ["01234", "00234"]


def test_numbers_of_many_digits_stay_as_they_are(run_here, tmp_path):
    path, model = tmp_path / "d.csv", tmp_path / "m.hull"
    path.write_text("size,code,grade\n" + "".join(f"{i},{10**24 + i * 10**22},{i // 20}\n" for i in range(60)))
    assert run_here("fit", path, "-t", "grade", "--no-cv", "-o", model).code == 0
    assert run_here("rank", model, path, "-o", tmp_path / "ranked.csv").code == 0
    assert f"\n59,{10**24 + 59 * 10**22},2," in (tmp_path / "ranked.csv").read_text()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# made by me\nx,grade\n1,2\n", "separate its cells by commas"),
        ("x   grade\n1   2\n", "separate its cells by commas"),
        ("1,2,a\n2,3,b\n", "if its first line is a row already"),
        ("Sales,,\nx,y,grade\n1,2,3\n", "line 2 looks like the header; delete the lines above it"),
        ("Sales,,\n1,2,3\n", "if the names of the columns stand further down"),
        ('{"x": [1, 2], "grade": [1, 2]}', "is one JSON object, and a table is an array of objects"),
        ('[["x", "grade"], [1, 2]]', "is JSON, and a table is an array of objects"),
        ('x,y,grade\n1,"2,a\n2,3,b\n', 'a quote (") before it is not closed'),
        ("x,grade\n1,2\ninf,3\n", "is infinite in row 2; write a number there"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_with_what_to_do(run_here, tmp_path, text, said):
    path = tmp_path / "data"
    path.write_text(text)
    done = run_here("fit", path, "-t", "grade", "-o", tmp_path / "m.hull")
    assert done.code == 1
    assert said in done.err


def test_lines_may_end_as_on_old_macintoshes(run_here, tmp_path):
    path = tmp_path / "old.csv"
    path.write_bytes((TABLES / "german.csv").read_bytes().replace(b"\n", b"\r"))
    old, new = (json.loads(run_here("columns", file, "--json").out) for file in (path, TABLES / "german.csv"))
    assert old["columns"] == new["columns"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "options", "note"),
    [
        ("german.csv", (), "german.csv is read as separated by semicolons, with a decimal comma"),
        ("quoted.csv", (), "quoted.csv is read as separated by commas, with a decimal comma"),
        ("either_day.csv", (), "day or month first cannot be told; taken as day first (--dates mdy if not)"),
        ("either_day.csv", ("--dates", "mdy"), None),
        ("either_sign.csv", (), "with a decimal comma"),
        ("either_sign.csv", ("--decimal", "."), None),
        ("currencies.csv", (), "column 'turnover' mixes currencies ('$', '€')"),
        ("half_percent.csv", (), "column 'share' mixes percent and plain numbers; 12% is taken as 0.12"),
        ("clean.csv", (), None),
        ("american.csv", (), None),
        ("swiss.csv", (), None),
    ],
)
def test_what_is_doubtful_is_said_and_nothing_else(fit, name, options, note):
    _, notes, *_ = fit(name, *options)
    assert len(notes) == (note is not None), notes
    assert note is None or note in notes[0]


@pytest.mark.slow
def test_the_decimal_sign_and_the_order_of_dates_can_be_given(fit):
    thousands = load(fit("either_sign.csv", "--decimal", ".")[3])[0].columns_[0]
    decimals = load(fit("either_sign.csv", "--force")[3])[0].columns_[0]
    assert thousands["mean"] == pytest.approx(1000 * decimals["mean"])
    day, month = (load(fit("either_day.csv", "--dates", o, "--force")[3])[0].columns_[2] for o in ("dmy", "mdy"))
    assert day["form"]["dates"] == "dmy"
    assert month["form"]["dates"] == "mdy"
    assert day["scale"] != pytest.approx(month["scale"])
    _, _, kinds, _ = fit("german.csv", "--words", "opened", "--words", "turnover")
    assert kinds["opened"] == "left out" or kinds["opened"] == "words"
    assert kinds["share"] == "numbers, written as text"


@pytest.mark.parametrize("options", [("--decimal", "x"), ("--dates", "day"), ("--words", "nowhere")])
def test_signs_that_are_none_are_refused(run_here, tmp_path, options):
    done = run_here("fit", TABLES / "clean.csv", "-t", "grade", "--order", ORDER, *options, "-o", tmp_path / "m.hull")
    assert done.code == (1 if options[0] == "--words" else 2)
    assert not (tmp_path / "m.hull").exists()


def test_a_cut_to_the_fifty_most_frequent_words_is_said(fit):
    facts, notes, kinds, model = fit("towns.csv")
    column = next(c for c in load(model)[0].columns_ if c["name"] == "region")
    assert len(column["words"]) == 50
    different = pl.read_csv(TABLES / "towns.csv")["region"].n_unique()
    assert notes[0].startswith(f"column 'region' has {different} different words; the 50 most frequent are used")
    assert kinds["region"] == "words"
    assert f"{different - 50} rarer ones" in facts["columns"][3]["done"]


def test_targets_with_a_decimal_comma_are_numbers(fit, clean, run_here):
    facts, _, _, model = fit("number_target.csv", order="")
    assert load(model)[-1].classes_.tolist() == [1.5, 2.5, 3.5]
    assert facts["training"] == pytest.approx(clean["training"], abs=1e-12)
    measured = json.loads(run_here("evaluate", model, TABLES / "number_target.csv", "--json").out)
    assert measured["pair_accuracy"] == pytest.approx(facts["training"]["pair_accuracy"])


class TestNewTables:
    """A model reads a new table as it read the one it was fitted on."""

    @pytest.mark.slow
    def test_every_country_gets_the_scores_of_the_clean_table(self, fit, run_here, tmp_path):
        scores = {}
        for name in ("clean.csv", "german.csv", "swiss.csv", "array.json"):
            out = tmp_path / f"{name}.csv"
            done = run_here("rank", fit(name)[3], TABLES / name, "-o", out)
            assert done.code == 0, done.err
            scores[name] = read_table(out).sort("row")["score"]
        for values in scores.values():
            np.testing.assert_allclose(values, scores["clean.csv"], rtol=1e-6)

    def test_few_rows_without_a_decimal_are_read_by_the_sign_of_the_model(self, fit, run_here, tmp_path):
        model = fit("german.csv")[3]
        assert read_model(model).about["decimal"] == ","
        new = tmp_path / "new.csv"
        new.write_text("turnover;share;opened;region\n2.500 €;50 %;01.02.2020;west\n2.400 €;50 %;01.02.2020;west\n")
        twin = tmp_path / "twin.csv"
        twin.write_text("turnover;share;opened;region\n2500;0.5;2020-02-01;west\n2400;0.5;2020-02-01;west\n")
        shown = [json.loads(run_here("rank", model, path, "--json").out)["ranked"] for path in (new, twin)]
        assert [row["score"] for row in shown[0]] == pytest.approx([row["score"] for row in shown[1]])

    def test_known_and_few_new_strays_are_missing_and_many_are_an_error(self, fit, run_here, tmp_path):
        model = fit("words.csv")[3]
        done = run_here("rank", model, TABLES / "words.csv")
        assert done.code == 0
        assert done.err.strip() == "use --out FILE for all 150 of them"
        rows = (TABLES / "clean.csv").read_text().splitlines()
        path = tmp_path / "new.csv"
        path.write_text("\n".join([*rows[:100], "soon,0.5,2020-01-01,west,good"]))
        done = run_here("rank", model, path)
        assert done.code == 0
        assert "column 'turnover': 'soon' taken as missing among numbers" in done.err
        path.write_text("\n".join([*rows[:3], "soon,0.5,2020-01-01,west,good"]))
        done = run_here("rank", model, path)
        assert done.code == 1
        assert "column 'turnover' was numbers when the model was fitted, and now holds 'soon'" in done.err

    def test_american_dates_do_not_fit_a_german_model(self, fit, run_here):
        done = run_here("rank", fit("german.csv")[3], TABLES / "american.csv")
        assert done.code == 1
        assert "column 'opened' was dates when the model was fitted" in done.err


def test_ranked_tables_are_written_as_the_table_was(fit, run_here, tmp_path):
    model, out = fit("german.csv")[3], tmp_path / "ranked.csv"
    assert run_here("rank", model, TABLES / "german.csv", "-o", out).code == 0
    head, first = out.read_text().splitlines()[:2]
    assert head == "turnover;share;opened;region;grade;rank;score;grade_;row"
    assert "€;" in first
    assert re.search(r";1;-?\d+,\d+;good;\d+$", first)
    assert read_table(out)["score"].is_sorted(descending=True)
    tabs = tmp_path / "ranked.tsv"
    assert run_here("rank", model, TABLES / "german.csv", "-o", tabs).code == 0
    assert tabs.read_text().startswith("turnover\tshare\t")


def test_columns_are_shown_one_by_one(run_here, tmp_path):
    done = run_here(
        "fit", TABLES / "german.csv", "-t", "grade", "--order", ORDER, "--columns", "--no-cv", "-o", tmp_path / "m.hull"
    )
    lines = done.out.splitlines()
    assert lines[0] == "Columns"
    assert lines[1].split() == ["column", "kind", "missing", "examples", "what", "was", "done"]
    assert lines[2].split()[:4] == ["turnover", "numbers,", "written", "as"]
    assert lines[2].rstrip().endswith("decimal comma, standardised")
    assert "day first" in lines[4]
    assert lines[5].split()[:3] == ["region", "words", "0"]


def test_cells_that_spreadsheets_run_are_written_as_text(fit, run_here, tmp_path):
    model, out = fit("formulas.csv")[3], tmp_path / "ranked.csv"
    assert run_here("rank", model, TABLES / "formulas.csv", "-o", out).code == 0
    regions = set(read_table(out)["region"])
    assert {"""'=HYPERLINK("http://x")""", "'-a"} <= regions
    assert not any(str(cell)[0] in "=+-@" for cell in regions)
    assert run_here("rank", model, TABLES / "formulas.csv", "-o", out, "--raw").code == 0
    assert set(read_table(out)["region"]) == set(read_table(TABLES / "formulas.csv")["region"])
    parquet = tmp_path / "ranked.parquet"
    assert run_here("rank", model, TABLES / "formulas.csv", "-o", parquet).code == 0
    assert "-a" in set(pl.read_parquet(parquet)["region"])


@pytest.mark.parametrize(("codec", "said"), [("cp1252", "Windows-1252"), ("utf-16", "UTF-16")])
def test_other_encodings_are_read_with_a_note(run_here, tmp_path, codec, said):
    text = (TABLES / "german.csv").read_text(encoding="utf-8").replace("north", "nördlich")
    path = tmp_path / "old.csv"
    path.write_bytes(text.encode(codec))
    done = run_here("columns", path, "--json")
    assert done.code == 0, done.err
    assert f"{path} is not UTF-8; it is read as {said}" in done.err
    assert "nördlich" in done.out
