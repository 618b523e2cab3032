"""The command starts without what it does not use, and everything is there when it is used after all."""

import subprocess
import sys

import pytest
from commands import ORDER, run_inside, table

WATCHED = """
import sys
from hullrank.cli import main
heavy = (
    "pandas", "matplotlib", "numba", "sklearn.metrics", "scipy.stats._stats_py", "scipy.optimize._minimize",
    "scipy.spatial._kdtree",
    "scipy.interpolate._bsplines", "numpy.f2py.f2py2e", "asyncio.events",
)
for arguments in {commands!r}:
    sys.argv = ["hullrank", *arguments]
    try:
        main()
    except SystemExit as end:
        assert not end.code, (arguments, end.code)
    loaded = [name for name in heavy if name in sys.modules]
    assert not loaded, (arguments, loaded)
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


KINDS = [("--probabilities",), ("-m", "prank"), ("-m", "rankboost"), ("-m", "exact", "--set", "time_limit=1")]


@pytest.mark.slow
def test_commands_load_what_they_use_and_every_kind_of_model_ranks_without_what_only_its_fit_uses(fitted, tmp_path):
    """One process for all: what one command loads too much is there after it, and is told with its arguments."""
    data = tmp_path / "data.csv"
    table(n=60).select("size", "age", "grade").write_csv(data)
    models = [tmp_path / f"{kind}.hull" for kind in range(len(KINDS))]
    for model, options in zip(models, KINDS, strict=True):
        run_inside("fit", data, "-t", "grade", "--order", ORDER, *options, "--no-cv", "-o", model)
    commands = [
        ("methods",),
        ("columns", fitted / "data.csv"),
        ("explain", fitted / "model.hull"),
        ("rank", fitted / "model.hull", fitted / "test.csv"),
        *(("rank", model, data) for model in models),
    ]
    program = WATCHED.format(commands=[tuple(map(str, command)) for command in commands]) + AFTERWARDS
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
