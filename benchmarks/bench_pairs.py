"""The swapped-pairs ranker against peers: oracle, solver, memory, accuracy. One thread, CPU seconds, best of repeats.

python benchmarks/bench_pairs.py [--quick] [--only ranksvm|growth]

Environment variable HULLRANK_DATA names a folder with mq2008_S1..S3.svmlight.gz, cal_housing.csv.gz and abalone.csv for
the comparisons on LETOR's MQ2008, and with liblinear's ranksvm (``peer_ranksvm``) on all three.
svm_rank_learn and liblinear-ranksvm's train are run where they are on PATH (the latter as ``liblinear-ranksvm``).
"""

import argparse
import os
import shutil
import subprocess
import tempfile
import tracemalloc
import warnings
from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd
import threadpoolctl
from sklearn.datasets import dump_svmlight_file, load_svmlight_file
from sklearn.preprocessing import StandardScaler

from harness import grades, timed
from hullrank import SwappedPairsRanker
from hullrank.metrics import ndcg_score, swapped_pairs
from hullrank.problem.charges import charge_named
from hullrank.problem.pair_statement import PairStatement
from hullrank.problem.pairs import C_from_liblinear, C_from_svm_rank, every_pair
from hullrank.problem.statement import certificate
from hullrank.solvers.base import Options
from hullrank.solvers.pairs_newton import solve_pairs
from peer_ranksvm import RankSVM, tron

TARGETS = ("five ranks", "continuous")


def best_seconds(function, repeats=5, clock="cpu"):
    return min(getattr(timed(function), clock) for _ in range(repeats))


def problem_data(m, n, targets):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(m, n))
    signal = X @ rng.normal(size=n) + 2 * rng.normal(size=m)
    return X, signal if targets == "continuous" else grades(signal)


def state(X, y, C, loss):
    codes = np.unique(y, return_inverse=True)[1]
    _, pairs = every_pair(codes, np.zeros(len(y), dtype=np.int64), np.ones(len(y)))
    return PairStatement(X, pairs, C, charge_named(loss), np.arange(len(y)))


def solved(statement, tol):
    """Solve and grade, as ``fit`` does after its checks."""
    solution = solve_pairs(statement, Options(tol))
    return certificate(statement, statement.grade(solution.point, solution.evidence), solution, tol, 0.0), solution


def bench_oracle(m):
    print(f"\nOracle at {m:,} scores, in units of np.argsort(scores) (bars: five ranks 3.5, continuous 6.5)")
    for targets in TARGETS:
        X, y = problem_data(m, 20, targets)
        scores = X @ np.random.default_rng(1).normal(size=20) * 0.3
        pairs = state(X, y, 1.0, "hinge").pairs
        contestants = {
            "np.argsort": lambda scores=scores: np.argsort(scores),
            "hinge": lambda scores=scores, pairs=pairs: pairs.at(scores).hinge(),
            "squared hinge": lambda scores=scores, pairs=pairs: pairs.at(scores).ramp(-np.inf, 1.0),
            "smoothed hinge": lambda scores=scores, pairs=pairs: pairs.at(scores).ramp(0.9, 1.1),
        }
        rounds = [[best_seconds(run, 1) for run in contestants.values()] for _ in range(15)]
        sort, *oracles = np.min(rounds, axis=0)
        figures = ", ".join(f"{name} {t / sort:.2f}" for name, t in zip(list(contestants)[1:], oracles, strict=True))
        print(f"  {targets:12s} {figures}   (argsort {sort * 1e3:.1f} ms)")


def bench_solver(m, n=20, C=100.0):
    print(f"\nTo a certified gap, {m:,} x {n}, in units of one loss + gradient of that loss (bar: 25); memory beside X")
    for targets in TARGETS:
        X, y = problem_data(m, n, targets)
        for loss in ("squared_hinge", "hinge", "logistic"):
            problem = state(X, y, C, loss)
            scores = X @ solve_pairs(problem, Options(1e-4)).point.coef

            def oracle(problem=problem, scores=scores, X=X):
                return X.T @ problem.problem.charged(problem.pairs.at(scores), 0.1).coef

            unit = best_seconds(oracle)
            for tol in (1e-4, 1e-6):
                seconds = best_seconds(lambda problem=problem, tol=tol: solved(problem, tol), 3)
                tracemalloc.start()
                found = solved(problem, tol)[0]
                extra = tracemalloc.get_traced_memory()[1] / X.nbytes
                tracemalloc.stop()
                gap = found.relative_gap
                print(
                    f"  {targets:12s} {loss:14s} tol {tol:.0e}: gap {gap:.1e} in {seconds:6.3f} s, "
                    f"{seconds / unit:5.1f} oracles, memory {extra:.2f} X"
                )


