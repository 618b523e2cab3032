"""Exact ranking against HiGHS on the mixed-integer program of the same data. One core, warm.

HULLRANK_DATA=folder python benchmarks/bench_exact.py [--quick] [--only NAME] [--highs SECONDS]

Each row: what hullrank proved and its seconds (processor time of one thread, which other processes do not disturb,
and wall time), what HiGHS had from a warm start when its seconds were over, and the share of them that ours had to
stay within (of 60 s; a busy machine may take more wall time). The folder holds fourclass.csv, liver_disorders.csv,
svmguide1_train.csv, abalone.csv and magic_gamma.csv.gz; cases without their file are left out. --quick takes one case
of every kind and gives HiGHS ten seconds; --highs-once runs HiGHS on the first case of every kind only. Features of
few levels and the clocks have tables of their own, without HiGHS: seconds that a proof may take (processor time of
one thread), and seconds of wall time against the limit that was set (at most 1 s or 10% over). --only few, --only
Liver or --only clock run one table or kind.
"""

import argparse
import os
import warnings
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler

from hullrank import ExactRanker, LinearRelaxationRanker, SwappedPairsRanker
from hullrank.datasets import make_roc_flexibility
from hullrank.problem.statistics import RankStatistic

STATISTICS = ["wrs", RankStatistic("partial_wmw", t=0.8), "wta", "mrr", "dcg", RankStatistic("pnorm", p=4)]
LIMIT = 60.0
OURS = ("value", "bound", "cpu s", "wall s")
THEIRS = ("HiGHS value", "bound", "wall s", "share")
HEAD = f"{'case':28}" + "".join(f"{column:>12}" for column in (*OURS, *THEIRS)) + "  met"


def table(name):
    path = Path(os.environ.get("HULLRANK_DATA", ".")) / name
    return pd.read_csv(path) if path.exists() else None


def split(X, y, n, seed):
    rows = np.random.default_rng(seed).permutation(len(y))[:n]
    return np.ascontiguousarray(X[rows], dtype=float), np.asarray(y)[rows].astype(int)


def heavy_tails(n, d, seed=0):
    """Student-t features of different scale, positives shifted along one random direction."""
    rng = np.random.default_rng(seed)
    y = (np.arange(n) < 0.42 * n).astype(int)
    X = rng.standard_t(4, size=(n, d)) * np.exp(rng.normal(0, 0.5, d))
    direction = rng.normal(size=d)
    X[y == 1] += 1.55 * direction / np.linalg.norm(direction)
    return X, y


def proof_cases(repeats):
    """(name, X, y, statistic, share of HiGHS's seconds)."""
    four, liver, guide = (table(f"{name}.csv") for name in ("fourclass", "liver_disorders", "svmguide1_train"))
    if four is not None:
        for seed in range(repeats):
            yield (
                f"FourClass 431x2 #{seed}",
                *split(four.to_numpy()[:, :2], four.target > 0, 431, seed),
                "auc",
                1 / 1000,
            )
    for seed in range(repeats):
        yield f"ROC flexibility 250x5 #{seed}", *make_roc_flexibility(random_state=seed), "auc", 1 / 10
    if guide is not None:
        yield "SVMGuide1 700x4", *split(guide.to_numpy()[:, :4], guide.target, 700, 0), "auc", 1 / 6
    if liver is not None:
        yield "Liver columns 80x3", *split(liver.to_numpy()[:, :3], liver.target == 2, 80, 0), "auc", 1 / 60
    for statistic in STATISTICS[:: 1 if repeats > 1 else 3]:
        yield f"{RankStatistic.of(statistic).name} 100x4", *heavy_tails(100, 4), statistic, 1 / 10
    if liver is not None:
        for seed in range(repeats):
            yield f"Liver 172x6 #{seed}", *split(liver.to_numpy()[:, :6], liver.target == 2, 172, seed), "auc", 1
    for d in (7, 8)[: 1 if repeats == 1 else 2]:
        yield f"synthetic 172x{d}", *heavy_tails(172, d), "auc", 1


def large_cases():
    abalone, magic = table("abalone.csv"), table("magic_gamma.csv.gz")
    if abalone is not None:
        X = pd.get_dummies(abalone.drop(columns="target"), columns=["Sex"]).to_numpy(dtype=float)
        yield "Abalone 1000x10", *split(X, abalone.target >= 10, 1000, 0)
    if magic is not None:
        yield "Magic 1000x10", *split(magic.to_numpy()[:, :10].astype(float), magic.target == "g", 1000, 0)


