"""Fit random problems with every estimator that has a certificate, and look for false certificates and crashes.

    python benchmarks/fuzz_certificates.py --problems 20000 [--seed 0] [--jobs 2] [--only NAME] [--large] [--unlisted]

Problems, statements and verdicts are those of the tests (``tests/referee``; ``judge.py`` lists the kinds of failure).
Problem number s is the same in every run; ``--problems 1 --seed s`` repeats it alone. Prints two lines for each failure
and a table of counts. Kinds of failure are marked by "!". Problems declined with a good reason are no failures, nor are
unsolved ones: honest fits whose objective lies above one that is attained, by more than tol and a millionth. Blunt ones
are those whose optimum the referee knows to less than six digits. The exit status is 1 if any failed.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import argparse
import multiprocessing
import sys
import time
from collections import Counter
from multiprocessing.connection import wait
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from hullrank.problem import pairs
from referee.judge import KINDS, Verdict, judge
from referee.random_problems import NAMES, random_case


def work(pipe, options):
    """Judge the problems whose numbers come through the pipe, until it sends None."""
    if options.unlisted:
        pairs.LISTED_PAIRS = -1
    while (seed := pipe.recv()) is not None:
        begin = time.process_time()
        case = random_case(seed, options.only, options.large)
        try:
            verdict = judge(case, options.limit)
        except Exception as error:  # the judge's own fault
            verdict = Verdict(case, "unjudged", [("judge", repr(error))])
        spent = time.process_time() - begin
        lines = [
            *verdict.failures,
            *([("unsolved", verdict.unsolved)] if options.unsolved and verdict.unsolved else []),
        ]
        pipe.send((case.name, str(case), marks(verdict), lines, spent))


def marks(verdict):
    """The columns of the table, other than kinds of failure, in which a problem counts."""
    counted = ["problems", verdict.outcome]
    counted += ["converged"] if verdict.status == "converged" else []
    return counted + [name for name in ("unsolved", "blunt") if getattr(verdict, name)]


class Worker:
    """A process that judges one problem at a time, and can be replaced if it never answers."""

    def __init__(self, options):
        self.options = options
        self.start()

    def start(self):
        self.pipe, theirs = multiprocessing.Pipe()
        self.process = multiprocessing.Process(target=work, args=(theirs, self.options), daemon=True)
        self.process.start()
        theirs.close()
        self.seed = None

    def give(self, seed):
        self.seed, self.since = seed, time.monotonic()
        self.pipe.send(seed)

    def replace(self, reason):
        """End the process; the verdict on the problem that it was at."""
        self.process.kill()
        self.process.join()
        case = random_case(self.seed, self.options.only, self.options.large)
        self.start()
        return case.name, str(case), ["problems"], [(reason, "the process had to be ended")], 0.0


def run(options):
    """The verdicts, in the order in which they come."""
    seeds = iter(range(options.seed, options.seed + options.problems))
    workers = [Worker(options) for _ in range(options.jobs)]
    for worker in workers:
        if (seed := next(seeds, None)) is not None:
            worker.give(seed)
    while busy := [worker for worker in workers if worker.seed is not None]:
        ready = wait([worker.pipe for worker in busy], timeout=5)
        for worker in busy:
            late = time.monotonic() - worker.since > 10 * options.limit + 300 * options.large
            if worker.pipe in ready:
                try:
                    yield worker.pipe.recv()
                except EOFError:
                    yield worker.replace("crash")
            elif late:
                yield worker.replace("slow")
            else:
                continue
            worker.seed = None
            if (seed := next(seeds, None)) is not None:
                worker.give(seed)
    for worker in workers:
        worker.pipe.send(None)
        worker.process.join()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=int, default=1000, help="how many (default 1000)")
    parser.add_argument("--seed", type=int, default=0, help="number of the first problem (default 0)")
    parser.add_argument("--jobs", type=int, default=1, help="processes (default 1)")
    parser.add_argument("--only", choices=NAMES, help="one estimator instead of all")
    parser.add_argument("--large", action="store_true", help="hundreds or thousands of rows instead of 6 to 40")
    parser.add_argument("--unlisted", action="store_true", help="sums over pairs as for many rows, none listed")
    parser.add_argument("--unsolved", action="store_true", help="print honest fits that miss the optimum, too")
    parser.add_argument("--limit", type=float, default=30.0, help="seconds of processor time per fit (default 30)")
    options = parser.parse_args()
    counts, spent, failed = {name: Counter() for name in NAMES}, 0.0, 0
    for name, words, counted, lines, seconds in run(options):
        kinds = {f"!{kind}" for kind, _ in lines if kind != "unsolved"}
        counts[name].update(counted)
        counts[name].update(kinds)
        spent, failed = spent + seconds, failed + bool(kinds)
        for kind, detail in lines:
            print(f"{kind:9}  {detail}\n           {words}", flush=True)
    heads = [
        "problems",
        "graded",
        "converged",
        "declined",
        "unsolved",
        "blunt",
        *(f"!{kind}" for kind in KINDS),
        "!judge",
    ]
    print(f"\n{'estimator':24}" + "".join(f"{head:>11}" for head in heads))
    for name, row in counts.items():
        if row["problems"]:
            print(f"{name:24}" + "".join(f"{row[head]:11}" for head in heads))
    print(f"{failed} of {options.problems} problems failed; {spent / max(options.problems, 1):.3f} s each.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
