import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.ensemble import AdaBoostClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from hullrank import RankBoost
from hullrank.baselines._weak_rankers import PairPotential
from hullrank.datasets import discretize, make_ordinal
from hullrank.exceptions import NoComparablePairError
from hullrank.metrics import swapped_pairs

MODES = ["features", "thresholds"]


@parametrize_with_checks([RankBoost(100), RankBoost(30, weak_rankers="thresholds")])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def all_pairs(y, qid):
    return np.argwhere((y[:, None] < y[None, :]) & (qid[:, None] == qid[None, :]))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 30), st.integers(1, 4), st.integers(2, 12))
def test_the_potential_is_the_sum_over_pairs(seed, m, n_queries, n_grades):
    rng = np.random.default_rng(seed)
    y, qid = rng.integers(n_grades, size=m), rng.integers(n_queries, size=m)
    w, f = rng.uniform(0.5, 2, size=m), 3 * rng.normal(size=m) + 100 * qid
    pairs = all_pairs(y, qid)
    mass = w[pairs[:, 0]] * w[pairs[:, 1]]
    D = mass * np.exp(f[pairs[:, 0]] - f[pairs[:, 1]])
    expected = np.bincount(pairs[:, 1], D, minlength=m) - np.bincount(pairs[:, 0], D, minlength=m)
    potential = PairPotential(y, w, qid)
    assert potential.total == pytest.approx(mass.sum())
    if len(pairs):
        pi, loss = potential.at(f)
        np.testing.assert_allclose(pi, expected / D.sum(), rtol=1e-9, atol=1e-12)
        assert loss == pytest.approx(D.sum() / mass.sum())


def published_algorithm(H, y, qid, n_rounds):
    """Figure 1 of the paper with the third method for alpha, over stored pairs; H holds the weak rankers in [0, 1]."""
    pairs = all_pairs(y, qid)
    gains = H[pairs[:, 1]] - H[pairs[:, 0]]
    D = np.full(len(pairs), 1 / len(pairs))
    f = np.zeros(len(y))
    for _ in range(n_rounds):
        r = D @ gains
        j = np.argmax(np.abs(r))
        alpha = 0.5 * np.log((1 + r[j]) / (1 - r[j]))
        f += alpha * H[:, j]
        D = D * np.exp(-alpha * gains[:, j])
        D /= D.sum()
    return f


@pytest.mark.parametrize("n_queries", [1, 6])
@pytest.mark.parametrize("mode", MODES)
def test_rounds_are_the_published_algorithm(mode, n_queries):
    X, y = make_ordinal(80, 4, noise=0.5, random_state=0)
    qid = np.random.default_rng(0).integers(n_queries, size=80)
    H = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    if mode == "thresholds":
        H = np.hstack([x[:, None] > np.sort(x)[:-1] for x in X.T]).astype(float)
    expected = published_algorithm(H, y, qid, 40)
    model = RankBoost(40, weak_rankers=mode).fit(X, y, qid=qid)
    difference = model.score_samples(X) - expected
    np.testing.assert_allclose(difference, difference[0], atol=1e-6)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(MODES), st.booleans())
def test_the_loss_falls_every_round_by_the_promised_factor(seed, mode, graded):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(40, 3)) * [1, 100, 0.01], rng.normal(size=40)
    y = discretize(y, 4) if graded else y
    model = RankBoost(60, weak_rankers=mode).fit(X, y, qid=np.arange(40) % 3)
    r = np.tanh(model.alphas_)
    assert (model.losses_[1:] <= model.losses_[:-1] * np.sqrt(1 - r**2) * (1 + 1e-6)).all()
    assert (np.diff(model.losses_) < 0).all()
    assert model.losses_[0] == pytest.approx(1.0)


def test_features_converge_to_the_least_exponential_loss():
    X, y = make_ordinal(60, 3, noise=1.0, random_state=0)
    pairs = all_pairs(y, np.zeros(60))
    gains = X[pairs[:, 1]] - X[pairs[:, 0]]
    best = minimize(lambda w: np.exp(-gains @ w).mean(), np.zeros(3), tol=1e-12)
    model = RankBoost(5000, tol=1e-7).fit(X, y)
    assert model.n_iter_ < 5000
    assert model.losses_[-1] == pytest.approx(best.fun, rel=1e-9)
    np.testing.assert_allclose(model.coef_, best.x, atol=1e-4)


@pytest.mark.parametrize("mode", MODES)
def test_stages_end_in_the_scores(mode):
    X, y = load_diabetes(return_X_y=True)
    model = RankBoost(50, weak_rankers=mode).fit(X, y)
    stages = list(model.staged_score_samples(X))
    assert len(stages) == model.n_iter_ == 50
    np.testing.assert_allclose(stages[-1], model.score_samples(X), rtol=1e-9, atol=1e-9)
    pairs = all_pairs(y, np.zeros(len(y)))
    for t in (0, 20, 49):
        loss = np.exp(stages[t][pairs[:, 0]] - stages[t][pairs[:, 1]]).mean()
        assert loss == pytest.approx(model.losses_[t + 1], rel=1e-9)


