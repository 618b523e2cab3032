import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics.pairwise import pairwise_kernels

from hullrank import ConvexHullRanker
from hullrank.exceptions import KernelError
from hullrank.problem.gram import Gram, check_gram
from hullrank.problem.kernel_factor import is_definite
from hullrank.problem.kernels import kernel_diagonal, kernel_matrix, resolve_gamma

NAMED = ["linear", "rbf", "poly", "sigmoid", "laplacian"]
PARAMETERS = {"gamma": 0.3, "degree": 3, "coef0": 0.7}


def reference(X, Y, kernel, parameters=PARAMETERS):
    known = {"rbf": ["gamma"], "laplacian": ["gamma"], "sigmoid": ["gamma", "coef0"], "linear": []}
    kept = {name: parameters[name] for name in known.get(kernel, list(parameters))}
    return pairwise_kernels(X, Y, metric=kernel, **kept)


@pytest.mark.parametrize("kernel", NAMED)
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array, sparse.csr_matrix])
def test_named_kernels_equal_scikit_learn(kernel, container):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(37, 4)) + 3, rng.normal(size=(23, 4)) + 3
    np.testing.assert_allclose(
        kernel_matrix(container(X), container(Y), kernel, **PARAMETERS), reference(X, Y, kernel), rtol=1e-10
    )
    K = kernel_matrix(container(X), None, kernel, **PARAMETERS)
    np.testing.assert_allclose(K, reference(X, X, kernel), rtol=1e-10)
    np.testing.assert_allclose(kernel_diagonal(container(X), kernel, **PARAMETERS), np.diag(K), rtol=1e-12)


@pytest.mark.parametrize("kernel", NAMED)
def test_float32_stays_float32_and_accurate(kernel):
    X = np.random.default_rng(1).normal(size=(50, 5)) + 100.0 * (kernel == "rbf")
    out = np.empty((50, 50), dtype=np.float32)
    Gram(X, kernel, **PARAMETERS).blocks(np.float32).fill(None, out)
    np.testing.assert_allclose(out, reference(X, X, kernel), rtol=2e-5, atol=2e-6)


def test_blocks_do_not_show(monkeypatch):
    import hullrank.problem.kernels as module

    X = np.random.default_rng(2).normal(size=(31, 3))
    whole = kernel_matrix(X, X[:7], "poly", **PARAMETERS)
    monkeypatch.setattr(module, "BLOCK_BYTES", 8 * 7 * 4)
    np.testing.assert_array_equal(kernel_matrix(X, X[:7], "poly", **PARAMETERS), whole)


@pytest.mark.parametrize("degree", [0, 1, 2, 3, 4, 7, 2.5])
def test_degrees(degree):
    X = np.abs(np.random.default_rng(3).normal(size=(9, 2)))
    np.testing.assert_allclose(
        kernel_matrix(X, None, "poly", gamma=1.0, degree=degree, coef0=0.5), (X @ X.T + 0.5) ** degree, rtol=1e-12
    )


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 4), min_size=2, max_size=8), st.integers(0, 1000))
def test_gamma_scale_weights_are_repetitions(counts, seed):
    X = np.random.default_rng(seed).normal(size=(len(counts), 3)) + 5
    repeated = np.repeat(X, counts, axis=0)
    expected = 1 / (3 * repeated.var())
    assert resolve_gamma("scale", repeated) == pytest.approx(expected, rel=1e-12)
    assert resolve_gamma("scale", X, counts) == pytest.approx(expected, rel=1e-12)
    assert resolve_gamma("scale", sparse.csr_array(X), counts) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("m", range(10, 20))
def test_gamma_scale_of_sparse_rows_far_from_zero_is_that_of_dense_rows(m):
    X = np.random.default_rng(0).normal(size=(m, 1)) + 1e5
    assert resolve_gamma("scale", sparse.csr_array(X)) == pytest.approx(resolve_gamma("scale", X), rel=1e-12)


def test_gamma_of_constant_data_and_auto():
    assert resolve_gamma("scale", np.ones((4, 2))) == 1.0
    assert resolve_gamma("auto", np.ones((4, 2))) == 0.5
    assert resolve_gamma(2, np.ones((4, 2))) == 2.0


@pytest.mark.parametrize("gamma", [0, -1.0, np.nan, np.inf, "wide"])
def test_bad_gamma(gamma):
    with pytest.raises(KernelError, match="gamma must be a positive number"):
        resolve_gamma(gamma, np.ones((2, 2)))


