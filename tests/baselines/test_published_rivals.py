import os

import numpy as np
import pytest

from hullrank import RankBoost
from hullrank.datasets import load_dataset

PUBLISHED = {  # Bertsimas, Chang and Rudin, table 1: training rows, positive class, training and test AUC in percent
    "svmguide1": (700, 1, (99.1929, 99.0520)),
    "fourclass": (431, 1, (83.0278, 82.8790)),
    "magic_gamma": (1000, "g", (84.0105, 83.5273)),
}


@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("HULLRANK_DATA"), reason="HULLRANK_DATA names no folder of data sets")
@pytest.mark.parametrize("name", PUBLISHED)
def test_rankboost_with_whole_features_has_the_published_auc(name):
    """Training and test AUC, means over ten random splits of the same sizes, are within two standard errors.

    The published figure is itself a mean over ten splits that are not known, so the standard error is that of the
    difference of two means of ten, s sqrt(2 / 10), with s the standard deviation over our splits.
    """
    n_train, positive, published = PUBLISHED[name]
    X, y = load_dataset(name, return_X_y=True, download_if_missing=False)
    y = (y == positive).astype(int)
    results = []
    for seed in range(10):
        rows = np.random.default_rng(seed).permutation(len(y))
        train, test = rows[:n_train], rows[n_train:]
        model = RankBoost().fit(X[train], y[train])
        results.append([100 * model.score(X[part], y[part]) for part in (train, test)])
    standard_error = np.std(results, axis=0, ddof=1) * np.sqrt(2 / 10)
    assert (np.abs(np.mean(results, axis=0) - published) < 2 * standard_error).all()
