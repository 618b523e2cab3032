import os

import numpy as np
import pytest

from hullrank import RankBoost
from hullrank.datasets import load_dataset

PUBLISHED = {  # Bertsimas, Chang and Rudin, table 1: training rows, positive class, test AUC in percent
    "svmguide1": (700, 1, 99.0520),
    "fourclass": (431, 1, 82.8790),
    "magic_gamma": (1000, "g", 83.5273),
}


@pytest.mark.skipif(not os.environ.get("HULLRANK_DATA"), reason="HULLRANK_DATA names no folder of data sets")
@pytest.mark.parametrize("name", PUBLISHED)
def test_rankboost_with_whole_features_has_the_published_auc(name):
    """The mean over ten splits of the same sizes is within two standard errors."""
    n_train, positive, published = PUBLISHED[name]
    X, y = load_dataset(name, return_X_y=True, download_if_missing=False)
    y = (y == positive).astype(int)
    results = []
    for seed in range(10):
        rows = np.random.default_rng(seed).permutation(len(y))
        model = RankBoost().fit(X[rows[:n_train]], y[rows[:n_train]])
        results.append(100 * model.score(X[rows[n_train:]], y[rows[n_train:]]))
    assert abs(np.mean(results) - published) < 2 * np.std(results, ddof=1) / np.sqrt(10)
