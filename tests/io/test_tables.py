"""Every known format is read alike, and every bad file is refused in one sentence that names what is wrong."""

import gzip
import io
import sys
from contextlib import suppress

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from sklearn.datasets import dump_svmlight_file

from hullrank.exceptions import HullrankError, TableError
from hullrank.io import SparseTable, TableEncoder, read_table

FRAME = pl.DataFrame({"a": [1, 2, 3], "b": [0.5, None, -2.0], "c": ["x", "y", "x"]})
CSV = b"a,b,c\n1,0.5,x\n2,,y\n3,-2.0,x\n"


def write(folder, name, data):
    path = folder / name
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("t.csv", CSV),
        ("t.csv.gz", gzip.compress(CSV, mtime=0)),  # no time: ids are alike in every worker of pytest -n
        ("t.tsv", CSV.replace(b",", b"\t")),
        ("semicolons.csv", CSV.replace(b",", b";")),
        ("no_ending", CSV),
        ("bom.csv", b"\xef\xbb\xbf" + CSV),
        ("windows.csv", CSV.replace(b"\n", b"\r\n")),
        ("missing.csv", CSV.replace(b",,", b",NA,")),
        ("blank_lines.csv", CSV + b"\n\n"),
        ("t.jsonl", FRAME.write_ndjson().encode()),
        ("t.parquet", None),
        ("t.feather", None),
    ],
)
def test_formats_agree(tmp_path, name, data):
    path = tmp_path / name
    if name.endswith("parquet"):
        FRAME.write_parquet(path)
    elif name.endswith("feather"):
        FRAME.write_ipc(path)
    else:
        path.write_bytes(data)
    assert_frame_equal(read_table(path), FRAME)


@pytest.mark.parametrize("packed", [False, True])
def test_standard_input(monkeypatch, packed):
    data = gzip.compress(CSV) if packed else CSV
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert_frame_equal(read_table("-"), FRAME)


@pytest.mark.parametrize("name", ["t.svm", "t.letor.gz", "no_ending"])
@pytest.mark.parametrize("queries", [False, True])
def test_svmlight(tmp_path, name, queries):
    X = np.array([[1.0, 0, 2], [0, 3, 0]])
    buffer = io.BytesIO()
    dump_svmlight_file(X, [2, 1], buffer, zero_based=False, query_id=[7, 9] if queries else None)
    data = gzip.compress(buffer.getvalue()) if name.endswith("gz") else buffer.getvalue()
    table = read_table(write(tmp_path, name, data), n_features=4)
    assert isinstance(table, SparseTable)
    np.testing.assert_array_equal(table.X.toarray(), np.hstack([X, np.zeros((2, 1))]))
    assert table.y.tolist() == [2, 1]
    assert (table.qid.tolist() == [7, 9]) if queries else table.qid is None


def test_types_are_found_beyond_the_first_rows(tmp_path):
    rows = [str(i) for i in range(12_000)] + ["late word"]
    frame = read_table(write(tmp_path, "late.csv", ("a,b\n" + "".join(f"{r},1\n" for r in rows)).encode()))
    assert frame["a"].to_list() == rows


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("empty.csv", b"", "is empty"),
        ("header.csv", b"a,b\n", "a header but no rows"),
        ("long.csv", b"a,b\n1,2\n3,4,5\n", "line 3: 3 fields where the header has 2"),
        ("short.csv", b"a,b\n1,2\n3\n", "line 3: 1 fields where the header has 2"),
        ("undefined.csv", b"a,b\n\x81t\xe9,2\n", "neither UTF-8 nor Windows-1252"),
        ("control.csv", b"a,b\n\xe9\x02,2\n", "not text"),
        ("utf16.jsonl", '{"a": 1}'.encode("utf-16"), "UTF-16"),
        ("cut16.csv", "a,b\n1,2\n".encode("utf-16")[:-1], "neither UTF-8 nor UTF-16"),
        ("twice.csv", b"a,b,a\n1,2,3\n", "two columns named 'a'"),
        ("binary.csv", bytes(range(256)), "not text"),
        ("blank.csv", b"\n1,2\n", "first line"),
        ("cut.csv.gz", gzip.compress(CSV * 100, mtime=0)[:-20], "cut short"),
        ("cut.parquet", b"PAR1 not really", "cannot be read as Parquet"),
        ("cut.arrow", b"ARROW1 not really", "cannot be read as Arrow"),
        ("bad.jsonl", b'{"a": 1}\n{"a": \n', "cannot be read as JSON, an array"),
        ("bad.svm", b"1 1:2\n1 x:3\n", "cannot be read as SVMlight"),
        ("inf.svm", b"1 1:inf\n", "cannot be ranked"),
    ],
)
def test_bad_files_are_named(tmp_path, name, data, message):
    with pytest.raises(TableError, match=message) as caught:
        read_table(write(tmp_path, name, data))
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("old.xls", b"\xd0\xcf\x11\xe0 rest", "an old Excel file .*; save it as .xlsx or CSV"),
        ("shop.db", b"SQLite format 3\0rest", "a SQLite database.*export the table as CSV"),
        ("page.csv", b"<!DOCTYPE html><p>", "a web page"),
        ("report.csv", b"\n<!doctype html>\n<html>", "a web page"),
        ("data.zip", b"PK\x03\x04 rest", "a zip archive; unpack it first"),
        ("model.csv", b"PK\x03\x04" + b"\0" * 26 + b"header.json{}", "a model file"),
        ("object.json", b'{"data": [\n{"a": 1}]}', "one object a line"),
        ("numbers.json", b"[1, 2, 3]", "a table is an array of objects"),
        ("cut.json", b'[{"a": 1}, {"a"', "cannot be read as JSON"),
        (
            "commas.csv",
            b"a,b\n1,2,5\n",
            "line 2: 3 fields where the header has 2; cells with commas in them stand in quotes",
        ),
    ],
)
def test_strangers_get_advice(tmp_path, name, data, message):
    with pytest.raises(TableError, match=message):
        read_table(write(tmp_path, name, data))


