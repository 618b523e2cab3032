"""The top of the list on MQ2008: MAP and mean NDCG over all places, by two definitions of the discount.

    HULLRANK_DATA=... python benchmarks/bench_top_pairs.py

Each of the parts S1 to S3 is ranked by a model of the other two. A query without a relevant document counts 0, as in
LETOR's own script, whose discount is 1 / max(1, log2(rank)); the usual one is 1 / log2(1 + rank). Gains are
2^grade - 1.
"""

import os
import warnings
from pathlib import Path

import numpy as np
from lightgbm import LGBMRanker
from sklearn.preprocessing import StandardScaler

from bench_pairs import group_sizes, mq2008_folds
from hullrank import SwappedPairsRanker


def measures(grades):
    """MAP and mean NDCG (LETOR's discount, the usual one) of the grades of one query in ranked order."""
    places = np.arange(1, len(grades) + 1)
    gain, relevant = 2.0**grades - 1, grades > 0
    if not relevant.any():
        return 0.0, 0.0, 0.0
    found = [np.mean((np.cumsum(relevant) / places)[relevant])]
    for discount in (1 / np.maximum(np.log2(places), 1), 1 / np.log2(1 + places)):
        found.append(np.mean(np.cumsum(gain * discount) / np.cumsum(np.sort(gain)[::-1] * discount)))
    return tuple(found)


def our_scores(**options):
    return lambda X, y, qid: SwappedPairsRanker(**options).fit(X, y, qid=qid).predict


def lightgbm_scores(X, y, qid):
    return LGBMRanker(n_jobs=1, verbose=-1).fit(X, y, group=group_sizes(qid)).predict


def main():
    warnings.filterwarnings("ignore")
    folds = list(mq2008_folds(Path(os.environ["HULLRANK_DATA"])))
    rankers = {f"pairs, C = {C:g}": our_scores(C=C) for C in (1.0, 10.0, 100.0)}
    rankers |= {f"pair_weight='ndcg', C = {C:g}": our_scores(C=C, pair_weight="ndcg") for C in (1.0, 10.0)}
    print(f"{'':28s}    MAP  NDCG (LETOR)  NDCG (usual)")
    for name, learn in (rankers | {"LGBMRanker()": lightgbm_scores}).items():
        values = []
        for X, y, qid, X_test, y_test, qid_test in folds:
            scaler = StandardScaler().fit(X)
            scores = learn(scaler.transform(X), y, qid)(scaler.transform(X_test))
            for rows in np.split(np.arange(len(qid_test)), np.cumsum(group_sizes(qid_test))[:-1]):
                values.append(measures(y_test[rows][np.argsort(-scores[rows], kind="stable")]))
        print(f"{name:28s}" + "".join(f"{value:7.3f}{'':6s}" for value in np.mean(values, axis=0)), flush=True)


if __name__ == "__main__":
    main()
