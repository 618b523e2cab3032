"""Numbers too large or small for float64, and entries that are missing: every estimator names them and the cure."""

import inspect
import time
from numbers import Real

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator

import hullrank
from hullrank._sklearn import Interval
from hullrank.exceptions import HullrankError, LabelError
from hullrank.metrics import wmw_score

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 3))
Y = np.digitize(X @ [1.0, -2.0, 0.5], [-1, 1])
NAMES = [
    name
    for name in hullrank.__all__
    if inspect.isclass(getattr(hullrank, name)) and issubclass(getattr(hullrank, name), BaseEstimator)
]
every_estimator = pytest.mark.parametrize("name", NAMES)


WRAPPERS = {"OrdinalCalibrator", "TunedThresholdOrdinal", "OrdinalPredictionSets", "SemiSupervised"}


def blank(name):
    inner = [hullrank.FixedMarginClassifier()] if name in WRAPPERS else []
    return getattr(hullrank, name)(*inner)


def takes_weights(name):
    return "sample_weight" in inspect.signature(getattr(hullrank, name).fit).parameters


every_weighted = pytest.mark.parametrize("name", [name for name in NAMES if takes_weights(name)])


def days(missing):
    y = (np.datetime64("2020-01-01") + Y).astype("datetime64[ns]")
    y[4] = missing
    return y


MISSING = {
    "NaT": days(np.datetime64("NaT")),
    "NaT of days": days(np.datetime64("NaT")).astype("datetime64[D]"),
    "NaT in a difference": days(np.datetime64("NaT")) - np.datetime64("2020-01-01"),
    "NaT in a series": pd.Series(days(np.datetime64("NaT"))),
    "NaT among objects": pd.Series(days(np.datetime64("NaT"))).astype(object).to_numpy(),
    "NumPy's NaT among objects": np.array([*Y[:4], np.datetime64("NaT"), *Y[5:]], dtype=object),
    "NA among objects": np.array([*Y[:4], pd.NA, *Y[5:]], dtype=object),
}


@every_estimator
@pytest.mark.parametrize("case", MISSING)
def test_dates_that_are_missing_from_y_are_named(name, case):
    with pytest.raises(LabelError, match=r"(NaT|<NA>) at row 4; drop those rows"):
        blank(name).fit(X, MISSING[case])


def masked(values, row):
    mask = np.zeros(np.shape(values), dtype=bool)
    mask[row] = True
    return np.ma.array(values, mask=mask)


@every_estimator
def test_masked_entries_are_refused(name):
    model = blank(name)
    with pytest.raises(HullrankError, match="X is masked at row 7; drop or fill"):
        model.fit(masked(X, (7, 1)), Y)
    with pytest.raises(HullrankError, match="y is masked at row 8"):
        model.fit(X, masked(Y, 8))
    if takes_weights(name):
        with pytest.raises(HullrankError, match="sample_weight is masked at row 9"):
            model.fit(X, Y, sample_weight=masked(np.ones(30), 9))


def test_a_mask_without_masked_entries_does_no_harm():
    bare = np.zeros_like(X, dtype=bool)
    model = hullrank.ConvexHullRanker().fit(np.ma.array(X, mask=bare), np.ma.array(Y, mask=bare[:, 0]))
    np.testing.assert_array_equal(model.coef_, hullrank.ConvexHullRanker().fit(X, Y).coef_)
    with pytest.raises(HullrankError, match="X is masked at row 2"):
        model.predict(masked(X, (2, 0)))
    with pytest.raises(HullrankError, match="y is masked at row 3"):
        wmw_score(masked(Y, 3), X[:, 0])


@every_estimator
@pytest.mark.parametrize("factor", [1e200, 1e-165, 1e-320])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_columns_that_cannot_be_squared_are_named(name, factor, form):
    columns = X * [1.0, factor, 1.0]
    word = "large" if factor > 1 else "small"
    with pytest.raises(HullrankError, match=rf"column 1 of X has .* too {word} for float64; divide the column"):
        blank(name).fit(form(columns), Y)


