"""A certificate holds for the model and the data it was given for, and for no others."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

from hullrank import (
    ConvexHullRanker,
    ExactRanker,
    FixedMarginClassifier,
    LinearRelaxationRanker,
    NuMarginClassifier,
    PartialOddsClassifier,
    PRank,
    SampledPairsRanker,
    SemiSupervised,
    SumOfMarginsClassifier,
    SwappedPairsRanker,
)
from hullrank.exceptions import HullrankError, LabelError
from hullrank.problem.statement import Point
from hullrank.reports.certifying import certify
from hullrank.solvers.base import REGISTRY, Options
from hullrank.solvers.solve import solve

PARTIAL = [(0, 2), (1, 2), (2, 3), (0, 3)]
LINEAR = [
    ConvexHullRanker(),
    ConvexHullRanker(loss="hinge", C=0.1, order="full"),
    ConvexHullRanker(penalty="l1"),
    ConvexHullRanker(order=PARTIAL, class_weight="balanced"),
    ConvexHullRanker(intervals="free", loss="hinge"),
    ConvexHullRanker(slack="edge", order="full", loss="hinge"),
    ConvexHullRanker(slack="edge", order=PARTIAL),
    FixedMarginClassifier(),
    FixedMarginClassifier(loss="squared_hinge", C=0.2),
    FixedMarginClassifier(thresholds="all"),
    FixedMarginClassifier(loss="logistic"),
    FixedMarginClassifier(loss="logistic", thresholds="all"),
    ConvexHullRanker(loss="logistic", order=PARTIAL),
    NuMarginClassifier(),
    SumOfMarginsClassifier(),
    SwappedPairsRanker(C=10),
    SwappedPairsRanker(loss="logistic", C=10),
    SwappedPairsRanker(loss="squared_hinge", query_weight="equal"),
    SampledPairsRanker(tol=1e-7, random_state=0),
    SampledPairsRanker(random_state=3, loss="squared_hinge"),
    LinearRelaxationRanker(),
]
KERNEL = [
    ConvexHullRanker(kernel="rbf"),
    ConvexHullRanker(kernel="rbf", slack="edge", order=PARTIAL, loss="hinge"),
    ConvexHullRanker(kernel="rbf", intervals="free", loss="hinge"),
    ConvexHullRanker(kernel="rbf", norm="coefficient"),
    ConvexHullRanker(kernel="rbf", approximation=20),
    ConvexHullRanker(kernel="rbf", approximation=20, loss="logistic"),
    FixedMarginClassifier(kernel="laplacian"),
    FixedMarginClassifier(kernel="rbf", thresholds="all"),
    FixedMarginClassifier(kernel="rbf", approximation=20, loss="squared_hinge"),
    NuMarginClassifier(kernel="rbf"),
    NuMarginClassifier(kernel="rbf", approximation=20),
    SumOfMarginsClassifier(kernel="rbf"),
    SwappedPairsRanker(kernel="rbf", C=30),
    SwappedPairsRanker(kernel="rbf", approximation=20, C=30),
    SampledPairsRanker(kernel="rbf", C=30, tol=1e-7, random_state=0),
]


def samples(seed=0, m=80):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 4))
    y = np.digitize(X @ [1.0, -1, 0.5, 0] + rng.normal(size=m), [-1, 0, 1])
    return X, y, rng.integers(1, 4, m)


def extras(model, weights):
    return {} if isinstance(model, SampledPairsRanker) else {"sample_weight": weights}


def holds(model, X, y, **more):
    """Whether a certificate holds; rows that are not those of the fit are an error for a kernel model."""
    try:
        return certify(model, X, y, **more).holds
    except HullrankError:
        return False


@pytest.mark.parametrize("model", [*LINEAR, *KERNEL], ids=str)
def test_it_holds_for_the_data_of_the_fit(model):
    X, y, weights = samples()
    more = extras(model, weights)
    verdict = certify(model.fit(X, y, **more), X, y, **more)
    assert verdict.holds, (verdict.reason, verdict.facts)
    if "approximation" not in str(model):
        assert -1e-9 <= verdict.facts["relative gap recomputed"] <= 1e-6


@pytest.mark.parametrize("model", [*LINEAR, *KERNEL], ids=str)
def test_other_weights_and_other_rows_are_refused(model):
    X, y, weights = samples()
    more = extras(model, weights)
    model.fit(X, y, **more)
    name = "coef_" if hasattr(model, "coef_") else "dual_coef_"
    honest = getattr(model, name)
    assert not holds(model, X[:-5], y[:-5], **extras(model, weights[:-5]))
    assert not certify(model, X, y[::-1], **more).holds
    setattr(model, name, honest * np.where(np.arange(honest.size) % 2, 1.01, 0.99).reshape(honest.shape))
    verdict = certify(model, X, y, **more)
    assert not verdict.holds
    assert "not the one in the file" in verdict.reason


@pytest.mark.parametrize("model", [ConvexHullRanker(), SwappedPairsRanker(), NuMarginClassifier(kernel="rbf")], ids=str)
def test_a_forged_certificate_is_refused(model):
    X, y, _ = samples()
    certificate = model.fit(X, y).certificate_
    name = "coef_" if hasattr(model, "coef_") else "dual_coef_"
    setattr(model, name, getattr(model, name) * 0.5)
    objective = certify(model, X, y).facts["objective recomputed"]
    model.certificate_ = replace(certificate, primal=objective, dual=objective, floor=1e9 * abs(objective))
    verdict = certify(model, X, y)
    assert not verdict.holds
    assert "leaves a relative gap" in verdict.reason


def test_queries():
    X, y, _ = samples()
    qid = np.arange(80) // 16
    for model in (
        SwappedPairsRanker(query_weight="equal"),
        SampledPairsRanker(random_state=1),
        LinearRelaxationRanker(),
    ):
        assert certify(model.fit(X, y, qid=qid), X, y, qid=qid).holds
        assert not certify(model, X, y).holds


def test_rows_without_weight_do_not_matter():
    X, y, weights = samples()
    weights[::7] = 0
    for model in (
        FixedMarginClassifier(kernel="rbf"),
        ConvexHullRanker(slack="edge"),
        SwappedPairsRanker(kernel="rbf"),
    ):
        assert certify(model.fit(X, y, sample_weight=weights), X, y, sample_weight=weights).holds


def test_a_hard_margin():
    X, _, _ = samples()
    X = X[np.abs((X @ [1.0, -1, 0.5, 0])[:, None] - [-1, 0, 1]).min(axis=1) > 0.1]
    y = np.digitize(X @ [1.0, -1, 0.5, 0], [-1, 0, 1])
    for model in (FixedMarginClassifier(C=np.inf), ConvexHullRanker(C=np.inf, slack="edge")):
        assert certify(model.fit(X, y), X, y).holds


@pytest.mark.parametrize("share", [1 - 1e-5, 0.9, 0.4])
def test_a_hard_margin_that_is_missed_is_refused(share):
    X = np.random.default_rng(3).normal(size=(80, 3))
    y = np.digitize(X @ [1, -1, 0.5], [-0.5, 0.7])
    model = FixedMarginClassifier(C=np.inf).fit(X, y)
    model.coef_ = share * model.coef_
    assert not certify(model, X, y).holds


def test_a_collapsed_ranking():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 3, 60)
    for model in (NuMarginClassifier(nu=0.2), SumOfMarginsClassifier(), ConvexHullRanker(intervals="free", C=0.01)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, y)
        assert certify(model, X, y).holds


def test_many_grades_with_a_kernel_are_certified_from_the_model(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    f = X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.5 * rng.normal(size=300)
    grades = np.round(3 * f).astype(int)
    model = FixedMarginClassifier(100.0, kernel="rbf").fit(X, grades)
    last = REGISTRY["coordinates of the kernel's space"]
    monkeypatch.setitem(REGISTRY, last.name, replace(last, solve=None))  # where sequential steps fail
    assert certify(model, X, grades).holds


@pytest.mark.parametrize("failures", [0, 1, 2, 3])
def test_a_solve_that_fails_is_followed_by_another_up_to_three(monkeypatch, failures):
    X, y, _ = samples(2)
    model = FixedMarginClassifier().fit(X, y)
    solves = []

    def sometimes(statement, options, *, start):
        solves.append((options.tol, start is None))
        if len(solves) > failures:
            return solve(statement, options, start=start)
        return solve(statement, Options(tol=0.5))  # a lower bound that is far too low

    monkeypatch.setattr("hullrank.reports.certifying.solve", sometimes)
    assert certify(model, X, y).holds == (failures < 3)
    assert solves == [(1e-7, False), (1e-6, True), (1e-6, False)][: failures + 1]


def test_a_wrong_start_costs_time_and_not_truth():
    X, y, _ = samples()
    model = FixedMarginClassifier().fit(X, y)
    optimum = model.certificate_.primal
    rng = np.random.default_rng(0)
    model.coef_, model.thresholds_ = rng.normal(size=4), np.sort(rng.normal(size=3))
    statement = model.state(X, y)
    solution = solve(statement, Options(1e-6), start=model.candidate(statement))
    bound = statement.grade(solution.point, solution.evidence).dual
    assert optimum * (1 - 1e-5) <= bound <= optimum


@pytest.mark.parametrize("forged", [{"dual": -1e9}, {"primal": 1e9}, {"dual": 1e9}, {"floor": 1e12, "dual": -1.0}])
def test_figures_in_the_file_are_not_taken_on_trust(forged):
    X, y, _ = samples()
    model = ConvexHullRanker().fit(X, y)
    model.certificate_ = replace(model.certificate_, **forged)
    assert not certify(model, X, y).holds


def test_the_tolerance_is_that_of_the_caller():
    X, y, _ = samples()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ConvexHullRanker(loss="hinge", max_iter=4, tol=1e9).fit(X, y)
    model.tol = 1e9
    assert not certify(model, X, y).holds
    assert certify(model, X, y, tol=1.0).holds


class ShiftedHull(ConvexHullRanker):
    """A subclass may state its problem in its own way: here on features without their mean."""

    def state(self, X, y, *, sample_weight=None):
        return super().state(np.asarray(X) - np.mean(X, axis=0), y, sample_weight=sample_weight)

    def score_samples(self, X):
        return super().score_samples(np.asarray(X) - np.mean(X, axis=0))


class ForeignRanker:
    """An estimator that is none of ours, with the problem that it claims to solve."""

    def fit(self, X, y):
        self.judge_ = ConvexHullRanker(C=1e-3, tol=1e-12).fit(X, y)
        self.coef_, self.intervals_ = self.judge_.coef_.copy(), self.judge_.intervals_.copy()
        self.certificate_ = self.judge_.certificate_
        return self

    def state(self, X, y):
        return self.judge_.state(X, y)

    def candidate(self, statement):
        return Point(self.coef_, self.judge_.candidate(statement).thresholds)

    def score_samples(self, X):
        return X @ self.coef_


@pytest.mark.parametrize("model", [ShiftedHull(), ForeignRanker()])
def test_subclasses_and_estimators_of_others_can_be_certified(model):
    X, y, _ = samples()
    model.fit(X, y)
    assert certify(model, X, y).holds
    model.coef_ = model.coef_ * 1.1
    assert not certify(model, X, y).holds


class TestExact:
    def data(self):
        X, y, _ = samples(m=24)
        return X[:, :3], (y > 1).astype(int)

    @pytest.mark.parametrize("options", [{}, {"method": "plane_search", "max_cells": 20}, {"statistic": "mrr"}])
    def test_it_holds(self, options):
        X, y = self.data()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = ExactRanker(**options).fit(X, y)
        verdict = certify(model, X, y)
        assert verdict.holds, verdict
        assert verdict.facts["upper bound proven here"] <= model.certificate_.upper_bound + 1e-9
        assert not certify(model, X[:-2], y[:-2]).holds

    def test_other_weights_and_better_claims_are_refused(self):
        X, y = self.data()
        model = ExactRanker(method="plane_search", max_cells=1).fit(X, y)
        honest, certificate = model.coef_, model.certificate_
        model.coef_ = -honest
        assert "value is not" in certify(model, X, y).reason
        worse = np.array([1.0, 0, 0])
        model.coef_ = worse
        counted = certify(model, X, y).facts["value recounted"]
        model.certificate_ = replace(certificate, value=counted, upper_bound=counted)
        assert "not proven again" in certify(model, X, y, time_limit=5).reason


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_semi_supervised_models(kernel):
    X, y, weights = samples()
    model = SemiSupervised(FixedMarginClassifier(kernel=kernel, tol=1e-8), strength=1.0)
    model.fit(X[::2], y[::2], unlabeled=X[1::2], sample_weight=weights[::2])
    assert certify(model, X[::2], y[::2], sample_weight=weights[::2]).holds
    assert not certify(model, X[::2], y[::2]).holds


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_partial_odds(class_weight):
    X, y, weights = samples()
    weights = weights * (np.arange(len(y)) % 9 > 0)
    inner = FixedMarginClassifier(tol=1e-8, class_weight=class_weight)
    model = PartialOddsClassifier(inner, features=[1]).fit(X, y, sample_weight=weights)
    assert certify(model, X, y, sample_weight=weights).holds
    assert not certify(model, X, y).holds
    model.departures_ = 1.1 * model.departures_
    assert not certify(model, X, y, sample_weight=weights).holds


def test_what_proves_nothing_says_so():
    X, y, _ = samples()
    with pytest.raises(HullrankError, match="carries no certificate"):
        certify(PRank().fit(X, y), X, y)


@pytest.mark.parametrize("above", [1e-4, 10.0])
def test_a_bound_far_above_the_objective_confirms_nothing(monkeypatch, above):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = (X[:, 0] + rng.normal(size=40) > 0).astype(int)
    model = FixedMarginClassifier().fit(X, y)
    statement = type(model.state(X, y))
    grade = statement.grade

    def too_high(self, *given):
        right = grade(self, *given)
        return replace(right, dual=right.primal * (1 + above))

    monkeypatch.setattr(statement, "grade", too_high)
    found = certify(model, X, y)
    assert not found.holds
    assert "above the objective" in found.reason


def test_rows_of_other_classes_are_not_those_of_the_fit():
    X = np.random.default_rng(0).normal(size=(30, 2))
    model = FixedMarginClassifier().fit(X, np.arange(30) % 3)
    with pytest.raises(LabelError, match=r"not the rows that the model was fitted to: .* 3"):
        certify(model, X, np.arange(30) % 4)
