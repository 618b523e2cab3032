"""Models that travel: linear, kernel and boosted score lines as ONNX graphs, for onnxruntime and its like."""

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

from hullrank._pipelines import unwrap
from hullrank.exceptions import MissingExtraError, ModelFileError
from hullrank.io.atomic import replacing
from hullrank.io.encoder import TableEncoder

_OPSET = 17
_CERTAIN = 1e300  # log-odds of what is certain


def export_onnx(estimator: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator (or a Pipeline that ends in one) as an ONNX file.

    The graph takes ``X``, a float matrix, or one input per column of the table that a `TableEncoder` was fitted on
    (floats with NaN where missing, or strings), and gives ``scores`` and, where the model predicts classes, ``label``;
    an `OrdinalCalibrator` adds ``probabilities``. Inside it computes in double precision.

    Parameters
    ----------
    estimator : fitted estimator, or a Pipeline that ends in one
    path : path of the file

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from hullrank import FixedMarginClassifier
    >>> from hullrank.datasets import make_ordinal
    >>> from hullrank.io import export_onnx
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.onnx"
    >>> export_onnx(FixedMarginClassifier().fit(*make_ordinal(60, 2, random_state=0)), path)
    >>> path.stat().st_size > 0
    True
    """
    data = to_onnx(estimator).SerializeToString()
    with replacing(path) as stream:
        stream.write(data)


def to_onnx(estimator: Any) -> Any:
    """The ONNX model of a fitted estimator, as `export_onnx` writes it."""
    graph = _Graph()
    inside = unwrap(estimator)
    model, steps = inside.model, inside.transformers
    for around in inside.calibrators:
        if not hasattr(around, "cuts_"):
            raise ModelFileError(f"{type(around).__name__} has no ONNX form here; export the estimator inside it")
    calibrator = inside.calibrators[0] if inside.calibrators else None
    value = graph.start(steps[0] if steps else model, model)
    for step in steps:
        if isinstance(step, StandardScaler):
            value = _scaled(graph, step, value)
        elif not (isinstance(step, TableEncoder) and step is steps[0]):
            raise ModelFileError(f"a pipeline with {type(step).__name__} has no ONNX form here; use StandardScaler")
    score = _scores(graph, model, value)
    graph.output("scores", graph.op("Reshape", graph.op("Cast", score, to=graph.FLOAT), graph.const([-1])), graph.FLOAT)
    predictor = model if calibrator is None else calibrator
    if calibrator is None:
        code = _code(graph, model, score)
    else:
        shares = _probabilities(graph, calibrator, score)
        code = _decision(graph, calibrator.decision, shares, len(calibrator.classes_))
        width = len(calibrator.classes_)
        graph.output("probabilities", graph.op("Cast", shares, to=graph.FLOAT), graph.FLOAT, width)
    label = None if code is None else _label(graph, predictor.classes_, code)
    if label is not None:
        words = predictor.classes_.dtype.kind not in "biuf"
        graph.output("label", graph.op("Reshape", label, graph.const([-1])), graph.STRING if words else graph.INT64)
    return graph.finish(type(model).__name__)


def _decision(graph: "_Graph", decision: Any, shares: str, n_classes: int) -> str:
    """The place of the class that a calibrator decides for; the median is what costs least by distance in rank."""
    if isinstance(decision, str) and decision == "mode":
        return graph.op("ArgMax", shares, axis=1, keepdims=0)
    grade = np.arange(float(n_classes))
    costs = np.abs(grade[:, None] - grade) if isinstance(decision, str) else np.asarray(decision, dtype=np.float64)
    return graph.op("ArgMin", graph.op("MatMul", shares, graph.const(costs)), axis=1, keepdims=0)


class _Graph:
    """Nodes and constants in the order they are made."""

    def __init__(self) -> None:
        try:
            import onnx
        except ImportError as error:
            raise MissingExtraError("ONNX export needs the onnx package: pip install 'hullrank[onnx]'") from error
        self.onnx = onnx
        types = onnx.TensorProto
        self.FLOAT, self.DOUBLE, self.STRING, self.INT64 = types.FLOAT, types.DOUBLE, types.STRING, types.INT64
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []

    def op(self, kind: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Append a node and give the name of its output."""
        name = f"v{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(kind, inputs, [name], domain=domain, **attributes))
        return name

    def const(self, value: Any) -> str:
        """The name of a constant; numbers are doubles or 64-bit integers."""
        array = np.asarray(value)
        if array.dtype.kind == "f":
            array = array.astype(np.float64)
        elif array.dtype.kind in "biu":
            array = array.astype(np.int64)
        else:
            array = array.astype(object)
        name = f"c{len(self.constants)}"
        self.constants.append(self.onnx.numpy_helper.from_array(array, name))
        return name

    def input(self, name: str, kind: int, width: int) -> str:
        """Declare an input of shape (n, width)."""
        self.inputs.append(self.onnx.helper.make_tensor_value_info(name, kind, ["n", width]))
        return name

    def output(self, name: str, value: str, kind: int, *width: int) -> None:
        """Declare an output of shape (n,) or (n, width)."""
        self.nodes.append(self.onnx.helper.make_node("Identity", [value], [name]))
        self.outputs.append(self.onnx.helper.make_tensor_value_info(name, kind, ["n", *width]))

    def start(self, first: Any, model: Any) -> str:
        """The input matrix in double precision."""
        if isinstance(first, TableEncoder):
            return _encoded(self, first)
        width = getattr(first, "n_features_in_", None) or model.n_features_in_
        return self.op("Cast", self.input("X", self.FLOAT, int(width)), to=self.DOUBLE)

    def finish(self, name: str) -> Any:
        """The checked model."""
        helper = self.onnx.helper
        graph = helper.make_graph(self.nodes, name, self.inputs, self.outputs, self.constants)
        opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid("ai.onnx.ml", 3)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=8, producer_name="hullrank")
        self.onnx.checker.check_model(model)
        return model


