"""The judge of the fuzz: honest certificates pass, and falsehoods planted in them are found."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from hullrank.exceptions import NotSeparableError
from hullrank.problem.certificate import Certificate, Status
from referee.judge import judge
from referee.random_problems import NAMES, Case, random_case


def honest_cases():
    """A well-scaled problem for every estimator, which current code certifies rightly."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30, 3))
    y = np.digitize(X[:, 0] + 0.3 * rng.normal(size=30), [-0.4, 0.4])
    choices = {
        "ConvexHullRanker": {
            "C": 1.0, "loss": "hinge", "order": "chain", "intervals": "proper", "slack": "sample"
        },
        "FixedMarginClassifier": {"C": 1.0, "loss": "squared_hinge", "thresholds": "all", "kernel": "rbf"},
        "NuMarginClassifier": {},
        "SumOfMarginsClassifier": {"class_weight": None, "fraction": 0.5},
        "SwappedPairsRanker": {"C": 10.0, "loss": "hinge"},
        "SampledPairsRanker": {"C": 10.0, "loss": "squared_hinge", "pairs_per_sample": 3, "random_state": 0},
        "LinearRelaxationRanker": {"epsilon": 0.01},
    }  # fmt: skip
    return [Case(-1, name, choices[name], X, y) for name in NAMES]


def altered(case, change):
    """A fit whose model is changed afterwards."""

    def fit():
        model = case.fit()
        change(model)
        return model

    return fit


def claim(**changes):
    """Change values of the certificate: numbers are multiplied, statuses replaced."""

    def change(model):
        old = model.certificate_
        new = {k: v if isinstance(v, str) else getattr(old, k) + v * abs(old.primal) for k, v in changes.items()}
        model.certificate_ = replace(old, **new)

    return change


def move_weights(model):
    name = "coef_" if hasattr(model, "coef_") else "dual_coef_"
    setattr(model, name, getattr(model, name) * 1.01)


@pytest.mark.parametrize("case", honest_cases(), ids=NAMES)
def test_an_honest_certificate_has_no_failures(case):
    assert judge(case).failures == []


@pytest.mark.parametrize("case", honest_cases(), ids=NAMES)
def test_planted_falsehoods_are_found(case):
    assert "primal" in judge(case, fit=altered(case, claim(primal=-1e-7, dual=-1e-7))).kinds
    assert "primal" in judge(case, fit=altered(case, claim(primal=1e-7))).kinds
    gap = judge_gap(case)
    assert "dual" in judge(case, fit=altered(case, claim(dual=2 * gap + 1e-6, primal=2 * gap + 1e-6))).kinds
    assert "dual" in judge(case, fit=altered(case, claim(dual=2 * gap + 1e-7))).kinds
    assert "status" in judge(case, fit=altered(case, claim(dual=-1e-2))).kinds
    assert "status" in judge(case, fit=altered(case, claim(status="max_iter"))).kinds
    assert "finite" in judge(case, fit=altered(case, claim(dual=-np.inf))).kinds
    assert judge(case, fit=altered(case, move_weights)).kinds & {"primal", "dual"}


def judge_gap(case):
    return max(case.fit().certificate_.relative_gap, 0.0)


def test_a_model_of_other_data_is_not_confirmed():
    """Certify states the problem anew from the data and the model's parameters."""
    case = honest_cases()[0]

    def fit():
        model = case.fit()
        return model.set_params(C=2 * model.C)

    assert "unconfirmed" in judge(case, fit=fit).kinds


def test_a_floor_that_hides_the_gap_is_found():
    case = honest_cases()[1]
    assert "floor" in judge(case, fit=altered(case, claim(floor=1e3, dual=-0.5))).kinds


def test_errors_are_told_from_crashes():
    case = honest_cases()[0]

    def crash():
        raise np.linalg.LinAlgError("singular matrix")

    assert judge(case, fit=crash).kinds == {"crash"}
    separable = replace(case, y=(case.X[:, 0] > 0).astype(int), params={**case.params, "C": np.inf})
    assert judge(separable).outcome == "graded"

    def refuse():
        raise NotSeparableError("these data cannot be separated, it is said")

    assert judge(separable, fit=refuse).kinds == {"refused"}
    inseparable = replace(case, params={**case.params, "C": np.inf})
    assert judge(inseparable).outcome == "declined"
    assert judge(inseparable).failures == []


def test_a_fit_that_takes_too_long_is_ended():
    def fit():
        while True:
            pass

    assert judge(honest_cases()[0], seconds=0.2, fit=fit).kinds == {"slow"}


def test_a_problem_is_its_seed():
    for seed in range(30):
        one, two = random_case(seed), random_case(seed)
        assert str(one) == str(two)
        assert np.array_equal(one.X, two.X)
        assert np.array_equal(one.y, two.y)


@pytest.mark.slow
def test_random_problems_reach_every_option():
    cases = [random_case(seed) for seed in range(1500)]
    seen = {(case.name, key, value) for case in cases for key, value in case.params.items() if isinstance(value, str)}
    hull = {
        "order": ["chain", "full"], "loss": ["hinge", "squared_hinge"], "intervals": ["proper", "free"],
        "slack": ["sample", "edge"], "penalty": ["l1"], "norm": ["coefficient"],
        "kernel": ["linear", "rbf", "poly", "laplacian", "precomputed"], "class_weight": ["balanced"],
    }  # fmt: skip
    for key, values in hull.items():
        for value in values:
            assert ("ConvexHullRanker", key, value) in seen
    assert {case.name for case in cases} == set(NAMES)
    assert any(case.edges for case in cases)
    assert any(case.X.shape[1] > case.X.shape[0] for case in cases)
    assert any(np.isinf(case.params.get("C", 1.0)) for case in cases if not isinstance(case.params.get("C"), str))


def test_a_logistic_charge_is_judged_like_the_others():
    base = honest_cases()[1]
    case = replace(base, y=(base.y > 0).astype(int), params={"C": 0.5, "loss": "logistic", "thresholds": "immediate"})
    model = LogisticRegression(C=0.5, tol=1e-12, max_iter=1000).fit(case.X, case.y)
    ours = case.fit()
    z = np.where(case.y, 1, -1) * (case.X @ model.coef_[0] + model.intercept_[0])
    objective = 0.5 * float((model.coef_**2).sum()) + 0.5 * float(np.log1p(np.exp(-z)).sum())

    def fit(primal=objective, dual=objective * (1 - 1e-8)):
        ours.certificate_ = Certificate(primal, dual, Status.CONVERGED, 1, 0.0, "scikit-learn", 1)
        ours.coef_, ours.thresholds_ = model.coef_[0], -model.intercept_
        return lambda: ours

    assert judge(case, fit=fit()).failures == []
    assert judge(case, fit=fit(primal=objective * (1 + 1e-7))).kinds == {"primal"}
    assert "dual" in judge(case, fit=fit(dual=objective * (1 + 1e-6))).kinds
