"""Rows in blocks: sums do not depend on who holds the blocks, passes are counted, and every block is told."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hullrank._progress import listening
from hullrank.data.checks import is_source
from hullrank.problem.block_rows import HeldBlocks, ReadBlocks, add


class Slices:
    """A source that cuts arrays at the given places, and counts how often each block is read."""

    def __init__(self, X, y, cuts=()):
        self.ends = [0, *sorted(cuts), len(y)]
        self.X, self.y, self.reads = X, y, [0] * (len(self.ends) - 1)

    def __len__(self):
        return len(self.reads)

    def read(self, i):
        self.reads[i] += 1
        part = slice(self.ends[i], self.ends[i + 1])
        return self.X[part], self.y[part], None, None


def scale(block, factor):
    return (factor * block[0], *block[1:])


def facts(block):
    X, y = block[:2]
    return {"count": len(y), "sum": X.sum(axis=0), "first": [y[:1]], "by_class": {int(c): 1 for c in np.unique(y)}}


X, y = np.arange(24.0).reshape(12, 2), np.arange(12) % 3


@given(st.lists(st.integers(0, 12), max_size=5))
@settings(max_examples=40, deadline=None)
def test_sums_are_the_same_for_any_blocks_and_any_holder(cuts):
    source = Slices(X, y, cuts)
    held = HeldBlocks([source.read(i) for i in range(len(source))])
    for rows in (held, ReadBlocks(source)):
        found = rows.map(scale, 2.0).sum(facts)
        assert found["count"] == 12
        np.testing.assert_allclose(found["sum"], 2 * X.sum(axis=0))
        assert len(found["first"]) == len(source)
        assert set(found["by_class"]) == {0, 1, 2}


def test_passes_are_counted_together_with_those_of_mapped_rows_and_mapping_reads_nothing():
    source = Slices(X, y, [3, 7])
    rows = ReadBlocks(source)
    mapped = rows.map(scale, 2.0)
    assert source.reads == [0, 0, 0]
    rows.sum(facts)
    mapped.sum(facts)
    assert rows.passes == mapped.passes == 2
    assert source.reads == [2, 2, 2]


def test_every_block_of_every_pass_is_told():
    heard = []
    rows = HeldBlocks([(X[:5], y[:5]), (X[5:], y[5:])])
    with listening(lambda gap: None, lambda *numbers: heard.append(numbers)):
        rows.sum(facts)
        rows.sum(facts)
    rows.sum(facts)
    assert heard == [(1, 1, 2), (1, 2, 2), (2, 1, 2), (2, 2, 2)]


def test_dictionaries_are_added_by_key():
    assert add({"a": 1, "b": [1]}, {"a": 2, "b": [2], "c": {"x": 1}}) == {"a": 3, "b": [1, 2], "c": {"x": 1}}
    assert add({"c": {"x": 1}}, {"c": {"x": 2, "y": 3}}) == {"c": {"x": 3, "y": 3}}


@pytest.mark.parametrize("other", [X, X.tolist(), open, "text"])
def test_arrays_lists_and_functions_are_no_sources(other):
    assert not is_source(other)
    assert is_source(Slices(X, y))