def _encoded(graph: _Graph, encoder: TableEncoder) -> str:
    parts = []
    for column in encoder.columns_:
        if column["kind"] == "number":
            value = graph.op("Cast", graph.input(column["name"], graph.FLOAT, 1), to=graph.DOUBLE)
            known = graph.op("Where", graph.op("IsNaN", value), graph.const(column["fill"]), value)
            centred = graph.op("Sub", known, graph.const(column["mean"]))
            parts.append(graph.op("Div", centred, graph.const(column["scale"])))
        elif column["kind"] == "word":
            word = graph.input(column["name"], graph.STRING, 1)
            hot = graph.op("OneHotEncoder", word, domain="ai.onnx.ml", cats_strings=column["words"], zeros=1)
            flat = graph.op("Reshape", hot, graph.const([-1, len(column["words"])]))
            parts.append(graph.op("Cast", flat, to=graph.DOUBLE))
    return graph.op("Concat", *parts, axis=1)


def _scaled(graph: _Graph, scaler: StandardScaler, value: str) -> str:
    if scaler.with_mean:
        value = graph.op("Sub", value, graph.const(scaler.mean_))
    return graph.op("Div", value, graph.const(scaler.scale_)) if scaler.with_std else value


def _scores(graph: _Graph, model: Any, value: str) -> str:
    """(n, 1) scores: X w, or a sum of stumps, or K v over the support vectors."""
    if hasattr(model, "coef_"):
        return graph.op("MatMul", value, graph.const(model.coef_[:, None]))
    if hasattr(model, "alphas_"):
        return _stumps(graph, model, value)
    vectors, coef = getattr(model, "support_vectors_", None), getattr(model, "dual_coef_", None)
    kernel = getattr(model, "kernel", None)
    if vectors is None or coef is None or kernel not in _KERNELS:
        odd = {"precomputed": "a precomputed kernel"}.get(str(kernel), "a kernel that is a Python function")
        reason = f" with {odd}" if kernel == "precomputed" or callable(kernel) else ""
        raise ModelFileError(
            f"{type(model).__name__}{reason} has no ONNX form; linear models, stumps and the kernels "
            f"{', '.join(_KERNELS)} have one"
        )
    dense = np.asarray(vectors.todense() if hasattr(vectors, "todense") else vectors, dtype=np.float64)
    values = _KERNELS[kernel](graph, model, value, dense)
    return graph.op("MatMul", values, graph.const(np.ravel(coef)[:, None]))


def _stumps(graph: _Graph, model: Any, value: str) -> str:
    """The sum of alpha over the stumps whose feature lies above their threshold."""
    if not len(model.alphas_):
        return graph.op("MatMul", value, graph.const(np.zeros((model.n_features_in_, 1))))
    columns = graph.op("Gather", value, graph.const(model.features_), axis=1)
    above = graph.op("Cast", graph.op("Greater", columns, graph.const(model.thresholds_[None, :])), to=graph.DOUBLE)
    return graph.op("MatMul", above, graph.const(model.alphas_[:, None]))


def _linear(graph: _Graph, model: Any, value: str, vectors: NDArray[np.float64]) -> str:
    return graph.op("MatMul", value, graph.const(vectors.T))


def _affine(graph: _Graph, model: Any, value: str, vectors: NDArray[np.float64]) -> str:
    scaled = graph.op("Mul", _linear(graph, model, value, vectors), graph.const(_gamma(model)))
    return graph.op("Add", scaled, graph.const(float(model.coef0)))


def _poly(graph: _Graph, model: Any, value: str, vectors: NDArray[np.float64]) -> str:
    return graph.op("Pow", _affine(graph, model, value, vectors), graph.const(float(model.degree)))


