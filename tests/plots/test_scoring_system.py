import matplotlib as mpl
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from hullrank import ExactRanker
from hullrank.exceptions import HullrankError
from hullrank.plots import ScoringSystemDisplay

mpl.use("agg")


def fitted():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(80, 3))
    return ExactRanker(weights="integer", max_weight=2).fit(X, X @ [2, -1, 1] + rng.normal(size=80) > 1)


def test_bars_are_points_and_shares():
    ranker = fitted()
    table = ranker.score_table_
    points, totals = ScoringSystemDisplay.from_estimator(ranker).axes_
    assert [bar.get_width() for bar in points.patches] == list(table.points)
    assert [label.get_text() for label in points.get_yticklabels()] == list(table.features)
    np.testing.assert_allclose([bar.get_width() for bar in totals.patches], 100 * np.array(table.share))
    assert [label.get_text() for label in totals.get_yticklabels()] == [f"{low:g}" for low in table.low]


def test_it_draws_on_given_axes():
    import matplotlib.pyplot as plt

    _, axes = plt.subplots(1, 2)
    display = ScoringSystemDisplay(table=fitted().score_table_).plot(axes=axes)
    assert display.axes_[1] is axes[1]
    assert display.figure_ is axes[0].figure


def test_estimators_without_a_card_are_refused():
    with pytest.raises(HullrankError, match="score_table_"):
        ScoringSystemDisplay.from_estimator(LogisticRegression())
