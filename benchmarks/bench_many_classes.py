"""Many classes: every case is solved, or refused with the reason, within 60 s and 2 GB. One thread.

    python benchmarks/bench_many_classes.py [--only WORDS]

Every case runs in a process of its own, whose peak of memory is that of the whole process, with X and all libraries.
"""

import argparse
import os
import subprocess
import sys

from harness import THREADS

RUN = """
import resource, sys, time, warnings, numpy as np
from hullrank import (
    ConvexHullRanker, FixedMarginClassifier, NuMarginClassifier, OrderGraph, SumOfMarginsClassifier)
from hullrank.exceptions import HullrankError
m, n, K = map(int, sys.argv[1:4])
rng = np.random.default_rng(0)
X = rng.standard_normal((m, n))
s = X @ rng.standard_normal(n) + rng.standard_normal(m)
y = np.argsort(np.argsort(s)) * K // m
if sys.argv[4] == "star":  # the lowest class lies below each of all others
    order = OrderGraph.from_edges([(0, k) for k in range(1, K)])
warnings.simplefilter("ignore")
wall, cpu = time.perf_counter(), time.process_time()
try:
    certificate = (MODEL).fit(X, y).certificate_
    ending = f"{certificate.status.value}, {certificate.relative_gap:.0e}, {certificate.iterations} iterations"
except HullrankError as error:
    ending = f"refused: {error}"
print(time.perf_counter() - wall, time.process_time() - cpu,
      resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, ending, sep="|")
"""

HINGES = ("hinge", "squared_hinge")
FIXED, HULL = "FixedMarginClassifier(thresholds='{}', loss='{}')", "ConvexHullRanker(order={}, loss='{}')"
CASES = (
    *((FIXED.format("immediate", loss), 100_000, 5, 100_000, "chain") for loss in HINGES),
    *((HULL.format("'chain'", loss), 100_000, 5, 100_000, "chain") for loss in HINGES),
    ("ConvexHullRanker(loss='logistic')", 100_000, 5, 100_000, "chain"),
    *((f"ConvexHullRanker(penalty='l1', loss='{loss}')", 100_000, 5, 100_000, "chain") for loss in HINGES),
    *((model, 100_000, 5, 100_000, "chain") for model in ("NuMarginClassifier()", "SumOfMarginsClassifier()")),
    *((HULL.format("'full'", loss), 20_000, 10, 2000, "complete") for loss in HINGES),
    *((HULL.format("order", loss), 50_000, 10, 10_000, "star") for loss in (*HINGES, "logistic")),
    *((FIXED.format("all", loss), 20_000, 10, 2000, "chain") for loss in (*HINGES, "logistic")),
    *((FIXED.format("all", loss), 2000, 10, 2000, "chain") for loss in (*HINGES, "logistic")),
    *((FIXED.format("immediate", loss), 5000, 8, 5000, "real targets") for loss in HINGES),
    *((HULL.format("'chain'", loss), 5000, 8, 5000, "real targets") for loss in HINGES),
)


def line(model, m, n, n_classes, order):
    """One line of the table."""
    answer = subprocess.run(
        [sys.executable, "-c", RUN.replace("MODEL", model), str(m), str(n), str(n_classes), order],
        capture_output=True, text=True, check=True, env={**os.environ, **dict.fromkeys(THREADS, "1")},
    )  # fmt: skip
    wall, cpu, mega, ending = answer.stdout.strip().split("|", 3)
    times = f"{float(wall):.1f} s | {float(cpu):.1f} s"
    return f"| `{model}` | {m:,} x {n} | {n_classes:,} | {order} | {times} | {float(mega):.0f} MB | {ending} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="only lines with these words")
    args = parser.parse_args()
    print("| model | X | classes | order | time | CPU | memory | ending |\n|---|---|---|---|---|---|---|---|")
    for case in CASES:
        if args.only in " ".join(map(str, case)):
            print(line(*case), flush=True)


if __name__ == "__main__":
    main()