@pytest.mark.parametrize("mode", MODES)
def test_weights_equal_repetition_and_zero_weight_equals_removal(mode):
    X, y = make_ordinal(60, 4, noise=0.7, random_state=1)
    w = np.random.default_rng(0).integers(0, 4, size=60)
    weighted = RankBoost(80, weak_rankers=mode).fit(X, y, sample_weight=w)
    repeated = RankBoost(80, weak_rankers=mode).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    np.testing.assert_allclose(weighted.score_samples(X), repeated.score_samples(X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("mode", MODES)
def test_only_the_order_of_targets_counts_and_features_may_be_moved(mode):
    X, y = make_ordinal(80, 3, noise=0.7, random_state=1)
    rows = np.random.default_rng(0).permutation(80)
    scores = RankBoost(60, weak_rankers=mode).fit(X, y).score_samples(X)
    renamed = RankBoost(60, weak_rankers=mode).fit(X[rows], np.exp(y[rows])).score_samples(X)
    moved = RankBoost(60, weak_rankers=mode).fit(8 * X + 32, y).score_samples(8 * X + 32)
    np.testing.assert_allclose(renamed, scores, atol=1e-9)
    np.testing.assert_allclose(moved - moved[0], scores - scores[0], atol=1e-7)


def test_sparse_equals_dense():
    X, y = make_ordinal(100, 5, noise=0.5, random_state=0)
    X[np.abs(X) < 0.8] = 0.0
    qid = np.arange(100) // 20
    dense, sparse = RankBoost(200).fit(X, y, qid=qid), RankBoost(200).fit(sp.csr_array(X), y, qid=qid)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-9)
    stages = zip(dense.staged_score_samples(X), sparse.staged_score_samples(sp.csr_array(X)), strict=True)
    assert max(np.abs(a - b).max() for a, b in stages) < 1e-9


@pytest.mark.slow
def test_step_functions_outrank_a_line_on_curved_data_and_match_adaboost():
    X, y = load_breast_cancer(return_X_y=True)
    train, test = np.arange(0, 569, 2), np.arange(1, 569, 2)
    model = RankBoost(200, weak_rankers="thresholds").fit(X[train], y[train])
    rival = AdaBoostClassifier(n_estimators=200, random_state=0).fit(X[train], y[train])
    assert model.score(X[test], y[test]) > roc_auc_score(y[test], rival.decision_function(X[test])) - 0.005
    X, y = make_ordinal(400, 2, noise=0.1, random_state=0)
    bent = np.column_stack([np.exp(2 * X[:, 0]), X[:, 1] ** 3])
    assert RankBoost(200, weak_rankers="thresholds").fit(bent, y).score(bent, y) > RankBoost().fit(bent, y).score(
        bent, y
    )


def test_the_linear_score_is_near_logistic_regression_on_two_classes():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)[:, :6]
    model, rival = RankBoost(2000).fit(X, y), LogisticRegression().fit(X, y)
    assert model.score(X, y) == pytest.approx(roc_auc_score(y, rival.decision_function(X)), abs=0.005)


@pytest.mark.parametrize("mode", MODES)
def test_early_stopping_keeps_the_best_round(mode):
    X, y = load_diabetes(return_X_y=True)
    options = {"weak_rankers": mode, "early_stopping": True, "n_iter_no_change": 5, "random_state": 0}
    model = RankBoost(500, validation_fraction=0.25, **options).fit(X, y)
    assert model.n_iter_ == 1 + np.argmax(model.validation_scores_) < 500
    assert len(model.validation_scores_) == model.n_iter_ + 5
    assert len(model.losses_) == model.n_iter_ + 1


def test_whole_queries_are_held_out(monkeypatch):
    X, y = make_ordinal(200, 3, noise=1.0, random_state=0)
    qid = np.repeat(np.arange(20), 10)
    model = RankBoost(early_stopping=True, validation_fraction=0.2, random_state=0)
    train, held_out = model._split(np.arange(200), qid)
    assert not set(qid[train]) & set(qid[held_out])
    assert len(set(qid[held_out])) == 4
    assert swapped_pairs(y, model.fit(X, y, qid=qid).score_samples(X), qid=qid) < 0.35


def test_importances_are_shares():
    X, y = make_ordinal(200, 6, n_informative=2, noise=0.1, random_state=0)
    importances = RankBoost(50, weak_rankers="thresholds").fit(X, y).feature_importances_
    assert importances.sum() == pytest.approx(1.0)
    assert np.sort(importances)[-2:].sum() > 0.8


def test_separable_data_stay_finite():
    X = np.arange(20.0)[:, None]
    for mode in MODES:
        model = RankBoost(5000, weak_rankers=mode).fit(X, X.ravel())
        assert np.isfinite(model.alphas_).all()
        assert model.score(X, X.ravel()) == 1.0


def test_nothing_to_rank_is_said():
    with pytest.raises(NoComparablePairError, match="nothing to rank"):
        RankBoost().fit(np.eye(4), [1, 2, 3, 4], qid=[1, 2, 3, 4])
    with pytest.raises(NoComparablePairError, match="validation_fraction"):
        RankBoost(early_stopping=True, validation_fraction=0.2, random_state=0).fit(np.eye(5), [1, 1, 1, 1, 2])


def test_an_interrupt_keeps_the_rounds_made(monkeypatch):
    X, y = make_ordinal(60, 3, noise=1.0, random_state=0)
    expected = RankBoost(3).fit(X, y)
    calls = []

    def interrupted(self, scores, at=PairPotential.at):
        calls.append(1)
        if len(calls) == 6:
            raise KeyboardInterrupt
        return at(self, scores)

    monkeypatch.setattr(PairPotential, "at", interrupted)
    np.testing.assert_array_equal(RankBoost().fit(X, y).coef_, expected.coef_)


def test_the_potential_does_not_depend_on_what_stood_in_memory():
    from hullrank.baselines._loops import pair_potential

    exponentials, block = np.ones((2, 4)), np.array([[0, 0, 0, 0], [0, 0, 1, 1]])
    potential = np.full(4, np.nan)
    assert pair_potential(exponentials, block, potential) == 4.0
    assert potential.tolist() == [-2.0, -2.0, 2.0, 2.0]
