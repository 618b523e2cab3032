import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.utils.estimator_checks import parametrize_with_checks

from hullrank import PRank
from hullrank.datasets import make_ordinal
from hullrank.exceptions import LabelError

KERNELS = {"linear": {}, "rbf": {"kernel": "rbf", "gamma": 0.5}, "poly": {"kernel": "poly", "degree": 2, "gamma": 1.0}}


def published_algorithm(X, codes, n_classes, kernel=np.dot):
    """Figure 2 of the paper, word by word; yields (dual coefficients, thresholds, predicted class) after each row."""
    v, b = np.zeros(len(X)), np.zeros(n_classes - 1)
    for t, (x, c) in enumerate(zip(X, codes, strict=True)):
        score = sum(v[i] * kernel(X[i], x) for i in range(t))
        predicted = next((r for r in range(n_classes - 1) if score - b[r] < 0), n_classes - 1)
        side = np.where(np.arange(n_classes - 1) < c, 1, -1)
        tau = np.where((score - b) * side <= 0, side, 0)
        v[t] += tau.sum()
        b -= tau
        yield v.copy(), b.copy(), predicted


@pytest.mark.slow
@parametrize_with_checks([PRank(random_state=0), PRank(kernel="rbf", budget=40, random_state=0), PRank(average=True)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_linear_pass_is_the_published_algorithm():
    X, y = make_ordinal(120, 4, noise=0.5, random_state=0)
    *_, (v, b, _) = published_algorithm(X, y, 5)
    model = PRank(1, shuffle=False).fit(X, y)
    np.testing.assert_allclose(model.coef_, v @ X, rtol=1e-12)
    np.testing.assert_array_equal(model.thresholds_, b)
    assert model.n_mistakes_ == np.count_nonzero(v)


def test_kernel_pass_is_the_published_algorithm():
    X, y = make_ordinal(300, 2, surface="saddle", random_state=0)
    *_, (v, b, _) = published_algorithm(X, y, 5, lambda a, c: (a @ c + 1) ** 2)
    model = PRank(1, shuffle=False, kernel="poly", degree=2, gamma=1.0, coef0=1.0).fit(X, y)
    np.testing.assert_array_equal(model.support_vectors_, X[v != 0])
    np.testing.assert_array_equal(model.dual_coef_, v[v != 0])
    np.testing.assert_array_equal(model.thresholds_, b)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 6), st.sampled_from(sorted(KERNELS)), st.booleans())
