"""Weights of required signs (``monotonic_cst``): optima against a conic solver, certificates that hold, refusals."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import conic
from hullrank import (
    ConvexHullClassifier,
    ConvexHullRanker,
    FixedMarginClassifier,
    NuMarginClassifier,
    SampledPairsRanker,
    SumOfMarginsClassifier,
    SwappedPairsRanker,
)
from hullrank.exceptions import HullrankError, NotSeparableError
from hullrank.models._driven import row_weight

CHAIN = [(0, 1), (1, 2)]


def graded(seed, m=50, n=6, noise=1.0):
    """Three classes, correlated features, and signs of which about half forbid what the data ask for."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, n)) @ (np.eye(n) + 0.6 * rng.normal(size=(n, n)))
    score = X @ rng.normal(size=n)
    score = score / score.std() + noise * rng.normal(size=m)
    signs = rng.choice([1, -1, 0], size=n, p=[0.4, 0.4, 0.2])
    return X, np.digitize(score, [-0.5, 0.5]), signs


def allowed(model, signs):
    return bool((np.asarray(signs) * model.coef_ >= 0).all())


CASES = {
    "hull": (ConvexHullRanker, {}, lambda X, y, C, s: conic.hull(X, y, CHAIN, C, intervals="proper", signs=s)),
    "hull hinge": (
        ConvexHullRanker, {"loss": "hinge"},
        lambda X, y, C, s: conic.hull(X, y, CHAIN, C, intervals="proper", loss="hinge", signs=s),
    ),
    "hull free": (
        ConvexHullRanker, {"intervals": "free"}, lambda X, y, C, s: conic.hull(X, y, CHAIN, C, signs=s)
    ),
    "hull logistic": (
        ConvexHullClassifier, {"loss": "logistic"},
        lambda X, y, C, s: conic.hull(X, y, CHAIN, C, intervals="proper", loss="logistic", signs=s),
    ),
    "hull edges": (
        ConvexHullRanker, {"slack": "edge"}, lambda X, y, C, s: conic.hull(X, y, CHAIN, C, slack="edge", signs=s)
    ),
    "hull l1": (
        ConvexHullRanker, {"penalty": "l1"},
        lambda X, y, C, s: conic.hull(X, y, CHAIN, C, intervals="proper", l1=True, signs=s),
    ),
    "hull l1 hinge": (
        ConvexHullRanker, {"penalty": "l1", "loss": "hinge"},
        lambda X, y, C, s: conic.hull(X, y, CHAIN, C, intervals="proper", l1=True, loss="hinge", signs=s),
    ),
    "fixed": (
        FixedMarginClassifier, {"loss": "hinge", "thresholds": "immediate"},
        lambda X, y, C, s: conic.fixed_margin(X, y, C, signs=s),
    ),
    "fixed squared": (
        FixedMarginClassifier, {"loss": "squared_hinge", "thresholds": "immediate"},
        lambda X, y, C, s: conic.fixed_margin(X, y, C, loss="squared_hinge", signs=s),
    ),
    "fixed all, logistic": (
        FixedMarginClassifier, {"loss": "logistic", "thresholds": "all"},
        lambda X, y, C, s: conic.fixed_margin(X, y, C, loss="logistic", thresholds="all", signs=s),
    ),
    **{
        f"pairs {loss}": (
            SwappedPairsRanker, {"loss": loss},
            lambda X, y, C, s, loss=loss: conic.pairs(
                X, y, C, weights=np.ones(len(y)), qid=np.zeros(len(y)), loss=loss, signs=s
            ),
        )
        for loss in ("hinge", "squared_hinge", "logistic")
    },
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(("seed", "C"), [(0, 0.03), (1, 1.0), (2, 30.0), (3, 1.0)])
def test_the_signed_optimum_is_that_of_a_conic_solver(name, seed, C):
    X, y, signs = graded(seed)
    kind, parameters, truth = CASES[name]
    model = kind(C=C, monotonic_cst=signs, **parameters).fit(X, y)
    optimum, certificate = truth(X, y, C, signs), model.certificate_
    assert allowed(model, signs)
    assert certificate.status == "converged"
    assert certificate.primal == pytest.approx(optimum, rel=3e-6, abs=1e-9)
    assert certificate.dual <= optimum * (1 + 1e-7) + 1e-9


@pytest.mark.parametrize("seed", range(6))
def test_driven_margins_with_signs_are_those_of_a_conic_solver(seed):
    X, y, signs = graded(seed, noise=0.5)
    nu = NuMarginClassifier(monotonic_cst=signs).fit(X, y)
    assert allowed(nu, signs)
    assert nu.certificate_.status == "converged"
    assert nu.certificate_.primal == pytest.approx(conic.nu_margin(X, y, nu.nu_, signs=signs), rel=3e-6, abs=1e-9)
    total = SumOfMarginsClassifier(class_weight=None, monotonic_cst=signs).fit(X, y)
    assert allowed(total, signs)
    assert total.certificate_.status == "converged"
    truth = conic.sum_of_margins(X, y, total.C_, signs=signs)
    assert total.certificate_.primal == pytest.approx(truth, rel=3e-6, abs=1e-7)


def test_the_range_of_nu_is_that_of_the_signed_problem():
    """At the lower end of the range the optimum begins to be better than 0, as a conic solver sees it."""
    X, y, signs = graded(1, noise=0.5)
    model = NuMarginClassifier(monotonic_cst=signs)
    statement = model.state(X, y)
    unit = model._unit(statement.samples, None)
    rows = row_weight(unit, statement.samples)
    low, high = (drive / rows for drive in model._range(unit, statement.samples, None))
    unsigned = NuMarginClassifier()._range(unit, statement.samples, None)[0] / rows
    assert unsigned < low < high
    assert conic.nu_margin(X, y, low - 0.01 * (high - low), signs=signs) > -1e-9
    assert conic.nu_margin(X, y, low + 0.05 * (high - low), signs=signs) < -1e-6


def test_a_hard_margin_with_signs():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    score = X @ [2.0, 1.0, 0.3, -0.3]
    X, y = X[np.abs(score) > 0.5], (score[np.abs(score) > 0.5] > 0).astype(int)
    signs = [1, 1, 0, 1]
    model = FixedMarginClassifier(C=np.inf, monotonic_cst=signs).fit(X, y)
    assert allowed(model, signs)
    assert model.certificate_.status == "converged"
    assert model.certificate_.primal == pytest.approx(conic.fixed_margin(X, y, 1e7, signs=signs), rel=1e-5)
    with pytest.raises(NotSeparableError, match="C=inf asks for a hard margin"):
        FixedMarginClassifier(C=np.inf, monotonic_cst=[-1, -1, 0, 0]).fit(X, y)


def test_signs_that_the_data_ask_for_change_nothing():
    X, y, _ = graded(4)
    free = ConvexHullRanker().fit(X, y)
    signed = ConvexHullRanker(monotonic_cst=np.sign(free.coef_)).fit(X, y)
    np.testing.assert_allclose(signed.coef_, free.coef_, rtol=1e-2, atol=1e-3)
    assert signed.certificate_.primal == pytest.approx(free.certificate_.primal, rel=2e-6)


@pytest.mark.parametrize("kind", [ConvexHullRanker, FixedMarginClassifier, SwappedPairsRanker])
def test_all_weights_forbidden_leave_none(kind):
    """Every feature is the target itself, and none may have a positive weight."""
    y = np.repeat([0, 1, 2], 10)
    X = np.stack([y, 2 * y], axis=1) + 0.01 * np.random.default_rng(0).normal(size=(30, 2))
    with pytest.warns(UserWarning, match="collapsed") if kind is not SwappedPairsRanker else _no_warning():
        model = kind(monotonic_cst=[-1, -1]).fit(X, y)
    assert not model.coef_.any()
    assert model.certificate_.status == "converged"


def _no_warning():
    from contextlib import nullcontext

    return nullcontext()


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_many_rows_and_sparse_rows(loss):
    X, y, signs = graded(5, m=20_000, n=8)
    model = ConvexHullRanker(loss=loss, monotonic_cst=signs).fit(X, y)
    assert allowed(model, signs)
    assert model.certificate_.status == "converged"
    sparse = ConvexHullRanker(loss=loss, monotonic_cst=signs).fit(sp.csr_array(X), y)
    assert sparse.certificate_.primal == pytest.approx(model.certificate_.primal, rel=3e-6)
    pairs = SwappedPairsRanker(loss=loss, monotonic_cst=signs).fit(X, y)
    assert allowed(pairs, signs)
    assert pairs.certificate_.status == "converged"


def test_more_columns_than_rows():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40, 200)), np.arange(40) % 3
    model = ConvexHullRanker(C=10.0, monotonic_cst=np.ones(200)).fit(X, y)
    assert allowed(model, np.ones(200))
    assert model.certificate_.status == "converged"
    assert model.certificate_.primal == pytest.approx(
        conic.hull(X, y, CHAIN, 10.0, intervals="proper", signs=np.ones(200)), rel=3e-6
    )


