"""Held-out figures: a method fitted and measured in folds, with every warning told once."""

import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from hullrank.cli.chances import Chances
from hullrank.cli.console import stopped, warn
from hullrank.cli.data import Data
from hullrank.cli.methods import build, fit_parameters, prepared
from hullrank.exceptions import CollapsedRankingWarning, HullrankError

Run = Callable[[Any, Any], float]


@dataclass(frozen=True)
class Task:
    """A table with the target as a method wants it, ready to be fitted in parts."""

    method: str
    data: Data
    y: Any
    parameters: dict[str, Any]
    order: Any  # the order graph that the pairs are counted by, or None for numbers
    forms: dict[str, Any] | None
    probabilities: bool = False
    tune: bool = False  # whether every fit chooses its own C, by folds of the rows it learns from

    def take(self, rows: Any) -> "Task":
        """The same with some rows only."""
        return replace(self, data=self.data.take(rows), y=self.y[rows])

    @property
    def within(self) -> Any | None:
        """The queries or groups within which pairs count; None counts all: partial orders have no other figure."""
        return self.data.compared if self.order is None or self.order.is_total else None

    @property
    def figure(self) -> str:
        """The name of the figure."""
        what = "queries" if self.data.groups is None else "groups"
        return "pair accuracy" if self.within is None else f"pair accuracy within {what}"


@dataclass
class Remarks:
    """Warnings of many fits; alike ones (but for their numbers) are told once, with the folds in which they came."""

    fold: int = 0
    heard: dict[tuple[str, str], tuple[str, list[int]]] = field(default_factory=dict)

    def hear(self, method: str, told: list[warnings.WarningMessage]) -> None:
        """Take note of the warnings of one fit."""
        for each in told:
            if issubclass(each.category, UserWarning):
                text = str(each.message)
                key = method, re.sub(r"[\d.]+(e[-+]\d+)?", "#", text)
                self.heard.setdefault(key, (text, []))[1].append(self.fold)

    def tell(self) -> None:
        """Print them."""
        for (method, _), (text, folds) in self.heard.items():
            warn(f"{method}, {_joined(folds)}: {text}")


def _joined(folds: list[int]) -> str:
    numbers = [str(fold) for fold in dict.fromkeys(folds)]
    return f"fold {numbers[0]}" if len(numbers) == 1 else f"folds {', '.join(numbers[:-1])} and {numbers[-1]}"


def runner(task: Task, remarks: Remarks, chances: Chances | None = None) -> Run:
    """Train rows, test rows -> pair accuracy on the test rows (within queries or groups); NaN if collapsed.

    If probabilities are asked for, ``chances`` hears them.
    """
    from hullrank.cli.tuning import tuned

    def run(train: Any, test: Any) -> float:
        learned, held_out = task.take(train), task.take(test)
        parameters = tuned(learned) if task.tune else task.parameters
        probable, sparse = chances is not None, task.data.sparse
        pipeline = build(task.method, parameters, sparse=sparse, forms=task.forms, probabilities=probable)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            Z = prepared(pipeline, learned.data.X)
            pipeline[-1].fit(Z, learned.y, **fit_parameters(pipeline[-1], learned.data))
            if stopped():
                raise KeyboardInterrupt
            scores = pipeline.score_samples(held_out.data.X)
            if chances is not None:
                P = pipeline.predict_proba(held_out.data.X)
                chances.hear(pipeline[-1], P, learned.y, learned.data.weights, held_out.y, held_out.data.weights)
        remarks.hear(task.method, told)
        if any(issubclass(each.category, CollapsedRankingWarning) for each in told) or np.ptp(scores) == 0:
            return float("nan")
        return accuracy(held_out, scores)

    return run


def accuracy(task: Task, scores: Any) -> float:
    """The share of comparable pairs ranked right, within queries or groups if there are any."""
    from hullrank.metrics import swapped_pairs, wmw_score

    y, order, weights = task.y, task.order, task.data.weights
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if task.within is not None:
            classes = None if order is None else list(order.labels)
            value = 1 - swapped_pairs(y, scores, qid=task.within, classes=classes, sample_weight=weights)
        else:
            value = wmw_score(y, scores, order="full" if order is None else order, sample_weight=weights)
    if np.isnan(value):
        raise HullrankError("a fold has no two rows to compare; use fewer folds (--cv), or more rows")
    return value
