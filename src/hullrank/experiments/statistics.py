"""Tests for methods that were run on the same trials, or on the same data sets."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata, ttest_rel, wilcoxon
from scipy.stats import t as student

Floats = NDArray[np.float64]


def paired_t_test(first: ArrayLike, second: ArrayLike) -> float:
    """Two-sided p-value that the mean difference is 0; 1 where there is no difference or only one trial."""
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    difference = a - b
    if len(a) < 2 or not difference.any():
        return 1.0
    if np.ptp(difference) == 0:
        return 0.0
    return float(ttest_rel(a, b).pvalue)


def corrected_t_test(differences: ArrayLike, ratio: float) -> float:
    """Two-sided p-value that the mean difference is 0, by the corrected resampled t-test (Nadeau and Bengio 2003).

    t = mean / sqrt((1 / J + ratio) var), with J folds and ratio the size of a test set over that of a training set.
    """
    values = np.asarray(differences, dtype=np.float64)
    J, mean = len(values), float(values.mean())
    if J < 2 or mean == 0:
        return 1.0
    spread = float(np.sqrt((1 / J + ratio) * values.var(ddof=1)))
    return float(2 * student.sf(abs(mean) / spread, J - 1)) if spread > 0 else 0.0


def wilcoxon_test(first: ArrayLike, second: ArrayLike) -> float:
    """Two-sided p-value of the signed-rank test; 1 where there is no difference."""
    difference = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    return float(wilcoxon(difference).pvalue) if difference.any() else 1.0


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values adjusted for their number (Holm 1979): the k-th smallest of m times m - k + 1, made non-decreasing."""
    order = np.argsort(p_values, kind="stable")
    m = len(order)
    scaled = np.asarray(p_values, dtype=np.float64)[order] * (m - np.arange(m))
    adjusted = np.empty(m)
    adjusted[order] = np.minimum(np.maximum.accumulate(scaled), 1.0)
    return [float(p) for p in adjusted]


def average_ranks(scores: ArrayLike) -> Floats:
    """Mean rank of every column over the rows; the highest score has rank 1, ties share theirs."""
    return np.asarray(rankdata(-np.asarray(scores, dtype=np.float64), axis=1).mean(axis=0))


def in_words(p_value: float) -> str:
    """``p = 0.012`` or ``p < 0.001``."""
    return f"p = {p_value:.3f}" if p_value >= 0.001 else "p < 0.001"
