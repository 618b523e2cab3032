import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from hullrank.datasets import make_roc_flexibility
from hullrank.exceptions import HullrankError


def test_features_have_the_curves_they_promise():
    X, y = make_roc_flexibility(20_000, random_state=0)
    assert X.shape == (20_000, 5)
    assert y.mean() == 0.5
    assert roc_auc_score(y, X[:, 0]) == pytest.approx(0.8, abs=0.02)
    assert X[y == 1, 0].mean() < X[y == 0, 0].mean()
    assert roc_auc_score(y, X[:, 3]) == pytest.approx(0.584, abs=0.02)
    assert roc_auc_score(y, X[:, 4]) == pytest.approx(0.5, abs=0.02)
    assert X[y == 1, 4].std() == pytest.approx(2.0, abs=0.05)


def test_seed_fixes_the_data():
    np.testing.assert_array_equal(*(make_roc_flexibility(50, random_state=3)[0] for _ in range(2)))


@pytest.mark.parametrize(("arguments", "match"), [({"n_samples": 1}, "at least 2"), ({"outliers": 1.0}, "share")])
def test_bad_arguments_are_named(arguments, match):
    with pytest.raises(HullrankError, match=match):
        make_roc_flexibility(**arguments)