def test_callable_is_used_and_checked():
    X = np.random.default_rng(4).normal(size=(6, 2))
    np.testing.assert_array_equal(kernel_matrix(X, X[:2], lambda A, B: A @ B.T), X @ X[:2].T)
    with pytest.raises(KernelError, match=r"shape \(6, 6\).*got \(6, 2\)"):
        kernel_matrix(X, None, lambda A, B: A)
    with pytest.raises(KernelError, match=r"the kernel function is not finite at \(0, 0\): nan"):
        kernel_matrix(X, None, lambda A, B: np.full((6, 6), np.nan))
    with pytest.raises(KernelError, match="real numbers"):
        kernel_matrix(X, None, lambda A, B: np.ones((6, 6), dtype=complex))


def test_bad_kernel_names_and_degrees():
    X = np.ones((2, 2))
    with pytest.raises(KernelError, match=r"one of linear, rbf.*got 'gauss'"):
        kernel_matrix(X, None, "gauss")
    with pytest.raises(KernelError, match="degree must not be negative"):
        kernel_matrix(X, None, "poly", degree=-1)


def test_bad_gram_matrices():
    K = np.eye(4)
    assert check_gram(K) is K
    with pytest.raises(KernelError, match=r"square matrix.*shape \(4, 3\)"):
        check_gram(K[:, :3])
    skew = K.copy()
    skew[3, 1] = 0.5
    with pytest.raises(KernelError, match=r"not symmetric: entry \(1, 3\) is 0 but \(3, 1\) is 0.5"):
        check_gram(skew)
    skew[1, 3] = np.inf
    with pytest.raises(KernelError, match=r"not finite at \(1, 3\): inf"):
        check_gram(skew)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "sigmoid"])
def test_no_rows_on_one_side(kernel):
    X = np.ones((3, 2))
    assert kernel_matrix(X, X[:0], kernel).shape == (3, 0)
    assert kernel_matrix(X[:0], X, kernel).shape == (0, 3)


