"""Rank statistics of a binary ranking: the weights of the rank-risk functionals (Bertsimas, Chang and Rudin 2010).

Conventions
-----------
n samples with targets 0 and 1. The rank of a sample is the number of samples scored strictly below it, so ties lower
it. A rank-risk functional with non-negative weights a_1 <= ... <= a_n (definition 1) is

    RRF(f) = sum over positives i of a[rank(i) + 1]

The AUC counts only negatives below, over all pairs: AUC(f) = #{positive i, negative k: f_k < f_i} / (n_pos n_neg).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hullrank.exceptions import HullrankError

Floats = NDArray[np.float64]

# l runs from 1 (lowest) to n (highest); each entry maps (l, n, statistic) to a_l
_WEIGHTS: dict[str, Callable[[Floats, int, "RankStatistic"], Floats]] = {
    "wrs": lambda level, n, _: level,
    "partial_wmw": lambda level, n, statistic: level * (level >= statistic.first_level(n)),
    "wta": lambda level, n, _: (level == n).astype(np.float64),
    "mrr": lambda level, n, _: 1.0 / (n - level + 1.0),
    "dcg": lambda level, n, _: 1.0 / np.log2(n - level + 2.0),
    "pnorm": lambda level, n, statistic: level**statistic.p,
}
NAMES = ("auc", *_WEIGHTS)


@dataclass(frozen=True)
class RankStatistic:
    """A rank statistic: AUC, or a rank-risk functional by name or by its weights.

    Parameters
    ----------
    name : {"auc", "wrs", "partial_wmw", "wta", "mrr", "dcg", "pnorm", "weights"}, default="auc"
        With l = rank + 1: Wilcoxon rank sum a_l = l; partial WMW a_l = l for l >= t, else 0; winner takes all
        a_l = [l = n]; mean reciprocal rank a_l = 1 / (n - l + 1), summed over all positives; discounted cumulative
        gain a_l = 1 / log2(n - l + 2); P-norm push a_l = l^p; "weights" takes ``custom``.
    t : int or float, default=0.8
        First level that counts in partial WMW: an integer from 1 to n, or a fraction of n in (0, 1).
    p : float, default=4.0
        Power of the P-norm push, above 0.
    custom : tuple of float, default=()
        The weights a_1 <= ... <= a_n themselves, non-negative; they fit exactly n samples.

    Examples
    --------
    >>> from hullrank.metrics import RankStatistic
    >>> RankStatistic("partial_wmw", t=3).weights(4)
    array([0., 0., 3., 4.])
    >>> RankStatistic.of([0, 0, 1]).weights(3)
    array([0., 0., 1.])
    """

    name: str = "auc"
    t: float = 0.8
    p: float = 4.0
    custom: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if self.name not in (*NAMES, "weights"):
            raise HullrankError(
                f"unknown rank statistic {self.name!r}; use one of {', '.join(NAMES)}, or pass the weights"
            )
        whole = float(self.t).is_integer() and self.t >= 1
        if not (whole or 0 < self.t < 1):
            raise HullrankError(f"t={self.t!r} is no level; pass an integer from 1 to n, or a fraction of n in (0, 1)")
        if not 0 < self.p < np.inf:
            raise HullrankError(f"p={self.p!r} must be positive and finite")
        if self.name == "weights":
            _check_custom(np.asarray(self.custom, dtype=np.float64))

    @classmethod
    def of(
        cls, statistic: "str | Sequence[float] | NDArray[Any] | RankStatistic", *, t: float = 0.8, p: float = 4.0
    ) -> "RankStatistic":
        """The statistic that a user named: a name (with ``t`` or ``p``), an array of weights, or a RankStatistic."""
        if isinstance(statistic, RankStatistic):
            return statistic
        if isinstance(statistic, str):
            return cls(statistic, t, p)
        return cls("weights", t, p, tuple(np.asarray(statistic, dtype=np.float64).ravel().tolist()))

    @property
    def is_auc(self) -> bool:
        """Whether only negatives below count, so that there are no weights over all ranks."""
        return self.name == "auc"

    def first_level(self, n: int) -> int:
        """The level t from which partial WMW counts, as an integer."""
        level = int(np.ceil(self.t * n - 1e-9)) if self.t < 1 else int(self.t)
        if level > n:
            raise HullrankError(f"t={level} is above the number of samples, {n}; pass a fraction in (0, 1) instead")
        return level

    def weights(self, n: int) -> Floats:
        """The weights a_1..a_n; a positive with r samples strictly below it earns ``weights[r]``."""
        if self.is_auc:
            raise HullrankError("the AUC counts pairs and has no weights over ranks; 'wrs' is the nearest functional")
        if self.name == "weights":
            if len(self.custom) != n:
                raise HullrankError(f"{len(self.custom)} weights were given for {n} samples; pass one weight per rank")
            return np.array(self.custom)
        return _WEIGHTS[self.name](np.arange(1.0, n + 1.0), n, self)

    def value(self, positive: NDArray[np.bool_], scores: Floats) -> float:
        """The functional at the given scores: the sum of the weights that the positives earn."""
        ranks = np.searchsorted(np.sort(scores), scores[positive], side="left")
        return float(self.weights(len(scores))[ranks].sum())


def _check_custom(weights: Floats) -> None:
    if not len(weights) or not np.isfinite(weights).all() or weights[0] < 0:
        raise HullrankError("the weights of a rank statistic must be finite and non-negative, one per rank")
    down = np.flatnonzero(np.diff(weights) < 0)
    if len(down):
        at = int(down[0])
        drop = f"a_{at + 1} = {weights[at]:g} > a_{at + 2} = {weights[at + 1]:g}"
        raise HullrankError(f"the weights of a rank statistic must not decrease, but {drop}; sort them")
