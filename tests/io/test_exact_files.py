"""Exact rankers of every statistic and rule come back from model files and leave as ONNX graphs."""

import numpy as np
import pytest

from hullrank import ExactRanker
from hullrank.io import export_onnx, load, save
from hullrank.problem.statistics import NAMES, RankStatistic

RNG = np.random.default_rng(0)
X = RNG.integers(0, 5, size=(40, 3)).astype(float)
Y = (X @ [1.0, -0.5, 0.2] + RNG.normal(size=40) > 1).astype(int)
RANKERS = [
    *(ExactRanker(name) for name in sorted(NAMES)),
    ExactRanker(RankStatistic("partial_wmw", t=5)),
    ExactRanker(RankStatistic("pnorm", p=2.5)),
    ExactRanker(np.sqrt(np.arange(40.0))),
    ExactRanker("dcg", weights="integer", max_weight=2),
    ExactRanker(RankStatistic("pnorm", p=2.0), max_features=2, monotonic_cst=[1, -1, 0]),
    ExactRanker(monotonic_cst=[1, 0, -1]),
]


def described(ranker):
    statistic = ranker.statistic if isinstance(ranker.statistic, str) else type(ranker.statistic).__name__
    return f"{statistic} {ranker.weights} {ranker.max_features}"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::hullrank.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("ranker", RANKERS, ids=described)
def test_it_comes_back_from_a_file_and_leaves_as_a_graph(ranker, tmp_path):
    ranker.set_params(max_cells=300).fit(X, Y)
    save(ranker, tmp_path / "m.hull")
    again = load(tmp_path / "m.hull")
    np.testing.assert_array_equal(again.coef_, ranker.coef_)
    np.testing.assert_array_equal(again.predict(X), ranker.predict(X))
    assert again.certificate_ == ranker.certificate_
    assert getattr(again, "score_table_", None) == getattr(ranker, "score_table_", None)
    assert RankStatistic.of(again.statistic) == RankStatistic.of(ranker.statistic)
    refitted = again.fit(X, Y).certificate_
    assert (refitted.value, refitted.upper_bound) == (ranker.certificate_.value, ranker.certificate_.upper_bound)
    runtime = pytest.importorskip("onnxruntime")
    export_onnx(ranker, tmp_path / "m.onnx")
    session = runtime.InferenceSession(tmp_path / "m.onnx", providers=["CPUExecutionProvider"])
    (scores,) = session.run(["scores"], {"X": X.astype(np.float32)})
    np.testing.assert_allclose(scores, ranker.predict(X), rtol=1e-5, atol=1e-6)
