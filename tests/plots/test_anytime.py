import matplotlib as mpl
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hullrank import ExactRanker
from hullrank.exceptions import HullrankError
from hullrank.plots import AnytimeDisplay

mpl.use("agg")


def test_lines_are_the_trace():
    X = np.random.default_rng(0).normal(size=(30, 3))
    y = (X[:, 0] + np.random.default_rng(1).normal(size=30) > 0).astype(int)
    pipeline = make_pipeline(StandardScaler(), ExactRanker()).fit(X, y)
    display = AnytimeDisplay.from_estimator(pipeline)
    seconds, value, bound = np.array(pipeline[-1].trace_).T
    np.testing.assert_array_equal(display.lines_[0].get_xdata(), seconds)
    np.testing.assert_array_equal(display.lines_[0].get_ydata(), value)
    np.testing.assert_array_equal(display.lines_[1].get_ydata(), bound)
    assert display.ax_.get_ylabel() == "auc"
    assert display.ax_.figure is display.figure_


def test_it_draws_on_given_axes():
    import matplotlib.pyplot as plt

    _, ax = plt.subplots()
    assert AnytimeDisplay(trace=[(0.0, 0.5, 1.0)]).plot(ax=ax).ax_ is ax


def test_estimators_without_a_trace_are_refused():
    with pytest.raises(HullrankError, match="trace_"):
        AnytimeDisplay.from_estimator(LogisticRegression())
    with pytest.raises(HullrankError, match="empty"):
        AnytimeDisplay(trace=[]).plot()
