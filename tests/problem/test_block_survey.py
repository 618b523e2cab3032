"""A pass over blocks of rows finds what plain NumPy finds, slack by slack."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from hullrank import ConvexHullRanker, FixedMarginClassifier
from hullrank.problem.block_charges import Window
from hullrank.problem.block_rows import Block, HeldBlocks
from hullrank.problem.statement import Point

MODELS = {
    "hinge": FixedMarginClassifier(0.3, loss="hinge", thresholds="immediate"),
    "hinge, all": FixedMarginClassifier(0.3, loss="hinge", thresholds="all"),
    "squared": FixedMarginClassifier(0.3, loss="squared_hinge", thresholds="all"),
    "shared slacks": ConvexHullRanker(C=0.3, intervals="free"),
    "logistic": FixedMarginClassifier(0.3, loss="logistic", thresholds="all"),
}


def drawn(m=300, n=4, K=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_t(2, size=(m, n)) + 1.0
    return X, rng.integers(0, K, m), rng.uniform(0.5, 2.0, m), rng


def by_slack(statement, point, window):
    """(sample, group, violation, cost, near) of every slack, and its multiplier and curvature."""
    problem, (X, codes, weights) = statement.problem, statement.rows.blocks[0]
    X = X.toarray() if sp.issparse(X) else X
    offsets, s = problem.offsets(point.thresholds), X @ point.coef
    lengths = (
        np.linalg.norm(X - statement.mean, axis=1) / statement.spread if statement.mean is not None else np.ones(len(s))
    )
    slacks = []
    for g, h in problem.bundles:
        for i in np.flatnonzero(codes == problem.group_class[g]):
            v = {k: offsets[k] - problem.sign[k] * s[i] for k in (g, h) if k >= 0}
            pays = max(v, key=v.get)
            wide = window.width * (np.clip(lengths[i], 1.0, statement.frame.longest) if window.fetch else 1.0)
            tied = len(v) == 2 and abs(v[g] - v[h]) < window.width and v[pays] > 0
            slacks.append((i, pays, v[pays], problem.cost * weights[i], abs(v[pays]) < wide or tied))
    return [np.array(column) for column in zip(*slacks, strict=True)]


def expected(statement, point, window):
    """The sums of a pass, from the formulas of the charges."""
    problem, X = statement.problem, statement.rows.blocks[0].X
    X = X.toarray() if sp.issparse(X) else X
    i, g, v, cost, near = by_slack(statement, point, window)
    charge = problem.charge
    alpha, d = cost * charge.derivative(v), cost * charge.curvature(v)
    if charge.name == "hinge":
        smooth = not window.fetch
        d = np.where(near & smooth, cost / (2 * window.width), 0.0)
        alpha = np.where(near, d * (v + window.width), alpha)
    elif charge.name == "squared_hinge" and window.fetch:
        d = np.where(near, 0.0, d)
    Z = X[i] if statement.mean is None else X[i] - statement.mean
    groups = np.arange(problem.n_groups)[:, None] == g
    return {
        "charge": float(cost @ charge.value(v)), "pull": (problem.sign[g] * alpha) @ Z,
        "totals": groups @ alpha, "weight": groups @ d, "paid": groups @ (alpha * v), "slope": groups @ (d * v),
        "weight_rows": (groups * d) @ Z, "pull_rows": (groups * alpha) @ Z, "H": Z.T @ (d[:, None] * Z),
        "n_near": 0 if charge.name == "logistic" else int(near.sum()),
    }  # fmt: skip


def folded(statement, values):
    """Sums by group; where every row pays at every threshold, by threshold and sign, which is all that is told there.

    Of rows, only sums by threshold are told.
    """
    values, problem = np.asarray(values), statement.problem
    if not statement.frame.pays_everywhere or values.shape[:1] != (problem.n_groups,):
        return values
    side = 2 * problem.threshold + (problem.sign > 0 if values.ndim == 1 else 0)
    return (np.arange(2 * problem.n_thresholds)[:, None] == side) @ values


def test_rows_of_all_thresholds_pay_everywhere_and_no_others_do():
    X, y, _, _ = drawn()
    everywhere = {name: model.state(X, y).in_blocks(300).frame.pays_everywhere for name, model in MODELS.items()}
    assert [name for name, pays in everywhere.items() if pays] == ["hinge, all", "squared"]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("fetch", [True, False])
@pytest.mark.parametrize("name", MODELS)
def test_a_pass_sums_what_every_slack_has(name, fetch, sparse):
    X, y, weights, rng = drawn()
    X = sp.csr_array(X) if sparse else X
    statement = MODELS[name].state(X, y, sample_weight=weights).in_blocks(300)
    point = Point(rng.normal(size=4), np.sort(rng.normal(size=len(statement.problem.linear))))
    window = Window(0.2, fetch, model=True)
    found = statement.survey(point, window)
    sums = expected(statement, point, window)
    hinge = name.startswith("hinge")
    for key in [k for k in sums if not (hinge and k in ("pull_rows", "weight_rows", "H", "paid", "slope"))]:
        if key == "pull_rows" and name == "logistic":
            continue
        got, want = (folded(statement, values[key]) for values in (vars(found), sums))
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9, err_msg=key)
    if hinge and not fetch:
        np.testing.assert_allclose(found.H, sums["H"], rtol=1e-9)
        got, want = (folded(statement, rows) for rows in (found.weight_rows, sums["weight_rows"]))
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("size", [1.0, 100.0, 1e4])
def test_a_logistic_charge_is_the_same_for_scores_of_any_size(size):
    """Exponentials are shared by the slacks of a sample unless they could overflow."""
    X, y, weights, rng = drawn(seed=1)
    statement = MODELS["logistic"].state(X, y, sample_weight=weights).in_blocks(300)
    point = Point(size * rng.normal(size=4), size * np.sort(rng.normal(size=3)))
    found, sums = statement.survey(point), expected(statement, point, Window())
    for key in ("charge", "pull", "totals", "weight", "paid", "slope"):
        np.testing.assert_allclose(getattr(found, key), sums[key], rtol=1e-10, atol=1e-10 * size, err_msg=key)


def test_a_pass_over_two_blocks_is_the_sum_of_both():
    X, y, weights, rng = drawn(seed=2)
    statement = MODELS["squared"].state(X, y, sample_weight=weights).in_blocks(300)
    whole, point = statement.rows.blocks[0], Point(rng.normal(size=4), np.sort(rng.normal(size=3)))
    parts = HeldBlocks([Block(*(column[part] for column in whole)) for part in (slice(0, 90), slice(90, None))])
    window = Window(0.3, model=True)
    one, two = statement.survey(point, window), replace(statement, rows=parts).survey(point, window)
    for key in ("charge", "pull", "totals", "pull_rows", "weight_rows", "H", "n_near", "least", "largest"):
        np.testing.assert_allclose(getattr(one, key), getattr(two, key), rtol=1e-12, atol=1e-12, err_msg=key)
    assert sum(len(near.number) for near in two.near) == one.n_near