def bench_growth(sizes, n=20, C=100.0):
    print(f"\nFits to 1e-6, continuous targets, {n} columns, C = {C:g}: CPU seconds, and exponents from size to size")
    for loss in ("squared_hinge", "hinge"):
        seconds = []
        for m in sizes:
            X, y = problem_data(m, n, "continuous")
            model = SwappedPairsRanker(C=C, loss=loss)
            seconds.append(best_seconds(lambda model=model, X=X, y=y: model.fit(X, y), 3))
        exponents = np.diff(np.log(seconds)) / np.diff(np.log(sizes))
        found = ", ".join(f"{m:,} rows {t:.3f} s" for m, t in zip(sizes, seconds, strict=True))
        print(f"  {loss:14s} {found}; exponents " + ", ".join(f"{e:.2f}" for e in exponents), flush=True)


def bench_survival(sizes, n=20):
    from sksurv.svm import FastSurvivalSVM

    print("\nscikit-survival FastSurvivalSVM(rank_ratio=1), the same squared-hinge problem, continuous targets")
    for m in sizes:
        X, y = problem_data(m, n, "continuous")
        problem = state(X, y, 100.0, "squared_hinge")
        times = np.array([(True, t) for t in y - y.min() + 1], dtype=[("event", bool), ("time", float)])
        peer = FastSurvivalSVM(alpha=200.0 / problem.pairs.n_pairs, rank_ratio=1, max_iter=1000, random_state=0)
        theirs = best_seconds(lambda peer=peer, X=X, times=times: peer.fit(X, times), 1)
        found = solved(problem, 1e-6)[0]
        ours = best_seconds(lambda problem=problem: solved(problem, 1e-6), 3)
        reached = 0.5 * peer.coef_ @ peer.coef_ + 100.0 * problem.pairs.at(X @ peer.coef_).ramp(-np.inf, 1.0).square
        print(
            f"  {m:7,} rows: {theirs:7.2f} s, at {reached / found.dual - 1:.0e} above our bound; "
            f"ours {ours:6.3f} s at gap {found.relative_gap:.0e}: {theirs / ours:5.1f} times faster"
        )


def lightgbm_scores(X, y, qid):
    from lightgbm import LGBMRanker

    return LGBMRanker(n_jobs=1, verbose=-1).fit(X, y, group=group_sizes(qid)).predict


def xgboost_scores(X, y, qid):
    from xgboost import XGBRanker

    return XGBRanker(objective="rank:pairwise", n_jobs=1).fit(X, y, qid=qid).predict


def our_scores(**options):
    return lambda X, y, qid: SwappedPairsRanker(**options).fit(X, y, qid=qid).predict


RANKERS = {
    "SwappedPairsRanker(1)": our_scores(C=1.0),
    "  squared hinge, equal queries": our_scores(loss="squared_hinge", query_weight="equal"),
    "LGBMRanker()": lightgbm_scores,
    "XGBRanker(rank:pairwise)": xgboost_scores,
}


def group_sizes(qid):
    return np.diff(np.r_[np.flatnonzero(np.r_[True, qid[1:] != qid[:-1]]), len(qid)])


def by_query(y, scores, qid):
    """NDCG@10 and pair accuracy of every query that has different grades."""
    values = []
    for rows in np.split(np.arange(len(qid)), np.cumsum(group_sizes(qid))[:-1]):
        if np.ptp(y[rows]) > 0:
            values.append((ndcg_score(y[rows], scores[rows], k=10), 1 - swapped_pairs(y[rows], scores[rows])))
    return np.array(values)


def bench_rankers(title, folds):
    """Held-out queries of every fold; differences to LGBMRanker with their standard errors over queries."""
    print(f"\n{title}")
    found = {}
    for name, learn in RANKERS.items():
        seconds, values = 0.0, []
        for X, y, qid, X_test, y_test, qid_test in folds:
            scaler = StandardScaler().fit(X)
            X, X_test = scaler.transform(X), scaler.transform(X_test)
            learn(X[:200], y[:200], qid[:200])
            start = process_time()
            predict = learn(X, y, qid)
            seconds += (process_time() - start) / len(folds)
            values.append(by_query(y_test, predict(X_test), qid_test))
        found[name] = seconds, np.concatenate(values)
    peer_seconds, peer = found["LGBMRanker()"]
    for name, (seconds, values) in found.items():
        difference = values - peer
        error = difference.std(axis=0) / np.sqrt(len(difference))
        ndcg, accuracy = (
            f"{v:.4f} ({d:+.4f} +- {e:.4f})" for v, d, e in zip(values.mean(0), difference.mean(0), error, strict=True)
        )
        print(
            f"  {name:32s} NDCG@10 {ndcg}  pair accuracy {accuracy}  {seconds:7.3f} s, {peer_seconds / seconds:6.1f} x"
        )


def synthetic_folds(n_queries):
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(100 * n_queries, 20)), np.repeat(np.arange(n_queries), 100)
    signal = (
        X @ rng.normal(size=20) + 2 * np.sin(X[:, 0]) + rng.normal(size=n_queries)[qid] + 2 * rng.normal(size=len(qid))
    )
    y = np.digitize(signal, [-4, 0, 4, 8])
    train = qid < n_queries * 3 // 4
    return [(X[train], y[train], qid[train], X[~train], y[~train], qid[~train])]


