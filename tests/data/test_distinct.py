"""Equal rows, against NumPy."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from hullrank.data import distinct_rows


@given(
    arrays(
        np.float64,
        st.tuples(st.integers(0, 12), st.integers(1, 4)),
        elements=st.sampled_from([-0.0, 0.0, 1.0, -2.5, 1e-300]),
    )
)
def test_rows_are_told_apart_as_numpy_does(table):
    first, group = distinct_rows(table)
    rows, known_first, known_group = np.unique(table, axis=0, return_index=True, return_inverse=True)
    np.testing.assert_array_equal(table[first], rows)
    np.testing.assert_array_equal(first, known_first)
    np.testing.assert_array_equal(group, known_group.ravel())
