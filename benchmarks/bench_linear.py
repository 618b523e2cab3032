"""Linear class-based models against their peers and against the floor, from one run on one thread.

    python benchmarks/bench_linear.py [--quick]

needs `pip install "hullrank[bench]"` and, for California housing, the folder of data sets in HULLRANK_DATA (a synthetic
set of the same size stands in without it). Times are CPU seconds of one thread, the median of five runs (of fifty where
a fit takes some milliseconds); what counts are the ratios.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import resource
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from statistics import median
from time import process_time

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.svm import LinearSVC

from hullrank import ConvexHullRanker, FixedMarginClassifier

warnings.filterwarnings("ignore")


def cpu_seconds(action, repeats=5):
    action()  # compile, map memory
    times = []
    for _ in range(repeats):
        began = process_time()
        action()
        times.append(process_time() - began)
    return median(times)


def five_grades(values):
    return np.searchsorted(np.quantile(values, [0.2, 0.4, 0.6, 0.8]), values)


def synthetic(m, n=20, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, n))
    return X, five_grades(X @ rng.standard_normal(n) + 2 * rng.standard_normal(m))


def california():
    path = Path(os.environ.get("HULLRANK_DATA", "")) / "cal_housing.csv.gz"
    if not path.is_file():
        return (*synthetic(20640, 8), "synthetic 20640 x 8")
    table = np.loadtxt(path, delimiter=",", skiprows=1)
    X = table[:, :-1]
    return (X - X.mean(axis=0)) / X.std(axis=0), five_grades(table[:, -1]), "California housing 20640 x 8"


def models(tol=1e-6):
    return {
        "FixedMarginClassifier (hinge)": FixedMarginClassifier(1.0, loss="hinge", thresholds="immediate", tol=tol),
        "FixedMarginClassifier (squared)": FixedMarginClassifier(1.0, thresholds="immediate", tol=tol),
        "ConvexHullRanker (hinge)": ConvexHullRanker(C=1.0, loss="hinge", tol=tol),
        "ConvexHullRanker (squared)": ConvexHullRanker(C=1.0, tol=tol),
    }


def table(console, title, columns, rows):
    printed = Table(title=title, title_justify="left")
    for column in columns:
        printed.add_column(column, justify="left" if column == columns[0] else "right", no_wrap=True)
    for row in rows:
        printed.add_row(*row)
    console.print(printed)


def against_peers(console, repeats):
    from mord import LogisticAT
    from skordinal.classifiers import SVOR

    X, y, name = california()
    few = slice(0, 4000)
    peers = {
        "mord LogisticAT": cpu_seconds(lambda: LogisticAT().fit(X, y), repeats),
        "LinearSVC": cpu_seconds(lambda: LinearSVC().fit(X, y), repeats),
    }
    slow = cpu_seconds(lambda: SVOR(kernel="linear").fit(X[few], y[few]), repeats)
    rows = []
    for label, model in models().items():
        ours = cpu_seconds(lambda model=model: model.fit(X, y), repeats)
        gap = model.certificate_.relative_gap
        part = cpu_seconds(lambda model=model: model.fit(X[few], y[few]), 10 * repeats)
        rows.append(
            (
                label,
                f"{1e3 * ours:.1f} ms",
                f"{gap:.0e}",
                *(f"{t / ours:.1f}x" for t in peers.values()),
                f"{slow / part:.0f}x",
            )
        )
    columns = ("", "CPU", "gap", *(f"{peer} ({1e3 * t:.0f} ms)" for peer, t in peers.items()), "SVOR, first 4000 rows")
    table(console, f"(a) {name}, five grades: how many times faster than", columns, rows)


def against_the_floor(console, repeats, m):
    X, y = synthetic(m)
    gram = cpu_seconds(lambda: X.T @ X, 9)
    tenth = m // 10
    rows = []
    for label, model in models().items():
        whole = cpu_seconds(lambda model=model: model.fit(X, y), repeats)
        gap = model.certificate_.relative_gap
        part = cpu_seconds(lambda model=model: model.fit(X[:tenth], y[:tenth]), repeats)
        rows.append((label, f"{whole:.2f} s", f"{gap:.0e}", f"{whole / gram:.1f}", f"{whole / part:.1f}x"))
    columns = ("", "CPU", "gap", f"X'X products ({1e3 * gram:.0f} ms)", "times 1/10 of the rows")
    table(console, f"(b, c) synthetic {m:,} x 20, five classes", columns, rows)


def small_data(console, repeats):
    X, y, name = california()
    X, y = X[:400], y[:400]
    peer = cpu_seconds(lambda: LinearSVC().fit(X, y), 10 * repeats)
    rows = []
    for label, model in models().items():
        ours = cpu_seconds(lambda model=model: model.fit(X, y), 10 * repeats)
        rows.append((label, f"{1e3 * ours:.2f} ms", f"{ours / peer:.2f}x"))
    table(console, f"(d) the first 400 rows of {name}", ("", "CPU", f"time of LinearSVC ({1e3 * peer:.2f} ms)"), rows)


MEMORY = """
import resource, sys, numpy as np
rng = np.random.default_rng(0)
m = int(sys.argv[1])
X = rng.standard_normal((m, 20)); s = X @ rng.standard_normal(20) + 2 * rng.standard_normal(m)
y = np.searchsorted(np.quantile(s, [.2, .4, .6, .8]), s)
from hullrank import ConvexHullRanker, FixedMarginClassifier
hinge = FixedMarginClassifier(1.0, loss="hinge", thresholds="immediate")
model = hinge if sys.argv[2] == "hinge" else ConvexHullRanker(C=1.0)
model.fit(X[:20000], y[:20000])
del s
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
def now(): return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()
open("/proc/self/clear_refs", "w").write("5")
def high():
    return int([line for line in open("/proc/self/status") if line.startswith("VmHWM")][0].split()[1]) * 1024
