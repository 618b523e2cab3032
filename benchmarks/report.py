"""The results of a run as JSON, a page and pictures, and their comparison with the last committed run."""

import json
import os
import platform
import subprocess
from datetime import date
from pathlib import Path

from growth import AXES, Series, draw

CHANGED = 0.1  # ratios that differ by more than this share are shown as changes


def run_record(results, quick, busy):
    """What was measured, when and where."""
    import numpy as np
    import sklearn

    import hullrank

    return {
        "date": date.today().isoformat(),
        "commit": git("rev-parse", "--short", "HEAD"),
        "quick": quick,
        "busy": busy,
        "machine": f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, {platform.system()}",
        "load": round(os.getloadavg()[0], 1),
        "versions": {"hullrank": hullrank.__version__, "numpy": np.__version__, "scikit-learn": sklearn.__version__},
        "results": results,
    }


def git(*arguments):
    """What git answers, or nothing where there is no repository."""
    answer = subprocess.run(["git", *arguments], capture_output=True, text=True, cwd=Path(__file__).parent)
    return answer.stdout.strip() if answer.returncode == 0 else ""


def last_committed(path):
    """The record of the last committed run, or None."""
    text = git("show", f"HEAD:./{os.path.relpath(path, Path(__file__).parent)}")
    return json.loads(text) if text else None


def contests(record):
    """(group, name): (its result on one thread, on the default number of threads)."""
    for part in record["results"].values():
        for one, default in zip(part["one"], part.get("default", []), strict=False):
            yield (one["group"], one["name"]), (one, default)


def compared(record, path):
    """Lines that tell which ratios to peers changed since the last committed run."""
    before = last_committed(path)
    if before is None:
        yield "no committed run to compare with"
        return
    known = dict(contests(before))
    yield f"compared with the run of {before['date']} ({before['commit']}), changes of more than {CHANGED:.0%}:"
    for key, (one, _) in contests(record):
        if key not in known:
            continue
        for peer, ratio in one["peers"].items():
            old = known[key][0]["peers"].get(peer)
            if old and abs(ratio / old - 1) > CHANGED:
                word = "faster" if ratio > old else "SLOWER"
                yield f"  {key[0]}: {key[1]} against {peer}: {old:.2f} -> {ratio:.2f} ({word})"


def write(record, folder, name):
    """JSON, the page and the pictures; parts that were not run are kept from the file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    if path.is_file():
        record["results"] = json.loads(path.read_text())["results"] | record["results"]
    path.write_text(json.dumps(record, indent=1) + "\n")
    found = [
        Series(each["axis"], each["name"], each["sizes"], each["seconds"])
        for each in record["results"].get("growth", {}).get("one", [])
    ]
    axes = [axis for axis in AXES if any(each.axis == axis for each in found)]
    for axis in axes:
        draw([each for each in found if each.axis == axis], axis, folder / f"{axis}.svg")
    (folder.parent / "benchmarks.md").write_text("\n".join(page(record, found, axes)) + "\n")


def ratio(value, is_floor):
    """How many times faster we are, or how many times slower than the floor."""
    if value is None:
        return ""
    return f"{1 / value:.1f}" if is_floor else f"{value:.2f}x"


def page(record, found, axes):
    """The page: a table per group of contests, then the pictures."""
    yield "# Benchmarks"
    yield ""
    command = f"python -m benchmarks{' --quick' * record['quick']}{' --busy' * record['busy']}"
    yield (
        f"Written by `{command}` on {record['date']} "
        f"({record['machine']}, load {record['load']} at the end, commit {record['commit']}). First come wall "
        "times with the default number of BLAS threads, as a user sees them, and that over the time with one, measured "
        "in turn; then our CPU time on one thread. A figure under a peer's name is its CPU time on one thread over "
        "ours: how many times faster we are."
    )
    groups = {}
    for (group, _), pair in contests(record):
        groups.setdefault(group, []).append(pair)
    for group, lines in groups.items():
        peers = list(dict.fromkeys(peer for one, _ in lines for peer in one["peers"]))
        floors = {one["floor"] for one, _ in lines}
        titles = [f"times as long as {peer}" if peer in floors else peer for peer in peers]
        yield from ("", f"## {group[0].upper()}{group[1:]}", "")
        yield "| | wall, default threads | of one thread | CPU | " + " | ".join(titles) + " |"
        yield "|---|---|---|---|" + "---|" * len(titles)
        for one, default in lines:
            ratios = [ratio(one["peers"].get(peer), peer in floors) for peer in peers]
            share = f"{default['wall'] / default['wall_on_one_thread']:.2f}"
            cells = [one["name"], f"{1e3 * default['wall']:.2f} ms", share, f"{1e3 * one['cpu']:.2f} ms", *ratios]
            yield "| " + " | ".join(cells) + " |"
    for axis in axes:
        yield from ("", f"## Growth with {axis}", "", f"![CPU seconds over {axis}](benchmarks/{axis}.svg)", "")
        yield f"| | largest | {'wall' if axis == 'threads' else 'CPU'} seconds there | exponent in {axis} |"
        yield "|---|---|---|---|"
        for each in (one for one in found if one.axis == axis):
            yield f"| {each.name} | {each.sizes[-1]:,} | {each.seconds[-1]:.3g} | {each.exponent:.2f} |"
