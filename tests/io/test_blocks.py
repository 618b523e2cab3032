"""Rows in blocks as they come from arrays, batches and Parquet files; and columns learnt part by part."""

from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from hullrank.exceptions import TableError
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


def test_memory_is_positive():
    with pytest.raises(ValueError, match="above 0"):
        Blocks.from_arrays(np.zeros((3, 1)), [0, 1, 1], memory=0)


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
