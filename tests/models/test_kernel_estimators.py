"""The class-based estimators with kernels: parity with SVC and NuSVC, with the linear models, scikit-learn's checks."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC, NuSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from hullrank import ConvexHullRanker, FixedMarginClassifier, NuMarginClassifier, SumOfMarginsClassifier
from hullrank.exceptions import HullrankError, KernelError
from hullrank.problem.kernels import kernel_matrix

DIABETES, TARGET = load_diabetes(return_X_y=True)
X = (DIABETES / DIABETES.std(axis=0))[:240]
GRADES = np.searchsorted(np.quantile(TARGET, [0.2, 0.4, 0.6, 0.8]), TARGET)[:240]
BINARY = (GRADES > 2).astype(int)
ALL = [ConvexHullRanker, FixedMarginClassifier, NuMarginClassifier, SumOfMarginsClassifier]


TIGHT = {"gamma": 0.1, "tol": 1e-12}


@pytest.mark.slow
@parametrize_with_checks(
    [
        ConvexHullRanker(kernel="rbf", **TIGHT),
        FixedMarginClassifier(kernel="rbf", **TIGHT),
        NuMarginClassifier(kernel="rbf", **TIGHT),
        SumOfMarginsClassifier(kernel="rbf", **TIGHT),
    ]
)
@pytest.mark.filterwarnings("ignore::hullrank.exceptions.UndeclaredOrderWarning")
@pytest.mark.filterwarnings("ignore::hullrank.exceptions.CollapsedRankingWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_estimator_follows_scikit_learn(estimator, check):
    check(estimator)


def svc_objective(svc, X, y, C):
    """1/2 |w|^2 + C sum of hinges of a fitted binary SVC."""
    K = kernel_matrix(svc.support_vectors_, None, "rbf", gamma=svc._gamma)
    margins = (2 * y - 1) * svc.decision_function(X)
    return 0.5 * float(svc.dual_coef_[0] @ K @ svc.dual_coef_[0]) + C * np.maximum(0, 1 - margins).sum()


@pytest.mark.slow
@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_two_classes_are_svc(C):
    ours = FixedMarginClassifier(C, loss="hinge", kernel="rbf", tol=1e-8).fit(X, BINARY)
    svc = SVC(C=C, tol=1e-8).fit(X, BINARY)
    assert ours.gamma_ == pytest.approx(svc._gamma)
    assert ours.certificate_.primal <= svc_objective(svc, X, BINARY, C) * (1 + 1e-8)
    np.testing.assert_allclose(ours.decision_function(X), svc.decision_function(X), atol=2e-3)


@pytest.mark.slow
@pytest.mark.parametrize("C", [100.0, 1000.0])
def test_objective_is_not_worse_than_svc_at_large_C(C):
    ours = FixedMarginClassifier(C, loss="hinge", kernel="rbf").fit(X, BINARY)
    assert ours.certificate_.primal <= svc_objective(SVC(C=C).fit(X, BINARY), X, BINARY, C) * (1 + 1e-6)


@pytest.mark.parametrize("nu", [0.3, 0.6])
def test_two_classes_are_nu_svc_up_to_scale(nu):
    """rho belongs to 1/2 |w|^2 - nu rho + ..., so the decision divided by rho is LIBSVM's."""
    ours = NuMarginClassifier(nu, kernel="rbf", tol=1e-9).fit(X, BINARY)
    svc = NuSVC(nu=nu, tol=1e-9).fit(X, BINARY)
    np.testing.assert_allclose(ours.decision_function(X) / ours.margin_, svc.decision_function(X), atol=2e-3)


def test_sum_of_margins_of_two_classes_is_nu_svc():
    C = 0.02
    ours = SumOfMarginsClassifier(C, class_weight=None, kernel="rbf", tol=1e-9).fit(X, BINARY)
    svc = NuSVC(nu=2 / (C * len(X)), tol=1e-9).fit(X, BINARY)
    ratio = ours.decision_function(X) / svc.decision_function(X)
    np.testing.assert_allclose(ratio, np.median(ratio), rtol=5e-2)
    np.testing.assert_array_equal(ours.decision_function(X) > 0, svc.decision_function(X) > 0)


