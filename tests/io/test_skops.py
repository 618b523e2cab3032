"""skops carries every estimator."""

import numpy as np
import pytest

import hullrank

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = np.digitize(X @ [1.0, -2, 0.5] + 0.3 * RNG.normal(size=60), [-1, 1])
ESTIMATORS = [
    hullrank.ConvexHullRanker(order="full"),
    hullrank.ConvexHullRanker(kernel="rbf"),
    hullrank.FixedMarginClassifier(),
    hullrank.NuMarginClassifier(),
    hullrank.SumOfMarginsClassifier(),
    hullrank.SwappedPairsRanker(),
    hullrank.SampledPairsRanker(random_state=0),
    hullrank.ExactRanker(max_cells=100),
    hullrank.LinearRelaxationRanker(),
    hullrank.PRank(),
    hullrank.RankBoost(n_rounds=5),
    hullrank.InformativeVectorClassifier(),
    hullrank.OrdinalCalibrator(hullrank.FixedMarginClassifier(), cv=3),
]


@pytest.fixture(scope="module")
def sio():
    """skops, which takes seconds to import: only where these tests run."""
    return pytest.importorskip("skops.io", reason="skops is not installed (hullrank[skops])")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_skops_brings_back_the_same_model(sio, estimator):
    estimator.fit(X, Y > 0 if type(estimator).__name__ in ("ExactRanker", "LinearRelaxationRanker") else Y)
    data = sio.dumps(estimator)
    foreign = [name for name in sio.get_untrusted_types(data=data) if not name.startswith("hullrank.")]
    assert not [name for name in foreign if not name.startswith(("sklearn.", "numpy.", "builtins."))]
    again = sio.loads(data, trusted=sio.get_untrusted_types(data=data))
    np.testing.assert_array_equal(again.score_samples(X), estimator.score_samples(X))
