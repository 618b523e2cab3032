"""The command starts without what it does not use, and everything is there when it is used after all."""

import subprocess
import sys

import pytest

WATCHED = """
import sys
sys.argv = ["hullrank", *{arguments!r}]
from hullrank.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
heavy = ("pandas", "matplotlib", "numba", "sklearn.metrics", "scipy.stats._stats_py")
print("LOADED", [name for name in heavy if name in sys.modules])
import scipy.stats
from scipy.stats import rankdata
import sklearn.utils.fixes
assert scipy.stats.norm.cdf(0) == 0.5
assert rankdata([2, 1]).tolist() == [2, 1]
import pandas
assert pandas.DataFrame({{"a": [1]}}).shape == (1, 1)
"""


@pytest.mark.parametrize("command", ["rank", "columns", "methods", "explain"])
def test_commands_load_what_they_use(fitted, command):
    arguments = {
        "rank": ["rank", str(fitted / "model.hull"), str(fitted / "test.csv")],
        "columns": ["columns", str(fitted / "data.csv")],
        "methods": ["methods"],
        "explain": ["explain", str(fitted / "model.hull")],
    }[command]
    done = subprocess.run(
        [sys.executable, "-c", WATCHED.format(arguments=arguments)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "LOADED []"
