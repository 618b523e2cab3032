"""The score line shows every sample where the model put it, and names who is out of bounds."""

import matplotlib as mpl

mpl.use("agg")

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_rgba
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cases import slow_after
from hullrank._pipelines import unwrap
from hullrank.exceptions import HullrankError
from hullrank.order import OrderGraph
from hullrank.plots import ScoreLineDisplay
from hullrank.plots._ridges import density
from hullrank.plots._style import FAINT, class_colours, ink, quiet
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


def test_without_bounds_nothing_is_violated():
    placement = place([1, 2, 2], [3.0, 2.0, 1.0])
    assert not placement.violators.size


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
    assert len(display.ax_.get_yticks()) <= 25


def test_many_samples_are_distributions_and_few_of_a_class_stay_points():
    rng = np.random.default_rng(0)
    y = np.concatenate([np.repeat(np.arange(20), 5000), [20] * 5])
    display = ScoreLineDisplay.from_predictions(y, y + rng.normal(size=len(y)), thresholds=np.arange(20) + 0.5)
    assert sum(len(points.get_offsets()) for points in display.points_) == 5
    names = [tick.get_window_extent() for tick in display.ax_.get_yticklabels()]
    assert len(names) == 21
    assert not any(low.overlaps(high) for low, high in itertools.pairwise(names))


def test_pair_accuracy_is_that_of_comparable_pairs():
    rng = np.random.default_rng(0)
    y = rng.choice(["a", "b", "c", "d"], 80)
    scores = np.array(["abcd".index(label) for label in y]) + rng.normal(size=80)
    order = OrderGraph.parse("a < b, c < d")
    placed = place(y, scores, classes=list("abcd"), order=order)
    above = {("a", "b"), ("a", "c"), ("a", "d"), ("b", "d"), ("c", "d")}
    won = [scores[i] < scores[j] for i in range(80) for j in range(80) if (y[i], y[j]) in above]
    assert placed.pair_accuracy() == pytest.approx(np.mean(won))
    chain = place(y, scores)
    won = [scores[i] < scores[j] for i in range(80) for j in range(80) if y[i] < y[j]]
    assert chain.pair_accuracy() == pytest.approx(np.mean(won))
    queries = rng.integers(0, 5, 80)
    won = [scores[i] < scores[j] for i in range(80) for j in range(80) if y[i] < y[j] and queries[i] == queries[j]]
    assert chain.pair_accuracy(queries) == pytest.approx(np.mean(won))
    assert np.isnan(place(["a", "a"], [1.0, 2.0]).pair_accuracy())


def test_in_partial_orders_a_sample_is_misplaced_beyond_the_middle_between_neighbours():
    intervals = [[-np.inf, 0.0], [1.0, 1.0], [1.5, 2.0], [3.0, np.inf]]
    order = OrderGraph.parse("a < b, c < d")
    scores, y = [0.4, 0.6, 1.1, 2.1, 0.6, 2.4, 2.6, 2.6, 2.4], ["a", "a", "b", "b", "c", "c", "c", "d", "d"]
    placed = place(y, scores, classes=list("abcd"), intervals=intervals, order=order)
    np.testing.assert_allclose(placed.bounds, [[-np.inf, 0.5], [0.5, 2], [0.75, 2.5], [2.5, np.inf]])
    assert sorted(placed.violators.tolist()) == [1, 3, 4, 6, 8]


def test_the_sentence_tells_pairs_and_chance():
    display = ScoreLineDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.9, 0.6, 2.0])
    assert display.pair_accuracy_ == 0.75
    assert display.ax_.get_title("left") == "75% of pairs of different classes are ranked right  (50% is chance)"
    assert ScoreLineDisplay.from_predictions([1, 1], [0.1, 0.9]).ax_.get_title("left") == ""


@pytest.mark.parametrize("ground", ["default", "dark_background"])
def test_words_and_classes_can_be_read_on_light_and_dark(ground):
    with plt.style.context(ground):
        _, ax = plt.subplots()
        behind = luminance(ax.get_facecolor())
        for colour in [ink(ax), FAINT, *class_colours(20, ax)]:
            front = luminance(to_rgba(colour))
            contrast = (max(front, behind) + 0.05) / (min(front, behind) + 0.05)
            assert contrast > (4.5 if isinstance(colour, str) and colour != FAINT else 2.0)


def luminance(colour):
    parts = np.array(colour[:3])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


