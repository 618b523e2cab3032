"""Notebooks show the score line of a fitted estimator."""

import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hullrank import ConvexHullRanker, FixedMarginClassifier, OrderGraph, OrdinalCalibrator
from hullrank.plots.svg import score_line_svg

X = np.random.default_rng(0).normal(size=(60, 2))
Y = np.digitize(X[:, 0], [-0.5, 0.5])


@pytest.mark.parametrize("estimator", [ConvexHullRanker(), FixedMarginClassifier()])
def test_notebooks_show_the_line_only_after_fitting(estimator):
    assert "<svg role" not in estimator._repr_html_()
    shown = estimator.fit(X, Y)._repr_mimebundle_()["text/html"]
    assert "<svg role" in shown
    assert type(estimator).__name__ in shown


def test_bars_and_lines_stand_where_the_model_says():
    model = FixedMarginClassifier().fit(X, Y)
    svg = ET.fromstring(score_line_svg(model))
    bars = svg.findall("rect")
    lines = [float(line.get("x1")) for line in svg.findall("line")]
    assert len(bars) == 3
    assert len(lines) == 2
    ends = [(float(bar.get("x")), float(bar.get("x")) + float(bar.get("width"))) for bar in bars]
    finite = [ends[0][1] - 1, ends[1][0] + 1, ends[1][1] - 1, ends[2][0] + 1]
    scores = [model.intervals_[0, 1], *model.intervals_[1], model.intervals_[2, 0]]
    a, b = np.polyfit(scores, finite, 1)
    np.testing.assert_allclose(np.polyval([a, b], scores), finite, atol=0.3)
    np.testing.assert_allclose(np.polyval([a, b], model.thresholds_), lines, atol=0.3)


def test_hostile_labels_partial_orders_and_many_classes():
    labels = np.array(["<script>", '"><b>', "c"])[Y]
    model = ConvexHullRanker(order=OrderGraph.from_edges([("<script>", "c"), ('"><b>', "c")])).fit(X, labels)
    svg = score_line_svg(model)
    assert "<script" not in svg
    names = {text.text for text in ET.fromstring(svg).findall("text")}
    assert {"<script>", '"><b>', "c"} <= names
    assert score_line_svg(ConvexHullRanker().fit(X, X[:, 0])) == ""
    assert re.fullmatch("", score_line_svg(object()))


def test_medians_of_the_training_scores_stand_in_the_rows_of_their_classes():
    model = ConvexHullRanker().fit(X, Y)
    dots = ET.fromstring(score_line_svg(model)).findall("circle")
    across = [float(dot.get("cx")) for dot in dots]
    assert len(dots) == 3
    assert across == sorted(across)
    assert [float(dot.get("cy")) for dot in dots] == [60.0, 36.0, 12.0]


def test_marks_have_a_legend_and_calibrators_a_line():
    told = [text.text for text in ET.fromstring(score_line_svg(ConvexHullRanker().fit(X, Y))).findall("text")]
    assert told[-1] == "bar: interval of a class · dashed: threshold · dot: median training score"
    told = [text.text for text in ET.fromstring(score_line_svg(FixedMarginClassifier().fit(X, Y))).findall("text")]
    assert told[-1] == "bar: interval of a class · dashed: threshold"
    calibrator = OrdinalCalibrator(FixedMarginClassifier())
    assert "<svg role" not in calibrator._repr_html_()
    assert "<svg role" in calibrator.fit(X, Y)._repr_html_()


def test_pipelines_of_scikit_learn_show_it_in_the_panel_of_their_step():
    pipeline = make_pipeline(StandardScaler(), FixedMarginClassifier())
    assert "<svg role" not in pipeline._repr_html_()
    assert pipeline.fit(X, Y)._repr_html_().count("<svg role") == 1
    assert FixedMarginClassifier().fit(X, Y)._repr_html_().count("<svg role") == 1
    assert GridSearchCV(pipeline, {"fixedmarginclassifier__C": [1.0]}).fit(X, Y)._repr_html_().count("<svg role") == 1
