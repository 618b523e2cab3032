"""The objective recomputed from a model's attributes is the one its certificate states."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import slow_after
from hullrank import (
    ConvexHullRanker,
    FixedMarginClassifier,
    NuMarginClassifier,
    SampledPairsRanker,
    SumOfMarginsClassifier,
    SwappedPairsRanker,
)
from hullrank.reports.objective import recomputed_objective

MODELS = [
    ConvexHullRanker(),
    ConvexHullRanker(loss="hinge", C=0.1),
    ConvexHullRanker(order="full", C=0.3),
    ConvexHullRanker(penalty="l1"),
    ConvexHullRanker(order=[(0, 2), (1, 2), (2, 3)]),
    ConvexHullRanker(class_weight="balanced"),
    FixedMarginClassifier(),
    FixedMarginClassifier(loss="squared_hinge", C=0.2),
    FixedMarginClassifier(thresholds="all"),
    FixedMarginClassifier(loss="logistic"),
    FixedMarginClassifier(loss="logistic", thresholds="all"),
    ConvexHullRanker(loss="logistic", order="full"),
    SwappedPairsRanker(loss="logistic", C=10),
    NuMarginClassifier(),
    SumOfMarginsClassifier(),
    ConvexHullRanker(kernel="rbf"),
    ConvexHullRanker(kernel="rbf", norm="coefficient"),
    FixedMarginClassifier(kernel="laplacian"),
    NuMarginClassifier(kernel="rbf"),
    SwappedPairsRanker(C=10),
    SwappedPairsRanker(loss="squared_hinge"),
    SwappedPairsRanker(kernel="rbf"),
    ConvexHullRanker(slack="edge", order="full"),
    ConvexHullRanker(slack="edge", loss="hinge"),
    ConvexHullRanker(kernel="rbf", approximation=20),
    SampledPairsRanker(kernel="rbf", approximation=20),
]


def objective(model, X, y, **more):
    statement = model.state(X, y, **more)
    return recomputed_objective(statement, model.candidate(statement), model.score_samples(X))


def samples(seed, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 4))
    y = np.digitize(X @ [1.0, -1, 0.5, 0] + noise * rng.normal(size=80), [-1, 0, 1])
    return X, y, rng.integers(1, 4, 80)


@settings(max_examples=3, deadline=None)
@given(st.integers(0, 1000))
@pytest.mark.parametrize("model", slow_after(10, MODELS), ids=str)
def test_it_is_what_the_certificate_states(model, seed):
    X, y, weights = samples(seed)
    more = {} if isinstance(model, SampledPairsRanker) else {"sample_weight": weights}
    model.set_params(tol=1e-9).fit(X, y, **more)
    assert objective(model, X, y, **more) == pytest.approx(model.certificate_.primal, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("query_weight", ["pairs", "equal"])
def test_queries(query_weight):
    X, y, weights = samples(1)
    qid = np.arange(80) // 16
    model = SwappedPairsRanker(query_weight=query_weight, tol=1e-9).fit(X, y, qid=qid, sample_weight=weights)
    stated = model.certificate_.primal
    assert objective(model, X, y, sample_weight=weights, qid=qid) == pytest.approx(stated, rel=1e-9)


def test_a_hard_margin():
    X, y, _ = samples(0, noise=0)
    X = X[np.abs((X @ [1.0, -1, 0.5, 0])[:, None] - [-1, 0, 1]).min(axis=1) > 0.1]
    y = np.digitize(X @ [1.0, -1, 0.5, 0], [-1, 0, 1])
    model = FixedMarginClassifier(C=np.inf, tol=1e-9).fit(X, y)
    assert objective(model, X, y) == pytest.approx(model.certificate_.primal, rel=1e-6)
    model.coef_ = model.coef_ * 0.9
    assert objective(model, X, y) == np.inf


def test_a_changed_model_has_another_objective():
    X, y, _ = samples(0)
    model = ConvexHullRanker().fit(X, y)
    stated = model.certificate_.primal
    model.coef_ = model.coef_ + 0.1
    assert objective(model, X, y) > stated * 1.001


def test_many_rows_are_counted_as_pair_by_pair(monkeypatch):
    X, y, weights = samples(0)
    monkeypatch.setattr("hullrank.problem.pairs.LISTED_PAIRS", 0)
    more = {"sample_weight": weights, "qid": np.arange(80) // 20}
    for model in (SwappedPairsRanker(), SwappedPairsRanker(loss="squared_hinge", query_weight="equal")):
        model.fit(X, y, **more)
        expected = objective(model, X, y, **more)
        with monkeypatch.context() as many:
            many.setattr("hullrank.reports.objective._MOST_ROWS", 10)
            assert objective(model, X, y, **more) == pytest.approx(expected, rel=1e-12)