def binary(n, d, seed=0):
    """Yes/no features, a fifth of the samples positive."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n, d)) < 0.4).astype(float)
    s = X @ rng.normal(size=d) + rng.logistic(size=n)
    return X, (s > np.quantile(s, 0.8)).astype(int)


def few_level_cases():
    """(name, X, y, seconds that the proof may take)."""
    for n in (300, 1000, 20_000):
        yield f"few levels: binary {n}x6", *binary(n, 6), 1.0
    yield "few levels: binary 1000x7", *binary(1000, 7), 10.0
    yield "few levels: binary 1000x8", *binary(1000, 8), 60.0
    for name in ("LEV", "ESL", "ERA"):
        grades = table(f"ord_{name}.csv")
        if grades is not None:
            X, y = grades.iloc[:, :-1].to_numpy(dtype=float), grades.iloc[:, -1].to_numpy()
            yield f"few levels: {name} {X.shape[0]}x{X.shape[1]}", X, y, 2.0


def clock_cases():
    """(name, X, y, parameters)."""
    rng = np.random.default_rng(0)
    for n, d, parameters in (
        (3000, 6, {"time_limit": 5}),
        (2000, 5, {"time_limit": 3, "statistic": "dcg"}),
        (300, 200, {"time_limit": 3, "method": "plane_search"}),
        (50, 10_000, {"time_limit": 5}),
    ):
        X = rng.normal(size=(n, d))
        yield f"clock {n}x{d}", X, (X[:, 0] + rng.normal(size=n) > 0).astype(int), parameters


def fit(X, y, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cpu, wall = process_time(), perf_counter()
        ranker = ExactRanker(**parameters).fit(X, y)
        return ranker, process_time() - cpu, perf_counter() - wall


def logistic_auc(X, y):
    Z = StandardScaler().fit_transform(X)
    return roc_auc_score(y, LogisticRegression().fit(Z, y).decision_function(Z))


def bench_proofs(repeats, seconds, only, once):
    print(HEAD)
    gains = []
    for name, X, y, statistic, share in proof_cases(repeats):
        if only.lower() not in name.lower():
            continue
        hard = name.startswith("synthetic")
        ranker, cpu, wall = fit(X, y, statistic=statistic, time_limit=LIMIT if hard else 10 * LIMIT)
        ours = ranker.certificate_
        proven = ours.status == "proven_optimal" and cpu <= share * LIMIT
        good = ours.gap <= 0.06 if hard else proven
        row = f"{name:28}{ours.value:12.6g}{ours.upper_bound:12.6g}{cpu:12.3f}{wall:12.3f}"
        if not once or "#" not in name or name.endswith("#0"):
            mip, _, mip_wall = fit(X, y, statistic=statistic, method="mip", time_limit=seconds)
            row += f"{mip.certificate_.value:12.6g}{mip.certificate_.upper_bound:12.6g}{mip_wall:12.1f}"
        else:
            row += f"{'-':>12}" * 3
        print(f"{row}{share:12.4f}  {'yes' if good else 'NO'}", flush=True)
        if name.startswith("ROC"):
            gains.append(100 * (ours.value - logistic_auc(X, y)))
    if gains:
        print(f"ROC flexibility: training AUC above logistic regression by {np.mean(gains):.1f} points on average")


def bench_few_levels(only):
    head = ("value", "bound", "cpu s", "wall s", "allowed")
    print(f"\n{'case':28}" + "".join(f"{column:>12}" for column in head) + "  rigorous  met")
    for name, X, y, allowed in few_level_cases():
        if only.lower() in name.lower():
            ranker, cpu, wall = fit(X, y, time_limit=2 * allowed + 10)
            ours = ranker.certificate_
            met = ours.status == "proven_optimal" and cpu <= allowed
            row = f"{name:28}{ours.value:12.6g}{ours.upper_bound:12.6g}{cpu:12.3f}{wall:12.3f}{allowed:12.1f}"
            print(f"{row}  {'yes' if ours.rigorous else 'no':8}  {'yes' if met else 'NO'}", flush=True)


def bench_clocks(only):
    print(f"\n{'case':28}{'limit s':>12}{'wall s':>12}{'cpu s':>12}  met")
    for name, X, y, parameters in clock_cases():
        if only.lower() in name.lower():
            _, cpu, wall = fit(X, y, **parameters)
            limit = parameters["time_limit"]
            met = wall <= limit + max(1.0, 0.1 * limit)
            print(f"{name:28}{limit:12.1f}{wall:12.2f}{cpu:12.2f}  {'yes' if met else 'NO'}", flush=True)


def bench_large(seconds, only):
    head = ("logistic", "SVM", "LP", "exact", "bound", "gap", "cpu s")
    print(f"\n{'training AUC (%)':26}" + "".join(f"{column:>10}" for column in head))
    for name, X, y in large_cases():
        if only.lower() not in name.lower():
            continue
        Z = StandardScaler().fit_transform(X)
        rivals = [SwappedPairsRanker(C=100.0).fit(Z, y).score(Z, y), LinearRelaxationRanker().fit(X, y).score(X, y)]
        exact, cpu, _ = fit(X, y, time_limit=seconds)
        ours = exact.certificate_
        values = [logistic_auc(X, y), *rivals, ours.value, ours.upper_bound, ours.gap]
        print(f"{name:26}" + "".join(f"{100 * v:10.4f}" for v in values) + f"{cpu:10.1f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="", help="part of the name of the cases to run")
    parser.add_argument("--highs", type=float, default=None, help="seconds for HiGHS (60; with --quick 10)")
    parser.add_argument("--highs-once", action="store_true")
    arguments = parser.parse_args()
    seconds = arguments.highs or (10.0 if arguments.quick else LIMIT)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    for statistic in ("auc", "dcg"):
        fit(*heavy_tails(30, 3), statistic=statistic)
    fit(*binary(100, 5))
    bench_few_levels(arguments.only)
    bench_clocks(arguments.only)
    bench_proofs(1 if arguments.quick else 10, seconds, arguments.only, arguments.highs_once)
    bench_large(seconds, arguments.only)


if __name__ == "__main__":
    main()
