"""gamma="ard": one length per column, by the evidence that scikit-learn's Gaussian process computes."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import check_grad
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from hullrank import ConvexHullRanker, FixedMarginClassifier, OrderGraphSearchCV, SwappedPairsRanker
from hullrank.exceptions import HullrankError
from hullrank.io import export_onnx, load, save
from hullrank.problem.lengths import column_gammas, evidence, normal_scores
from hullrank.reports.certifying import certify


def few_columns(seed=0, n=300, columns=32):
    """Rows of many columns of which two matter, and not by a line."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, columns)) * rng.uniform(0.5, 20, columns)
    scaled = X / X.std(axis=0)
    value = np.sin(1.5 * scaled[:, 1]) + scaled[:, 2] ** 2 / 2
    return X, value + 0.05 * rng.normal(size=n)


def test_evidence_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    X, z = rng.normal(size=(40, 3)), rng.normal(size=40)
    gamma, signal, noise = np.array([0.3, 1.2, 0.05]), 0.8, 0.25
    kernel = ConstantKernel(signal) * RBF(1 / np.sqrt(2 * gamma)) + WhiteKernel(noise)
    process = GaussianProcessRegressor(kernel, optimizer=None, alpha=0.0).fit(X, z)
    theta = np.log(np.concatenate([gamma, [signal, noise]]))
    value, _ = evidence(theta, X, z)
    assert value == pytest.approx(process.log_marginal_likelihood_value_, rel=1e-9)
    error = check_grad(lambda t: evidence(t, X, z)[0], lambda t: evidence(t, X, z)[1], theta)
    assert error < 1e-4 * np.linalg.norm(evidence(theta, X, z)[1])


def test_normal_scores_are_within_queries():
    y = np.array([3.0, 1.0, 2.0, 30.0, 10.0, 20.0])
    z = normal_scores(y, np.array([0, 0, 0, 1, 1, 1]))
    np.testing.assert_allclose(z[:3], z[3:])
    assert z[1] < z[2] < z[0]


@pytest.mark.slow
def test_columns_that_say_nothing_go_to_zero():
    X, y = few_columns()
    X[:, 5] = 4.0
    gammas = column_gammas(X, y)
    assert gammas[5] == 0.0
    least, *most = np.sort(gammas * X.var(axis=0))[-3:]
    assert set(np.argsort(gammas * X.var(axis=0))[-2:]) == {1, 2}
    assert least < 0.1 * min(most)


@pytest.mark.slow
def test_few_columns_among_many_are_ranked_far_better():
    X, y = few_columns(1, 900)
    train, test = np.arange(900) < 300, np.arange(900) >= 300
    ard = SwappedPairsRanker(C=1e3, kernel="rbf", gamma="ard").fit(X[train], y[train])
    unit = 1 / (X.shape[1] * (X / X.std(axis=0)).var())
    isotropic = [
        SwappedPairsRanker(C=1e3, kernel="rbf", gamma=unit * f).fit((X / X.std(axis=0))[train], y[train])
        for f in (0.1, 1.0, 10.0)
    ]
    best = max(model.score((X / X.std(axis=0))[test], y[test]) for model in isotropic)
    assert ard.score(X[test], y[test]) > 0.93 > best + 0.1
    assert ard.certificate_.relative_gap <= 1e-6


@pytest.mark.parametrize(
    "model",
    [
        FixedMarginClassifier(kernel="rbf", gamma="ard"),
        ConvexHullRanker(kernel="rbf", gamma="ard", approximation=30),
        SwappedPairsRanker(C=100.0, kernel="rbf", gamma="ard"),
    ],
)
def test_every_family_takes_it(model, tmp_path):
    X, value = few_columns(2, 120, 6)
    y = np.digitize(value, np.quantile(value, [0.33, 0.66]))
    model.fit(X, y)
    assert model.gamma_.shape == (6,)
    assert certify(model, X, y).holds
    scores = model.score_samples(X)
    save(model, tmp_path / "m.hull")
    np.testing.assert_array_equal(load(tmp_path / "m.hull").score_samples(X), scores)
    units = np.array([1e-3, 1.0, 7.0, 100.0, 1.0, 3.0])
    again = type(model)(**model.get_params()).fit(X * units, y)
    np.testing.assert_allclose(again.score_samples(X * units), scores, atol=0.02 * np.ptp(scores))
    sparse = type(model)(**model.get_params()).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(sparse.score_samples(sp.csr_array(X)), scores, atol=1e-3 * np.ptp(scores))


def test_onnx_has_the_lengths(tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    X, value = few_columns(3, 100, 4)
    model = FixedMarginClassifier(kernel="rbf", gamma="ard").fit(X, np.digitize(value, [0.0, 1.0]))
    export_onnx(model, tmp_path / "m.onnx")
    session = runtime.InferenceSession(str(tmp_path / "m.onnx"))
    name = session.get_inputs()[0].name
    outputs = dict(
        zip([o.name for o in session.get_outputs()], session.run(None, {name: X.astype(np.float32)}), strict=True)
    )
    scores = next(value for key, value in outputs.items() if "score" in key)
    np.testing.assert_allclose(np.ravel(scores), model.score_samples(X.astype(np.float32)), rtol=1e-4, atol=1e-4)


def test_where_it_cannot_be_learned():
    X, value = few_columns(4, 60, 3)
    y = np.digitize(value, [0.0, 1.0])
    with pytest.raises(HullrankError, match="kernel='rbf'"):
        FixedMarginClassifier(kernel="laplacian", gamma="ard").fit(X, y)
    with pytest.raises(HullrankError, match="one line"):
        ConvexHullRanker("0 < 1; 0 < 2", kernel="rbf", gamma="ard").fit(X, y)
    with pytest.raises(HullrankError, match="one line"):
        SwappedPairsRanker(kernel="rbf", gamma="ard").fit(X, pairs=[(0, 1), (2, 3)])
    with pytest.raises(HullrankError, match="one line"):
        OrderGraphSearchCV(ConvexHullRanker(kernel="rbf", gamma="ard")).fit(X, y)
