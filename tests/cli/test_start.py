"""The command starts without what it does not use, and everything is there when it is used after all."""

import subprocess
import sys

import pytest
from commands import ORDER, run_inside, table

WATCHED = """
import sys
sys.argv = ["hullrank", *{arguments!r}]
from hullrank.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
heavy = (
    "pandas", "matplotlib", "numba", "sklearn.metrics", "scipy.stats._stats_py", "scipy.optimize._minimize",
    "scipy.spatial._kdtree",
    "scipy.interpolate._bsplines", "numpy.f2py.f2py2e", "asyncio.events",
)
print("LOADED", [name for name in heavy if name in sys.modules])
"""
AFTERWARDS = """
import scipy.stats
from scipy.stats import rankdata
import sklearn.utils.fixes
assert scipy.stats.norm.cdf(0) == 0.5
assert rankdata([2, 1]).tolist() == [2, 1]
import sklearn.preprocessing
knots = sklearn.preprocessing.SplineTransformer(n_knots=3, degree=1).fit_transform([[0.0], [1.0], [2.0]])
assert knots.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
assert sklearn.preprocessing.PolynomialFeatures(2).fit([[1.0, 2.0]]).n_output_features_ == 6
assert sklearn.preprocessing.PowerTransformer().fit([[1.0], [2.0], [4.0]]).lambdas_.shape == (1,)
from scipy.sparse.linalg import LinearOperator
assert isinstance(LinearOperator, type)
from scipy.special import expit
assert expit(0.0) == 0.5
import asyncio
assert asyncio.run(asyncio.sleep(0, 3)) == 3
import numpy.testing
numpy.testing.assert_equal(1, 1)
import pandas
assert pandas.DataFrame({"a": [1]}).shape == (1, 1)
"""


@pytest.mark.slow
@pytest.mark.parametrize("command", ["rank", "columns", "methods", "explain"])
def test_commands_load_what_they_use(fitted, command):
    arguments = {
        "rank": ["rank", str(fitted / "model.hull"), str(fitted / "test.csv")],
        "columns": ["columns", str(fitted / "data.csv")],
        "methods": ["methods"],
        "explain": ["explain", str(fitted / "model.hull")],
    }[command]
    program = WATCHED.format(arguments=arguments) + (AFTERWARDS if command == "rank" else "")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "LOADED []"


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [("--probabilities",), ("-m", "prank"), ("-m", "rankboost"), ("-m", "exact", "--set", "time_limit=1")],
    ids=lambda options: options[-1] if len(options) < 3 else options[1],
)
def test_every_kind_of_model_ranks_without_what_only_its_fit_uses(tmp_path, options):
    data, model = tmp_path / "data.csv", tmp_path / "model.hull"
    table(n=60).select("size", "age", "grade").write_csv(data)
    run_inside("fit", data, "-t", "grade", "--order", ORDER, *options, "--no-cv", "-o", model)
    script = WATCHED.format(arguments=["rank", str(model), str(data)])
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "LOADED []"
