"""What the pictures show is what a plain computation gives."""

import matplotlib as mpl

mpl.use("agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hullrank import ConvexHullRanker, FixedMarginClassifier, OrderGraph
from hullrank.exceptions import HullrankError
from hullrank.plots import (
    CoefficientDisplay,
    ConvergenceDisplay,
    CriticalDifferenceDisplay,
    MarginDisplay,
    OrderGraphDisplay,
    PairMatrixDisplay,
    RocDisplay,
)
from hullrank.plots.critical_difference import cliques, critical_difference
from hullrank.plots.order_graph import layout

NAMES = ["low", "middle", "high"]


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 2))
    codes = np.digitize(X @ [1.0, 1] + rng.normal(size=90), [-0.7, 0.7])
    return X, np.array(NAMES)[codes], codes


@pytest.fixture(scope="module")
def model(data):
    X, y, _ = data
    return ConvexHullRanker(classes=NAMES).fit(X, y)


def pair_share(scores, codes, lo, hi, weights):
    pairs = scores[codes == hi][:, None] > scores[codes == lo]
    return np.average(pairs, weights=np.outer(weights[codes == hi], weights[codes == lo]))


def test_pair_matrix_by_brute_force(model, data):
    X, y, codes = data
    weights = np.random.default_rng(1).uniform(0.5, 2, len(y))
    display = PairMatrixDisplay.from_estimator(model, X, y, sample_weight=weights)
    scores = model.score_samples(X)
    for lo in range(3):
        for hi in range(3):
            if hi > lo:
                expected = pair_share(scores, codes, lo, hi, weights)
                assert display.matrix[hi, lo] == pytest.approx(expected)
            else:
                assert np.isnan(display.matrix[hi, lo])
    again = PairMatrixDisplay.from_predictions(y, scores, classes=NAMES, sample_weight=weights)
    np.testing.assert_array_equal(again.matrix, display.matrix)


def test_pair_matrix_of_too_many_classes():
    with pytest.raises(HullrankError, match="discretize"):
        PairMatrixDisplay.from_predictions(np.arange(300), np.arange(300.0))


def test_order_graph_has_the_pair_accuracy_on_every_edge(model, data):
    X, y, codes = data
    scores, ones = model.score_samples(X), np.ones(len(y))
    display = OrderGraphDisplay.from_estimator(model, X, y)
    expected = [pair_share(scores, codes, lo, lo + 1, ones) for lo in range(2)]
    np.testing.assert_allclose(display.accuracies, expected)
    texts = {text.get_text() for text in display.ax_.texts}
    assert {*NAMES, *(f"{value:.3f}" for value in expected)} <= texts
    full = OrderGraphDisplay.from_predictions(y, scores, order=OrderGraph.full(NAMES))
    assert len(full.ax_.patches) == 3
    assert OrderGraphDisplay.from_estimator(model).accuracies is None
    with pytest.raises(HullrankError, match="no order graph"):
        OrderGraphDisplay.from_estimator(StandardScaler())


def test_graph_layout_puts_everything_above_to_the_right():
    graph = OrderGraph.from_edges([("a", "c"), ("b", "c"), ("c", "d"), ("a", "d")])
    places = dict(zip(graph.labels, layout(graph), strict=True))
    assert all(places[lo][0] < places[hi][0] for lo, hi in graph.edges)
    assert places["a"][0] == places["b"][0]
    assert places["a"][1] != places["b"][1]


def test_a_long_chain_turns_and_no_two_classes_meet():
    places = layout(OrderGraph.chain(range(20)))
    assert np.ptp(places[:, 0]) < 12
    steps = np.abs(np.diff(places, axis=0))
    assert (steps.max(axis=1) > 1).all()
    assert len({tuple(place) for place in places.tolist()}) == 20


def test_roc_areas_are_those_of_scikit_learn(model, data):
    X, y, codes = data
    scores = model.score_samples(X)
    display = RocDisplay.from_estimator(model, X, y)
    for lo, (_, _, _, area) in enumerate(display.curves):
        pair = (codes == lo) | (codes == lo + 1)
        assert area == pytest.approx(roc_auc_score(codes[pair] == lo + 1, scores[pair]))
    assert len(RocDisplay.from_predictions(codes, scores, order="full").lines_) == 3
    assert len(RocDisplay.from_estimator(model, X, y, order="full").lines_) == 3


def test_coefficients_largest_first_with_names(model, data):
    X, y, _ = data
    display = CoefficientDisplay.from_estimator(model, names=["a", "b"])
    assert np.abs(model.coef_)[display.shown_[0]] == np.abs(model.coef_).max()
    frame = pd.DataFrame(X, columns=["left", "right"])
    pipe = make_pipeline(StandardScaler(), ConvexHullRanker(classes=NAMES)).fit(frame, y)
    assert CoefficientDisplay.from_estimator(pipe).names == ["left", "right"]
    folds = CoefficientDisplay.from_predictions([[1.0, -3, 0], [1, -5, 0]], top=2)
    assert folds.shown_.tolist() == [1, 0]
    bars = [bar.get_width() for bar in folds.ax_.patches]
    assert bars == [-4, 1]
    with pytest.raises(HullrankError, match="names"):
        CoefficientDisplay.from_predictions([1.0, 2], names=["a"])
    with pytest.raises(HullrankError, match="no weights"):
        CoefficientDisplay.from_estimator(StandardScaler())