@given(st.integers(0, 10**6), st.floats(-9, -3), st.sampled_from([-1.0, 1.0]))
@settings(max_examples=40)
def test_definiteness_is_that_of_the_eigenvalues(seed, power, sign):
    """Around the limit, -1e-6 of the largest eigenvalue, in matrices of known spectrum."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 30))
    Q = np.linalg.qr(rng.normal(size=(n, n)))[0]
    values = np.append(10.0 ** rng.uniform(-3, 0, n - 1), sign * 10.0**power)
    K = (Q * values) @ Q.T
    K = (K + K.T) / 2
    limit = 1e-6 * max(values)
    if abs(min(values) + limit) > 1e-3 * limit:
        assert is_definite(Gram(K, "precomputed")) == (min(values) >= -limit)


CONTAINERS = {"dense": np.asarray, "sparse": sparse.csr_array, "wide": lambda X: 100.0 * X}


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("kernel", [*NAMED, lambda X, Y: X @ Y.T])
@pytest.mark.parametrize("used", [1.0, 0.3, 0.0])
def test_products_are_those_of_the_whole_matrix(kernel, container, used):
    rng = np.random.default_rng(4)
    X = CONTAINERS[container](rng.normal(size=(83, 3)))
    coef = np.where(rng.random(83) < used, rng.normal(size=83), 0.0)
    gram = Gram(X, kernel, **PARAMETERS)
    K = kernel_matrix(X, None, kernel, **PARAMETERS)
    size = np.abs(K).max()
    rows = np.array([5, 0, 80])
    table = Gram(X, kernel, **PARAMETERS, table=K)
    for each in (gram, table, Gram(K, "precomputed")):
        np.testing.assert_allclose(each.times(coef), K @ coef, rtol=1e-10, atol=1e-10 * size)
        np.testing.assert_allclose(each.times(coef, rows), K[rows] @ coef, rtol=1e-10, atol=1e-10 * size)


@pytest.mark.parametrize("kernel", NAMED)
@pytest.mark.parametrize("source", ["prepared", "fresh", "table", "precomputed"])
def test_a_part_has_the_values_of_the_whole(kernel, source):
    X = np.random.default_rng(5).normal(size=(40, 3))
    K = kernel_matrix(X, None, kernel, **PARAMETERS)
    gram = Gram(X, kernel, **PARAMETERS, table=K if source == "table" else None)
    gram = Gram(K, "precomputed") if source == "precomputed" else gram
    if source == "prepared":
        gram.blocks(np.float64)
    for rows in (np.array([7, 3, 39, 3, 20]), np.arange(40)):
        part, expected = gram.take(rows, compiled=True), K[np.ix_(rows, rows)]
        np.testing.assert_allclose(part.whole(), expected, rtol=1e-9, atol=1e-12)
        rough = np.empty((2, len(rows)), dtype=np.float32)
        part.blocks(np.float32).fill(np.array([4, 0]), rough)
        np.testing.assert_allclose(rough, expected[[4, 0]], rtol=2e-5, atol=2e-6)
        square = np.empty((3, 3))
        part.square(np.array([0, 4, 0]), square)
        np.testing.assert_allclose(square, expected[np.ix_([0, 4, 0], [0, 4, 0])], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(part.divided(4.0).whole(), expected / 4, rtol=1e-9, atol=1e-12)


def test_rows_far_apart_keep_their_digits():
    X = np.array([[0.0], [1e4], [1e4 + 1e-3], [3e4]])
    exact = np.exp(-0.5 * (X - X.T) ** 2)
    np.testing.assert_allclose(kernel_matrix(X, None, "rbf", gamma=0.5), exact, rtol=1e-7)


def test_an_asymmetric_entry_is_named_wherever_it_is():
    K = np.eye(600)
    K[590, 20] = 0.5
    with pytest.raises(KernelError, match=r"entry \(20, 590\) is 0 but \(590, 20\) is 0.5"):
        check_gram(K)
    K[20, 590] = 0.5 + 1e-8
    assert check_gram(K) is not None


def test_definiteness_of_large_matrices_is_seen_in_a_part():
    X = np.random.default_rng(6).normal(size=(1200, 2))
    K = kernel_matrix(X, None, "rbf", gamma=0.1)
    assert is_definite(Gram(K, "precomputed"))
    assert not is_definite(Gram(K - 1e-2 * np.eye(1200), "precomputed"))
    assert is_definite(Gram(np.ones((1200, 1200)), "precomputed"))
    assert is_definite(Gram(np.zeros((5, 5)), "precomputed"))


@pytest.mark.parametrize("known", ["precomputed", "table"])
@pytest.mark.parametrize("writable", [True, False])
def test_known_values_of_some_samples_are_those_of_a_copy(known, writable):
    """Whether they are gathered where they lie (plain arrays) or copied (others)."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    K = kernel_matrix(X, None, "rbf", gamma=0.3)
    K.flags.writeable = writable
    whole = Gram(K, "precomputed") if known == "precomputed" else Gram(X, "rbf", 0.3, table=K)
    first, second = rng.permutation(40)[:30], rng.permutation(30)[:25]
    part, chosen = whole.take(first).take(second), first[second]
    copy = K[np.ix_(chosen, chosen)]
    assert whole.can_be_gathered == writable
    assert len(part) == 25
    np.testing.assert_array_equal(part.whole(), copy)
    np.testing.assert_allclose(part.diagonal(), copy.diagonal())
    np.testing.assert_allclose(part.divided(2.0).whole(), copy / 2.0)
    np.testing.assert_array_equal(part.hashes(), whole.hashes()[chosen] if known == "table" else _hashes(copy))
    out = np.empty((4, 4))
    part.square(np.array([3, 1, 20, 7]), out)
    np.testing.assert_array_equal(out, copy[np.ix_([3, 1, 20, 7], [3, 1, 20, 7])])
    for coef in (rng.normal(size=25), np.eye(25)[3]):
        np.testing.assert_allclose(part.times(coef), copy @ coef, atol=1e-12)
        np.testing.assert_allclose(part.times(coef, np.array([4, 2])), (copy @ coef)[[4, 2]], atol=1e-12)
    rows = np.empty((2, 25), dtype=np.float32)
    part.blocks(np.float32).fill(np.array([5, 6]), rows)
    np.testing.assert_allclose(rows, copy[5:7], rtol=1e-6)


def _hashes(K):
    return Gram(K, "precomputed").hashes()


@pytest.mark.parametrize("form", ["plain", "read-only", "columns first", "float32", "shuffled"])
def test_a_precomputed_kernel_gives_the_same_model_in_any_form(form):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 3))
    y = np.searchsorted([-0.5, 0.5], X[:, 0] + 0.3 * rng.normal(size=80))
    K = kernel_matrix(X, None, "rbf", gamma=0.3)
    named = ConvexHullRanker(C=1.0, kernel="rbf", gamma=0.3, tol=1e-8).fit(X, y)
    order = rng.permutation(80) if form == "shuffled" else np.arange(80)
    K = K[np.ix_(order, order)].astype(np.float32 if form == "float32" else np.float64)
    K = np.asfortranarray(K) if form == "columns first" else K
    K.flags.writeable = form != "read-only"
    given = ConvexHullRanker(C=1.0, kernel="precomputed", tol=1e-8).fit(K, y[order])
    assert given.certificate_.status == "converged"
    assert given.certificate_.primal == pytest.approx(named.certificate_.primal, rel=1e-6)
