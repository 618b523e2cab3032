"""What the tests of the command share: how to run it, and a table with an order of its grades."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from hullrank.cli import main

COMMAND = Path(sys.executable).parent / "hullrank"
ORDER = "poor < fair < good"
WORDS = ("--drop", "number", "--drop", "query", "--drop", "weight")


def run_installed(*arguments, stdin=b"", **options):
    """Run the installed ``hullrank`` in a process of its own; gives the exit code and what it printed."""
    done = subprocess.run([COMMAND, *map(str, arguments)], input=stdin, capture_output=True, check=False, **options)
    return SimpleNamespace(code=done.returncode, out=done.stdout.decode(), err=done.stderr.decode())


def run_inside(*arguments):
    """Run ``hullrank`` in this process, for what tests share; an error fails them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["hullrank", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
    assert not end.value.code


def table(seed=0, n=120):
    rng = np.random.default_rng(seed)
    size, age = rng.normal(size=n), rng.integers(1, 90, n)
    colour = rng.choice(["red", "blue", "green"], n)
    value = 2 * size - 0.02 * age + (colour == "red") + 0.4 * rng.normal(size=n)
    grade = np.array(["poor", "fair", "good"])[np.digitize(value, np.quantile(value, [1 / 3, 2 / 3]))]
    frame = pl.DataFrame({"size": size, "age": age, "colour": colour, "grade": grade})
    return frame.with_columns(
        pl.when(pl.int_range(n) % 17 == 3).then(None).otherwise(pl.col("age")).alias("age"),
        number=pl.col("grade").replace_strict({"poor": 1, "fair": 2, "good": 3}),
        weight=1.0 + pl.int_range(n) % 3,
        query=pl.int_range(n) // 12,
    )
