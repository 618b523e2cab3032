"""Distinct values and their places, by a table of small whole numbers or by a sort, are those of NumPy."""

import numpy as np
import pytest

from hullrank.data.labels import unique_inverse

RNG = np.random.default_rng(0)
VALUES = {
    "grades": RNG.integers(0, 5, 200),
    "bytes": RNG.integers(-128, 128, 200).astype(np.int8),
    "unsigned": RNG.integers(2**40, 2**40 + 300, 200).astype(np.uint64),
    "whole floats": RNG.integers(-300, 3000, 200).astype(float),
    "half floats": RNG.integers(-3000, 3000, 400).astype(np.float16),
    "negative zero": np.array([0.0, -0.0, 2.0, -0.0]),
    "tenths": RNG.integers(-30, 30, 200) / 10,
    "nearly whole": np.array([-5.0, 1e-20, 0.0, 1.0, np.nextafter(1.0, 2.0)]),
    "far apart": np.array([1.0, 2.0**60, -(2.0**60)]),
    "largest": np.array([2**63 - 1, 2**63 - 2, -(2**63)]),
    "words": np.array(["b", "a", "b"]),
    "truths": np.array([True, False, True]),
    "nothing": np.array([], dtype=np.int64),
}


@pytest.mark.parametrize("name", VALUES)
def test_distinct_values_and_places_are_those_of_a_sort(name):
    values = VALUES[name]
    classes, places = unique_inverse(values)
    expected = np.unique(values, return_inverse=True)
    assert classes.dtype == values.dtype
    np.testing.assert_array_equal(classes, expected[0])
    np.testing.assert_array_equal(places, expected[1])
