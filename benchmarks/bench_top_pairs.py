"""The top of the list on MQ2008: MAP and mean NDCG over all places, by two definitions of the discount.

    HULLRANK_DATA=... python benchmarks/bench_top_pairs.py            # nothing set (C="scale"), and given values of C
    HULLRANK_DATA=... python benchmarks/bench_top_pairs.py --choose   # C by five folds of the training queries, minutes

Each of the parts S1 to S3 is ranked by a model of the other two. Behind ± stands the standard error over queries of
the difference from the first line. A query without a relevant document counts 0, as in
LETOR's own script, whose discount is 1 / max(1, log2(rank)); the usual one is 1 / log2(1 + rank). Gains are
2^grade - 1.
"""

import os
import sys
import warnings
from pathlib import Path

import numpy as np
from lightgbm import LGBMRanker
from sklearn.model_selection import GroupKFold
from sklearn.preprocessing import StandardScaler

from bench_pairs import group_sizes, mq2008_folds
from hullrank import SwappedPairsRanker

GRID = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)


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


def all_measures(scores, y, qid):
    """The measures of every query, one row each."""
    queries = np.split(np.arange(len(qid)), np.cumsum(group_sizes(qid))[:-1])
    return np.array([measures(y[rows][np.argsort(-scores[rows], kind="stable")]) for rows in queries])


def our_scores(**options):
    return lambda X, y, qid: SwappedPairsRanker(**options).fit(X, y, qid=qid).predict


def lightgbm_scores(X, y, qid):
    return LGBMRanker(n_jobs=1, verbose=-1).fit(X, y, group=group_sizes(qid)).predict


def chosen_scores(**options):
    """C of the best mean NDCG (LETOR's discount) in five folds of the training queries."""

    def learn(X, y, qid):
        folds = list(GroupKFold(5).split(X, y, qid))

        def rated(C):
            found = [
                all_measures(our_scores(C=C, **options)(X[a], y[a], qid[a])(X[b]), y[b], qid[b])[:, 1].mean()
                for a, b in folds
            ]
            return np.mean(found)

        best = max(GRID, key=rated)
        print(f"    chosen: C = {best:g}", flush=True)
        return our_scores(C=best, **options)(X, y, qid)

    return learn


def main():
    warnings.filterwarnings("ignore")
    folds = list(mq2008_folds(Path(os.environ["HULLRANK_DATA"])))
    top = {"pair_weight": "ndcg"}
    if "--choose" in sys.argv[1:]:
        rankers = {"pairs, C chosen": chosen_scores(), "pair_weight='ndcg', C chosen": chosen_scores(**top)}
    else:
        rankers = {"pairs": our_scores(), "pair_weight='ndcg'": our_scores(**top)}
        for loss in ("squared_hinge", "logistic"):
            rankers |= {f"pairs, {loss}": our_scores(loss=loss), f"'ndcg', {loss}": our_scores(loss=loss, **top)}
        rankers |= {f"pairs, C = {C:g}": our_scores(C=C) for C in (1.0, 10.0, 100.0)}
        rankers |= {f"pair_weight='ndcg', C = {C:g}": our_scores(C=C, **top) for C in (1.0, 3.0, 10.0)}
        rankers |= {"LGBMRanker()": lightgbm_scores}
    print(f"{'':28s}       MAP       NDCG (LETOR)   NDCG (usual)")
    first = None
    for name, learn in rankers.items():
        values = []
        for X, y, qid, X_test, y_test, qid_test in folds:
            scaler = StandardScaler().fit(X)
            scores = learn(scaler.transform(X), y, qid)(scaler.transform(X_test))
            values.append(all_measures(scores, y_test, qid_test))
        values = np.concatenate(values)
        first = values if first is None else first
        errors = (values - first).std(axis=0, ddof=1) / len(values) ** 0.5
        cells = (f"  {value:.3f} ± {error:.3f}" for value, error in zip(values.mean(axis=0), errors, strict=True))
        print(f"{name:28s}" + "".join(cells), flush=True)


if __name__ == "__main__":
    main()
