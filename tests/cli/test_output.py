"""What is written is read back as it was, whatever the separator and the decimal sign."""

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from hullrank.cli.output import write_tables
from hullrank.io import read_table
from hullrank.io.csv_style import Style

FLOATS = st.lists(st.floats(-1e12, 1e12).map(lambda x: round(x, 6) + 0.25), min_size=2, max_size=8)


@pytest.mark.slow
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(FLOATS, st.sampled_from([(",", "."), (";", ","), ("\t", ","), ("|", ","), (",", ","), (";", ".")]))
def test_tables_come_back(tmp_path, values, signs):
    words = ["red", "a;b", "c,d", 'e"f', "g|h", "i\tj", "-", "'k"]
    frame = pl.DataFrame(
        {"x": values, "n": range(len(values)), "w": [words[i % len(words)] for i in range(len(values))]}
    )
    path = tmp_path / "t.csv"
    write_tables([frame], path, style=Style(*signs))
    assert_frame_equal(read_table(path), frame)
