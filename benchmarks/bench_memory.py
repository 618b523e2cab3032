"""What a linear fit needs beside its time: memory beside X, and compiling at the first fit. One thread.

    python benchmarks/bench_memory.py [--quick]

Times against peers and the floor are lines of ``python -m benchmarks``.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from statistics import median

from harness import THREADS

MEMORY = """
import resource, sys, numpy as np
rng = np.random.default_rng(0)
m = int(sys.argv[1])
X = rng.standard_normal((m, 20)); s = X @ rng.standard_normal(20) + 2 * rng.standard_normal(m)
y = np.searchsorted(np.quantile(s, [.2, .4, .6, .8]), s)
from hullrank import ConvexHullRanker, FixedMarginClassifier
model = FixedMarginClassifier() if sys.argv[2] == "hinge" else ConvexHullRanker()
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
        env={**os.environ, **dict.fromkeys(THREADS, "1"), **environment},
    )
    return float(answer.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    m = 100_000 if parser.parse_args().quick else 1_000_000
    for kind in ("hinge", "squared"):
        print(f"peak extra memory, {kind}, {m:,} x 20: {run(MEMORY, str(m), kind):.2f}x of X", flush=True)
    for name in ("FixedMarginClassifier", "ConvexHullRanker"):
        code = FIRST_FIT.format(name=name)
        with tempfile.TemporaryDirectory() as cache:
            ever = run(code, NUMBA_CACHE_DIR=cache)
            again = median(run(code, NUMBA_CACHE_DIR=cache) for _ in range(3))
        print(f"{name}: first fit ever, beyond a warm fit: {ever:.2f} s; first fit in a new process: {again:.2f} s")


if __name__ == "__main__":
    main()
