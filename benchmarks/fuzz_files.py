"""Feed damaged and hostile files to the readers: each is read or refused, quickly, in bounded memory, running nothing.

    python benchmarks/fuzz_files.py --inputs 100000 [--seed 0] [--only models|tables] [--quick]

Model files are mutated as bytes, and as header trees and arrays that are signed anew (so that the digest does not stop
them early); tables are mutated in every format. Anything but a HullrankError, an input that takes more than two seconds
of processor time, more than 1 GiB beyond the start, or a process started ends the run with the offending input on disk.
"""

import argparse
import copy
import gzip
import hashlib
import io
import json
import os
import random
import resource
import signal
import sys
import tempfile
import time
import warnings
import zipfile
from pathlib import Path

import numpy as np
import polars as pl

import hullrank
from hullrank.exceptions import HullrankError
from hullrank.io import TableEncoder, read_model, read_table, save

FORBIDDEN = ("os.system", "subprocess.Popen", "os.exec", "os.posix_spawn", "pickle.find_class", "socket.connect")
PIECES = [b"\0", b"\n", b",", b'"', b"\xff\xfe", b"9" * 400, b"1e999", b"nan", b":", b"{", b"["]
NAMES = ["coef_", "fit", "__class__", "_anchors", "memory", "n", "class", "edges", "x"]
WORDS = [None, True, 0, -1, 1e308, "", "x", [], {}, "$", "array", "full", 2**63, {"$": "array", "n": 0}]


def seeds_of_models(folder):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    frame = pl.DataFrame({"a": X[:, 0], "b": np.tile(["u", "v"], 20)})
    from sklearn.pipeline import Pipeline

    models = [
        hullrank.ConvexHullRanker().fit(X, y),
        hullrank.FixedMarginClassifier(kernel="rbf").fit(X, y),
        Pipeline([("t", TableEncoder()), ("m", hullrank.ConvexHullRanker(order="0 < 1 < 2"))]).fit(frame, y),
        hullrank.OrdinalCalibrator(hullrank.FixedMarginClassifier(), cv=2).fit(X, y),
    ]
    for i, model in enumerate(models):
        save(model, folder / f"{i}.hull")
    return [(folder / f"{i}.hull").read_bytes() for i in range(len(models))], (X, frame)


def seeds_of_tables():
    frame = pl.DataFrame({"a": [1, 2, 3], "b": [0.5, None, 2.0], "c": ["x", "y, z", 'q"']})
    csv = frame.write_csv().encode()
    parquet, arrow = io.BytesIO(), io.BytesIO()
    frame.write_parquet(parquet)
    frame.write_ipc(arrow)
    svm = b"1 qid:1 1:0.5 3:2\n2 qid:1 2:1 # note\n"
    lines = frame.write_ndjson().encode()
    return {
        "csv": csv, "tsv": csv.replace(b",", b"\t"), "csv.gz": gzip.compress(csv), "jsonl": lines,
        "parquet": parquet.getvalue(), "arrow": arrow.getvalue(), "svm": svm, "": csv,
    }  # fmt: skip


def mutate_bytes(data, rng, other):
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 5, 20])):
        kind, at = rng.randrange(6), rng.randrange(len(data) + 1)
        if kind == 0 and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            data[at:at] = bytes(rng.randrange(256) for _ in range(rng.randrange(1, 9)))
        elif kind == 2:
            del data[at : at + rng.randrange(1, 30)]
        elif kind == 3:
            data[at:at] = rng.choice(
                [b"\0", b"\n", b",", b'"', b"\xff\xfe", b"9" * 400, b"1e999", b"nan", b":", b"{", b"["]
            )
        elif kind == 4:
            start = rng.randrange(len(other) + 1)
            data[at:at] = other[start : start + rng.randrange(1, 60)]
        else:
            del data[at:]
    return bytes(data)


