import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hullrank.problem._exponentials import exponentials32, exponentials64

KINDS = pytest.mark.parametrize(("exponentials", "dtype", "least"), [
    (exponentials32, np.float32, -87.0), (exponentials64, np.float64, -708.0),
])  # fmt: skip


def raised(exponentials, dtype, values):
    block = np.array(values, dtype=dtype, ndmin=2)
    exponentials(block, 0, len(block))
    return block[0]


@pytest.mark.slow
@KINDS
@given(exponents=st.lists(st.floats(-1.0, 0.0), min_size=1, max_size=40))
@settings(deadline=None, max_examples=200)
def test_errors_are_those_of_the_last_bit_and_of_rounding_the_exponent(exponentials, dtype, least, exponents):
    x = (np.array(exponents) * -least).astype(dtype)
    true = np.exp(x.astype(np.longdouble))
    assert (np.abs(raised(exponentials, dtype, x) / true - 1) <= np.finfo(dtype).eps * (1 + np.abs(x) / 4)).all()


@KINDS
def test_ends(exponentials, dtype, least):
    values = [0.0, -0.0, 1.0, np.inf, -np.inf, 10 * least, np.nan]
    np.testing.assert_array_equal(raised(exponentials, dtype, values), [1, 1, 1, 1, 0, 0, np.nan])


@KINDS
def test_only_the_block_changes(exponentials, dtype, least):
    whole = np.full((3, 5), -1.0, dtype=dtype)
    exponentials(whole[:, 1:3], 1, 2)
    assert np.count_nonzero(whole != -1.0) == 2
