"""Degenerate data break no variant: a certified relative gap of 1e-6 on all of them."""

import warnings

import numpy as np
import pytest

from hullrank import ConvexHullRanker, FixedMarginClassifier, NuMarginClassifier, SumOfMarginsClassifier
from hullrank.exceptions import CollapsedRankingWarning, ConvergenceWarning, InfeasibleParameterError, ScaleWarning

VARIANTS = {
    "hull": lambda: ConvexHullRanker(),
    "hull, hinge": lambda: ConvexHullRanker(loss="hinge"),
    "free": lambda: ConvexHullRanker("full", intervals="free"),
    "free, hinge": lambda: ConvexHullRanker(intervals="free", loss="hinge"),
    "edge": lambda: ConvexHullRanker("full", slack="edge"),
    "edge, hinge": lambda: ConvexHullRanker(slack="edge", loss="hinge"),
    "l1": lambda: ConvexHullRanker(penalty="l1"),
    "l1, hinge": lambda: ConvexHullRanker(penalty="l1", loss="hinge"),
    "l1, free": lambda: ConvexHullRanker(penalty="l1", intervals="free", loss="hinge"),
    "l1, edge": lambda: ConvexHullRanker(penalty="l1", slack="edge"),
    "fixed": lambda: FixedMarginClassifier(thresholds="immediate", loss="hinge"),
    "fixed, squared": lambda: FixedMarginClassifier(thresholds="immediate"),
    "all": lambda: FixedMarginClassifier(loss="hinge"),
    "all, squared": lambda: FixedMarginClassifier(),
    "nu": lambda: NuMarginClassifier(),
    "sum": lambda: SumOfMarginsClassifier(),
}
every_variant = pytest.mark.parametrize("variant", VARIANTS)


def draw(m=60, n=4, K=4, noise=0.5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, n))
    place = np.argsort(np.argsort(X @ rng.normal(size=n) + noise * rng.normal(size=m)))
    return X, place * K // m, rng


X, y, rng = draw()
lonely = np.where(y == 3, 2, y)
lonely[0] = 3
CASES = {
    "constant columns": (np.column_stack([X, np.ones(60), np.zeros(60), np.full(60, 1e9)]), y, None),
    "constant X": (np.ones((20, 3)), np.arange(20) % 3, None),
    "zero X": (np.zeros((20, 3)), np.arange(20) % 3, None),
    "duplicate rows": (np.repeat(X, 5, axis=0), np.repeat(y, 5), None),
    "contradicting rows": (np.vstack([X, X]), np.append(y, y[::-1]), None),
    "more columns than rows": (*draw(m=30, n=100, K=3)[:2], None),
    "one sample in a class": (X, lonely, None),
    "single samples above a crowd": (X, np.append([1, 2], np.zeros(58, dtype=int)), None),
    "huge scale": (X * 1e9, y, None),
    "tiny scale": (X * 1e-12, y, None),
    "mixed scales": (X * [1e-6, 1.0, 1e6, 1e3], y, None),
    "far from the origin": (X + 1e5, y, None),
    "collinear columns": (np.column_stack([X, X @ rng.normal(size=(4, 3)), X[:, 0]]), y, None),
    "almost collinear columns": (np.column_stack([X, X + 1e-9 * rng.normal(size=X.shape)]), y, None),
    "a class for every sample": (X, np.arange(60), None),
    "a class for every sample, in order": (X, np.argsort(np.argsort(X[:, 0])), None),
    "weights over six orders": (X, y, 10.0 ** rng.uniform(-3, 3, 60)),
    "weights over twelve orders": (X, y, 10.0 ** rng.uniform(-6, 6, 60)),
    "tiny weights": (X, y, np.full(60, 1e-9)),
    "huge weights": (X, y, np.full(60, 1e9)),
    "noise": (rng.normal(size=(60, 4)), rng.integers(0, 4, 60), None),
    "two samples": (np.array([[0.0], [1.0]]), np.array([0, 1]), None),
    "two equal samples": (np.ones((2, 1)), np.array([0, 1]), None),
    "counts": (rng.integers(0, 3, (80, 3)).astype(float), rng.integers(0, 4, 80), None),
    "an outlier": (np.vstack([X, np.full((1, 4), 1e6)]), np.append(y, 0), None),
    "separable": (X, np.searchsorted([-0.7, 0.0, 0.7], X[:, 0]), None),
}