def test_columns_have_the_names_of_a_frame():
    with pytest.raises(HullrankError, match=r"column 2 \('income'\) of X has .*e\+150"):
        hullrank.ConvexHullRanker().fit(pd.DataFrame(X * [1, 1, 1e150], columns=["a", "b", "income"]), Y)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_zeros_and_mixed_sizes_in_a_column_are_fine(form):
    columns = np.c_[X, np.zeros(30), 1e-160 * X[:, 0]]
    columns[3, 4] = 1.0
    model = hullrank.ConvexHullRanker().fit(form(columns), Y)
    columns[3, 4] = 0.0  # to predict, a small column is as good as zeros
    assert np.isfinite(model.predict(form(columns))).all()
    with pytest.raises(HullrankError, match="column 4 of X"):
        model.predict(form(columns * [1, 1, 1, 1, 1e270]))


WEIGHTS = {
    "large": (np.where(np.arange(30) == 5, 1e154, 1e150), r"1e\+154 at row 5"),
    "small": (np.where(np.arange(30) == 6, 1e-165, 1e-160), r"1e-165 at row 6"),
    "one of them small": (np.where(np.arange(30) == 6, 1e-165, 1.0), r"1e-165 at row 6"),
    "subnormal": (np.full(30, 1e-320), "1e-320 at row 0"),
    "far apart": (np.where(np.arange(30) == 7, 1e40, 1e5), r"1e\+40 at row 7.*rescale.*ratio of at most 1e\+30"),
}


@every_weighted
@pytest.mark.parametrize("case", WEIGHTS)
def test_weights_of_extreme_sizes_are_named(name, case):
    weights, message = WEIGHTS[case]
    with pytest.raises(HullrankError, match=f"sample_weight is {message}"):
        blank(name).fit(X, Y, sample_weight=weights)


def test_class_weights_of_extreme_sizes_are_named():
    weights = np.ones(30)
    weights[np.flatnonzero(Y == 0)[0]] = 0.0  # the error counts this row too
    row = np.flatnonzero(Y == 0)[1]
    with pytest.raises(HullrankError, match=rf"sample_weight times class_weight is 1e\+90 at row {row}, .*rescale"):
        hullrank.ConvexHullRanker(class_weight={0: 1e90, 1: 1.0, 2: 1.0}).fit(X, Y, sample_weight=weights)


@pytest.mark.parametrize("factor", [1e90, 1e-90, 3.0])
@pytest.mark.parametrize("name", ["NuMarginClassifier", "SwappedPairsRanker"])
def test_weights_of_one_size_are_no_weights(name, factor):
    plain, weighted = blank(name).fit(X, Y), blank(name).fit(X, Y, sample_weight=np.full(30, factor))
    np.testing.assert_allclose(weighted.score_samples(X), plain.score_samples(X), rtol=1e-3)


@pytest.mark.parametrize("factor", [1e90, 1e-90, 3.0])
def test_the_range_of_the_price_moves_with_the_weights(factor):
    plain = hullrank.SumOfMarginsClassifier().fit(X, Y)
    weighted = hullrank.SumOfMarginsClassifier().fit(X, Y, sample_weight=np.full(30, factor))
    assert weighted.C_ * factor == pytest.approx(plain.C_, rel=1e-6)


REAL = [
    (name, parameter)
    for name in NAMES
    for parameter, constraints in getattr(hullrank, name)._parameter_constraints.items()
    if any(isinstance(rule, Interval) and rule.type is Real for rule in constraints)
    and parameter not in ("time_limit", "gap_tol")
    and (name, parameter) != ("RankBoost", "tol")
]


@pytest.mark.parametrize(("name", "parameter"), REAL)
def test_numbers_beyond_float64_are_parameter_errors(name, parameter):
    with pytest.raises(ValueError, match=f"The '{parameter}' parameter of {name} must be"):
        blank(name).set_params(**{parameter: 10**400}).fit(X, Y)


@pytest.mark.parametrize("name", ["ConvexHullRanker", "FixedMarginClassifier"])
def test_prices_that_mean_a_hard_margin_say_so(name):
    with pytest.raises(ValueError, match=r"'C'.* or inf for the hard margin\. Got 1e\+308"):
        blank(name).set_params(C=1e308).fit(X, Y)


@pytest.mark.filterwarnings("ignore::hullrank.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("C", [1e30, 1e100])
@pytest.mark.parametrize("name", ["ConvexHullRanker", "FixedMarginClassifier"])
def test_large_prices_are_answered_quickly(name, C):
    begin = time.process_time()
    blank(name).set_params(C=C).fit(X, Y)
    assert time.process_time() - begin < 10
