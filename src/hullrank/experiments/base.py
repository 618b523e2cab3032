"""What an experiment is: cells to run, a function that runs one, and a report on the records."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hullrank.exceptions import HullrankError

PAPERS = ("hull", "margins", "pairs", "exact")
Record = dict[str, Any]


@dataclass(frozen=True)
class Cell:
    """One run: a method on one trial (split, fold) of a data set. Equal trials of a data set share their rows."""

    dataset: str
    trial: int
    method: str
    quick: bool = False


@dataclass(frozen=True)
class ResultTable:
    """A table of words and finished numbers, with a title and what is worth knowing about it."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Report:
    """Tables, figures (name -> Matplotlib figure) and what they show."""

    title: str
    protocol: tuple[str, ...]
    tables: list[ResultTable]
    figures: dict[str, Any]
    findings: list[str]


@dataclass(frozen=True)
class Experiment:
    """A paper's experiment: ``check(dataset)`` raises DatasetError where data are missing."""

    name: str
    title: str
    cells: Callable[[bool], list[Cell]]
    check: Callable[[str], object]
    run: Callable[[Cell], Record]
    report: Callable[["Results", bool], Report]


def load_experiment(name: str) -> Experiment:
    """The experiment of a paper: hull, margins, pairs or exact."""
    if name not in PAPERS:
        raise HullrankError(f"there is no experiment {name!r}; known are {', '.join(PAPERS)}")
    experiment: Experiment = import_module(f"hullrank.experiments.{name}").EXPERIMENT
    return experiment


def grid_of_cells(trials: int, datasets: Iterable[str], methods: Sequence[str], *, quick: bool) -> list[Cell]:
    """All cells, trial by trial, so that a run cut short covers every data set alike."""
    names = list(datasets)
    return [Cell(d, trial, method, quick) for trial in range(trials) for d in names for method in methods]


def emphasised(texts: Iterable[str], scores: Iterable[float]) -> list[str]:
    """The texts, those with the highest score in bold."""
    values = list(scores)
    return [f"**{text}**" if value == max(values) else text for text, value in zip(texts, values, strict=True)]


class Results:
    """Records by data set, method and trial."""

    def __init__(self, records: Iterable[Record]) -> None:
        self._table: dict[tuple[str, str], dict[int, Record]] = {}
        for record in records:
            self._table.setdefault((record["dataset"], record["method"]), {})[record["trial"]] = record

    def datasets(self, among: Iterable[str], methods: Sequence[str] = ()) -> list[str]:
        """Those data sets that have a trial finished by all the methods."""
        return [name for name in among if self._common(name, methods)]

    def paired(self, dataset: str, methods: Sequence[str], key: str) -> NDArray[np.float64]:
        """(trials, methods): a value of every method on the trials that all of them have finished."""
        trials = self._common(dataset, methods)
        values = [[self._table[dataset, method][t][key] for method in methods] for t in trials]
        return np.array(values, dtype=np.float64).reshape(len(trials), len(methods))

    def values(self, dataset: str, method: str, key: str) -> NDArray[np.float64]:
        """A value of one method on all of its trials."""
        return self.paired(dataset, [method], key)[:, 0]

    def _common(self, dataset: str, methods: Sequence[str]) -> list[int]:
        finished = [set(self._table.get((dataset, method), {})) for method in methods]
        return sorted(set.intersection(*finished)) if finished else []