def _sigmoid(graph: _Graph, model: Any, value: str, vectors: NDArray[np.float64]) -> str:
    return graph.op("Tanh", _affine(graph, model, value, vectors))


def _rbf(graph: _Graph, model: Any, value: str, vectors: NDArray[np.float64]) -> str:
    gamma = getattr(model, "gamma_", None)
    if isinstance(gamma, np.ndarray):  # one for every column
        root = np.sqrt(gamma)[None, :]
        value, vectors = graph.op("Mul", value, graph.const(root)), vectors * root
    squares = graph.op("ReduceSum", graph.op("Mul", value, value), graph.const([1]), keepdims=1)
    both = graph.op("Add", squares, graph.const(np.square(vectors).sum(axis=1)[None, :]))
    twice = graph.op("Mul", _linear(graph, model, value, vectors), graph.const(2.0))
    return _decay(graph, model, graph.op("Sub", both, twice))


def _laplacian(graph: _Graph, model: Any, value: str, vectors: NDArray[np.float64]) -> str:
    apart = graph.op("Sub", graph.op("Unsqueeze", value, graph.const([1])), graph.const(vectors[None, :, :]))
    return _decay(graph, model, graph.op("ReduceSum", graph.op("Abs", apart), graph.const([2]), keepdims=0))


def _decay(graph: _Graph, model: Any, distances: str) -> str:
    return graph.op("Exp", graph.op("Mul", distances, graph.const(-_gamma(model))))


def _gamma(model: Any) -> float:
    gamma = model.gamma_ if hasattr(model, "gamma_") else model._state.kernel["gamma"]
    return 1.0 if isinstance(gamma, np.ndarray) else float(gamma)


_KERNELS = {"linear": _linear, "poly": _poly, "sigmoid": _sigmoid, "rbf": _rbf, "laplacian": _laplacian}


def _code(graph: _Graph, model: Any, score: str) -> str | None:
    """The class between the thresholds, or (in a partial order) of the nearest interval; None for mere scores."""
    if hasattr(model, "classes_") and hasattr(model, "thresholds_"):
        above = graph.op("Cast", graph.op("Less", graph.const(model.thresholds_[None, :]), score), to=graph.INT64)
        return graph.op("ReduceSum", above, graph.const([1]), keepdims=0)
    return _nearest(graph, model._anchors, score) if hasattr(model, "predict_class") else None


def _label(graph: _Graph, classes: NDArray[Any], code: str) -> str | None:
    """The name of a class; None where names are fractions."""
    if classes.dtype.kind == "f" and not np.array_equal(classes, np.floor(classes)):
        return None
    if classes.dtype.kind in "biuf":
        return graph.op("Gather", graph.const(classes.astype(np.int64)), code)
    return graph.op("Gather", graph.const([str(label) for label in classes]), code)


def _probabilities(graph: _Graph, calibrator: Any, score: str) -> str:
    """(n, K), as ``class_probabilities``: P(at most k) P(at least k) times a factor of k, normalised."""
    t = graph.op(
        "Div", graph.op("Sub", score, graph.const(calibrator.score_mean_)), graph.const(calibrator.score_scale_)
    )
    moved, cuts = graph.op("Mul", t, graph.const(float(calibrator.slope_))), calibrator.cuts_
    upper, lower = np.append(cuts, _CERTAIN), np.append(-_CERTAIN, cuts)
    at_most = graph.op("Sigmoid", graph.op("Sub", graph.const(upper[None, :]), moved))
    at_least = graph.op("Sigmoid", graph.op("Sub", moved, graph.const(lower[None, :])))
    between = np.append(np.append(1.0, -np.expm1(-np.diff(cuts))), 1.0)
    product = graph.op("Mul", graph.op("Mul", at_most, at_least), graph.const(between[None, :]))
    return graph.op("Div", product, graph.op("ReduceSum", product, graph.const([1]), keepdims=1))


def _nearest(graph: _Graph, anchors: NDArray[np.float64], score: str) -> str:
    """As ``ConvexHullRanker.predict_class`` in a partial order: the nearest interval, ties to the nearer median."""
    lower, upper, median = (graph.const(column[None, :]) for column in anchors.T)
    short = graph.op("Max", graph.op("Sub", lower, score), graph.op("Sub", score, upper))
    outside = graph.op("Max", short, graph.const(np.zeros((1, len(anchors)))))
    least = graph.op("ReduceMin", outside, axes=[1], keepdims=1)
    distance = graph.op("Abs", graph.op("Sub", score, median))
    tied = graph.op("Where", graph.op("Equal", outside, least), distance, graph.const(np.inf))
    return graph.op("ArgMin", tied, axis=1, keepdims=0)
