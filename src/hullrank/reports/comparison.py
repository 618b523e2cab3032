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
    """One method: its score in every fold, mean with 95% interval, p-value against the best, and seconds per fit."""

    name: str
    folds: Floats
    mean: float
    low: float
    high: float
    p_value: float
    seconds: float


def folds(y: Any, qid: Any | None, n_splits: int, seed: int = 0) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Whole queries together; else stratified by grade where every grade has enough rows; else at random."""
    n = len(y)
    if n_splits > n:
        raise HullrankError(f"{n_splits} folds need at least as many rows, and there are {n}")
    rows = np.zeros((n, 1))
    if qid is not None:
        if len(np.unique(qid)) < n_splits:
            raise HullrankError(f"{n_splits} folds need at least as many queries, and there are {len(np.unique(qid))}")
        return list(GroupKFold(n_splits).split(rows, groups=qid))
    if np.unique(y, return_counts=True)[1].min() >= n_splits:
        return list(StratifiedKFold(n_splits, shuffle=True, random_state=seed).split(rows, y))
    return list(KFold(n_splits, shuffle=True, random_state=seed).split(rows))


def compare(
    methods: dict[str, Callable[[NDArray[np.intp], NDArray[np.intp]], float]],
    splits: list[tuple[NDArray[np.intp], NDArray[np.intp]]],
) -> list[Compared]:
    """Run every method (train rows, test rows -> score) on every split; best mean first."""
    scores, seconds = {}, {}
    for name, run in methods.items():
        start = perf_counter()
        scores[name] = np.array([run(train, test) for train, test in splits])
        seconds[name] = (perf_counter() - start) / len(splits)
    ratio = float(np.mean([len(test) / len(train) for train, test in splits]))
    best = max(scores, key=lambda name: float(scores[name].mean()))
    rows = []
    for name, values in scores.items():
        half = _half_width(values, ratio)
        mean = float(values.mean())
        p_value = 1.0 if name == best else corrected_t_test(scores[best] - values, ratio)
        rows.append(Compared(name, values, mean, mean - half, mean + half, p_value, seconds[name]))
    return sorted(rows, key=lambda row: -row.mean)


def _half_width(values: Floats, ratio: float) -> float:
    J = len(values)
    return float(student.ppf(0.975, J - 1) * np.sqrt((1 / J + ratio) * values.var(ddof=1)))
