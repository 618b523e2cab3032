"""Rank statistics of a binary ranking, with ties counted as errors."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hullrank.exceptions import LabelError
from hullrank.metrics.pair_counts import count_pairs
from hullrank.metrics.scored import check_scored, undefined
from hullrank.problem.statistics import RankStatistic


def rank_statistic(
    y: Any,
    scores: ArrayLike,
    statistic: str | Sequence[float] | RankStatistic = "auc",
    *,
    t: float = 0.8,
    p: float = 4.0,
    classes: Sequence[Hashable] | None = None,
) -> float:
    """AUC or a rank-risk functional, sum over positives i of a[rank(i) + 1] (Bertsimas, Chang and Rudin 2010).

    The rank of a sample is the number of samples scored strictly below it, so ties count as errors.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Binary targets, the higher label positive; for the AUC also graded or real-valued ones (all comparable pairs).
    scores : array-like of shape (n_samples,)
        Higher means ranked higher.
    statistic : {"auc", "wrs", "partial_wmw", "wta", "mrr", "dcg", "pnorm"}, weights or RankStatistic, default="auc"
        See `hullrank.metrics.RankStatistic`; a sequence gives the non-decreasing weights a_1..a_n.
    t : int or float, default=0.8
        First level that counts in partial WMW, or a fraction of n_samples in (0, 1).
    p : float, default=4.0
        Power of the P-norm push.
    classes : sequence of labels, default=None
        The labels from lowest to highest, if they do not say it themselves.

    Returns
    -------
    value : float
        NaN with a warning when y has a single label.

    Examples
    --------
    >>> from hullrank.metrics import rank_statistic
    >>> rank_statistic([0, 1, 0, 1], [0.1, 0.5, 0.5, 0.9])
    0.75
    >>> rank_statistic([0, 1, 0, 1], [0.1, 0.5, 0.5, 0.9], "wrs")
    6.0
    """
    chosen = RankStatistic.of(statistic, t=t, p=p)
    scored = check_scored(y, scores)
    codes = scored.codes(classes)
    n_labels = int(codes.max()) + 1
    if n_labels < 2:
        return undefined("rank_statistic", f"all targets are {scored.values[0]!r}")
    if chosen.is_auc:
        counts = count_pairs(codes, scored.scores, scored.weights)
        return float(counts.won[0] / counts.total[0])
    if n_labels > 2:
        raise LabelError(
            f"{chosen.name!r} needs two labels, but y has {n_labels}; only 'auc' is defined for graded targets"
        )
    return chosen.value(np.equal(codes, 1), scored.scores)
