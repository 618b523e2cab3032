"""Importing hullrank is light: heavy libraries are loaded by what needs them."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import hullrank

HEAVY = {"numba", "matplotlib", "highspy", "polars", "pandas"}


FIT = "import numpy as np; X, y = np.arange(24.0).reshape(12, 2) % 7, np.arange(12) // 4; "
NO_COMPILER = """
from hullrank import ConvexHullRanker, FixedMarginClassifier, NuMarginClassifier, SumOfMarginsClassifier
import hullrank.metrics
import numpy as np
from hullrank.problem.kernels import kernel_matrix
kernel_matrix(np.eye(2), np.eye(2))
from hullrank import SwappedPairsRanker
SwappedPairsRanker().fit([[0.0], [1.0], [3.0]], [0, 1, 2])
SwappedPairsRanker(kernel="rbf").fit(np.eye(2), [0, 1])
"""
NO_PLOTS_AND_NO_TABLES = f"""
{FIT}
from hullrank import ConvexHullRanker as R; R().fit(X, y).predict(X)
from hullrank import ExactRanker as R; R(method='sweep').fit(X, y > 0)
from hullrank.plots import ScoreLineDisplay, RocDisplay, MarginDisplay
import hullrank as h; h.io.save(h.ConvexHullRanker().fit(X, y), path); h.io.load(path)
from hullrank.datasets import discretize, load_dataset, make_ordinal
import hullrank.cli.app, hullrank.cli.doctor
"""
LINEAR_PROGRAM = "from hullrank import LinearRelaxationRanker as R; R().fit(X, y > 0)"
TABLE = "from hullrank.io import read_table"


def loaded_after(*statements, path=""):
    """The heavy libraries that are loaded after each of the statements, which run one after the other."""
    seen = f"print('LOADED', *sorted({HEAVY} & set(sys.modules)))"
    code = "\n".join([f"import sys; path = {str(path)!r}", *(f"{each}\n{seen}" for each in statements)])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return [set(line.split()[1:]) for line in done.stdout.splitlines() if line.startswith("LOADED")]


def test_import_loads_nothing_heavy():
    assert loaded_after("import hullrank") == [set()]


@pytest.mark.slow
def test_each_large_library_is_loaded_only_where_it_is_used(tmp_path):
    of_sklearn, no_compiler, no_plots, program, table = loaded_after(
        "import sklearn.base", NO_COMPILER, NO_PLOTS_AND_NO_TABLES, LINEAR_PROGRAM, TABLE, path=tmp_path / "model.hull"
    )
    assert no_compiler == of_sklearn <= {"pandas"}
    assert no_plots <= {"pandas", "numba"}
    assert program - no_plots == {"highspy"}
    assert table - program == {"polars"}


@pytest.mark.slow
def test_a_scikit_learn_that_moved_its_private_parts_is_named_with_the_cure():
    code = "import sklearn.utils; del sklearn.utils._safe_indexing; import hullrank._sklearn"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "does not fit scikit-learn" in done.stderr
    assert "pip install --upgrade hullrank scikit-learn" in done.stderr


@pytest.mark.slow
def test_a_numba_without_its_private_option_still_compiles_the_loops():
    code = """
from numba.core.options import DefaultOptions
del DefaultOptions._nrt
from hullrank._jit import INNER, UNCOUNTED, njit
assert "_nrt" not in {**INNER, **UNCOUNTED}
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def private_imports(path):
    """Imports from scikit-learn with a name that starts with an underscore: it may move with every release."""
    text = path.read_text()
    for node in ast.walk(ast.parse(text)) if "sklearn" in text else ():
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            if name.startswith("sklearn.") and any(part.startswith("_") for part in name.split(".")):
                yield name


@pytest.mark.slow
def test_one_module_knows_the_private_parts_of_scikit_learn():
    source = Path(hullrank.__file__).parent
    found = {path.relative_to(source).as_posix() for path in source.rglob("*.py") if any(private_imports(path))}
    assert found == {"_sklearn.py"}
