"""The score line shows every sample where the model put it, and names who is out of bounds."""

import matplotlib as mpl

mpl.use("agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hullrank._pipelines import unwrap
from hullrank.exceptions import HullrankError
from hullrank.plots import ScoreLineDisplay
from hullrank.plots.placement import place


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


class FirstColumn(BaseEstimator):
    """A fitted estimator as far as pictures are concerned."""

    classes_ = np.array(["low", "mid", "high"])
    thresholds_ = np.array([1.0, 2.0])
    intervals_ = np.array([[-np.inf, 0.8], [1.2, 1.8], [2.2, np.inf]])

    def fit(self, X, y=None):
        return self

    def score_samples(self, X):
        return np.asarray(X)[:, 0]

    def __sklearn_is_fitted__(self):
        return True


X = np.array([[0.0], [0.9], [1.5], [1.9], [2.5], [1.0]])
Y = np.array(["low", "low", "mid", "mid", "high", "high"])


def test_violators_are_worst_first():
    display = ScoreLineDisplay.from_estimator(FirstColumn(), X, Y)
    np.testing.assert_allclose(display.placement.violation, [0, 0, 0, 0, 0, -1], atol=1e-12)
    display = ScoreLineDisplay.from_predictions(
        Y, X[:, 0], classes=FirstColumn.classes_, intervals=FirstColumn.intervals_
    )
    np.testing.assert_allclose(display.placement.violation, [0, 0.1, 0, 0.1, 0, -1.2], atol=1e-12)
    assert display.placement.violators[0] == 5
    assert set(display.placement.violators[1:].tolist()) == {1, 3}


def test_every_sample_is_drawn_once_at_its_score():
    display = ScoreLineDisplay.from_estimator(FirstColumn(), X, Y)
    drawn = np.concatenate([points.get_offsets() for points in display.points_])
    np.testing.assert_allclose(np.sort(drawn[:, 0]), np.sort(X[:, 0]))
    row = dict(zip(drawn[:, 0], np.round(drawn[:, 1]), strict=True))
    assert [row[x] for x in X[:, 0]] == [0, 0, 1, 1, 2, 2]
    assert [tick.get_text() for tick in display.ax_.get_yticklabels()] == ["low", "mid", "high"]


def test_thresholds_and_finite_ends_are_lines():
    display = ScoreLineDisplay.from_estimator(FirstColumn(), X, Y)
    at = [line.get_xdata()[0] for line in display.ax_.lines]
    assert sorted(at) == [0.8, 1.0, 1.2, 1.8, 2.0, 2.2]


def test_thresholds_alone_are_bounds():
    placement = place([0, 0, 1], [0.1, 0.9, 0.6], thresholds=[0.5])
    np.testing.assert_allclose(placement.violation, [0, 0.4, 0])
    assert placement.predicted.tolist() == [0, 1, 1]


def test_without_bounds_nothing_is_violated():
    placement = place([1, 2, 2], [3.0, 2.0, 1.0])
    assert not placement.violators.size
    assert placement.predicted.tolist() == [0, 1, 1]


@given(st.lists(st.tuples(st.integers(0, 2), st.floats(-5, 5)), min_size=1), st.floats(-3, 3), st.floats(0, 3))
def test_violation_is_the_distance_to_the_bounds(samples, first, step):
    codes, scores = map(np.array, zip(*samples, strict=True))
    placement = place(codes, scores, classes=[0, 1, 2], thresholds=[first, first + step])
    low = np.array([-np.inf, first, first + step])[codes]
    high = np.array([first, first + step, np.inf])[codes]
    np.testing.assert_allclose(scores - placement.violation, np.clip(scores, low, high), atol=1e-12)


def test_weights_are_areas_and_queries_are_rows():
    weights = np.array([1.0, 1, 1, 1, 1, 7])
    display = ScoreLineDisplay.from_estimator(FirstColumn(), X, Y, sample_weight=weights, qid=list("aabbcc"))
    (points,) = display.points_
    np.testing.assert_allclose(points.get_sizes() / points.get_sizes()[0], weights)
    np.testing.assert_array_equal(np.round(points.get_offsets()[:, 1]), [0, 0, 1, 1, 2, 2])


def test_pipelines_searches_and_given_axes():
    _, ax = plt.subplots()
    pipe = make_pipeline(StandardScaler(), FirstColumn()).fit(X)
    display = ScoreLineDisplay.from_estimator(pipe, X, Y, ax=ax)
    assert display.ax_ is ax
    assert isinstance(unwrap(pipe).model, FirstColumn)
    np.testing.assert_allclose(display.placement.scores, StandardScaler().fit_transform(X)[:, 0])


def test_many_samples_are_thinned_and_many_classes_named_sparsely():
    rng = np.random.default_rng(0)
    display = ScoreLineDisplay.from_predictions(rng.permutation(400), rng.normal(size=400)).plot(max_points=100)
    assert sum(len(points.get_offsets()) for points in display.points_) == 100
    assert len(display.ax_.get_yticks()) <= 15


def test_hostile_labels_are_drawn_as_they_are():
    labels = ["$\\frac{", "a" * 100, "<b>"]
    display = ScoreLineDisplay.from_predictions(labels, [1.0, 2, 3], classes=labels)
    display.figure_.canvas.draw()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"scores": [1.0, np.nan, 2]}, "finite"),
        ({"scores": [[1.0, 2, 3]]}, "shape"),
        ({"thresholds": [1.0, 2, 3, 4]}, "thresholds has shape"),
        ({"intervals": [[1.0, 2]]}, "intervals has shape"),
        ({"qid": [1]}, "qid has shape"),
        ({"classes": [0, 1]}, "not in the declared order"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(HullrankError, match=message):
        ScoreLineDisplay.from_predictions(**{"y": [0, 1, 2], "scores": [1.0, 2, 3], **arguments})
