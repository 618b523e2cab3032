"""onnxruntime gives the scores and labels of the library."""

import sys

import numpy as np
import polars as pl
import pytest
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import hullrank
from hullrank.exceptions import MissingExtraError, ModelFileError
from hullrank.io import TableEncoder
from hullrank.io.onnx_export import export_onnx, to_onnx

pytest.importorskip("onnx", reason="onnx is not installed (hullrank[onnx])")
runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed (hullrank[onnx])")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 4)) * [1, 5, 0.2, 1] + [0, 3, 0, -1]
CODES = np.digitize((X - X.mean(axis=0)) / X.std(axis=0) @ [1.0, -1, 0.5, 0] + 0.5 * RNG.normal(size=80), [-1, 0.5])
WORDS = np.array(["low", "middle", "high"])[CODES]
NEW = (RNG.normal(size=(1000, 4)) * [1, 5, 0.2, 1] + [0, 3, 0, -1]).astype(np.float32)
KERNELS = ["linear", "rbf", "poly", "sigmoid", "laplacian"]
ESTIMATORS = [
    hullrank.ConvexHullRanker(),
    hullrank.ConvexHullRanker(penalty="l1", order="full"),
    hullrank.ConvexHullRanker(order=[(0, 2), (1, 2)]),
    hullrank.FixedMarginClassifier(),
    hullrank.FixedMarginClassifier(thresholds="all", loss="squared_hinge"),
    hullrank.NuMarginClassifier(),
    hullrank.SumOfMarginsClassifier(),
    hullrank.SwappedPairsRanker(),
    hullrank.SampledPairsRanker(random_state=0),
    hullrank.LinearRelaxationRanker(),
    hullrank.ExactRanker(max_cells=200),
    hullrank.PRank(),
    hullrank.RankBoost(n_rounds=10, weak_rankers="features"),
    hullrank.RankBoost(n_rounds=40, weak_rankers="thresholds"),
    *(hullrank.ConvexHullRanker(kernel=kernel, norm="coefficient", C=0.1) for kernel in KERNELS),
    *(hullrank.FixedMarginClassifier(kernel=kernel, C=0.1) for kernel in ("rbf", "poly", "laplacian")),
    hullrank.SwappedPairsRanker(kernel="rbf"),
    hullrank.SampledPairsRanker(kernel="poly", random_state=0),
    hullrank.ConvexHullRanker(kernel="rbf", approximation=20),
    hullrank.NuMarginClassifier(kernel="rbf"),
    hullrank.SumOfMarginsClassifier(kernel="rbf"),
    *(hullrank.PRank(kernel=kernel) for kernel in KERNELS[1:]),
]


def run(estimator, path, inputs):
    export_onnx(estimator, path)
    session = runtime.InferenceSession(path, providers=["CPUExecutionProvider"])
    return dict(zip([out.name for out in session.get_outputs()], session.run(None, inputs), strict=True))


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_scores_and_labels_agree(tmp_path, estimator):
    binary = type(estimator).__name__ in ("ExactRanker", "LinearRelaxationRanker")
    pipe = make_pipeline(StandardScaler(), estimator).fit(X, CODES > 0 if binary else CODES)
    got = run(pipe, tmp_path / "m.onnx", {"X": NEW})
    scores = pipe.score_samples(NEW.astype(np.float64))
    np.testing.assert_allclose(got["scores"], scores, rtol=1e-5, atol=1e-5 * np.abs(scores).max())
    Z = pipe[0].transform(NEW.astype(np.float64))
    if hasattr(estimator, "predict_class"):
        np.testing.assert_array_equal(got["label"], pipe[-1].predict_class(Z))
    elif hasattr(estimator, "decision_function"):
        np.testing.assert_array_equal(got["label"], pipe.predict(NEW))
    else:
        assert "label" not in got


CALIBRATED = [
    hullrank.FixedMarginClassifier(classes=["low", "middle", "high"]),
    hullrank.ConvexHullRanker(kernel="rbf", classes=["low", "middle", "high"]),
    make_pipeline(StandardScaler(), hullrank.FixedMarginClassifier(classes=["low", "middle", "high"])),
]


