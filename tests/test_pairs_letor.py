"""Held-out queries of MQ2008: as good as gradient boosting's default, within a standard error."""

import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file
from sklearn.preprocessing import StandardScaler

from hullrank import SwappedPairsRanker
from hullrank.metrics import ndcg_score, swapped_pairs

FOLDER = Path(os.environ.get("HULLRANK_DATA", "."))
FILES = [FOLDER / f"mq2008_S{k}.svmlight.gz" for k in (1, 2, 3)]
pytestmark = pytest.mark.skipif(
    not all(file.exists() for file in FILES), reason="set HULLRANK_DATA to the folder with mq2008_S1..S3.svmlight.gz"
)


def boosted(X, y, qid):
    lightgbm = pytest.importorskip("lightgbm")
    starts = np.flatnonzero(np.r_[True, qid[1:] != qid[:-1]])
    return lightgbm.LGBMRanker(n_jobs=1, verbose=-1).fit(X, y, group=np.diff(np.r_[starts, len(qid)])).predict


def by_query(y, scores, qid):
    found = []
    for query in np.unique(qid):
        rows = qid == query
        if np.ptp(y[rows]) > 0:
            found.append((ndcg_score(y[rows], scores[rows], k=10), 1 - swapped_pairs(y[rows], scores[rows])))
    return np.array(found)


@pytest.mark.slow
def test_held_out_queries_are_ranked_as_well_as_by_boosting():
    parts = [load_svmlight_file(str(file), query_id=True) for file in FILES]
    differences = []
    for k, (X_test, y_test, qid_test) in enumerate(parts):
        rest = [part for j, part in enumerate(parts) if j != k]
        X = np.vstack([part[0].toarray() for part in rest])
        y, qid = (np.concatenate([part[i] for part in rest]) for i in (1, 2))
        scaler = StandardScaler().fit(X)
        X, X_test = scaler.transform(X), scaler.transform(X_test.toarray())
        ours = SwappedPairsRanker().fit(X, y, qid=qid)
        assert ours.certificate_.relative_gap <= 1e-4
        theirs = by_query(y_test, boosted(X, y, qid)(X_test), qid_test)
        differences.append(by_query(y_test, ours.predict(X_test), qid_test) - theirs)
    difference = np.concatenate(differences)
    standard_error = difference.std(axis=0) / np.sqrt(len(difference))
    assert (difference.mean(axis=0) >= -standard_error).all()