def test_json_arrays(tmp_path):
    rows = b' [{"a": 1, "b": 0.5, "c": "x"}, {"a": 2, "c": "y"}, {"a": 3, "b": -2.0, "c": "x"}]'
    assert_frame_equal(read_table(write(tmp_path, "t.json", rows)), FRAME)
    assert_frame_equal(read_table(write(tmp_path, "no_ending", rows)), FRAME)


@pytest.mark.parametrize(
    ("data", "decimal", "rows"),
    [
        (b"a;b\n1,5;2\n2,25;3\n", None, [(1.5, 2), (2.25, 3)]),
        (b"a;b\n1.234,5;1.234\n", None, [(1234.5, 1234.0)]),
        (b'a,b\n"1,5",x\n"12,75",y\n', None, [(1.5, "x"), (12.75, "y")]),
        (b"a;b\n1,234;2\n", None, [(1.234, 2)]),
        (b"a;b\n1.234;2\n12.500;3\n", None, [(1234, 2), (12500, 3)]),
        (b"a;b\n1.234;0.5\n12.500;3\n", None, [(1.234, 0.5), (12.5, 3)]),
        (b"a,b\n1.234,2\n12.500,3\n", None, [(1.234, 2), (12.5, 3)]),
        (b"a;b\n10.000 Maniacs;2\n", None, [("10.000 Maniacs", 2)]),
        (b"a\tb\n1,234\t2\n", ",", [(1.234, 2)]),
        (b"a;b\n1.5;2\n2.25;3\n", None, [(1.5, 2), (2.25, 3)]),
        (b"price\n3,14\n2,50\n", None, [(3.14,), (2.5,)]),
        (b"a, per m;b\n1,5;2\n1,5;2\n", None, [(1.5, 2), (1.5, 2)]),
        (b"sep=|\na|b\n1|2\n", None, [(1, 2)]),
        (b"a;b;;\n1;2;;\n", None, [(1, 2)]),
        (b";a\n7;1\n8;2\n", None, [(7, 1), (8, 2)]),
    ],
)
def test_separator_and_decimal_sign_are_found_together(tmp_path, data, decimal, rows):
    assert read_table(write(tmp_path, "t.csv", data), decimal=decimal).rows() == rows


def test_columns_without_a_name_are_called_by_their_number(tmp_path):
    assert read_table(write(tmp_path, "t.csv", b",a\n7,1\n")).columns == ["column 1", "a"]


def test_absent_files_and_folders(tmp_path):
    with pytest.raises(TableError, match="No such file"):
        read_table(tmp_path / "nowhere.csv")
    with pytest.raises(TableError, match="holds no Parquet files"):
        read_table(tmp_path)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.binary(max_size=200) | st.text(st.sampled_from('0123456789ab,;"\n\t.:-{}[]'), max_size=200).map(str.encode),
    st.sampled_from(["csv", "tsv", "jsonl", "svm", "parquet", "arrow", "", "csv.gz"]),
)
def test_random_bytes_are_read_or_refused(tmp_path, data, ending):
    path = write(tmp_path, f"any.{ending}", data)
    with suppress(HullrankError):
        table = read_table(path)
        assert isinstance(table, SparseTable) or table.height


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_damaged_columns_are_read_or_refused(tmp_path, ending):
    pytest.importorskip("pyarrow", reason="without PyArrow these files are left to Polars, which may abort")
    buffer = io.BytesIO()
    (FRAME.write_parquet if ending == "parquet" else FRAME.write_ipc)(buffer)
    rng = np.random.default_rng(0)
    for _ in range(300):
        data = np.frombuffer(buffer.getvalue(), dtype=np.uint8).copy()
        data[rng.integers(6, len(data), 3)] ^= 1 << rng.integers(0, 8, 3).astype(np.uint8)
        with suppress(HullrankError):
            read_table(write(tmp_path, f"any.{ending}", data.tobytes()))


