"""Look for false proofs: exact ranking against integer enumeration of all cells on random small data sets.

python benchmarks/fuzz_exact.py [--sets 2000] [--seed 0]

The data are lattices, duplicated, shifted, scaled, standardised, collinear, or have outliers up to 1e20; one to four
features, every statistic, weights and queries. A proof is false if the value is not the optimum; a
bound is false if it is below the optimum; a score is false if it is not the certified value. Exits with 1 if any is.
Sets of pairs are packed on every AUC set too, which the ranker does from seven features on, and that bound is checked.
"""

import argparse
import sys
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

from hullrank import ExactRanker
from hullrank.exact.clock import Clock
from hullrank.exact.coordinates import spanning
from hullrank.exact.packing import Packing
from hullrank.exact.statement import state_pairs
from hullrank.exceptions import HullrankError
from hullrank.problem.statistics import RankStatistic

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "exact"))
from cell_enumeration import best_auc, best_functional

KINDS = ("lattice", "duplicated", "shifted", "scaled", "standardised", "collinear", "outlier", "outliers")


def random_rows(rng, kind, n, d):
    """Integer rows, and the same rows as they are given to the ranker."""
    size = int(rng.choice([1, 2, 4, 30]))
    K = rng.integers(-size, size + 1, size=(n, d)).astype(object)
    if kind == "duplicated":
        K[: n // 2] = K[n - n // 2 :]
    if kind == "collinear" and d > 1:
        K[:, -1] = 2 * K[:, 0] - (K[:, 1] if d > 2 else 0)
    if kind.startswith("outlier"):
        for _ in range(1 if kind == "outlier" else 3):
            K[rng.integers(n), rng.integers(d)] = int(rng.choice([-1, 1])) * 2 ** int(rng.choice([20, 40, 66]))
    X = K.astype(float)
    if kind == "shifted":
        X = X * 0.1 + rng.choice([0.3, 100.7])
    if kind == "scaled":
        X = X * 10.0 ** rng.choice([-200, -5, 4, 150], size=d)
    if kind == "standardised":
        X = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    return K, X


def random_set(rng, most_rows):
    """Parameters of the ranker, what is passed to fit, and the optimum of the statistic."""
    d = int(rng.integers(1, 5))
    n = int(rng.integers(4, min(most_rows + 1, {1: 12, 2: 10, 3: 8, 4: 7}[d])))
    kind = str(rng.choice(KINDS))
    K, X = random_rows(rng, kind, n, d)
    statistic = str(rng.choice(["auc", "auc", "auc", "wrs", "partial_wmw", "wta", "mrr", "dcg", "pnorm"]))
    if statistic != "auc":
        n = min(n, 7 if d < 3 else 5)
        K, X = K[:n], X[:n]
        y = np.r_[0, 1, rng.integers(0, 2, n - 2)]
        table = RankStatistic(statistic, t=2)
        return kind, {"statistic": table}, {"X": X, "y": y}, best_functional(K, y == 1, table.weights(n))
    y = np.r_[0, 1, rng.integers(0, 3, n - 2)]
    weights = rng.integers(1, 4, n) if rng.random() < 0.5 else np.ones(n, dtype=int)
    qid = rng.integers(0, 2, n) if rng.random() < 0.3 else np.zeros(n, dtype=int)
    total = sum(weights[i] * weights[k] for i in range(n) for k in range(n) if y[i] > y[k] and qid[i] == qid[k])
    best = best_auc(K, y, weights, qid) / max(total, 1)
    return kind, {}, {"X": X, "y": y, "sample_weight": weights, "qid": qid}, best


def packed_bound(rng, X, y, sample_weight, qid):
    """Largest share of the pairs that the packed sets leave, sought around those that a random direction loses."""
    statement = state_pairs(X, y, sample_weight.astype(float), qid)
    arrangement = statement.arrangement
    if not len(arrangement.D):
        return 1.0
    packing = Packing(arrangement, rng.normal(size=X.shape[1]), spanning(arrangement).shape[1])
    packing.run(Clock(), 5.0, 2)
    return (arrangement.top - packing.losses) / float(statement.total)


def check(rng, seconds=20.0, most_rows=11):
    """(kind, what happened) for one random set."""
    kind, parameters, data, best = random_set(rng, most_rows)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ranker = ExactRanker(**parameters, time_limit=seconds).fit(**data)
    except HullrankError:
        return kind, "refused"
    certificate = ranker.certificate_
    slack = 1e-9 * max(1.0, abs(best))
    if certificate.upper_bound < best - slack:
        return kind, "false bound"
    if not parameters and packed_bound(rng, **data) < best - slack:
        return kind, "false bound by packing"
    proven = certificate.status == "proven_optimal"
    if proven and abs(certificate.value - best) > slack:
        return kind, "false proof"
    if not parameters and abs(ranker.score(**data) - certificate.value) > 1e-12:
        return kind, "false score"
    return kind, "proven" if proven else f"open ({certificate.status})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    counts = Counter()
    for number in range(arguments.sets):
        kind, outcome = check(np.random.default_rng([arguments.seed, number]))
        counts[kind, outcome] += 1
        if outcome.startswith("false"):
            print(f"set {number} of seed {arguments.seed} ({kind}): {outcome}", flush=True)
    for (kind, outcome), count in sorted(counts.items()):
        print(f"{kind:14}{outcome:24}{count:6}")
    wrong = sum(count for (_, outcome), count in counts.items() if outcome.startswith("false"))
    print(f"{wrong} false of {arguments.sets}")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