@pytest.mark.parametrize("estimator", CALIBRATED, ids=str)
def test_calibrated_probabilities(tmp_path, estimator):
    pipe = make_pipeline(StandardScaler(), hullrank.OrdinalCalibrator(estimator, cv=3)).fit(X, WORDS)
    got = run(pipe, tmp_path / "m.onnx", {"X": NEW})
    new = NEW.astype(np.float64)
    np.testing.assert_allclose(got["scores"], pipe.score_samples(new), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(got["probabilities"], pipe.predict_proba(new), atol=1e-5)
    np.testing.assert_array_equal(got["label"], pipe.predict(new))
    far = (1e6 * NEW).astype(np.float32)
    expected = pipe.predict_proba(far.astype(np.float64))
    np.testing.assert_allclose(run(pipe, tmp_path / "m.onnx", {"X": far})["probabilities"], expected, atol=1e-5)


def test_calibrated_rankers_of_numbers(tmp_path):
    model = hullrank.OrdinalCalibrator(hullrank.RankBoost(n_rounds=20, weak_rankers="thresholds"), cv=3).fit(X, CODES)
    got = run(model, tmp_path / "m.onnx", {"X": NEW})
    np.testing.assert_allclose(got["probabilities"], model.predict_proba(NEW.astype(np.float64)), atol=1e-5)
    np.testing.assert_array_equal(got["label"], model.predict(NEW.astype(np.float64)))


@pytest.mark.parametrize("decision", ["median", [[0, 1, 9], [3, 0, 1], [9, 4, 0]]], ids=["median", "costs"])
def test_labels_follow_the_decision(tmp_path, decision):
    model = hullrank.OrdinalCalibrator(hullrank.FixedMarginClassifier(), cv=3, decision=decision).fit(X, CODES)
    got = run(model, tmp_path / "m.onnx", {"X": NEW})
    mode = model.predict_proba(NEW.astype(np.float64)).argmax(axis=1)
    np.testing.assert_array_equal(got["label"], model.predict(NEW.astype(np.float64)))
    assert (got["label"] != model.classes_[mode]).any()


def test_stumps_without_a_round(tmp_path):
    model = hullrank.RankBoost(weak_rankers="thresholds").fit(np.ones((6, 2)), [0, 1, 0, 1, 0, 1])
    assert not run(model, tmp_path / "m.onnx", {"X": NEW[:, :2]})["scores"].any()


def test_word_labels(tmp_path):
    for estimator in (hullrank.FixedMarginClassifier, hullrank.ConvexHullRanker):
        model = estimator(classes=["low", "middle", "high"]).fit(X, WORDS)
        got = run(model, tmp_path / "m.onnx", {"X": NEW})
        predict = getattr(model, "predict_class", model.predict)
        assert got["label"].tolist() == predict(NEW.astype(np.float64)).tolist()


def test_tables(tmp_path):
    frame = pl.DataFrame(X[:, :2], schema=["size", "age"]).with_columns(kind=pl.Series(np.tile(["u", "v"], 40)))
    frame = frame.with_columns(age=pl.when(pl.int_range(80) % 9 == 0).then(None).otherwise("age"))
    pipe = Pipeline([("table", TableEncoder()), ("model", hullrank.FixedMarginClassifier())]).fit(frame, CODES)
    new = pl.DataFrame({"size": NEW[:, 0], "age": NEW[:, 1], "kind": np.tile(["u", "v", "new", "u"], 250)})
    new = new.with_columns(age=pl.when(pl.int_range(1000) % 7 == 0).then(None).otherwise("age"))
    inputs = {
        "size": new["size"].to_numpy()[:, None],
        "age": new["age"].fill_null(np.nan).to_numpy()[:, None],
        "kind": np.array(new["kind"].to_list(), dtype=object)[:, None],
    }
    got = run(pipe, tmp_path / "m.onnx", inputs)
    np.testing.assert_allclose(got["scores"], pipe.score_samples(new), rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(got["label"], pipe.predict(new))


def test_what_has_no_onnx_form_is_named():
    with pytest.raises(ModelFileError, match="MinMaxScaler"):
        to_onnx(make_pipeline(MinMaxScaler(), hullrank.ConvexHullRanker()).fit(X, CODES))
    gram = X @ X.T
    with pytest.raises(ModelFileError, match="precomputed kernel has no ONNX form"):
        to_onnx(hullrank.ConvexHullRanker(kernel="precomputed").fit(gram, CODES))
    with pytest.raises(ModelFileError, match="Python function has no ONNX form"):
        to_onnx(hullrank.FixedMarginClassifier(kernel=lambda a, b: a @ b.T).fit(X, CODES))


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(MissingExtraError, match=r"hullrank\[onnx\]"):
        to_onnx(hullrank.ConvexHullRanker().fit(X, CODES))