def test_a_density_is_a_smoothed_histogram():
    rng = np.random.default_rng(0)
    scores, grid = rng.normal(size=20_000), np.linspace(-4, 4, 400)
    weights = rng.integers(1, 3, 20_000).astype(float)
    found = density(scores, weights, grid)
    assert found.max() == 1
    np.testing.assert_allclose(found, np.exp(-0.5 * grid**2), atol=0.06)
    repeated = np.repeat(scores, weights.astype(int))
    np.testing.assert_allclose(found, density(repeated, np.ones(len(repeated)), grid), atol=0.02)
    assert density(np.zeros(20), np.ones(20), grid).max() == 1


def test_hostile_labels_are_drawn_as_they_are():
    labels = ["$\\frac{", "a" * 100, "<b>"]
    display = ScoreLineDisplay.from_predictions(labels, [1.0, 2, 3], classes=labels)
    display.figure_.canvas.draw()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"scores": [1.0, np.nan, 2]}, "finite"),
        ({"scores": [[1.0, 2, 3]]}, r"have shape \(1, 3\); use model.score_samples\(X\)"),
        ({"thresholds": [1.0, 2, 3, 4]}, "thresholds has shape"),
        ({"intervals": [[1.0, 2]]}, "intervals has shape"),
        ({"qid": [1]}, "qid has shape"),
        ({"classes": [0, 1]}, "not in the declared order"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(HullrankError, match=message):
        ScoreLineDisplay.from_predictions(**{"y": [0, 1, 2], "scores": [1.0, 2, 3], **arguments})


def bounded(ax, n_classes):
    """A score line of 300 samples with thresholds, intervals and samples beyond them."""
    rng = np.random.default_rng(n_classes)
    cuts = np.arange(1.0, n_classes)
    scores = rng.uniform(0, n_classes, 300)
    y = np.digitize(scores + 0.4 * rng.normal(size=300), cuts)
    intervals = np.column_stack([np.append(-np.inf, cuts + 0.1), np.append(cuts - 0.1, np.inf)])
    return ScoreLineDisplay.from_predictions(
        y, scores, classes=np.arange(n_classes), thresholds=cuts, intervals=intervals, ax=ax
    )


@pytest.mark.parametrize(("n_classes", "panels"), slow_after(2, [(3, 1), (4, 2), (2, 1), (5, 1), (20, 1), (4, 3)]))
def test_the_legend_lies_below_the_name_of_the_axis_and_inside_the_figure(n_classes, panels):
    if panels == 1:
        displays = [bounded(None, n_classes)]
    else:
        _, axes = plt.subplots(panels, 1, figsize=(7.4, 3.1 * panels), layout="constrained")
        displays = [bounded(ax, n_classes) for ax in axes]
    figure = displays[0].figure_
    figure.canvas.draw()
    for display in displays:
        legend = display.ax_.get_legend().get_window_extent()
        assert legend.y1 < display.ax_.xaxis.label.get_window_extent().y0
        assert legend.y0 >= 0
        assert figure.bbox.x0 <= legend.x0 < legend.x1 <= figure.bbox.x1 + 1


@pytest.mark.parametrize("style", ["default", "dark_background"])
def test_small_words_can_be_read_on_their_ground(style):
    """A contrast of 4.5 is what WCAG 2 asks of small text."""

    def luminance(colour):
        parts = np.array(to_rgba(colour)[:3])
        return np.array([0.2126, 0.7152, 0.0722]) @ np.where(
            parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4
        )

    with plt.style.context(style):
        _, ax = plt.subplots()
        low, high = sorted([luminance(quiet(ax)), luminance(ax.get_facecolor())])
    assert (high + 0.05) / (low + 0.05) > 4.5


def test_a_narrow_band_is_named_unless_its_name_would_reach_another():
    def names(thresholds):
        scores = np.linspace(0, 10, 44)
        placed = {"classes": ["very mild", "mild", "severe", "very severe"], "thresholds": thresholds}
        display = ScoreLineDisplay.from_predictions(np.repeat(placed["classes"], 11), scores, **placed)
        return [text.get_text() for text in display.ax_.texts if text.get_text() in placed["classes"]]

    assert sorted(names([2.0, 5.4, 5.8])) == ["mild", "severe", "very mild", "very severe"]
    assert sorted(names([4.0, 4.2, 4.4])) == ["mild", "very mild", "very severe"]
    assert "mild" not in names([4.0, 4.0, 7.0])  # no band at all


def test_exact_hits_are_told_beside_guessing_and_neighbours():
    display = ScoreLineDisplay.from_predictions(
        [0, 0, 1, 1, 2, 2, 2, 3], [0.5, 1.5, 1.5, 3.5, 2.5, 1.5, 0.5, 3.5], thresholds=[1.0, 2.0, 3.0]
    )
    told = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert told == [
        "in the band of its own class: 50%  (guessing: 25%)",
        "in another band: 50%  (in the next one: 25%)",
    ]
