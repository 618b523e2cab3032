"""Running cells in parallel: every finished cell is a line on the disk, and a second run goes on from there."""

import json
import os
import signal
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

from joblib import Parallel, delayed
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from threadpoolctl import threadpool_limits

from hullrank.exceptions import DatasetError
from hullrank.experiments.base import Cell, Experiment, Record
from hullrank.io import replacing

_KEY = ("dataset", "trial", "method", "quick")


@dataclass
class Outcome:
    """What a run left: the records of all finished cells, and what did not go well."""

    records: list[Record]
    wanted: int
    reused: int
    interrupted: bool = False
    missing: dict[str, str] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)


class ResultLog:
    """JSON lines, one for every finished cell; a line cut short by a crash is dropped when the file is next read."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> list[Record]:
        """All whole records; the file is left holding exactly those."""
        if not self.path.exists():
            return []
        text = self.path.read_bytes()
        records = [record for line in text.split(b"\n") if (record := _parsed(line)) is not None]
        clean = b"".join(_line(record) for record in records)
        if clean != text:
            with replacing(self.path) as stream:
                stream.write(clean)
        return records

    def append(self, record: Record) -> None:
        """Add one line by a single write, and wait until it is on the disk."""
        handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            os.write(handle, _line(record))
            os.fsync(handle)
        finally:
            os.close(handle)


def _line(record: Record) -> bytes:
    return json.dumps(record, ensure_ascii=False).encode() + b"\n"


def _parsed(line: bytes) -> Record | None:
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) and all(key in record for key in _KEY) else None


def key_of(record: Record) -> Cell:
    """The cell that a record belongs to."""
    return Cell(*(record[key] for key in _KEY))


def run_experiment(experiment: Experiment, out: Path, *, quick: bool, jobs: int, console: Console) -> Outcome:
    """Run what is not done yet of an experiment; Ctrl-C stops it and loses at most the cells under way."""
    out.mkdir(parents=True, exist_ok=True)
    cells = experiment.cells(quick)
    missing = _missing(experiment, cells)
    cells = [cell for cell in cells if cell.dataset not in missing]
    log = ResultLog(out / "results.jsonl")
    wanted = set(cells)
    done = {key_of(record): record for record in log.read() if key_of(record) in wanted}
    outcome = Outcome(list(done.values()), len(cells), len(done), missing=missing)
    todo = [cell for cell in cells if cell not in done]
    with _stopping() as stopped, _bar(console, experiment.name, len(cells), len(done)) as advance:
        results = Parallel(n_jobs=jobs, batch_size=1, return_as="generator_unordered")(
            delayed(_work)(experiment.run, cell) for cell in todo
        )
        try:
            for record in results:
                if stopped():
                    break
                _keep(record, log, outcome)
                advance()
        except KeyboardInterrupt:
            pass
        outcome.interrupted = stopped()
    return outcome


def _missing(experiment: Experiment, cells: list[Cell]) -> dict[str, str]:
    """Data sets that cannot be had, and why."""
    missing = {}
    for name in dict.fromkeys(cell.dataset for cell in cells):
        try:
            experiment.check(name)
        except DatasetError as error:
            missing[name] = str(error)
    return missing


def _work(run: Callable[[Cell], Record], cell: Cell) -> Record:
    """One cell on one thread; an error becomes part of the record, so that other cells go on."""
    begin = perf_counter()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = run(cell)
        except Exception as error:
            result = {"failure": f"{type(error).__name__}: {error}"}
    return {**asdict(cell), **result, "seconds": round(perf_counter() - begin, 4)}


def _keep(record: Record, log: ResultLog, outcome: Outcome) -> None:
    if "failure" in record:
        outcome.failures.append(
            f"{record['dataset']}, {record['method']}, trial {record['trial']}: {record['failure']}"
        )
        return
    log.append(record)
    outcome.records.append(record)


@contextmanager
def _stopping() -> Iterator[Callable[[], bool]]:
    """Whether Ctrl-C was pressed, even where a fit took the interrupt for itself and kept its best answer so far."""
    pressed = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield pressed.is_set
        return

    def on_interrupt(*_: Any) -> None:
        pressed.set()
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield pressed.is_set
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _bar(console: Console, name: str, total: int, done: int) -> Iterator[Callable[[], None]]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, TimeRemainingColumn(), console=console) as progress:
        task = progress.add_task(name, total=total, completed=done)
        yield lambda: progress.advance(task)
