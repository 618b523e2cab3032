"""Importing hullrank is light: heavy libraries are loaded by what needs them."""

import subprocess
import sys

import pytest

HEAVY = {"numba", "matplotlib", "highspy", "polars", "pandas"}


def loaded_by(statement):
    code = f"import sys\n{statement}\nprint(*sorted({HEAVY} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_import_loads_nothing_heavy():
    assert loaded_by("import hullrank") == set()


@pytest.mark.parametrize(
    "statement",
    [
        "from hullrank import ConvexHullRanker, FixedMarginClassifier, NuMarginClassifier, SumOfMarginsClassifier",
        "import hullrank.metrics",
        "from hullrank.problem.kernels import kernel_matrix; import numpy as np; kernel_matrix(np.eye(2), np.eye(2))",
        "from hullrank import SwappedPairsRanker as R; import numpy as np; R(kernel='rbf').fit(np.eye(2), [0, 1])",
    ],
)
def test_what_needs_no_compiler_loads_no_more_than_scikit_learn(statement):
    assert loaded_by(statement) <= loaded_by("import sklearn.base") - (HEAVY - {"pandas"})
