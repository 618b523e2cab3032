"""Everything in one run: ``python -m benchmarks [--quick] [--only linear kernels] [--out folder]``.

Every contest runs twice, in processes of their own: with the default number of BLAS threads, and with one. Results go
to the folder (docs/benchmarks) as results.json (quick.json), with a page and pictures beside it, and are compared
with the last committed run.
``--busy`` keeps one other process busy meanwhile. Needs ``pip install "hullrank[bench]"`` and, for real data, the
folder of data sets in HULLRANK_DATA.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import warnings
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from harness import THREADS, in_turn
from hullrank._threads import one_blas_thread

GROWTH, WALLS = "growth", "threads"


def on_one_thread(action):
    """The action with BLAS limited to one thread from outside: in turn with it, the wall clock tells threads' worth."""

    def limited():
        with one_blas_thread():
            return action()

    return limited


def measured(suite, quick):
    """The contests of a suite, in this process; those of a group are timed in turn with each other and their peers."""
    from contests import SUITES

    for group, members in groupby(SUITES[suite](quick), key=lambda contest: contest.group):
        contests = list(members)
        actions = {contest.name: contest.ours for contest in contests}
        actions |= {(name, peer): peer for contest in contests for name, peer in contest.peers.items()}
        actions |= {("one thread", contest.name): on_one_thread(contest.ours) for contest in contests}
        print(group, file=sys.stderr, flush=True)
        found = in_turn(actions, (0.3 if quick else 2.0) * len(actions))
        for contest in contests:
            ours = found[contest.name]
            peers = {name: found[name, peer] for name, peer in contest.peers.items()}
            certificate = getattr(contest.model, "certificate_", None)
            yield {
                "group": group,
                "name": contest.name,
                "wall": ours.wall,
                "wall_on_one_thread": found["one thread", contest.name].wall,
                "cpu": ours.cpu,
                "peers": {name: theirs.cpu / ours.cpu for name, theirs in peers.items()},
                "peer_walls": {name: theirs.wall / ours.wall for name, theirs in peers.items()},
                "floor": contest.floor,
                "gap": None if certificate is None else certificate.relative_gap,
            }


def grown(quick):
    """The series of growth, in this process."""
    from growth import series

    for each in series(quick):
        yield {"axis": each.axis, "name": each.name, "sizes": each.sizes, "seconds": each.seconds}
        print(f"{each.axis}: {each.name}, exponent {each.exponent:.2f}", file=sys.stderr, flush=True)


def one_part(part, quick):
    """What a process of its own measures."""
    if part == WALLS:
        from growth import walls

        return walls(quick)
    return grown(quick) if part == GROWTH else measured(part, quick)


def by_threads(quick):
    """The same fits with 1, 2, 4, ... BLAS threads, one series each."""
    numbers = sorted({min(2**k, os.cpu_count()) for k in range(os.cpu_count().bit_length() + 1)})
    runs = [dict(elsewhere(WALLS, quick, number)) for number in numbers]
    return [
        {"axis": "threads", "name": name, "sizes": numbers, "seconds": [run[name] for run in runs]} for name in runs[0]
    ]


def elsewhere(part, quick, threads):
    """The results of a part from a new process with so many BLAS threads (None: the default)."""
    environment = {key: value for key, value in os.environ.items() if key not in THREADS}
    environment |= dict.fromkeys(THREADS, str(threads)) if threads else {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "part.json"
        command = [sys.executable, str(HERE / "__main__.py"), "--part", part, "--into", str(path)]
        subprocess.run(command + ["--quick"] * quick, env=environment, check=True)
        return json.loads(path.read_text())


def both(part, quick):
    """The results of a part with one thread and with the default, or how it grows, also with the number of threads."""
    one = elsewhere(part, quick, 1)
    if part == GROWTH:
        return {"one": one + by_threads(quick)}
    return {"one": one, "default": elsewhere(part, quick, None)}


@contextmanager
def busy(wanted):
    """One process that does nothing but keep a core busy, if wanted."""
    if not wanted:
        yield
        return
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        process.kill()
        process.wait()


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.splitlines()[0])
    parts = ["linear", "pairs", "kernels", "metrics", GROWTH]
    parser.add_argument("--quick", action="store_true", help="fewer rows and repeats; writes quick.json")
    parser.add_argument(
        "--only", nargs="+", choices=parts, default=parts, help="some parts; others are kept as they are"
    )
    parser.add_argument("--busy", action="store_true", help="beside a process that keeps one core busy")
    parser.add_argument("--out", type=Path, default=HERE.parent / "docs" / "benchmarks")
    parser.add_argument("--part", choices=[*parts, WALLS], help=argparse.SUPPRESS)
    parser.add_argument("--into", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part:
        warnings.filterwarnings("ignore")
        options.into.write_text(json.dumps(list(one_part(options.part, options.quick))))
        return
    from report import compared, run_record, write

    results = {}
    name = "quick.json" if options.quick else "results.json"
    try:
        with busy(options.busy):
            for part in options.only:
                results[part] = both(part, options.quick)
    finally:  # an error, or Ctrl-C, keeps the parts that are done
        record = run_record(results, options.quick, options.busy)
        print("\n".join(compared(record, options.out / name)))
        write(record, options.out, name)


if __name__ == "__main__":
    main()