def test_thresholds_stay_ordered_after_every_update(seed, n_classes, kernel, average):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(30, 3)) * rng.choice([0.01, 1, 100]), rng.integers(n_classes, size=30)
    model = PRank(average=average, **KERNELS[kernel])
    for x, c in zip(X, y, strict=True):
        model.partial_fit(x[None], [c], classes=np.arange(n_classes))
        assert (np.diff(model.thresholds_) >= 0).all()


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("budget", [None, 12])
def test_partial_fit_in_batches_equals_one_pass_of_fit(kernel, average, budget):
    X, y = make_ordinal(700, 4, noise=0.5, random_state=1)
    options = KERNELS[kernel] | {"average": average, "budget": budget}
    whole = PRank(1, shuffle=False, **options).fit(X, y)
    parts = PRank(**options)
    for rows in np.split(np.arange(700), [1, 5, 300, 650]):
        parts.partial_fit(X[rows], y[rows], classes=range(5))
    np.testing.assert_allclose(parts.thresholds_, whole.thresholds_, rtol=1e-9)
    np.testing.assert_allclose(parts.score_samples(X), whole.score_samples(X), rtol=1e-6, atol=1e-9)
    assert parts.n_mistakes_ == whole.n_mistakes_
    assert parts.t_ == 700


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_average_is_the_mean_over_all_examples(kernel):
    X, y = make_ordinal(60, 3, noise=0.5, random_state=2)
    last, thresholds, scores = PRank(**KERNELS[kernel]), [], []
    for x, c in zip(X, y, strict=True):
        last.partial_fit(x[None], [c], classes=range(5))
        thresholds.append(last.thresholds_)
        scores.append(last.score_samples(X))
    mean = PRank(1, shuffle=False, average=True, **KERNELS[kernel]).fit(X, y)
    np.testing.assert_allclose(mean.thresholds_, np.mean(thresholds, axis=0), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(mean.score_samples(X), np.mean(scores, axis=0), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kernel", KERNELS)
def test_sparse_equals_dense(kernel):
    X, y = make_ordinal(200, 6, noise=0.5, random_state=3)
    X[np.abs(X) < 0.7] = 0.0
    options = KERNELS[kernel] | {"random_state": 0}
    dense, sparse = PRank(3, **options).fit(X, y), PRank(3, **options).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(sparse.score_samples(X), dense.score_samples(X), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(dense.score_samples(sp.csr_array(X)), dense.score_samples(X), rtol=1e-9, atol=1e-9)
    dense.partial_fit(sp.csr_array(X), y)
    sparse.partial_fit(X, y)
    np.testing.assert_allclose(sparse.score_samples(X), dense.score_samples(X), rtol=1e-9, atol=1e-9)


def test_repeated_passes_share_coefficients_of_a_row():
    X, y = make_ordinal(100, 3, noise=1.0, random_state=0)
    model = PRank(10, kernel="rbf", random_state=0).fit(X, y)
    assert len(model.dual_coef_) <= 100
    assert len(np.unique(model.support_vectors_, axis=0)) == len(model.dual_coef_)


def test_the_budget_holds_after_every_batch():
    X, y = make_ordinal(400, 3, noise=1.0, random_state=0)
    model = PRank(kernel="rbf", budget=15)
    for rows in np.array_split(np.arange(400), 40):
        model.partial_fit(X[rows], y[rows], classes=range(5))
        assert len(model.dual_coef_) <= 15


def test_separable_data_end_without_a_mistake_within_the_bound_of_the_paper():
    X, y, coef = make_ordinal(300, 3, noise=0.0, return_coef=True, random_state=0)
    scores = X @ coef
    lower = np.array([scores[y == c].max() for c in range(4)])
    upper = np.array([scores[y == c].min() for c in range(1, 5)])
    keep = np.abs(scores[:, None] - (lower + upper) / 2).min(axis=1) > 0.05
    X, y, scores = X[keep], y[keep], scores[keep]
    cuts = np.array([(scores[y == c].max() + scores[y == c + 1].min()) / 2 for c in range(4)])
    margin = np.abs(scores[:, None] - cuts).min() / np.sqrt(1 + cuts @ cuts)
    model = PRank(10_000, random_state=0).fit(X, y)
    assert model.score(X, y) == 1.0
    assert model.n_mistakes_ <= 4 * (np.square(X).sum(axis=1).max() + 1) / margin**2


def test_the_rank_error_falls_over_the_first_pass():
    errors = []
    for seed in range(5):
        X, y = make_ordinal(6000, 2, surface="saddle", noise=0.125, random_state=seed)
        model = PRank(kernel="poly", degree=2, gamma=1.0, coef0=1.0)
        model.partial_fit(X[:20], y[:20], classes=range(5))
        early = np.abs(model.predict(X[20:520]) - y[20:520]).mean()
        model.partial_fit(X[20:5500], y[20:5500])
        errors.append((early, np.abs(model.predict(X[5500:]) - y[5500:]).mean()))
    early, late = np.mean(errors, axis=0)
    assert late < 0.7 * early


def test_labels_may_be_anything_ordered():
    X, y = make_ordinal(200, 3, n_classes=3, random_state=0)
    names = np.array(["low", "mid", "top"])
    by_code = PRank(random_state=0).fit(X, y)
    by_name = PRank(random_state=0, classes=["low", "mid", "top"]).fit(X, names[y])
    np.testing.assert_array_equal(by_name.predict(X), names[by_code.predict(X)])


def test_decision_function_agrees_with_predict():
    X, y = load_iris(return_X_y=True)
    model = PRank(20, average=True, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X).argmax(axis=1), model.predict(X))
    assert model.score(X, y) > 0.6


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X, y: PRank().partial_fit(X, y), "needs classes"),
        (lambda X, y: PRank().partial_fit(X, y, classes=[0, 1]), "not in classes"),
        (lambda X, y: PRank().fit(X, y).partial_fit(X, y, classes=[0, 1]), "differ"),
        (lambda X, y: PRank().fit(X, y + 0.5), "discretize"),
        (lambda X, y: PRank().fit(X, np.zeros_like(y)), "one class"),
    ],
)
def test_bad_labels_are_named(call, message):
    with pytest.raises(LabelError, match=message):
        call(*make_ordinal(50, 3, random_state=0))


def test_a_failed_fit_leaves_the_model_as_it_was():
    X, y = make_ordinal(50, 3, random_state=0)
    model = PRank(random_state=0).fit(X, y)
    before = model.coef_.copy()
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full_like(X, np.nan), y)
    np.testing.assert_array_equal(model.coef_, before)


def test_an_interrupt_keeps_the_passes_made(monkeypatch):
    X, y = make_ordinal(100, 3, noise=1.0, random_state=0)
    passes = []

    def interrupted(self, *arguments, visit=PRank._pass):
        if len(passes) == 2:
            raise KeyboardInterrupt
        passes.append(1)
        return visit(self, *arguments)

    monkeypatch.setattr(PRank, "_pass", interrupted)
    model = PRank(10, random_state=0).fit(X, y)
    monkeypatch.undo()
    np.testing.assert_array_equal(model.coef_, PRank(2, random_state=0).fit(X, y).coef_)
    assert model.n_iter_ == 2
