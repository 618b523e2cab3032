"""No proof, bound or score is false on random lattice, duplicated, shifted, scaled, collinear and outlier data sets."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import fuzz_exact


@pytest.mark.slow
@pytest.mark.parametrize("block", range(7))
def test_nothing_false_is_claimed(block):
    outcomes = [fuzz_exact.check(np.random.default_rng([7, block, k]), seconds=1.0, most_rows=6)[1] for k in range(20)]
    assert not [outcome for outcome in outcomes if outcome.startswith("false")]
    assert outcomes.count("proven") >= 12
