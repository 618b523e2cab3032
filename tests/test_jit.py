"""Compiled loops come from Numba's cache on disk; files there that are damaged cost time, never an answer."""

import os
import runpy
import subprocess
import sys

import numba
import pytest

LOOP = """
from hullrank._jit import njit

@njit()
def twice(a):
    return 2 * a
"""
FIT = """
import numpy as np
from hullrank import PRank
print(PRank(shuffle=False).fit(np.arange(12.0)[:, None], np.arange(12) // 4).coef_)
from hullrank.baselines._loops import pass_dense
print(sum(pass_dense.stats.cache_hits.values()))
"""


@pytest.fixture
def hits(tmp_path, monkeypatch):
    """A function that calls a loop in a module loaded anew, and returns whether it came from the cache."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    module = tmp_path / "loop.py"
    module.write_text(LOOP)

    def call():
        twice = runpy.run_path(str(module))["twice"]
        assert twice(21) == 42
        return sum(twice.stats.cache_hits.values())

    assert (call(), call()) == (0, 1)
    return call


def cut(data):
    return data[: len(data) // 2]


def emptied(_):
    return b""


def garbled(data):
    return b"\x80\x05not a pickle" + data[:10]


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
@pytest.mark.parametrize("damage", [cut, emptied, garbled])
def test_damaged_files_are_replaced(hits, tmp_path, suffix, damage):
    (file,) = tmp_path.rglob(f"*.{suffix}")
    file.write_bytes(damage(file.read_bytes()))
    assert (hits(), hits()) == (0, 1)


def test_a_damaged_cache_that_cannot_be_written_is_left_alone(hits, tmp_path):
    (file,) = tmp_path.rglob("*.nbi")
    file.unlink()
    file.mkdir()  # neither read nor replaced, even by the superuser
    assert (hits(), hits()) == (0, 0)


def fit(folder):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(folder)}
    done = subprocess.run([sys.executable, "-c", FIT], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")[:2]


@pytest.mark.slow
def test_an_estimator_fits_in_spite_of_truncated_indices(tmp_path):
    coef, hits = fit(tmp_path)
    assert hits == "0"
    for file in tmp_path.rglob("*.nbi"):
        file.write_bytes(cut(file.read_bytes()))
    assert fit(tmp_path) == [coef, "0"]
