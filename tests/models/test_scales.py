"""The word about columns of very different scale: once a fit, about the user's own columns, and only where it holds."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

from hullrank import (
    ConvexHullRanker,
    FixedMarginClassifier,
    NuMarginClassifier,
    OrderGraphSearchCV,
    OrdinalCalibrator,
    OrdinalPredictionSets,
    SemiSupervised,
    SumOfMarginsClassifier,
    SwappedPairsRanker,
    TunedThresholdOrdinal,
)
from hullrank.exceptions import ScaleWarning
from hullrank.io import Blocks

SCALES = np.array([1.0, 1e-3, 50.0])


def draw(m=120):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(m, 3))
    return X, np.digitize(X @ [1.0, 2.0, -1.0] + 0.5 * rng.normal(size=m), [-1.0, 1.0])


def told(fit):
    """What a fit says about scales."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always", ScaleWarning)
        fit()
    return [str(each.message) for each in heard if each.category is ScaleWarning]


@pytest.mark.slow
@pytest.mark.parametrize(
    "model", [ConvexHullRanker, FixedMarginClassifier, NuMarginClassifier, SumOfMarginsClassifier, SwappedPairsRanker]
)
@pytest.mark.parametrize("memory", [None, 1])
def test_rows_in_blocks_are_told_as_rows_in_memory_are(model, memory):
    X, y = draw()

    def blocks(X):
        return Blocks(lambda k: (X[k::2], y[k::2]), 2, memory=memory)

    said = told(lambda: model(tol=1e-3).fit(blocks(X * SCALES)))
    assert len(said) == 1
    assert "column 2 has a standard deviation of 4" in said[0]
    assert "column 1 one of 0.0009" in said[0]
    assert told(lambda: model(tol=1e-3).fit(blocks(X))) == []


def test_learned_lengths_see_no_scales():
    X, y = draw()
    scores = []
    for rows in (X, X * SCALES):
        model = FixedMarginClassifier(kernel="rbf", gamma="ard")
        assert told(lambda model=model, rows=rows: model.fit(rows, y)) == []
        scores.append(model.score_samples(rows))
    assert_allclose(*scores, atol=1e-3)
    assert len(told(lambda: FixedMarginClassifier(gamma="ard").fit(X * SCALES, y))) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        OrdinalCalibrator(FixedMarginClassifier()),
        TunedThresholdOrdinal(FixedMarginClassifier()),
        OrdinalPredictionSets(FixedMarginClassifier()),
        OrderGraphSearchCV(order="chain"),
        SemiSupervised(FixedMarginClassifier()),
        SemiSupervised(FixedMarginClassifier(kernel="rbf")),
    ],
    ids=lambda model: type(model).__name__,
)
def test_fits_inside_a_fit_say_nothing_more(model):
    pd = pytest.importorskip("pandas")
    X, y = draw(60)
    names = ["age", "share", "income"]
    said = told(lambda: model.fit(pd.DataFrame(X * SCALES, columns=names), y))
    assert len(said) == 1
    assert "column income has a standard deviation of" in said[0]
    assert "column share" in said[0]
    assert told(lambda: model.fit(pd.DataFrame(X, columns=names), y)) == []
