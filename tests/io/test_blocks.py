"""Rows in blocks as they come from arrays, batches and Parquet files; and columns learnt part by part."""

from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from hullrank import FixedMarginClassifier
from hullrank.exceptions import HullrankError, TableError
from hullrank.io import Blocks, TableEncoder


def joined(blocks):
    """All rows of blocks."""
    parts = [blocks.read(i) for i in range(len(blocks))]
    return [None if values[0] is None else np.concatenate(values) for values in zip(*parts, strict=True)]


def frame(rows=500, seed=0):
    rng = np.random.default_rng(seed)
    size = rng.normal(size=rows)
    return pl.DataFrame(
        {
            "size": pl.Series(size).replace(size[3], None),
            "age": rng.integers(1, 90, rows),
            "colour": rng.choice(["red", "blue", "green"], rows, p=[0.6, 0.3, 0.1]),
            "day": pl.Series(rng.integers(0, 9000, rows)).cast(pl.Date),
            "grade": rng.integers(1, 4, rows),
            "weight": rng.random(rows),
        }
    )


def test_arrays():
    rng = np.random.default_rng(0)
    X, y, weight, qid = rng.normal(size=(10, 3)), rng.integers(0, 2, 10), rng.random(10), np.arange(10)
    blocks = Blocks.from_arrays(X, y, sample_weight=weight, qid=qid, block_rows=4)
    assert len(blocks) == 3
    for got, expected in zip(joined(blocks), (X, y, weight, qid), strict=True):
        assert_array_equal(got, expected)


def test_memory_maps_are_not_read_as_a_whole(tmp_path):
    np.save(tmp_path / "X.npy", np.arange(20.0).reshape(10, 2))
    X = np.load(tmp_path / "X.npy", mmap_mode="r")
    block, _, weight, qid = Blocks.from_arrays(X, np.zeros(10), block_rows=5).read(1)
    assert isinstance(block, np.memmap)
    assert block.shape == (5, 2)
    assert weight is None
    assert qid is None


def test_arrays_of_unequal_length():
    with pytest.raises(ValueError, match="X has 3 rows, and y has 2 values"):
        Blocks.from_arrays(np.zeros((3, 1)), [0, 1])


def test_batches_start_anew_when_an_earlier_one_is_asked_for():
    started = []

    def batches():
        started.append(None)
        for i in range(4):
            yield np.full((2, 1), i), np.arange(2)

    blocks = Blocks.from_batches(batches)
    begun = len(started)
    for _ in range(3):
        assert_array_equal(joined(blocks)[0][::2, 0], np.arange(4))
    assert len(started) == begun + 3
    assert blocks.read(2)[0][0, 0] == 2
    assert blocks.read(1)[0][0, 0] == 1


def test_batches_that_can_be_read_once_are_refused():
    with pytest.raises(TypeError, match="give the function that makes them"):
        Blocks.from_batches((np.zeros((1, 1)), [0]) for _ in range(2))
    assert len(Blocks.from_batches([(np.zeros((1, 1)), [0])])) == 1


def test_batches_that_become_fewer():
    left = [3]

    def batches():
        return iter([(np.zeros((1, 1)), [0])] * left[0])

    blocks = Blocks.from_batches(batches)
    left[0] = 1
    with pytest.raises(TableError, match="and now there are 1"):
        blocks.read(2)


def test_parquet(tmp_path):
    table = frame()
    for i in range(3):
        table[i * 200 : (i + 1) * 200].write_parquet(tmp_path / f"{i}.parquet")
    names = {"target": "grade", "weights": "weight", "drop": ["day"]}
    encoder = TableEncoder()
    blocks = Blocks.from_parquet(tmp_path / "*.parquet", **names, encoder=encoder, memory=100_000)
    assert len(blocks) > 3
    X, y, weight, qid = joined(blocks)
    assert_array_equal(y, table["grade"])
    assert_array_equal(weight, table["weight"])
    assert qid is None
    assert blocks.feature_names_in_.tolist() == ["size", "age", "colour=red", "colour=blue", "colour=green"]
    assert_allclose(X, encoder.transform(table.drop("grade", "weight", "day")))
    for wrong, said in (({"target": "mark"}, "no column 'mark'"), ({}, "has cells of type|has missing values")):
        with pytest.raises(TableError, match=said):
            Blocks.from_parquet(tmp_path, **{**names, **wrong}).read(0)


