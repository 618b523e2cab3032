"""Units far from 1: within 1e-100 to 1e100 the answer is the same, beyond it a refusal names the column or row."""

import numpy as np
import pandas as pd
import pytest

from hullrank import ExactRanker
from hullrank.exceptions import HullrankError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = (X[:, 0] + RNG.normal(size=60) > 0).astype(int)


@pytest.fixture(scope="module")
def reference():
    return ExactRanker().fit(X, Y).certificate_


@pytest.mark.slow
@pytest.mark.parametrize(
    ("units", "weight"),
    [(1e-99, None), (1e99, None), (np.array([1e-90, 1.0, 1e90]), None), (1.0, 1e-99), (1.0, 1e99)],
    ids=["small", "large", "mixed", "light", "heavy"],
)
def test_units_change_nothing(reference, units, weight):
    weights = None if weight is None else np.full(60, weight)
    ranker = ExactRanker().fit(X * units, Y, sample_weight=weights)
    assert ranker.certificate_.status == "proven_optimal"
    assert ranker.certificate_.value == pytest.approx(reference.value, rel=1e-15)
    assert ranker.certificate_.upper_bound == pytest.approx(reference.upper_bound, rel=1e-15)
    assert ranker.score(X * units, Y, sample_weight=weights) == pytest.approx(reference.value, rel=1e-12)


@pytest.mark.parametrize(("units", "why"), [(1e-200, "too small"), (1e170, "too large")])
def test_columns_beyond_the_range_are_refused_by_name(units, why):
    frame = pd.DataFrame(X * [1.0, units, 1.0], columns=["age", "dose", "pulse"])
    with pytest.raises(
        HullrankError, match=rf"column 1 \('dose'\) of X .*{why} for float64; divide the column by a constant"
    ):
        ExactRanker().fit(frame, Y)


@pytest.mark.parametrize("weight", [1e-170, 1e170])
def test_weights_beyond_the_range_are_refused_with_their_row(weight):
    weights = np.ones(60)
    weights[7] = weight
    with pytest.raises(HullrankError, match=r"sample_weight is 1e[-+]170 at row 7.*rescale them to between 1e-100 and"):
        ExactRanker().fit(X, Y, sample_weight=weights)
