"""A large CSV by the command, against reading it with Polars and fitting in Python.

    python benchmarks/bench_files.py [--rows 1000000] [--repeats 3] [--quick]

Both run as programs of their own on one thread, in turn; the table gives the best wall and processor time of each.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

PYTHON = """
import sys, polars as pl
from sklearn.preprocessing import StandardScaler
from hullrank import ConvexHullRanker
frame = pl.read_csv(sys.argv[1])
X = StandardScaler().fit_transform(frame.drop("grade").to_numpy())
ConvexHullRanker().fit(X, frame["grade"].to_numpy())
"""
ONE = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS", "NUMBA_NUM_THREADS"), "1")


def make(path, rows):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, 20)).round(4)
    value = X @ rng.normal(size=20) + rng.normal(size=rows)
    grade = np.searchsorted(np.quantile(value, [0.2, 0.4, 0.6, 0.8]), value)
    pl.DataFrame(X, schema=[f"x{i}" for i in range(20)]).with_columns(grade=pl.Series(grade)).write_csv(path)


def run(command):
    """Wall seconds, processor seconds and peak MiB of a program."""
    start = time.perf_counter()
    process = subprocess.Popen(command, env={**os.environ, **ONE}, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, command
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    rows, repeats = (50_000, 1) if options.quick else (options.rows, options.repeats)
    hullrank = Path(sys.executable).parent / "hullrank"
    with tempfile.TemporaryDirectory() as folder:
        path, model, ranked = (Path(folder) / name for name in ("data.csv", "model.hull", "ranked.csv"))
        make(path, rows)
        commands = {
            "Python: polars.read_csv + fit": [sys.executable, "-c", PYTHON, path],
            "hullrank fit": [hullrank, "fit", path, "--target", "grade", "--out", model, "--force", "--no-cv"],
            "hullrank rank": [hullrank, "rank", model, path, "--out", ranked],
        }
        results = {name: [] for name in commands}
        for _ in range(repeats + 1):
            for name, command in commands.items():
                results[name].append(run(command))
        print(f"{rows:,} rows x 20 columns, {path.stat().st_size / 2**20:.0f} MiB of CSV, best of {repeats}")
        base = best(results["Python: polars.read_csv + fit"])
        for name, runs in results.items():
            wall, busy, memory = best(runs)
            print(
                f"{name:32s} {wall:7.2f} s {wall / base[0]:5.2f}x   {busy:7.2f} s busy {busy / base[1]:5.2f}x   "
                f"peak {memory:6.0f} MiB"
            )


def best(runs):
    """Least of every column, the first run (which may compile) aside."""
    return np.min(runs[1:], axis=0)


if __name__ == "__main__":
    main()
