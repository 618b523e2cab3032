"""What fits need beside X: the peak of the process's memory, over the size of X, case by case. One thread.

    python benchmarks/bench_memory.py [--quick] [--only WORDS]

Every case runs in a process of its own: a small fit first (which compiles), then the fit that is measured. The last
lines are the time of compiling at a first fit. Times against peers and the floor are lines of ``python -m benchmarks``.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from statistics import median

from harness import THREADS

SETUP = """
import sys, time, warnings, numpy as np
from hullrank import ConvexHullRanker, FixedMarginClassifier, NuMarginClassifier, SwappedPairsRanker
m, n, K, form = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
rng = np.random.default_rng(0)
X = rng.standard_normal((m, n))
s = X @ rng.standard_normal(n) + 2 * rng.standard_normal(m)
y = np.searchsorted(np.quantile(s, np.arange(1, K) / K), s)
del s
weights, few = {}, slice(min(m // 4, 20000))
if form == "float32":
    X = X.astype(np.float32)
elif form == "Fortran":
    X = np.asfortranarray(X)
elif form == "pandas":
    import pandas as pd
    X = pd.DataFrame(X, columns=[f"c{j}" for j in range(n)], copy=True)
elif form == "mixed pandas":
    import pandas as pd
    X = pd.DataFrame({f"c{j}": X[:, j].astype(np.float32 if j % 2 else np.float64) for j in range(n)})
elif form == "polars":
    import polars as pl
    X = pl.DataFrame({f"c{j}": X[:, j] for j in range(n)})
elif form == "zero weights":
    weights = {"sample_weight": (rng.random(m) < 0.9) * 1.0}
size = m * n * (4 if form == "float32" else 8)
def now(): return int(open("/proc/self/statm").read().split()[1]) * 4096
def high():
    return int([line for line in open("/proc/self/status") if line.startswith("VmHWM")][0].split()[1]) * 1024
model = MODEL
warnings.simplefilter("ignore")
model.fit(X[few], y[few], **{name: value[few] for name, value in weights.items()})
open("/proc/self/clear_refs", "w").write("5")
before, began = now(), time.process_time()
model.fit(X, y, **weights)
print((high() - before) / size, (high() - before) / 2**20, time.process_time() - began, model.certificate_.status.value,
      model.certificate_.relative_gap)
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

FORMS = ("C", "Fortran", "float32", "zero weights", "pandas", "mixed pandas", "polars")
EDGES = "ConvexHullRanker(order='full', slack='edge', loss='{}')"
KERNEL = "FixedMarginClassifier(0.1, loss='hinge', kernel='rbf', cache_size=100, tol=1e-3)"
ALL = "FixedMarginClassifier(thresholds='all', loss='{}')"


def cases(m):
    """(model, rows, columns, classes, form of X) of every line."""
    for form in FORMS:
        yield "FixedMarginClassifier(loss='hinge')", m, 20, 5, form
        yield "ConvexHullRanker()", m, 20, 5, form
    for loss in ("hinge", "squared_hinge"):
        for rows in (m // 5, m // 50, m // 250):
            yield EDGES.format(loss), rows, 20, 10, "C"
            yield ALL.format(loss), rows, 20, 10, "C"
        yield ALL.format(loss), m // 5, 20, 50, "C"
    for form in FORMS:
        yield "SwappedPairsRanker()", m, 20, 5, form
    yield "SwappedPairsRanker(loss='squared_hinge')", m, 20, 5, "C"
    yield "SwappedPairsRanker()", m, 20, m, "C"
    yield "NuMarginClassifier()", m, 20, 5, "C"
    for form in ("C", "float32"):
        yield KERNEL, m // 50, 200, 5, form


def run(code, *args, **environment):
    answer = subprocess.run(
        [sys.executable, "-c", code, *args],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **dict.fromkeys(THREADS, "1"), **environment},
    )
    return answer.stdout


def memory_line(model, m, n, n_classes, form):
    """One line of the table."""
    found = run(SETUP.replace("MODEL", model), str(m), str(n), str(n_classes), form).split()
    share, mega, seconds, status, gap = float(found[0]), float(found[1]), float(found[2]), found[3], float(found[4])
    return (
        f"| `{model}` | {m:,} x {n} | {n_classes:,} | {form} | {share:.2f} X | {mega:.0f} MB | {seconds:.1f} s "
        f"| {status}, {gap:.0e} |"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    parser.add_argument("--only", default="", help="only lines with these words")
    args = parser.parse_args()
    print("| model | X | classes | form | memory beside X | the same | CPU | ending |", "|---" * 8 + "|", sep="\n")
    for case in cases(100_000 if args.quick else 1_000_000):
        if args.only in f"{case[0]} {case[1]} {case[3]} {case[4]}":
            print(memory_line(*case), flush=True)
    for name in () if args.only else ("FixedMarginClassifier", "ConvexHullRanker"):
        code = FIRST_FIT.format(name=name)
        with tempfile.TemporaryDirectory() as cache:
            ever = float(run(code, NUMBA_CACHE_DIR=cache))
            again = median(float(run(code, NUMBA_CACHE_DIR=cache)) for _ in range(3))
        print(f"{name}: first fit ever, beyond a warm fit: {ever:.2f} s; first fit in a new process: {again:.2f} s")


if __name__ == "__main__":
    main()