def test_plain_numbers_need_no_encoder(tmp_path):
    table = frame().select("age", "grade")
    table.write_parquet(tmp_path / "t.parquet")
    X, y, _, _ = joined(Blocks.from_parquet(tmp_path / "t.parquet", target="grade"))
    assert X.dtype == np.float64
    assert_array_equal(X[:, 0], table["age"])
    assert_array_equal(y, table["grade"])


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1000), st.lists(st.integers(1, 499), max_size=5, unique=True))
def test_columns_learnt_in_parts_are_those_of_the_whole(seed, cuts):
    table = frame(seed=seed).drop("grade", "weight")
    edges = [0, *sorted(cuts), len(table)]
    whole = TableEncoder().fit(table)
    parts = TableEncoder().fit_blocks(table[a:b] for a, b in pairwise(edges))
    for one, other in zip(whole.columns_, parts.columns_, strict=True):
        if one["kind"] == "word":
            assert one == other
            continue
        assert (one["name"], one["dates"]) == (other["name"], other["dates"])
        values = table[one["name"]].drop_nulls().cast(pl.Float64 if not one["dates"] else pl.Int32).to_numpy()
        assert abs((values < other["fill"]).mean() - 0.5) < 0.02 + (values == other["fill"]).mean()
        assert_allclose([one["mean"], one["scale"]], [other["mean"], other["scale"]], rtol=1e-3, atol=1e-3)


def test_moments_do_not_cancel():
    values = 1e8 + np.random.default_rng(0).normal(size=1000)
    table = pl.DataFrame({"a": values})
    column = TableEncoder().fit_blocks(table[i : i + 10] for i in range(0, 1000, 10)).columns_[0]
    assert column["scale"] == pytest.approx(values.std(), rel=1e-7)
    assert column["mean"] == pytest.approx(values.mean(), rel=1e-15)


def test_a_column_that_changes_its_kind():
    parts = [pl.DataFrame({"a": [1.0, 2.0]}), pl.DataFrame({"a": ["x", "y"]})]
    with pytest.raises(TableError, match="column 'a' holds numbers in one part of the table and words in another"):
        TableEncoder().fit_blocks(parts)
    with pytest.raises(TableError, match="no rows"):
        TableEncoder().fit_blocks([])


def test_identifiers_are_left_out_whatever_the_parts(monkeypatch):
    monkeypatch.setattr("hullrank.io.summaries._MOST_WORDS", 100)
    parts = [pl.DataFrame({"id": [f"r{i}" for i in range(k, k + 150)], "a": [1.0] * 150}) for k in (0, 150)]
    assert [column["kind"] for column in TableEncoder().fit_blocks(parts).columns_] == ["left out", "number"]


ROWS = np.arange(12.0).reshape(6, 2)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Blocks.from_arrays(ROWS.tolist(), [0] * 6), "X is no array with rows and columns"),
        (
            lambda: Blocks.from_arrays(ROWS, [0] * 6, block_rows=0),
            "block_rows is a whole number of at least 1, and was 0",
        ),
        (lambda: Blocks.from_arrays(ROWS, [0] * 6, memory="2GiB"), "memory is a whole number"),
        (lambda: Blocks.from_arrays(ROWS, [0] * 6, memory=0), "memory is a whole number of at least 1, and was 0"),
        (lambda: Blocks(len, -1), "n_blocks is a whole number of at least 0, and was -1"),
        (lambda: Blocks(3, 2), "read is a function that gives block i"),
        (lambda: Blocks.from_batches(5), "batches is a list of"),
        (lambda: Blocks.from_batches([ROWS, ROWS]), "block 0 is .* and was of type ndarray"),
        (lambda: Blocks.from_batches([(ROWS,)]), "block 0 is .* and was of 1 parts"),
        (lambda: Blocks(lambda i: None, 2).read(1), "block 1 is .* and was of type NoneType"),
    ],
)
def test_what_is_no_source_of_blocks_says_so(make, said):
    with pytest.raises((TypeError, ValueError), match=said):
        make()