def mutate_model(data, rng):
    """Change the header tree or an array, and sign the result anew."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {info.filename: archive.read(info) for info in archive.infolist()}
    members.pop("SHA256")
    if rng.random() < 0.75:
        header = json.loads(members["header.json"])
        for _ in range(rng.choice([1, 1, 2, 4])):
            mutate_tree(header, rng)
        members["header.json"] = json.dumps(header).encode()
    else:
        name = rng.choice([name for name in members if name.endswith("npy")])
        members[name] = mutate_bytes(members[name], rng, members[name])
    members["SHA256"] = "".join(f"{hashlib.sha256(d).hexdigest()}  {n}\n" for n, d in members.items()).encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def mutate_tree(tree, rng):
    """Replace, drop, double or swap a random branch."""
    node = tree
    while True:
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        if not keys:
            return
        key = rng.choice(keys)
        if isinstance(node[key], dict | list) and node[key] and rng.random() < 0.85:
            node = node[key]
            continue
        kind = rng.randrange(4)
        if kind == 0:
            node[key] = copy.deepcopy(rng.choice(WORDS))
        elif kind == 1:
            del node[key]
        elif kind == 2 and isinstance(node, dict):
            node[rng.choice(["coef_", "fit", "__class__", "_anchors", "memory", "n", "class", "edges", "x"])] = node[
                key
            ]
        else:
            other = rng.choice(keys)
            node[key], node[other] = node[other], node[key]
        return


def watch():
    """Stop at anything that starts a process or unpickles."""
    armed = {"on": False}

    def hook(event, arguments):
        if armed["on"] and event.startswith(FORBIDDEN):
            print(f"FORBIDDEN: {event} {arguments}", flush=True)
            os._exit(3)

    sys.addaudithook(hook)
    return armed


def too_slow(number, frame):
    raise TimeoutError("more than two seconds for one input")


def attempt(run, data, path):
    """True if read, False if refused; anything else is kept and raised."""
    path.write_bytes(data)
    signal.setitimer(signal.ITIMER_PROF, 2.0)
    try:
        run(path)
        return True
    except HullrankError:
        return False
    except BaseException:
        Path("fuzz-found").write_bytes(data)
        print(f"FOUND by {path.name}; kept in fuzz-found", flush=True)
        raise
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=100_000, help="inputs for each of the two families")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=["models", "tables"], help="one family alone")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    n = 2_000 if options.quick else options.inputs
    rng = random.Random(options.seed)
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGPROF, too_slow)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        models, (X, frame) = seeds_of_models(folder)
        tables = seeds_of_tables()

        def load(path):
            model = read_model(path).estimator
            rows = frame if hasattr(model, "steps") else X
            try:
                model.score_samples(rows)
            except Exception:  # a model that loads may still be useless; it must not hang or crash
                return

        for data in models:
            attempt(load, data, folder / "warm.hull")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        armed = watch()
        armed["on"] = True
        for family in [options.only] if options.only else ["models", "tables"]:
            start, read, slowest = time.perf_counter(), 0, 0.0
            for _ in range(n):
                began = time.perf_counter()
                if family == "models":
                    data = rng.choice(models)
                    data = (
                        mutate_model(data, rng) if rng.random() < 0.7 else mutate_bytes(data, rng, rng.choice(models))
                    )
                    read += attempt(load, data, folder / "f.hull")
                else:
                    ending = rng.choice(list(tables))
                    data = mutate_bytes(tables[ending], rng, tables[rng.choice(list(tables))])
                    read += attempt(read_table, data, folder / f"f.{ending}")
                slowest = max(slowest, time.perf_counter() - began)
            grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
            print(
                f"{family}: {n:,} inputs, {read:,} read, {n - read:,} refused, 0 crashes, slowest {slowest:.3f} s, "
                f"memory +{grown:.0f} MiB, {time.perf_counter() - start:.0f} s", flush=True,
            )  # fmt: skip
            assert grown < 1024


if __name__ == "__main__":
    main()
