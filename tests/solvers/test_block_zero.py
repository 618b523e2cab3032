"""The proof over blocks that there is no ranking: its multipliers are feasible, and where there is one it fails."""

from dataclasses import replace

import numpy as np
import pytest

from hullrank import NuMarginClassifier, SumOfMarginsClassifier
from hullrank.problem.block_survey import nothing_charged
from hullrank.solvers._block_starts import growing_samples
from hullrank.solvers._block_step import Step
from hullrank.solvers._block_terms import Units
from hullrank.solvers._block_zero import evidence_for_zero
from hullrank.solvers.base import Options


def proof(model, X, y):
    blocks = replace(model.state(X, y).in_blocks(1000), cheap=False)
    units = Units(blocks)
    return blocks, evidence_for_zero(blocks, growing_samples(blocks)[-1], units, Step(blocks, units, Options(tol=1e-6)))


@pytest.mark.parametrize("model", [NuMarginClassifier(0.3), SumOfMarginsClassifier(0.01)])
def test_multipliers_and_their_room_are_feasible(model):
    """Sums of alpha and of its room, row by row: alpha - room and alpha + room stay between 0 and the cost."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2000, 3)), rng.integers(0, 3, 2000)
    _, evidence = proof(model, X, y)
    whole = model.state(X, y)
    problem, layout, rows = whole.problem, whole.layout, whole.samples.rows
    width = evidence.survey.window.width
    s = (X @ evidence.settled_at.coef)[rows][layout.row_sample]
    v = layout.spread(problem.offsets(evidence.settled_at.thresholds)) - layout.spread(problem.sign) * s
    alpha = layout.row_cost * np.clip((v + width) / (2 * width), 0, 1)
    room = np.where(np.abs(v) < width / 2, layout.row_cost / 4, 0.0)
    assert np.all(room <= np.minimum(alpha, layout.row_cost - alpha))
    for values, sums in ((alpha, evidence.settled.totals), (room, evidence.settled.room)):
        np.testing.assert_allclose(np.bincount(layout.row_group, values), sums, rtol=1e-9)
    pull = (layout.spread(problem.sign) * alpha) @ X[rows][layout.row_sample]
    np.testing.assert_allclose(pull, 0, atol=1e-11 * alpha.sum())


@pytest.mark.parametrize("model", [NuMarginClassifier(0.9), SumOfMarginsClassifier(0.002)])
def test_a_ranking_is_not_denied(model):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    y = np.digitize(X[:, 0] + 0.2 * rng.normal(size=2000), [-0.5, 0.5])
    assert model.fit(X, y).certificate_.primal < 0
    blocks, evidence = proof(model, X, y)
    if evidence is not None:
        zero = nothing_charged(blocks.problem, 3)
        grade = blocks.grade(zero.point, replace(evidence, survey=zero))
        assert grade.dual <= model.certificate_.primal
