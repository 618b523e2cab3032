"""Pair metrics against peers: seconds, and the ratio to one ``np.argsort`` of the scores. One thread, best of repeats.

python benchmarks/bench_metrics.py [--quick]
"""

import argparse
from time import perf_counter

import numpy as np
from scipy.stats import kendalltau
from sklearn.metrics import roc_auc_score

from hullrank.metrics import kendall_tau_b, swapped_pairs, wmw_score


def best_seconds(function, repeats):
    times = []
    for _ in range(repeats):
        start = perf_counter()
        function()
        times.append(perf_counter() - start)
    return min(times)


def cases(m):
    rng = np.random.default_rng(0)
    signal, noise = rng.normal(size=m), rng.normal(size=m)
    scores = signal + noise
    two, five = (signal > 0).astype(int), np.digitize(signal, [-1, -0.3, 0.3, 1])
    queries = rng.integers(0, m // 20, m)
    return scores, {
        "2 ranks: wmw_score": lambda: wmw_score(two, scores),
        "2 ranks: sklearn roc_auc_score": lambda: roc_auc_score(two, scores),
        "5 ranks: swapped_pairs": lambda: swapped_pairs(five, scores),
        "5 ranks: wmw_score, chain": lambda: wmw_score(five, scores, order="chain"),
        "5 ranks, queries of 20: swapped_pairs": lambda: swapped_pairs(five, scores, qid=queries),
        "m ranks: swapped_pairs": lambda: swapped_pairs(signal, scores),
        "m ranks: kendall_tau_b": lambda: kendall_tau_b(signal, scores),
        "m ranks: scipy kendalltau": lambda: kendalltau(signal, scores),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    for m in (20_000,) if quick else (20_000, 200_000, 1_000_000):
        scores, table = cases(m)
        repeats = 2 if quick else 3
        sort = best_seconds(lambda scores=scores: np.argsort(scores), repeats)
        print(f"\n{m:,} samples; np.argsort {sort * 1e3:.1f} ms")
        for name, function in table.items():
            seconds = best_seconds(function, repeats)
            print(f"  {name:40s} {seconds * 1e3:9.1f} ms {seconds / sort:8.1f} sorts")


if __name__ == "__main__":
    main()
