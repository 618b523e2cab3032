"""Kernel models against SVC and skordinal: one thread, equal data, ratios from one run.

    python benchmarks/bench_kernel.py [--quick] [--large] [--peers] [--ablation] [--compile] [--threads]

Times are CPU seconds of this process (the least of --repeat), Gram matrix and float64 certificate included, RBF kernel
with gamma="scale", five classes unless said otherwise. Real data are read from the folder HULLRANK_DATA if it is set.
--ablation measures what each trick of the solver earns instead, --compile the first fit with an empty cache of compiled
functions, and --threads wall times with the default number of BLAS threads and with one.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import argparse
import subprocess
import sys
import tempfile
import time
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.svm import SVC

from harness import curved_data, real_data
from hullrank import ConvexHullRanker, FixedMarginClassifier

warnings.filterwarnings("ignore")
REAL = {"stock.csv": None, "abalone.csv": None, "bank32nh.csv.gz": None, "cal_housing.csv.gz": 16_000}

HINGE = {"loss": "hinge", "thresholds": "immediate"}


def seconds(model: BaseEstimator, X, y, repeat=1):
    best = np.inf
    for _ in range(repeat):
        began = time.process_time()
        model.fit(X, y)
        best = min(best, time.process_time() - began)
    return best


def seconds_of_both(ours, theirs, X, y, repeat):
    """Fits of milliseconds swing more than others with what else the machine does: many, and alternating."""
    if len(X) > 2000:
        return seconds(ours, X, y, repeat), seconds(theirs, X, y, repeat)
    return np.min([(seconds(ours, X, y), seconds(theirs, X, y)) for _ in range(30 * repeat)], axis=0)


def against_svc(name, X, y, C, repeat):
    ours = FixedMarginClassifier(C, **HINGE, kernel="rbf", tol=1e-4)
    mine, theirs = seconds_of_both(ours, SVC(C=C), X, y, repeat)
    gap = ours.certificate_.relative_gap
    print(f"{name:<28}{C:>7g}{mine:>9.3f}{theirs:>9.3f}{mine / theirs:>8.2f}   gap {gap:.0e}", flush=True)
    return mine


def against_skordinal(X, y, C, mine):
    from skordinal.classifiers import REDSVM, SVOR

    for peer in (REDSVM(C=C), SVOR(C=C, constraints="explicit")):
        theirs = seconds(peer, X, y)
        name = type(peer).__name__
        print(f"{'':<28}{C:>7g}{mine:>9.3f}{theirs:>9.3f}   {name} is {theirs / mine:.0f}x slower", flush=True)


def tight_gap(m):
    X, y = curved_data(m)
    times = [seconds(ConvexHullRanker(C=10, kernel="rbf", tol=tol), X, y) for tol in (1e-3, 1e-6)]
    print(f"ConvexHullRanker m = {m}, C = 10: gap 1e-6 costs {times[1] / times[0]:.2f} x gap 1e-3 ({times[0]:.2f} s)")


def memory(m, C):
    """Peak of what a fit allocates, less the float32 kernel matrix, as a share of it."""
    X, y = curved_data(m)
    gram = 4 * m * m
    tracemalloc.start()
    FixedMarginClassifier(C, **HINGE, kernel="rbf", tol=1e-4).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    print(f"memory beside the kernel matrix, m = {m}, C = {C:g}: {(peak - gram) / gram:.1%} of it", flush=True)


FIT = """
import sys, time, warnings
sys.path.insert(0, sys.argv[1])
warnings.filterwarnings("ignore")
from sklearn.svm import SVC
from harness import curved_data
from hullrank import FixedMarginClassifier
X, y = curved_data(int(sys.argv[2]))
hinge = FixedMarginClassifier(1.0, loss="hinge", thresholds="immediate", kernel="rbf", tol=1e-4)
for model in (hinge, SVC(C=1.0))[: int(sys.argv[4])]:
    least = float("inf")
    for _ in range(int(sys.argv[3])):
        wall, cpu = time.perf_counter(), time.process_time()
        model.fit(X, y)
        if time.perf_counter() - wall < least:
            least, used = time.perf_counter() - wall, time.process_time() - cpu
    print(least, used)
