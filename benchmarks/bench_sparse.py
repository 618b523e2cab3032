"""Linear models on sparse rows with many columns, as ratios to LinearSVC from one run on one thread.

    python benchmarks/bench_sparse.py [--quick]

Rows are text-like: 50 entries a row, columns of Zipf's frequencies, weighed by rarity and of length 1, five grades. The
whole run has 200,000 rows and 1,000,000 columns (20,000 x 100,000 under L1, where LinearSVC takes minutes), the quick
one a tenth of both. Times are CPU seconds of one run. LinearSVC fits one classifier for each of the five grades,
with its own default tolerance; ours reach a certified relative gap of 1e-3.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import resource
import warnings
from time import process_time

import numpy as np
import scipy.sparse as sp
from rich.console import Console
from rich.table import Table
from sklearn.svm import LinearSVC

from hullrank import ConvexHullRanker, FixedMarginClassifier, SwappedPairsRanker

warnings.filterwarnings("ignore")
TOL = 1e-3


def text_like(m, n, entries=50, grades=5, seed=0):
    """Sparse rows like documents, and grades that a fifth of the columns decide together with noise."""
    rng = np.random.default_rng(seed)
    columns = np.minimum((np.exp(rng.random((m, entries)) * np.log(n + 1.0)) - 1).astype(np.int32), n - 1)
    counts = rng.exponential(size=m * entries) + 0.2
    X = sp.csr_array((counts, columns.ravel(), np.arange(0, m * entries + 1, entries, dtype=np.int32)), shape=(m, n))
    X.sum_duplicates()
    X.data *= np.log((1.0 + m) / (1.0 + np.bincount(X.indices, minlength=n)))[X.indices]
    X.data /= np.repeat(np.sqrt(np.add.reduceat(X.data**2, X.indptr[:-1])), np.diff(X.indptr))
    score = X @ (rng.standard_normal(n) * (rng.random(n) < 0.2))
    score = score / score.std() + 0.5 * rng.standard_normal(m)
    return X, np.searchsorted(np.quantile(score, np.arange(1, grades) / grades), score)


def cpu_seconds(model, X, y):
    began = process_time()
    model.fit(X, y)
    return process_time() - began


def compare(console, title, peer, models, X, y, small):
    theirs = cpu_seconds(peer, X, y)
    table = Table(title=f"{title}, {X.shape[0]:,} x {X.shape[1]:,}", title_justify="left")
    for column in ("", "CPU", "gap", "iterations", f"time of LinearSVC ({theirs:.1f} s)"):
        table.add_column(column, justify="right" if column else "left", no_wrap=True)
    for name, model in models.items():
        model.fit(*small)  # compiles
        ours = cpu_seconds(model, X, y)
        found = model.certificate_
        table.add_row(
            name, f"{ours:.2f} s", f"{found.relative_gap:.0e}", str(found.iterations), f"{ours / theirs:.2f}x"
        )
    console.print(table)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows and columns")
    size = 20_000 if parser.parse_args().quick else 200_000
    console, small = Console(width=120), text_like(1000, 5000)
    X, y = text_like(size, 5 * size)
    models = {
        "FixedMarginClassifier (hinge)": FixedMarginClassifier(tol=TOL),
        "FixedMarginClassifier (squared)": FixedMarginClassifier(loss="squared_hinge", tol=TOL),
        "FixedMarginClassifier (logistic)": FixedMarginClassifier(loss="logistic", tol=TOL),
        "ConvexHullRanker (hinge)": ConvexHullRanker(loss="hinge", tol=TOL),
        "ConvexHullRanker (squared)": ConvexHullRanker(tol=TOL),
        "SwappedPairsRanker (hinge)": SwappedPairsRanker(C=size / 10, tol=TOL),
        "SwappedPairsRanker (squared)": SwappedPairsRanker(C=size / 10, loss="squared_hinge", tol=TOL),
    }
    compare(console, "L2 penalty", LinearSVC(), models, X, y, small)
    X, y = text_like(20_000, 100_000)
    models = {
        "ConvexHullRanker (squared, L1)": ConvexHullRanker(C=1.0, penalty="l1", tol=TOL),
        "ConvexHullRanker (hinge, L1)": ConvexHullRanker(C=1.0, penalty="l1", loss="hinge", tol=TOL),
    }
    compare(console, "L1 penalty", LinearSVC(penalty="l1", dual=False), models, X, y, small)
    console.print(f"peak memory of this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GB")
