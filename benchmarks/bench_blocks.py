"""Rows in blocks: passes, gap and CPU time beside a fit in memory; on disk, with little memory, by pairs, on Dask.

    python benchmarks/bench_blocks.py [--rows 2000000] [--dask] [--cluster]

Blocks of X lie in a memory map in a temporary folder, whose pages the system may drop. CPU times are ratios to the fit
of the same rows in memory in the same run. ``--dask`` fits on two workers of 2 GB and kills one of them in mid-fit;
``--cluster`` simulates larger clusters from times measured here.
"""

import argparse
import os
import signal
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from heapq import heapify, heapreplace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from hullrank import ConvexHullRanker, FixedMarginClassifier, SwappedPairsRanker
from hullrank.io import Blocks
from hullrank.models._block_samples import Share, encode, summarise

N_FEATURES = 20
BLOCK = 125_000  # rows
TASK = 0.0013  # seconds of Dask's scheduler for a task, one after another


def data(rows: int, folder: Path) -> tuple[Any, Any]:
    """Rows in a memory map, made and written block by block, and five grades."""
    rng = np.random.default_rng(0)
    w = rng.normal(size=N_FEATURES)
    X = np.lib.format.open_memmap(folder / "X.npy", "w+", np.float64, (rows, N_FEATURES))
    y = np.empty(rows, dtype=np.int64)
    for low in range(0, rows, BLOCK):
        part = rng.normal(size=(min(BLOCK, rows - low), N_FEATURES))
        X[low : low + BLOCK] = part
        y[low : low + BLOCK] = np.digitize(part @ w + 2 * rng.normal(size=len(part)), [-4, -1, 1, 4])
    X.flush()
    return np.load(folder / "X.npy", mmap_mode="r"), y


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """What a call gives, and its CPU seconds."""
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = work()
    return found, time.process_time() - start


def private_memory() -> float:
    """Bytes of this process that are not files."""
    with open("/proc/self/status") as status:
        return 1024.0 * next(int(line.split()[1]) for line in status if line.startswith("RssAnon"))


class Peak:
    """The most private memory while something runs, beyond what there was before."""

    def __enter__(self) -> "Peak":
        self.before, self.most, self.ended = private_memory(), 0.0, threading.Event()
        self.watcher = threading.Thread(target=self._watch)
        self.watcher.start()
        return self

    def _watch(self) -> None:
        while not self.ended.wait(0.01):
            self.most = max(self.most, private_memory() - self.before)

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        self.watcher.join()


def classes(folder: Path, X: Any, y: Any) -> Iterator[list[Any]]:
    """Lines of the table of class-based models: with a quarter of X as memory, and with room for a row in 5000.

    Fits in blocks run in processes of their own, whose private memory nothing else has stretched.
    """
    held = np.array(X)
    np.save(folder / "y.npy", y)
    for estimator in (FixedMarginClassifier, ConvexHullRanker):
        for loss in ("hinge", "squared_hinge"):
            model = estimator(C=1.0, loss=loss)
            model.fit(held[:50_000], y[:50_000])  # compiled before it is timed
            memory, seconds = timed(lambda model=model: model.fit(held, y).certificate_)
            for share in (4, 5000):
                with ProcessPoolExecutor(1, get_context("spawn")) as alone:
                    found, cpu, most = alone.submit(in_blocks, model, folder, share).result()
                yield [
                    f"{estimator.__name__}, {loss}", f"1/{share}", found.passes, f"{found.relative_gap:.0e}",
                    f"{found.primal / memory.primal - 1:.0e}", f"{cpu / seconds:.2f}", f"{most / X.nbytes:.2f} X",
                ]  # fmt: skip