def test_names_queries_and_drawn_pairs():
    X, y, _ = graded(6)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = SampledPairsRanker(random_state=0, monotonic_cst={"a": 1, "c": -1}).fit(frame, y, qid=np.arange(50) // 10)
    assert model.coef_[0] >= 0 >= model.coef_[2]
    assert model.certificate_.status == "converged"


def test_a_point_of_forbidden_weights_has_no_finite_objective():
    X, y, signs = graded(2)
    for kind in (ConvexHullRanker, SwappedPairsRanker):
        free, signed = kind().fit(X, y), kind(monotonic_cst=signs)
        assert not allowed(free, signs)
        assert signed.state(X, y).objective(free.candidate(free.state(X, y))) == np.inf


@pytest.mark.parametrize(
    "model",
    [
        ConvexHullRanker(kernel="rbf"),
        ConvexHullRanker(norm="coefficient"),
        FixedMarginClassifier(kernel="poly"),
        NuMarginClassifier(kernel="rbf"),
        SumOfMarginsClassifier(approximation=10),
        SwappedPairsRanker(kernel="laplacian"),
    ],
)
def test_kernels_refuse_with_the_reason(model):
    X, y, signs = graded(0)
    with pytest.raises(HullrankError, match=r"monotonic_cst sets the signs of the features' weights, and a score"):
        model.set_params(monotonic_cst=signs).fit(X, y)


def test_wrong_signs_are_refused():
    X, y, _ = graded(0)
    with pytest.raises(HullrankError, match="monotonic_cst has shape"):
        ConvexHullRanker(monotonic_cst=[1, 0]).fit(X, y)
    with pytest.raises(HullrankError, match="signs are 1, -1 and 0"):
        SwappedPairsRanker(monotonic_cst=[2, 0, 0, 0, 0, 0]).fit(X, y)