def test_convergence_ends_below_the_tolerance(data):
    X, y, _ = data
    estimator = FixedMarginClassifier(classes=NAMES, tol=1e-8)
    display = ConvergenceDisplay.from_estimator(estimator, X, y)
    assert display.gaps_[-1] <= 1e-8
    assert (display.gaps_[:-1] > 1e-8).all()
    assert ConvergenceDisplay.from_predictions([3.0, 2], [1, 1.9], unit="seconds", steps=[0.5, 2]).gaps_[
        1
    ] == pytest.approx(0.05)
    with pytest.raises(HullrankError, match="shapes"):
        ConvergenceDisplay.from_predictions([1.0], [1, 2])
    with pytest.raises(HullrankError, match="max_iter"):
        ConvergenceDisplay.from_estimator(StandardScaler(), X, y)


def test_margin_picture(data):
    X, y, _ = data
    frame = pd.DataFrame(X, columns=["left", "right"])
    model = FixedMarginClassifier(classes=NAMES).fit(frame, y)
    display = MarginDisplay.from_estimator(model, frame, y, resolution=40)
    first, second, height = display.grid
    np.testing.assert_allclose(height, model.coef_[0] * first + model.coef_[1] * second)
    assert display.names == ("left", "right")
    low, high = model.intervals_[display.placement.codes].T
    scores = display.placement.scores
    inside = (scores > low + 1e-3) & (scores < high - 1e-3)
    assert not inside[display.support].any()
    drawn = MarginDisplay.from_predictions(
        X, y, scores, display.grid, classes=NAMES, thresholds=model.thresholds_, intervals=model.intervals_
    )
    np.testing.assert_array_equal(drawn.support, display.support)
    with pytest.raises(HullrankError, match="two features"):
        MarginDisplay.from_estimator(model, np.zeros((3, 3)), y[:3])
    with pytest.raises(HullrankError, match="grid"):
        MarginDisplay.from_predictions(X, y, scores, (first, second, height[1:]), classes=NAMES)


def test_critical_difference_of_demsars_example():
    """Table 5 of the paper: q for 2, 3, 5 and 10 classifiers at 0.05 is 1.960, 2.343, 2.728 and 3.164."""
    for k, q in [(2, 1.960), (3, 2.343), (5, 2.728), (10, 3.164)]:
        assert critical_difference(k, 14) == pytest.approx(q * np.sqrt(k * (k + 1) / (6 * 14)), rel=1e-3)


def test_cliques_are_maximal_runs():
    assert cliques(np.array([1.0, 1.5, 2.9, 3.0]), 1.6) == [(0, 1), (1, 3)]
    assert cliques(np.array([1.0, 3.0]), 1.0) == []


def test_average_ranks():
    display = CriticalDifferenceDisplay.from_predictions([[0.9, 0.8, 0.8], [0.7, 0.9, 0.1]], names=["a", "b", "c"])
    np.testing.assert_allclose(display.ranks_, [1.5, 1.75, 2.75])
    with pytest.raises(HullrankError, match="finite"):
        CriticalDifferenceDisplay.from_predictions([[np.nan, 1.0]], names=["a", "b"])


def test_ranks_of_estimators(data):
    X, _, codes = data
    models = {"loose": FixedMarginClassifier(C=1e-4), "tight": FixedMarginClassifier()}
    display = CriticalDifferenceDisplay.from_estimator(models, [(X, codes), (X[::-1], codes[::-1])], cv=2)
    assert display.ranks_[1] <= display.ranks_[0]
    display.figure_.canvas.draw()


def test_coefficients_with_the_intervals_of_a_summary(data):
    X, _, codes = data
    model = make_pipeline(StandardScaler(), FixedMarginClassifier()).fit(X, codes)
    summary = model[-1].summary(model[0].transform(X), codes, n_resamples=10, level=0.9)
    display = CoefficientDisplay.from_estimator(model, X, codes, n_resamples=10, level=0.9, names=["a", "b"])
    ends = [line[:, 0] for line in display.ax_.collections[0].get_segments()]
    np.testing.assert_allclose(ends, np.column_stack([summary.coefficients["low"], summary.coefficients["high"]]))
    assert "90% intervals" in display.ax_.get_xlabel()
    assert CoefficientDisplay.from_summary(model[-1].summary()).intervals is None
    with pytest.raises(HullrankError, match="not linear"):
        CoefficientDisplay.from_summary(FixedMarginClassifier(kernel="rbf").fit(X, codes).summary())


def test_convergence_of_pipelines_and_without_data(data):
    X, _, codes = data
    pipeline = make_pipeline(StandardScaler(), FixedMarginClassifier()).fit(5 * X, codes)
    plain = ConvergenceDisplay.from_estimator(FixedMarginClassifier(), StandardScaler().fit_transform(5 * X), codes)
    display = ConvergenceDisplay.from_estimator(pipeline, 5 * X, codes)
    np.testing.assert_allclose(display.objective, plain.objective)
    alone = ConvergenceDisplay.from_estimator(pipeline)
    proof = pipeline[-1].certificate_
    assert len(alone.gaps_) > proof.iterations / 2 > 1
    assert alone.gaps_[0] > 100 * alone.gaps_[-1] == pytest.approx(100 * proof.relative_gap)
    assert alone.steps.tolist() == list(range(1, len(alone.gaps_) + 1))
    with pytest.raises(HullrankError, match="not fitted"):
        ConvergenceDisplay.from_estimator(FixedMarginClassifier())


def test_displays_are_listed_and_importable_by_name():
    import hullrank.plots

    listed = dir(hullrank.plots)
    assert "ScoreLineDisplay" in listed
    assert all(getattr(hullrank.plots, name).__name__ == name for name in listed)