def in_blocks(model: Any, folder: Path, share: int) -> tuple[Any, float, float]:
    """The certificate of a fit in blocks with 1 / share of X as memory, its CPU seconds, and its private memory."""
    X, y = np.load(folder / "X.npy", mmap_mode="r"), np.load(folder / "y.npy")
    some = max(50_000 * X.itemsize * N_FEATURES // share, 1)
    model.fit(Blocks.from_arrays(np.array(X[:50_000]), y[:50_000], block_rows=10_000, memory=some))  # compiled
    blocks = Blocks.from_arrays(X, y, block_rows=BLOCK, memory=max(X.nbytes // share, 1))
    with Peak() as peak:
        found, cpu = timed(lambda: model.fit(blocks).certificate_)
    return found, cpu, peak.most


def pairs(X: Any, y: Any) -> Iterator[list[Any]]:
    """Lines of the table of pairs: within queries of 20 rows, over five grades, over continuous targets."""
    target = np.asarray(X @ np.ones(N_FEATURES)) + 4 * np.random.default_rng(1).normal(size=len(y))
    order = np.argsort(target)
    held = np.array(X)
    kinds = {
        "within queries": (held, y, np.arange(len(y)) // 20),
        "all pairs, five grades": (held, y, None),
        "all pairs, continuous": (held[order], target[order], None),
    }
    for name, (rows, goal, qid) in kinds.items():
        for loss in ("squared_hinge", "hinge", "logistic"):
            model = SwappedPairsRanker(C=10.0, loss=loss)
            memory, seconds = timed(lambda: model.fit(rows, goal, qid=qid).certificate_)  # noqa: B023
            blocks = Blocks.from_arrays(rows, goal, qid=qid, block_rows=BLOCK)
            found, cpu = timed(lambda: model.fit(blocks).certificate_)  # noqa: B023
            gap, apart = f"{found.relative_gap:.0e}", f"{found.primal / memory.primal - 1:.0e}"
            yield [f"{name}, {loss}", found.passes, gap, apart, f"{cpu / seconds:.2f}"]


def on_dask(folder: Path, y: Any) -> Iterator[list[Any]]:
    """Lines of the table of Dask: two workers of 2 GB, undisturbed and with one killed."""
    import dask.array as da
    from dask.distributed import Client, LocalCluster

    from hullrank.distributed import DaskConvexHullRanker, DaskFixedMarginClassifier

    X = da.from_npy_stack(str(_stack(folder)), mmap_mode="r")
    goal = da.from_array(y, chunks=BLOCK)
    limits: dict[str, Any] = {"n_workers": 2, "threads_per_worker": 1, "memory_limit": "2GB", "dashboard_address": None}
    with LocalCluster(**limits) as cluster, Client(cluster) as client:
        for estimator in (DaskFixedMarginClassifier, DaskConvexHullRanker):
            for loss in ("hinge", "squared_hinge"):
                start = time.perf_counter()
                model = estimator(C=1.0, loss=loss).fit(X, goal)
                seconds = time.perf_counter() - start
                victim = next(iter(client.run(os.getpid).values()))
                killer = threading.Timer(seconds / 2, os.kill, (victim, signal.SIGKILL))
                killer.start()
                start = time.perf_counter()
                again = estimator(C=1.0, loss=loss).fit(X, goal)
                after = time.perf_counter() - start
                killer.join()
                moved = float(np.abs(again.coef_ - model.coef_).max() / np.abs(model.coef_).max())
                found = model.certificate_
                yield [
                    f"{estimator.__name__}, {loss}", found.passes, f"{found.relative_gap:.0e}", f"{seconds:.1f} s",
                    f"{after:.1f} s", f"{moved:.0e}",
                ]  # fmt: skip


def _stack(folder: Path) -> Path:
    """The rows as a stack of NumPy files, which every worker maps by itself."""
    import dask.array as da

    X = np.load(folder / "X.npy", mmap_mode="r")
    da.to_npy_stack(str(folder / "stack"), da.from_array(X, chunks=(BLOCK, N_FEATURES)), axis=0)
    return folder / "stack"


def cluster(X: Any, y: Any) -> Iterator[list[Any]]:
    """Lines of the simulation: 1e9 rows in 1000 blocks, on workers that take a new task when they are free."""
    rows, part = 1_000_000, np.array(X[:BLOCK])
    raw = (part, y[:BLOCK], None, None)
    codes = {label: code for code, label in enumerate(np.unique(y).tolist())}
    _, look = timed(lambda: summarise(raw, Share(100, 1 << 20, 0), True))
    placed, place = timed(lambda: encode(raw, codes, np.ones(len(codes)), True))
    model = FixedMarginClassifier(C=1.0)
    model.fit(part, y[:BLOCK])
    survey = min(timed(lambda: _surveyed(model, placed))[1] for _ in range(3))
    scale = rows / BLOCK
    passes = [scale * seconds for seconds in (look, place, survey, survey)]
    for workers in (10, 100, 1000):
        busy = sum(_makespan(1000, workers, seconds) for seconds in passes)
        share = rows * 1000 * 8 * N_FEATURES / workers / 1e9
        yield [workers, f"{1000 * sum(passes):.0f} s", f"{busy:.1f} s", f"{share:.1f} GB"]


def _makespan(tasks: int, workers: int, seconds: float) -> float:
    """When the last of equal tasks ends that the scheduler hands out one by one to whoever is free."""
    free = [0.0] * workers
    heapify(free)
    for k in range(tasks):
        heapreplace(free, max(free[0], (k + 1) * TASK) + seconds)
    return max(free)


def _surveyed(model: FixedMarginClassifier, block: Any) -> Any:
    from hullrank.problem.block_charges import Frame, Window
    from hullrank.problem.block_rows import HeldBlocks
    from hullrank.problem.block_survey import survey
    from hullrank.problem.statement import Point

    statement = model.state(block.X, block.codes)
    frame = Frame(statement.problem, len(model.classes_), block.X.mean(axis=0))
    point = model.candidate(statement)
    return survey(HeldBlocks([block]), frame, Point(point.coef, point.thresholds), Window(0.05, model=True))


def show(head: list[str], lines: Iterator[list[Any]]) -> None:
    """A Markdown table, line by line as it is made."""
    print("\n| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for line in lines:
        print("| " + " | ".join(map(str, line)) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--dask", action="store_true")
    parser.add_argument("--cluster", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        X, y = data(options.rows, Path(folder))
        if options.cluster:
            show(["workers", "computing, all workers", "from start to end", "memory of X a worker"], cluster(X, y))
        elif options.dask:
            head = ["model", "passes", "gap", "time", "with a worker killed", "weights moved"]
            show(head, on_dask(Path(folder), y))
        else:
            head = [
                "model",
                "memory / X",
                "passes",
                "gap",
                "objective against memory",
                "CPU / memory",
                "private memory",
            ]
            show(head, classes(Path(folder), X, y))
            show(["pairs", "passes", "gap", "objective against memory", "CPU / memory"], pairs(X, y))


if __name__ == "__main__":
    main()