class TestEncoder:
    def test_numbers_are_standardised_and_missing_ones_are_the_median(self):
        X = TableEncoder().fit_transform(FRAME.select("b"))
        filled = np.array([0.5, -0.75, -2.0])
        np.testing.assert_allclose(X[:, 0], (filled - filled.mean()) / filled.std())

    def test_words_are_one_hot_most_frequent_first(self):
        encoder = TableEncoder().fit(FRAME)
        assert encoder.get_feature_names_out().tolist() == ["a", "b", "c=x", "c=y"]
        np.testing.assert_array_equal(encoder.transform(FRAME)[:, 2:], [[1, 0], [0, 1], [1, 0]])

    def test_new_and_missing_words_are_none_of_the_known(self):
        X = TableEncoder().fit(FRAME).transform(FRAME.with_columns(c=pl.Series(["new", None, "y"])))
        np.testing.assert_array_equal(X[:, 2:], [[0, 0], [0, 0], [0, 1]])

    def test_extra_columns_and_their_order_do_not_matter(self):
        encoder = TableEncoder().fit(FRAME)
        other = FRAME.select("c", "a", "b").with_columns(extra=1)
        np.testing.assert_array_equal(encoder.transform(other), encoder.transform(FRAME))

    def test_two_columns_of_one_name_are_an_error_that_names_them(self):
        import pandas as pd

        with pytest.raises(TableError, match="two columns named 'a'; rename one of them"):
            TableEncoder().fit(pd.DataFrame([[1, 2, 3], [4, 5, 6]], columns=["a", "b", "a"]))

    def test_pandas_dates_booleans_and_categories(self):
        import pandas as pd

        frame = pd.DataFrame(
            {
                "when": pd.to_datetime(["2020-01-01", "2020-01-03", None]),
                "flag": [True, False, True],
                "kind": pd.Categorical(["u", "v", "u"]),
            }
        )
        X = TableEncoder().fit_transform(frame)
        assert X.shape == (3, 4)
        assert np.isfinite(X).all()

    def test_dates_are_days_in_whatever_form_they_come(self):
        words = pl.DataFrame({"when": ["2020-01-01", "2020-01-03", None, "2020-01-08"]})
        dates = words.with_columns(pl.col("when").str.to_date())
        encoder = TableEncoder().fit(words)
        [column], [typed] = encoder.columns_, TableEncoder().fit(dates).columns_
        assert column == {**typed, "form": {"kind": "date", "dates": "dmy", "strays": []}}
        expected = np.array([0, 2, 2, 7]) - 2.75
        expected /= np.sqrt(np.mean(expected**2))
        times = words.with_columns(pl.col("when") + "T00:00:00")
        units = [dates.cast(pl.Datetime(unit)) for unit in ("ms", "us", "ns")]
        for frame in (words, dates, times, *units):
            np.testing.assert_allclose(encoder.transform(frame).ravel(), expected)
        np.testing.assert_allclose(TableEncoder().fit_transform(times).ravel(), expected)
        noon = pl.DataFrame({"when": ["2020-01-01 12:00:00"]})
        assert (encoder.transform(noon)[0, 0] - expected[0]) == pytest.approx((expected[1] - expected[0]) / 4)
        with pytest.raises(TableError, match=r"'when' was dates.*'soon'"):
            encoder.transform(pl.DataFrame({"when": ["2020-01-01", "soon"]}))
        mixed = pl.DataFrame({"when": ["2020-01-01", "soon", "soon"]})
        assert TableEncoder().fit(mixed).get_feature_names_out().tolist() == ["when=soon", "when=2020-01-01"]

    @pytest.mark.parametrize("rows", [2, 12, 60])
    def test_identifiers_and_empty_columns_are_left_out(self, rows):
        frame = pl.DataFrame({"id": [f"p{i}" for i in range(rows)], "none": [None] * rows, "x": range(rows)})
        assert TableEncoder().fit(frame).get_feature_names_out().tolist() == ["x"]
        with pytest.raises(TableError, match="no column is left"):
            TableEncoder().fit(frame.drop("x"))

    def test_a_column_named_like_the_counts(self):
        assert TableEncoder().fit_transform(pl.DataFrame({"count": ["a", "b", "a"]})).shape == (3, 2)

    @pytest.mark.parametrize(
        ("frame", "message"),
        [
            (FRAME.drop("b"), "lacks columns.*'b'"),
            (FRAME.with_columns(b=pl.lit("word")), "'b' was numbers.*'word'"),
            (FRAME.with_columns(b=pl.lit("2020-01-01")), "'b' was numbers.*'2020-01-01'"),
            (FRAME.with_columns(b=pl.lit(np.inf)), "'b' is infinite in row 1"),
            (FRAME.with_columns(c=pl.lit([[1, 2]])), "'c' holds lists"),
            (np.zeros((2, 2)), "named columns"),
        ],
    )
    def test_bad_tables_are_named(self, frame, message):
        with pytest.raises(TableError, match=message):
            TableEncoder().fit(FRAME).transform(frame)
