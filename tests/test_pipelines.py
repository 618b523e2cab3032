"""An estimator is found inside pipelines, searches and calibrators, with the rows as it sees them."""

import numpy as np
import pytest
from sklearn.ensemble import BaggingRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from hullrank import FixedMarginClassifier, OrdinalCalibrator
from hullrank._pipelines import unwrap
from hullrank.exceptions import ModelFileError
from hullrank.io.onnx_export import to_onnx

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 2)) * [1.0, 100.0]
Y = np.digitize(X @ [1.0, -0.02] + 0.3 * RNG.normal(size=40), [-1, 1])

NESTED = {
    "bare": FixedMarginClassifier(),
    "pipeline": make_pipeline(StandardScaler(), FixedMarginClassifier()),
    "passed through": Pipeline(
        [("a", StandardScaler()), ("b", "passthrough"), ("c", None), ("d", FixedMarginClassifier())]
    ),
    "search in a pipeline": make_pipeline(
        MinMaxScaler(),
        GridSearchCV(
            make_pipeline(StandardScaler(), FixedMarginClassifier()), {"fixedmarginclassifier__C": [1, 10]}, cv=2
        ),
    ),
    "pipeline in a calibrator": make_pipeline(
        MinMaxScaler(), OrdinalCalibrator(make_pipeline(StandardScaler(), FixedMarginClassifier()), cv=2)
    ),
}


@pytest.mark.parametrize("case", NESTED)
def test_the_estimator_inside_gives_the_same_scores(case):
    whole = NESTED[case].fit(X, Y)
    inside = unwrap(whole)
    assert isinstance(inside.model, FixedMarginClassifier)
    rows = inside.transform(X)
    if not inside.calibrators:
        np.testing.assert_array_equal(inside.model.predict(rows), whole.predict(X))
    np.testing.assert_array_equal(inside.model.score_samples(rows), whole.score_samples(X))
    assert [type(around).__name__ for around in inside.calibrators] == ["OrdinalCalibrator"] * ("calibrator" in case)


def test_calibrators_can_be_the_model():
    whole = NESTED["pipeline in a calibrator"].fit(X, Y)
    inside = unwrap(whole, calibrators=False)
    assert isinstance(inside.model, OrdinalCalibrator)
    np.testing.assert_allclose(inside.model.predict_proba(inside.transform(X)), whole.predict_proba(X))


def test_other_wrappers_have_no_onnx_form():
    pytest.importorskip("onnx")
    with pytest.raises(ModelFileError, match="BaggingRegressor has no ONNX form"):
        to_onnx(BaggingRegressor(n_estimators=2).fit(X, Y))
