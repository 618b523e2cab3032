"""Tests of significance against scipy, against definitions, and against their own laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_1samp, ttest_rel

from hullrank.experiments.statistics import average_ranks, corrected_t_test, holm, paired_t_test, wilcoxon_test

samples = st.lists(st.floats(-10, 10), min_size=3, max_size=12).filter(lambda v: np.ptp(v) > 1e-3)


@given(samples)
def test_without_correction_it_is_the_plain_t_test(values):
    assert corrected_t_test(values, 0.0) == pytest.approx(ttest_1samp(values, 0).pvalue, abs=1e-12)


@given(samples, st.floats(0.01, 1.0))
def test_the_correction_only_makes_a_difference_less_significant(values, ratio):
    assert corrected_t_test(values, ratio) >= corrected_t_test(values, 0.0) - 1e-15


def test_paired_t_test_is_scipys_and_knows_degenerate_trials():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 9))
    assert paired_t_test(a, b) == ttest_rel(a, b).pvalue
    assert paired_t_test(a, a) == 1.0
    assert paired_t_test([1.0, 2.0, 3.0], [0.5, 1.5, 2.5]) == 0.0
    assert paired_t_test([1.0], [2.0]) == 1.0
    assert wilcoxon_test(a, a) == 1.0
    assert wilcoxon_test(a + 5, a) == pytest.approx(2 / 2**9)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_rejects_exactly_what_its_step_down_rule_rejects(p_values):
    adjusted = holm(p_values)
    for alpha in (0.01, 0.05, 0.3):
        rejected = set()
        for k, i in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
            if p_values[i] * (len(p_values) - k) > alpha:
                break
            rejected.add(i)
        assert {i for i, p in enumerate(adjusted) if p <= alpha} == rejected


def test_average_ranks_share_ties():
    assert average_ranks([[3, 1, 2], [1, 1, 0]]).tolist() == [1.25, 2.25, 2.5]