@pytest.mark.parametrize("estimator", ALL)
def test_linear_gram_equals_the_linear_estimator(estimator):
    place = {"fraction": 0.5} if "fraction" in estimator().get_params() else {}
    linear = estimator(tol=1e-9, **place).fit(X, GRADES)
    gram = clone(linear).set_params(kernel="precomputed").fit(X @ X.T, GRADES)
    np.testing.assert_allclose(gram.score_samples(X @ X.T), linear.score_samples(X), atol=2e-4)
    np.testing.assert_allclose(gram.thresholds_, linear.thresholds_, atol=2e-4)


@pytest.mark.slow
@pytest.mark.parametrize("estimator", ALL)
def test_callable_precomputed_and_named_kernels_agree(estimator):
    named = estimator(kernel="rbf", gamma=0.05, tol=1e-8).fit(X, GRADES)
    function = estimator(kernel=lambda A, B: kernel_matrix(A, B, "rbf", gamma=0.05), tol=1e-8).fit(X, GRADES)
    K = kernel_matrix(X, None, "rbf", gamma=0.05)
    given = estimator(kernel="precomputed", tol=1e-8).fit(K, GRADES)
    # Scores differ by the norm of the difference at most, since k(x, x) = 1, and the norm by sqrt(2 gap) from the best.
    apart = sum((2 * model.certificate_.gap) ** 0.5 for model in (named, function, given))
    np.testing.assert_allclose(function.score_samples(X), named.score_samples(X), rtol=0, atol=apart)
    np.testing.assert_allclose(given.score_samples(K), named.score_samples(X), rtol=0, atol=apart)
    assert given.certificate_.primal == pytest.approx(named.certificate_.primal, rel=2e-8)
    assert given.__sklearn_tags__().input_tags.pairwise


def test_sparse_equals_dense():
    dense = FixedMarginClassifier(kernel="rbf", tol=1e-8).fit(X, GRADES)
    for container in (sparse.csr_array, sparse.csc_matrix):
        model = FixedMarginClassifier(kernel="rbf", tol=1e-8).fit(container(X), GRADES)
        np.testing.assert_allclose(model.score_samples(container(X)), dense.score_samples(X), atol=2e-4)


def test_fitted_attributes_are_those_of_svc():
    model = FixedMarginClassifier(kernel="rbf").fit(X, GRADES)
    assert not hasattr(model, "coef_")
    assert model.dual_coef_.shape == (1, len(model.support_))
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
    np.testing.assert_array_equal(model.n_support_, np.bincount(GRADES[model.support_]))
    assert np.all(np.diff(GRADES[model.support_]) >= 0)
    values = kernel_matrix(X, model.support_vectors_, "rbf", gamma=model.gamma_) @ model.dual_coef_[0]
    np.testing.assert_allclose(model.score_samples(X), values)
    model.set_params(kernel="linear").fit(X, GRADES)
    assert not hasattr(model, "dual_coef_")


def test_prediction_by_blocks(monkeypatch):
    import hullrank.problem.kernel_space as module

    model = ConvexHullRanker(kernel="poly", gamma=0.1).fit(X, GRADES)
    whole = model.predict(X)
    monkeypatch.setattr(module, "_BLOCK", 7 * len(model.support_))
    np.testing.assert_allclose(model.predict(X), whole)


def test_rows_of_zero_weight_are_as_good_as_absent():
    weights = np.ones(len(X))
    weights[::3] = 0
    kept = weights > 0
    K = kernel_matrix(X, None, "rbf", gamma=0.1)
    with_zeros = FixedMarginClassifier(kernel="precomputed").fit(K, GRADES, sample_weight=weights)
    without = FixedMarginClassifier(kernel="precomputed").fit(K[np.ix_(kept, kept)], GRADES[kept])
    np.testing.assert_array_equal(np.flatnonzero(kept)[without.support_], with_zeros.support_)
    np.testing.assert_allclose(with_zeros.score_samples(K), without.score_samples(K[:, kept]))


def test_coefficient_norm_is_the_linear_problem_over_kernel_rows():
    K = kernel_matrix(X, None, "rbf", gamma=0.1)
    ours = ConvexHullRanker(kernel="rbf", gamma=0.1, norm="coefficient", tol=1e-9).fit(X, GRADES)
    linear = ConvexHullRanker(tol=1e-9).fit(K, GRADES)
    assert ours.certificate_.primal == pytest.approx(linear.certificate_.primal, rel=1e-7)
    np.testing.assert_allclose(ours.score_samples(X), linear.score_samples(K), atol=1e-4)
    sigmoid = ConvexHullRanker(kernel="sigmoid", gamma=1.0, norm="coefficient").fit(X, GRADES)
    assert sigmoid.certificate_.relative_gap <= 1e-6