def certified(model, X, y, weights=None):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", CollapsedRankingWarning)
        warnings.simplefilter("ignore", ScaleWarning)
        model.fit(X, y, sample_weight=weights)
    certificate = model.certificate_
    assert certificate.status == "converged"
    assert -1e-6 <= certificate.relative_gap <= 1e-6
    assert np.isfinite(model.coef_).all()
    return certificate


@pytest.mark.slow
@every_variant
@pytest.mark.parametrize("case", CASES)
def test_degenerate_data_are_certified(variant, case):
    certified(VARIANTS[variant](), *CASES[case])


@every_variant
@pytest.mark.parametrize("a", [1e-12, 1e12])
def test_extreme_units_with_a_price_in_those_units(variant, a):
    model = VARIANTS[variant]()
    if variant not in ("nu", "sum"):
        model.set_params(C=1 / a if model.get_params().get("penalty") == "l1" else 1 / a**2)
    certified(model, X * a, y)


@pytest.mark.parametrize("variant", ["hull", "fixed", "l1", "nu", "sum"])
def test_rows_too_far_from_the_origin_for_their_digits_say_so(variant):
    with pytest.warns(ConvergenceWarning, match="'precision'.*rounding in the scores.*mean far from 0"):
        model = VARIANTS[variant]().fit(X + 1e12, y)
    assert 1e-6 < model.certificate_.relative_gap < 0.1


@pytest.mark.parametrize("variant", ["hull", "fixed", "l1"])
def test_a_price_beyond_double_precision_warns(variant):
    with pytest.warns(ConvergenceWarning, match=r"standardise the features.*lower C"):
        model = VARIANTS[variant]().set_params(C=1e8).fit(X * 1e12, y)
    assert model.certificate_.relative_gap > 1e-6
    assert np.isfinite(model.coef_).all()


m = 24_000
big, grades, luck = draw(m=m, noise=2.0)
MANY = {
    "heavy tails": (luck.standard_cauchy((m, 4)), grades, None),
    "few of a class": (big, (np.argsort(np.argsort(big[:, 0] + luck.normal(size=m))) > m - 40).astype(int), None),
    "counts": (luck.integers(0, 3, (m, 4)).astype(float), grades, None),
    "weights over six orders": (big, grades, 10.0 ** luck.uniform(-3, 3, m)),
    "duplicate rows": (np.repeat(big[:240], 100, axis=0), np.repeat(grades[:240], 100), None),
    "noise": (luck.normal(size=(m, 4)), luck.integers(0, 4, m), None),
}


MANY_VARIANTS = ["hull", "hull, hinge", "free", "fixed", "fixed, squared", "nu", "sum"]
NO_ROOM = ("nu", "few of a class")  # no nu ranks these rows: see the next test


@pytest.mark.slow
@pytest.mark.parametrize(("variant", "case"), sorted({(v, c) for v in MANY_VARIANTS for c in MANY} - {NO_ROOM}))
def test_many_degenerate_rows_are_certified(variant, case):
    certified(VARIANTS[variant](), *MANY[case])


def test_a_nu_without_room_says_so():
    X, y = (each[::8] for each in MANY["few of a class"][:2])
    with pytest.warns((ConvergenceWarning, CollapsedRankingWarning)):
        NuMarginClassifier().fit(X, y)
    with pytest.raises(InfeasibleParameterError, match="or FixedMarginClassifier"):
        NuMarginClassifier(nu=0.1).fit(X, y)
