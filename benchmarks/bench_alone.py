"""Linear fits and their peers on California housing, each in a new process of its own, and with memory kept.

    HULLRANK_DATA=... python benchmarks/bench_alone.py [--turns 3]

The same fit of a peer takes two to three times as long in a new process as in one that has freed a large array before.
glibc hands the memory of freed temporaries back to the system whenever more than twice its largest freed block lies at
the end of the heap, and asks for it again at the next temporary: mord's fits then cost more than 100,000 page faults.
Once an array of some megabytes has been freed, glibc keeps that much. So every contestant is timed both ways: ``new``,
and ``kept`` with the two limits of glibc set to a gigabyte from outside. Both are least CPU times on one thread.
"""

import argparse
import os
import subprocess
import sys
import warnings
from time import process_time

from contests import CLASS_BASED
from harness import THREADS, california

KEPT = {"MALLOC_TRIM_THRESHOLD_": str(1 << 30), "MALLOC_MMAP_THRESHOLD_": str(1 << 30)}
PEERS = ["mord LogisticAT", "mord LogisticIT", "LinearSVC"]


def contestant(name):
    """A function that makes a new estimator of that name."""
    if name in CLASS_BASED:
        return CLASS_BASED[name]
    import mord
    from sklearn.svm import LinearSVC

    return LinearSVC if name == "LinearSVC" else getattr(mord, name.split()[1])


def least_seconds(name, seconds):
    """Least CPU time of as many fits as take about so many seconds, five at least, after one that compiles."""
    X, y, _ = california()
    make, times, began = contestant(name), [], process_time()
    while len(times) < 6 or process_time() - began < seconds:
        start = process_time()
        make().fit(X, y)
        times.append(process_time() - start)
    return min(times[1:])


def alone(name, kept):
    """The same in a new process."""
    environment = os.environ | dict.fromkeys(THREADS, "1") | (KEPT if kept else {})
    command = [sys.executable, __file__, "--one", name]
    return float(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=3, help="processes of every contestant")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        warnings.simplefilter("ignore")
        print(least_seconds(options.one, 1.0))
        return
    names = [*PEERS, *CLASS_BASED]
    runs = [{(name, kept): alone(name, kept) for kept in (0, 1) for name in names} for _ in range(options.turns)]
    least = {key: min(run[key] for run in runs) for key in runs[0]}
    print("| | new | " + " | ".join(PEERS) + " | kept | " + " | ".join(PEERS) + " |")
    print("|---|" + "---|" * (2 + 2 * len(PEERS)))
    for name in names:
        halves = [
            f"{1e3 * least[name, kept]:.1f} ms | "
            + " | ".join(f"{least[peer, kept] / least[name, kept]:.1f}x" for peer in PEERS)
            for kept in (0, 1)
        ]
        print(f"| {name} | {' | '.join(halves)} |")


if __name__ == "__main__":
    main()
