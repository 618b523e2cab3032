import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal, norm
from sklearn.datasets import load_iris
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from hullrank import InformativeVectorClassifier
from hullrank.baselines import _assumed_density, _ordered_noise
from hullrank.baselines._assumed_density import Posterior, Prior, filter_greedily
from hullrank.baselines._ordered_noise import evidence, expected_gain, fit_thresholds, observed_gain
from hullrank.datasets import make_ordinal
from hullrank.exceptions import ConvergenceWarning, LabelError
from hullrank.metrics import wmw_score

CUTS = np.array([-1.0, 0.2, 1.5])
FIXED = {"tune": False, "length_scale": 1.0, "signal_variance": 4.0, "bias_variance": 0.5}


def squared_distances(X):
    return np.square(X[:, None] - X[None]).sum(axis=-1)


def filtered(X, codes, thresholds=CUTS, n_active=None, expected=True, prior=Prior(4.0, 1.0, 0.5)):  # noqa: B008
    D = squared_distances(X)
    return filter_greedily(lambda i: D[i], prior, codes, thresholds, n_active or len(codes), expected)


@parametrize_with_checks([InformativeVectorClassifier(20, max_iter=60), InformativeVectorClassifier(20, **FIXED)])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@settings(max_examples=60, deadline=None)
@given(st.floats(-4, 4), st.floats(0.05, 20), st.integers(0, 3))
def test_one_observation_matches_the_exact_moments(mean, variance, code):
    """mean + variance g and variance (1 - nu variance) are the moments of prior times likelihood, by quadrature."""
    low, high = np.concatenate([[-np.inf], CUTS, [np.inf]])[code : code + 2]
    f = mean + np.sqrt(variance) * np.linspace(-12, 12, 20_001)
    density = norm.pdf(f, mean, np.sqrt(variance)) * (norm.cdf(high - f) - norm.cdf(low - f))

    def moment(k):
        return np.trapezoid(f**k * density, f)

    seen = evidence(np.array([mean]), np.array([variance]), np.array([code]), CUTS)
    z = moment(0)
    if z < 1e-6:
        return
    first, second = moment(1) / z, moment(2) / z
    assert seen.log_z[0] == pytest.approx(np.log(z), abs=1e-6)
    assert mean + variance * seen.g[0] == pytest.approx(first, abs=1e-5)
    assert variance * (1 - seen.nu[0] * variance) == pytest.approx(second - first**2, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("code", range(4))
def test_evidence_is_finite_far_out(code):
    seen = evidence(np.array([-60.0, 0.0, 60.0]), np.full(3, 0.3), np.full(3, code), CUTS)
    assert all(np.isfinite(part).all() for part in seen)
    slope = [evidence(np.array([60.0 + h]), np.array([0.3]), np.array([code]), CUTS).log_z[0] for h in (-1e-3, 1e-3)]
    assert seen.g[2] == pytest.approx((slope[1] - slope[0]) / 2e-3, rel=1e-4, abs=1e-12)


def test_the_expected_gain_is_the_mean_of_the_observed():
    rng = np.random.default_rng(0)
    mean, variance = rng.normal(size=30), rng.uniform(0.1, 5, size=30)
    codes = np.arange(4)[:, None] * np.ones(30, dtype=int)
    gains = np.array([observed_gain(mean, variance, CUTS, c) for c in codes])
    chances = np.exp([evidence(mean, variance, c, CUTS).log_z for c in codes])
    np.testing.assert_allclose(expected_gain(mean, variance, CUTS), (gains * chances).sum(axis=0), rtol=1e-8)
    np.testing.assert_allclose(_ordered_noise.class_probabilities(mean, variance, CUTS), chances.T, atol=1e-12)


@pytest.mark.parametrize("expected", [True, False])
@pytest.mark.parametrize("n_active", [1, 7, 25])
def test_the_recursion_is_the_posterior_of_its_sites(expected, n_active):
    X, y = make_ordinal(25, 2, n_classes=4, random_state=0)
    prior = Prior(4.0, 1.0, 0.5)
    result = filtered(X, y, n_active=n_active, expected=expected)
    active = result.active
    K = prior.covariance(squared_distances(X))
    noisy = K[np.ix_(active, active)] + np.diag(1 / result.precision)
    gain = np.linalg.solve(noisy, K[active]).T
    np.testing.assert_allclose(result.mean, gain @ result.centre, atol=1e-8)
    np.testing.assert_allclose(result.variance, np.diag(K - gain @ K[active]), atol=1e-8)
    mean, variance = Posterior.from_sites(prior, X[active], result).at(X)
    np.testing.assert_allclose(mean, result.mean, atol=1e-8)
    np.testing.assert_allclose(variance, result.variance, atol=1e-8)


@pytest.mark.parametrize("expected", [True, False])
def test_each_choice_removes_most_entropy(expected):
    X, y = make_ordinal(30, 2, n_classes=4, random_state=1)
    chosen = filtered(X, y, n_active=12, expected=expected).active
    assert len(set(chosen)) == 12
    for d in range(1, 12):
        state = filtered(X, y, n_active=d, expected=expected)
        gain = (
            expected_gain(state.mean, state.variance, CUTS)
            if expected
            else observed_gain(state.mean, state.variance, CUTS, y)
        )
        gain[state.active] = -np.inf
        assert chosen[d] == np.argmax(gain)


def test_the_likelihood_of_all_samples_is_near_the_exact_one():
    """Two classes: p(classes) is an orthant probability of N(0, K + I); matching moments comes near it."""
    X, _ = make_ordinal(5, 2, random_state=3)
    y = np.array([0, 1, 1, 0, 1])
    K = Prior(4.0, 1.0, 0.5).covariance(squared_distances(X)) + np.eye(5)
    flip = np.diag(np.where(y == 1, -1.0, 1.0))
    exact = multivariate_normal(np.zeros(5), flip @ K @ flip).logcdf(np.zeros(5))
    assert filtered(X, y, np.zeros(1)).log_likelihood == pytest.approx(exact, rel=0.02)
    assert 5 * np.log(0.5) > exact + 1


def test_thresholds_have_the_largest_likelihood():
    rng = np.random.default_rng(0)
    score = 2 * rng.normal(size=4000)
    codes = np.searchsorted(CUTS, score + rng.normal(size=4000))
    variance = np.full(4000, 1e-9)
    found = fit_thresholds(score, variance, codes, np.array([-0.3, 0.0, 0.3]))
    np.testing.assert_allclose(found, CUTS, atol=0.12)
    best = evidence(score, variance, codes, found).log_z.sum()
    for step in 0.01 * np.vstack([np.eye(3), -np.eye(3)]):
        assert evidence(score, variance, codes, found + step).log_z.sum() < best


def test_ranks_as_well_as_the_full_process():
    X, y = make_ordinal(600, 3, surface="saddle", noise=0.2, random_state=0)
    train, test = np.arange(400), np.arange(400, 600)
    model = InformativeVectorClassifier(60).fit(X[train], y[train])
    full = GaussianProcessRegressor(ConstantKernel() * RBF() + WhiteKernel(), normalize_y=True).fit(X[train], y[train])
    assert wmw_score(y[test], model.score_samples(X[test])) > wmw_score(y[test], full.predict(X[test])) - 0.01
    assert len(model.active_) == 60
    assert (
        model.log_marginal_likelihood_value_
        > InformativeVectorClassifier(60, tune=False).fit(X[train], y[train]).log_marginal_likelihood_value_
    )


def test_probabilities_are_calibrated_and_the_variance_grows_away_from_the_data():
    X, y = make_ordinal(900, 2, noise=0.5, n_classes=4, random_state=0)
    model = InformativeVectorClassifier(60).fit(X[:400], y[:400])
    chances = model.predict_proba(X[400:])
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    assert (chances >= 0).all()
    frequency = np.bincount(y[400:], minlength=4) / 500
    np.testing.assert_allclose(chances.mean(axis=0), frequency, atol=0.05)
    sure = chances.max(axis=1)
    assert np.mean(model.predict(X[400:]) == y[400:]) == pytest.approx(sure.mean(), abs=0.07)
    _, near = model.score_samples(np.zeros((1, 2)), return_variance=True)
    _, far = model.score_samples(np.full((1, 2), 50.0), return_variance=True)
    assert far[0] > 5 * near[0]


def test_the_mean_is_the_kernel_expansion():
    X, y = make_ordinal(80, 3, random_state=0)
    model = InformativeVectorClassifier(20, **FIXED).fit(X, y)
    np.testing.assert_allclose(model.kernel_(X, model.active_vectors_) @ model.dual_coef_, model.score_samples(X))
    np.testing.assert_array_equal(model.active_vectors_, X[model.active_])


@pytest.mark.parametrize("selection", ["expected", "observed"])
def test_rotated_shifted_scaled_and_reversed_data_give_the_same_scores(selection):
    X, y = make_ordinal(70, 3, n_classes=3, noise=0.3, random_state=0)
    options = FIXED | {"selection": selection}
    scores = InformativeVectorClassifier(25, **options).fit(X, y).score_samples(X)
    rotation = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    turned = X @ rotation + 3.0
    np.testing.assert_allclose(
        InformativeVectorClassifier(25, **options).fit(turned, y).score_samples(turned), scores, atol=1e-6
    )
    longer = options | {"length_scale": 10.0}
    np.testing.assert_allclose(
        InformativeVectorClassifier(25, **longer).fit(10 * X, y).score_samples(10 * X), scores, atol=1e-6
    )
    np.testing.assert_allclose(
        InformativeVectorClassifier(25, **options).fit(X, 2 - y).score_samples(X), -scores, atol=1e-6
    )
    rows = np.random.default_rng(1).permutation(70)
    shuffled = InformativeVectorClassifier(25, **options).fit(X[rows], y[rows])
    np.testing.assert_allclose(shuffled.score_samples(X), scores, atol=1e-6)


def test_sparse_equals_dense():
    X, y = make_ordinal(80, 4, random_state=0)
    X[np.abs(X) < 0.5] = 0.0
    dense = InformativeVectorClassifier(20, **FIXED).fit(X, y)
    sparse = InformativeVectorClassifier(20, **FIXED).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(sparse.predict_proba(sp.csr_array(X)), dense.predict_proba(X), atol=1e-8)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_hyperparameters_are_chosen_on_few_samples_of_many():
    X, y = make_ordinal(2500, 2, random_state=0)
    options = {"max_iter": 40, "random_state": 0}
    model = InformativeVectorClassifier(10, **options).fit(X, y)
    again = InformativeVectorClassifier(10, **options).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), again.predict_proba(X))
    assert model.active_.max() >= 2000