def test_an_object_that_gives_the_same_iterator_twice_can_be_read_only_once():
    batches = iter([(ROWS, np.arange(6))])

    class Once:
        def __iter__(self):
            return batches

    with pytest.raises(TypeError, match="can be read only once"):
        Blocks.from_batches(Once())


def test_names_of_data_frames_come_with_the_blocks_and_must_agree():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(ROWS, columns=["a", "b"], index=[0.5, 0, 2, 9, 1, 1])
    blocks = Blocks.from_arrays(table, table["a"], block_rows=4)
    assert blocks.feature_names_in_.tolist() == ["a", "b"]
    assert_array_equal(joined(blocks)[0], ROWS)
    assert Blocks.from_batches([(table, table["a"])]).feature_names_in_.tolist() == ["a", "b"]
    mixed = Blocks.from_batches([(table, table["a"]), (table[["b", "a"]], table["a"])])
    with pytest.raises(HullrankError, match="block 1 has the same columns in another order"):
        mixed.read(1)
    mixed = Blocks.from_batches([(table, table["a"]), (table.rename(columns={"b": "c"}), table["a"])])
    with pytest.raises(HullrankError, match="block 1 has a column 'c', and others have 'a', 'b'"):
        mixed.read(1)


@pytest.mark.parametrize("form", ["bsr", "coo", "csc"])
def test_any_sparse_form_is_cut_by_rows(form):
    blocks = Blocks.from_arrays(sp.csr_array(ROWS).asformat(form), [0] * 6, block_rows=4)
    assert_array_equal(blocks.read(1)[0].toarray(), ROWS[4:])


def test_blocks_are_cut_between_queries(tmp_path):
    qid = np.repeat([7, 3, 9, 1], [3, 4, 1, 2])
    X = np.arange(20.0).reshape(10, 2)
    blocks = Blocks.from_arrays(X, np.zeros(10), qid=qid, block_rows=2)
    assert [blocks.read(i)[3].tolist() for i in range(len(blocks))] == [[7] * 3, [3] * 4, [9, 1, 1]]
    table = pl.DataFrame({"x": np.arange(400), "y": np.arange(400) % 3, "q": np.repeat(np.arange(40), 10)})
    table.write_parquet(tmp_path / "t.parquet")
    blocks = Blocks.from_parquet(tmp_path / "t.parquet", target="y", qid="q", memory=16 * 8 * 3 * 25)
    assert len(blocks) == 14
    assert all(len(blocks.read(i)[3]) % 10 == 0 for i in range(len(blocks)))
    assert_array_equal(joined(blocks)[3], table["q"])


def test_an_enum_declares_its_order_and_booleans_stay_such(tmp_path):
    grade = pl.Series(["low", "high", "mid"], dtype=pl.Enum(["low", "mid", "high"]))
    pl.DataFrame({"x": [1, 2, 3], "grade": grade, "right": [True, False, True], "all": [[1], [2], [3]]}).write_parquet(
        tmp_path / "t.parquet"
    )

    def target(name):
        others = {"grade", "right", "all"} - {name}
        return Blocks.from_parquet(tmp_path, target=name, drop=others).read(0)[1]

    assert target("grade").dtype == grade.dtype
    assert target("right").tolist() == [True, False, True]
    with pytest.raises(TableError, match="column 'all' holds lists"):
        target("all")


def test_files_that_change_between_passes(tmp_path):
    table = frame().select("age", "grade")
    for change in (lambda t: pl.concat([t, t]), lambda t: t.with_columns(age=-pl.col("age") * 1000)):
        table.write_parquet(tmp_path / "t.parquet")
        blocks = Blocks.from_parquet(tmp_path, target="grade")
        change(table).write_parquet(tmp_path / "t.parquet")
        with pytest.raises(TableError, match="changed while it was read; start again"):
            blocks.read(0)
    (tmp_path / "t.parquet").unlink()
    with pytest.raises(TableError, match="cannot be read"):
        blocks.read(0)