def test_warm_start_reaches_the_same_answer():
    warm = FixedMarginClassifier(1.0, kernel="rbf", warm_start=True).fit(X, GRADES)
    rounds = []
    for C in (1.1, 1.2):
        warm.set_params(C=C).fit(X, GRADES)
        cold = FixedMarginClassifier(C, kernel="rbf").fit(X, GRADES)
        assert warm.certificate_.primal == pytest.approx(cold.certificate_.primal, rel=2e-6)
        rounds.append((warm.n_iter_, cold.n_iter_))
    assert sum(w for w, _ in rounds) < sum(c for _, c in rounds)
    warm.fit(X[:100], GRADES[:100])
    assert warm.certificate_.relative_gap <= 1e-6


def test_nystroem_names_its_scope():
    model = FixedMarginClassifier(kernel="rbf", approximation=40).fit(X, GRADES)
    assert len(model.support_) <= 40
    assert "span of 40 samples" in model.certificate_.cause
    assert FixedMarginClassifier(kernel="rbf", approximation="nystroem").fit(X, GRADES).score(X, GRADES) > 0.4


def test_works_in_cross_validation_with_a_precomputed_kernel():
    K = kernel_matrix(X, None, "rbf", gamma=0.05)
    direct = cross_val_score(FixedMarginClassifier(kernel="rbf", gamma=0.05), X, GRADES, cv=3)
    np.testing.assert_allclose(cross_val_score(FixedMarginClassifier(kernel="precomputed"), K, GRADES, cv=3), direct)


@pytest.mark.parametrize("estimator", ALL)
def test_bad_kernels_are_named(estimator):
    with pytest.raises(KernelError, match="square matrix"):
        estimator(kernel="precomputed").fit(X, GRADES)
    skew = np.eye(len(X))
    skew[2, 5] = 1.0
    with pytest.raises(KernelError, match=r"not symmetric: entry \(2, 5\)"):
        estimator(kernel="precomputed").fit(skew, GRADES)
    with pytest.raises(KernelError, match="the kernel function is not finite"):
        estimator(kernel=lambda A, B: np.full((len(A), len(B)), np.inf)).fit(X, GRADES)
    with pytest.raises(KernelError, match="must have shape"):
        estimator(kernel=lambda A, B: np.ones((3, 3))).fit(X, GRADES)
    with pytest.raises(KernelError, match=r"not positive semi-?definite"):
        estimator(kernel="sigmoid", gamma=5.0, coef0=-1.0).fit(X, GRADES)
    for wrong in ({"degree": -1}, {"gamma": 0.0}, {"gamma": -1.0}, {"kernel": "gauss"}, {"cache_size": 0}):
        name = next(iter(wrong))
        with pytest.raises(ValueError, match=f"The '{name}' parameter of {estimator.__name__} must be"):
            estimator(**{"kernel": "rbf", **wrong}).fit(X, GRADES)


def test_penalties_and_norms_that_cannot_be():
    with pytest.raises(HullrankError, match="penalty='l1' works on features"):
        ConvexHullRanker(kernel="rbf", penalty="l1").fit(X, GRADES)
    with pytest.raises(HullrankError, match="whole kernel matrix"):
        ConvexHullRanker(kernel="rbf", norm="coefficient", approximation=10).fit(X, GRADES)


def test_an_early_end_warns():
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = FixedMarginClassifier(10.0, kernel="rbf", max_iter=1).fit(X, GRADES)
    assert model.n_iter_ == 1
    assert model.certificate_.dual <= model.certificate_.primal


@pytest.mark.parametrize(
    "model",
    [
        FixedMarginClassifier(kernel="rbf", approximation=15, tol=1e-9),
        ConvexHullRanker(kernel="rbf", approximation=15, tol=1e-9),
    ],
)
def test_samples_that_span_an_approximation_do_not_depend_on_the_order_of_rows(model):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    y = np.digitize(np.sin(X[:, 0]) + 0.3 * rng.normal(size=90), [-0.5, 0.5])
    order = rng.permutation(90)
    one, other = clone(model).fit(X, y), clone(model).fit(X[order], y[order])
    assert sorted(one.support_.tolist()) == sorted(order[other.support_].tolist())
    np.testing.assert_allclose(one.score_samples(X), other.score_samples(X), atol=1e-4)
