"""Importing the metrics loads nothing heavy."""

import subprocess
import sys

import pytest


@pytest.mark.slow
def test_metrics_load_no_compiler_no_plots_and_no_solver():
    heavy = ("numba", "matplotlib", "highspy", "polars", "networkx")
    code = f"import sys, hullrank.metrics; print([name for name in {heavy} if name in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