def test_more_active_samples_than_rows_take_in_all():
    X, y = load_iris(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    model = InformativeVectorClassifier(1000, **FIXED).fit(X, y)
    assert sorted(model.active_) == list(range(150))
    assert model.score(X, y) > 0.95


def test_a_short_search_warns():
    X, y = make_ordinal(60, 2, random_state=0)
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        model = InformativeVectorClassifier(10, max_iter=5).fit(X, y)
    assert model.n_iter_ <= 6
    with pytest.warns(ConvergenceWarning) as caught:
        InformativeVectorClassifier(10, max_iter=5).fit(X, y)
    assert caught[0].filename == __file__


def test_an_interrupt_keeps_the_best_so_far(monkeypatch):
    X, y = make_ordinal(60, 2, random_state=0)
    calls = []

    def interrupted(*arguments, choose=_assumed_density._most_informative):
        calls.append(1)
        if len(calls) in (31, 36):
            raise KeyboardInterrupt
        return choose(*arguments)

    def search_is_interrupted(self, *arguments, run=InformativeVectorClassifier._filter):
        result = run(self, *arguments)
        if len(arguments) == 5 and len(calls) >= 31:
            raise KeyboardInterrupt
        return result

    monkeypatch.setattr(_assumed_density, "_most_informative", interrupted)
    monkeypatch.setattr(InformativeVectorClassifier, "_filter", search_is_interrupted)
    model = InformativeVectorClassifier(10).fit(X, y)
    assert model.n_iter_ == 3
    assert len(model.active_) == 4
    assert np.isfinite(model.predict_proba(X)).all()


def test_one_class_is_refused():
    with pytest.raises(LabelError, match="one class"):
        InformativeVectorClassifier().fit(np.eye(3), [1, 1, 1])