before = now(); model.fit(X, y); print((high() - before) / X.nbytes)
"""

FIRST_FIT = """
import time
import numpy as np
from hullrank import {name}
rng = np.random.default_rng(0)
X = rng.standard_normal((400, 8)); y = np.argsort(np.argsort(X[:, 0] + rng.standard_normal(400))) * 5 // 400
times = []
for _ in range(4):
    began = time.process_time(); {name}().fit(X, y); times.append(time.process_time() - began)
print(times[0] - min(times[1:]))
"""


def run(code, *args, **environment):
    answer = subprocess.run(
        [sys.executable, "-c", code, *args],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **environment},
    )
    return float(answer.stdout)


def memory_and_first_fits(console, m):
    rows = [
        (f"peak extra memory, {kind}, {m:,} x 20", f"{run(MEMORY, str(m), kind):.2f}x of X")
        for kind in ("hinge", "squared")
    ]
    for name in ("FixedMarginClassifier", "ConvexHullRanker"):
        code = FIRST_FIT.format(name=name)
        with tempfile.TemporaryDirectory() as cache:
            ever = run(code, NUMBA_CACHE_DIR=cache)
            again = median(run(code, NUMBA_CACHE_DIR=cache) for _ in range(3))
        rows.append((f"{name}: first fit ever, beyond the warm fit", f"{ever:.2f} s"))
        rows.append((f"{name}: first fit in a new process", f"{again:.2f} s"))
    table(console, "(b, e) memory and compiling", ("", ""), rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows and one repeat")
    quick = parser.parse_args().quick
    console, repeats, m = Console(width=150), 1 if quick else 5, 100_000 if quick else 1_000_000
    against_peers(console, repeats)
    against_the_floor(console, repeats, m)
    small_data(console, repeats)
    memory_and_first_fits(console, m)
    console.print(f"peak memory of this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GB")
