"""Methods compared by cross-validation, with intervals and tests that know that folds share their rows."""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold

from hullrank.exceptions import HullrankError
from hullrank.experiments.statistics import corrected_t_test

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Compared:
    """One method: its score in every fold, mean with 95% interval, p-value against the best, and seconds per fit.

    A fold in which the model gives every row the same score has no score (NaN) and is counted by ``collapsed``; with
    one of them the method has neither mean nor p-value.
    """

    name: str
    folds: Floats
    mean: float
    low: float
    high: float
    p_value: float
    seconds: float

    @property
    def collapsed(self) -> int:
        """In how many folds the ranking collapsed."""
        return int(np.isnan(self.folds).sum())


def folds(y: Any, qid: Any | None, n_splits: int) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Whole queries together; else stratified by grade where every grade has enough rows; else at random."""
    n = len(y)
    if n_splits > n:
        raise HullrankError(f"{n_splits} folds need at least as many rows, and there are {n}")
    rows = np.zeros((n, 1))
    if qid is not None:
        if len(np.unique(qid)) < n_splits:
            raise HullrankError(f"{n_splits} folds need at least as many queries, and there are {len(np.unique(qid))}")
        return list(GroupKFold(n_splits).split(rows, groups=qid))
    _, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    if counts.min() >= n_splits:
        return list(StratifiedKFold(n_splits, shuffle=True, random_state=0).split(rows, codes))
    return list(KFold(n_splits, shuffle=True, random_state=0).split(rows))


def compare(
    methods: dict[str, Callable[[NDArray[np.intp], NDArray[np.intp]], float]],
    splits: list[tuple[NDArray[np.intp], NDArray[np.intp]]],
    advance: Callable[[float, str, int], None] = lambda share, name, fold: None,
) -> list[Compared]:
    """Run every method (train rows, test rows -> score in [0, 1]) on every split; best mean first.

    ``advance`` hears the share of the fits that are done, and the method and fold (from 1) that come next. After Ctrl-C
    the methods that have all their folds are compared; if there is none, it is raised.
    """
    scores: dict[str, Floats] = {}
    seconds = {}
    try:
        for m, (name, run) in enumerate(methods.items()):
            start, values = perf_counter(), []
            for j, (train, test) in enumerate(splits):
                advance((m * len(splits) + j) / (len(methods) * len(splits)), name, j + 1)
                values.append(run(train, test))
            seconds[name] = (perf_counter() - start) / len(splits)
            scores[name] = np.array(values)
    except KeyboardInterrupt:
        if not scores:
            raise
    ratio = float(np.mean([len(test) / len(train) for train, test in splits]))
    whole = {name: float(values.mean()) for name, values in scores.items() if not np.isnan(values).any()}
    best = max(whole, key=lambda name: whole[name]) if whole else None
    rows = [_row(name, values, ratio, scores.get(best or ""), seconds[name]) for name, values in scores.items()]
    return sorted(rows, key=lambda row: (np.isnan(row.mean), -row.mean))


def _row(name: str, values: Floats, ratio: float, best: Floats | None, seconds: float) -> Compared:
    """The figures of a method; its scores lie in [0, 1], and so does its interval."""
    mean, low, high = interval(values, ratio)
    if best is None or np.isnan(mean):
        return Compared(name, values, mean, low, high, float("nan"), seconds)
    p_value = 1.0 if best is values else corrected_t_test(best - values, ratio)
    return Compared(name, values, mean, low, high, p_value, seconds)


def interval(values: Floats, ratio: float) -> tuple[float, float, float]:
    """The mean of scores in [0, 1] over folds and its 95% interval; ``ratio`` is test rows over training rows."""
    J, mean = len(values), float(values.mean())
    half = float(student.ppf(0.975, J - 1) * np.sqrt((1 / J + ratio) * values.var(ddof=1)))
    return mean, float(np.clip(mean - half, 0.0, 1.0)), float(np.clip(mean + half, 0.0, 1.0))