"""


def fit_elsewhere(m, repeat, contestants=1, **environment):
    """Least wall time of some fits in a new process, ours and then SVC's, with its CPU time."""
    command = [sys.executable, "-c", FIT, str(Path(__file__).parent), str(m), str(repeat), str(contestants)]
    answer = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=True)
    return [tuple(map(float, line.split())) for line in answer.stdout.splitlines()]


def compile_time():
    for state in ("an empty cache", "a filled cache"):
        with tempfile.TemporaryDirectory() as folder:
            if state == "a filled cache":
                fit_elsewhere(500, 1, NUMBA_CACHE_DIR=folder)
            wall, cpu = fit_elsewhere(500, 1, NUMBA_CACHE_DIR=folder)[0]
            print(f"first fit of a process, {state}: {wall:.3f} s wall, {cpu:.3f} s CPU", flush=True)


def threads():
    """Wall times with the default number of BLAS threads and with one, idle and beside a busy process."""
    for busy in (0, 1):
        others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(busy)]
        try:
            for m in (3000, 4000, 6000):
                walls = {}
                for number in (str(os.cpu_count()), "1"):
                    limits = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), number)
                    (ours, cpu), (svc, _) = fit_elsewhere(m, 7, 2, **limits)
                    walls[number] = ours
                    print(
                        f"m = {m}, {number} BLAS threads, {busy} busy: {ours:.3f} s wall, {cpu:.3f} s CPU, "
                        f"{ours / svc:.2f} of SVC",
                        flush=True,
                    )
                print(f"m = {m}, {busy} busy: default / one thread {walls[str(os.cpu_count())] / walls['1']:.2f}")
        finally:
            for other in others:
                other.kill()


def ablation(repeat):
    import ablation_kernel

    problems = [("synthetic:2000", 1.0), ("synthetic:2000", 10.0), ("two-classes:8000", 1.0)]
    problems += [("synthetic:8000", 1.0), ("synthetic:8000", 10.0)]
    if "HULLRANK_DATA" in os.environ:
        problems += [("stock.csv", 100.0), ("abalone.csv", 100.0)]
    ablation_kernel.main(problems, repeat)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="only m = 2000")
    parser.add_argument("--large", action="store_true", help="also C = 100 and 1000 at m = 8000, and m = 16000")
    parser.add_argument("--peers", action="store_true", help="also skordinal")
    parser.add_argument("--ablation", action="store_true", help="only: what each trick of the solver earns")
    parser.add_argument("--compile", action="store_true", help="only: the first fit with an empty cache")
    parser.add_argument("--threads", action="store_true", help="only: default BLAS threads against one")
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    if options.ablation:
        ablation(options.repeat)
    elif options.compile:
        compile_time()
    elif options.threads:
        threads()
    else:
        speed(options)


def speed(options):
    FixedMarginClassifier(1.0, **HINGE, kernel="rbf").fit(*curved_data(200))  # compile
    few = min(2, options.repeat)  # of the largest problems; the first fit also maps fresh memory
    print(f"{'data':<28}{'C':>7}{'ours/s':>9}{'SVC/s':>9}{'ratio':>8}")
    for m in (2000,) if options.quick else (2000, 8000):
        X, y = curved_data(m)
        for C in (1.0, 10.0):
            mine = against_svc(f"synthetic {m}", X, y, C, options.repeat)
            if options.peers:
                against_skordinal(X, y, C, mine)
    against_svc("synthetic 2000, binary", *curved_data(2000, 2), 1.0, options.repeat)
    if not options.quick:
        against_svc("synthetic 8000, binary", *curved_data(8000, 2), 1.0, options.repeat)
        tight_gap(8000)
        for C in (1.0, 10.0, 100.0, 1000.0) if options.large else (1.0, 10.0):
            memory(8000, C)
    if options.large:
        for C in (100.0, 1000.0):
            against_svc("synthetic 8000", *curved_data(8000), C, few)
        for C in (1.0, 10.0):
            against_svc("synthetic 16000", *curved_data(16000), C, few)
    if "HULLRANK_DATA" in os.environ and not options.quick:
        for name, rows in REAL.items():
            X, y = real_data(name, rows)
            for C in (1.0, 10.0, 100.0, 1000.0) if options.large else (1.0, 10.0):
                against_svc(f"{name.split('.')[0]} {len(X)}", X, y, C, few if len(X) > 10_000 else options.repeat)


if __name__ == "__main__":
    main()