def mq2008_folds(folder):
    parts = [load_svmlight_file(str(folder / f"mq2008_S{k}.svmlight.gz"), query_id=True) for k in (1, 2, 3)]
    parts = [(X.toarray(), y, qid) for X, y, qid in parts]
    for k in range(3):
        rest = [part for j, part in enumerate(parts) if j != k]
        yield *(np.concatenate(columns) for columns in zip(*rest, strict=True)), *parts[k]


def ranksvm_data(folder):
    parts = [load_svmlight_file(str(folder / f"mq2008_S{k}.svmlight.gz"), query_id=True) for k in (1, 2, 3)]
    X, y, qid = (np.concatenate(columns) for columns in zip(*((X.toarray(), y, q) for X, y, q in parts), strict=True))
    yield "MQ2008", X, y, qid
    for name, file in (("California housing", "cal_housing.csv.gz"), ("Abalone", "abalone.csv")):
        table = pd.read_csv(folder / file)
        X = pd.get_dummies(table.iloc[:, :-1]).to_numpy(float)
        yield name, X, table.iloc[:, -1].to_numpy(float), np.zeros(len(table), dtype=int)


def bench_ranksvm(folder, repeats=10):
    """Whole fits to a certified 1e-6, in turn with liblinear's method at its own tolerance and at a hundredth of it."""
    print("\nliblinear's ranksvm (squared hinge), standardised data, in turn; how far it ends above our lower bound")
    for name, X, y, qid in ranksvm_data(folder):
        X = StandardScaler().fit_transform(X)
        for C in (1.0, 10.0, 100.0, 1000.0):
            model = SwappedPairsRanker(C=C, loss="squared_hinge").fit(X, y, qid=qid)
            found = model.certificate_
            c = C / found.n_order_constraints
            runs = [lambda model=model, X=X, y=y, qid=qid: model.fit(X, y, qid=qid)]
            runs += [
                lambda X=X, y=y, qid=qid, c=c, eps=eps: tron(RankSVM(X, y, qid, c), X.shape[1], eps)
                for eps in (1e-3, 1e-5)
            ]
            ours, *theirs = np.min([[best_seconds(run, 1) for run in runs] for _ in range(repeats)], axis=0)
            line = f"  {name:18s} C = {C:4g}: ours {ours * 1e3:6.2f} ms at gap {found.relative_gap:.0e}"
            for eps, seconds in zip((1e-3, 1e-5), theirs, strict=True):
                problem = RankSVM(X, y, qid, c)
                above = problem.value(tron(problem, X.shape[1], eps)[0]) / found.dual - 1
                line += f"; eps {eps:g}: {seconds * 1e3:6.2f} ms at {above:.0e}, {seconds / ours:4.1f} x"
            print(line, flush=True)


def bench_executables(m):
    print("\nExecutables on PATH")
    run_executable("svm_rank_learn", "", "hinge", lambda c, n_pairs: C_from_svm_rank(c, n_pairs, 1), m)
    run_executable("liblinear-ranksvm", "-s 8", "squared_hinge", C_from_liblinear, m)


def run_executable(command, options, loss, convert, m):
    if shutil.which(command) is None:
        print(f"  {command}: not found")
        return
    X, y = problem_data(m, 20, "five ranks")
    pairs = state(X, y, 1.0, loss).pairs
    c = 100.0 / pairs.n_pairs
    problem = state(X, y, convert(c, pairs.n_pairs), loss)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "train.svmlight"
        dump_svmlight_file(X, y, str(path), query_id=np.ones(m), zero_based=False)
        call = [command, *options.split(), "-c", str(c), str(path), str(Path(folder) / "model")]
        theirs = best_seconds(lambda: subprocess.run(call, check=True, capture_output=True), 1, "wall")
    ours = best_seconds(lambda: solved(problem, 1e-6), 3, "wall")
    print(f"  {command}: {theirs:.2f} s (reading included), ours {ours:.3f} s to 1e-6: {theirs / ours:.1f} x")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", choices=["ranksvm", "growth"], help="one part instead of all")
    options = parser.parse_args()
    quick, folder = options.quick, os.environ.get("HULLRANK_DATA")
    warnings.filterwarnings("ignore")
    threadpoolctl.threadpool_limits(1)
    if folder and options.only != "growth":
        bench_ranksvm(Path(folder), 3 if quick else 10)
    if options.only != "ranksvm":
        bench_growth((10_000, 100_000) if quick else (100_000, 1_000_000, 5_000_000))
    if options.only:
        return
    bench_oracle(20_000 if quick else 200_000)
    bench_solver(20_000 if quick else 200_000)
    bench_survival((5_000,) if quick else (5_000, 20_000, 100_000))
    bench_rankers("Synthetic queries of 100 documents, 20 features", synthetic_folds(40 if quick else 400))
    if folder:
        bench_rankers("MQ2008, three folds, held-out queries", list(mq2008_folds(Path(folder))))
    else:
        print("\nMQ2008: set HULLRANK_DATA")
    bench_executables(5_000 if quick else 20_000)


if __name__ == "__main__":
    main()
