"""Comparisons are paired, corrected for shared rows, and honest about ties."""

import numpy as np
import pytest
from scipy.stats import t as student

from hullrank.exceptions import HullrankError
from hullrank.reports.comparison import compare, corrected_t_test, folds


def test_corrected_t_test_by_hand():
    differences = np.array([0.1, 0.3, 0.2, 0.2])
    t = 0.2 / np.sqrt((1 / 4 + 0.5) * differences.var(ddof=1))
    assert corrected_t_test(differences, 0.5) == pytest.approx(2 * student.sf(t, 3))
    assert corrected_t_test(np.zeros(4), 0.5) == 1
    assert corrected_t_test(np.ones(4), 0.5) == 0
    assert corrected_t_test(-differences, 0.5) == corrected_t_test(differences, 0.5)


def test_the_uncorrected_test_would_be_bolder():
    differences = np.array([0.1, 0.3, 0.2, 0.2])
    plain = 2 * student.sf(0.2 / np.sqrt(differences.var(ddof=1) / 4), 3)
    assert corrected_t_test(differences, 0.25) > plain


def test_best_first_with_intervals_around_the_mean():
    splits = folds(np.tile([0, 1], 30), None, 5)
    rng = np.random.default_rng(0)
    noise = iter(rng.normal(scale=0.01, size=100))
    rows = compare({"low": lambda a, b: 0.5 + next(noise), "high": lambda a, b: 0.9 + next(noise)}, splits)
    assert [row.name for row in rows] == ["high", "low"]
    assert rows[0].p_value == 1
    assert rows[1].p_value < 0.001
    assert all(row.low < row.mean < row.high for row in rows)


def test_folds_keep_queries_whole_and_grades_in_proportion():
    y = np.tile([0, 0, 1], 20)
    for train, test in folds(y, None, 4):
        assert y[test].mean() == pytest.approx(1 / 3)
        assert not set(train) & set(test)
    qid = np.repeat(np.arange(10), 6)
    for train, test in folds(y, qid, 5):
        assert not set(qid[train]) & set(qid[test])
    assert len(folds(np.arange(10.0), None, 5)) == 5


def test_too_many_folds():
    with pytest.raises(HullrankError, match="rows"):
        folds(np.zeros(3), None, 5)
    with pytest.raises(HullrankError, match="queries"):
        folds(np.zeros(30), np.zeros(30), 5)
