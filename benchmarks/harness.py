"""What all benchmarks share: clocks that alternate between contestants, and data.

Fits of milliseconds swing with what else a machine does, so contestants are timed in turn, and the least time of each
counts. Real data are read from the folder HULLRANK_DATA; synthetic data of the same size stand in without it.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import perf_counter, process_time

import numpy as np

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
Action = Callable[[], object]


@dataclass(frozen=True)
class Seconds:
    """Least wall and CPU time of some runs."""

    wall: float
    cpu: float


def timed(action: Action) -> Seconds:
    """The time of one run."""
    wall, cpu = perf_counter(), process_time()
    action()
    return Seconds(perf_counter() - wall, process_time() - cpu)


def in_turn(actions: Mapping[str, Action], budget: float = 1.0, most: int = 60) -> dict[str, Seconds]:
    """Least times of actions that are run in turn, after a run that compiles and maps memory.

    ``budget`` is the wall time in seconds after which no further turn begins; there are three at least (one where a
    turn takes longer than the budget), and ``most`` at most.
    """
    first = {name: timed(action) for name, action in actions.items()}
    turn = sum(seconds.wall for seconds in first.values())
    turns = int(min(max(3 if turn < budget else 1, budget / turn), most))
    runs = [{name: timed(action) for name, action in actions.items()} for _ in range(turns)]
    return {name: Seconds(min(run[name].wall for run in runs), min(run[name].cpu for run in runs)) for name in actions}


def cpu_seconds(action: Action, budget: float = 1.0) -> float:
    """Least CPU time of an action."""
    return in_turn({"": action}, budget)[""].cpu


def grades(values, classes=5):
    """Classes of equal size, by value."""
    return np.searchsorted(np.quantile(values, np.arange(1, classes) / classes), values)


@cache
def linear_data(m, n=20, classes=5):
    """A linear score of standard normal features with noise, cut into classes."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((m, n))
    return X, grades(X @ rng.standard_normal(n) + 2 * rng.standard_normal(m), classes)


@cache
def curved_data(m, classes=5, seed=0):
    """A smooth nonlinear score with noise, cut into classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 10))
    f = np.sin(X[:, 0]) + 0.5 * X[:, 1] * X[:, 2] + X @ rng.normal(size=10) / np.sqrt(10) + 0.3 * rng.normal(size=m)
    return X, grades(f, classes)


@cache
def real_data(name, rows=None):
    """Columns standardised (nominal ones as indicators), the target cut into five classes; None without the data."""
    folder = os.environ.get("HULLRANK_DATA")
    if not folder or not (Path(folder) / name).is_file():
        return None
    import pandas as pd

    table = pd.read_csv(Path(folder) / name).head(rows)
    target = table.pop("target" if "target" in table else table.columns[-1]).to_numpy()
    X = pd.get_dummies(table, dtype=float).to_numpy()
    X = np.ascontiguousarray((X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1))
    return X, np.unique(grades(target), return_inverse=True)[1]


def california():
    """California housing in five grades, 20,640 x 8, or synthetic data of that size; and which of the two."""
    data = real_data("cal_housing.csv.gz")
    return (*data, "California housing") if data else (*linear_data(20640, 8), "synthetic")