def test_columns_of_parquet_that_say_nothing(tmp_path):
    pl.DataFrame({"y": [1, 2], "x": [1.0, float("nan")]}).write_parquet(tmp_path / "t.parquet")
    with pytest.raises(TableError, match="no column to learn from beside 'x', 'y'"):
        Blocks.from_parquet(tmp_path, target="y", drop="x")
    with pytest.raises(TableError, match="column 'x' has missing values; give encoder"):
        Blocks.from_parquet(tmp_path, target="y").read(0)
    (tmp_path / "in").mkdir()
    (tmp_path / "t.parquet").rename(tmp_path / "in" / "t.parquet")
    with pytest.raises(TableError, match=r"give the pattern '.*/\*\*/\*\.parquet'"):
        Blocks.from_parquet(tmp_path, target="y")
    assert len(Blocks.from_parquet(f"{tmp_path}/**/*.parquet", target="y")) == 1


@pytest.mark.parametrize("empty", [pl.Null, pl.Float64, pl.String])
def test_parts_without_a_cell_do_not_say_what_a_column_is(empty):
    nothing = pl.DataFrame({"a": pl.Series([None] * 4, dtype=empty), "b": [2] * 4})
    for cells in ([1.0, 3.0, 5.0, 7.0], ["x", "y", "x", "y"]):
        some = pl.DataFrame({"a": cells, "b": [2] * 4})
        known = pl.concat([nothing.select("b", pl.col("a").cast(some["a"].dtype)), some.select("b", "a")])
        expected = TableEncoder().fit(known.select("a", "b")).columns_
        for parts in ([nothing, some], [some, nothing]):
            assert TableEncoder().fit_blocks(parts).columns_ == expected


def test_words_and_then_numbers_are_refused_as_numbers_and_then_words_are():
    parts = [pl.DataFrame({"a": ["x", "y", "x"]}), pl.DataFrame({"a": [1.0, 2.0, 2.0]})]
    with pytest.raises(TableError, match="numbers in one part of the table and words in another; save it as one"):
        TableEncoder().fit_blocks(parts)


def test_an_ordered_categorical_of_pandas_keeps_its_order(tmp_path):
    rng = np.random.default_rng(0)
    x, names = rng.normal(size=120), ["small", "medium", "large"]  # not the order of the alphabet
    words = np.array(names)[np.digitize(x, [-0.5, 0.5])]
    ordered = pd.Categorical(words, ["none", *names], ordered=True)
    for k, part in enumerate((slice(0, 70), slice(70, 120))):
        table = pd.DataFrame({"x": x[part], "y": ordered[part], "free": pd.Categorical(words[part])})
        table.to_parquet(tmp_path / f"{k}.parquet", row_group_size=30)
    blocks = Blocks.from_parquet(tmp_path, target="y", drop="free", memory=16 * 8 * 3 * 25)
    assert len(blocks) > 2
    for i in range(len(blocks)):
        assert blocks.read(i)[1].dtype == pl.Enum(["none", *names])
    assert FixedMarginClassifier().fit(blocks).classes_.tolist() == names
    assert_array_equal(joined(Blocks.from_parquet(tmp_path, target="free", drop="y"))[1], words)


def test_row_groups_with_different_categories_declare_no_order(tmp_path):
    chunks = [pa.DictionaryArray.from_arrays([0, 1], words, ordered=True) for words in (["b", "a"], ["c", "a"])]
    schema = pa.schema([("x", pa.float64()), ("y", chunks[0].type)])
    with pq.ParquetWriter(tmp_path / "t.parquet", schema) as writer:
        for chunk in chunks:
            writer.write_table(pa.table([pa.array([0.0, 1.0]), chunk], schema=schema))
    assert_array_equal(joined(Blocks.from_parquet(tmp_path, target="y"))[1], ["b", "a", "c", "a"])
