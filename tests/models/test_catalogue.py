"""Each row of the catalogue is what its estimator solves: the objective, counted from the row, is the certificate's.

Which pairs were drawn is known to `SampledPairsRanker` only, so its row is tested with the pair models.
"""

import numpy as np
import pytest

import hullrank
from hullrank.models.catalogue import CATALOGUE

CHARGES = {
    "hinge": lambda v: np.maximum(v, 0),
    "squared hinge": lambda v: np.maximum(v, 0) ** 2,
    "logistic": lambda v: np.logaddexp(0, v),
    "0-1": lambda v: (v > 0).astype(float),
}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2))
    score = X @ [1.0, -0.5] + 0.4 * rng.standard_normal(60)
    return X, score


def class_objective(method, model, X, codes, C):
    """Charges of the samples of every class for missing its interval, whose ends the model places."""
    s, intervals = X @ model.coef_, model.intervals_
    lower, upper = intervals[codes, 0] - s, s - intervals[codes, 1]
    charge = CHARGES[method.charge]
    if method.slack == "per sample":
        return C * charge(np.maximum(lower, upper)).sum()
    if method.slack == "per side":
        return C * (charge(lower[np.isfinite(lower)]).sum() + charge(upper[np.isfinite(upper)]).sum())
    half = 0.0 if method.charge == "logistic" else 0.5 if method.slack == "per edge" else 1.0
    total = 0.0
    for j, b in enumerate(getattr(model, "edge_thresholds_", model.thresholds_)):
        above = codes > j if method.slack == "per threshold" else codes == j + 1
        below = codes <= j if method.slack == "per threshold" else codes == j
        total += charge(half - (s[above] - b)).sum() + charge(half - (b - s[below])).sum()
    return C * total


def margin_term(method, model, N):
    if method.margin == "nu":
        return -model.nu_ * model.margin_
    if method.margin == "sum":
        return float(np.sum(model.intervals_[:-1, 1] - model.intervals_[1:, 0]))
    return 0.0


@pytest.mark.filterwarnings("ignore::hullrank.exceptions.CollapsedRankingWarning")
@pytest.mark.parametrize(
    "method",
    [method for method in CATALOGUE if method.graph != "random pairs" and not method.rival],
    ids=lambda method: method.name,
)
def test_the_row_is_what_the_estimator_solves(method, data):
    X, score = data
    estimator = getattr(hullrank, method.estimator)(**method.parameters)
    if method.blocks == "classes":
        codes = np.argsort(np.argsort(score)) * 3 // 60
        model = estimator.set_params(tol=1e-9).fit(X, codes)
        N = 2 * 60 - np.sum(codes == 0) - np.sum(codes == 2)
        C = 1 / N if method.margin == "nu" else getattr(model, "C_", getattr(model, "C", None))
        value = margin_term(method, model, N) + class_objective(method, model, X, codes, C)
        if method.parameters.get("penalty") == "l1":
            value += np.abs(model.coef_).sum()
        elif method.margin != "sum":  # which has |w| <= 1 instead
            value += 0.5 * model.coef_ @ model.coef_
        assert model.certificate_.primal == pytest.approx(value, rel=1e-6)
        return
    y = (score > 0).astype(int) if method.charge == "0-1" else score
    model = estimator.fit(X, y)
    s = X @ model.coef_
    i, j = np.nonzero(y[:, None] > y[None, :])
    if method.charge == "0-1":
        assert model.certificate_.value == pytest.approx(np.mean(s[i] > s[j]))
    else:
        value = (
            0.5 * model.coef_ @ model.coef_
            + model.C_ * CHARGES[method.charge]((method.charge != "logistic") - s[i] + s[j]).mean()
        )
        assert model.certificate_.primal == pytest.approx(value, rel=1e-9)


def test_the_command_knows_the_methods_of_the_catalogue():
    from hullrank.cli.methods import known_methods

    named = [method for method in CATALOGUE if method.command is not None]
    assert known_methods() == [method.command for method in named]
    assert all(method.purpose for method in named)


def test_the_documentation_has_the_table_of_the_catalogue():
    from pathlib import Path

    page = (Path(__file__).parents[2] / "docs" / "architecture.md").read_text()
    rows = [
        f"| {row.name} | {row.source} | `{row.estimator}` | {row.blocks} | {row.graph} | {row.margin} | {row.slack} "
        f"| {row.charge} |\n"
        for row in CATALOGUE
    ]
    assert "".join(rows) in page
